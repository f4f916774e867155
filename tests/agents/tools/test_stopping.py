"""What takes long can be stopped, and keeps nobody else waiting (case 24); progress is told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

NUMBERS = list(range(250))
LONG = "SELECT (COUNT(*) AS ?n) { ?s1 ?p1 ?o1 . ?s2 ?p2 ?o2 . ?s3 ?p3 ?o3 . ?s4 ?p4 ?o4 }"
"""A cross join that ends on no machine within a test."""


@pytest.fixture
def made(house: Callable[..., Any]) -> Any:
    return house({"a.md": f"---\nnumbers: {NUMBERS}\n---\n# A\n"})


def no_query_runs(made: Any) -> bool:
    """Whether the owner has no call under way."""
    return not any(session.is_busy for session in made.owner._sessions.values())


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
def test_a_cancelled_query_stops_and_the_next_call_is_answered(made: Any, era: str) -> None:
    agent = made.attach(era=era)

    async def cancelled() -> None:
        call = asyncio.ensure_future(agent.client.call_tool("sparql_query", {"query": LONG, "timeout": 300}))
        async with asyncio.timeout(30):
            while no_query_runs(made):
                await asyncio.sleep(0.01)
        call.cancel()  # the client sends notifications/cancelled
        await asyncio.gather(call, return_exceptions=True)

    agent.portal.call(cancelled)
    began = time.monotonic()
    made.until(lambda: no_query_runs(made), "the end of a cancelled query")
    assert agent.call("sparql_query", query="ASK { <a> ?p ?o }")["answer"] is True
    assert time.monotonic() - began < 10


def test_a_closed_connection_stops_its_query(made: Any) -> None:
    agent, other = made.attach("first"), made.attach("second")

    async def leave() -> None:
        call = asyncio.ensure_future(agent.client.call_tool("sparql_query", {"query": LONG, "timeout": 300}))
        async with asyncio.timeout(30):
            while no_query_runs(made):
                await asyncio.sleep(0.01)
        await agent.hang_up()
        await asyncio.gather(call, return_exceptions=True)

    agent.portal.call(leave)
    made.until(lambda: len(made.owner.attached()) == 1, "hanging up")
    made.until(lambda: no_query_runs(made), "the end of its query")
    assert other.call("sparql_query", query="ASK {}")["answer"] is True


def test_a_query_ends_at_its_timeout_with_an_error_that_says_so(made: Any) -> None:
    agent = made.attach()
    began = time.monotonic()
    error = agent.error("sparql_query", query=LONG, timeout=0.5)
    assert time.monotonic() - began < 10
    assert "0.5" in error or "time" in error


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
def test_a_long_query_keeps_no_other_call_waiting_and_tells_of_itself(made: Any) -> None:
    agent = made.attach()
    heard: list[tuple[float, float | None]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        heard.append((done, total))

    async def both() -> str:
        call = asyncio.ensure_future(
            agent.client.call_tool(
                "sparql_query", {"query": LONG, "timeout": 300}, progress_callback=progress
            )
        )
        async with asyncio.timeout(60):
            while len(heard) < 2:
                await agent.client.send_ping()
                dossier = await agent.client.call_tool("entity_dossier", {"entity": "a"})
                assert not dossier.is_error
                await asyncio.sleep(0.05)
        assert not call.done()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        return "both"

    assert agent.portal.call(both) == "both"
    assert [done for done, _ in heard] == sorted({done for done, _ in heard})
    assert {total for _, total in heard} == {300}
