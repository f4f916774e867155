"""A bridge between a host and an owner that comes, goes and changes: each call answered once, by one."""

from __future__ import annotations

import json
import os
import signal
import socket
import tempfile
from pathlib import Path
from typing import Any

import pytest

from synapse.bridge import discovery, stopped
from synapse.bridge.discovery import Discovery
from synapse.bridge.relay import LOST, NO_OWNER, TOO_MANY

# What tests/bridge/conftest.py gives: a running bridge, a stand-in for an owner, and their starters.
Bridge = StandIn = StartBridge = StartOwner = Any


@pytest.fixture
def attached(
    start_bridge: StartBridge, stand_in: StartOwner, vault: Path, until: Any
) -> tuple[Bridge, StandIn]:
    """A bridge that shook hands, and the owner that heard of it."""
    owner = stand_in()
    bridge = start_bridge("--vault", vault, "--agent", "tester")
    bridge.shake_hands()
    until(lambda: "notifications/initialized" in owner.methods(), "initialized at the owner")
    return bridge, owner


def test_the_host_is_answered_before_there_is_an_owner(start_bridge: StartBridge, vault: Path) -> None:
    bridge = start_bridge("--vault", vault)
    result = bridge.shake_hands()
    assert result["protocolVersion"] == "2025-11-25"
    assert result["serverInfo"]["name"] and result["capabilities"]["tools"]
    for id, method in enumerate(
        ("tools/list", "resources/list", "resources/templates/list", "prompts/list", "ping")
    ):
        bridge.request(id, method)
    assert bridge.answer(0)["result"]["tools"]
    assert "resources" in bridge.answer(1)["result"]
    assert "resourceTemplates" in bridge.answer(2)["result"]
    assert "prompts" in bridge.answer(3)["result"]
    assert bridge.answer(4)["result"] == {}
    assert discovery.read(vault) is None, "listing tools starts no owner"


def test_the_owner_hears_who_calls_and_of_the_handshake(
    attached: tuple[Bridge, StandIn], client: Any
) -> None:
    bridge, owner = attached
    assert owner.hellos[0] == {
        "token": "token",
        "protocol": "mcp",
        "pid": bridge.process.pid,
        "agent": "tester",
    }
    assert owner.methods() == ["initialize", "notifications/initialized"]
    assert owner.seen[0]["params"] == client
    assert len(bridge.frames) == 1, "the owner's answer to initialize is the bridge's"


def test_the_token_of_the_agent_goes_into_hello(
    start_bridge: StartBridge, stand_in: StartOwner, vault: Path, until: Any
) -> None:
    owner = stand_in()
    bridge = start_bridge("--vault", vault, SYNAPSE_AGENT_TOKEN="secret")
    bridge.shake_hands()
    until(lambda: owner.hellos, "hello")
    assert owner.hellos[0]["agent_token"] == "secret"
    assert "agent" not in owner.hellos[0]


def test_frames_pass_unchanged(attached: tuple[Bridge, StandIn]) -> None:
    bridge, owner = attached
    arguments = {"text": "人 👩‍👩‍👧 e\u0301 \u00e9 \u2028", "number": 12345678901234567890, "none": None}
    bridge.send(
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": "echo", "arguments": arguments},
            },
            ensure_ascii=False,
        ).encode()
    )
    assert bridge.answer(1)["result"] == arguments
    assert owner.calls("echo")[0]["params"]["arguments"] == arguments


def test_a_large_frame_passes_in_both_directions(attached: tuple[Bridge, StandIn]) -> None:
    bridge, _ = attached
    text = "x" * (7 * 1024 * 1024)
    bridge.call(1, "echo", text=text)
    assert bridge.answer(1)["result"]["text"] == text


def test_ids_that_look_alike_are_told_apart(attached: tuple[Bridge, StandIn]) -> None:
    bridge, _ = attached
    bridge.call(7, "echo", of="number")
    bridge.call("7", "echo", of="text")
    assert bridge.answer(7)["result"] == {"of": "number"}
    assert bridge.answer("7")["result"] == {"of": "text"}


