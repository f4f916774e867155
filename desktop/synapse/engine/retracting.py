"""What is taken back: assertions, single facts, or all that an agent wrote since a moment."""

from __future__ import annotations

from collections.abc import Sequence

from pyoxigraph import Triple

from synapse.engine.changes import ChangeSet
from synapse.engine.errors import NotFound, RetractionRefused, UsageError
from synapse.engine.questions.given import find_fact
from synapse.engine.questions.reader import GraphReader
from synapse.engine.questions.results import Fact, Retracted, Source, StillHolds, Undone
from synapse.engine.record import (
    Agent,
    Event,
    Withdrawal,
    WrittenFact,
    retraction_data,
    undo_data,
)
from synapse.engine.record.events import ASSERT, RETRACT, UNDO
from synapse.engine.recording import bare_id, record, this_person
from synapse.engine.terms import vocabulary as v
from synapse.engine.workspace import Workspace


def retract_facts(
    workspace: Workspace,
    reader: GraphReader,
    assertion: str | None,
    facts: Sequence[WrittenFact],
    reason: str,
    agent: Agent | None,
) -> tuple[Retracted, ChangeSet]:
    """Withdraw an assertion or single facts, all or nothing.

    Raises NotFound, NotHolding, RetractionRefused where no agent states a fact, UsageError, WriteFailed.
    """
    _check_reason(reason)
    if assertion is not None:
        withdrawals, triples = _of_assertion(workspace, assertion)
    else:
        withdrawals, triples = _of_facts(workspace, reader, facts)
    described = {triple: reader.fact(triple) for triple in triples}
    data = retraction_data(withdrawals)
    _, changeset = record(workspace, RETRACT, agent or this_person(), reason, data)
    still, gone = [], []
    for triple, fact in described.items():
        now = reader.fact(triple) if workspace.store.contains(triple) else None
        if now is None:
            gone.append(fact)
        else:
            still.append(StillHolds(now, _because(workspace, now)))
    gone += [reader.fact(triple) for triple in sorted(changeset.inferred.removed, key=str)]
    result = Retracted(tuple(described.values()), tuple(still), tuple(gone), str(changeset.revision))
    return result, changeset


def undo_agent(
    workspace: Workspace, name: str, since: str | None, reason: str
) -> tuple[Undone, ChangeSet | None]:
    """Take back all that an agent wrote from a moment on, in one event, as this person.

    What it stated is withdrawn; what it withdrew or superseded holds again. since: UTC time as
    events have it, None for everything. No ChangeSet where there was nothing to undo. Raises
    UsageError, WriteFailed.
    """
    _check_reason(reason)
    found, planned = _undoable(workspace, name, since)
    if not found:
        return planned, None
    stood = {event.id: _standing(workspace, event.id) for event in found if event.kind == ASSERT}
    data = undo_data(event.id for event in found)
    _, changeset = record(workspace, UNDO, this_person(), reason, data)
    assertions = [change for change in changeset.graphs if change.graph.value.startswith(v.ASSERTION)]
    result = Undone(
        name,
        len(found),
        sum(map(len, stood.values())),
        sum(len(change.added) for change in assertions),
        len(changeset.inferred.removed),
        str(changeset.revision),
    )
    return result, changeset


def would_undo(workspace: Workspace, name: str, since: str | None) -> Undone:
    """What `undo_agent` would take back, without the consequences; nothing is written."""
    return _undoable(workspace, name, since)[1]


def _undoable(workspace: Workspace, name: str, since: str | None) -> tuple[list[Event], Undone]:
    projection = workspace.projection
    found = [
        event
        for event in projection.events(name, since)
        if event.who.kind == "software"
        and event.kind in (ASSERT, RETRACT)
        and not projection.is_undone(event.id)
        and (event.kind == RETRACT or _standing(workspace, event.id) or event.data.get("supersedes"))
    ]
    facts = sum(len(_standing(workspace, event.id)) for event in found if event.kind == ASSERT)
    return found, Undone(name, len(found), facts, 0, 0, str(workspace.store.revision))


def _standing(workspace: Workspace, assertion_id: str) -> frozenset[Triple]:
    found = workspace.projection.assertion(assertion_id)
    return frozenset() if found is None else found.standing


def _check_reason(reason: str) -> None:
    if not reason.strip():
        raise UsageError("The reason is empty.", "Say in a few words why.")


def _of_assertion(workspace: Workspace, asked: str) -> tuple[list[Withdrawal], list[Triple]]:
    assertion_id = bare_id(asked)
    found = workspace.projection.assertion(assertion_id)
    if found is None:
        raise NotFound(f"There is no assertion {asked}.", "See the fact's provenance for its assertions.")
    withdrawal = workspace.projection.withdrawal(assertion_id)
    if withdrawal is None:
        raise RetractionRefused(f"The assertion {asked} was withdrawn before.", "Nothing is left to do.")
    return [withdrawal], sorted(found.standing, key=str)


def _of_facts(
    workspace: Workspace, reader: GraphReader, facts: Sequence[WrittenFact]
) -> tuple[list[Withdrawal], list[Triple]]:
    if not facts:
        raise UsageError("There is no fact to withdraw.", "Name an assertion or a fact.")
    triples = [find_fact(reader, fact.subject, fact.predicate, fact.object) for fact in facts]
    stating: dict[str, set[Triple]] = {}
    for triple in triples:
        ids = [g.value[len(v.ASSERTION) :] for g in workspace.store.sources(triple) if _is_assertion(g.value)]
        if not ids:
            raise _refusal(reader.fact(triple))
        for assertion_id in ids:
            stating.setdefault(assertion_id, set()).add(triple)
    found = [workspace.projection.withdrawal(one, wanted) for one, wanted in sorted(stating.items())]
    return [withdrawal for withdrawal in found if withdrawal is not None], triples


def _is_assertion(graph: str) -> bool:
    return graph.startswith(v.ASSERTION)


def _refusal(fact: Fact) -> RetractionRefused:
    if fact.inferred:
        return RetractionRefused(
            f"{fact.sentence}: no agent states this, it follows from other facts.",
            "See `synapse explain` for what it rests on.",
        )
    source = fact.sources[0]
    if source.path is not None:
        return RetractionRefused(
            f"{fact.sentence}: no agent states this, a file does.",
            "Edit it there.",
            path=source.path,
            line=source.line,
        )
    return RetractionRefused(
        f"{fact.sentence}: no agent states this, {_who(source)} does.",
        "Remove that scenario to be rid of it.",
    )


def _because(workspace: Workspace, fact: Fact) -> str:
    if fact.inferred:
        return "it follows from other facts"
    return " and ".join(f"{_who(source)} states it" for source in fact.sources)


def _who(source: Source) -> str:
    if source.path is not None:
        return source.path if source.line is None else f"{source.path}:{source.line}"
    return f"the ontology {source.label}" if source.kind == "ontology" else source.label
