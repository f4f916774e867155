"""The subgraph as a list, for screen readers and for whoever prefers words: nodes by distance."""

from __future__ import annotations

from itertools import groupby

from PySide6.QtCore import QCoreApplication

from synapse.engine.layout import Subgraph
from synapse.window.facts.rows import Row, fact_rows, opening
from synapse.window.graph.look import one_line
from synapse.window.panel import counted

translate = QCoreApplication.translate


def node_rows(graph: Subgraph) -> tuple[Row, ...]:
    """A section for each distance from the centre; below each node its relations in the picture."""
    nodes = sorted(range(len(graph.nodes)), key=lambda number: graph.nodes[number].depth)
    rows = []
    for depth, found in groupby(nodes, key=lambda number: graph.nodes[number].depth):
        numbers = list(found)
        title = (
            counted(depth, translate("Graph", "step away"), translate("Graph", "steps away"))
            if depth
            else translate("Graph", "This note")
        )
        inside = tuple(_node(graph, number) for number in numbers)
        rows.append(Row("section", title, count=len(inside), inside=lambda inside=inside: inside))  # type: ignore[misc]
    return tuple(rows)


def _node(graph: Subgraph, number: int) -> Row:
    node = graph.nodes[number]
    details = [", ".join(node.types[:3])]
    if node.entity.kind == "unwritten":
        details.append(translate("Graph", "not written yet"))
    details.append(counted(node.degree, translate("Graph", "relation"), translate("Graph", "relations")))
    return Row(
        "fact",
        one_line(node.entity.label) or node.entity.id,
        detail=" · ".join(detail for detail in details if detail),
        opens=opening(node.entity),
        hollow=node.entity.kind == "unwritten",
        open_at_first=False,
        inside=lambda: fact_rows(graph.facts_of(number), node.entity),
    )
