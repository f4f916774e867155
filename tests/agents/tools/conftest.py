"""Agents as they are: the SDK's client on a real owner's socket, in either era of the protocol."""

from __future__ import annotations

import asyncio
import shutil
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import jsonschema
import mcp_types as types
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client.client import Client

from synapse.agents.mcp_stream import message_streams
from synapse.agents.owner import Owner
from synapse.agents.registry import Registry
from synapse.agents.tools.table import BY_NAME
from synapse.agents.tools.tool import BUDGET, size_of
from synapse.bridge.dialling import MOST, dial
from synapse.engine import Engine, open_vault
from synapse.engine.shipped import resource_folder

ERAS = ("legacy", "2026-07-28")


class Failed(Exception):
    """A tool's error."""


class Agent:
    """An attached agent. Its methods block."""

    def __init__(self, portal: BlockingPortal, client: Client, connection: socket.socket) -> None:
        self.portal = portal
        self.client = client
        self._connection = connection

    async def hang_up(self) -> None:
        """Ends the connection without a word, as a process does that is killed."""
        self._connection.shutdown(socket.SHUT_RDWR)

    def result(self, tool: str, /, **arguments: Any) -> types.CallToolResult:
        """What a call answers, whichever way it ends."""
        return self.portal.call(lambda: self.client.call_tool(tool, arguments))

    def answer(self, tool: str, /, **arguments: Any) -> tuple[str, dict[str, Any]]:
        """Text and structured content of a success, which keep what every success promises."""
        result = self.result(tool, **arguments)
        text = "".join(block.text for block in result.content if isinstance(block, types.TextContent))
        if result.is_error:
            raise Failed(text)
        data = result.structured_content
        assert isinstance(data, dict)
        assert text.strip()
        jsonschema.validate(data, dict(BY_NAME[tool].result))
        assert len(text.encode()) + size_of(data) <= BUDGET
        return text, data

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Structured content of a success."""
        return self.answer(tool, **arguments)[1]

    def text(self, tool: str, /, **arguments: Any) -> str:
        """Text of a success."""
        return self.answer(tool, **arguments)[0]

    def error(self, tool: str, /, **arguments: Any) -> str:
        """Text of an error, which has nothing else."""
        result = self.result(tool, **arguments)
        assert result.is_error, result
        assert result.structured_content is None
        (block,) = result.content
        assert isinstance(block, types.TextContent)
        return block.text

    def digest(self) -> str:
        """The resource."""
        (found,) = self.portal.call(lambda: self.client.read_resource("synapse://digest")).contents
        assert isinstance(found, types.TextResourceContents)
        return found.text


@asynccontextmanager
async def transport(connection: Any) -> AsyncIterator[Any]:
    """The socket of a greeted connection as a transport of the SDK's client."""
    reader, writer = await asyncio.open_connection(sock=connection, limit=MOST)
    async with message_streams(reader, writer) as streams:
        yield streams
    writer.close()


def until(holds: Callable[[], Any], what: str) -> None:
    """Waits for a condition; fails by name."""
    end = time.monotonic() + 60
    while not holds():
        if time.monotonic() > end:
            pytest.fail(f"{what} did not happen in a minute")
        time.sleep(0.01)


class House:
    """A vault with its engine and owner in this process."""

    until = staticmethod(until)

    def __init__(self, engine: Engine, stack: ExitStack) -> None:
        self.engine = engine
        self.registry = Registry()
        self.owner = Owner(engine, "headless", self.registry)
        stack.callback(self.owner.close)
        self._stack = stack

    def attach(
        self, name: str = "tester", *, era: str = "legacy", writes: bool = True, **options: Any
    ) -> Agent:
        """Attach an agent; by default a person has allowed it to write."""
        connection, _ = dial(self.owner.discovery, "mcp", agent=name)
        connection.setblocking(False)
        if writes:
            self.registry.allow(name)
        portal = self._stack.enter_context(start_blocking_portal())
        client = Client(
            transport(connection),
            mode=era,
            client_info=types.Implementation(name="pytest", version="7"),
            **options,
        )
        self._stack.enter_context(portal.wrap_async_context_manager(client))
        return Agent(portal, client, connection)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Callable[..., House]]:
    """`house({"a.md": "text"})` opens a vault of those notes, `house()` a copy of the sample vault."""
    with ExitStack() as stack:

        def make(notes: dict[str, str] | None = None) -> House:
            folder = tmp_path / "vault"
            if notes is None:
                shutil.copytree(resource_folder() / "sample-vault", folder)
            for path, text in (notes or {}).items():
                file = folder / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, "utf-8")
            engine = stack.enter_context(open_vault(folder))
            engine.index()
            return House(engine, stack)

        yield make
