"""What Synapse uses of the MCP SDK, part by part, so that an upgrade that breaks one is named."""

from __future__ import annotations

import asyncio
import inspect
import json
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.server import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from synapse.bridge import catalogue

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "pin", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "pin", "version": "1"},
}


def test_the_protocols_versions_are_those_that_the_bridge_knows() -> None:
    assert tuple(HANDSHAKE_PROTOCOL_VERSIONS) == catalogue.HANDSHAKE_VERSIONS
    assert tuple(MODERN_PROTOCOL_VERSIONS) == catalogue.MODERN_VERSIONS


def test_the_low_level_server_takes_the_handlers_that_are_given_to_it() -> None:
    wanted = {
        "name", "version", "title", "instructions", "on_list_tools", "on_call_tool", "on_list_resources",
        "on_list_resource_templates", "on_read_resource", "on_subscribe_resource",
        "on_unsubscribe_resource", "on_subscriptions_listen", "on_list_prompts",
    }  # fmt: skip
    assert wanted <= set(inspect.signature(Server.__init__).parameters)
    run = list(inspect.signature(Server.run).parameters)
    assert run[1:4] == ["read_stream", "write_stream", "initialization_options"]
    assert "tools_changed" in inspect.signature(NotificationOptions.__init__).parameters
    assert list(inspect.signature(Server.add_notification_handler).parameters)[1:] == [
        "method", "params_type", "handler",
    ]  # fmt: skip


def test_a_session_reports_progress_updates_and_who_its_client_is() -> None:
    assert list(inspect.signature(ServerSession.report_progress).parameters)[1:4] == [
        "progress", "total", "message",
    ]  # fmt: skip
    assert list(inspect.signature(ServerSession.send_resource_updated).parameters)[1:] == ["uri"]
    assert isinstance(ServerSession.client_params, property)


