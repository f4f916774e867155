"""From changes of named graphs to the quads of one update that keeps the union in step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pyoxigraph import NamedNode, Triple

from synapse.engine.changes import Delta, GraphChange
from synapse.engine.graph.updates import DEFAULT, Plan, net_changes, stored_form
from synapse.engine.terms import vocabulary as v

if TYPE_CHECKING:
    from pyoxigraph import Store

Net = dict[NamedNode, tuple[set[Triple], set[Triple]]]


def sources_of(store: Store, triple: Triple) -> set[NamedNode]:
    """Named graphs but `inferred` that state the triple."""
    quads = list(store.quads_for_pattern(triple.subject, triple.predicate, triple.object, None))
    return {
        quad.graph_name
        for quad in quads
        if isinstance(quad.graph_name, NamedNode) and quad.graph_name != v.INFERRED
    }


def plan(store: Store, changes: Sequence[GraphChange], inferred: Delta) -> Plan:
    """The quads to delete and insert; a triple leaves the default graph with its last source."""
    net = net_changes(changes)
    if v.INFERRED in net:
        raise ValueError("the inferred graph changes only through `inferred`")
    made = Plan()
    added_somewhere: set[Triple] = set()
    removed_somewhere: set[Triple] = set()
    for graph, (removed, added) in net.items():
        made.remove(graph, removed)
        made.add(graph, added)
        removed_somewhere |= removed
        added_somewhere |= added
        if _is_emptied(store, graph, removed, added):
            made.emptied.append(graph)
    taken_by = _by_triple(net)
    made.remove(
        DEFAULT,
        {
            triple
            for triple in removed_somewhere - added_somewhere
            if not sources_of(store, triple) - taken_by[triple]
        },
    )
    made.add(DEFAULT, added_somewhere)
    lost = {stored_form(triple) for triple in inferred.removed}
    gained = {stored_form(triple) for triple in inferred.added}
    made.remove(v.INFERRED, lost)
    made.add(v.INFERRED, gained)
    if _is_emptied(store, v.INFERRED, lost - gained, gained):
        made.emptied.append(v.INFERRED)
    return made


def union_delta(
    store: Store, changes: Sequence[GraphChange], relevant: Callable[[NamedNode, Triple], bool]
) -> Delta:
    """Change of the union over the pairs (graph, triple) for which `relevant` holds."""
    net = net_changes(changes)
    touched: dict[Triple, tuple[set[NamedNode], set[NamedNode]]] = {}
    for graph, (removed, added) in net.items():
        for triple in removed:
            touched.setdefault(triple, (set(), set()))[0].add(graph)
        for triple in added:
            touched.setdefault(triple, (set(), set()))[1].add(graph)
    gained: set[Triple] = set()
    lost: set[Triple] = set()
    for triple, (leaving, entering) in touched.items():
        sources = sources_of(store, triple)
        before = any(relevant(graph, triple) for graph in sources)
        after = any(relevant(graph, triple) for graph in (sources - leaving) | entering)
        if after and not before:
            gained.add(triple)
        elif before and not after:
            lost.add(triple)
    return Delta(added=frozenset(gained), removed=frozenset(lost))


def _by_triple(net: Net) -> dict[Triple, set[NamedNode]]:
    found: dict[Triple, set[NamedNode]] = {}
    for graph, (removed, _) in net.items():
        for triple in removed:
            found.setdefault(triple, set()).add(graph)
    return found


def _is_emptied(store: Store, graph: NamedNode, removed: set[Triple], added: set[Triple]) -> bool:
    if added or not removed:
        return False
    # Stops at the first triple that stays, so this costs at most one step more than the removal.
    quads = store.quads_for_pattern(None, None, None, graph)
    stays = next((quad for quad in quads if quad.triple not in removed), None)
    del quads
    return stays is None