def test_an_id_that_is_in_use_is_refused_without_an_answer_to_it(
    attached: tuple[Bridge, StandIn], until: Any
) -> None:
    bridge, owner = attached
    bridge.call(1, "wait")
    bridge.call(1, "echo")
    error = bridge.answer(None)["error"]
    assert "1 belongs to a request" in error["message"]
    assert bridge.answers(1) == []
    until(lambda: owner.calls("wait"), "the first call at the owner")
    assert owner.calls("echo") == []


def test_a_call_in_flight_is_answered_with_doubt_and_never_repeated(
    attached: tuple[Bridge, StandIn], stand_in: StartOwner
) -> None:
    bridge, owner = attached
    bridge.call(1, "wait")
    bridge.call(2, "hang up")
    for id in (1, 2):
        error = bridge.answer(id)["error"]
        assert error["code"] == LOST
        assert "may or may not" in error["message"]
    owner.stop()
    following = stand_in()
    bridge.call(3, "echo", text="again")
    assert bridge.answer(3)["result"] == {"text": "again"}
    assert following.methods() == ["initialize", "notifications/initialized", "tools/call"]
    assert [len(bridge.answers(id)) for id in (1, 2, 3)] == [1, 1, 1]


def test_a_call_that_an_owner_gives_back_undone_goes_to_the_next(attached: tuple[Bridge, StandIn]) -> None:
    bridge, owner = attached
    bridge.call(1, "give back")
    assert bridge.answer(1)["result"] == {"method": "tools/call"}
    assert len(owner.calls("give back")) == 2
    assert len(owner.hellos) == 2


def test_an_idle_bridge_finds_the_next_owner_by_itself(
    attached: tuple[Bridge, StandIn], stand_in: StartOwner, until: Any
) -> None:
    _, owner = attached
    owner.stop()
    following = stand_in()
    until(
        lambda: following.methods() == ["initialize", "notifications/initialized"],
        "the bridge at the next owner",
    )


def test_what_was_subscribed_is_subscribed_at_the_next_owner(
    attached: tuple[Bridge, StandIn], stand_in: StartOwner, until: Any
) -> None:
    bridge, owner = attached
    bridge.request(1, "resources/subscribe", uri="synapse://digest")
    bridge.request(2, "resources/subscribe", uri="synapse://other")
    bridge.request(3, "resources/unsubscribe", uri="synapse://other")
    for id in (1, 2, 3):
        bridge.answer(id)
    owner.stop()
    following = stand_in()
    wanted = ["initialize", "notifications/initialized", "resources/subscribe"]
    until(lambda: following.methods() == wanted, "the subscription")
    assert following.seen[2]["params"] == {"uri": "synapse://digest"}
    before = len(bridge.frames)
    bridge.request(4, "ping")
    bridge.answer(4)
    assert len(bridge.frames) == before + 1, "answers to what the bridge repeats are not the host's"


def test_answers_progress_and_cancels_of_the_dead_are_dropped(
    attached: tuple[Bridge, StandIn], until: Any
) -> None:
    bridge, owner = attached
    bridge.request(1, "tools/call", name="wait", _meta={"progressToken": "p1"})
    bridge.request(2, "tools/call", name="wait", _meta={"progressToken": "p2"})
    until(lambda: len(owner.calls("wait")) == 2, "the calls")
    for token in ("p1", "p2", "p3"):
        owner.tell(
            {
                "jsonrpc": "2.0",
                "method": "notifications/progress",
                "params": {"progressToken": token, "progress": 1},
            }
        )
    until(lambda: len(bridge.notified("notifications/progress")) == 2, "progress")
    bridge.notify("notifications/cancelled", requestId=1)
    until(lambda: "notifications/cancelled" in owner.methods(), "the cancel")
    owner.tell(
        {
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {"progressToken": "p1", "progress": 2},
        }
    )
    owner.tell({"jsonrpc": "2.0", "id": 1, "result": {}})
    owner.tell({"jsonrpc": "2.0", "id": 99, "result": {}})
    owner.tell(b"no frame")
    owner.tell({"jsonrpc": "2.0", "id": 2, "result": {}})
    bridge.answer(2)
    bridge.notify("notifications/cancelled", requestId=2)
    bridge.notify("notifications/cancelled", requestId=[])
    bridge.request(3, "ping")
    bridge.answer(3)
    assert bridge.answers(1) == bridge.answers(99) == []
    assert [frame["params"]["progressToken"] for frame in bridge.notified("notifications/progress")] == [
        "p1",
        "p2",
    ]
    assert owner.methods().count("notifications/cancelled") == 1


