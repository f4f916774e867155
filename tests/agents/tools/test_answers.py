"""What the tools answer on the sample vault, asked by the SDK's client in both eras."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from synapse.agents.tools.table import TOOLS

READS = [tool for tool in TOOLS if tool.reads]


@pytest.fixture
def house(house: Callable[..., Any]) -> Iterator[Any]:
    """The sample vault."""
    yield house()


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
def test_every_reading_tool_answers_its_own_example_in_text_and_data(house: Any, era: str) -> None:
    agent = house.attach(era=era)
    for tool in READS:
        agent.answer(tool.name, **tool.example)


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_an_agent_is_told_how_to_work_here(house: Any, era: str) -> None:
    agent = house.attach(era=era)
    for word in ("synapse://digest", "read-only", "provenance"):
        assert word in agent.client.instructions


def test_what_depends_on_payments_is_complete_with_its_paths(house: Any) -> None:
    text, data = house.attach().answer("dependency_impact", entity="modules/payments")
    assert data["total"] == len(data["items"]) == 14
    assert data["cursor"] is None
    assert "14 entities depend on it" in text
    shop = data["items"][-1]
    assert (shop["id"], shop["depth"], len(shop["path"])) == ("projects/pocket-shop", 4, 4)
    console = next(line for line in text.splitlines() if "admin-console" in line)
    assert "`modules/payments` `used_by` it (`modules/payments.md:25`)" in console


def test_a_dossier_says_who_states_each_fact_and_marks_what_is_inferred(house: Any) -> None:
    text, data = house.attach().answer("entity_dossier", entity="people/ada")
    title = next(fact for fact in data["attributes"] if fact["predicate"] == "job_title")
    assert (title["object"], title["object_kind"]) == ("Lead engineer", "literal")
    assert title["sources"][0]["label"] == "people/ada.md"
    assert '- `job_title`: "Lead engineer" — `people/ada.md:5`' in text
    assert "- → `owns` `modules/payments` — inferred" in text


def test_each_fact_of_a_dossier_can_be_given_back_as_it_is(house: Any) -> None:
    agent = house.attach()
    data = agent.call("entity_dossier", entity="people/ada")
    facts = [fact for name in ("types", "attributes", "outgoing", "incoming") for fact in data[name]]
    assert len(facts) == data["total"] > 30
    for fact in facts:
        told = agent.call(
            "fact_provenance", subject=fact["subject"], predicate=fact["predicate"], object=fact["object"]
        )
        assert told["fact"]["object"] == fact["object"]
        assert told["fact"]["inferred"] == fact["inferred"]


def test_an_inferred_fact_is_proved_down_to_what_files_state(house: Any) -> None:
    text, data = house.attach().answer(
        "fact_provenance", subject="people/ada", predicate="owns", object="modules/payments"
    )
    steps = data["proof"]["steps"]
    assert data["sources"] == []
    assert len(steps) == data["proof"]["total"] > 1
    assert steps[-1]["fact"]["predicate"] == "owns"
    assert all(premise < step["step"] for step in steps for premise in step["premises"])
    assert all("rule" in step or step["fact"]["sources"] for step in steps)
    assert "follows from what is stated" in text


def test_a_neighbourhood_says_what_it_leaves_out(house: Any) -> None:
    agent = house.attach()
    text, data = agent.answer("entity_neighbourhood", entity="modules/payments", limit=5)
    assert len(data["nodes"]) == 5
    assert data["cut"] == data["total"] - 5 > 0
    assert f"Left out: {data['cut']} entities" in text
    narrow = agent.call("entity_neighbourhood", entity="modules/payments", predicates="depends_on", depth=2)
    assert {edge["predicate"] for edge in narrow["edges"]} == {"depends_on"}


def test_a_query_gives_ids_that_other_tools_take(house: Any) -> None:
    agent = house.attach()
    query = "SELECT ?who ?name { ?who prop:depends_on <modules/payments> ; rdfs:label ?name } ORDER BY ?name"
    text, data = agent.answer("sparql_query", query=query, limit=3)
    assert [row["name"]["text"] for row in data["rows"]] == sorted(
        row["name"]["text"] for row in data["rows"]
    )
    assert (data["returned"], data["truncated"]) == (3, True)
    assert "OFFSET 3" in text
    for row in data["rows"]:
        agent.call("entity_dossier", entity=row["who"]["id"])


def test_ask_and_construct_are_answered_too(house: Any) -> None:
    agent = house.attach()
    ask = agent.answer("sparql_query", query="ASK { <people/ada> ?p ?o }")
    assert ask == ("Yes.", {"kind": "ask", "answer": True, "returned": 1, "truncated": False})
    data = agent.call("sparql_query", query="CONSTRUCT WHERE { <people/ada> prop:joined ?o }")
    assert data["kind"] == "graph"
    assert data["rows"][0]["object"] == {"text": "2019-09-02", "datatype": "xsd:date"}


def test_an_unbound_variable_is_absent_and_said_to_be_nothing(house: Any) -> None:
    text, data = house.attach().answer("sparql_query", query="SELECT ?a ?b { VALUES ?a { 1 } }")
    assert list(data["rows"][0]) == ["a"]
    assert "?b = nothing" in text


def test_the_digest_is_a_tool_and_a_resource_with_the_same_text(house: Any) -> None:
    agent = house.attach()
    text, data = agent.answer("digest")
    assert text == data["digest"] == agent.digest() == house.engine.digest()


def test_search_finds_what_is_there_and_says_when_nothing_is(house: Any) -> None:
    agent = house.attach()
    assert agent.call("search", text='"payment provider"')["hits"][0]["id"]
    text, data = agent.answer("search", text="zyxomma")
    assert (data["total"], data["hits"]) == (0, [])
    assert "Nothing was found" in text


def test_an_unknown_entity_is_answered_with_the_nearest_ids(house: Any) -> None:
    agent = house.attach()
    for tool in ("entity_dossier", "entity_neighbourhood", "dependency_impact"):
        assert "The nearest ids: `modules/payments`" in agent.error(tool, entity="modules/paymets")
    assert "search" in agent.error("entity_dossier", entity="nothing-like-it").casefold()


def test_a_fact_that_does_not_hold_is_an_error_that_says_where_to_look(house: Any) -> None:
    error = house.attach().error(
        "fact_provenance", subject="people/ada", predicate="owns", object="modules/ledger"
    )
    assert "neither is stated nor follows" in error
    assert "dossier" in error


def test_a_query_that_does_not_parse_says_where(house: Any) -> None:
    assert "line 1, column" in house.attach().error("sparql_query", query="SELECT ?x { ?x }")


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
def test_an_unknown_tool_and_an_unknown_resource_are_errors_of_the_protocol(house: Any, era: str) -> None:
    agent = house.attach(era=era)
    with pytest.raises(MCPError, match="Did you mean entity_dossier"):
        agent.result("entity_dosier")
    with pytest.raises(MCPError, match="synapse://digest"):
        agent.portal.call(lambda: agent.client.read_resource("synapse://other"))


def test_what_fails_by_our_fault_is_logged_and_told_without_internals(
    house: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    agent = house.attach()

    def broken(*_: object) -> None:
        raise RuntimeError("/secret/place at 0xdead")

    monkeypatch.setattr(type(house.engine), "dossier", broken)
    error = agent.error("entity_dossier", entity="people/ada")
    assert "fault of its own" in error
    assert "secret" not in error
    assert "/secret/place" in caplog.text
    assert agent.call("search", text="ada")["total"]


def test_calls_and_writes_are_counted_and_the_client_is_known(house: Any) -> None:
    for era in ("legacy", "2026-07-28"):
        agent = house.attach(f"agent {era}", era=era)
        agent.call("digest")
        agent.error("entity_dossier")
        stated = {"subject": "people/ada", "predicate": "knows", "object": "people/farid"}
        agent.call("assert_facts", facts=[stated], source="s", reason="r", dry_run=True)
        agent.call("assert_facts", facts=[stated], source="s", reason="r")
        (attached,) = (one for one in house.owner.attached() if one.name == f"agent {era}")
        assert (attached.client, attached.client_version) == ("pytest", "7")
        assert (attached.calls, attached.writes) == (4, 1)
