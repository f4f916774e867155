"""What a write changed: one object for the window, the agents and the digest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from pyoxigraph import NamedNode, Triple

Facts = frozenset[Triple]
NO_FACTS: Facts = frozenset()


class Revision(NamedTuple):
    """A state of the store. Numbers compare only within one epoch; a rebuild starts a new one."""

    epoch: str
    number: int

    def __str__(self) -> str:
        return f"{self.epoch}-{self.number}"


@dataclass(frozen=True, slots=True)
class Delta:
    """Facts that came into and went out of a set; the two are disjoint."""

    added: Facts = NO_FACTS
    removed: Facts = NO_FACTS

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


@dataclass(frozen=True, slots=True)
class GraphChange:
    """Facts that one named graph loses and gains."""

    graph: NamedNode
    removed: Facts = NO_FACTS
    added: Facts = NO_FACTS

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """One write of the engine.

    `files` and `removed_files` are vault-relative paths whose content was read again or is gone;
    `diagnostics` counts the problems that stand after the write.
    """

    revision: Revision
    graphs: tuple[GraphChange, ...] = ()
    inferred: Delta = field(default_factory=Delta)
    files: tuple[str, ...] = ()
    removed_files: tuple[str, ...] = ()
    diagnostics: int = 0

    @property
    def facts_added(self) -> int:
        return sum(len(change.added) for change in self.graphs)

    @property
    def facts_removed(self) -> int:
        return sum(len(change.removed) for change in self.graphs)


def merged(changes: Iterable[GraphChange]) -> list[GraphChange]:
    """One change of each graph, in which later changes have the last word; empty ones left out."""
    found: dict[NamedNode, GraphChange] = {}
    for change in changes:
        before = found.get(change.graph)
        if before is not None:
            change = GraphChange(
                change.graph,
                (before.removed - change.added) | change.removed,
                (before.added - change.removed) | change.added,
            )
        found[change.graph] = change
    return [change for change in found.values() if change]
