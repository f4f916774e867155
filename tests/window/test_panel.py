"""The frame of a panel."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from synapse.window.panel import Panel, counted
from synapse.window.theme import ROW, TARGET, Theme


def test_a_panel_shows_body_empty_or_error_and_names_itself(qtbot: QtBot) -> None:
    panel = Panel("Relations", Theme())
    qtbot.addWidget(panel)
    body = QLabel("body")
    panel.set_body(body)
    assert panel.showing_message == ""
    acted: list[bool] = []
    panel.show_empty("Open a note to see its relations.", ("Open a note", lambda: acted.append(True)))
    assert panel.showing_message == "Open a note to see its relations."
    panel._message.action.click()
    assert acted == [True]
    panel.show_error("The vault is gone.", "Connect the disk.")
    assert panel.showing_message == "The vault is gone."
    assert panel._message.action.isHidden()
    panel.show_body()
    assert panel.showing_message == ""
    assert panel.accessibleName() == "Relations"


def test_title_rows_and_their_actions_have_the_designed_sizes(qtbot: QtBot) -> None:
    panel = Panel("Relations", Theme())
    qtbot.addWidget(panel)
    button = panel.add_action("refresh", "Refresh", lambda: None)
    panel.set_count(12345)
    assert panel.title_row.count.text() == "12,345"
    assert panel.title_row.height() == ROW == 32
    assert (button.width(), button.iconSize().width()) == (TARGET, 18)
    assert button.accessibleName() == button.toolTip() == "Refresh"


def test_numbers_are_grouped_and_agree_with_their_noun() -> None:
    assert counted(1, "note", "notes") == "1 note"
    assert counted(2700, "note", "notes") == "2,700 notes"
