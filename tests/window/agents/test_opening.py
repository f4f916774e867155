"""A vault passes from a background server to the window and back, and says who has it."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QMessageBox

from synapse.agents.registry import Registry
from synapse.agents.taking_over import take_over
from synapse.bridge import discovery, stopped
from synapse.engine import open_vault
from synapse.window.leaving import ClosingQuestion
from synapse.window.main_window import MainWindow
from synapse.window.opening import VaultHost

FACT = ("people/zoe", "knows", "people/bob")


@pytest.fixture
def background(vault: Path) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Starts `synapse serve` on the vault; it never outlives the test."""
    started: list[subprocess.Popen[str]] = []

    def serve() -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "synapse", "serve", str(vault), "--json"],
            stdout=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )
        started.append(process)
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["pid"] == process.pid
        return process

    yield serve
    for process in started:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def asked(room: Any, window: MainWindow) -> ClosingQuestion:
    room.until(lambda: window.findChild(ClosingQuestion) is not None)
    found = window.findChild(ClosingQuestion)
    assert found is not None
    return found


def closed(room: Any, window: MainWindow) -> None:
    room.until(lambda: not window.isVisible())
    room.shut(window, window.host)


def owner_of(vault: Path) -> discovery.Discovery | None:
    found = discovery.read(vault)
    return found if found is not None and discovery.may_live(found) else None


def test_the_window_takes_the_vault_over_from_a_background_server(
    room: Any, vault: Path, background: Callable[[], subprocess.Popen[str]]
) -> None:
    process = background()
    window = room.begin(vault)
    room.until(lambda: window.page.text.text() == "Taking over from the background server…")
    room.until(lambda: window.desk is not None)
    assert process.wait(20) == 0
    owner = owner_of(vault)
    assert owner is not None and (owner.role, owner.pid) == ("window", os.getpid())
    client = room.attach(vault)
    assert client.greeting["role"] == "window"


def test_a_vault_open_in_another_window_says_so_and_can_be_tried_again(room: Any, vault: Path) -> None:
    first = room.open(vault)
    second = room.begin(vault)
    room.until(lambda: "is open in Synapse's window" in second.page.title.text())
    assert second.page.buttons[0].text() == "Try again"
    room.end(first)
    second.page.buttons[0].click()
    room.until(lambda: second.desk is not None)


def test_a_command_that_has_the_vault_for_a_moment_is_waited_for(room: Any, vault: Path) -> None:
    engine = open_vault(vault)
    window = room.begin(vault)
    room.qtbot.wait(200)
    assert window.desk is None
    engine.close()
    room.until(lambda: window.desk is not None)


def test_closing_without_agents_asks_nothing_and_starts_nothing(room: Any, vault: Path) -> None:
    window = room.open(vault)
    window.close()
    closed(room, window)
    assert window.findChild(QMessageBox) is None
    assert discovery.read(vault) is None and not stopped.is_stopped(vault)
    with open_vault(vault):
        pass  # nobody holds it


