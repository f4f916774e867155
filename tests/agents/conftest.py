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
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from synapse.agents.owner import Owner
from synapse.agents.registry import Registry
from synapse.bridge import discovery
from synapse.bridge.dialling import connect, dial
from synapse.bridge.discovery import Discovery
from synapse.engine import Engine, open_vault
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

    def answers(self, count: int) -> list[Any]:
        """The next answers, whatever their requests, without what is told of progress."""
        found: list[Any] = []
        while len(found) < count:
            line = self.read()
            assert line is not None, found
            if "progress" not in line:
                found.append(line)
        return found

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


@contextmanager
def busy_writer(engine: Engine) -> Iterator[threading.Event]:
    """The engine's writer is busy within this block, or until the event that it gives is set."""
    free, busy = threading.Event(), threading.Event()

    def hold() -> None:
        busy.set()
        assert free.wait(PATIENCE)

    with ThreadPoolExecutor(1) as pool:
        work = pool.submit(engine._write, hold)
        assert busy.wait(PATIENCE)
        try:
            yield free
        finally:
            free.set()
            work.result()


class Owners:
    """Starts `synapse serve`; nothing that was started outlives the test."""

    until = staticmethod(until)
    busy_writer = staticmethod(busy_writer)
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

    def ops(self, vault: Path | Discovery) -> Ops:
        """A connection to the vault's owner."""
        owner = vault if isinstance(vault, Discovery) else self.of(vault)
        assert owner is not None
        line = Ops(owner)
        self._lines.append(line)
        return line

    def dial(self, owner: Discovery) -> Line:
        """A connection that has not said hello."""
        line = Line(connect(owner, PATIENCE))
        self._lines.append(line)
        return line

    def greet(self, owner: Discovery, **hello: object) -> Line:
        """A connection that said this hello, with the token and `mcp` where nothing else is given."""
        line = self.dial(owner)
        line.send({"token": owner.token, "protocol": "mcp", "pid": os.getpid(), **hello})
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
def registry(tmp_path: Path) -> Registry:
    """The agents of the owner `here`."""
    return Registry(tmp_path / "agents.json")


@pytest.fixture
def engine(small: Path) -> Iterator[Engine]:
    """The vault of two notes, open in this process and indexed."""
    with open_vault(small) as opened:
        opened.index()
        yield opened


@pytest.fixture
def here(engine: Engine, registry: Registry) -> Iterator[Owner]:
    """An owner in this process, where a test can look inside."""
    owner = Owner(engine, "headless", registry)
    yield owner
    owner.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owner]:
    """An owner in this process for tests that change nothing; its vault has the two notes of `small`."""
    folder = tmp_path_factory.mktemp("shared")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
            patch.setenv(name, str(folder / name))
        with open_vault(two_notes(folder / "small")) as engine:
            engine.index()
            owner = Owner(engine, "headless", Registry(folder / "agents.json"))
            yield owner
            owner.close()


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A copy of the sample vault."""
    folder = tmp_path / "vault"
    shutil.copytree(resource_folder() / "sample-vault", folder)
    return folder


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A vault of two notes."""
    return two_notes(tmp_path / "small")


def two_notes(folder: Path) -> Path:
    folder.mkdir()
    (folder / "a.md").write_text('---\ndepends_on: "[[b]]"\n---\n', "utf-8")
    (folder / "b.md").write_text("# B\n", "utf-8")
    return folder
