"""Engine, agents and command line load no Qt, seen from a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "desktop" / "synapse"
WITHOUT_QT = [part for part in ("engine", "agents", "bridge", "cli") if any((PACKAGE / part).rglob("*.py"))]

IMPORT_ALL = """
import importlib, pkgutil, sys
part = importlib.import_module(sys.argv[1])
count = 1
for found in pkgutil.walk_packages(part.__path__, sys.argv[1] + "."):
    importlib.import_module(found.name)
    count += 1
print(count, *sorted(sys.modules))
"""


def loaded_by(code: str, *arguments: str) -> list[str]:
    child = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    assert child.returncode == 0, child.stderr
    return child.stdout.split()


def qt_modules(modules: list[str]) -> list[str]:
    return [name for name in modules if name.split(".")[0] in ("PySide6", "shiboken6", "pyqtgraph")]


@pytest.mark.parametrize("part", WITHOUT_QT)
def test_importing_all_of_it_loads_no_qt(part: str) -> None:
    count, *modules = loaded_by(IMPORT_ALL, f"synapse.{part}")
    files = list((PACKAGE / part).rglob("*.py"))
    assert int(count) == len(files), "a folder without __init__.py was not looked at"
    assert not qt_modules(modules)


RUN = """
import sys
from synapse.cli import main
status = main(sys.argv[1:])
print("--modules--", status, *sorted(sys.modules))
"""


@pytest.mark.parametrize("arguments", [["query", "ASK {}"], ["index"], ["check"]])
def test_a_command_runs_without_qt_or_servers(arguments: list[str], tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "a.md").write_text("[[b]]\n", encoding="utf-8")
    loaded_by(RUN, "index", str(vault))
    printed = loaded_by(RUN, arguments[0], str(vault), *arguments[1:])
    status, *modules = printed[printed.index("--modules--") + 1 :]
    assert status == "0"
    assert not qt_modules(modules)
    assert not {"mcp", "starlette", "uvicorn", "synapse.window", "synapse.agents"} & set(modules)


def test_opening_without_a_display_loads_no_qt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "a.md").write_text("[[b]]\n", encoding="utf-8")
    printed = loaded_by(RUN, "open", str(tmp_path), "--once")
    assert not qt_modules(printed)
    assert "synapse.engine" in printed


def test_the_window_does_load_qt_and_would_be_noticed() -> None:
    assert qt_modules(loaded_by("import PySide6.QtCore, sys; print(*sys.modules)"))