def test_an_agent_goes_on_in_the_background_when_a_person_says_so(
    room: Any, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYNAPSE_IDLE_SECONDS", "60")
    window = room.open(vault)
    client = room.attach(vault)
    Registry().allow("helper")
    room.during(lambda: client.state(FACT))
    room.until(lambda: window.status.agents.text() == "1 agent attached")
    window.close()
    question = asked(room, window)
    assert question.text() == "1 agent is attached to this vault."
    question.keep.click()
    closed(room, window)
    room.until(lambda: (found := owner_of(vault)) is not None and found.role == "headless")
    again = room.attach(vault)
    dossier = {"name": "entity_dossier", "arguments": {"entity": "people/zoe"}}
    assert "people/bob" in json.dumps(room.during(lambda: again.request("tools/call", dossier)))
    again.close()
    take_over(vault, 20)  # ends it


def test_agents_are_served_no_more_when_a_person_says_so_until_the_vault_is_opened_again(
    room: Any, vault: Path
) -> None:
    window = room.open(vault)
    room.attach(vault)
    room.until(lambda: window.status.agents.text() == "1 agent attached")
    window.close()
    asked(room, window).stop.click()
    closed(room, window)
    assert stopped.is_stopped(vault) and discovery.read(vault) is None
    room.open(vault)
    assert not stopped.is_stopped(vault)


def test_a_person_may_stay_and_the_agent_stays_attached(room: Any, vault: Path) -> None:
    window = room.open(vault)
    client = room.attach(vault)
    room.until(lambda: window.status.agents.text() == "1 agent attached")
    window.close()
    asked(room, window).stay.click()
    room.qtbot.wait(100)
    assert window.isVisible() and window.desk is not None
    assert room.during(lambda: client.request("ping", {})) == {}
    room.until(lambda: window.findChild(ClosingQuestion) is None)
    window.close()
    asked(room, window).stop.click()
    closed(room, window)


def test_the_answer_is_remembered_and_can_be_changed_in_the_panels_menu(room: Any, vault: Path) -> None:
    window = room.open(vault)
    room.attach(vault)
    room.until(lambda: window.status.agents.text() == "1 agent attached")
    window.close()
    question = asked(room, window)
    question.not_again.setChecked(True)
    question.stop.click()
    closed(room, window)
    window = room.open(vault)
    room.attach(vault)
    room.until(lambda: window.status.agents.text() == "1 agent attached")
    window.close()
    closed(room, window)
    assert stopped.is_stopped(vault)
    window = room.open(vault)
    menu = window.desk.agents_panel.closing_menu
    menu.aboutToShow.emit()
    choices = {action.data(): action for action in menu.actions() if action.data()}
    assert choices["stop"].isChecked()
    choices["ask"].trigger()
    assert window.settings.when_closing == "ask"


def test_an_agent_can_attach_again_after_a_person_stayed_with_unsaved_text(room: Any, vault: Path) -> None:
    window = room.open(vault)
    room.attach(vault)
    room.until(lambda: window.status.agents.text() == "1 agent attached")
    window.settings.when_closing = "stop"
    (vault / "c.md").write_text("old\n")
    desk = window.desk
    desk.session.open("c.md")
    room.until(lambda: desk.tabs.page is not None and desk.tabs.page.path == "c.md")
    page = desk.tabs.page
    room.until(lambda: page.note.is_loaded)
    room.qtbot.keyClicks(page.edit, "mine ")
    page.note._autosave.stop()
    (vault / "c.md").write_text("theirs\n")
    page.note.look_at_disk()
    room.until(lambda: page.note.conflict is not None)
    window.close()
    room.until(lambda: window.findChild(QMessageBox) is not None)
    assert stopped.is_stopped(vault) and discovery.read(vault) is None
    box = window.findChild(QMessageBox)
    next(button for button in box.buttons() if button.text() == "Stay").click()
    room.until(lambda: discovery.read(vault) is not None)
    assert not stopped.is_stopped(vault)
    room.attach(vault, "second")
    room.until(lambda: window.status.agents.text() == "1 agent attached")
    page.note.resolve("mine")
    room.until(lambda: (vault / "c.md").read_text() == "mine old\n")


def test_closing_the_host_twice_or_never_opening_is_fine(qtbot: Any) -> None:
    host = VaultHost()
    assert host.shut_down()
    assert host.shut_down()


def test_what_is_loaded_is_not_gone_through_again_while_a_vault_is_open(room: Any, vault: Path) -> None:
    assert gc.get_freeze_count() == 0
    window = room.open(vault)
    loaded = gc.get_freeze_count()
    assert loaded > 10_000
    client = room.attach(vault)
    assert room.during(lambda: client.request("ping", {})) == {}
    assert gc.isenabled()
    client.close()
    room.end(window)
    assert gc.get_freeze_count() == 0, "the store looks for what still holds it when it closes"
