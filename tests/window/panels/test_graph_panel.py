"""The subgraph of the open note: from the engine to the picture, by mouse and by keyboard."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from synapse.engine import Engine
from synapse.engine.layout import INFERRED, STATED, overlaps
from synapse.window.graph.canvas import GraphCanvas
from synapse.window.graph_panel import NeighbourhoodPanel
from synapse.window.session import Session
from synapse.window.theme import Theme

PAYMENTS = "modules/payments.md"


@pytest.fixture
def panel(session: Session, theme: Theme, shown: Callable[..., NeighbourhoodPanel]) -> NeighbourhoodPanel:
    return shown(NeighbourhoodPanel(session, theme))


def labels(panel: NeighbourhoodPanel) -> set[str]:
    picture = panel.canvas.picture
    if picture is None:
        return set()
    return {picture.look.label[number] for number in np.flatnonzero(~picture.hidden_nodes)}


def open_note(panel: NeighbourhoodPanel, qtbot: QtBot, path: str = PAYMENTS) -> None:
    panel.session.set_current(path)
    qtbot.waitUntil(lambda: centre(panel) == path.removesuffix(".md") and not panel.showing_message)
    settle(panel, qtbot)


def settle(panel: NeighbourhoodPanel, qtbot: QtBot) -> None:
    """Waits for the end of the transition."""
    qtbot.waitUntil(lambda: panel.session.busy == 0)
    qtbot.waitUntil(lambda: panel.canvas._animation.state() == panel.canvas._animation.State.Stopped)


def centre(panel: NeighbourhoodPanel) -> str:
    picture = panel.canvas.picture
    return picture.graph.nodes[picture.graph.centre].entity.id if picture else ""


def node(panel: NeighbourhoodPanel, label: str) -> int:
    assert panel.canvas.picture is not None
    return panel.canvas.picture.look.label.index(label)


def at(canvas: GraphCanvas, number: int) -> QPoint:
    assert canvas.picture is not None
    x, y = canvas.camera.to_screen(canvas.picture.place[number]).tolist()
    return QPoint(round(x), round(y))


def test_without_a_note_and_for_a_lone_note_it_says_what_belongs_here(
    panel: NeighbourhoodPanel, qtbot: QtBot
) -> None:
    assert panel.showing_message == "Open a note to see what it is connected to."
    panel.session.set_current("alone.md")
    qtbot.waitUntil(lambda: panel.showing_message == "Alone is not connected to anything yet.")


def test_the_picture_holds_the_neighbours_and_tells_stated_from_inferred(
    panel: NeighbourhoodPanel, qtbot: QtBot
) -> None:
    open_note(panel, qtbot)
    picture = panel.canvas.picture
    assert picture is not None
    assert labels(panel) == {"Payments", "Checkout", "Ledger", "Ada Lovelace"}
    graph = picture.graph
    by_relation = {graph.relation(edge): graph.kind[edge] for edge in range(len(graph.ends))}
    assert by_relation["maintains"] == STATED
    assert by_relation["used by"] == INFERRED
    assert len(overlaps(picture.place, panel.canvas.sizes(picture.graph))) == 0


def test_every_node_and_label_lies_inside_the_canvas_at_first(
    panel: NeighbourhoodPanel, qtbot: QtBot
) -> None:
    open_note(panel, qtbot)
    canvas = panel.canvas
    assert canvas.picture is not None
    screen = canvas.camera.to_screen(canvas.picture.place)
    half = canvas.sizes(canvas.picture.graph)
    assert (screen - half >= -1).all()
    assert (screen + half <= np.array([canvas.width(), canvas.height()]) + 1).all()


def test_more_depth_reaches_further_and_unwritten_notes_are_hollow(
    panel: NeighbourhoodPanel, qtbot: QtBot
) -> None:
    open_note(panel, qtbot)
    panel.set_depth(3)
    qtbot.waitUntil(lambda: "no" in labels(panel))
    settle(panel, qtbot)
    assert panel.canvas.picture is not None
    assert panel.canvas.picture.look.hollow[node(panel, "no")]
    assert not panel.canvas.picture.look.hollow[node(panel, "Storefront")]


def test_a_double_click_opens_the_note(panel: NeighbourhoodPanel, qtbot: QtBot) -> None:
    open_note(panel, qtbot)
    with qtbot.waitSignal(panel.session.noteRequested) as asked:
        place = at(panel.canvas, node(panel, "Ledger"))
        qtbot.mouseDClick(panel.canvas, Qt.MouseButton.LeftButton, pos=place)
    assert asked.args == ["modules/ledger.md", 0]


def test_a_click_selects_and_shows_the_facts_with_why(panel: NeighbourhoodPanel, qtbot: QtBot) -> None:
    open_note(panel, qtbot)
    before = at(panel.canvas, node(panel, "Ada Lovelace"))
    with qtbot.waitSignal(panel.session.entitySelected) as chosen:
        qtbot.mouseClick(panel.canvas, Qt.MouseButton.LeftButton, pos=before)
    assert chosen.args == ["people/ada"]
    assert [row.text for row in panel.facts.visible_rows()] == ["maintains Payments"]
    with qtbot.waitSignal(panel.session.proofRequested) as why:
        panel.facts.setCurrentIndex(panel.facts.model().index(0, 0))
        qtbot.keyClicks(panel.facts, "?")
    assert why.args[0].sentence == "Ada Lovelace maintains Payments"


def test_selecting_does_not_move_what_was_clicked_unless_it_would_be_covered(
    panel: NeighbourhoodPanel, qtbot: QtBot
) -> None:
    open_note(panel, qtbot)
    highest = int(panel.canvas.picture.place[:, 1].argmin())  # type: ignore[union-attr]
    before = at(panel.canvas, highest)
    qtbot.mouseClick(panel.canvas, Qt.MouseButton.LeftButton, pos=before)
    qtbot.wait(50)
    assert panel.facts.isVisible()
    assert (at(panel.canvas, highest) - before).manhattanLength() <= 30


def test_a_click_on_an_edge_shows_its_facts(panel: NeighbourhoodPanel, qtbot: QtBot) -> None:
    open_note(panel, qtbot)
    picture = panel.canvas.picture
    assert picture is not None
    relations = [picture.graph.relation(edge) for edge in range(len(picture.graph.ends))]
    edge = relations.index("maintains")
    ends = panel.canvas.camera.to_screen(picture.place[picture.graph.ends[edge]])
    middle = QPointF(*ends.mean(axis=0).tolist())
    assert panel.canvas.edge_at(middle) == edge
    qtbot.mouseClick(panel.canvas, Qt.MouseButton.LeftButton, pos=middle.toPoint())
    assert [row.text for row in panel.facts.visible_rows()] == ["Ada Lovelace maintains Payments"]


def test_hovering_lights_the_neighbours_and_fades_the_rest(panel: NeighbourhoodPanel, qtbot: QtBot) -> None:
    open_note(panel, qtbot)
    panel.set_depth(2)
    qtbot.waitUntil(lambda: "Storefront" in labels(panel))
    settle(panel, qtbot)
    qtbot.mouseMove(panel.canvas, at(panel.canvas, node(panel, "Storefront")))
    picture = panel.canvas.picture
    assert picture is not None
    bright = picture.emphasised()
    assert bright is not None
    assert {picture.look.label[n] for n in np.flatnonzero(bright)} == {"Storefront", "Checkout"}
    qtbot.mouseMove(panel.canvas, QPoint(1, 1))
    assert picture.emphasised() is None


@pytest.mark.usefixtures("own_vault")
def test_a_drag_moves_and_pins_a_node_and_the_pin_outlasts_a_write(
    panel: NeighbourhoodPanel, qtbot: QtBot
) -> None:
    open_note(panel, qtbot)
    ledger = node(panel, "Ledger")
    start = at(panel.canvas, ledger)
    goal = start + QPoint(40, -30)
    qtbot.mousePress(panel.canvas, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(panel.canvas, start + QPoint(10, 0))
    qtbot.mouseMove(panel.canvas, goal)
    qtbot.mouseRelease(panel.canvas, Qt.MouseButton.LeftButton, pos=goal)
    assert (at(panel.canvas, ledger) - goal).manhattanLength() <= 2
    place = panel.canvas.places()["vault:/modules/ledger"]
    panel.session.run(
        panel.session.engine.write_note, "modules/tax.md", b"# Tax\n\n[[modules/payments]]\n", None
    )
    qtbot.waitUntil(lambda: "Tax" in labels(panel))
    settle(panel, qtbot)
    assert panel.canvas.places()["vault:/modules/ledger"] == place
    panel.canvas.unpin(node(panel, "Ledger"))
    assert panel.canvas.pins() == frozenset()


def test_dragging_the_ground_pans(panel: NeighbourhoodPanel, qtbot: QtBot) -> None:
    open_note(panel, qtbot)
    before = at(panel.canvas, 0)
    corner = QPoint(3, 3)
    qtbot.mousePress(panel.canvas, Qt.MouseButton.LeftButton, pos=corner)
    qtbot.mouseMove(panel.canvas, corner + QPoint(50, 20))
    qtbot.mouseRelease(panel.canvas, Qt.MouseButton.LeftButton, pos=corner + QPoint(50, 20))
    assert at(panel.canvas, 0) - before == QPoint(50, 20)


def test_the_wheel_zooms_at_the_pointer(panel: NeighbourhoodPanel, qtbot: QtBot) -> None:
    open_note(panel, qtbot)
    canvas = panel.canvas
    point = np.array([40.0, 70.0])
    under, scale = canvas.camera.to_scene(point), canvas.camera.scale
    turn = QWheelEvent(
        QPointF(40, 70),
        QPointF(canvas.mapToGlobal(QPoint(40, 70))),
        QPoint(),
        QPoint(0, 240),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(canvas, turn)
    assert canvas.camera.scale > scale
    assert np.allclose(canvas.camera.to_scene(point), under)


def test_the_keyboard_does_all_of_it(panel: NeighbourhoodPanel, qtbot: QtBot) -> None:
    open_note(panel, qtbot)
    canvas = panel.canvas
    assert canvas.picture is not None
    qtbot.keyClick(canvas, Qt.Key.Key_Right)
    assert canvas.picture.selected == canvas.picture.graph.centre
    reached = set()
    right, left, up, down = Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Up, Qt.Key.Key_Down
    for key in (right, left, left, up, down, down):
        qtbot.keyClick(canvas, key)
        reached.add(canvas.picture.selected)
    assert len(reached) >= 3
    assert canvas.picture.look.label[canvas.picture.selected] in canvas.accessibleDescription()
    canvas.select(node(panel, "Ledger"))
    with qtbot.waitSignal(panel.session.noteRequested) as asked:
        qtbot.keyClick(canvas, Qt.Key.Key_Return)
    assert asked.args == ["modules/ledger.md", 0]
    scale = canvas.camera.scale
    qtbot.keyClick(canvas, Qt.Key.Key_Plus)
    assert canvas.camera.scale > scale
    qtbot.keyClick(canvas, Qt.Key.Key_Minus)
    qtbot.keyClick(canvas, Qt.Key.Key_0)
    qtbot.keyClick(canvas, Qt.Key.Key_Escape)
    assert canvas.picture.selected == -1


def test_space_shows_what_surrounds_a_node_and_stays_there_until_told_to_follow(
    panel: NeighbourhoodPanel, qtbot: QtBot
) -> None:
    open_note(panel, qtbot)
    panel.canvas.select(node(panel, "Checkout"))
    qtbot.keyClick(panel.canvas, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: centre(panel) == "modules/checkout")
    assert panel.pin.isChecked()
    panel.session.set_current("people/ada.md")
    settle(panel, qtbot)
    assert centre(panel) == "modules/checkout"
    panel.pin.click()
    qtbot.waitUntil(lambda: centre(panel) == "people/ada")


def test_the_legend_counts_and_hides_kinds_of_edges_and_types(
    panel: NeighbourhoodPanel, qtbot: QtBot
) -> None:
    open_note(panel, qtbot)
    chips = {chip.entry.text: chip for chip in panel.legend.chips()}
    assert chips["Module"].entry.count == 3
    assert "inferred" in chips and "stated" in chips
    picture = panel.canvas.picture
    assert picture is not None
    chips["inferred"].click()
    assert (picture.graph.kind[picture.shown_edges()] == STATED).all()
    chips["Module"].click()
    # The centre stays, whatever its type.
    assert labels(panel) == {"Payments", "Ada Lovelace"}
    chips["Module"].click()
    chips["inferred"].click()
    assert picture.shown_edges().all()


def test_a_hub_is_bounded_says_so_and_gives_more(
    make_engine: Callable[[dict[str, str]], Engine],
    make_session: Callable[[Engine], Session],
    theme: Theme,
    shown: Callable[..., NeighbourhoodPanel],
    qtbot: QtBot,
) -> None:
    notes = {f"n/{number}.md": f"# Note {number}\n\n[[hub]]\n" for number in range(260)}
    panel = shown(NeighbourhoodPanel(make_session(make_engine({"hub.md": "# Hub\n", **notes})), theme))
    open_note(panel, qtbot, "hub.md")
    assert panel.cut.isVisible()
    assert panel.cut.text() == "Showing 200 of 261."
    panel.more.click()
    qtbot.waitUntil(lambda: len(labels(panel)) == 261)
    assert not panel.cut.isVisible()


def test_the_list_says_what_the_picture_shows(panel: NeighbourhoodPanel, qtbot: QtBot) -> None:
    open_note(panel, qtbot)
    panel.as_list.click()
    rows = panel.list.visible_rows()
    assert [(row.text, row.count) for row in rows if row.kind == "section"] == [
        ("This note", 1),
        ("1 step away", 3),
    ]
    assert {row.text for row in rows if row.kind == "fact"} == labels(panel)
    ledger = next(row for row in rows if row.text == "Ledger")
    assert {row.text for row in ledger.below()} == {"Payments depends on Ledger", "used by Payments"}
    panel.list.setCurrentIndex(panel.list.model().index(0, 0, panel.list.model().index(1, 0)))
    with qtbot.waitSignal(panel.session.noteRequested):
        qtbot.keyClick(panel.list, Qt.Key.Key_Return)


def test_an_unknown_note_and_an_error_are_said_in_place(panel: NeighbourhoodPanel, qtbot: QtBot) -> None:
    panel.session.set_current("new/idea.md")
    qtbot.waitUntil(lambda: "not in the graph yet" in panel.showing_message)
    panel.session.set_current("a/../b.md")
    qtbot.waitUntil(lambda: bool(panel.showing_message) and "graph yet" not in panel.showing_message)


@pytest.mark.usefixtures("own_vault")
def test_a_note_deleted_while_shown_is_no_crash(panel: NeighbourhoodPanel, qtbot: QtBot) -> None:
    open_note(panel, qtbot, "people/ada.md")
    (panel.session.engine.vault / "people/ada.md").unlink()
    panel.session.run(panel.session.engine.index)
    qtbot.waitUntil(lambda: "not in the graph yet" in panel.showing_message)


def test_it_asks_nothing_while_it_is_hidden(
    session: Session, theme: Theme, shown: Callable[..., NeighbourhoodPanel], qtbot: QtBot
) -> None:
    panel = NeighbourhoodPanel(session, theme)
    session.set_current(PAYMENTS)
    qtbot.waitUntil(lambda: session.busy == 0)
    assert panel.canvas.picture is None
    shown(panel)
    qtbot.waitUntil(lambda: centre(panel) == "modules/payments")


def test_a_change_of_theme_repaints_in_its_colours(
    panel: NeighbourhoodPanel, theme: Theme, qapp: QApplication, qtbot: QtBot
) -> None:
    open_note(panel, qtbot)
    theme.apply(qapp, "dark")
    image = panel.canvas.grab().toImage()
    assert image.pixelColor(4, 4) == theme.color("panel")
