"""The subgraph around an entity, breadth first."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal as OneOf

from pyoxigraph import NamedNode, Triple

from synapse.engine.errors import UsageError
from synapse.engine.questions.reader import GraphReader
from synapse.engine.questions.results import GraphNode, Neighbourhood
from synapse.engine.terms import vocabulary as v

Direction = OneOf["both", "out", "in"]
_NO_RELATION = frozenset({v.RDF_TYPE, v.SCHEMA_KEYWORDS})
"""Predicates that describe a node rather than relate it; followed only when asked for."""


def neighbourhood(
    reader: GraphReader,
    asked: str,
    depth: int = 1,
    direction: Direction = "both",
    predicates: Sequence[str] = (),
    types: Sequence[str] = (),
    limit: int = 200,
) -> Neighbourhood:
    """The entities within `depth` relations of one, and all relations among those shown.

    predicates: words or IRIs; only these relations are followed. types: only entities of one of
    these classes are kept. limit: most nodes shown, the centre included; of one depth the
    best connected come first, and `cut` says how many were left out.
    Raises UnknownEntity, InvalidId, UsageError.
    """
    if depth < 0 or limit < 1 or direction not in ("both", "out", "in"):
        raise UsageError(
            "The depth, limit or direction is out of range.",
            "The depth is at least 0, the limit at least 1, the direction both, out or in.",
        )
    resolved = reader.resolve(asked)
    followed = {reader.words.property(word) for word in predicates}
    wanted = {reader.words.type(word) for word in types}
    walk = _Walk(reader, direction, followed)
    reached = {resolved.iri: 0}
    frontier = [resolved.iri]
    for step in range(1, depth + 1):
        found: set[NamedNode] = set()
        for node in frontier:
            found.update(other for other, _ in walk.relations(node) if other not in reached)
        frontier = sorted((node for node in found if _is_wanted(reader, node, wanted)), key=_value)
        reached.update(dict.fromkeys(frontier, step))
    nodes = sorted(reached, key=lambda node: (reached[node], -walk.degree(node), node.value))
    shown = nodes[:limit]
    kept = set(shown)
    edges = {triple for node in shown for other, triple in walk.relations(node) if other in kept}
    return Neighbourhood(
        reader.entity(resolved.iri),
        tuple(
            GraphNode(reader.entity(node), reached[node], walk.degree(node), _type_labels(reader, node))
            for node in shown
        ),
        tuple(reader.fact(triple) for triple in sorted(edges, key=str)),
        len(nodes),
        len(nodes) - len(shown),
    )


class _Walk:
    """Relations of nodes, each looked up once."""

    def __init__(self, reader: GraphReader, direction: Direction, followed: Collection[NamedNode]) -> None:
        self._reader = reader
        self._direction = direction
        self._followed = followed
        self._relations: dict[NamedNode, list[tuple[NamedNode, Triple]]] = {}

    def relations(self, node: NamedNode) -> list[tuple[NamedNode, Triple]]:
        """The other end and the fact of each relation that is followed from the node."""
        found = self._relations.get(node)
        if found is None:
            found = self._relations[node] = list(self._look(node))
        return found

    def _look(self, node: NamedNode) -> list[tuple[NamedNode, Triple]]:
        found: list[tuple[NamedNode, Triple]] = []
        if self._direction != "in":
            for triple in self._reader.about(node):
                if isinstance(triple.object, NamedNode) and self._follows(triple.predicate):
                    found.append((triple.object, triple))
        if self._direction != "out":
            for triple in self._reader.naming(node):
                if isinstance(triple.subject, NamedNode) and self._follows(triple.predicate):
                    found.append((triple.subject, triple))
        return found

    def _follows(self, predicate: NamedNode) -> bool:
        return predicate in self._followed if self._followed else predicate not in _NO_RELATION

    def degree(self, node: NamedNode) -> int:
        return len({triple for _, triple in self.relations(node)})


def _value(node: NamedNode) -> str:
    return node.value


def _is_wanted(reader: GraphReader, node: NamedNode, wanted: set[NamedNode]) -> bool:
    if not wanted:
        return True
    return any(triple.object in wanted for triple in reader.store.match(node, v.RDF_TYPE, None))


def _type_labels(reader: GraphReader, node: NamedNode) -> tuple[str, ...]:
    """Labels of the node's classes, the stated ones first."""
    stated = {triple.object for triple in reader.store.match(node, v.RDF_TYPE, None, view="stated")}
    every = {triple.object for triple in reader.store.match(node, v.RDF_TYPE, None)}
    ordered = sorted((c for c in every if isinstance(c, NamedNode)), key=lambda c: (c not in stated, c.value))
    return tuple(reader.entity(cls).label for cls in ordered)
