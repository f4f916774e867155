"""What is painted, looked at pixel by pixel: kinds of edges differ without their colour."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from synapse.engine.layout import subgraph
from synapse.engine.questions.results import Entity, Fact, GraphNode, Neighbourhood, Source
from synapse.window.graph.asking import canvas_colours
from synapse.window.graph.canvas import GraphCanvas
from synapse.window.theme import Theme

SOURCES = {
    "stated": (Source("note", "vault:/a.md", "a.md"),),
    "inferred": (),
    "agent": (Source("agent", "urn:a", "Claude"),),
}


def entity(name: str, kind: str = "note") -> Entity:
    return Entity(name, f"vault:/{name}", name, kind)  # type: ignore[arg-type]


def shown(qtbot: QtBot, theme: Theme, kind: str, second: str = "note") -> GraphCanvas:
    a, b = entity("a"), entity("b", second)
    fact = Fact(a, Entity("urn:p", "urn:p", "p"), b, kind == "inferred", SOURCES[kind])
    nodes = (GraphNode(a, 0, 1, ("Person",)), GraphNode(b, 1, 1, ()))
    canvas = GraphCanvas(canvas_colours(theme))
    qtbot.addWidget(canvas)
    canvas.resize(400, 200)
    canvas.show_graph(subgraph(Neighbourhood(a, nodes, (fact,), 2)), np.array([[0.0, 0.0], [300.0, 0.0]]))
    canvas.show()
    return canvas


def image(canvas: GraphCanvas) -> QImage:
    return canvas.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)


def line(canvas: GraphCanvas) -> list[QColor]:
    """The pixels on the way from the first node to where the words on the edge begin."""
    assert canvas.picture is not None
    (x0, y), (x1, _) = canvas.camera.to_screen(canvas.picture.place).tolist()
    picture = image(canvas)
    return [picture.pixelColor(round(x), round(y)) for x in np.linspace(x0 + 25, x0 + 0.42 * (x1 - x0), 90)]


@pytest.fixture
def theme(qapp: QApplication) -> Theme:
    return Theme("light")


def test_stated_edges_are_solid_inferred_ones_dashed_and_agents_dotted(qtbot: QtBot, theme: Theme) -> None:
    ground = theme.color("panel")
    gaps = {
        kind: np.mean([pixel == ground for pixel in line(shown(qtbot, theme, kind))])
        for kind in ("stated", "inferred", "agent")
    }
    assert gaps["stated"] == 0
    assert 0.2 < gaps["inferred"] < 0.6
    assert gaps["agent"] > 0
    changes = {}
    for kind in ("inferred", "agent"):
        drawn = np.array([pixel != ground for pixel in line(shown(qtbot, theme, kind))])
        changes[kind] = int((drawn[1:] != drawn[:-1]).sum())
    assert changes["agent"] > changes["inferred"] > 4


def test_an_unwritten_note_is_hollow_and_a_written_one_is_not(qtbot: QtBot, theme: Theme) -> None:
    for kind, hollow in (("note", False), ("unwritten", True)):
        canvas = shown(qtbot, theme, "stated", second=kind)
        assert canvas.picture is not None
        x, y = canvas.camera.to_screen(canvas.picture.place[1]).tolist()
        assert (image(canvas).pixelColor(round(x), round(y)) == theme.color("panel")) is hollow


def test_hovering_fades_what_is_not_touched_and_paints_it_back(qtbot: QtBot, theme: Theme) -> None:
    canvas = shown(qtbot, theme, "stated")
    assert canvas.picture is not None
    before = image(canvas)
    canvas.picture.hovered = 0
    assert image(canvas) != before
    canvas.picture.hovered = -1
    assert image(canvas) == before


def test_a_layer_that_was_kept_is_not_used_for_another_view(qtbot: QtBot, theme: Theme) -> None:
    canvas = shown(qtbot, theme, "stated")
    image(canvas)
    canvas.camera.pan(np.array([0.0, 40.0]))
    moved = line(canvas)
    assert all(pixel != theme.color("panel") for pixel in moved)


def test_an_empty_picture_is_the_ground_alone(qtbot: QtBot, theme: Theme) -> None:
    canvas = shown(qtbot, theme, "stated")
    canvas.clear()
    canvas.clearFocus()
    picture = image(canvas)
    assert {picture.pixelColor(x, 100).name() for x in range(400)} == {theme.color("panel").name()}