def test_what_the_owner_asks_is_answered_to_that_owner_alone(
    attached: tuple[Bridge, StandIn], stand_in: StartOwner, until: Any
) -> None:
    bridge, owner = attached
    owner.tell({"jsonrpc": "2.0", "id": "o1", "method": "roots/list"})
    owner.tell({"jsonrpc": "2.0", "id": "o2", "method": "roots/list"})
    until(lambda: len(bridge.notified("roots/list")) == 2, "the questions")
    bridge.send({"jsonrpc": "2.0", "id": "o1", "result": {"roots": []}})
    until(lambda: any(message.get("id") == "o1" for message in owner.seen), "the answer")
    owner.stop()
    following = stand_in()
    until(lambda: following.methods(), "the next owner")
    bridge.send({"jsonrpc": "2.0", "id": "o2", "result": {"roots": []}})
    bridge.call(1, "echo")
    bridge.answer(1)
    assert not any("result" in message for message in following.seen)


def test_an_owner_of_another_version_lists_its_own_tools(
    attached: tuple[Bridge, StandIn], stand_in: StartOwner, until: Any
) -> None:
    bridge, owner = attached
    assert bridge.notified("notifications/tools/list_changed") == []
    owner.stop()
    other = stand_in("99.0")
    until(lambda: len(bridge.notified("notifications/tools/list_changed")) == 1, "word of other tools")
    bridge.request(1, "tools/list")
    assert bridge.answer(1)["result"] == {"method": "tools/list"}
    assert "tools/list" in other.methods()
    other.stop()
    stand_in()
    until(lambda: len(bridge.notified("notifications/tools/list_changed")) == 2, "word of the old tools")
    bridge.request(2, "tools/list")
    assert bridge.answer(2)["result"]["tools"]


def test_nothing_is_told_before_the_host_has_said_that_it_is_ready(
    start_bridge: StartBridge, stand_in: StartOwner, vault: Path, until: Any, client: Any
) -> None:
    owner = stand_in("99.0")
    bridge = start_bridge("--vault", vault)
    bridge.request(1, "initialize", **client)
    until(lambda: "initialize" in owner.methods(), "the handshake at the owner")
    bridge.request(2, "ping")
    bridge.answer(2)
    assert bridge.notified("notifications/tools/list_changed") == []
    bridge.notify("notifications/initialized")
    until(lambda: bridge.notified("notifications/tools/list_changed"), "word of other tools")


def test_a_modern_session_is_modern_at_every_owner(
    start_bridge: StartBridge, stand_in: StartOwner, vault: Path, until: Any, envelope: Any
) -> None:
    owner = stand_in()
    bridge = start_bridge("--vault", vault)
    bridge.request(1, "server/discover", _meta={**envelope, "progressToken": 5})
    assert "2026-07-28" in bridge.answer(1)["result"]["supportedVersions"]
    bridge.request(2, "tools/list", _meta=envelope)
    assert bridge.answer(2)["result"]["resultType"] == "complete"
    bridge.request(3, "tools/call", name="echo", arguments={"a": 1}, _meta=envelope)
    assert bridge.answer(3)["result"] == {"a": 1}
    owner.stop()
    following = stand_in()
    until(lambda: following.methods() == ["server/discover"], "the next owner")
    assert following.seen[0]["params"] == {"_meta": envelope}


def test_a_revoked_agent_is_told_so_on_each_call(
    start_bridge: StartBridge, stand_in: StartOwner, vault: Path, own_version: str
) -> None:
    no = {"ok": False, "error": {"kind": "agent-refused", "message": "tester was revoked.", "hint": "Ask."}}
    owner = stand_in(greeting=no)
    bridge = start_bridge("--vault", vault, "--agent", "tester")
    bridge.shake_hands()
    bridge.request("list", "tools/list")
    assert bridge.answer("list")["result"]["tools"]
    for id in (1, 2):
        bridge.call(id, "echo")
        error = bridge.answer(id)["error"]
        assert error["code"] == NO_OWNER
        assert error["message"] == "tester was revoked. Ask."
    assert b"tester was revoked." in bridge.err
    owner.greeting = {"ok": True, "version": own_version}
    bridge.call(3, "echo", text="allowed again")
    assert bridge.answer(3)["result"] == {"text": "allowed again"}


