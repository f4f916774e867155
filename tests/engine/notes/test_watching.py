"""Changes in the vault's folder are told within a second, and nothing of our own making is."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import watchfiles

from synapse.engine.notes import watching
from synapse.engine.notes.atomic import atomic_write
from synapse.engine.notes.watching import WHOLE_VAULT, expand, is_remote, watch


class Watcher:
    """Runs `watch` in a thread and collects what it tells."""

    def __init__(self, vault: Path, **options: bool) -> None:
        self.seen: list[str] = []
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(vault, options))
        self.thread.start()

    def _run(self, vault: Path, options: dict[str, bool]) -> None:
        for changes in watch(vault, self.stop, **options):
            self.seen.extend(sorted(changes))

    def until(self, *paths: str, seconds: float = 10) -> None:
        end = time.monotonic() + seconds
        while not set(paths) <= set(self.seen):
            assert time.monotonic() < end, f"{paths} not told, only {self.seen}"
            time.sleep(0.01)

    def ready(self, vault: Path) -> None:
        """Waits until a probe is told: only then is the watch known to stand."""
        end = time.monotonic() + 10
        for number in range(200):
            (vault / f"probe{number}").write_bytes(b"x")
            time.sleep(0.1)
            if any(path.startswith("probe") for path in self.seen):
                break
            assert time.monotonic() < end
        time.sleep(0.5)
        self.seen.clear()

    def close(self) -> None:
        self.stop.set()
        self.thread.join(5)
        assert not self.thread.is_alive()


Start = Callable[..., Watcher]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_POLL_SECONDS", 0.1)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    vault = tmp_path / "vault"
    vault.mkdir()
    running: list[Watcher] = []

    def begin(folder: Path = vault, **options: bool) -> Watcher:
        watcher = Watcher(folder, **options)
        running.append(watcher)
        watcher.ready(folder)
        return watcher

    yield begin
    for watcher in running:
        watcher.close()


@pytest.mark.parametrize("polling", [False, True])
def test_new_changed_and_deleted_files_are_told(tmp_path: Path, start: Start, polling: bool) -> None:
    vault = tmp_path / "vault"
    watcher = start(polling=polling)
    (vault / "a.md").write_bytes(b"1")
    (vault / "people").mkdir()
    watcher.until("a.md", *([] if polling else ["people"]))
    watcher.seen.clear()
    (vault / "people" / "bob.md").write_bytes(b"1")
    (vault / "a.md").write_bytes(b"changed")
    watcher.until("a.md", "people/bob.md")
    watcher.seen.clear()
    (vault / "a.md").unlink()
    watcher.until("a.md")


def test_dot_folders_and_our_temporary_files_are_not_told(tmp_path: Path, start: Start) -> None:
    vault = tmp_path / "vault"
    for name in (".git", ".obsidian", ".synapse/journal"):
        (vault / name).mkdir(parents=True)
    watcher = start()
    (vault / ".git" / "index").write_bytes(b"x")
    (vault / ".obsidian" / "workspace.json").write_bytes(b"x")
    (vault / ".synapse" / "journal" / "d.jsonl").write_bytes(b"x")
    (vault / ".hidden.md").write_bytes(b"x")
    atomic_write(vault / "note.md", b"text", None)
    atomic_write(vault / "note.md", b"more", b"text")
    watcher.until("note.md")
    (vault / "last.md").write_bytes(b"x")
    watcher.until("last.md")
    assert set(watcher.seen) == {"note.md", "last.md"}


@pytest.mark.parametrize("polling", [False, True])
def test_journal_and_settings_are_told_where_asked_for(tmp_path: Path, start: Start, polling: bool) -> None:
    vault = tmp_path / "vault"
    (vault / ".synapse/journal").mkdir(parents=True)
    watcher = start(synapse=True, polling=polling)
    (vault / ".synapse/journal/other.jsonl").write_bytes(b"x")
    (vault / ".synapse/DIGEST.md").write_bytes(b"x")
    (vault / ".synapse/journal/other.jsonl.partial").write_bytes(b"x")
    (vault / ".synapse/settings.json").write_bytes(b"{}")
    watcher.until(".synapse/journal/other.jsonl", ".synapse/settings.json")
    assert set(watcher.seen) == {".synapse/journal/other.jsonl", ".synapse/settings.json"}


def test_a_file_replaced_twice_with_a_gap_is_told_both_times(tmp_path: Path, start: Start) -> None:
    vault, other = tmp_path / "vault", tmp_path / "other"
    (vault / "a.md").write_bytes(b"0")
    watcher = start()
    other.write_bytes(b"1")
    os.replace(other, vault / "a.md")
    watcher.until("a.md")
    watcher.seen.clear()
    (vault / "a.md").unlink()
    watcher.until("a.md")
    watcher.seen.clear()
    other.write_bytes(b"2")
    os.replace(other, vault / "a.md")
    watcher.until("a.md")


def test_a_renamed_folder_is_told_by_both_names(tmp_path: Path, start: Start) -> None:
    vault = tmp_path / "vault"
    (vault / "old").mkdir()
    (vault / "old" / "a.md").write_bytes(b"x")
    watcher = start()
    (vault / "old").rename(vault / "new")
    watcher.until("old", "new")


def test_a_vault_behind_a_link_is_watched(tmp_path: Path, start: Start) -> None:
    link = tmp_path / "link"
    link.symlink_to("vault")
    watcher = start(link)
    (tmp_path / "vault" / "a.md").write_bytes(b"x")
    watcher.until("a.md")


@pytest.mark.parametrize("polling", [False, True])
def test_a_vault_that_went_away_and_came_back_is_watched_again(
    tmp_path: Path, start: Start, polling: bool
) -> None:
    vault = tmp_path / "vault"
    watcher = start(polling=polling)
    vault.rename(tmp_path / "away")
    watcher.until(WHOLE_VAULT)
    watcher.seen.clear()
    (tmp_path / "away").rename(vault)
    watcher.until(WHOLE_VAULT)
    watcher.ready(vault)
    (vault / "a.md").write_bytes(b"x")
    watcher.until("a.md")


def test_polling_sees_every_change_within_one_second(tmp_path: Path, start: Start) -> None:
    vault = tmp_path / "vault"
    watcher = start(polling=True)
    for content in (b"1", b"2", b"3"):
        (vault / "a.md").write_bytes(content)
        watcher.until("a.md")
        watcher.seen.clear()


@pytest.mark.parametrize("error", [OSError("OS file watch limit reached"), RuntimeError("no inotify")])
def test_without_notifications_it_polls(
    tmp_path: Path, start: Start, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    refused: list[bool] = []

    def limited(*_: Path, **__: object) -> Iterator[set[tuple[watchfiles.Change, str]]]:
        refused.append(True)
        raise error

    monkeypatch.setattr(watching, "watch_files", limited)
    watcher = start(polling=False)
    (tmp_path / "vault" / "a.md").write_bytes(b"x")
    watcher.until("a.md")
    assert refused == [True]


def test_stopping_takes_no_time(start: Start) -> None:
    watcher = start()
    began = time.monotonic()
    watcher.close()
    assert time.monotonic() - began < 5


def test_this_machine_s_own_folders_are_not_remote() -> None:
    assert not is_remote(Path("/"))
    assert not is_remote(Path("/proc"))


def test_folders_in_a_change_stand_for_the_files_that_are_and_were_in_them(tmp_path: Path) -> None:
    for path in ("new/deep/a.md", "new/b.md", "new/draft.md", "newer.md", "c.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b"x")
    known = ["old/a.md", "old/deep/b.md", "older.md", "c.md", "gone.md"]
    assert expand(tmp_path, ["new", "old"], known, ["draft.md"]) == {
        "new/deep/a.md",
        "new/b.md",
        "old/a.md",
        "old/deep/b.md",
    }
    assert expand(tmp_path, ["c.md", "gone.md", "newer.md", "never.md"], known) == {
        "c.md",
        "gone.md",
        "newer.md",
    }
    assert expand(tmp_path, ["c.md", WHOLE_VAULT], known) is None
    assert expand(tmp_path, [], known) == set()
