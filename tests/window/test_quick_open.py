"""Quick open: what a few letters find."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from synapse.engine.catalogue import FileRecord
from synapse.window.quick_open import QuickOpen, choices
from synapse.window.theme import Theme


def record(path: str, title: str, *aliases: str) -> FileRecord:
    return FileRecord(path, "note", 1, 1, "h", path.removesuffix(".md"), None, title, aliases, ())


RECORDS = [
    record("modules/payments.md", "Payments", "Pay"),
    record("modules/payouts.md", "Payouts"),
    record("people/ada.md", "Ada Lovelace", "The countess"),
    record("notes/long.md", "A long story about everything"),
    record("日記.md", "日記"),
]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("pay", "modules/payments.md"),
        ("payo", "modules/payouts.md"),
        ("countess", "people/ada.md"),
        ("lovlace", "people/ada.md"),
        ("long story", "notes/long.md"),
        ("people/ada", "people/ada.md"),
        ("日", "日記.md"),
    ],
)
def test_titles_aliases_and_ids_are_found_best_first(text: str, first: str) -> None:
    assert choices(text, RECORDS, [])[0].path == first


def test_without_a_text_the_notes_opened_last_come_first() -> None:
    found = [choice.path for choice in choices("", RECORDS, ["people/ada.md", "gone.md", "notes/long.md"])]
    assert found[:2] == ["people/ada.md", "notes/long.md"]
    assert sorted(found) == sorted(record.path for record in RECORDS)


def test_keys_choose_and_an_unknown_name_offers_to_be_written(theme: Theme, qtbot: QtBot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.resize(800, 600)
    dialog = QuickOpen(RECORDS, [], theme, parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.keyClicks(dialog.text, "pay")
    qtbot.keyClick(dialog.text, Qt.Key.Key_Down)
    with qtbot.waitSignal(dialog.chosen) as chosen:
        qtbot.keyClick(dialog.text, Qt.Key.Key_Return)
    assert chosen.args == ["modules/payouts.md"]
    dialog.text.setText("people/zoe")
    dialog.list.setCurrentRow(dialog.list.count() - 1)
    with qtbot.waitSignal(dialog.named) as named:
        qtbot.keyClick(dialog.text, Qt.Key.Key_Return)
    assert named.args == ["people/zoe.md"]
