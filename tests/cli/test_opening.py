"""Without a display `open` says so in one line, answers, and exits or follows the vault."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from synapse.engine import create_sample_vault

pytestmark = pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there is always a display")


def environment() -> dict[str, str]:
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return {name: value for name, value in os.environ.items() if name not in hidden}


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "synapse", "open", *map(str, arguments)]


def test_once_answers_and_exits(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    create_sample_vault(vault)
    ran = subprocess.run(
        command(vault, "--once"), env=environment(), capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "synapse: there is no display, so there is no window.\n")
    assert "44 notes, " in ran.stdout
    assert "What depends on Payments (modules/payments):" in ran.stdout


def test_the_first_time_it_opens_a_copy_of_the_sample_vault_and_never_overwrites_it(
    user_folder: Path,
) -> None:
    for text in (None, "mine\n"):
        note = user_folder / "documents" / "Synapse" / "Sample vault" / "welcome.md"
        if text is not None:
            note.write_text(text, "utf-8")
        ran = subprocess.run(
            command("--once"), env=environment(), capture_output=True, timeout=60, check=False
        )
        assert ran.returncode == 0
        assert text is None or note.read_text("utf-8") == text


def test_without_once_it_follows_the_vault_until_it_is_told_to_stop(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    create_sample_vault(vault)
    with subprocess.Popen(
        command(vault), env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if line.startswith("Following"):
                break
        stopped = threading.Event()

        def write() -> None:  # more than once: what is written before the watching began is not told
            number = 0
            while not stopped.wait(0.5):
                number += 1
                (vault / "new.md").write_text(f"[[modules/payments]] {number}\n", "utf-8")

        writer = threading.Thread(target=write)
        writer.start()
        told = next((line for line in child.stdout if "new.md" in line), "")
        stopped.set()
        writer.join()
        assert told.startswith("revision ")
        child.send_signal(signal.SIGTERM)
        assert child.wait(60) == 0
