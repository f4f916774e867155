"""The one text of one write: `DELETE DATA {...} ; INSERT DATA {...}`.

Oxigraph runs all operations of one update in one transaction, and its Python face has no other
transaction. So a write is planned as two sets of quads and written down once, here: this is the
only place where terms become SPARQL text (data-model.md section 2), and only by their own `str`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pyoxigraph import Literal, NamedNode, Triple

from synapse.engine.changes import GraphChange
from synapse.engine.errors import InvalidFact
from synapse.engine.terms import canonical

DEFAULT = None
"""Stands for the default graph as a key of `Plan`."""

GraphKey = NamedNode | None


@dataclass(slots=True)
class Plan:
    """Triples to take out of and put into each graph; a triple in both ends up in."""

    delete: dict[GraphKey, set[Triple]] = field(default_factory=dict)
    insert: dict[GraphKey, set[Triple]] = field(default_factory=dict)
    emptied: list[NamedNode] = field(default_factory=list)
    """Graphs without a triple afterwards. Oxigraph goes on listing a graph that lost its last triple."""

    def remove(self, graph: GraphKey, triples: Iterable[Triple]) -> None:
        self.delete.setdefault(graph, set()).update(triples)

    def add(self, graph: GraphKey, triples: Iterable[Triple]) -> None:
        self.insert.setdefault(graph, set()).update(triples)


def stored_form(triple: Triple) -> Triple:
    """The triple as the store keeps it: ground, with its literals in their canonical form.

    Raises InvalidFact for a blank node or a variable in any place, also inside a triple term.
    """
    subject, predicate, object_ = triple.subject, triple.predicate, triple.object
    if not isinstance(subject, NamedNode) or not isinstance(predicate, NamedNode):
        raise InvalidFact(
            f"A stored fact has IRIs as subject and predicate: {triple}", "Skolemise blank nodes first."
        )
    if isinstance(object_, NamedNode):
        return triple
    if isinstance(object_, Literal):
        kept = canonical(object_)
        return triple if kept is object_ or kept == object_ else Triple(subject, predicate, kept)
    if isinstance(object_, Triple):
        inner = stored_form(object_)
        return triple if inner is object_ else Triple(subject, predicate, inner)
    raise InvalidFact(f"A stored fact holds no blank nodes: {triple}", "Skolemise blank nodes first.")


def net_changes(changes: Sequence[GraphChange]) -> dict[NamedNode, tuple[set[Triple], set[Triple]]]:
    """graph -> (removed, added) of several changes made one after the other.

    Within one change what is added wins over what is removed; a later change wins over an earlier.
    The two sets are disjoint and in the store's form.
    """
    net: dict[NamedNode, tuple[set[Triple], set[Triple]]] = {}
    for change in changes:
        removed, added = net.setdefault(change.graph, (set(), set()))
        taken = {stored_form(triple) for triple in change.removed}
        given = {stored_form(triple) for triple in change.added}
        removed |= taken
        added -= taken
        removed -= given
        added |= given
    return net


def _block(quads: Mapping[GraphKey, set[Triple]]) -> str:
    parts: list[str] = []
    for graph, triples in quads.items():
        if not triples:
            continue
        # A triple term prints as `<<( s p o )>>` only inside another triple, so the whole triple is printed.
        body = " .\n".join(map(str, triples))
        parts.append(f"{body} .\n" if graph is DEFAULT else f"GRAPH {graph} {{\n{body}\n}}\n")
    return "".join(parts)


def update_text(plan: Plan) -> str:
    """The SPARQL update that carries out a plan; empty if there is nothing to do.

    Every triple must have gone through `stored_form`.
    """
    operations: list[str] = []
    if deletions := _block(plan.delete):
        operations.append(f"DELETE DATA {{\n{deletions}}}")
    if insertions := _block(plan.insert):
        operations.append(f"INSERT DATA {{\n{insertions}}}")
    operations += [f"DROP SILENT GRAPH {graph}" for graph in plan.emptied]
    return " ;\n".join(operations)
