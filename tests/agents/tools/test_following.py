"""Agents are told when the digest may have changed, in both eras, many changes as one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from synapse.engine.record import WrittenFact

DIGEST = "synapse://digest"
PATIENCE = 30


def state(made: Any, *objects: str) -> None:
    for one in objects:
        made.engine.assert_facts([WrittenFact("a", "knows", one)], source="s", reason="r")


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
def test_a_subscriber_of_the_handshake_era_is_told_until_it_unsubscribes(house: Callable[..., Any]) -> None:
    made = house({"a.md": "# A\n"})
    told: list[str] = []

    async def handle(message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            told.append(str(message.params.uri))

    agent = made.attach(message_handler=handle)
    client = agent.client

    async def until_told(times: int) -> None:
        async with asyncio.timeout(PATIENCE):
            while len(told) < times:
                await asyncio.sleep(0.01)

    agent.portal.call(lambda: client.subscribe_resource(DIGEST))
    state(made, *(f"n/{number}" for number in range(20)))
    agent.portal.call(until_told, 1)
    assert "## Learned" in agent.digest()
    agent.portal.call(asyncio.sleep, 0.6)
    # Twenty writes in a row are a few notifications at most.
    assert 1 <= len(told) <= 5
    assert set(told) == {DIGEST}
    before = len(told)
    state(made, "again")
    agent.portal.call(until_told, before + 1)
    agent.portal.call(lambda: client.unsubscribe_resource(DIGEST))
    before = len(told)
    state(made, "unheard")
    agent.portal.call(asyncio.sleep, 0.6)
    assert len(told) == before
    with pytest.raises(MCPError, match="no such resource"):
        agent.portal.call(lambda: client.subscribe_resource("synapse://nothing"))


def test_a_listener_of_the_modern_era_is_told_of_what_it_asked_for(house: Callable[..., Any]) -> None:
    made = house({"a.md": "# A\n"})
    agent = made.attach(era="2026-07-28")

    async def listen() -> list[str]:
        found = []
        async with asyncio.timeout(PATIENCE):
            async with agent.client.listen(resource_subscriptions=[DIGEST]) as events:
                await asyncio.to_thread(state, made, "b", "c", "d")
                async for event in events:
                    found.append(event.uri)
                    if len(found) == 1:
                        await asyncio.to_thread(state, made, "e")
                    else:
                        return found
        return found

    assert agent.portal.call(listen) == [DIGEST, DIGEST]
    assert agent.call("entity_dossier", entity="a")["total"]


def test_an_agent_that_left_leaves_no_listener_behind(house: Callable[..., Any]) -> None:
    made = house({"a.md": "# A\n"})
    listeners = made.engine._listeners
    before = len(listeners)
    agent = made.attach()
    agent.call("digest")
    assert len(listeners) == before + 1
    agent.portal.call(agent.hang_up)
    made.until(lambda: not made.owner.attached(), "hanging up")
    made.until(lambda: len(listeners) == before, "an end of listening")
    state(made, "b")
