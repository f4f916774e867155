"""A neighbourhood as arrays: what a canvas paints and a layout places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from synapse.engine.layout.placing import lay_out
from synapse.engine.layout.start import Floats
from synapse.engine.questions.results import Entity, Fact, GraphNode, Neighbourhood

STATED, INFERRED, AGENT = 0, 1, 2


def edge_kind(fact: Fact) -> int:
    """STATED, INFERRED or AGENT (only agents state it) for a fact's edge."""
    if fact.inferred:
        return INFERRED
    if fact.sources and all(source.kind == "agent" for source in fact.sources):
        return AGENT
    return STATED


@dataclass(frozen=True, slots=True, eq=False)
class Subgraph:
    """Nodes and drawn edges of a neighbourhood.

    nodes: as the neighbourhood lists them; centre: index of the one asked for.
    ends: int32 (m, 2), source and target node of each drawn edge; kind: int8 (m,), see `edge_kind`.
    facts: for each drawn edge the facts it stands for: relations between the same two nodes in
    the same direction and of one kind share an edge, so that none lies under another.
    lane: float64 (m,), how far the edge stands off the straight line between its two nodes, in
    lanes left of the direction from the lower to the higher index; edges of one pair have
    different lanes. A self loop has lanes from 0.
    """

    nodes: tuple[GraphNode, ...]
    centre: int
    ends: NDArray[np.int32]
    kind: NDArray[np.int8]
    lane: NDArray[np.float64]
    facts: tuple[tuple[Fact, ...], ...]

    def relation(self, edge: int) -> str:
        """The words on an edge: its relations, each once, in the order of the facts."""
        return ", ".join(dict.fromkeys(fact.predicate.label for fact in self.facts[edge]))

    def facts_of(self, node: int) -> tuple[Fact, ...]:
        """The facts on the edges that touch a node, in the order of the edges."""
        touching = np.flatnonzero((self.ends == node).any(axis=1))
        return tuple(fact for edge in touching for fact in self.facts[edge])

    def neighbours(self, node: int) -> NDArray[np.bool_]:
        """Mask (n,) of the nodes that share an edge with a node, itself included."""
        mask = np.zeros(len(self.nodes), dtype=bool)
        mask[node] = True
        mask[self.ends[(self.ends == node).any(axis=1)].ravel()] = True
        return mask


def subgraph(found: Neighbourhood) -> Subgraph:
    """The arrays of a neighbourhood. Facts with an end that is not among its nodes are left out."""
    at = {node.entity.iri: index for index, node in enumerate(found.nodes)}
    drawn: dict[tuple[int, int, int], list[Fact]] = {}
    for fact in found.edges:
        if not isinstance(fact.object, Entity):
            continue
        source, target = at.get(fact.subject.iri), at.get(fact.object.iri)
        if source is not None and target is not None:
            drawn.setdefault((source, target, edge_kind(fact)), []).append(fact)
    ends = np.array([key[:2] for key in drawn], dtype=np.int32).reshape(-1, 2)
    return Subgraph(
        nodes=found.nodes,
        centre=at.get(found.centre.iri, 0),
        ends=ends,
        kind=np.array([key[2] for key in drawn], dtype=np.int8),
        lane=_lanes(ends),
        facts=tuple(tuple(facts) for facts in drawn.values()),
    )


def _lanes(ends: NDArray[np.int32]) -> NDArray[np.float64]:
    pairs: dict[tuple[int, int], list[int]] = {}
    for edge, (source, target) in enumerate(ends.tolist()):
        pairs.setdefault((min(source, target), max(source, target)), []).append(edge)
    lane = np.zeros(len(ends))
    for (low, high), edges in pairs.items():
        middle = 0.0 if low == high else (len(edges) - 1) / 2
        for place, edge in enumerate(edges):
            lane[edge] = place - middle
    return lane


def lay_out_subgraph(
    graph: Subgraph,
    sizes: Floats,
    *,
    known: Mapping[str, tuple[float, float]] | None = None,
    pinned: frozenset[str] = frozenset(),
    aspect: float | None = None,
    seed: int = 0,
) -> Floats:
    """Positions (n, 2) of a subgraph's nodes (see `lay_out`).

    known: positions by IRI from an earlier picture, from which shared nodes start; those in
    `pinned` stay there. aspect: height by width of the view.
    """
    known = known or {}
    start = np.full((len(graph.nodes), 2), np.nan)
    fixed = np.zeros(len(graph.nodes), dtype=bool)
    for index, node in enumerate(graph.nodes):
        if (place := known.get(node.entity.iri)) is not None:
            start[index] = place
            fixed[index] = node.entity.iri in pinned
    n = len(graph.nodes)
    return lay_out(
        n, graph.ends, sizes, centre=graph.centre, start=start, fixed=fixed, aspect=aspect, seed=seed
    )
