"""However many programs start at once, one of them owns the vault and all of them are served."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

BRIDGES = 10
QUESTION = {"name": "dependency_impact", "arguments": {"entity": "modules/payments"}}


def owners_of(world: Any) -> list[str]:
    return [line for line in world.processes().values() if " serve " in f"{line} " or " open " in f"{line} "]


def one_round(world: Any, vault: Path, bridge: Callable[..., Any], expected: list[str]) -> None:
    """Ten bridges and a window at once; everybody is answered; all go; nothing stays."""
    window = world.start("open", str(vault))
    bridges = [bridge(f"agent-{number}") for number in range(BRIDGES)]
    for one in bridges:
        one.initialize()
    answers = [one.send("tools/call", QUESTION) for one in bridges]
    for answer in answers:
        frame = answer.result(90)
        assert "result" in frame, frame
        found = [item["id"] for item in frame["result"]["structuredContent"]["items"]]
        assert found == expected
    owner = world.wait_for_owner(vault, "window")
    assert owner.pid == window.pid
    from_all = [one.send("tools/call", QUESTION).result(60) for one in bridges]
    assert all("result" in frame for frame in from_all), from_all
    assert owners_of(world) == [line for pid, line in world.processes().items() if pid == window.pid]
    for one in bridges:
        assert one.end() == 0
        assert not one.strange
    window.send_signal(signal.SIGTERM)
    assert window.wait(30) == 0
    assert not world.processes(), "a process stayed behind"


@pytest.mark.parametrize(
    "rounds",
    [2, pytest.param(50, marks=[pytest.mark.slow, pytest.mark.timeout(3600)])],
)
def test_ten_bridges_and_a_window_at_once_have_one_owner(
    rounds: int, world: Any, vault: Path, bridge: Callable[..., Any]
) -> None:
    first = world.run("impact", str(vault), "modules/payments", "--json")
    assert first.returncode == 0, first.stderr
    expected = [item["entity"]["id"] for item in json.loads(first.stdout)["items"]]
    assert len(expected) > 10
    for _ in range(rounds):
        one_round(world, vault, bridge, expected)
    assert "Traceback" not in world.said()


def test_two_servers_at_once_leave_one(world: Any, vault: Path) -> None:
    servers = [world.start("serve", str(vault), "--detached") for _ in range(4)]
    owner = world.wait_for_owner(vault)
    losers = [server for server in servers if server.pid != owner.pid]
    assert len(losers) == 3
    assert [loser.wait(30) for loser in losers] == [0, 0, 0]
    os.kill(owner.pid, signal.SIGTERM)
    (winner,) = [server for server in servers if server.pid == owner.pid]
    assert winner.wait(30) == 0
    assert world.owner(vault) is None
    assert isinstance(winner, subprocess.Popen)