def test_the_types_that_are_built_have_the_fields_that_are_set() -> None:
    tool = types.Tool(
        name="t",
        title="T",
        description="d",
        input_schema={"type": "object"},
        output_schema={"type": "object"},
        annotations=types.ToolAnnotations(
            title="T",
            read_only_hint=True,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )
    assert tool.model_dump(by_alias=True, exclude_none=True)["inputSchema"] == {"type": "object"}
    result = types.CallToolResult(
        content=[types.TextContent(type="text", text="x")], structured_content={"cursor": None}
    )
    assert result.is_error in (None, False)
    assert (types.INVALID_PARAMS, types.INTERNAL_ERROR) == (-32602, -32603)
    assert (types.PARSE_ERROR, types.INVALID_REQUEST) == (-32700, -32600)
    assert MCPError(types.INVALID_PARAMS, "m").error.message == "m"


def test_a_message_of_the_wire_is_read_and_written_by_the_adapter() -> None:
    read = types.jsonrpc_message_adapter.validate_json(
        b'{"jsonrpc":"2.0","id":1,"method":"ping"}', by_name=False
    )
    assert json.loads(SessionMessage(read).message.model_dump_json(by_alias=True, exclude_unset=True)) == {
        "jsonrpc": "2.0", "id": 1, "method": "ping",
    }  # fmt: skip
    for wrong in (b"[]", b"{}", b"nonsense", b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}'):
        with pytest.raises(ValueError):
            types.jsonrpc_message_adapter.validate_json(wrong, by_name=False)
    error = types.JSONRPCError(jsonrpc="2.0", id=None, error=types.ErrorData(code=-1, message="m"))
    assert json.loads(error.model_dump_json(by_alias=True, exclude_unset=True))["id"] is None


class Pinned:
    """A server of the SDK over plain memory streams, spoken to in JSON."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.clients: list[str | None] = []
        self.bus = InMemorySubscriptionBus()
        self.subscriber: ServerSession | None = None

    async def call(
        self, ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        said = ctx.session.client_params
        self.clients.append(said.client_info.name if said else None)
        if params.name == "wait":
            self.started.set()
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        await ctx.session.report_progress(1.0, 2.0, "half")
        return types.CallToolResult(
            content=[types.TextContent(type="text", text="x")], structured_content={"cursor": None}
        )

    async def subscribe(
        self, ctx: ServerRequestContext[Any], params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        self.subscriber = ctx.session
        return types.EmptyResult()

    async def initialized(self, ctx: ServerRequestContext[Any], params: types.NotificationParams) -> None:
        said = ctx.session.client_params
        self.clients.append(said and f"{said.client_info.name} is ready")

    async def talk(self, conversation: Any) -> None:
        """Runs `conversation(send, receive)` beside the server."""
        server: Server[Any] = Server(
            "pinned",
            on_call_tool=self.call,
            on_subscribe_resource=self.subscribe,
            on_subscriptions_listen=ListenHandler(self.bus, max_subscriptions=4),
        )
        server.add_notification_handler(
            "notifications/initialized", types.NotificationParams, self.initialized
        )
        to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](8)
        outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](8)

        async def send(**message: Any) -> None:
            line = json.dumps({"jsonrpc": "2.0", **message})
            read = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
            await to_server.send(SessionMessage(read))

        async def receive() -> Any:
            message = await asyncio.wait_for(from_server.receive(), 20)
            return json.loads(message.message.model_dump_json(by_alias=True, exclude_unset=True))

        async with anyio.create_task_group() as group:
            group.start_soon(server.run, incoming, outgoing, server.create_initialization_options())
            await conversation(send, receive)
            to_server.close()
            async for _ in from_server:
                pass
        from_server.close()


def test_a_handshake_connection_knows_its_client_and_reports_progress_to_its_token() -> None:
    pinned = Pinned()

    async def conversation(send: Any, receive: Any) -> None:
        await send(id=1, method="initialize", params=INITIALIZE)
        assert (await receive())["result"]["protocolVersion"] == "2025-11-25"
        await send(method="notifications/initialized")
        await send(id=2, method="tools/call", params={"name": "t", "_meta": {"progressToken": "p"}})
        progress = await receive()
        assert progress["method"] == "notifications/progress"
        assert progress["params"] == {"progressToken": "p", "progress": 1.0, "total": 2.0, "message": "half"}
        answer = await receive()
        assert answer["id"] == 2
        # A null of ours arrives as null: the schemas of the tools promise it.
        assert answer["result"]["structuredContent"] == {"cursor": None}
        await send(id=3, method="resources/subscribe", params={"uri": "synapse://digest"})
        assert (await receive())["id"] == 3
        assert pinned.subscriber is not None
        await pinned.subscriber.send_resource_updated("synapse://digest")
        updated = await receive()
        assert (updated["method"], updated["params"]["uri"]) == (
            "notifications/resources/updated", "synapse://digest",
        )  # fmt: skip

    asyncio.run(pinned.talk(conversation))
    assert pinned.clients == ["pin is ready", "pin"]


def test_a_modern_connection_carries_its_client_in_each_request_and_listens() -> None:
    pinned = Pinned()

    async def conversation(send: Any, receive: Any) -> None:
        await send(id=1, method="tools/call", params={"name": "t", "_meta": ENVELOPE})
        answer = await receive()
        assert answer["result"]["resultType"] == "complete"
        assert answer["result"]["structuredContent"] == {"cursor": None}
        wanted = {"notifications": {"resourceSubscriptions": ["synapse://digest"]}, "_meta": ENVELOPE}
        await send(id="l", method="subscriptions/listen", params=wanted)
        assert (await receive())["method"] == "notifications/subscriptions/acknowledged"
        await pinned.bus.publish(ResourceUpdated(uri="synapse://digest"))
        updated = await receive()
        assert (updated["method"], updated["params"]["uri"]) == (
            "notifications/resources/updated", "synapse://digest",
        )  # fmt: skip

    asyncio.run(pinned.talk(conversation))
    assert pinned.clients == ["pin"]


@pytest.mark.parametrize("by", ["notification", "end"])
def test_a_cancelled_request_and_a_closed_connection_cancel_the_handler(by: str) -> None:
    pinned = Pinned()

    async def conversation(send: Any, receive: Any) -> None:
        await send(id=1, method="initialize", params=INITIALIZE)
        await receive()
        await send(id=2, method="tools/call", params={"name": "wait"})
        await asyncio.wait_for(pinned.started.wait(), 20)
        if by == "notification":
            await send(method="notifications/cancelled", params={"requestId": 2})
            await asyncio.wait_for(pinned.cancelled.wait(), 20)

    asyncio.run(pinned.talk(conversation))
    assert pinned.cancelled.is_set()
