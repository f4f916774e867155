"""The canvas between two subgraphs."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QVariantAnimation
from pytestqt.qtbot import QtBot

from synapse.engine.layout import subgraph
from synapse.engine.questions.results import Entity, GraphNode, Neighbourhood
from synapse.window.graph.asking import canvas_colours
from synapse.window.graph.canvas import GraphCanvas
from synapse.window.theme import Theme


def star(count: int) -> Neighbourhood:
    """`count` notes around one, without relations."""
    entities = [
        Entity(f"n{number}", f"vault:/n{number}", f"Note {number}", "note") for number in range(count)
    ]
    nodes = tuple(GraphNode(entity, min(place, 1), 0) for place, entity in enumerate(entities))
    return Neighbourhood(entities[0], nodes, (), count)


@pytest.mark.parametrize(("first", "then"), [(2, 4), (4, 2), (3, 1)])
def test_another_graph_may_come_while_nodes_still_glide(qtbot: QtBot, first: int, then: int) -> None:
    canvas = GraphCanvas(canvas_colours(Theme("light")))
    qtbot.addWidget(canvas)
    canvas.resize(400, 300)
    canvas.show()
    qtbot.waitExposed(canvas)

    def show(count: int, shift: float) -> None:
        graph = subgraph(star(count))
        place = np.array([[100.0 * number + shift, shift] for number in range(len(graph.nodes))])
        canvas.show_graph(graph, place)

    show(first, 0.0)
    show(first, 50.0)
    assert canvas._animation.state() == QVariantAnimation.State.Running
    show(then, 90.0)
    qtbot.waitUntil(lambda: canvas._animation.state() == QVariantAnimation.State.Stopped)
    assert len(canvas.places()) == then
