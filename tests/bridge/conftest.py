"""Real bridges as an agent's host starts them, and a stand-in for the owner where only frames count."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from synapse.bridge import dialling, discovery
from synapse.bridge.discovery import Discovery

PATIENCE = 30.0
"""Seconds after which a test gives up on what should come at once."""

CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}


def wait_until(condition: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """Wait for a condition and return what it gave."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"in vain: {what}"
        time.sleep(0.005)
    return found


class Bridge:
    """A bridge as a process of its own. raw: every byte of its standard output so far."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.raw = b""
        self.err = b""
        self._threads = [
            threading.Thread(target=self._follow, args=(process.stdout, "raw"), daemon=True),
            threading.Thread(target=self._follow, args=(process.stderr, "err"), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _follow(self, pipe: Any, name: str) -> None:
        while data := os.read(pipe.fileno(), 65536):
            setattr(self, name, getattr(self, name) + data)

    @property
    def frames(self) -> list[dict[str, Any]]:
        """Every whole frame so far; fails on a byte that is part of none."""
        found = [json.loads(line) for line in self.raw.split(b"\n")[:-1]]
        assert all(isinstance(frame, dict) and frame["jsonrpc"] == "2.0" for frame in found)
        return found

    def send(self, *messages: dict[str, Any] | bytes) -> None:
        """Frames to its standard input; bytes go as they are, with a newline."""
        assert self.process.stdin is not None
        for message in messages:
            content = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.process.stdin.write(content + b"\n")
        self.process.stdin.flush()

    def request(self, id: Any, method: str, **params: Any) -> None:
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})

    def notify(self, method: str, **params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def call(self, id: Any, tool: str, **arguments: Any) -> None:
        self.request(id, "tools/call", name=tool, arguments=arguments)

    def answers(self, id: Any) -> list[dict[str, Any]]:
        return [
            frame
            for frame in self.frames
            if "method" not in frame and frame["id"] == id and type(frame["id"]) is type(id)
        ]

    def answer(self, id: Any, seconds: float = PATIENCE) -> dict[str, Any]:
        """The one answer to a request."""

        def found() -> list[dict[str, Any]]:
            assert self.process.poll() is None or self.answers(id), f"the bridge ended: {self.err!r}"
            return self.answers(id)

        answers: list[dict[str, Any]] = wait_until(found, f"an answer to {id!r}; {self.err!r}", seconds)
        assert len(answers) == 1
        return answers[0]

    def shake_hands(self, **client: Any) -> dict[str, Any]:
        """initialize and initialized; returns the result."""
        self.request("hello", "initialize", **{**CLIENT, **client})
        answer = self.answer("hello")
        self.notify("notifications/initialized")
        result: dict[str, Any] = answer["result"]
        return result

    def notified(self, method: str) -> list[dict[str, Any]]:
        return [frame for frame in self.frames if frame.get("method") == method]

    def hang_up(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def gone(self, seconds: float = PATIENCE) -> int:
        """Wait for its end; returns the exit status. All that it wrote is then in `raw` and `err`."""
        status = self.process.wait(seconds)
        for thread in self._threads:
            thread.join(PATIENCE)
        return status

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.gone()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                assert pipe is not None
                pipe.close()


StartBridge = Callable[..., Bridge]


@pytest.fixture
def until() -> Callable[..., Any]:
    """Waits for a condition: `until(condition, what, seconds)`."""
    return wait_until


@pytest.fixture
def client() -> dict[str, Any]:
    """The params of initialize."""
    return dict(CLIENT)


@pytest.fixture
def envelope() -> dict[str, Any]:
    """What every request of the modern protocol has in _meta."""
    return dict(ENVELOPE)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("SYNAPSE_AGENT_TOKEN", raising=False)
    return folder


@pytest.fixture
def start_bridge() -> Iterator[StartBridge]:
    """Starts bridges; keywords that are capital are environment variables. All end with the test."""
    started: list[Bridge] = []

    def start(*arguments: str | Path, cwd: Path | None = None, **environment: str) -> Bridge:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "synapse", "mcp", *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
            cwd=cwd,
        )
        started.append(Bridge(process))
        return started[-1]

    yield start
    for bridge in started:
        bridge.kill()


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "a.md").write_text("[[b]]\n", encoding="utf-8")
    return folder


class StandIn:
    """What an owner's socket looks like to a bridge: greets, keeps what came, answers by name of tool.

    `echo` gives its arguments back, `wait` gives nothing, `hang up` closes the connection, `give back`
    gives the first call back undone and closes. greeting: what hello is answered with.
    """

    def __init__(self, vault: Path, version: str) -> None:
        self.folder = tempfile.mkdtemp(prefix="stand-in-")
        self.vault = vault
        self.version = version
        self.greeting: dict[str, Any] = {"ok": True, "version": version, "pid": os.getpid(), "warnings": []}
        self.hellos: list[dict[str, Any]] = []
        self.seen: list[dict[str, Any]] = []
        self.connections: list[socket.socket] = []
        self.gave_back = False
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        path = os.path.join(self.folder, "s")
        self._server.bind(path)
        self._server.listen(64)
        self.discovery = Discovery(
            os.path.realpath(vault),
            os.getpid(),
            discovery.process_start(os.getpid()) or "",
            "token",
            version,
            socket=path,
        )
        discovery.write(self.discovery)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._server.accept()
                self.connections.append(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection, connection.makefile("rb") as lines:
            self.hellos.append(json.loads(lines.readline()))
            self.tell(self.greeting, connection)
            if not self.greeting["ok"]:
                return
            for line in lines:
                message = json.loads(line)
                self.seen.append(message)
                if "id" in message and "method" in message:
                    self._answer(message, connection)

    def _answer(self, message: dict[str, Any], connection: socket.socket) -> None:
        params = message.get("params", {})
        tool = params.get("name")
        if tool == "wait":
            return
        if tool == "hang up":
            connection.shutdown(socket.SHUT_RDWR)
            return
        if tool == "give back" and not self.gave_back:
            self.gave_back = True
            error = {"code": dialling.NOT_DONE, "message": "it ends"}
            self.tell({"jsonrpc": "2.0", "id": message["id"], "error": error}, connection)
            connection.shutdown(socket.SHUT_RDWR)
            return
        result = params.get("arguments", {}) if tool == "echo" else {"method": message["method"]}
        self.tell({"jsonrpc": "2.0", "id": message["id"], "result": result}, connection)

    def tell(self, message: dict[str, Any] | bytes, connection: socket.socket | None = None) -> None:
        content = message if isinstance(message, bytes) else json.dumps(message).encode()
        (connection or self.connections[-1]).sendall(content + b"\n")

    def methods(self) -> list[str]:
        return [message["method"] for message in list(self.seen) if "method" in message]

    def calls(self, tool: str) -> list[dict[str, Any]]:
        return [message for message in list(self.seen) if message.get("params", {}).get("name") == tool]

    def stop(self) -> None:
        """Be gone as a process is that was killed: no word, the discovery file left behind."""
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        shutil.rmtree(self.folder, ignore_errors=True)


StartOwner = Callable[..., StandIn]


@pytest.fixture
def own_version() -> str:
    """The version that this bridge's catalogue is of."""
    from synapse.bridge.catalogue import Catalogue

    return Catalogue().version


@pytest.fixture
def stand_in(vault: Path, own_version: str) -> Iterator[StartOwner]:
    """Starts a stand-in for the vault's owner, of the bridge's own version or of another."""
    started: list[StandIn] = []

    def start(version: str = own_version, greeting: dict[str, Any] | None = None) -> StandIn:
        owner = StandIn(vault, version)
        started.append(owner)
        if greeting is not None:
            owner.greeting = greeting
        return owner

    yield start
    for owner in started:
        owner.stop()


@pytest.fixture
def owners_end(tmp_path: Path) -> Iterator[None]:
    """Kills the headless owners of the test's vaults when it is over, also those that only begin."""
    yield
    pids = [pid for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))) if _serves(pid, tmp_path)]
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not any(_serves(pid, tmp_path) for pid in pids), "the owners' end")


def _serves(pid: int, folder: Path) -> bool:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return b"serve" in words and any(word.startswith(os.fsencode(folder)) for word in words)
