"""What agents state and take back: durable, attributed, and gone from every answer once withdrawn."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyoxigraph import NamedNode

from synapse.engine import Agent, Engine, WrittenFact
from synapse.engine.errors import InvalidFact, InvalidId, NotFound, NotHolding, RetractionRefused, UsageError
from synapse.engine.terms import vocabulary as v

AGENT = Agent("scout", "software", "some host", "1.2")
KNOWS = WrittenFact("people/ada", "knows", "people/bob")


def state(engine: Engine, *facts: WrittenFact) -> Any:
    return engine.assert_facts(list(facts), source="a meeting", reason="they said so", agent=AGENT)


def journal(vault: Any) -> list[dict[str, Any]]:
    (file,) = (vault.folder / ".synapse" / "journal").glob("*.jsonl")
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_a_stated_fact_is_known_with_its_agent_reason_and_source(vault: Any) -> None:
    vault.write("people/ada.md", "# Ada\n")
    with vault.open() as engine:
        engine.index()
        stated = state(engine, KNOWS)
        assert (stated.facts, stated.inferred) == (1, 1)
        found = engine.provenance("people/ada", "knows", "people/bob")
        (source,) = found.fact.sources
        assert (source.kind, source.agent, source.reason, source.stated_source, source.assertion) == (
            "agent", "scout", "they said so", "a meeting", stated.assertion,
        )  # fmt: skip
        assert [(activity.agent, activity.reason) for activity in found.activities] == [
            ("scout", "they said so")
        ]
        proof = engine.explain("people/bob", "knows", "people/ada")
        assert [
            leaf.fact.sources[0].kind for leaf in proof.leaves() if leaf.fact.subject.id == "people/ada"
        ] == ["agent"]
        assert engine.check().ok


def test_nothing_is_written_into_a_vault_before_an_agent_writes(vault: Any) -> None:
    vault.write("a.md", "one\n")
    with vault.open() as engine:
        engine.index()
        assert set(vault.bytes()) == {"a.md"}
        state(engine, KNOWS)
        assert {path.split("/")[0] for path in vault.bytes()} == {"a.md", ".synapse"}


def test_a_statement_survives_closing_and_a_rebuild(vault: Any) -> None:
    with vault.open() as engine:
        engine.index()
        state(engine, KNOWS)
    with vault.open() as engine:
        assert engine.dossier("people/bob").incoming[0].subject.id == "people/ada"
        engine.rebuild()
        assert engine.dossier("people/bob").incoming[0].subject.id == "people/ada"


def test_a_withdrawn_fact_is_gone_from_every_answer_and_stays_in_the_journal(vault: Any) -> None:
    vault.write("people/ada.md", "# Ada\n")
    with vault.open() as engine:
        engine.index()
        state(engine, KNOWS)
        before = engine.status()
        taken = engine.retract_facts(facts=[KNOWS], reason="a mistake", agent=AGENT)
        assert [fact.sentence for fact in taken.withdrawn] == ["Ada knows bob"]
        assert [fact.sentence for fact in taken.no_longer_holds] == ["Ada knows bob", "bob knows Ada"]
        assert taken.still_holds == ()
        after = engine.status()
        assert (after.facts, after.inferred) == (before.facts - 1, before.inferred - 1)
        assert engine.query("ASK { <people/ada> schema:knows ?x }").value is False  # type: ignore[union-attr]
        assert "knows" not in {fact.predicate.label for fact in engine.dossier("people/ada").outgoing}
        assert len(engine.neighbourhood("people/ada").nodes) == 1
        assert "bob" not in engine.digest().split("## Withdrawn")[0]
        assert "Ada knows bob" in engine.digest().split("## Withdrawn")[1]
        with pytest.raises(NotHolding):
            engine.explain("people/ada", "knows", "people/ada")
        events = journal(vault)
        assert [(event["kind"], event["who"]["name"], event["why"]) for event in events] == [
            ("assert", "scout", "they said so"),
            ("retract", "scout", "a mistake"),
        ]
        assert engine.check().ok


def test_the_retraction_names_the_statements_in_meta(vault: Any) -> None:
    with vault.open() as engine:
        engine.index()
        stated = state(engine, KNOWS)
        engine.retract_facts(assertion=stated.assertion, reason="a mistake")
        found = engine.query(
            "SELECT ?who ?what { GRAPH <urn:synapse:meta> {"
            f" <{v.ASSERTION}{stated.assertion}> prov:wasInvalidatedBy ?activity ."
            " ?activity prov:wasAssociatedWith/rdfs:label ?who ; prop:withdrew ?what } }"
        )
        ((who, what),) = found.rows  # type: ignore[union-attr]
        assert what.subject == NamedNode("vault:/people/ada")
        assert who.value


def test_a_fact_that_a_note_states_too_still_holds(vault: Any) -> None:
    vault.write("people/ada.md", "# Ada\n\nknows:: [[people/bob]]\n")
    with vault.open() as engine:
        engine.index()
        state(engine, KNOWS)
        taken = engine.retract_facts(facts=[KNOWS], reason="a mistake")
        assert taken.no_longer_holds == ()
        assert [still.because for still in taken.still_holds] == ["people/ada.md:3 states it"]
        assert engine.query("ASK { <people/bob> schema:knows <people/ada> }").value  # type: ignore[union-attr]
        assert engine.check().ok


def test_a_fact_that_follows_from_others_still_holds(vault: Any) -> None:
    vault.write("people/bob.md", "knows:: [[people/ada]]\n")
    with vault.open() as engine:
        engine.index()
        state(engine, KNOWS)
        assert engine.dossier("people/ada").outgoing[0].inferred is False
        taken = engine.retract_facts(facts=[KNOWS], reason="a mistake")
        assert [still.because for still in taken.still_holds] == ["it follows from other facts"]
        assert engine.dossier("people/ada").outgoing[0].inferred is True
        assert engine.check().ok


def test_of_two_agents_one_can_take_back_without_the_other(vault: Any) -> None:
    with vault.open() as engine:
        engine.index()
        first = state(engine, KNOWS)
        engine.assert_facts([KNOWS], source="a letter", reason="read it", agent=Agent("reader"))
        taken = engine.retract_facts(assertion=first.assertion, reason="not sure")
        assert [still.because for still in taken.still_holds] == ["reader states it"]
        assert engine.check().ok


def test_what_no_agent_states_cannot_be_taken_back(vault: Any) -> None:
    vault.write("people/ada.md", "# Ada\n\nknows:: [[people/bob]]\n")
    with vault.open() as engine:
        revision = engine.index().revision
        with pytest.raises(RetractionRefused) as stated:
            engine.retract_facts(facts=[KNOWS], reason="x")
        assert (stated.value.path, stated.value.line) == ("people/ada.md", 3)
        with pytest.raises(RetractionRefused, match="follows"):
            engine.retract_facts(facts=[WrittenFact("people/bob", "knows", "people/ada")], reason="x")
        with pytest.raises(RetractionRefused, match="ontology core"):
            engine.retract_facts(
                facts=[WrittenFact("schema:knows", "type", "owl:SymmetricProperty")], reason="x"
            )
        assert engine.status().revision == revision
        assert set(vault.bytes()) == {"people/ada.md"}


def test_retracting_is_all_or_nothing(vault: Any) -> None:
    vault.write("people/ada.md", "sees:: [[people/bob]]\n")
    with vault.open() as engine:
        engine.index()
        state(engine, KNOWS)
        with pytest.raises(RetractionRefused):
            engine.retract_facts(facts=[KNOWS, WrittenFact("people/ada", "sees", "people/bob")], reason="x")
        assert engine.query("ASK { <people/ada> schema:knows <people/bob> }").value  # type: ignore[union-attr]
        assert len(journal(vault)) == 1


def test_an_assertion_cannot_be_taken_back_twice(vault: Any) -> None:
    with vault.open() as engine:
        engine.index()
        stated = state(engine, KNOWS)
        engine.retract_facts(assertion=stated.assertion, reason="x")
        with pytest.raises(RetractionRefused, match="before"):
            engine.retract_facts(assertion=stated.assertion, reason="x")
        with pytest.raises(NotFound):
            engine.retract_facts(assertion="nothing", reason="x")


@pytest.mark.parametrize(
    ("fact", "error"),
    [
        (WrittenFact("../secret", "knows", "a"), InvalidId),
        (WrittenFact("a", "knows", "/etc//passwd"), InvalidId),
        (WrittenFact("a", "", "b"), InvalidFact),
        (WrittenFact("a", "knows", "b\x00"), InvalidFact),
        (WrittenFact("a", "height", "tall\x00", "literal"), InvalidFact),
        (WrittenFact("a", "height", "3", "literal", "not a datatype"), InvalidFact),
        (WrittenFact("a", "says", "\ud800", "literal"), InvalidFact),
        (WrittenFact("a\udfff", "knows", "b"), InvalidFact),
        (WrittenFact("a", "says", "x", "literal", None, "not a language"), InvalidFact),
    ],
)
def test_a_fact_that_cannot_be_stated_is_refused_and_nothing_is_stored(
    vault: Any, fact: WrittenFact, error: type[Exception]
) -> None:
    with vault.open() as engine:
        revision = engine.index().revision
        with pytest.raises(error):
            state(engine, KNOWS, fact)
        assert engine.status().revision == revision
        assert vault.bytes() == {}


@pytest.mark.parametrize(("source", "reason"), [("", "why"), ("where", " ")])
def test_a_statement_needs_a_source_and_a_reason(vault: Any, source: str, reason: str) -> None:
    with vault.open() as engine:
        engine.index()
        with pytest.raises(UsageError):
            engine.assert_facts([KNOWS], source=source, reason=reason)


@pytest.mark.parametrize(
    "text", ["> } ; DROP ALL ; #", 'say "yes"\n\tand \\ no', "}", "日本語 \U0001f600", "<b>"]
)
def test_text_stays_text_however_it_looks(vault: Any, text: str) -> None:
    with vault.open() as engine:
        before = engine.index()
        state(engine, WrittenFact("a", "note", text, "literal"))
        assert engine.status().facts == before.facts + 1
        assert engine.dossier("a").attributes[0].object.label == text
        assert engine.provenance("a", "note", text).fact.sources[0].agent == "scout"


def test_an_agents_axiom_is_known_and_drives_no_inference(vault: Any) -> None:
    vault.write("a.md", "---\ntype: App\n---\n")
    axiom = WrittenFact("<urn:synapse:type:app>", "rdfs:subClassOf", "<urn:synapse:type:module>")
    with vault.open() as engine:
        before = engine.index()
        stated = state(engine, axiom)
        assert (stated.facts, stated.inferred) == (1, 0)
        assert engine.query("ASK { type:app rdfs:subClassOf type:module }").value  # type: ignore[union-attr]
        assert engine.status().inferred == before.inferred
        assert engine.check().ok
        # What an ontology note lets follow is stated by the agent already, and goes on when the agent goes.
        vault.write(
            "v.md", "---\ntype: ontology\n---\nsubclass_of: app -> part\nsubclass_of: part -> module\n"
        )
        engine.index()
        assert engine.check().ok
        engine.retract_facts(assertion=stated.assertion, reason="x")
        assert engine.query("ASK { type:app rdfs:subClassOf type:module }", "inferred").value  # type: ignore[union-attr]
        assert engine.check().ok


def test_lines_that_came_by_another_way_are_taken_in(vault: Any) -> None:
    with vault.open() as engine:
        engine.index()
        state(engine, KNOWS)
    line = json.dumps({**journal(vault)[0], "id": "01ZZZZZZZZZZZZZZZZZZZZZZZZ", "device": "other-device"})
    other = line.replace("people/bob", "people/cem")
    (vault.folder / ".synapse" / "journal" / "other-device.jsonl").write_text(other + "\n", "utf-8")
    with vault.open() as engine:
        engine.index()
        assert {fact.object.id for fact in engine.dossier("people/ada").outgoing} == {
            "people/bob",
            "people/cem",
        }
        assert engine.check().ok
