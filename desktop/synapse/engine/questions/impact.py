"""What depends on an entity: the complete set, with depth and one shortest path each."""

from __future__ import annotations

from pyoxigraph import NamedNode, Triple

from synapse.engine.errors import UsageError
from synapse.engine.questions.paging import Key, page
from synapse.engine.questions.reader import GraphReader
from synapse.engine.questions.results import Fact, Impact, Impacted
from synapse.engine.terms import vocabulary as v


def dependency_properties(reader: GraphReader) -> tuple[set[NamedNode], set[NamedNode]]:
    """The properties that say "subject depends on object": `depends_on` and all its sub-properties;
    and those that say it the other way round, their inverses."""
    forward: set[NamedNode] = set()
    waiting = [v.DEPENDS_ON]
    while waiting:
        found = waiting.pop()
        if found in forward:
            continue
        forward.add(found)
        for triple in reader.store.match(None, v.RDFS_SUB_PROPERTY_OF, found):
            if isinstance(triple.subject, NamedNode):
                waiting.append(triple.subject)
    backward: set[NamedNode] = set()
    for found in forward:
        for triple in reader.store.match(None, v.OWL_INVERSE_OF, found):
            if isinstance(triple.subject, NamedNode):
                backward.add(triple.subject)
        for triple in reader.store.match(found, v.OWL_INVERSE_OF, None):
            if isinstance(triple.object, NamedNode):
                backward.add(triple.object)
    return forward, backward - forward


def impact(
    reader: GraphReader, asked: str, depth: int | None = None, limit: int = 1000, cursor: str | None = None
) -> Impact:
    """Everything that depends on the entity, the nearest first.

    depth: most steps to walk; None for all. Each item has one shortest path, from it to the entity.
    Raises UnknownEntity, InvalidId, UsageError.
    """
    if depth is not None and depth < 1:
        raise UsageError(f"The depth is {depth}.", "Ask for at least 1, or leave it out for all.")
    resolved = reader.resolve(asked)
    forward, backward = dependency_properties(reader)
    step_of: dict[NamedNode, tuple[int, Triple | None, NamedNode]] = {resolved.iri: (0, None, resolved.iri)}
    frontier, steps = [resolved.iri], 0
    while frontier and (depth is None or steps < depth):
        steps += 1
        found: dict[NamedNode, tuple[Triple, NamedNode]] = {}
        for node in frontier:
            for dependent, triple in _dependents(reader, node, forward, backward):
                if dependent not in step_of:
                    found.setdefault(dependent, (triple, node))
        for dependent, (triple, node) in found.items():
            step_of[dependent] = (steps, triple, node)
        frontier = sorted(found, key=lambda node: node.value)
    del step_of[resolved.iri]

    def key(node: NamedNode) -> Key:
        return step_of[node][0], reader.entity(node).label.casefold(), node.value

    shown, more = page(sorted(step_of, key=key), key, limit, cursor)
    items = []
    facts: dict[Triple, Fact] = {}  # the paths of a long chain share their steps
    for node in shown:
        path, at = [], node
        while at != resolved.iri:
            _, step, at = step_of[at]
            assert step is not None
            if step not in facts:
                facts[step] = reader.fact(step)
            path.append(facts[step])
        items.append(Impacted(reader.entity(node), step_of[node][0], tuple(path)))
    return Impact(reader.entity(resolved.iri), tuple(items), len(step_of), more, resolved.note)


def _dependents(
    reader: GraphReader, node: NamedNode, forward: set[NamedNode], backward: set[NamedNode]
) -> list[tuple[NamedNode, Triple]]:
    """The entities one step from the node, ordered, with the fact that says so; a stated fact
    before an inferred one."""
    found = [
        (triple.subject, triple)
        for triple in reader.store.match(None, None, node)
        if triple.predicate in forward and isinstance(triple.subject, NamedNode)
    ]
    if backward:
        found += [
            (triple.object, triple)
            for triple in reader.store.match(node, None, None)
            if triple.predicate in backward and isinstance(triple.object, NamedNode)
        ]
    return sorted(found, key=lambda pair: (not reader.store.sources(pair[1]), str(pair[1])))
