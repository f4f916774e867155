"""Calling an owner: which lines belong to a call, how it ends, and what a real owner answers."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from synapse.bridge import discovery
from synapse.bridge.calling import CallFailed, OpsConnection, OwnerGone, TooLong
from synapse.bridge.dialling import MOST, Refused
from synapse.bridge.discovery import Discovery

Peer = Callable[..., Discovery]


@pytest.fixture
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    """A socket that says a greeting and then, for each line that it hears, the lines of one answer."""
    started: list[tuple[socket.socket, threading.Thread]] = []

    def start(*answers: list[dict[str, Any] | bytes], greeting: dict[str, Any] | None = None) -> Discovery:
        listening = socket.create_server(("127.0.0.1", 0))

        def serve() -> None:
            connection, _ = listening.accept()
            with connection, connection.makefile("rb") as lines:
                lines.readline()
                said = (
                    greeting
                    if greeting is not None
                    else {"ok": True, "version": "7", "pid": 4, "role": "window"}
                )
                connection.sendall(json.dumps(said).encode() + b"\n")
                for answer in answers:
                    if not lines.readline():
                        return
                    for line in answer:
                        connection.sendall(
                            line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n"
                        )

        thread = threading.Thread(target=serve)
        thread.start()
        started.append((listening, thread))
        return Discovery("/vault", 1, "", "token", "0", port=listening.getsockname()[1])

    yield start
    for listening, thread in started:
        thread.join(10)
        assert not thread.is_alive()
        listening.close()


def test_an_answer_is_the_call_s_own_with_progress_and_parts_before_it(peer: Peer) -> None:
    owner = peer(
        [
            {"id": 1, "progress": {"done": 1, "total": 3}},
            {"id": 9, "result": "another's"},
            {"id": 1, "part": "é"},
            {"id": 1, "progress": {"done": 3, "total": 3}},
            {"id": 1, "part": "b\n"},
            {"id": 1, "result": {"bytes": 4}},
        ],
        [{"id": 1, "progress": {"done": 1, "total": 1}}, {"id": 2, "result": None}],
    )
    steps: list[tuple[int, int]] = []
    parts: list[str] = []
    with OpsConnection(owner) as connection:
        assert (connection.version, connection.pid, connection.role) == ("7", 4, "window")
        found = connection.call("export", {}, lambda *step: steps.append(step), parts.append)
        assert (found, steps, parts) == ({"bytes": 4}, [(1, 3), (3, 3)], ["é", "b\n"])
        assert connection.call("status", {}) is None


def test_an_error_is_raised_whole_and_the_connection_goes_on(peer: Peer) -> None:
    error = {"kind": "k", "message": "m", "hint": "h", "line": 3}
    with OpsConnection(peer([{"id": 1, "error": error}], [{"id": 2, "result": 5}])) as connection:
        with pytest.raises(CallFailed) as caught:
            connection.call("status", {})
        assert (caught.value.error, str(caught.value)) == (error, "m")
        assert connection.call("status", {}) == 5


@pytest.mark.parametrize(
    "end", [[], [{"id": 1, "part": "a"}], [b'{"id": 1, "res'], [b"no JSON\n"], [b"[1]\n"], [b"\xff\n"]]
)
def test_a_connection_that_ends_before_the_answer_is_said_so(peer: Peer, end: list[Any]) -> None:
    with OpsConnection(peer(end)) as connection, pytest.raises(OwnerGone):
        connection.call("status", {}, part=lambda _: None)


def test_a_call_after_the_end_is_said_so(peer: Peer) -> None:
    with OpsConnection(peer([{"id": 1, "result": 1}])) as connection:
        assert connection.call("status", {}) == 1
        with pytest.raises(OwnerGone):
            connection.call("status", {})
        connection.close()
        with pytest.raises(OwnerGone):
            connection.call("status", {})


def test_what_is_too_long_is_not_sent(peer: Peer) -> None:
    with OpsConnection(peer([{"id": 2, "result": 1}])) as connection:
        with pytest.raises(TooLong, match="8 MiB"):
            connection.call("search", {"text": "x" * MOST})
        assert connection.call("search", {"text": "x"}) == 1


def test_an_owner_may_say_no(peer: Peer) -> None:
    no = {"ok": False, "error": {"kind": "refused", "message": "Not you.", "hint": ""}}
    with pytest.raises(Refused, match=r"Not you\."):
        OpsConnection(peer(greeting=no))


def test_nobody_there_is_an_os_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with pytest.raises(OSError):
        OpsConnection(Discovery("/vault", 1, "", "token", "0", port=port))


# -- a real owner --------------------------------------------------------------------------------


@pytest.fixture
def owner(vault: Path) -> Iterator[subprocess.Popen[bytes]]:
    """`synapse serve` on the vault, listening."""
    command = [sys.executable, "-m", "synapse", "serve", str(vault), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            assert process.stdout is not None and process.stdout.readline(), "it did not start"
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def called(vault: Path) -> OpsConnection:
    found = discovery.read(vault)
    assert found is not None
    return OpsConnection(found)


def test_a_real_owner_answers_several_calls(vault: Path, owner: subprocess.Popen[bytes]) -> None:
    with called(vault) as connection:
        assert connection.pid == owner.pid and connection.role == "headless"
        assert os.path.realpath(connection.vault) == os.path.realpath(vault)
        assert connection.call("status", {})["notes"] == 1
        parts: list[str] = []
        size = connection.call("export", {"format": "nquads"}, part=parts.append)["bytes"]
        assert len("".join(parts).encode()) == size > 0
        with pytest.raises(CallFailed) as caught:
            connection.call("dossier", {"entity": "a", "limt": 3})
        assert "Did you mean limit?" in str(caught.value)


def test_a_real_owner_that_is_killed_is_said_to_be_gone(vault: Path, owner: subprocess.Popen[bytes]) -> None:
    with called(vault) as connection:
        connection.call("status", {})
        owner.kill()
        owner.wait()
        with pytest.raises(OwnerGone):
            connection.call("status", {})
