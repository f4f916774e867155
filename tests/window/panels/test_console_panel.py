"""The SPARQL console over the real engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from synapse.window.console.running import load_known
from synapse.window.console.starters import starters
from synapse.window.console_panel import ConsolePanel
from synapse.window.session import Session
from synapse.window.theme import Theme

MODULES = "SELECT ?module ?name { ?module a type:module ; rdfs:label ?name } ORDER BY ?name"
CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def panel(session: Session, theme: Theme, shown: Callable[..., ConsolePanel]) -> ConsolePanel:
    return shown(ConsolePanel(session, theme), 720, 560)


def run(panel: ConsolePanel, qtbot: QtBot, text: str) -> None:
    panel.set_text(text)
    qtbot.keyClick(panel.editor, Qt.Key.Key_Return, CONTROL)
    qtbot.waitUntil(lambda: not panel.is_running)


def cells(panel: ConsolePanel) -> list[list[str]]:
    model = panel.results.table.model_
    return [
        [model.index(row, column).data() for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def test_it_begins_with_what_to_do(panel: ConsolePanel) -> None:
    assert "Ctrl+Enter" in panel.results.showing_message
    assert not panel.export.button.isEnabled()


def test_a_select_is_a_table_of_names_with_its_count(panel: ConsolePanel, qtbot: QtBot) -> None:
    run(panel, qtbot, MODULES)
    assert cells(panel) == [["Checkout", "Checkout"], ["Ledger", "Ledger"], ["Payments", "Payments"]]
    assert panel.title_row.count.text() == "3 rows"
    assert panel.status.text().startswith("3 rows, ")
    assert panel.results.showing_message == ""


def test_relative_ids_and_known_prefixes_need_no_declaration(panel: ConsolePanel, qtbot: QtBot) -> None:
    run(panel, qtbot, "SELECT ?x { ?x prop:depends_on <modules/payments> }")
    assert cells(panel) == [["Checkout"]]


def test_a_double_click_on_a_name_opens_its_note(panel: ConsolePanel, qtbot: QtBot) -> None:
    run(panel, qtbot, MODULES)
    table = panel.results.table
    index = table.model_.index(0, 0)
    with qtbot.waitSignal(panel.session.noteRequested) as asked:
        table.setCurrentIndex(index)
        qtbot.keyClick(table, Qt.Key.Key_Return)
    assert asked.args == ["modules/checkout.md", 0]
    with qtbot.waitSignal(panel.session.noteRequested):
        table.doubleClicked.emit(index)
    with qtbot.assertNotEmitted(panel.session.noteRequested, wait=20):
        table.doubleClicked.emit(table.model_.index(0, 1))


def test_the_view_decides_which_facts_are_seen(panel: ConsolePanel, qtbot: QtBot) -> None:
    query = "SELECT ?x { <modules/payments> prop:used_by ?x }"
    run(panel, qtbot, query)
    assert cells(panel) == [["Checkout"]]
    panel.view.setCurrentIndex(panel.view.findData("stated"))
    run(panel, qtbot, query)
    assert "Everything" in panel.results.showing_message
    panel.view.setCurrentIndex(panel.view.findData("inferred"))
    run(panel, qtbot, query)
    assert cells(panel) == [["Checkout"]]


@pytest.mark.parametrize(("entity", "word"), [("modules/payments", "Yes"), ("x", "No")])
def test_an_ask_is_a_plain_yes_or_no(panel: ConsolePanel, qtbot: QtBot, entity: str, word: str) -> None:
    run(panel, qtbot, f"ASK {{ <{entity}> ?p ?o }}")
    assert panel.results.showing_message == word


def test_a_construct_and_a_describe_are_triples(panel: ConsolePanel, qtbot: QtBot) -> None:
    run(panel, qtbot, "CONSTRUCT { ?x <urn:needs> ?y } WHERE { ?x prop:depends_on ?y }")
    assert panel.title_row.count.text() == "3 triples"
    assert panel.results.table.model_.columnCount() == 3
    run(panel, qtbot, "DESCRIBE <people/ada>")
    assert ["Ada Lovelace", "maintains", "Payments"] in cells(panel)


def test_no_result_offers_a_next_step(panel: ConsolePanel, qtbot: QtBot) -> None:
    run(panel, qtbot, "SELECT ?x { ?x a type:nothing }")
    assert panel.results.showing_message.startswith("No facts match.")
    assert panel.results.example.isVisible()


def test_an_error_is_said_and_underlined_at_its_place(panel: ConsolePanel, qtbot: QtBot) -> None:
    run(panel, qtbot, MODULES)
    run(panel, qtbot, "SELECT ?x {\n  ?x a nope:thing }")
    assert "nope:" in panel.message.text()
    assert panel.message.text().startswith("Line 2")
    assert "nope:" in panel.editor.error
    assert len(cells(panel)) == 3, "the earlier answer stays"
    assert "before you changed it" in panel.results.banner.text()
    run(panel, qtbot, MODULES)
    assert panel.message.text() == "" and panel.editor.error == ""


def test_an_error_shows_while_typing_and_goes_when_it_is_mended(panel: ConsolePanel, qtbot: QtBot) -> None:
    panel.set_text("SELECT ?x { ?x a }")
    qtbot.waitUntil(lambda: bool(panel.editor.error))
    assert panel.status.text().startswith("Line 1")
    panel.set_text("SELECT ?x { ?x a ?y }")
    qtbot.waitUntil(lambda: not panel.editor.error)
    assert panel.status.text() == ""


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { SERVICE <http://localhost:1/> { ?s ?p ?o } }",
        "LOAD <http://localhost:1/>",
        "DELETE WHERE { ?s ?p ?o }",
    ],
)
def test_what_would_leave_the_machine_or_change_facts_is_refused(
    panel: ConsolePanel, qtbot: QtBot, query: str
) -> None:
    run(panel, qtbot, query)
    assert panel.message.text()
    assert panel.message.isVisible()


def test_stop_ends_a_long_query_between_rows(panel: ConsolePanel, qtbot: QtBot) -> None:
    panel.rows.setCurrentIndex(panel.rows.count() - 1)
    panel.set_text("SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }")
    panel.run()
    assert panel.button.text() == "Stop"
    qtbot.wait(150)
    assert panel.status.text().endswith(" s")
    panel.button.click()
    qtbot.waitUntil(lambda: not panel.is_running, timeout=20_000)
    assert panel.button.text() == "Run"
    assert panel.status.text().startswith("Stopped after")


def test_the_row_limit_says_at_least_and_gives_more(panel: ConsolePanel, qtbot: QtBot) -> None:
    panel.rows.setCurrentIndex(0)
    run(panel, qtbot, "SELECT * { ?s ?p ?o }")
    assert panel.title_row.count.text() == "at least 100 rows"
    assert panel.results.shown.text() == "The first 100 rows; there are more."
    panel.results.more.click()
    qtbot.waitUntil(lambda: not panel.is_running and len(cells(panel)) > 100)
    assert panel.rows.currentData() == 1_000


def test_a_write_raises_a_banner_and_running_again_lowers_it(panel: ConsolePanel, qtbot: QtBot) -> None:
    run(panel, qtbot, MODULES)
    assert not panel.results._banner.isVisible()
    panel.session.changed.emit(object())
    assert panel.results._banner.isVisible()
    panel.results.again.click()
    qtbot.waitUntil(lambda: not panel.is_running)
    assert not panel.results._banner.isVisible()


def test_the_text_is_told_at_each_pause(panel: ConsolePanel, qtbot: QtBot) -> None:
    with qtbot.waitSignal(panel.queryChanged) as told:
        panel.set_text(MODULES)
    assert told.args == [MODULES]


def test_completion_knows_the_store(panel: ConsolePanel, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: bool(panel.editor.known.entities))
    known = panel.editor.known
    assert "<modules/payments>" in {term.text for term in known.entities}
    assert "type:module" in {term.text for term in known.classes}
    depends = next(term for term in known.properties if term.text == "prop:depends_on")
    assert depends.label == "depends on"
    assert depends.count >= 3
    assert "<people/ada.md>" in {term.text for term in known.graphs}


def test_what_completion_inserts_can_be_asked(panel: ConsolePanel) -> None:
    engine = panel.session.engine
    known = load_known(engine)
    for term in (*known.classes[:40], *known.properties[:40], *known.entities, *known.graphs):
        engine.query(f"ASK {{ ?s ?p {term.text} }}")


def test_every_example_runs_without_an_error(panel: ConsolePanel, qtbot: QtBot) -> None:
    found = starters()
    assert found
    for starter in found:
        panel.use_starter(starter)
        qtbot.waitUntil(lambda: not panel.is_running)
        assert panel.message.text() == "", starter.title


def test_names_can_be_shown_as_ids(panel: ConsolePanel, qtbot: QtBot) -> None:
    run(panel, qtbot, MODULES)
    panel.results.names.click()
    assert cells(panel)[0][0] == "modules/checkout"


def test_a_header_click_sorts_by_value(panel: ConsolePanel, qtbot: QtBot) -> None:
    run(panel, qtbot, MODULES)
    header = panel.results.table.horizontalHeader()
    header.sectionClicked.emit(1)
    header.sectionClicked.emit(1)
    assert [row[1] for row in cells(panel)] == ["Payments", "Ledger", "Checkout"]
    header.sectionClicked.emit(1)
    assert [row[1] for row in cells(panel)] == ["Checkout", "Ledger", "Payments"]


def test_cells_and_rows_are_copied(panel: ConsolePanel, qtbot: QtBot) -> None:
    run(panel, qtbot, MODULES)
    table = panel.results.table
    table.selectRow(0)
    table.copy_rows()
    assert QApplication.clipboard().text() == "Checkout\tCheckout"
    table.copy_markdown()
    assert "[[modules/checkout\\|Checkout]]" in QApplication.clipboard().text()


def test_a_place_that_cannot_be_written_is_said(panel: ConsolePanel, qtbot: QtBot, tmp_path: Path) -> None:
    run(panel, qtbot, MODULES)
    with qtbot.waitSignal(panel.session.problem) as said:
        panel.export.save(panel.export.formats()[0], str(tmp_path / "no" / "such" / "folder.csv"))
    assert "could not be written" in said.args[0]


def test_an_answer_is_saved_in_each_format(panel: ConsolePanel, qtbot: QtBot, tmp_path: Path) -> None:
    run(panel, qtbot, MODULES)
    assert [action.text() for action in panel.export.menu.actions()] == [
        "CSV (.csv)",
        "TSV (.tsv)",
        "SPARQL JSON (.json)",
        "SPARQL XML (.xml)",
    ]
    save_each(panel, qtbot, tmp_path)
    run(panel, qtbot, f"CONSTRUCT {{ ?module rdfs:label ?name }} WHERE {MODULES[MODULES.index('{') :]}")
    assert len(panel.export.menu.actions()) == 4
    save_each(panel, qtbot, tmp_path)


def save_each(panel: ConsolePanel, qtbot: QtBot, folder: Path) -> None:
    for format in panel.export.formats():
        target = folder / f"answer.{format.ending}"
        panel.export.save(format, str(target))
        qtbot.waitUntil(lambda target=target: str(target) in panel.export.button.toolTip())
        assert b"modules/payments" in target.read_bytes()


def test_a_large_answer_is_sorted_and_filtered_aside_and_the_last_wish_holds(
    panel: ConsolePanel, qtbot: QtBot
) -> None:
    numbers = " ".join(f'"{number}"' for number in range(3_000))
    panel.rows.setCurrentIndex(2)
    run(panel, qtbot, f"SELECT ?n {{ VALUES ?n {{ {numbers} }} }}")
    model = panel.results.table.model_
    assert model.rowCount() == 3_000
    panel.results.filter.setText("29")
    panel.results.filter.setText("299")
    model.sort(0, Qt.SortOrder.DescendingOrder)
    assert model.rowCount() == 3_000, "nothing moves before the order is there"
    qtbot.waitUntil(lambda: model.rowCount() < 3_000)
    shown = [row[0] for row in cells(panel)]
    assert shown == sorted((str(n) for n in range(3_000) if "299" in str(n)), reverse=True)
    assert panel.results.shown.text() == f"{len(shown)} of 3,000"
