"""A real window that serves a small vault, and agents that attach to it over its socket."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from synapse.bridge import discovery
from synapse.bridge.dialling import dial
from synapse.window.desk import Desk
from synapse.window.main_window import MainWindow
from synapse.window.opening import VaultHost
from synapse.window.settings import WindowSettings
from synapse.window.theme import Theme

PATIENCE = 60.0


class Client:
    """One MCP connection, spoken to in raw frames. `during` lets the window live while one waits."""

    def __init__(self, vault: Path, name: str | None, token: str | None, program: str) -> None:
        owner = discovery.read(vault)
        assert owner is not None
        self._socket, self.greeting = dial(owner, "mcp", agent=name, agent_token=token)
        self._socket.settimeout(PATIENCE)
        self._file = self._socket.makefile("rb")
        self._ids = itertools.count(1)
        hello = {"name": program, "version": "9.1"}
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": hello})
        self._send({"method": "notifications/initialized"})

    def _send(self, message: dict[str, Any]) -> None:
        self._socket.sendall(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def request(self, method: str, params: dict[str, Any]) -> Any:
        id = next(self._ids)
        self._send({"id": id, "method": method, "params": params})
        while line := self._file.readline():
            answer = json.loads(line)
            if answer.get("id") == id:
                return answer.get("result", answer)
        raise ConnectionError("the owner hung up")

    def state(self, *facts: tuple[str, str, str], reason: str = "it was said", source: str = "a talk") -> Any:
        """Call `assert_facts`."""
        stated = [{"subject": s, "predicate": p, "object": o} for s, p, o in facts]
        arguments = {"facts": stated, "reason": reason, "source": source}
        return self.request("tools/call", {"name": "assert_facts", "arguments": arguments})

    def close(self) -> None:
        self._file.close()
        self._socket.close()


class Room:
    """Windows on vaults, and agents attached to them."""

    def __init__(self, theme: Theme, qtbot: QtBot, config: Path) -> None:
        self._theme, self.qtbot, self._config = theme, qtbot, config
        self._windows: list[tuple[MainWindow, VaultHost]] = []
        self._clients: list[Client] = []

    def open(self, vault: Path) -> MainWindow:
        """A window on a vault, once it is indexed."""
        window = self.begin(vault)
        self.until(lambda: is_ready(window))
        return window

    def begin(self, vault: Path) -> MainWindow:
        host = VaultHost()
        window = MainWindow(WindowSettings(self._config), self._theme, host)
        window.resize(1200, 800)
        self._windows.append((window, host))
        window.show()
        window.open_vault(vault)
        return window

    def attach(
        self, vault: Path, name: str | None = "helper", token: str | None = None, program: str = "a host"
    ) -> Client:
        client = self.during(lambda: Client(vault, name, token, program))
        self._clients.append(client)
        return client

    def during(self, call: Callable[[], Any]) -> Any:
        """What a call from another thread gives, while the window goes on."""
        got: list[Any] = []
        failed: list[Exception] = []

        def work() -> None:
            try:
                got.append(call())
            except Exception as error:
                failed.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        self.until(lambda: not thread.is_alive())
        if failed:
            raise failed[0]
        return got[0]

    def until(self, holds: Callable[[], Any], patience: float = PATIENCE) -> None:
        self.qtbot.waitUntil(lambda: bool(holds()), timeout=int(patience * 1000))

    def end(self, window: MainWindow) -> None:
        """Close a window as it is at the program's end; answers no question."""
        host = next(host for one, host in self._windows if one is window)
        window.close_unasked()
        self.until(lambda: not window.isVisible())
        self.shut(window, host)

    def shut(self, window: MainWindow, host: VaultHost) -> None:
        self._windows.remove((window, host))
        assert host.shut_down()
        window.settings.sync()
        window.deleteLater()

    def end_all(self) -> None:
        for client in self._clients:
            client.close()
        for window, _ in list(self._windows):
            self.end(window)
        # Threads of an owner that closed end a moment later.
        end = time.monotonic() + 10
        while time.monotonic() < end and any(
            thread.name.startswith(("synapse-agents", "synapse-serve")) for thread in threading.enumerate()
        ):
            time.sleep(0.02)


def is_ready(window: MainWindow) -> bool:
    desk = window.desk
    return desk is not None and not desk.index.is_running and desk.notes.is_known and not desk.session.busy


def desk_of(window: MainWindow) -> Desk:
    assert window.desk is not None
    return window.desk


@pytest.fixture
def room(theme: Theme, qtbot: QtBot, tmp_path: Path) -> Iterator[Room]:
    room = Room(theme, qtbot, tmp_path / "config")
    yield room
    room.end_all()


@pytest.fixture
def vault(vault: Path) -> Path:
    """The small vault, which was asked about backlinks before."""
    (vault / ".synapse/settings.json").write_text('{"scenarios": [], "backlinks": "off"}\n')
    return vault
