"""Owners as real processes on copies of the sample vault, dialled as a bridge and a command dial them."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from synapse.bridge import discovery
from synapse.bridge.dialling import dial
from synapse.bridge.discovery import Discovery
from synapse.engine.shipped import resource_folder

PATIENCE = 60.0
"""Seconds to wait for what must come; a loaded machine is slow, not wrong."""


def until(holds: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
    """Waits for a condition and returns its value; fails by name."""
    end = time.monotonic() + patience
    while not (found := holds()):
        if time.monotonic() > end:
            pytest.fail(f"{what} did not happen in {patience:g} s")
        time.sleep(0.02)
    return found


class Line:
    """A connection of newline-delimited JSON."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.socket.settimeout(PATIENCE)
        self._file = connection.makefile("rb")

    def send(self, message: object) -> None:
        """Sends one line; bytes go out as they are."""
        self.socket.sendall(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")

    def read(self) -> Any:
        """The next line; None where the other side hung up."""
        line = self._file.readline()
        return json.loads(line) if line else None

    def close(self) -> None:
        self._file.close()
        self.socket.close()


class Ops(Line):
    """An `ops` connection, spoken to in raw lines."""

    def __init__(self, owner: Discovery) -> None:
        connection, self.greeting = dial(owner, "ops")
        super().__init__(connection)
        self._ids = itertools.count(1)

    def begin(self, op: str, **arguments: object) -> int:
        """Sends a request; returns its id."""
        id = next(self._ids)
        self.send({"id": id, "op": op, "args": arguments})
        return id

    def answer(self, id: int | str | None) -> Any:
        """The answer to a request, the next line that is no progress and no part; parts are put into it."""
        parts = ""
        while (line := self.read()) is not None:
            assert line["id"] == id, line
            if "part" in line:
                parts += line["part"]
            elif "progress" not in line:
                return {**line, "parts": parts} if parts else line
        pytest.fail("the owner hung up")

    def ask(self, op: str, **arguments: object) -> Any:
        """The result of a request. Fails on an error."""
        answer = self.answer(self.begin(op, **arguments))
        assert "result" in answer, answer
        return answer["result"]

    def error(self, op: str, **arguments: object) -> Any:
        """The error of a request. Fails on a result."""
        answer = self.answer(self.begin(op, **arguments))
        assert "error" in answer, answer
        return answer["error"]


class Owners:
    """Starts `synapse serve`; nothing that was started outlives the test."""

    until = staticmethod(until)
    patience = PATIENCE

    def __init__(self) -> None:
        self._started: list[subprocess.Popen[str]] = []
        self._lines: list[Line] = []

    def start(
        self, vault: Path, *arguments: str, before: tuple[str, ...] = (), **environment: str
    ) -> subprocess.Popen[str]:
        """Starts it and waits for nothing. before: put before the command."""
        process = subprocess.Popen(
            [*before, sys.executable, "-m", "synapse", "serve", str(vault), *arguments],
            env={**os.environ, **environment},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )
        self._started.append(process)
        return process

    def serve(self, vault: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Starts it and waits until it listens."""
        process = self.start(vault, *arguments, **environment)
        until(lambda: self.of(vault, process) or process.poll() is not None, "an owner")
        assert process.poll() is None, process.communicate()
        return process

    def of(self, vault: Path, process: subprocess.Popen[str] | None = None) -> Discovery | None:
        """The living owner that is written down for the vault; with a process, only that one."""
        found = discovery.read(vault)
        if found is None or not discovery.may_live(found):
            return None
        return found if process is None or found.pid == process.pid else None

    def ops(self, vault: Path) -> Ops:
        """A connection to the vault's owner."""
        owner = self.of(vault)
        assert owner is not None
        line = Ops(owner)
        self._lines.append(line)
        return line

    def dial(self, owner: Discovery) -> Line:
        """A connection that has not said hello."""
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(owner.socket))
        line = Line(connection)
        self._lines.append(line)
        return line

    def end(self) -> None:
        for line in self._lines:
            line.close()
        for process in self._started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


@pytest.fixture
def owners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Owners]:
    monkeypatch.setenv("HOME", str(tmp_path))
    made = Owners()
    yield made
    made.end()


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A copy of the sample vault."""
    folder = tmp_path / "vault"
    shutil.copytree(resource_folder() / "sample-vault", folder)
    return folder


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A vault of two notes."""
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "a.md").write_text('---\ndepends_on: "[[b]]"\n---\n', "utf-8")
    (folder / "b.md").write_text("# B\n", "utf-8")
    return folder
