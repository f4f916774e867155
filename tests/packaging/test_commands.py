"""`packaging/run` in a copy of the project that was never set up. Needs a connection; minutes long."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell"),
]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    folder = tmp_path / "a copy"
    folder.mkdir()
    for name in ("desktop", "resources", "scenarios", "packaging"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    return folder


@pytest.fixture
def environment() -> dict[str, str]:
    """The tests' environment without a display."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "VIRTUAL_ENV")
    }


def run_once(copy: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(copy / "packaging/run"), "--once"],
        env=environment, cwd=copy.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_new_copy_answers_and_is_not_set_up_twice(
    copy: Path, environment: dict[str, str], user_folder: Path
) -> None:
    first = run_once(copy, environment)
    assert first.returncode == 0, first.stderr
    assert "making a private environment" in first.stderr
    assert "inferred facts" in first.stdout
    assert "modules/storefront → modules/checkout → modules/payments" in first.stdout
    vault = next((user_folder / "documents").rglob("*.md")).parent
    note = next(vault.glob("*.md"))
    note.write_text(note.read_text(encoding="utf-8") + "\nMine.\n", encoding="utf-8")
    mine = note.read_bytes()

    second = run_once(copy, environment)
    assert second.returncode == 0, second.stderr
    assert "environment" not in second.stderr
    assert "modules/storefront → modules/checkout → modules/payments" in second.stdout
    assert note.read_bytes() == mine


def test_a_set_up_that_was_killed_is_done_again(copy: Path, environment: dict[str, str]) -> None:
    with subprocess.Popen(
        [str(copy / "packaging/run"), "--once"],
        env=environment, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as running:  # fmt: skip
        while not list((copy / ".venv").glob("lib/python*/site-packages/numpy/core*")):
            assert running.poll() is None
            time.sleep(0.02)
        os.killpg(running.pid, signal.SIGKILL)
    assert (copy / ".venv/unfinished").exists()
    done = run_once(copy, environment)
    assert done.returncode == 0, done.stderr
    assert "making a private environment" in done.stderr
    assert "modules/payments" in done.stdout
