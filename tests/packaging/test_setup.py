"""The set-up of the two commands: what it finds lacking, what it does about it, when it is done again."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")


@pytest.fixture
def environment() -> ModuleType:
    """packaging/environment.py as a module."""
    spec = importlib.util.spec_from_file_location("environment", ROOT / "packaging/environment.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of its own with the real scripts and lock files, and no environment yet."""
    folder = tmp_path / "a project"
    shutil.copytree(ROOT / "packaging", folder / "packaging")
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def command(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def in_shell(project: Path, script: str, path: Sequence[Path] = ()) -> subprocess.CompletedProcess[str]:
    """Runs the script with setup.sh sourced, as `packaging/run` does."""
    return subprocess.run(
        ["/bin/sh", "-euc", f'. "$(dirname "$0")/setup.sh"\n{script}', str(project / "packaging/run")],
        env={**os.environ, "PATH": os.pathsep.join([*map(str, path), os.environ["PATH"]])},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def install_missing(
    project: Path, *, user: int, sudo: str, apt: str = "exit 0"
) -> tuple[subprocess.CompletedProcess[str], str]:
    """What the set-up says, and the calls of apt-get, on a machine that lacks libegl1 and python3-venv."""
    tools, calls = project / "tools", project / "calls"
    calls.touch()
    command(tools / "python", 'printf "libegl1 libEGL.so.1\\npython3-venv venv\\n"')
    command(tools / "id", f"echo {user}")
    command(tools / "sudo", sudo)
    command(tools / "apt-get", f'echo "$DEBIAN_FRONTEND|$*" >>"{calls}"; {apt}')
    done = in_shell(project, f'base_python="{tools}/python"; install_missing run', [tools])
    return done, calls.read_text(encoding="utf-8")


def test_root_installs_what_is_missing_without_questions_and_shows_it(project: Path) -> None:
    done, calls = install_missing(project, user=0, sudo="exit 1")
    assert done.returncode == 0
    assert not done.stdout
    assert calls.splitlines()[-1].startswith("noninteractive|")
    assert calls.splitlines()[-1].endswith("install --no-install-recommends libegl1 python3-venv")
    assert "apt-get -q -y" in done.stderr


def test_a_user_with_passwordless_sudo_installs_through_it(project: Path) -> None:
    done, calls = install_missing(project, user=1000, sudo='test "$1" = -n && shift && exec "$@"')
    assert done.returncode == 0
    assert "libegl1 python3-venv" in calls
    assert "+ sudo -n apt-get" in done.stderr


def test_a_user_without_rights_is_told_the_command_and_goes_on(project: Path) -> None:
    done, calls = install_missing(project, user=1000, sudo="exit 1")
    assert done.returncode == 0
    assert not calls
    assert "sudo apt-get install --no-install-recommends libegl1 python3-venv" in done.stderr


def test_a_failing_apt_is_shown_and_does_not_stop_the_set_up(project: Path) -> None:
    done, _ = install_missing(project, user=0, sudo="exit 1", apt="echo no space left; exit 100")
    assert done.returncode == 0
    assert "no space left" in done.stderr
    assert "going on without" in done.stderr


def test_too_old_a_python_is_refused_with_what_to_install(project: Path) -> None:
    tools = project / "tools"
    for name in ("python3", "python3.11", "python3.12", "python3.13", "python3.14"):
        command(tools / name, 'test "$1" = --version && echo "Python 3.9.2" && exit 0; exit 1')
    done = in_shell(project, "set_up run", [tools])
    assert done.returncode == 1
    assert "found Python 3.9.2" in done.stderr
    assert "apt-get install python3" in done.stderr


def test_a_finished_environment_is_current_until_lock_or_place_change(project: Path) -> None:
    (project / ".venv/bin").mkdir(parents=True)
    (project / ".venv/bin/python").symlink_to(sys.executable)
    stamp = '"$python" "$root/packaging/environment.py" fingerprint run >"$venv/run.stamp"'
    assert in_shell(project, f"{stamp}; current run").returncode == 0

    unfinished = project / ".venv/unfinished"
    unfinished.touch()
    assert in_shell(project, "current run").returncode != 0
    unfinished.unlink()

    lock = project / "packaging/requirements.txt"
    before = lock.read_bytes()
    lock.write_bytes(before + b"# changed\n")
    assert in_shell(project, "current run").returncode != 0
    lock.write_bytes(before)
    assert in_shell(project, "current run").returncode == 0

    moved = project.rename(project.with_name("moved"))
    assert in_shell(moved, "current run").returncode != 0


def test_what_testing_needs_changes_only_the_stamp_of_testing(
    project: Path, environment: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "ROOT", project)
    before = {level: environment.fingerprint(level) for level in ("run", "test")}
    lock = project / "packaging/requirements-test.txt"
    lock.write_bytes(lock.read_bytes() + b"# changed\n")
    assert environment.fingerprint("run") == before["run"]
    assert environment.fingerprint("test") != before["test"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names Debian's packages")
def test_a_library_that_cannot_be_loaded_names_its_package(
    environment: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "LIBRARIES", {"libc.so.6": "libc6", "libabsent-here.so.1": "libabsent1"})
    monkeypatch.setattr(environment, "TEST_COMMANDS", {"sh": "dash", "absent-here": "absent"})
    found = dict(environment.missing("test"))
    assert found["libabsent1"] == "libabsent-here.so.1"
    assert found["absent"] == "absent-here"
    assert not {"libc6", "dash"} & set(found)