def test_what_the_owner_warns_of_is_said_on_standard_error(
    start_bridge: StartBridge, stand_in: StartOwner, vault: Path, own_version: str, until: Any
) -> None:
    stand_in(greeting={"ok": True, "version": own_version, "warnings": ["The disk is nearly full."]})
    bridge = start_bridge("--vault", vault)
    bridge.shake_hands()
    until(lambda: b"The disk is nearly full." in bridge.err, "the warning")


def test_no_owner_is_started_where_a_person_stopped_serving(start_bridge: StartBridge, vault: Path) -> None:
    stopped.mark(vault)
    bridge = start_bridge("--vault", vault)
    bridge.shake_hands()
    bridge.call(1, "echo")
    error = bridge.answer(1)["error"]
    assert error["code"] == NO_OWNER
    assert "Open the vault in Synapse" in error["message"]
    assert discovery.read(vault) is None


def test_an_answer_that_is_too_long_is_refused_by_name(attached: tuple[Bridge, StandIn], until: Any) -> None:
    bridge, owner = attached
    bridge.call(1, "wait")
    until(lambda: owner.calls("wait"), "the call")
    owner.tell(b'{"jsonrpc":"2.0","id":1,"result":{"text":"' + b"x" * (9 * 1024 * 1024) + b'"}}')
    error = bridge.answer(1)["error"]
    assert error["code"] == LOST
    assert "longer than" in error["message"]
    bridge.call(2, "echo", text="and on")
    assert bridge.answer(2)["result"] == {"text": "and on"}


def test_a_frame_that_is_too_long_costs_only_itself(attached: tuple[Bridge, StandIn]) -> None:
    bridge, owner = attached
    bridge.call(1, "echo", text="x" * (9 * 1024 * 1024))
    bridge.call(2, "echo", text="and on")
    assert "at most" in bridge.answer(1)["error"]["message"]
    assert bridge.answer(2)["result"] == {"text": "and on"}
    assert len(owner.calls("echo")) == 1


def test_calls_that_pile_up_are_refused_by_name(start_bridge: StartBridge, vault: Path) -> None:
    """An owner that listens and never answers hello, as one does that the system has stopped."""
    with tempfile.TemporaryDirectory(prefix="silent-") as folder, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/s")
        server.listen(8)
        started = discovery.process_start(os.getpid()) or ""
        silent = Discovery(os.path.realpath(vault), os.getpid(), started, "t", "1", socket=f"{folder}/s")
        discovery.write(silent)
        bridge = start_bridge("--vault", vault)
        bridge.shake_hands()
        for id in range(1100):
            bridge.call(id, "echo")
        assert bridge.answer(1099)["error"]["code"] == TOO_MANY
        bridge.request("still", "ping")
        assert bridge.answer("still")["result"] == {}
        bridge.hang_up()
        assert bridge.gone() == 0
        answered = [frame["id"] for frame in bridge.frames if type(frame.get("id")) is int]
        assert sorted(answered) == list(range(1100))
        assert "nothing was done" in bridge.answers(0)[0]["error"]["message"]


def test_a_host_that_reads_nothing_stops_no_answer(attached: tuple[Bridge, StandIn], until: Any) -> None:
    """Answers wait in the pipe while the host is stopped, and all are there when it goes on."""
    bridge, owner = attached
    count = 60
    for id in range(count):
        bridge.call(id, "echo", text="x" * 20_000)
    bridge.process.send_signal(signal.SIGSTOP)
    until(lambda: len(owner.calls("echo")) > 0, "the first call")
    bridge.process.send_signal(signal.SIGCONT)
    for id in range(count):
        assert len(bridge.answer(id)["result"]["text"]) == 20_000
