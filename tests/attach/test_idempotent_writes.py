"""Writes under kills: what was acknowledged is there once, what was not is there at most once."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

WRITERS = 4


@pytest.mark.parametrize(
    ("writes", "kills"),
    [(60, 3), pytest.param(1000, 20, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])],
)
def test_an_acknowledged_write_is_there_once_and_an_unanswered_one_at_most_once(
    writes: int, kills: int, world: Any, vault: Path, bridge: Callable[..., Any]
) -> None:
    agents = [f"writer-{number}" for number in range(WRITERS)]
    world.allow(*agents)
    bridges = [bridge(agent) for agent in agents]
    for one in bridges:
        one.initialize()
    acknowledged: dict[str, str] = {}
    unanswered: set[str] = set()
    lock = threading.Lock()
    done = threading.Event()

    def write(one: Any, numbers: range) -> None:
        for number in numbers:
            key = f"write-{number}"
            fact = {"subject": f"counters/n{number}", "predicate": "count_of", "object": "counters/all"}
            frame = one.call(
                "assert_facts", facts=[fact], source="a test", reason="counting", idempotency_key=key
            ).result(60)
            result = frame.get("result")
            with lock:
                if result is not None and not result.get("isError"):
                    acknowledged[key] = result["structuredContent"]["assertion"]
                else:
                    assert "may or may not" in json.dumps(frame) or "not running" in json.dumps(frame), frame
                    unanswered.add(key)

    threads = [
        threading.Thread(target=write, args=(one, range(place, writes, WRITERS)))
        for place, one in enumerate(bridges)
    ]

    def kill_now_and_then() -> None:
        chance = random.Random(7)
        for number in range(kills):
            goal = (number + 1) * writes / (kills + 1)
            while len(acknowledged) + len(unanswered) < goal and not done.is_set():
                time.sleep(0.01)
            time.sleep(chance.random() * 0.05)
            owner = world.owner(vault)
            if owner is not None:
                os.kill(owner.pid, signal.SIGKILL)

    killer = threading.Thread(target=kill_now_and_then)
    for thread in (*threads, killer):
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    killer.join()
    assert len(acknowledged) + len(unanswered) == writes
    assert len(acknowledged) > writes / 2

    # Asked again with their keys, all of them are there, each once, the acknowledged ones unchanged.
    again = bridges[0]
    for place, one in enumerate(bridges):
        for number in range(place, writes, WRITERS):
            key = f"write-{number}"
            if key in acknowledged and number % 10:
                continue
            fact = {"subject": f"counters/n{number}", "predicate": "count_of", "object": "counters/all"}
            result = one.ask(
                "tools/call",
                {
                    "name": "assert_facts",
                    "arguments": {
                        "facts": [fact], "source": "a test", "reason": "counting", "idempotency_key": key,
                    },
                },
            )  # fmt: skip
            assert not result.get("isError"), result
            if key in acknowledged:
                assert result["structuredContent"]["assertion"] == acknowledged[key]
    query = "SELECT ?n (COUNT(?g) AS ?times) { GRAPH ?g { ?n prop:count_of <counters/all> } } GROUP BY ?n"
    answer = world.run("query", str(vault), query, "--json")
    assert answer.returncode == 0, answer.stderr
    rows = json.loads(answer.stdout)["results"]["bindings"]
    times = Counter({row["n"]["value"]: int(row["times"]["value"]) for row in rows})
    assert len(times) == writes
    assert set(times.values()) == {1}
    check = world.run("check", str(vault), "--json")
    assert json.loads(check.stdout)["ok"] is True
    for one in bridges:
        one.end()
    assert again.strange == []
    print(f"{writes} writes, {kills} kills: {len(acknowledged)} acknowledged, {len(unanswered)} unanswered")
