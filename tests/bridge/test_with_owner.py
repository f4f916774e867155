"""Bridges with real owners: found, started, lost and found again, each vault's own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from synapse.bridge import dialling, discovery
from synapse.bridge.catalogue import HANDSHAKE_VERSIONS, MODERN_VERSIONS
from synapse.bridge.discovery import Discovery
from synapse.bridge.relay import NO_OWNER

# What tests/bridge/conftest.py gives.
Bridge = StartBridge = Any

pytestmark = [
    pytest.mark.usefixtures("owners_end"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for owners in /proc"),
]


def digest(bridge: Bridge, id: int) -> str:
    """A call that works on any vault; returns what it says."""
    bridge.call(id, "digest")
    answer = bridge.answer(id)
    assert "result" in answer, answer
    text: str = answer["result"]["content"][0]["text"]
    return text


def owner_of(vault: Path) -> Discovery:
    found = discovery.read(vault)
    assert found is not None and discovery.may_live(found)
    return found


class Direct:
    """A connection to the owner without a bridge."""

    def __init__(self, vault: Path) -> None:
        self.connection, _ = dialling.dial(owner_of(vault), "mcp", agent="direct", timeout=30)
        self.lines = self.connection.makefile("rb")

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.connection.sendall(json.dumps(message).encode() + b"\n")
        while (answer := json.loads(self.lines.readline())).get("id") != 1:
            pass
        found: dict[str, Any] = answer
        return found

    def close(self) -> None:
        self.lines.close()
        self.connection.close()


@pytest.fixture
def bridge(start_bridge: StartBridge, vault: Path) -> Bridge:
    """A bridge whose first call started an owner."""
    bridge = start_bridge("--vault", vault, "--agent", "tester")
    bridge.shake_hands()
    assert "1 note" in digest(bridge, 1)
    return bridge


def test_the_bridge_says_what_the_owner_would_say(
    bridge: Bridge, start_bridge: StartBridge, vault: Path, client: dict[str, Any], envelope: dict[str, Any]
) -> None:
    lists = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"]
    for version in (*HANDSHAKE_VERSIONS, *MODERN_VERSIONS):
        modern = version in MODERN_VERSIONS
        params: dict[str, Any] = {"_meta": envelope} if modern else {}
        opening = (
            ("server/discover", params) if modern else ("initialize", {**client, "protocolVersion": version})
        )
        other = start_bridge("--vault", vault)
        direct = Direct(vault)
        try:
            for number, (method, given) in enumerate([opening, *((name, params) for name in lists)]):
                other.request(number, method, **given)
                ours, theirs = other.answer(number), direct.ask(method, given)
                assert ours["result"] == theirs["result"], (version, method)
        finally:
            direct.close()


def test_two_bridges_share_the_owner_that_one_of_them_started(
    bridge: Bridge, start_bridge: StartBridge, vault: Path
) -> None:
    owner = owner_of(vault)
    assert owner.pid != bridge.process.pid
    other = start_bridge("--vault", vault)
    other.shake_hands()
    assert "1 note" in digest(other, 1)
    bridge.hang_up()
    bridge.gone()
    assert "1 note" in digest(other, 2)
    assert owner_of(vault) == owner, "an owner outlives the bridge that started it"


def test_many_calls_at_once_are_each_answered_once_with_their_own(bridge: Bridge) -> None:
    for id in range(100, 160):
        bridge.call(id, "search", text=f"nothing-{id}")
    for id in range(100, 160):
        assert f"nothing-{id}" in json.dumps(bridge.answer(id))


def test_the_next_call_after_the_owner_was_killed_works(bridge: Bridge, vault: Path, until: Any) -> None:
    before = owner_of(vault)
    os.kill(before.pid, signal.SIGKILL)
    until(lambda: not discovery.may_live(before), "the owner's end")
    assert "1 note" in digest(bridge, 2)
    assert owner_of(vault).pid != before.pid
    assert bridge.notified("notifications/tools/list_changed") == []


def test_an_owner_that_shuts_down_in_order_is_followed_by_the_next(
    bridge: Bridge, vault: Path, until: Any
) -> None:
    before = owner_of(vault)
    os.kill(before.pid, signal.SIGTERM)
    until(lambda: not discovery.may_live(before), "the owner's end")
    assert "1 note" in digest(bridge, 2)


def test_who_is_attached_hears_what_it_subscribed_to_from_the_next_owner(
    bridge: Bridge, vault: Path, until: Any
) -> None:
    bridge.request(2, "resources/subscribe", uri="synapse://digest")
    assert bridge.answer(2)["result"] == {}
    before = owner_of(vault)
    os.kill(before.pid, signal.SIGKILL)
    until(lambda: not discovery.may_live(before), "the owner's end")
    digest(bridge, 3)
    (vault / "new.md").write_text("# New\n", encoding="utf-8")
    until(lambda: bridge.notified("notifications/resources/updated"), "word of the new note", 60)


@pytest.fixture
def innocent() -> Iterator[subprocess.Popen[bytes]]:
    """Another program, which must be left alone."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


