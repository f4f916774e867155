"""Calls at the same time: every answer goes to whoever asked, and nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

BRIDGES, CALLS = 10, 10


def test_a_hundred_calls_of_ten_bridges_are_answered_each_with_its_own(
    world: Any, vault: Path, bridge: Callable[..., Any]
) -> None:
    notes = [path.relative_to(vault).with_suffix("").as_posix() for path in sorted(vault.rglob("*.md"))]
    notes = [note for note in notes if not note.startswith(".") and "index" not in note][:CALLS]
    assert len(notes) == CALLS
    bridges = [bridge(f"agent-{number}") for number in range(BRIDGES)]
    for one in bridges:
        one.initialize()
    asked = [
        (note, one.call("entity_dossier", entity=note))
        for turn in range(CALLS)
        for place, one in enumerate(bridges)
        for note in [notes[(turn + place) % CALLS]]
    ]
    for note, answer in asked:
        frame = answer.result(60)
        assert frame["result"]["structuredContent"]["entity"]["id"] == note, frame
    assert not [line for one in bridges for line in one.strange]
    for one in bridges:
        one.end()


def test_twenty_writes_at_once_on_one_connection_are_all_there_also_after_a_restart(
    world: Any, vault: Path, bridge: Callable[..., Any]
) -> None:
    world.allow("claude")
    one = bridge("claude")
    one.initialize()
    answers = [
        one.call(
            "assert_facts",
            facts=[{"subject": f"counters/n{number}", "predicate": "count_of", "object": "counters/all"}],
            source="a test", reason="counting",
        )
        for number in range(20)
    ]  # fmt: skip
    assertions = {answer.result(60)["result"]["structuredContent"]["assertion"] for answer in answers}
    assert len(assertions) == 20
    query = ("query", str(vault), "SELECT ?n { ?n prop:count_of <counters/all> }", "--json")
    for _ in range(2):
        found = world.run(*query)
        assert found.returncode == 0, found.stderr
        assert len(json.loads(found.stdout)["results"]["bindings"]) == 20
        world.end()
