"""The panel over a real owner and real agents: who is there, what they may do, what they did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt

from synapse.agents.registry import Registry
from synapse.window.agents.plain import plain
from synapse.window.agents.rows import LINE_ROLE
from synapse.window.agents_panel import AgentsPanel
from synapse.window.connect_agent import ConnectDialog
from synapse.window.main_window import MainWindow

FACT = ("people/zoe", "knows", "people/bob")


def panel_of(window: MainWindow) -> AgentsPanel:
    assert window.desk is not None
    window.desk.docks.show("agents")
    return window.desk.agents_panel


def lines(panel: AgentsPanel) -> list[str]:
    return [f"{line.text}: {line.note}" for line in panel.agents.lines.lines]


def acts(panel: AgentsPanel) -> list[tuple[str, str]]:
    return [(line.text, line.note) for line in panel.acts.lines.lines]


def test_without_agents_it_says_how_to_connect_one(room: Any, vault: Path) -> None:
    window = room.open(vault)
    panel = panel_of(window)
    assert "appear here" in panel.showing_message
    panel._message.action.click()
    assert window.findChild(ConnectDialog).isVisible()
    assert window.status.agents.isHidden()


def test_it_shows_who_is_attached_and_that_the_name_is_not_proven(room: Any, vault: Path) -> None:
    window = room.open(vault)
    panel = panel_of(window)
    client = room.attach(vault, "helper", program="a host")
    room.until(lambda: lines(panel) == ["helper: read-only"] and "a host 9.1" in detail(panel, 0))
    assert "name not proven" in detail(panel, 0)
    token = Registry().add("checker")
    room.attach(vault, None, token, program="another")
    room.until(lambda: lines(panel) == ["checker: read-only", "helper: read-only"])
    room.until(lambda: "another 9.1" in detail(panel, 0))
    assert "not proven" not in detail(panel, 0)
    assert window.status.agents.text() == "2 agents attached"
    client.close()
    room.until(lambda: window.status.agents.text() == "1 agent attached")
    row = panel.agents.lines.lines[1]
    assert row.gone and row.below.startswith("last attached")


def detail(panel: AgentsPanel, row: int) -> str:
    return str(panel.agents.lines.lines[row].detail)


def test_an_agent_that_wants_to_write_is_allowed_from_the_bar(room: Any, vault: Path) -> None:
    window = room.open(vault)
    client = room.attach(vault)
    refused = room.during(lambda: client.state(FACT))
    assert refused["isError"]
    room.until(lambda: window.bars.is_shown("agent-writes"))
    bar = window.bars.bar("agent-writes")
    assert bar.text.text() == "An agent that calls itself helper wants to write into this vault."
    assert [button.text() for button in bar.buttons] == ["Allow", "Keep read-only"]
    bar.buttons[0].click()
    room.until(lambda: not window.bars.is_shown("agent-writes"))
    assert Registry().access("helper") == "write"
    assert not room.during(lambda: client.state(FACT))["isError"]


def test_one_kept_read_only_is_not_asked_about_again_also_after_a_restart(room: Any, vault: Path) -> None:
    window = room.open(vault)
    client = room.attach(vault)
    room.during(lambda: client.state(FACT))
    room.until(lambda: window.bars.is_shown("agent-writes"))
    window.bars.bar("agent-writes").buttons[1].click()
    assert not window.bars.is_shown("agent-writes")
    room.during(lambda: client.state(FACT))
    room.end(window)
    window = room.open(vault)
    panel = panel_of(window)
    client = room.attach(vault)
    assert room.during(lambda: client.state(FACT))["isError"]
    room.until(lambda: lines(panel) == ["helper: wants to write"])
    assert not window.bars.is_shown("agent-writes")
    assert Registry().access("helper") == "read"


def test_it_lists_what_an_agent_stated_and_opens_its_notes(room: Any, vault: Path) -> None:
    window = room.open(vault)
    panel = panel_of(window)
    client = room.attach(vault)
    Registry().allow("helper")
    room.during(lambda: client.state(("people/bob", "knows", "people/zoe"), reason="Bob said so"))
    expected = [("Bob said so", "stands"), ("Bob knows zoe", "")]
    room.until(lambda: [(t.replace("people/", ""), n) for t, n in acts(panel)] == expected)
    assert "from a talk" in panel.acts.lines.lines[0].detail
    panel.acts.setCurrentIndex(panel.acts.lines.index(1))
    room.qtbot.keyClick(panel.acts, Qt.Key.Key_Return)
    tabs = window.desk.tabs
    room.until(lambda: tabs.page is not None and tabs.page.path == "people/bob.md")


def test_pause_resume_and_revoke_hold_at_once(room: Any, vault: Path) -> None:
    window = room.open(vault)
    panel = panel_of(window)
    client = room.attach(vault)
    room.until(lambda: panel.allow.isVisible())
    panel.allow.click()
    room.until(lambda: panel.pause.isVisible() and not panel.allow.isVisible())
    panel.pause.click()
    room.until(lambda: lines(panel) == ["helper: writes paused"])
    assert room.during(lambda: client.state(FACT))["isError"]
    assert not window.bars.is_shown("agent-writes"), "a person paused it: there is nothing to ask"
    panel.resume.click()
    room.until(lambda: lines(panel) == ["helper: may write"])
    assert not room.during(lambda: client.state(FACT))["isError"]
    panel.revoke.click()
    assert Registry().access("helper") == "write", "asked first"
    panel.bar.buttons[0].click()
    room.until(lambda: lines(panel) == ["helper: revoked"] and window.status.agents.isHidden())
    with pytest.raises(ConnectionError):
        room.during(lambda: client.request("ping", {}))


def test_undo_says_how_much_first_and_takes_it_back_on_a_persons_word(room: Any, vault: Path) -> None:
    window = room.open(vault)
    panel = panel_of(window)
    client = room.attach(vault)
    Registry().allow("helper")
    for number in range(3):
        room.during(lambda number=number: client.state((f"people/p{number}", "knows", "people/bob")))
    room.until(lambda: len(acts(panel)) == 6)
    everything = panel.undo.menu().actions()[-1]
    assert everything.text() == "Everything"
    everything.trigger()
    room.until(lambda: not panel.bar.isHidden())
    assert panel.bar.text.text() == (
        "Take back all that helper wrote here? That is 3 acts, and withdraws 3 facts."
    )
    engine = window.desk.session.engine
    assert engine.agent_activity()[0].facts == 3, "nothing is done yet"
    panel.bar.buttons[0].click()
    room.until(lambda: panel.bar.text.text().startswith("Taken back: 3 facts withdrawn"))
    assert [one.facts for one in engine.agent_activity() if one.name == "helper"] == [0]
    room.until(lambda: [note for _, note in acts(panel)][::2] == ["withdrawn"] * 3)


def test_what_the_command_line_allows_is_seen_without_asking_again_and_again(room: Any, vault: Path) -> None:
    window = room.open(vault)
    panel = panel_of(window)
    room.attach(vault)
    room.until(lambda: lines(panel) == ["helper: read-only"])
    Registry().allow("helper")
    room.until(lambda: lines(panel) == ["helper: may write"])


def test_text_of_agents_is_characters_never_markup(room: Any, vault: Path) -> None:
    window = room.open(vault)
    panel = panel_of(window)
    name = "<b>bold</b> & <img src=x>"
    client = room.attach(vault, name)
    room.until(lambda: panel.agents.lines.lines and panel.agents.lines.lines[0].text == name)
    assert panel.name.full == name and panel.name.textFormat() == Qt.TextFormat.PlainText
    room.during(lambda: client.state(FACT))
    room.until(lambda: window.bars.is_shown("agent-writes"))
    bar = window.bars.bar("agent-writes")
    assert name in bar.text.text() and bar.text.textFormat() == Qt.TextFormat.PlainText
    bar.buttons[0].click()
    room.until(lambda: Registry().access(name) == "write")
    room.during(lambda: client.state(FACT, reason="safe\u202eevil <i>x</i>", source="<script>"))
    room.until(lambda: acts(panel))
    assert panel.acts.lines.lines[0].text == "safe⟨U+202E⟩evil <i>x</i>"
    assert panel.acts.lines.lines[0].detail.endswith("from <script>")
    index = panel.agents.lines.index(0)
    assert index.data(Qt.ItemDataRole.ToolTipRole) is None
    assert index.data(LINE_ROLE).text in index.data(Qt.ItemDataRole.AccessibleTextRole)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\nlines\tand\x00nul", "two lines and⟨U+0000⟩nul"),
        ("safe\u202eevil", "safe⟨U+202E⟩evil"),
        ("\U000e0041hidden", "⟨U+E0041⟩hidden"),
        ("lone \ud800", "lone ⟨U+D800⟩"),
        ("mañana 日本 👩‍🔬", "mañana 日本 👩‍🔬"),
        ("x" * 500, "x" * 400 + "…"),
    ],
)
def test_what_cannot_be_seen_is_made_visible(text: str, shown: str) -> None:
    assert plain(text) == shown