@pytest.mark.parametrize("case", ["dead", "reused", "deaf", "half", "empty", "newer", "folder"])
def test_a_stale_discovery_file_is_recovered_from(
    start_bridge: StartBridge, vault: Path, innocent: subprocess.Popen[bytes], case: str, tmp_path: Path
) -> None:
    path = Path(discovery.discovery_path(vault))
    started = discovery.process_start(innocent.pid) or ""
    stale = Discovery(os.path.realpath(vault), innocent.pid, started, "t", "0", socket=str(tmp_path / "gone"))
    match case:
        case "dead":
            ended = subprocess.Popen([sys.executable, "-c", ""])
            ended.wait()
            discovery.write(stale._replace(pid=ended.pid))
        case "reused":
            discovery.write(stale._replace(started="1"))
        case "deaf":
            discovery.write(stale)
        case "half":
            discovery.write(stale)
            path.write_bytes(path.read_bytes()[:40])
        case "empty":
            path.parent.mkdir(parents=True)
            path.write_bytes(b"")
        case "newer":
            path.parent.mkdir(parents=True)
            path.write_text(
                json.dumps({"schema": 99, "pid": "text", "sockets": ["a", "b"]}), encoding="utf-8"
            )
        case "folder":
            (path / "x").mkdir(parents=True)
    bridge = start_bridge("--vault", vault)
    bridge.shake_hands()
    if case == "folder":
        bridge.call(1, "digest")
        assert bridge.answer(1)["error"]["code"] == NO_OWNER
    else:
        assert "1 note" in digest(bridge, 1)
        assert owner_of(vault).pid != innocent.pid
    assert innocent.poll() is None


def test_an_owner_of_a_newer_version_is_used_as_far_as_it_is_known(
    bridge: Bridge, vault: Path, until: Any, start_bridge: StartBridge
) -> None:
    path = Path(discovery.discovery_path(vault))
    written = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**written, "schema": 99, "version": "99", "colour": "red"}), encoding="utf-8")
    other = start_bridge("--vault", vault)
    other.shake_hands()
    assert "1 note" in digest(other, 1)
    assert owner_of(vault).pid == written["pid"]


def test_each_bridge_reaches_its_own_vault_and_an_unnamed_one_is_asked_for(
    start_bridge: StartBridge, vault: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for name in ("x", "y"):
        (other / f"{name}.md").write_text("text\n", encoding="utf-8")
    first, second = start_bridge("--vault", vault), start_bridge("--vault", other)
    for bridge in (first, second):
        bridge.shake_hands()
    assert "1 note," in digest(first, 1)
    # As long as one vault is known, it is the one that is meant.
    unnamed = start_bridge()
    unnamed.shake_hands()
    assert "1 note," in digest(unnamed, 1)
    assert "2 notes," in digest(second, 1)
    asking = start_bridge()
    asking.shake_hands()
    asking.call(1, "digest")
    error = asking.answer(1)["error"]
    assert error["code"] == NO_OWNER
    assert str(vault) in error["message"] and str(other) in error["message"]
    assert "1 note," in digest(unnamed, 2), "what was found once is kept"


def test_recent_vaults_are_known_and_those_that_are_gone_are_not(
    start_bridge: StartBridge, vault: Path, tmp_path: Path, user_folder: Path
) -> None:
    bridge = start_bridge()
    bridge.shake_hands()
    bridge.call(1, "digest")
    assert "No vault is known" in bridge.answer(1)["error"]["message"]
    recent = user_folder / "config" / "synapse" / "vaults.json"
    recent.parent.mkdir(parents=True)
    recent.write_text(json.dumps([str(tmp_path / "gone"), str(vault), 5]), encoding="utf-8")
    assert "1 note" in digest(bridge, 2)


def test_why_no_owner_starts_is_said(start_bridge: StartBridge, vault: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    bridge = start_bridge("--vault", vault, XDG_DATA_HOME=str(tmp_path / "file"))
    bridge.shake_hands()
    bridge.call(1, "digest")
    error = bridge.answer(1)["error"]
    assert error["code"] == NO_OWNER
    assert "could not be started" in error["message"] and "synapse serve" in error["message"]


def test_a_socket_that_another_program_answers_is_no_owner(
    start_bridge: StartBridge, vault: Path, tmp_path: Path
) -> None:
    """Something that talks, but not as an owner does: it is asked nothing further."""
    with tempfile.TemporaryDirectory(prefix="other-") as folder, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/s")
        server.listen(8)
        heard: list[bytes] = []

        def talk() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    heard.append(connection.recv(65536))
                    connection.sendall(b"220 hello\r\n")

        threading.Thread(target=talk, daemon=True).start()
        started = discovery.process_start(os.getpid()) or ""
        discovery.write(
            Discovery(os.path.realpath(vault), os.getpid(), started, "t", "1", socket=f"{folder}/s")
        )
        bridge = start_bridge("--vault", vault)
        bridge.shake_hands()
        bridge.call(1, "digest")
        bridge.hang_up()
        bridge.gone()
        server.shutdown(socket.SHUT_RDWR)
        assert heard and all(b"digest" not in line for line in heard)
