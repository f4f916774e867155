"""What agents state: the same call once, replacing what it says it replaces (data-model.md section 6)."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from pyoxigraph import Triple

from synapse.engine.changes import ChangeSet, GraphChange
from synapse.engine.errors import IdempotencyConflict, NotFound, UsageError
from synapse.engine.questions.results import Asserted
from synapse.engine.record import (
    Agent,
    Assertion,
    Projector,
    WrittenFact,
    assertion_data,
    parse_fact,
    superseded,
)
from synapse.engine.recording import bare_id, record, this_person
from synapse.engine.terms import assertion_graph
from synapse.engine.workspace import Workspace

_LONGEST_KEY = 200


@dataclass(frozen=True, slots=True)
class Statement:
    """One call that states facts. agent: None for the person at this machine.

    supersedes: assertions that it replaces. key: names the call, so that it can be sent again.
    """

    facts: Sequence[WrittenFact]
    source: str
    reason: str
    agent: Agent | None = None
    supersedes: Sequence[str] = ()
    key: str | None = None


def assert_facts(workspace: Workspace, statement: Statement) -> tuple[Asserted, ChangeSet | None]:
    """State facts, all or none; no ChangeSet where the same call stated them before.

    Raises InvalidFact, InvalidId, NotFound, UsageError, IdempotencyConflict, WriteFailed.
    """
    data, _ = _checked(workspace, statement)
    who = statement.agent or this_person()
    if (before := _stated_before(workspace, who, statement, data)) is not None:
        revision = str(workspace.store.revision)
        return Asserted(before.id, revision, len(before.standing), 0, repeated=True), None
    appended, changeset = record(workspace, "assert", who, statement.reason, data)
    assertion = workspace.projection.assertion(appended.event.id)
    stated = 0 if assertion is None else len(assertion.standing)
    inferred = len(changeset.inferred.added)
    return Asserted(appended.event.id, str(changeset.revision), stated, inferred), changeset


def try_facts(workspace: Workspace, statement: Statement) -> Asserted:
    """What `assert_facts` would answer; nothing is written. Raises the same."""
    data, triples = _checked(workspace, statement)
    who = statement.agent or this_person()
    revision = str(workspace.store.revision)
    if (before := _stated_before(workspace, who, statement, data)) is not None:
        return Asserted(before.id, revision, len(before.standing), 0, repeated=True, dry_run=True)
    changes = [GraphChange(assertion_graph("dry-run"), added=triples)]
    for replaced in map(workspace.projection.assertion, superseded(data)):
        if replaced is not None:
            changes.append(GraphChange(replaced.graph, removed=replaced.standing))
    inferred = workspace.would_infer(changes)
    return Asserted("", revision, len(triples), len(inferred.added), dry_run=True)


def _checked(workspace: Workspace, statement: Statement) -> tuple[dict[str, object], frozenset[Triple]]:
    """The data of the event, and the triples that it states. Raises for what cannot be stated."""
    if not statement.facts:
        raise UsageError("There is no fact to state.", "Give at least one.")
    for name, value in (("source", statement.source), ("reason", statement.reason)):
        if not value.strip():
            raise UsageError(f"The {name} is empty.", f"Say in a few words what the {name} is.")
    key = statement.key
    if key is not None and (not key.strip() or len(key) > _LONGEST_KEY or not _is_plain(key)):
        raise UsageError(
            f"An idempotency key has 1 to {_LONGEST_KEY} characters and no control characters.",
            "Use a new random id for each call, and the same one when you send that call again.",
        )
    projector = Projector(workspace.iri_of_id, workspace.words, workspace.identities)
    triples = frozenset(projector.triple(parse_fact(fact.as_json())) for fact in statement.facts)
    supersedes = list(dict.fromkeys(map(bare_id, statement.supersedes)))
    for asked in supersedes:
        if workspace.projection.assertion(asked) is None:
            raise NotFound(f"There is no assertion {asked}.", "See the fact's provenance for its assertions.")
    return assertion_data(statement.facts, statement.source, supersedes, key), triples


def _is_plain(text: str) -> bool:
    return not any(unicodedata.category(character) in ("Cc", "Cs") for character in text)


def _stated_before(
    workspace: Workspace, who: Agent, statement: Statement, data: dict[str, object]
) -> Assertion | None:
    """What the same agent stated with the same key. Raises IdempotencyConflict where it was something
    else."""
    if statement.key is None:
        return None
    before = workspace.projection.keyed(who.name, statement.key)
    if before is not None and before.event.data != data:
        raise IdempotencyConflict(
            f"The idempotency key {statement.key!r} was used for other facts, in the assertion {before.id}.",
            "Send the same facts, source and supersedes again, or choose a new key.",
        )
    return before
