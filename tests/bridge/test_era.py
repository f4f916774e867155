"""The bridge decides and refuses as the SDK's server does, seen beside a real one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import SessionMessage
from mcp_types import ListToolsResult, jsonrpc_message_adapter
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from synapse.bridge import frames
from synapse.bridge.catalogue import HANDSHAKE_VERSIONS, MODERN_VERSIONS, Catalogue
from synapse.bridge.era import Era
from synapse.bridge.frames import BadFrame

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
CLIENT = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
ENVELOPE = {VERSION: "2026-07-28", CAPABILITIES: {}}


def request(id: int, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}


def initialize(id: int, version: object) -> dict[str, Any]:
    return request(id, "initialize", {**CLIENT, "protocolVersion": version})


def enveloped(id: int, method: str, **meta: object) -> dict[str, Any]:
    given = {
        **ENVELOPE,
        **{{"version": VERSION, "capabilities": CAPABILITIES}[k]: v for k, v in meta.items()},
    }
    return request(id, method, {"_meta": {key: value for key, value in given.items() if value != "left out"}})


SESSIONS: dict[str, list[dict[str, Any]]] = {
    **{f"handshake {version}": [initialize(1, version)] for version in HANDSHAKE_VERSIONS},
    "a version of the other era": [initialize(1, "2026-07-28"), request(2, "tools/list")],
    "an unknown version": [initialize(1, "1999-01-01")],
    "an initialize that lacks things": [
        request(1, "initialize", {"protocolVersion": "2025-11-25"}),
        request(2, "initialize"),
        initialize(3, 5),
        request(4, "initialize", {**CLIENT, "protocolVersion": "2025-11-25", "clientInfo": {"name": "a"}}),
        initialize(5, "2025-06-18"),
        request(6, "tools/list"),
    ],
    "a list before the handshake": [
        request(1, "tools/list"),
        request(2, "ping"),
        initialize(3, "2025-11-25"),
    ],
    "a probe without an envelope": [request(1, "server/discover"), initialize(2, "2025-11-25")],
    "an envelope after the handshake": [initialize(1, "2025-11-25"), enveloped(2, "tools/list")],
    "an envelope on initialize": [
        request(1, "initialize", {**CLIENT, "protocolVersion": "2025-11-25", "_meta": ENVELOPE}),
        request(2, "tools/list"),
    ],
    "modern": [enveloped(1, "server/discover"), enveloped(2, "tools/list")],
    "modern, then the handshake": [enveloped(1, "server/discover"), initialize(2, "2025-11-25")],
    "modern, then none": [enveloped(1, "server/discover"), request(2, "tools/list"), request(3, "ping")],
    "modern and ping": [enveloped(1, "tools/list"), enveloped(2, "ping")],
    "a modern version of the future": [enveloped(1, "server/discover", version="2027-01-01")],
    "a modern version that is no text": [enveloped(1, "server/discover", version=7)],
    "modern without capabilities": [enveloped(1, "tools/list", capabilities="left out")],
    "another initialize": [initialize(1, "2025-11-25"), initialize(2, "2025-06-18")],
}


async def by_the_sdk(messages: list[dict[str, Any]]) -> dict[int, dict[str, Any]]:
    async def list_tools(context: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[])

    server: Server[Any] = Server("peer", version="1", on_list_tools=list_tools)
    to_server, reads = anyio.create_memory_object_stream[SessionMessage | Exception](64)
    writes, from_server = anyio.create_memory_object_stream[SessionMessage](64)
    found: dict[int, dict[str, Any]] = {}
    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: serve_dual_era_loop(server, reads, writes, lifespan_state={}))
            for message in messages:
                parsed = jsonrpc_message_adapter.validate_python(message, by_name=False)
                await to_server.send(SessionMessage(parsed))
                answer = (await from_server.receive()).message
                content = answer.model_dump(by_alias=True, mode="json", exclude_none=True)
                found[content["id"]] = content
            to_server.close()
    from_server.close()
    return found


def by_the_bridge(messages: list[dict[str, Any]]) -> dict[int, dict[str, Any]]:
    era, catalogue, found = Era(), Catalogue(), {}
    for content in messages:
        message = frames.read(json.dumps(content).encode())
        try:
            era.judge(message)
            result = era.answer(message, catalogue)
            assert message.id is not None and result is not None
            line = frames.result(message.id, result)
        except BadFrame as bad:
            line = frames.failure(bad.id, bad.code, str(bad), bad.data)
        found[content["id"]] = json.loads(line)
    return found


def likeness(method: str, answer: dict[str, Any]) -> dict[str, Any]:
    """What of an answer has to be the same whatever the server's name and tools are."""
    if "error" in answer:
        data = answer["error"].get("data")
        return {"code": answer["error"]["code"], "data": data or None}
    result = answer["result"]
    fixed = {key: result.get(key) for key in ("protocolVersion", "supportedVersions", "resultType")}
    return {**fixed, "fields": sorted(set(result) - {"instructions"})}


@pytest.mark.parametrize("messages", SESSIONS.values(), ids=SESSIONS)
def test_a_session_is_answered_as_the_sdk_answers_it(messages: list[dict[str, Any]]) -> None:
    theirs = anyio.run(by_the_sdk, messages)
    ours = by_the_bridge(messages)
    for message in messages:
        id, method = message["id"], message["method"]
        assert likeness(method, ours[id]) == likeness(method, theirs[id]), (id, theirs[id], ours[id])


def test_the_versions_are_those_of_the_sdk() -> None:
    assert HANDSHAKE_VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS
    assert MODERN_VERSIONS == MODERN_PROTOCOL_VERSIONS


def test_a_connection_that_has_said_nothing_has_nothing_to_repeat() -> None:
    assert Era().opening("own") == []


def test_a_list_has_one_page() -> None:
    era = Era()
    for content in (initialize(1, "2025-11-25"), request(2, "tools/list", {"cursor": "x"})):
        message = frames.read(json.dumps(content).encode())
        era.judge(message)
        if message.id == 1:
            era.answer(message, Catalogue())
    with pytest.raises(BadFrame, match="one page") as caught:
        era.answer(message, Catalogue())
    assert caught.value.code == frames.INVALID_PARAMS


def test_a_damaged_installation_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "catalogue.json").write_text("{", encoding="utf-8")
    with pytest.raises(ValueError):
        Catalogue(str(tmp_path / "catalogue.json"))
