"""What the store says about itself: revision, journal positions, the mark of an unfinished load.

These are facts about `urn:synapse:store` in the meta graph (and so in the default graph), written
in the same update as the change they belong to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

from pyoxigraph import Literal, NamedNode, Triple

from synapse.engine.changes import GraphChange, Revision
from synapse.engine.terms import vocabulary as v

if TYPE_CHECKING:
    from pyoxigraph import Store

EPOCH: Final = NamedNode(v.PROP + "epoch")
NUMBER: Final = NamedNode(v.PROP + "revision")
UNFINISHED: Final = NamedNode(v.PROP + "unfinished")
POSITION: Final = NamedNode(v.PROP + "journal_position")
JOURNAL: Final = v.SYNAPSE + "journal:"

_MARK: Final = frozenset({Triple(v.STORE, UNFINISHED, Literal(True))})


def read_revision(store: Store) -> Revision | None:
    """The stored revision; None in a store that has none."""
    epoch = number = None
    for quad in store.quads_for_pattern(v.STORE, None, None, v.META):
        if isinstance(quad.object, Literal) and quad.predicate == EPOCH:
            epoch = quad.object.value
        elif isinstance(quad.object, Literal) and quad.predicate == NUMBER:
            number = int(quad.object.value)
    return None if epoch is None or number is None else Revision(epoch, number)


def is_unfinished(store: Store) -> bool:
    """Whether a bulk load began and did not end."""
    return bool(list(store.quads_for_pattern(v.STORE, UNFINISHED, None, v.META)))


def read_journal_positions(store: Store) -> dict[str, int]:
    """Journal file name -> bytes consumed."""
    found: dict[str, int] = {}
    for quad in store.quads_for_pattern(None, POSITION, None, v.META):
        subject, consumed = quad.subject, quad.object
        if isinstance(subject, NamedNode) and isinstance(consumed, Literal):
            found[unquote(subject.value.removeprefix(JOURNAL))] = int(consumed.value)
    return found


def mark_unfinished() -> GraphChange:
    """Says that the content is incomplete."""
    return GraphChange(v.META, added=_MARK)


def unmark_unfinished() -> GraphChange:
    """Takes that back."""
    return GraphChange(v.META, removed=_MARK)


def advance(store: Store, after: Revision, journal: Mapping[str, int]) -> GraphChange:
    """Leads to revision `after`, with `journal` consumed so far."""
    before = read_revision(store)
    known = read_journal_positions(store) if journal else {}
    outdated = _revision_facts(before) if before else frozenset()
    outdated |= {_position(name, known[name]) for name in journal if name in known}
    current = _revision_facts(after) | {_position(name, consumed) for name, consumed in journal.items()}
    return GraphChange(v.META, removed=outdated, added=current)


def _revision_facts(revision: Revision) -> frozenset[Triple]:
    return frozenset(
        {
            Triple(v.STORE, EPOCH, Literal(revision.epoch)),
            Triple(v.STORE, NUMBER, Literal(revision.number)),
        }
    )


def _position(name: str, consumed: int) -> Triple:
    return Triple(NamedNode(JOURNAL + quote(name, safe="")), POSITION, Literal(consumed))
