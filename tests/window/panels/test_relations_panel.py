"""Backlinks and relations of the open note, from the engine to a click."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from synapse.engine import Engine
from synapse.window.facts import FactsView, Row
from synapse.window.relations_panel import RelationsPanel
from synapse.window.session import Session
from synapse.window.theme import Theme

PAYMENTS = "modules/payments.md"


@pytest.fixture
def panel(session: Session, theme: Theme, shown: Callable[..., RelationsPanel]) -> RelationsPanel:
    return shown(RelationsPanel(session, theme))


def open_note(panel: RelationsPanel, qtbot: QtBot, path: str = PAYMENTS) -> None:
    panel.session.set_current(path)
    qtbot.waitUntil(lambda: not panel.showing_message and panel.view.visible_rows() != [])


def texts(view: FactsView) -> list[str]:
    return [row.text for row in view.visible_rows()]


def find(view: FactsView, wanted: Callable[[Row], bool]) -> QModelIndex:
    index = view.model().index(0, 0)
    while index.isValid():
        row = view.row(index)
        if row is not None and wanted(row):
            return index
        index = view.indexBelow(index)
    raise AssertionError(f"no such row in {texts(view)}")


def click(view: FactsView, qtbot: QtBot, index: QModelIndex, part: str) -> None:
    view.scrollTo(index)
    qtbot.mouseClick(
        view.viewport(), Qt.MouseButton.LeftButton, pos=view.part_rect(index, part)  # type: ignore[arg-type]
    )


def test_without_a_note_it_says_what_belongs_here(panel: RelationsPanel) -> None:
    assert "Open a note" in panel.showing_message


def test_backlinks_come_first_grouped_by_relation_with_counts(panel: RelationsPanel, qtbot: QtBot) -> None:
    open_note(panel, qtbot)
    rows = panel.view.visible_rows()
    sections = [(row.text, row.count) for row in rows if row.kind == "section"]
    assert [name for name, _ in sections] == ["Backlinks", "Outgoing", "Types and properties"]
    groups = {row.text: row.count for row in rows if row.kind == "group"}
    assert groups["depends on"] == 1
    assert groups["maintains"] == 1
    total = sum(count or 0 for _, count in sections)
    assert panel.title_row.count.text() == str(total)


def test_an_inferred_relation_says_so_in_words(panel: RelationsPanel, qtbot: QtBot) -> None:
    open_note(panel, qtbot)
    marks = {row.spoken for row in panel.view.visible_rows() if row.mark is not None}
    assert "Checkout, inferred" in marks


def test_no_row_shows_an_iri(panel: RelationsPanel, qtbot: QtBot) -> None:
    open_note(panel, qtbot)
    panel.view.expandAll()
    for row in panel.view.visible_rows():
        assert "vault:/" not in row.spoken
        assert "urn:" not in row.spoken


def test_a_click_on_a_backlink_opens_its_note_at_the_line(panel: RelationsPanel, qtbot: QtBot) -> None:
    open_note(panel, qtbot)
    index = find(panel.view, lambda row: row.text == "Checkout" and row.place is not None)
    with qtbot.waitSignal(panel.session.noteRequested) as asked:
        click(panel.view, qtbot, index, "row")
    assert asked.args == ["modules/checkout.md", 6]


def test_a_click_on_an_outgoing_relation_opens_the_other_note(panel: RelationsPanel, qtbot: QtBot) -> None:
    open_note(panel, qtbot)
    index = find(panel.view, lambda row: row.text == "Ledger" and row.mark is None)
    with qtbot.waitSignal(panel.session.noteRequested) as asked:
        click(panel.view, qtbot, index, "row")
    assert asked.args == ["modules/ledger.md", 0]
    with qtbot.waitSignal(panel.session.noteRequested) as asked:
        click(panel.view, qtbot, index, "place")
    assert asked.args == [PAYMENTS, 3]


def test_why_is_on_every_fact_and_asks_for_it_by_mouse_and_key(panel: RelationsPanel, qtbot: QtBot) -> None:
    open_note(panel, qtbot)
    panel.view.expandAll()
    rows = panel.view.visible_rows()
    assert all(row.fact is not None for row in rows if row.kind == "fact")
    index = find(panel.view, lambda row: row.mark is not None and row.text == "Checkout")
    with qtbot.waitSignal(panel.session.proofRequested) as asked:
        click(panel.view, qtbot, index, "why")
    assert asked.args[0].inferred
    panel.view.setCurrentIndex(index)
    with qtbot.waitSignal(panel.session.proofRequested) as again:
        qtbot.keyClicks(panel.view, "?")
    assert again.args == asked.args


def test_enter_opens_the_current_row(panel: RelationsPanel, qtbot: QtBot) -> None:
    open_note(panel, qtbot)
    panel.view.setCurrentIndex(find(panel.view, lambda row: row.text == "Ada Lovelace"))
    with qtbot.waitSignal(panel.session.noteRequested) as asked:
        qtbot.keyClick(panel.view, Qt.Key.Key_Return)
    assert asked.args == ["people/ada.md", 3]


def test_what_depends_on_this_lists_exactly_the_dependents_with_depth_and_path(
    panel: RelationsPanel, qtbot: QtBot
) -> None:
    open_note(panel, qtbot)
    qtbot.mouseClick(panel.switch, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "1 step away" in texts(panel.view))
    assert panel.title == "What depends on this"
    rows = panel.view.visible_rows()
    assert [(row.kind, row.text) for row in rows] == [
        ("section", "1 step away"),
        ("fact", "Checkout"),
        ("section", "2 steps away"),
        ("fact", "Storefront"),
    ]
    assert rows[3].detail == "Storefront → Checkout → Payments"
    assert panel.title_row.count.text() == "2"
    steps = rows[3].below()
    assert [(step.text, step.place.text if step.place else "") for step in steps] == [
        ("Storefront depends on Checkout", "modules/storefront.md:3"),
        ("Checkout depends on Payments", "modules/checkout.md:6"),
    ]


def test_nothing_depends_is_said_with_a_way_back(panel: RelationsPanel, qtbot: QtBot) -> None:
    open_note(panel, qtbot, "people/ada.md")
    panel.show_impact()
    qtbot.waitUntil(lambda: panel.showing_message == "Nothing depends on Ada Lovelace.")


def test_the_filter_keeps_rows_that_have_every_word(panel: RelationsPanel, qtbot: QtBot) -> None:
    open_note(panel, qtbot)
    panel.filter.setText("ada love")
    qtbot.waitUntil(lambda: texts(panel.view) == ["Backlinks", "maintains", "Ada Lovelace"])
    panel.filter.setText("zebra")
    qtbot.waitUntil(lambda: texts(panel.view) == ["Nothing here has “zebra”."])
    panel.filter.clear()
    qtbot.waitUntil(lambda: "Outgoing" in texts(panel.view))


def test_a_note_that_was_not_read_yet_and_a_bad_id_are_said_in_place(
    panel: RelationsPanel, qtbot: QtBot
) -> None:
    panel.session.set_current("new/idea.md")
    qtbot.waitUntil(lambda: "not in the graph yet" in panel.showing_message)
    panel.session.set_current("a/../b.md")
    qtbot.waitUntil(lambda: bool(panel.showing_message) and "graph yet" not in panel.showing_message)


@pytest.mark.usefixtures("own_vault")
def test_a_write_shows_at_once_and_the_current_row_stays(panel: RelationsPanel, qtbot: QtBot) -> None:
    open_note(panel, qtbot)
    panel.view.setCurrentIndex(find(panel.view, lambda row: row.text == "Ada Lovelace"))
    panel.session.run(
        panel.session.engine.write_note, "modules/refunds.md", b"# Refunds\n\n[[modules/payments]]\n", None
    )
    qtbot.waitUntil(lambda: "Refunds" in texts(panel.view))
    current = panel.view.row(panel.view.currentIndex())
    assert current is not None and current.text == "Ada Lovelace"


def test_a_hub_is_shown_in_pages_that_reach_everything(
    make_engine: Callable[[dict[str, str]], Engine],
    make_session: Callable[[Engine], Session],
    theme: Theme,
    shown: Callable[..., RelationsPanel],
    qtbot: QtBot,
) -> None:
    notes = {f"n/{number}.md": f"# Note {number}\n\n[[hub]]\n" for number in range(520)}
    panel = shown(RelationsPanel(make_session(make_engine({"hub.md": "# Hub\n", **notes})), theme))
    open_note(panel, qtbot, "hub.md")
    more = panel.view.visible_rows()[-1]
    assert more.kind == "more"
    assert more.text.startswith("Showing 500 of 5")
    panel.view.act(find(panel.view, lambda row: row.kind == "more"), "row")
    qtbot.waitUntil(lambda: all(row.kind != "more" for row in panel.view.visible_rows()))
    (section,) = [row for row in panel.view.visible_rows() if row.text == "Backlinks"]
    assert section.count == 520


def test_copying_gives_the_rows_as_text(panel: RelationsPanel, qtbot: QtBot) -> None:
    open_note(panel, qtbot)
    panel.copy.click()
    assert "Ada Lovelace, maintains: modules/payments, people/ada.md:3" in QApplication.clipboard().text()


def test_the_menu_of_a_row_names_its_keys(panel: RelationsPanel, qtbot: QtBot) -> None:
    open_note(panel, qtbot)
    menu = panel.view.menu_for(find(panel.view, lambda row: row.text == "Ada Lovelace"))
    assert menu is not None
    assert [action.text() for action in menu.actions()] == [
        "Open\tEnter",
        "Open people/ada.md:3\tShift+Enter",
        "Why?\t?",
        "Copy",
    ]
    menu.close()
