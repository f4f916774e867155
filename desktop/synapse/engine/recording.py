"""How a write that is no edit of a file is made: journal first, then one transaction, or neither
(data-model.md section 1)."""

from __future__ import annotations

import getpass
from collections.abc import Iterable, Mapping

from pyoxigraph import Triple

from synapse.engine.changes import ChangeSet, GraphChange
from synapse.engine.errors import WriteFailed
from synapse.engine.expected import journal_changes
from synapse.engine.record import Agent, Appended
from synapse.engine.terms import vocabulary as v
from synapse.engine.workspace import Workspace


def this_person() -> Agent:
    """Whoever runs this process, for writes that name no agent."""
    try:
        name = getpass.getuser()
    except (OSError, KeyError, ImportError):
        name = "somebody"
    return Agent(name, "person", "synapse")


def catch_up(workspace: Workspace) -> ChangeSet | None:
    """Carry into the graph what the journal says and the graph does not, before the next event.

    A process that died between the two left it behind. A later event alone would move the graph's
    place in the journal past it. None where there is nothing, as nearly always. Raises WriteFailed.
    """
    journal = workspace.journal
    if journal.size != workspace.journal_positions.get(journal.name, 0):
        workspace.read_journal()
    positions, taken_in = workspace.journal_positions, workspace.store.journal_positions()
    if all(taken_in.get(file, 0) == position for file, position in positions.items()):
        return None
    return workspace.commit(journal_changes(workspace, workspace.projection), journal=positions)


def record(
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
    store, projection, event = workspace.store, workspace.projection, appended.event
    before = _provenance(workspace, projection.would_touch(event))
    touched = sorted(projection.add([event]))
    after = _provenance(workspace, touched)
    changes: list[GraphChange] = []
    for assertion_id in touched:
        found = projection.assertion(assertion_id)
        if found is None:
            continue  # a retraction of something this machine has not seen yet
        old = frozenset(store.triples(found.graph))
        changes.append(GraphChange(found.graph, old - found.standing, found.standing - old))
    # An agent is described alike by everything it did: what is gone here may stand for the rest.
    gone = {triple for triple in before - after if not str(triple.subject).startswith(f"<{v.AGENT}")}
    new = {triple for triple in after - before if not store.contains(triple, v.META)}
    changes.append(GraphChange(v.META, frozenset(gone), frozenset(new)))
    return changes


def _provenance(workspace: Workspace, assertions: Iterable[str]) -> frozenset[Triple]:
    found = [workspace.projection.assertion(assertion_id) for assertion_id in assertions]
    return frozenset().union(*(assertion.meta for assertion in found if assertion is not None))


def bare_id(asked: str) -> str:
    """An assertion's id as the journal has it, also from its IRI."""
    return asked.strip().removeprefix("<").removesuffix(">").removeprefix(v.ASSERTION)
