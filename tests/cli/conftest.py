"""Commands as people type them, on copies of the sample vault."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from synapse.cli import main
from synapse.engine.shipped import resource_folder

QUIET = 3600
"""Seconds by which files are made older, so that backlinks may be written at once."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on standard output; fails where there is more or less than one."""
        return json.loads(self.out)


Command = Callable[..., Answer]


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A copy of the sample vault that has been quiet for an hour."""
    return copied(tmp_path / "vault")


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(tmp_path_factory.mktemp("sample") / "vault")


@pytest.fixture
def sample(sample_folder: Path, user_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sample vault that several tests look at and none changes; indexed once."""
    monkeypatch.setenv("XDG_DATA_HOME", str(sample_folder.parent / "data"))
    return sample_folder


def copied(folder: Path) -> Path:
    shutil.copytree(resource_folder() / "sample-vault", folder)
    moment = time.time() - QUIET
    for file in folder.rglob("*"):
        if file.is_file():
            os.utime(file, (moment, moment))
    return folder


@pytest.fixture(scope="session")
def copy_sample() -> Callable[[Path], Path]:
    """Copies the sample vault to a folder that is not there, as one that has been quiet for an hour."""
    return copied


Owner = subprocess.Popen[str]


@pytest.fixture(scope="module")
def start_owner() -> Iterator[Callable[[Path], Owner]]:
    """Starts `synapse serve` on a vault, which listens when this returns. It does not outlive the module."""
    started: list[Owner] = []

    def start(vault: Path) -> Owner:
        command = [sys.executable, "-m", "synapse", "serve", str(vault), "--json"]
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )
        started.append(process)
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said and json.loads(said)["pid"] == process.pid, "the owner did not start"
        return process

    yield start
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.fixture
def synapse(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs a command in this process, at a terminal 80 wide that is none."""
    monkeypatch.setenv("COLUMNS", "80")

    def call(*arguments: str | Path) -> Answer:
        capfd.readouterr()
        status = main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return Answer(status, out, err)

    return call


@pytest.fixture
def process() -> Command:
    """Runs a command as a process of its own; keywords are environment variables."""

    def call(*arguments: str | Path, **environment: str) -> Answer:
        done = subprocess.run(
            [sys.executable, "-m", "synapse", *map(str, arguments)],
            capture_output=True,
            encoding="utf-8",
            env={**os.environ, "COLUMNS": "80", **environment},
            timeout=60,
            check=False,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    return call
