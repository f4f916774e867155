"""The query editor by its keys."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from synapse.window.console.completion import Known, Term
from synapse.window.console.editor import QueryEditor
from synapse.window.editor.positions import to_qt
from synapse.window.theme import Theme

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def editor(qtbot: QtBot, qapp: QApplication) -> Iterator[QueryEditor]:
    editor = QueryEditor(Theme("light"))
    qtbot.addWidget(editor)
    editor.resize(500, 300)
    editor.show()
    qtbot.waitExposed(editor)
    return editor


def put(editor: QueryEditor, text: str) -> None:
    """Sets a text with the cursor where the bar is."""
    at = text.index("|")
    text = text.replace("|", "", 1)
    editor.set_text(text)
    cursor = editor.textCursor()
    cursor.setPosition(to_qt(text, at))
    editor.setTextCursor(cursor)


def underlined(editor: QueryEditor) -> list[str]:
    wave = QTextCharFormat.UnderlineStyle.WaveUnderline
    return [
        mark.cursor.selectedText()
        for mark in editor.extraSelections()
        if mark.format.underlineStyle() == wave
    ]


def matched(editor: QueryEditor) -> list[str]:
    none = QTextCharFormat.UnderlineStyle.NoUnderline
    return [
        mark.cursor.selectedText()
        for mark in editor.extraSelections()
        if mark.format.underlineStyle() == none
    ]


def test_the_text_keeps_every_character(editor: QueryEditor) -> None:
    text = "SELECT * {\n ?s ?p 'a\u00a0b\U0001f600' }\n"
    editor.set_text(text)
    assert editor.text() == text


def test_replacing_the_text_can_be_undone(editor: QueryEditor) -> None:
    editor.set_text("first")
    editor.set_text("second")
    editor.undo()
    assert editor.text() == "first"


def test_control_enter_asks_to_run_and_adds_no_line(editor: QueryEditor, qtbot: QtBot) -> None:
    put(editor, "ASK {}|")
    with qtbot.waitSignal(editor.runRequested):
        qtbot.keyClick(editor, Qt.Key.Key_Return, CONTROL)
    assert editor.text() == "ASK {}"


def test_enter_keeps_the_indent_and_deepens_it_after_a_brace(editor: QueryEditor, qtbot: QtBot) -> None:
    put(editor, "  SELECT * {|")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert editor.text() == "  SELECT * {\n    "


def test_tab_and_shift_tab_indent_the_selected_lines(editor: QueryEditor, qtbot: QtBot) -> None:
    editor.set_text("a\nb\nc")
    cursor = editor.textCursor()
    cursor.setPosition(0)
    cursor.setPosition(3, QTextCursor.MoveMode.KeepAnchor)
    editor.setTextCursor(cursor)
    qtbot.keyClick(editor, Qt.Key.Key_Tab)
    assert editor.text() == "  a\n  b\nc"
    qtbot.keyClick(editor, Qt.Key.Key_Backtab)
    assert editor.text() == "a\nb\nc"


def test_lines_are_commented_doubled_and_deleted_by_key(editor: QueryEditor, qtbot: QtBot) -> None:
    put(editor, "one\n  two|\nthree")
    qtbot.keyClick(editor, Qt.Key.Key_Slash, CONTROL)
    assert editor.text() == "one\n  # two\nthree"
    qtbot.keyClick(editor, Qt.Key.Key_Slash, CONTROL)
    qtbot.keyClick(editor, Qt.Key.Key_D, CONTROL)
    assert editor.text() == "one\n  two\n  two\nthree"
    qtbot.keyClick(editor, Qt.Key.Key_K, CONTROL | Qt.KeyboardModifier.ShiftModifier)
    assert editor.text() == "one\n  two\nthree"
    put(editor, "one\ntwo|")
    qtbot.keyClick(editor, Qt.Key.Key_K, CONTROL | Qt.KeyboardModifier.ShiftModifier)
    assert editor.text() == "one"


def test_the_bracket_at_the_cursor_and_its_partner_are_marked(editor: QueryEditor) -> None:
    put(editor, "ASK { '\U0001f600' ?p ?o }|")
    assert matched(editor) == ["}", "{"]
    put(editor, "ASK { ?s ?p ?o |")
    assert matched(editor) == []


def test_an_error_underlines_the_word_at_its_place(editor: QueryEditor) -> None:
    editor.set_text("SELECT *\n{ '\U0001f600' wrong:word }")
    editor.show_error(2, 7, "No such prefix.")
    assert underlined(editor) == ["wrong:word"]
    editor.show_error(9, 9, "At the end.")
    assert underlined(editor) == ["}"]
    editor.clear_error()
    assert underlined(editor) == []


def test_an_error_in_an_empty_text_is_no_crash(editor: QueryEditor) -> None:
    editor.show_error(1, 1, "Nothing here.")
    assert underlined(editor) == [""]


def test_completion_is_offered_while_typing_and_inserted_by_key(editor: QueryEditor, qtbot: QtBot) -> None:
    properties = (Term("prop:depends_on", "depends on", 3), Term("x:deep", "deep"))
    editor.known = Known(properties=properties, prefixes={"x": "http://x/"})
    put(editor, "SELECT * { '\U0001f600' |}")
    qtbot.keyClicks(editor, "de")
    assert editor._popup.isVisible()
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert editor.text() == "SELECT * { '\U0001f600' prop:depends_on}"
    assert not editor._popup.isVisible()
    put(editor, "SELECT * { ?s |}")
    qtbot.keyClicks(editor, "dee")
    qtbot.keyClick(editor, Qt.Key.Key_Tab)
    assert editor.text() == "PREFIX x: <http://x/>\nSELECT * { ?s x:deep}"


def test_escape_closes_the_offer_and_the_arrows_choose(editor: QueryEditor, qtbot: QtBot) -> None:
    editor.known = Known(properties=(Term("a:one", "one", 2), Term("a:two", "two", 1)))
    put(editor, "SELECT * { ?s |}")
    qtbot.keyClick(editor, Qt.Key.Key_Space, CONTROL)
    assert editor._popup.count() == 2
    qtbot.keyClick(editor, Qt.Key.Key_Down)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert editor.text() == "SELECT * { ?s a:two}"
    qtbot.keyClick(editor, Qt.Key.Key_Space, CONTROL)
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    assert not editor._popup.isVisible()


def test_a_bracket_that_is_there_already_is_not_doubled(editor: QueryEditor, qtbot: QtBot) -> None:
    editor.known = Known(entities=(Term("<people/bob>", "Bob"),))
    put(editor, "SELECT * { <peo|> ?p ?o }")
    qtbot.keyClick(editor, Qt.Key.Key_Space, CONTROL)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert editor.text() == "SELECT * { <people/bob> ?p ?o }"


def test_a_text_of_100_kb_and_a_line_of_20_kb_are_held(editor: QueryEditor, qtbot: QtBot) -> None:
    text = "# " + "x" * 20_000 + "\n" + "VALUES ?x { 1 2 3 }\n" * 5_000
    editor.set_text(text)
    qtbot.keyClicks(editor, "a")
    assert editor.text() == "a" + text
