"""`entity_neighbourhood`: the entities around one, and how they are related."""

from __future__ import annotations

from dataclasses import replace

from synapse.agents.tools import shapes
from synapse.agents.tools.quoting import quoted
from synapse.agents.tools.rows import taken
from synapse.agents.tools.shapes import COUNT, ENTITY, FACT, TEXT, Names, joined, listed, section
from synapse.agents.tools.tool import Answer, Call, Tool, fitted, one_line, plural
from synapse.engine.questions.results import Entity, Fact, GraphNode, Neighbourhood

_MOST_EDGES = 150
"""Relations shown: few nodes can have very many among them."""
_MOST_TYPES = 5


def _run(call: Call) -> Answer:
    asked, names = call.values, Names(call.engine)

    def page(limit: int) -> Answer:
        found = call.engine.neighbourhood(
            asked["entity"], asked["depth"], asked["direction"], asked["predicates"], asked["types"], limit
        )
        return _answer(names, found)

    return fitted(page, asked["limit"])


def _answer(names: Names, found: Neighbourhood) -> Answer:
    # Shown from the centre outwards, so that what is cut is what is farthest.
    depth = {node.entity.iri: node.depth for node in found.nodes}
    edges = sorted(
        found.edges, key=lambda edge: min(depth.get(edge.subject.iri, 0), _depth_of_object(edge, depth))
    )
    shown = edges[:_MOST_EDGES]
    edges_cut = len(edges) - len(shown)
    data = {
        "centre": names.entity_json(found.centre),
        "nodes": [_node(names, node) for node in found.nodes],
        "edges": [names.fact(edge, sources=1, labelled=depth) for edge in shown],
        "total": found.total,
        "cut": found.cut,
        "edges_total": len(edges),
        "edges_cut": edges_cut,
    }
    others = found.total - 1
    lines = [
        f"# Around {names.entity_text(found.centre)}",
        "",
        f"{plural(others, 'other entity', 'other entities')} reached"
        f" and {plural(len(edges), 'relation')} among those shown.",
        "",
    ]
    if found.cut or edges_cut:
        lines += [
            f"Left out: {plural(found.cut, 'entity', 'entities')} and {plural(edges_cut, 'relation')}."
            " Ask with `predicates`, `types` or a smaller `depth` for less, or page through"
            " entity_dossier for all relations of one entity.",
            "",
        ]
    lines += section("Entities", (_line(names, node) for node in found.nodes[1:]))
    lines += section("Relations", (f"- {names.fact_text(e)} — {shapes.sources_text(e, 1)}" for e in shown))
    return Answer(joined(lines), data, len(found.nodes))


def _depth_of_object(edge: Fact, depth: dict[str, int]) -> int:
    return depth.get(edge.object.iri, 0) if isinstance(edge.object, Entity) else 0


def _node(names: Names, node: GraphNode) -> shapes.Json:
    return {
        "id": names.entity(node.entity),
        **names.label(node.entity),
        "depth": node.depth,
        "degree": node.degree,
        "types": [one_line(label, 80) for label in node.types[:_MOST_TYPES]],
    }


def _line(names: Names, node: GraphNode) -> str:
    types = ", ".join(quoted(label, 80) for label in node.types[:_MOST_TYPES])
    steps = plural(node.depth, "step")
    return f"- {names.entity_text(node.entity)}: {steps} away, {plural(node.degree, 'relation')}" + (
        f", {types}" if types else ""
    )


_ARGUMENTS = [
    replace(argument, default=60) if argument.name == "limit" else argument
    for argument in taken("neighbourhood")
]

TOOL = Tool(
    "entity_neighbourhood",
    "Entity neighbourhood",
    "The entities around one, breadth first, and the relations among them: what a thing is connected with, "
    "directly (depth 1) or through others (depth 2 and more). Narrow it with `predicates` (only these "
    "relations) and `types` (only these classes). What had to be left out is counted. For one thing in "
    "detail use entity_dossier; for what depends on it, dependency_impact.",
    {"entity": "modules/payments", "depth": 2, "predicates": ["depends_on"]},
    _ARGUMENTS,
    shapes.schema(
        {
            "centre": ENTITY,
            "nodes": listed(
                shapes.schema(
                    {
                        "id": TEXT,
                        "label": TEXT,
                        "depth": {**COUNT, "description": "steps from the centre"},
                        "degree": {**COUNT, "description": "relations it has in the whole graph"},
                        "types": listed(TEXT),
                    },
                    "label",
                )
            ),
            "edges": listed(FACT),
            "total": {**COUNT, "description": "entities reached, the centre included"},
            "cut": {**COUNT, "description": "entities reached and left out"},
            "edges_total": COUNT,
            "edges_cut": COUNT,
        }
    ),
    _run,
)
