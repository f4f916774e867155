"""Whole programs together: bridges, headless owners, windows and the command line as real processes."""

from __future__ import annotations

import json
import os
import queue
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from synapse.agents.registry import Registry
from synapse.bridge import discovery
from synapse.bridge.discovery import Discovery
from synapse.engine import create_sample_vault

PATIENCE = 60.0
"""Seconds to wait for what must come; a loaded machine is slow, not wrong."""

MARK = "SYNAPSE_TEST_MARK"

INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "harness", "version": "1"},
}


def until(holds: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
    """Waits for a condition and returns its value; fails by name."""
    end = time.monotonic() + patience
    while not (found := holds()):
        if time.monotonic() > end:
            pytest.fail(f"{what} did not happen in {patience:g} s")
        time.sleep(0.02)
    return found


class Bridge:
    """`synapse mcp` as a host starts it, spoken to in raw frames."""

    def __init__(self, world: World, vault: Path, agent: str) -> None:
        self.process = world.start("mcp", "--vault", str(vault), "--agent", agent, pipes=True)
        self._answers: dict[object, Future[dict[str, Any]]] = {}
        self.notifications: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self.strange: list[bytes] = []
        """Lines on stdout that are no JSON-RPC frames, or answers that nobody asked for."""
        self._next = 0
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                frame = json.loads(line)
            except ValueError:
                self.strange.append(line)
                continue
            if "method" in frame:
                self.notifications.put(frame)
                continue
            waiting = self._answers.pop(frame.get("id"), None)
            if waiting is None or frame.get("jsonrpc") != "2.0":
                self.strange.append(line)
            else:
                waiting.set_result(frame)
        for waiting in list(self._answers.values()):
            waiting.set_exception(EOFError("the bridge's stdout ended"))

    def send(self, method: str, params: dict[str, Any] | None = None) -> Future[dict[str, Any]]:
        """Sends a request; the future holds the whole frame of its answer."""
        answer: Future[dict[str, Any]] = Future()
        with self._lock:
            self._next += 1
            number = self._next
            self._answers[number] = answer
            self._write({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}})
        return answer

    def ask(self, method: str, params: dict[str, Any] | None = None, patience: float = PATIENCE) -> Any:
        """Sends a request and waits for its result. Fails on an error."""
        frame = self.send(method, params).result(patience)
        assert "result" in frame, frame
        return frame["result"]

    def call(self, tool: str, **arguments: Any) -> Future[dict[str, Any]]:
        return self.send("tools/call", {"name": tool, "arguments": arguments})

    def tell(self, method: str, params: dict[str, Any] | None = None) -> None:
        with self._lock:
            self._write({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})})

    def _write(self, frame: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(frame).encode() + b"\n")
        self.process.stdin.flush()

    def initialize(self) -> dict[str, Any]:
        result: dict[str, Any] = self.ask("initialize", INITIALIZE)
        self.tell("notifications/initialized")
        return result

    def end(self) -> int:
        """Closes stdin as a host does; returns the exit status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(PATIENCE)


class World:
    """A user of their own: folders, environment, and every process that was started there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mark = secrets.token_hex(8)
        self.environment = {
            name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL", "DISPLAY")
        } | {
            "HOME": str(folder / "home"),
            "XDG_DATA_HOME": str(folder / "data"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_RUNTIME_DIR": os.environ["XDG_RUNTIME_DIR"],
            "QT_QPA_PLATFORM": "offscreen",
            MARK: self.mark,
        }
        (folder / "home").mkdir()
        self._started: list[subprocess.Popen[bytes]] = []

    def start(self, *arguments: str, pipes: bool = False) -> subprocess.Popen[bytes]:
        """Starts `synapse` with these arguments."""
        with (self.folder / "stderr.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "synapse", *arguments],
                env=self.environment,
                cwd="/",
                stdin=subprocess.PIPE if pipes else subprocess.DEVNULL,
                stdout=subprocess.PIPE if pipes else subprocess.DEVNULL,
                stderr=log,
            )
        self._started.append(process)
        return process

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs `synapse` with these arguments to its end."""
        return subprocess.run(
            [sys.executable, "-m", "synapse", *arguments],
            env=self.environment,
            cwd="/",
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            check=False,
        )

    def allow(self, *agents: str) -> None:
        """As a person does who lets these agents write."""
        registry = Registry(self.folder / "config" / "synapse" / "agents.json")
        for agent in agents:
            registry.identify(agent, None)
            registry.allow(agent)

    def owner(self, vault: Path) -> Discovery | None:
        """The living owner that is written down for a vault."""
        found = discovery.read(vault)
        return found if found is not None and discovery.may_live(found) else None

    def wait_for_owner(self, vault: Path, role: str | None = None) -> Discovery:
        def there() -> Discovery | None:
            found = self.owner(vault)
            return found if found is not None and role in (None, found.role) else None

        found: Discovery = until(there, f"an owner ({role or 'any'})")
        return found

    def processes(self) -> dict[int, str]:
        """Every living process that was started in this world, by pid, with its command line."""
        found = {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                if f"{MARK}={self.mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                    words = (entry / "cmdline").read_bytes().split(b"\0")
                    found[int(entry.name)] = b" ".join(words).decode("utf-8", "replace")
            except OSError:
                continue  # it has gone
        return found

    def said(self) -> str:
        """What all of them wrote to standard error."""
        file = self.folder / "stderr.log"
        return file.read_text("utf-8", "replace") if file.exists() else ""

    def end(self) -> None:
        """Nothing that was started here outlives the test."""
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        for process in self._started:
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(BrokenPipeError):
                        pipe.close()


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    if not sys.platform.startswith("linux"):
        pytest.skip("counts processes in /proc")
    made = World(tmp_path)
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, made.environment[name])
    yield made
    made.end()


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "Sample vault"
    create_sample_vault(folder)
    return folder


@pytest.fixture
def bridge(world: World, vault: Path) -> Callable[..., Bridge]:
    """Starts bridges to the vault."""

    def start(agent: str = "claude", to: Path | None = None) -> Bridge:
        return Bridge(world, to or vault, agent)

    return start
