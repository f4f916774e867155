"""Agents attached over MCP to real owners: who is shown, who is hung up on, what a hand-over answers."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from synapse.agents.owner import Owner
from synapse.agents.registry import Registry
from synapse.agents.taking_over import open_taking_over, take_over
from synapse.bridge.discovery import Discovery
from synapse.engine import Engine

INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "raw", "version": "7"},
}
FACT = {"facts": [{"subject": "a", "predicate": "knows", "object": "b"}], "source": "s", "reason": "r"}


class Agent:
    """An agent that speaks MCP in raw lines, without a bridge."""

    def __init__(self, line: Any) -> None:
        self.line = line
        self._ids = itertools.count(1)
        greeting = line.read()
        assert greeting["ok"], greeting
        self.ask("initialize", INITIALIZE)
        line.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def begin(self, method: str, params: dict[str, Any] | None = None) -> int:
        id = next(self._ids)
        self.line.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}})
        return id

    def answer(self, id: int) -> Any:
        while (frame := self.line.read()) is not None:
            if frame.get("id") == id:
                return frame
        return None

    def ask(self, method: str, params: dict[str, Any] | None = None) -> Any:
        frame = self.answer(self.begin(method, params))
        assert "result" in frame, frame
        return frame["result"]

    def call(self, tool: str, **arguments: Any) -> Any:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})


@pytest.fixture
def attach(owners: Any) -> Callable[..., Agent]:
    def call(owner: Discovery, **hello: object) -> Agent:
        return Agent(owners.greet(owner, **hello))

    return call


Attach = Callable[..., Agent]


def text(result: Any) -> str:
    return str(result["content"][0]["text"])


def test_an_agent_is_shown_with_its_program_and_what_it_did(
    owners: Any, here: Owner, registry: Registry, attach: Attach
) -> None:
    told: list[int] = []
    stop = here.subscribe(lambda: told.append(len(here.attached())))
    agent = attach(here.discovery, agent="claude")
    agent.call("entity_dossier", entity="a")
    registry.allow("claude")
    agent.call("assert_facts", **FACT)
    (found,) = here.attached()
    assert (found.name, found.proven, found.access) == ("claude", False, "write")
    assert (found.client, found.client_version, found.protocol) == ("raw", "7", "mcp")
    assert (found.calls, found.writes) == (2, 1)
    assert here.idle_since is None
    agent.line.close()
    owners.until(lambda: not here.attached(), "its end")
    owners.until(lambda: told[-1] == 0, "being told of its end")
    assert set(told) == {0, 1}
    assert here.idle_since is not None
    stop()
    count = len(told)
    attach(here.discovery)
    assert len(told) == count


def test_an_agent_writes_once_it_is_allowed_and_not_while_it_is_paused(
    here: Owner, engine: Engine, registry: Registry, attach: Attach
) -> None:
    agent = attach(here.discovery, agent="claude")
    refused = agent.call("assert_facts", **FACT)
    assert refused["isError"]
    assert "synapse agents allow claude" in text(refused)
    registry.allow("claude")
    assert not agent.call("assert_facts", **FACT).get("isError")
    registry.pause("claude")
    assert "paused" in text(agent.call("assert_facts", **FACT))
    assert not agent.call("entity_dossier", entity="a").get("isError")
    registry.resume("claude")
    assert not agent.call("assert_facts", **FACT).get("isError")
    assert {activity.name for activity in engine.agent_activity()} == {"claude"}


def test_a_revoked_agent_is_answered_once_more_and_hung_up_on(
    here: Owner, registry: Registry, attach: Attach
) -> None:
    agent, other = attach(here.discovery, agent="claude"), attach(here.discovery, agent="cursor")
    registry.revoke("claude")
    refused = agent.call("entity_dossier", entity="a")
    assert refused["isError"]
    assert "revoked" in text(refused)
    assert agent.line.read() is None
    assert not other.call("entity_dossier", entity="a").get("isError")


def test_a_person_hangs_up_on_one_agent_and_its_calls_are_answered(
    owners: Any, here: Owner, engine: Engine, registry: Registry, attach: Attach
) -> None:
    agent, other = attach(here.discovery, agent="claude"), attach(here.discovery, agent="cursor")
    registry.allow("claude")
    with owners.busy_writer(engine):
        id = agent.begin("tools/call", {"name": "assert_facts", "arguments": FACT})
        owners.until(lambda: not here.is_idle, "the call's start")
        (one,) = [attached.id for attached in here.attached() if attached.name == "claude"]
        here.detach(one)
        answer = agent.answer(id)
        assert answer is not None, "it was hung up on without an answer"
        assert "may or may not have taken effect" in str(answer)
        assert agent.line.read() is None
    assert [attached.name for attached in here.attached()] == ["cursor"]
    assert other.ask("ping") == {}
    here.detach(one)
    here.detach(99)
    assert other.ask("ping") == {}


def test_a_ping_and_a_read_are_answered_while_writes_wait(
    owners: Any, here: Owner, engine: Engine, registry: Registry, attach: Attach
) -> None:
    agent = attach(here.discovery, agent="claude")
    registry.allow("claude")
    with owners.busy_writer(engine):
        writes = [agent.begin("tools/call", {"name": "assert_facts", "arguments": FACT}) for _ in range(10)]
        assert agent.ask("ping") == {}
        assert not agent.call("entity_dossier", entity="a").get("isError")
    frames = [agent.line.read() for _ in writes]
    assert {frame["id"] for frame in frames if "id" in frame} <= set(writes)


def test_an_agents_calls_are_answered_when_the_vault_is_handed_over(
    owners: Any, sample: Path, attach: Attach
) -> None:
    owners.serve(sample)
    agent = attach(owners.of(sample), agent="claude")
    never = "SELECT (count(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . FILTER(?a != ?i) }"
    asked = [
        agent.begin("tools/call", {"name": "sparql_query", "arguments": {"query": never, "timeout": 60}})
        for _ in range(3)
    ]
    assert agent.ask("ping") == {}
    take_over(sample)
    answered = set()
    while (frame := agent.line.read()) is not None:
        if "id" in frame:
            answered.add(frame["id"])
    assert answered == set(asked)
    open_taking_over(sample).close()


def test_each_of_two_vaults_has_an_owner_of_its_own(
    owners: Any, small: Path, sample: Path, attach: Attach
) -> None:
    """Case 17, at the owner's end."""
    owners.serve(small)
    owners.serve(sample)
    one, two = owners.of(small), owners.of(sample)
    assert len({one.pid, two.pid}) == len({one.socket, two.socket}) == len({one.token, two.token}) == 2
    for owner, label in ((one, "B"), (two, "Payments")):
        entity = "b" if label == "B" else "modules/payments"
        assert label in text(attach(owner).call("entity_dossier", entity=entity))
    line = owners.dial(one)
    line.send({"token": two.token, "protocol": "mcp", "pid": 1})
    assert line.read()["error"]["kind"] == "refused"
