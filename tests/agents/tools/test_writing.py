"""What agents state and take back, and who may (cases 1, 20, 21)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from synapse.engine import open_vault

KNOWS = {"subject": "a", "predicate": "knows", "object": "b"}
NOTES = {"a.md": "# A\n", "b.md": "# B\n", "c.md": "# C\n\nneeds:: [[d]]\n", "d.md": "# D\n"}


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
def test_twenty_statements_sent_at_once_are_all_there_also_after_a_restart(
    house: Callable[..., Any], era: str
) -> None:
    made = house(NOTES)
    agent = made.attach(era=era)

    async def all_at_once() -> list[Any]:
        calls = (
            agent.client.call_tool(
                "assert_facts",
                {"facts": [{**KNOWS, "object": f"n/{number}"}], "source": "s", "reason": "r"},
            )
            for number in range(20)
        )
        return await asyncio.gather(*calls)

    answers = agent.portal.call(all_at_once)
    assert not any(answer.is_error for answer in answers)
    assertions = {answer.structured_content["assertion"] for answer in answers}
    revisions = [int(answer.structured_content["revision"].rpartition("-")[2]) for answer in answers]
    assert len(assertions) == len(set(revisions)) == 20
    wanted = {f"n/{number}" for number in range(20)}
    assert wanted <= {fact["object"] for fact in agent.call("entity_dossier", entity="a")["outgoing"]}
    made.owner.close()
    made.engine.close()
    with open_vault(made.engine.vault) as again:
        assert wanted <= {fact.object.id for fact in again.dossier("a").outgoing}


def test_a_new_agent_reads_and_tries_but_writes_only_once_a_person_allows_it(
    house: Callable[..., Any],
) -> None:
    made = house(NOTES)
    agent = made.attach("newcomer", writes=False)
    statement = {"facts": [KNOWS], "source": "s", "reason": "r"}
    error = agent.error("assert_facts", **statement)
    assert "synapse agents allow newcomer" in error
    assert "read but not write" in error
    assert "synapse agents allow" in agent.error("retract_facts", assertion="x", reason="r")
    tried = agent.call("assert_facts", **statement, dry_run=True)
    assert (tried["facts"], tried["dry_run"]) == (1, True)
    assert "assertion" not in tried
    assert agent.call("entity_dossier", entity="a")["outgoing"] == []
    made.registry.allow("newcomer")
    agent.call("assert_facts", **statement)
    made.registry.pause("newcomer")
    assert "paused" in agent.error("assert_facts", **statement)
    assert len(agent.call("entity_dossier", entity="a")["outgoing"]) == 1
    made.registry.revoke("newcomer")
    assert "revoked" in agent.error("digest")


def test_a_fact_says_which_agent_with_which_program_stated_it_and_why(house: Callable[..., Any]) -> None:
    made = house(NOTES)
    agent = made.attach("scribe")
    stated = agent.call("assert_facts", facts=[KNOWS], source="the meeting", reason="they said so")
    text, data = agent.answer("fact_provenance", **KNOWS)
    (source,) = data["sources"]
    assert (source["kind"], source["label"]) == ("agent", "scribe")
    assert (source["stated_source"], source["reason"]) == ("the meeting", "they said so")
    assert source["assertion"] == stated["assertion"]
    assert 'because "they said so"' in text
    (activity,) = made.engine.agent_activity()
    assert (activity.name, activity.kind) == ("scribe", "software")
    assert "pytest" in activity.client


def test_a_key_makes_a_statement_safe_to_send_twice(house: Callable[..., Any]) -> None:
    agent = house(NOTES).attach()
    statement = {"facts": [KNOWS], "source": "s", "reason": "r", "idempotency_key": "k-1"}
    first = agent.call("assert_facts", **statement)
    text, second = agent.answer("assert_facts", **statement)
    assert first["assertion"] == second["assertion"]
    assert (first["repeated"], second["repeated"]) == (False, True)
    assert "Nothing was stored anew" in text
    other = {**statement, "facts": [{**KNOWS, "object": "c"}]}
    assert agent.error("assert_facts", **other)


def test_a_new_fact_retires_no_other_and_only_supersedes_does(house: Callable[..., Any]) -> None:
    agent = house(NOTES).attach()

    def title(text: str, **more: Any) -> str:
        fact = {"subject": "a", "predicate": "job_title", "object": text, "object_kind": "literal"}
        done = agent.call("assert_facts", facts=[fact], source="s", reason="r", **more)
        return str(done["assertion"])

    def titles() -> set[str]:
        found = agent.call("entity_dossier", entity="a")["attributes"]
        return {fact["object"] for fact in found if fact["predicate"] == "job_title"}

    first = title("Engineer")
    title("Director")
    assert titles() == {"Engineer", "Director"}
    title("Chair", supersedes=[first])
    assert titles() == {"Director", "Chair"}


def test_a_retracted_fact_is_gone_everywhere_and_its_record_stays(house: Callable[..., Any]) -> None:
    made = house({**NOTES, "scenario.md": "# S\n"})
    agent = made.attach()
    depends = {"subject": "a", "predicate": "depends_on", "object": "d"}
    done = agent.call("assert_facts", facts=[depends], source="s", reason="r")
    assert agent.call("dependency_impact", entity="d")["total"] == 1
    gone = agent.call("retract_facts", assertion=done["assertion"], reason="it was wrong")
    assert gone["withdrawn"][0]["object"] == "d"
    assert depends["predicate"] in {fact["predicate"] for fact in gone["no_longer_holds"]}
    for entity in ("a", "d"):
        dossier = agent.call("entity_dossier", entity=entity)
        assert not any(
            fact["predicate"] == "depends_on" for fact in dossier["outgoing"] + dossier["incoming"]
        )
        near = agent.call("entity_neighbourhood", entity=entity)
        assert not any(edge["predicate"] == "depends_on" for edge in near["edges"])
    assert agent.call("dependency_impact", entity="d")["total"] == 0
    assert agent.call("sparql_query", query="ASK { <a> prop:depends_on <d> }")["answer"] is False
    assert agent.error("fact_provenance", **depends)
    for digest in (agent.digest(), agent.text("digest")):
        learned, _, withdrawn = digest.partition("## Withdrawn")
        assert "depends on" not in learned
        assert "A depends on D" in withdrawn
    assert "withdrawn before" in agent.error("retract_facts", assertion=done["assertion"], reason="r")
    assert made.engine.assertions_of("tester")


def test_what_a_note_states_cannot_be_taken_back_and_the_error_says_where_it_stands(
    house: Callable[..., Any],
) -> None:
    made = house(NOTES)
    error = made.attach().error(
        "retract_facts", facts=[{"subject": "c", "predicate": "needs", "object": "d"}], reason="r"
    )
    assert "`c.md:3`" in error
    assert str(made.engine.vault) not in error


def test_retracting_needs_one_of_two(house: Callable[..., Any]) -> None:
    agent = house(NOTES).attach()
    for arguments in ({}, {"assertion": "x", "facts": [KNOWS]}):
        assert "`assertion` or `facts`, one of the two" in agent.error(
            "retract_facts", **arguments, reason="r"
        )


def test_an_object_without_a_note_is_pointed_out(house: Callable[..., Any]) -> None:
    agent = house(NOTES).attach()
    text, data = agent.answer(
        "assert_facts",
        facts=[{"subject": "a", "predicate": "job_title", "object": "Lead engineer"}, KNOWS],
        source="s",
        reason="r",
    )
    assert data["no_note"] == ["Lead engineer"]
    assert '"object_kind": "literal"' in text


def test_all_facts_of_a_call_are_stated_or_none(house: Callable[..., Any]) -> None:
    agent = house(NOTES).attach()
    wrong = {**KNOWS, "object": "../x"}
    assert agent.error("assert_facts", facts=[KNOWS, wrong], source="s", reason="r")
    assert agent.call("entity_dossier", entity="a")["outgoing"] == []
    assert "empty" in agent.error("assert_facts", facts=[KNOWS], source=" ", reason="r")
