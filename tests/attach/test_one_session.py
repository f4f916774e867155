"""One agent's session outlives every owner: absent, started, killed, restarted, a window, no window."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult

PAYMENTS = {"entity": "modules/payments"}
ALL_PAIRS = "SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f }"


async def eventually(holds: Callable[[], Awaitable[Any]], what: str, patience: float = 60) -> Any:
    with anyio.move_on_after(patience):
        while True:
            if found := await holds():
                return found
            await anyio.sleep(0.1)
    pytest.fail(f"{what} did not happen")


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_one_session_lives_through_every_owner(mode: str, world: Any, vault: Path) -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "synapse", "mcp", "--vault", str(vault), "--agent", "claude"],
        env=world.environment,
        cwd="/",
    )

    async def session() -> None:
        with (world.folder / "bridge.log").open("w") as log:
            from mcp.client.stdio import stdio_client

            async with Client(stdio_client(server, log), mode=mode, read_timeout_seconds=60) as client:
                await live(client)

    async def live(client: Client) -> None:
        async def tools() -> list[str]:
            return [tool.name for tool in (await client.list_tools()).tools]

        async def impact() -> int:
            answer = await client.call_tool("dependency_impact", PAYMENTS)
            assert isinstance(answer, CallToolResult) and not answer.is_error, answer
            assert answer.structured_content is not None
            return int(answer.structured_content["total"])

        async def died(pid: int) -> bool:
            return pid not in world.processes()

        # Nobody owns the vault: the tools are listed all the same, and a call starts an owner.
        assert world.owner(vault) is None
        names = await tools()
        assert "dependency_impact" in names and len(names) >= 9
        total = await impact()
        assert total > 10
        first = world.owner(vault)
        assert first is not None and first.role == "headless"

        # Killed while it works: that call fails and says so, the next one starts another owner.
        async with anyio.create_task_group() as group:

            async def long_call() -> None:
                with pytest.raises(MCPError, match="may or may not"):
                    await client.call_tool("sparql_query", {"query": ALL_PAIRS, "timeout": 60})

            group.start_soon(long_call)
            await anyio.sleep(2)
            os.kill(first.pid, signal.SIGKILL)
        assert await tools() == names
        assert await impact() == total
        second = world.owner(vault)
        assert second is not None and second.pid != first.pid

        # A window takes the vault over.
        window = world.start("open", str(vault))

        async def owned_by_window() -> bool:
            found = world.owner(vault)
            return found is not None and found.pid == window.pid

        await eventually(owned_by_window, "the window's taking over")
        await eventually(lambda: died(second.pid), "the headless owner's end")
        assert await tools() == names
        assert await impact() == total

        # The window closes.
        window.send_signal(signal.SIGTERM)
        with anyio.fail_after(30):
            while window.poll() is None:
                await anyio.sleep(0.1)
        assert window.returncode == 0
        assert await tools() == names
        assert await impact() == total
        third = world.owner(vault)
        assert third is not None and third.role == "headless"

    anyio.run(session)
    assert not [line for line in world.processes().values() if " mcp " in line]
    assert "Traceback" not in world.said() + (world.folder / "bridge.log").read_text()
