"""An open note and its file: saved, merged, never overwritten."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtGui import QTextCursor
from pytestqt.qtbot import QtBot

from synapse.engine import Engine
from synapse.engine.notes.backlinks import find_section, without_section
from synapse.window.editor import open_note
from synapse.window.editor.open_note import OpenNote
from synapse.window.session import Session

PATH = "people/bob.md"
Wait = Callable[[], None]


@pytest.fixture
def opened(session: Session, qtbot: QtBot, settled: Wait) -> Callable[..., OpenNote]:
    notes: list[OpenNote] = []

    def make(path: str = PATH) -> OpenNote:
        note = OpenNote(session, path)
        notes.append(note)
        with qtbot.waitSignals([note.loaded]):
            note.load()
        return note

    yield make  # type: ignore[misc]
    settled()
    for note in notes:
        note.close()


def typed(note: OpenNote, text: str, at: int | None = None) -> None:
    cursor = QTextCursor(note.document)
    cursor.setPosition(note.document.characterCount() - 1 if at is None else at)
    cursor.insertText(text)


def test_opening_and_saving_without_an_edit_writes_nothing(
    opened: Callable[..., OpenNote], vault: Path, settled: Wait
) -> None:
    before = (vault / PATH).stat()
    note = opened()
    note.save()
    settled()
    after = (vault / PATH).stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


def test_a_saved_edit_is_on_disk_and_in_the_graph(
    opened: Callable[..., OpenNote], vault: Path, engine: Engine, settled: Wait
) -> None:
    note = opened()
    typed(note, "likes:: [[modules/pay]]\n")
    assert note.is_dirty
    note.save()
    settled()
    assert not note.is_dirty
    assert (vault / PATH).read_text().endswith("likes:: [[modules/pay]]\n")
    assert any(fact.predicate.label == "likes" for fact in engine.dossier("people/bob").outgoing)


def test_autosave_follows_the_last_key(
    opened: Callable[..., OpenNote], vault: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = opened()
    assert note._autosave.interval() == open_note.AUTOSAVE_MS == 2000
    note._autosave.setInterval(30)
    typed(note, "x")
    qtbot.waitUntil(lambda: (vault / PATH).read_text().endswith("x"), timeout=5000)


@pytest.mark.parametrize(
    "data",
    [
        "\ufeffone\r\ntwo\u00a0\u2028x\nthree\x0c\r\nfour".encode(),
        "\U0001f600 e\u0301\u200b\r\n\r\n\n".encode(),
        b"",
        b"\n\n\n",
    ],
)
def test_one_edit_changes_one_line_of_the_file(
    opened: Callable[..., OpenNote], vault: Path, settled: Wait, data: bytes
) -> None:
    (vault / "odd.md").write_bytes(data)
    note = opened("odd.md")
    assert not note.read_only
    typed(note, "!", at=0)
    note.save()
    settled()
    mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    assert (vault / "odd.md").read_bytes() == mark + b"!" + data.removeprefix(mark)


def test_undo_survives_a_save(opened: Callable[..., OpenNote], vault: Path, settled: Wait) -> None:
    before = (vault / PATH).read_bytes()
    note = opened()
    typed(note, "more\n")
    note.save()
    settled()
    note.document.undo()
    assert note.is_dirty
    note.save()
    settled()
    assert (vault / PATH).read_bytes() == before


def test_an_outside_change_of_a_clean_note_is_shown_and_can_be_undone(
    opened: Callable[..., OpenNote], vault: Path, settled: Wait
) -> None:
    note = opened()
    caret = QTextCursor(note.document)
    caret.setPosition(4)
    (vault / PATH).write_text("# Bob\n\nKnows [[people/ada]] and [[people/zoe]].\nNew line.\n")
    note.look_at_disk()
    settled()
    assert note.text.endswith("New line.\n") and not note.is_dirty
    assert caret.position() == 4
    note.document.undo()
    assert note.text.endswith("zoe]].\n") and note.is_dirty


def test_unsaved_text_and_an_outside_change_come_together(
    opened: Callable[..., OpenNote], vault: Path, qtbot: QtBot, settled: Wait
) -> None:
    note = opened()
    typed(note, "Mine.\n")
    (vault / PATH).write_text("# Robert\n\nKnows [[people/ada]] and [[people/zoe]].\n")
    with qtbot.waitSignal(note.merged):
        note.look_at_disk()
    assert note.text == "# Robert\n\nKnows [[people/ada]] and [[people/zoe]].\nMine.\n"
    assert note.is_dirty and note.conflict is None
    note.save()
    settled()
    assert (vault / PATH).read_text() == note.text


def test_saving_over_an_unseen_outside_change_merges_instead(
    opened: Callable[..., OpenNote], vault: Path, qtbot: QtBot, settled: Wait
) -> None:
    note = opened()
    typed(note, "Mine.\n")
    (vault / PATH).write_text("# Robert\n\nKnows [[people/ada]] and [[people/zoe]].\n")
    with qtbot.waitSignal(note.merged):
        note.save()
    settled()
    assert "# Robert" in note.text and "Mine." in note.text


@pytest.mark.parametrize(
    ("choice", "result"),
    [("mine", "# Mine\n"), ("theirs", "# Theirs\n"), ("both", "# Mine\n# Theirs\n")],
)
def test_a_conflict_overwrites_nothing_until_a_person_decides(
    opened: Callable[..., OpenNote], vault: Path, qtbot: QtBot, settled: Wait, choice: str, result: str
) -> None:
    (vault / "c.md").write_text("# Old\n")
    note = opened("c.md")
    cursor = QTextCursor(note.document)
    cursor.setPosition(2)
    cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
    cursor.insertText("Mine")
    (vault / "c.md").write_text("# Theirs\n")
    note.look_at_disk()
    qtbot.waitUntil(lambda: note.conflict is not None)
    note.save()
    settled()
    assert (vault / "c.md").read_text() == "# Theirs\n"
    assert note.text == "# Mine\n"
    note.resolve(choice)
    settled()
    assert (vault / "c.md").read_text() == note.text == result
    assert not note.is_dirty


def test_a_file_that_is_away_for_a_moment_is_not_deleted(
    opened: Callable[..., OpenNote], vault: Path, qtbot: QtBot, settled: Wait
) -> None:
    note = opened()
    note._absent.setInterval(200)
    content = (vault / PATH).read_bytes()
    (vault / PATH).unlink()
    note.look_at_disk()
    settled()
    assert not note.is_missing
    (vault / PATH).write_bytes(content + b"again\n")
    qtbot.waitUntil(lambda: note.text.endswith("again\n"), timeout=5000)
    assert not note.is_missing


def test_a_deleted_file_keeps_its_text_here_and_can_be_written_again(
    opened: Callable[..., OpenNote], vault: Path, qtbot: QtBot, settled: Wait
) -> None:
    note = opened()
    note._absent.setInterval(50)
    content = (vault / PATH).read_bytes()
    (vault / PATH).unlink()
    note.look_at_disk()
    qtbot.waitUntil(lambda: note.is_missing, timeout=5000)
    assert note.is_dirty
    note.revive()
    settled()
    assert (vault / PATH).read_bytes() == content
    assert not note.is_missing and not note.is_dirty


def test_the_section_is_no_part_of_the_text_and_arrives_outside_undo(
    opened: Callable[..., OpenNote], vault: Path, engine: Engine, settled: Wait
) -> None:
    note = opened()
    typed(note, "kept\n")
    note.save()
    settled()
    steps = note.document.availableUndoSteps()
    age(vault)
    engine.set_backlinks_policy("write")
    assert engine.backlinks("write").written
    note.look_at_disk()
    settled()
    assert note.section is not None and any("people/ada" in line for line in note.section.lines)
    assert "synapse:backlinks" not in note.text and not note.is_dirty
    assert note.document.availableUndoSteps() == steps
    typed(note, "and more\n")
    note.save()
    settled()
    data = (vault / PATH).read_bytes()
    assert find_section(data) is not None
    assert without_section(data).decode() == note.text


def test_saving_a_note_brings_its_own_section_up_to_date(
    opened: Callable[..., OpenNote], vault: Path, engine: Engine, settled: Wait
) -> None:
    engine.set_backlinks_policy("write")
    note = opened("modules/ledger.md")
    assert note.section is None
    typed(note, "Text.\n")
    note.save()
    settled()
    assert note.section is not None
    assert b"[[modules/pay]]" in (vault / "modules/ledger.md").read_bytes()
    assert note.text == "# Ledger\nText.\n" and not note.is_dirty


def test_lines_of_the_file_are_found_in_the_text_around_a_section(
    opened: Callable[..., OpenNote], vault: Path, engine: Engine
) -> None:
    age(vault)
    engine.set_backlinks_policy("write")
    engine.backlinks("write")
    path = vault / "people/ada.md"
    lines = path.read_text().count("\n")
    path.write_text(path.read_text() + "after\n")
    note = opened("people/ada.md")
    assert note.text.split("\n")[note.line_in_text(lines + 1) - 1] == "after"
    assert note.line_in_text(2) == 2


@pytest.mark.parametrize("data", [b"a\rb\n", b"\xff\xfe", "a\u2029b".encode()])
def test_a_file_that_editing_would_change_is_never_written(
    opened: Callable[..., OpenNote], vault: Path, settled: Wait, data: bytes
) -> None:
    (vault / "odd.md").write_bytes(data)
    note = opened("odd.md")
    assert note.read_only
    typed(note, "x")
    note.save()
    settled()
    assert (vault / "odd.md").read_bytes() == data


def test_a_refused_save_keeps_the_text_and_says_what_to_do(
    opened: Callable[..., OpenNote], vault: Path, qtbot: QtBot, settled: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = opened()
    typed(note, "kept")
    before = (vault / PATH).read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with qtbot.waitSignal(note.failed) as caught:
        note.save()
    monkeypatch.undo()
    assert "space" in " ".join(caught.args)
    assert note.is_dirty and note.text.endswith("kept")
    assert (vault / PATH).read_bytes() == before
    assert [path.name for path in (vault / "people").iterdir() if path.name.startswith(".")] == []
    note.save()
    settled()
    assert (vault / PATH).read_text().endswith("kept")


def test_half_a_character_is_refused_with_its_line(
    opened: Callable[..., OpenNote], qtbot: QtBot, settled: Wait
) -> None:
    note = opened()
    cursor = QTextCursor(note.document)
    cursor.insertText("\U0001f600")
    cursor.setPosition(1)
    cursor.deletePreviousChar()
    if "\ud83d" not in note.text and "\ude00" not in note.text:
        return  # Qt kept the pair together
    with qtbot.waitSignal(note.failed) as caught:
        note.save()
    assert "Half of a character" in caught.args[0] and "line 1" in caught.args[0]


def test_a_missing_note_says_so(session: Session, qtbot: QtBot) -> None:
    note = OpenNote(session, "nowhere.md")
    with qtbot.waitSignal(note.failed) as caught:
        note.load()
    assert "nowhere.md" in caught.args[0]
    note.close()


def age(vault: Path) -> None:
    """Let the notes look as if nobody had touched them for a while."""
    for path in vault.rglob("*.md"):
        os.utime(path, (1, 1))
