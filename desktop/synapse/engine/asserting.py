"""What agents state and take back: journal first, then one transaction (data-model.md sections 1, 6)."""

from __future__ import annotations

import getpass
from collections.abc import Mapping, Sequence

from pyoxigraph import Triple

from synapse.engine.changes import ChangeSet, GraphChange
from synapse.engine.errors import NotFound, RetractionRefused, UsageError, WriteFailed
from synapse.engine.questions.given import find_fact
from synapse.engine.questions.reader import GraphReader
from synapse.engine.questions.results import Asserted, Fact, Retracted, Source, StillHolds
from synapse.engine.record import (
    Agent,
    Appended,
    Projector,
    Withdrawal,
    WrittenFact,
    assertion_data,
    parse_fact,
    retraction_data,
)
from synapse.engine.terms import vocabulary as v
from synapse.engine.workspace import Workspace


def this_person() -> Agent:
    """Whoever runs this process, for writes that name no agent."""
    try:
        name = getpass.getuser()
    except (OSError, KeyError, ImportError):
        name = "somebody"
    return Agent(name, "person", "synapse")


def assert_facts(
    workspace: Workspace, facts: Sequence[WrittenFact], source: str, reason: str, agent: Agent | None
) -> tuple[Asserted, ChangeSet]:
    """State facts, all or none. Raises InvalidFact, InvalidId, UsageError, WriteFailed."""
    if not facts:
        raise UsageError("There is no fact to state.", "Give at least one.")
    for name, value in (("source", source), ("reason", reason)):
        if not value.strip():
            raise UsageError(f"The {name} is empty.", f"Say in a few words what the {name} is.")
    projector = Projector(workspace.iri_of_id, workspace.words, workspace.identities)
    for fact in facts:
        projector.triple(parse_fact(fact.as_json()))
    data = assertion_data(facts, source)
    appended, changeset = _record(workspace, "assert", agent or this_person(), reason, data)
    assertion = workspace.projection.assertion(appended.event.id)
    stated = 0 if assertion is None else len(assertion.standing)
    return (
        Asserted(appended.event.id, str(changeset.revision), stated, len(changeset.inferred.added)),
        changeset,
    )


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
    if not reason.strip():
        raise UsageError("The reason is empty.", "Say in a few words why.")
    if assertion is not None:
        withdrawals, triples = _of_assertion(workspace, assertion)
    else:
        withdrawals, triples = _of_facts(workspace, reader, facts)
    described = {triple: reader.fact(triple) for triple in triples}
    data = retraction_data(withdrawals)
    _, changeset = _record(workspace, "retract", agent or this_person(), reason, data)
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


def _of_assertion(workspace: Workspace, asked: str) -> tuple[list[Withdrawal], list[Triple]]:
    assertion_id = asked.strip().removeprefix("<").removesuffix(">").removeprefix(v.ASSERTION)
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


def _record(
    workspace: Workspace, kind: str, who: Agent, why: str, data: Mapping[str, object]
) -> tuple[Appended, ChangeSet]:
    """Append an event and carry it into the graph; if the graph refuses, take the event back.

    Raises WriteFailed; its hint says when the event stays and is applied at the next start.
    """
    appended = workspace.journal.append(kind, who, why, data)
    try:
        changeset = workspace.commit(_changes(workspace, appended), journal=appended.positions)
    except BaseException as error:
        try:
            workspace.journal.rollback(appended.position)
        except WriteFailed as failed:
            raise WriteFailed(
                "The graph could not be written; the change is recorded.",
                f"It is applied at the next start as {appended.event.id}.",
            ) from failed
        finally:
            workspace.read_journal()
        if isinstance(error, OSError):
            raise WriteFailed(
                f"The graph could not be written: {error}.", "Free space and try again."
            ) from error
        raise
    workspace.journal_positions.update(appended.positions)
    return appended, changeset


def _changes(workspace: Workspace, appended: Appended) -> list[GraphChange]:
    """What one event changes: the graphs of the assertions it touches, and their provenance."""
    store, projection = workspace.store, workspace.projection
    changes: list[GraphChange] = []
    for assertion_id in sorted(projection.add([appended.event])):
        found = projection.assertion(assertion_id)
        if found is None:
            continue  # a retraction of something this machine has not seen yet
        old = frozenset(store.triples(found.graph))
        changes.append(GraphChange(found.graph, old - found.standing, found.standing - old))
        new = frozenset(triple for triple in found.meta if not store.contains(triple, v.META))
        changes.append(GraphChange(v.META, added=new))
    return changes
