"""A session of work in a real window, by keys, as a person does it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from synapse.engine import create_sample_vault
from synapse.engine.notes.backlinks import without_section

PATIENCE = 60


def keys(environment: dict[str, str], *arguments: str) -> str:
    return subprocess.run(
        ["xdotool", *arguments], env=environment, check=False, capture_output=True, text=True, timeout=30
    ).stdout


def until(holds: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            pytest.fail(f"{what} did not happen")
        time.sleep(0.2)


@pytest.fixture
def window(display_environment: dict[str, str], tmp_path: Path) -> Iterator[tuple[dict[str, str], Path]]:
    """The program on a copy of the sample vault, active on the X server."""
    if shutil.which("xdotool") is None or shutil.which("openbox") is None:
        pytest.skip("needs xdotool and openbox (packaging/test installs them)")
    vault = tmp_path / "Sample vault"
    create_sample_vault(vault)
    process = subprocess.Popen(
        [sys.executable, "-m", "synapse", "open", str(vault)], env=display_environment, cwd=tmp_path
    )
    try:
        until(lambda: "welcome" in active(display_environment), "the welcome note")
        yield display_environment, vault
        keys(display_environment, "key", "ctrl+q")
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait()


def active(environment: dict[str, str]) -> str:
    """The title of the window that gets the keys; the first one found is made active."""
    found = keys(environment, "search", "--onlyvisible", "--name", "Synapse").split()
    if not found:
        return ""
    keys(environment, "windowactivate", "--sync", found[0])
    return keys(environment, "getactivewindow", "getwindowname")


def test_a_note_is_found_edited_and_saved_by_keys_alone(window: tuple[dict[str, str], Path]) -> None:
    environment, vault = window
    note = vault / "people" / "farid.md"
    before = note.read_bytes()

    def opened() -> bool:  # while the vault is read for the first time there is nothing to choose
        keys(environment, "key", "ctrl+o")
        time.sleep(1)
        keys(environment, "type", "farid")
        time.sleep(1)
        keys(environment, "key", "Return")
        time.sleep(1)
        keys(environment, "key", "Escape")
        return "farid" in active(environment)

    until(opened, "opening farid")
    time.sleep(1)
    keys(environment, "key", "ctrl+End")
    keys(environment, "type", "seen by keys")
    keys(environment, "key", "ctrl+s")
    until(lambda: b"seen by keys" in note.read_bytes(), "saving")
    assert without_section(note.read_bytes()) == without_section(before) + b"seen by keys"
