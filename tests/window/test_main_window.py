"""The whole window over the real engine, from opening a vault to the next start."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from synapse.engine import open_vault
from synapse.engine.vaults import recent_vaults
from synapse.window.desk import Desk
from synapse.window.diff_view import DiffDialog
from synapse.window.editor.note_page import NotePage
from synapse.window.main_window import MainWindow
from synapse.window.opening import VaultHost
from synapse.window.settings import WindowSettings
from synapse.window.theme import Theme

Opener = Callable[..., MainWindow]


@pytest.fixture
def start(theme: Theme, qtbot: QtBot, tmp_path: Path) -> Iterator[Opener]:
    """Starts the window on a vault and waits until it is indexed; closes it at the end."""
    started: list[tuple[MainWindow, VaultHost]] = []

    def make(vault: Path, *, wait: bool = True) -> MainWindow:
        host = VaultHost(data_root=tmp_path / "data")
        window = MainWindow(WindowSettings(tmp_path / "config"), theme, host)
        window.resize(1200, 800)
        started.append((window, host))
        window.show()
        window.open_vault(vault)
        if wait:
            qtbot.waitUntil(lambda: is_ready(window), timeout=20_000)
        return window

    yield make
    for window, host in started:
        end(window, host, qtbot)


def end(window: MainWindow, host: VaultHost, qtbot: QtBot) -> None:
    window.close()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=10_000)
    host.shut_down()
    window.settings.sync()
    window.deleteLater()


def is_ready(window: MainWindow) -> bool:
    desk = window.desk
    return desk is not None and not desk.index.is_running and desk.notes.is_known and not desk.session.busy


def desk_of(window: MainWindow) -> Desk:
    assert window.desk is not None
    return window.desk


def page_of(window: MainWindow, path: str, qtbot: QtBot) -> NotePage:
    desk = desk_of(window)
    desk.session.open(path)
    qtbot.waitUntil(
        lambda: desk.tabs.page is not None and desk.tabs.page.path == path and desk.tabs.page.note.is_loaded,
        timeout=10_000,
    )
    page = desk.tabs.page
    assert page is not None
    return page


def test_a_vault_opens_with_its_numbers_and_welcome_note(start: Opener, vault: Path, qtbot: QtBot) -> None:
    window = start(vault)
    desk = desk_of(window)
    assert desk.tabs.page is not None and desk.tabs.page.path == "welcome.md"
    assert window.windowTitle() == "welcome – vault – Synapse"
    qtbot.waitUntil(lambda: window.status.notes.text() == "5 notes")
    assert "facts" in window.status.facts.text() and "inferred" in window.status.inferred.text()
    assert window.status.revision.text().startswith("revision ")
    assert recent_vaults()[0] == vault


def test_opening_a_foreign_folder_writes_nothing_into_it(start: Opener, vault: Path, qtbot: QtBot) -> None:
    (vault / ".synapse/settings.json").unlink()
    (vault / ".synapse").rmdir()
    before = {path: path.read_bytes() for path in vault.rglob("*.md")}
    window = start(vault)
    qtbot.waitUntil(lambda: window.bars.is_shown("backlinks"), timeout=10_000)
    assert not (vault / ".synapse").exists()
    assert {path: path.read_bytes() for path in vault.rglob("*.md")} == before
    report = desk_of(window).session.engine.backlinks("preview")
    assert report.links > len(report.written) == 4
    assert window.bars.bar("backlinks").text.text() == f"{report.links} backlinks for 4 notes."


def test_backlinks_are_previewed_then_written_on_a_persons_word(
    start: Opener, vault: Path, qtbot: QtBot
) -> None:
    for path in vault.rglob("*.md"):
        os.utime(path, (1, 1))
    window = start(vault)
    page = page_of(window, "people/bob.md", qtbot)
    qtbot.waitUntil(lambda: window.bars.is_shown("backlinks"), timeout=10_000)
    preview, write, _keep = window.bars.bar("backlinks").buttons
    preview.click()
    qtbot.waitUntil(lambda: window.findChild(DiffDialog) is not None, timeout=5000)
    dialog = window.findChild(DiffDialog)
    assert dialog.files.count() == 4
    dialog.files.setCurrentRow([v.name for v in dialog._versions].index("people/bob.md"))
    assert "+- [[people/ada]] knows this" in dialog.diff.toPlainText()
    assert b"synapse:backlinks" not in (vault / "people/bob.md").read_bytes()
    dialog.reject()
    write.click()
    qtbot.waitUntil(lambda: b"synapse:backlinks" in (vault / "people/bob.md").read_bytes(), timeout=10_000)
    qtbot.waitUntil(lambda: page.note.section is not None, timeout=5000)
    assert not page.note.is_dirty
    assert not window.bars.is_shown("backlinks")
    page.edit.verticalScrollBar().setValue(page.edit.verticalScrollBar().maximum())
    qtbot.waitUntil(lambda: page.edit.section.isVisible(), timeout=5000)
    assert "people/ada" in page.edit.section.lines.toPlainText()
    assert window.desk is not None and window.desk.session.engine.backlinks_policy() == "write"


def test_keeping_backlinks_in_the_panel_writes_no_note(start: Opener, vault: Path, qtbot: QtBot) -> None:
    window = start(vault)
    qtbot.waitUntil(lambda: window.bars.is_shown("backlinks"), timeout=10_000)
    before = {path: path.read_bytes() for path in vault.rglob("*.md")}
    window.bars.bar("backlinks").buttons[2].click()
    qtbot.waitUntil(lambda: desk_of(window).session.engine.backlinks_policy() == "off", timeout=5000)
    qtbot.waitUntil(lambda: is_ready(window))
    assert {path: path.read_bytes() for path in vault.rglob("*.md")} == before


def test_a_link_is_followed_by_keyboard_and_mouse_and_back_again(
    start: Opener, vault: Path, qtbot: QtBot
) -> None:
    window = start(vault)
    page = page_of(window, "people/bob.md", qtbot)
    page.edit.go_to(3, 12)
    qtbot.keyClick(page.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.AltModifier)
    tabs = desk_of(window).tabs
    qtbot.waitUntil(lambda: tabs.page.path == "people/ada.md" and tabs.page.note.is_loaded)
    ada = tabs.page
    line = ada.note.text.split("\n").index("Works on [[modules/pay|payments]].") + 1
    ada.edit.go_to(line, 14)
    place = ada.edit.cursorRect().center()
    qtbot.mouseClick(
        ada.edit.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, place
    )
    qtbot.waitUntil(lambda: tabs.page.path == "modules/pay.md")
    window.commands.run("go.back")
    assert tabs.page.path == "people/ada.md"
    window.commands.run("go.forward")
    assert tabs.page.path == "modules/pay.md"


def test_an_unwritten_note_is_offered_and_made_only_when_wanted(
    start: Opener, vault: Path, qtbot: QtBot
) -> None:
    window = start(vault)
    page = page_of(window, "people/bob.md", qtbot)
    page.edit.go_to(3, 33)
    page.follow_at_caret()
    qtbot.waitUntil(lambda: window.bars.is_shown("place"), timeout=5000)
    assert "people/zoe" in window.bars.bar("place").text.text()
    assert not (vault / "people/zoe.md").exists()
    window.bars.bar("place").buttons[0].click()
    qtbot.waitUntil(lambda: desk_of(window).tabs.page.path == "people/zoe.md", timeout=5000)
    assert (vault / "people/zoe.md").read_bytes() == b""


def test_a_heading_link_goes_to_its_line(start: Opener, vault: Path, qtbot: QtBot) -> None:
    (vault / "jump.md").write_text("See [[modules/pay#Promises]].\n")
    window = start(vault)
    page = page_of(window, "jump.md", qtbot)
    page.follow(10)
    tabs = desk_of(window).tabs
    qtbot.waitUntil(lambda: tabs.page.path == "modules/pay.md" and tabs.page.note.is_loaded, timeout=5000)
    qtbot.waitUntil(lambda: tabs.page.edit.textCursor().block().text() == "## Promises")


def test_a_change_made_outside_shows_within_a_second(start: Opener, vault: Path, qtbot: QtBot) -> None:
    window = start(vault)
    page = page_of(window, "people/bob.md", qtbot)
    qtbot.wait(300)  # the watcher's first breath
    (vault / "people/bob.md").write_text("# Robert\n\nlikes:: [[modules/pay]]\n")
    qtbot.waitUntil(lambda: page.note.text.startswith("# Robert"), timeout=5000)
    (vault / "new.md").write_text("# New\n")
    qtbot.waitUntil(lambda: desk_of(window).browser.title_row.count.text() == "6", timeout=5000)


def test_the_tab_shows_what_is_not_saved(start: Opener, vault: Path, qtbot: QtBot) -> None:
    window = start(vault)
    page = page_of(window, "people/bob.md", qtbot)
    tabs = desk_of(window).tabs
    place = tabs.indexOf(page)
    qtbot.keyClicks(page.edit, "x")
    assert "not saved yet" in tabs.tabToolTip(place)
    window.commands.run("note.save")
    qtbot.waitUntil(lambda: "not saved" not in tabs.tabToolTip(place), timeout=5000)
    assert (vault / "people/bob.md").read_text().startswith("x# Bob")


def test_closing_a_tab_or_the_window_saves_first(start: Opener, vault: Path, qtbot: QtBot) -> None:
    window = start(vault)
    page = page_of(window, "people/bob.md", qtbot)
    qtbot.keyClicks(page.edit, "one ")
    window.commands.run("note.close")
    qtbot.waitUntil(lambda: desk_of(window).tabs.page_of("people/bob.md") is None, timeout=5000)
    assert (vault / "people/bob.md").read_text().startswith("one ")
    page = page_of(window, "people/ada.md", qtbot)
    qtbot.keyClicks(page.edit, "two ")
    window.close()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=5000)
    assert (vault / "people/ada.md").read_text().startswith("two ")


def test_a_window_with_text_that_cannot_be_saved_asks_before_it_closes(
    start: Opener, vault: Path, qtbot: QtBot
) -> None:
    window = start(vault)
    (vault / "c.md").write_text("old\n")
    page = page_of(window, "c.md", qtbot)
    qtbot.keyClicks(page.edit, "mine ")
    page.note._autosave.stop()
    (vault / "c.md").write_text("theirs\n")
    page.note.look_at_disk()
    qtbot.waitUntil(lambda: page.note.conflict is not None, timeout=5000)
    assert page.bars.is_shown("conflict")
    window.close()
    qtbot.waitUntil(lambda: window.findChild(QMessageBox) is not None, timeout=10_000)
    box = window.findChild(QMessageBox)
    assert box is not None and window.isVisible()
    box.buttons()[0].click() if box.buttons()[0].text() == "Stay" else box.buttons()[1].click()
    assert window.isVisible()
    page.compare()
    dialog = page.findChild(DiffDialog)
    assert "+mine old" in dialog.diff.toPlainText() and "-theirs" in dialog.diff.toPlainText()
    dialog.buttons["mine"].click()
    qtbot.waitUntil(lambda: (vault / "c.md").read_text() == "mine old\n", timeout=5000)


def test_tabs_and_panels_are_as_they_were_at_the_next_start(
    start: Opener, vault: Path, qtbot: QtBot, theme: Theme, tmp_path: Path
) -> None:
    host = VaultHost(data_root=tmp_path / "data")
    first = MainWindow(WindowSettings(tmp_path / "config"), theme, host)
    first.show()
    first.open_vault(vault)
    qtbot.waitUntil(lambda: is_ready(first), timeout=20_000)
    page_of(first, "people/ada.md", qtbot)
    page_of(first, "people/bob.md", qtbot)
    desk_of(first).tabs.setCurrentIndex(0)
    desk_of(first).docks.show("console")
    desk_of(first).docks.toggle("browser")
    assert desk_of(first).docks.docks["browser"].isHidden()
    end(first, host, qtbot)
    again = desk_of(start(vault))
    assert [page.path for page in again.tabs.pages()] == ["welcome.md", "people/ada.md", "people/bob.md"]
    assert again.tabs.page is not None and again.tabs.page.path == "welcome.md"
    assert again.docks.docks["browser"].isHidden() and not again.docks.docks["console"].isHidden()


def test_a_vault_that_is_open_elsewhere_is_named_and_another_can_be_opened(
    start: Opener, vault: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    with open_vault(vault, tmp_path / "data"):
        window = start(vault, wait=False)
        qtbot.waitUntil(lambda: "is open in" in window.page.title.text(), timeout=30_000)
        assert [button.text() for button in window.page.buttons] == ["Try again", "Open another folder…"]
    window.page.buttons[0].click()
    qtbot.waitUntil(lambda: is_ready(window), timeout=20_000)


def test_another_vault_replaces_the_one_before(
    start: Opener, vault: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    window = start(vault)
    page = page_of(window, "people/bob.md", qtbot)
    qtbot.keyClicks(page.edit, "kept ")
    other = tmp_path / "other"
    window.open_vault(other, create=True)
    qtbot.waitUntil(
        lambda: is_ready(window) and desk_of(window).session.engine.vault == other, timeout=20_000
    )
    assert (vault / "people/bob.md").read_text().startswith("kept ")
    qtbot.waitUntil(lambda: "no notes yet" in window.page.title.text(), timeout=5000)
    window.page.buttons[0].click()
    assert desk_of(window).browser.name.isVisible()
    qtbot.keyClicks(desk_of(window).browser.name, "first")
    qtbot.keyClick(desk_of(window).browser.name, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: (other / "first.md").exists(), timeout=5000)


def test_a_first_index_can_be_stopped_and_taken_up_again(
    start: Opener, vault: Path, qtbot: QtBot
) -> None:
    for number in range(400):
        (vault / f"n{number}.md").write_text(f"# Note {number}\n\n[[n{number + 1}]]\n" * 3)
    window = start(vault, wait=False)
    qtbot.waitUntil(lambda: window.desk is not None, timeout=10_000)
    desk = desk_of(window)
    desk.index.stop()
    qtbot.waitUntil(lambda: window.bars.is_shown("index"), timeout=20_000)
    assert "stopped" in window.bars.bar("index").text.text()
    assert not window.status.progress.isVisible()
    window.bars.bar("index").buttons[0].click()
    qtbot.waitUntil(lambda: window.status.notes.text() == "405 notes", timeout=30_000)
    qtbot.waitUntil(lambda: not window.bars.is_shown("index"))


def test_progress_counts_notes_and_can_be_stopped(start: Opener, vault: Path, qtbot: QtBot) -> None:
    window = start(vault)
    window.status.show_indexing(1200, 5000)
    assert window.status.busy.text() == "Reading notes: 1,200 of 5,000"
    assert window.status.stop.isVisible()
    window.status.show_indexing(0, 0)
    assert not window.status.stop.isVisible() and window.status.busy.text() == ""


def test_problems_are_counted_listed_and_lead_to_their_line(start: Opener, vault: Path, qtbot: QtBot) -> None:
    (vault / "bad.md").write_text("---\na: 1\na: 2\n---\n")
    window = start(vault)
    qtbot.waitUntil(lambda: "problem" in window.status.problems.text(), timeout=5000)
    window.status.problems.click()
    panel = desk_of(window).docks.panels["problems"]
    qtbot.waitUntil(lambda: panel.model.rowCount() > 0, timeout=5000)  # type: ignore[attr-defined]
    panel._open(panel.model.index(0, 0))  # type: ignore[attr-defined]
    tabs = desk_of(window).tabs
    qtbot.waitUntil(lambda: tabs.page.path == "bad.md" and tabs.page.note.is_loaded, timeout=5000)
    assert tabs.page.edit.textCursor().blockNumber() == 2


def test_both_themes_reach_the_whole_window(start: Opener, vault: Path, theme: Theme) -> None:
    window = start(vault)
    for action in window.theme_group.actions():
        if action.data() in ("dark", "light"):
            action.trigger()
            assert theme.tokens.name == action.data() == window.settings.theme
            assert window.palette().window().color() == theme.color("window")


def test_text_is_made_larger_and_smaller(start: Opener, vault: Path, qtbot: QtBot) -> None:
    window = start(vault)
    page = page_of(window, "people/bob.md", qtbot)
    window.commands.run("view.larger")
    assert page.edit.font().pointSizeF() == page.edit.highlighter.points == 12
    assert window.settings.note_points == 12
    window.commands.run("view.usual")
    assert page.edit.font().pointSizeF() == 11


def test_commands_that_need_a_note_wait_for_one(start: Opener, vault: Path, qtbot: QtBot) -> None:
    window = start(vault)
    assert window.commands.action("note.save").isEnabled()
    window.commands.run("note.close")
    qtbot.waitUntil(lambda: not window.commands.action("note.save").isEnabled(), timeout=5000)
    assert window.page.title.text() == "No note is open"
    assert window.commands.action("note.new").isEnabled()


def test_every_command_has_its_own_key_and_name(start: Opener, vault: Path) -> None:
    window = start(vault)
    keys = [command.shortcut for command in window.commands if command.shortcut]
    assert len(keys) == len(set(keys))
    assert all(command.title and "." in command.id for command in window.commands)
    with pytest.raises(ValueError, match=r"Ctrl\+S belongs to note.save"):
        window.commands.add("x.y", "X", "Ctrl+S", lambda: None)


def test_why_opens_the_proof(start: Opener, vault: Path, qtbot: QtBot) -> None:
    window = start(vault)
    desk = desk_of(window)
    fact = desk.session.engine.dossier("people/ada").outgoing[0]
    desk.session.proofRequested.emit(fact)
    assert not desk.docks.docks["proof"].isHidden()
    qtbot.waitUntil(lambda: desk.docks.panels["proof"].showing_message == "", timeout=5000)
