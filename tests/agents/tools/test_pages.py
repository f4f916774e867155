"""Answers are bounded, and nothing of them is lost (cases 4, 5)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from synapse.agents.tools.table import BY_NAME
from synapse.agents.tools.tool import BUDGET, Answer, fitted, size_of

MANY = 10_000
LONG = 50_000


def pages(agent: Any, tool: str, *lists: str, **arguments: Any) -> tuple[list[Any], int, int]:
    """All items of all pages, the total and how many pages there were."""
    found: list[Any] = []
    count, cursor = 0, None
    while count == 0 or cursor is not None:
        data = agent.call(tool, **arguments, cursor=cursor)
        shown = [item for name in lists for item in data[name]]
        assert shown
        assert len(shown) == data["returned"]
        found += shown
        count, cursor = count + 1, data["cursor"]
    return found, data["total"], count


def test_each_of_ten_thousand_relations_is_reached_exactly_once(house: Callable[..., Any]) -> None:
    kinds, others = range(MANY // 100), range(100)
    links = json.dumps([f"[[n/{other}]]" for other in others])
    lists = "".join(f"schema:kind{kind}: {links}\n" for kind in kinds)
    agent = house({"hub.md": f"---\n{lists}---\n# Hub\n"}).attach()
    text, data = agent.answer("entity_dossier", entity="hub", limit=1000)
    assert data["total"] >= MANY
    assert f"of {data['total']:,} on this page" in text
    assert data["cursor"] in text
    found, total, count = pages(
        agent, "entity_dossier", "types", "attributes", "outgoing", "incoming", entity="hub", limit=120
    )
    assert len(found) == total
    keys = [(fact["subject"], fact["predicate"], fact["object"]) for fact in found]
    assert len(set(keys)) == len(keys)
    wanted = {(f"schema:kind{kind}", f"n/{other}") for kind in kinds for other in others}
    assert {key[1:] for key in keys} >= wanted
    assert 1 < count < 150


def test_a_hub_among_neighbours_is_bounded_and_what_is_cut_is_counted(house: Callable[..., Any]) -> None:
    lines = "".join(f"- knows [[n/{number:05}]]\n" for number in range(600))
    agent = house({"hub.md": f"## Relations\n\n{lines}"}).attach()
    data = agent.call("entity_neighbourhood", entity="hub", limit=1000)
    assert data["total"] == 601
    assert data["cut"] == 601 - len(data["nodes"])
    assert data["edges_total"] == len(data["edges"]) + data["edges_cut"]


def test_everything_that_depends_is_reached_also_along_a_chain_of_hundreds(house: Callable[..., Any]) -> None:
    notes = {f"m{number:03}.md": f"depends_on:: [[m{number - 1:03}]]\n" for number in range(1, 200)}
    agent = house({"m000.md": "# Root\n", **notes}).attach()
    found, total, _ = pages(agent, "dependency_impact", "items", entity="m000")
    assert [item["id"] for item in found] == [f"m{number:03}" for number in range(1, 200)]
    assert total == 199
    assert found[-1]["path_omitted"] == 199 - len(found[-1]["path"])
    # The rest of a cut path is the path of the item where it is cut.
    assert found[-1]["path"][-1]["object"] == found[-1 - len(found[-1]["path"])]["id"]


def test_hits_of_a_search_are_reached_exactly_once(house: Callable[..., Any]) -> None:
    words = "quince " + "filling words around it " * 20
    agent = house({f"n{number:03}.md": f"# N {number}\n\n{words}\n" for number in range(200)}).attach()
    found, total, _ = pages(agent, "search", "hits", text="quince", limit=1000)
    assert total == len(found) == len({hit["id"] for hit in found}) == 200


def test_a_long_literal_is_cut_and_says_so(house: Callable[..., Any]) -> None:
    notes = {f"n{number}.md": f"---\nstory: {'a' * LONG}\n---\n" for number in range(3)}
    agent = house(notes).attach()
    text, data = agent.answer("entity_dossier", entity="n0")
    (story,) = (fact for fact in data["attributes"] if fact["predicate"] == "story")
    assert (len(story["object"]), story["object_length"]) == (1000, LONG)
    assert "characters more" in text
    rows = agent.call("sparql_query", query="SELECT ?s { ?n prop:story ?s }")["rows"]
    assert [row["s"]["length"] for row in rows] == [LONG] * 3
    part = agent.call(
        "sparql_query", query=f"SELECT (SUBSTR(?s, {LONG - 9}) AS ?end) {{ <n0> prop:story ?s }}"
    )["rows"][0]
    assert part["end"]["text"] == "a" * 10


def test_a_result_of_more_than_ten_megabytes_is_cut_and_the_owner_lives(house: Callable[..., Any]) -> None:
    agent = house({"a.md": f"---\nn: {list(range(60))}\ntext: {'x' * 600}\n---\n"}).attach()
    query = "SELECT ?a ?b ?c ?t { <a> prop:n ?a, ?b, ?c ; prop:text ?t }"
    text, data = agent.answer("sparql_query", query=query, limit=1000)
    assert data["truncated"] is True
    assert 10 < data["returned"] < 1000
    assert f"OFFSET {data['returned']}" in text
    rest = agent.call("sparql_query", query=f"{query} ORDER BY ?a ?b ?c OFFSET {60**3 - 5}")
    assert (rest["returned"], rest["truncated"]) == (5, False)
    agent.call("digest")


def test_a_cursor_that_is_none_of_ours_is_refused(house: Callable[..., Any]) -> None:
    agent = house({"a.md": "[[b]]\n"}).attach()
    for tool, arguments in (
        ("entity_dossier", {"entity": "a"}),
        ("dependency_impact", {"entity": "a"}),
        ("search", {"text": "b"}),
    ):
        for cursor in ("nonsense", "!", "é", "../../x"):
            assert "cursor" in agent.error(tool, **arguments, cursor=cursor)


@pytest.mark.parametrize("each", [10, 900, 20_000])
def test_a_page_is_as_long_as_it_may_be(each: int) -> None:
    def ask(limit: int) -> Answer:
        shown = min(limit, 500)
        return Answer("t" * each * shown, {"items": ["i" * each] * shown}, shown)

    answer = fitted(ask, 500)
    assert answer.size <= BUDGET
    assert answer.shown == 1 or answer.size > BUDGET * 0.6 or answer.shown == 500
    assert size_of(answer.data) + len(answer.text.encode()) == answer.size


def test_what_cannot_be_shorter_loses_text_with_a_word_and_no_data() -> None:
    answer = fitted(lambda _: Answer("é" * 40_000, {"item": "d" * 20_000}, 1), 10)
    assert answer.size <= BUDGET
    assert answer.data == {"item": "d" * 20_000}
    assert "shortened" in answer.text


def test_every_list_of_an_answer_has_a_total_or_says_that_it_was_cut() -> None:
    counted = {"total", "truncated", "sources_total", "withdrawn_total", "edges_total"}
    for tool in BY_NAME.values():
        properties = tool.result["properties"]
        if any(value.get("type") == "array" for value in properties.values()) and tool.name != "assert_facts":
            assert counted & set(properties), tool.name
