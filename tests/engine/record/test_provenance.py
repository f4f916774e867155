"""PROV-O about every named graph: complete, stable and without blank nodes."""

from __future__ import annotations

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, Store, Triple, parse

from synapse.engine.changes import Facts
from synapse.engine.record import provenance
from synapse.engine.record.events import Agent, Event
from synapse.engine.terms import assertion_graph
from synapse.engine.terms import vocabulary as v

START, END = "2026-01-02T03:04:05.678Z", "2026-01-02T03:04:06.000Z"
BOT = Agent("scout", "software", "client/x", "1.2")
ASSERT = Event("01ASSERT", "d", 1, START, "assert", BOT, "because", {})
RETRACT = Event("01RETRACT", "d", 2, END, "retract", Agent("alice", "person"), "wrong", {})
FACT = Triple(NamedNode("vault:/a"), NamedNode("urn:synapse:prop:knows"), Literal('> } ; DROP ALL ; #\n"'))
GRAPH = NamedNode("vault:/people/bob.md")


def everything() -> Facts:
    run = provenance.activity_iri("run")
    return (
        provenance.document(GRAPH, "people/bob.md", "ab12", run)
        | provenance.ontology(NamedNode("urn:synapse:ontology:core/s.ttl"), "s.ttl", "cd34", run)
        | provenance.inferences(run, [GRAPH])
        | provenance.activity(run, START, END, provenance.INDEXER)
        | provenance.activity(provenance.activity_iri("r"), START, END, v.REASONER)
        | provenance.assertion(ASSERT, NamedNode("https://example.org/talk"))
        | provenance.retraction(ASSERT.id, RETRACT, [FACT])
    )


def ask(query: str) -> list[list[str]]:
    store = Store()
    store.extend(Quad(t.subject, t.predicate, t.object, v.META) for t in everything())
    prefix = "PREFIX prov: <http://www.w3.org/ns/prov#> PREFIX prop: <urn:synapse:prop:> "
    return sorted(
        [getattr(term, "value", str(term)) for term in row]
        for row in store.query(prefix + query, default_graph=v.META)
    )


def test_every_graph_is_an_entity_derived_from_something_by_an_activity_of_an_agent() -> None:
    rows = ask(
        "SELECT ?g ?who { ?g a prov:Entity ; prov:wasDerivedFrom ?source ; prov:wasGeneratedBy ?act ."
        " ?act a prov:Activity ; prov:startedAtTime ?s ; prov:endedAtTime ?e ; prov:wasAssociatedWith ?a ."
        " ?a a prov:SoftwareAgent ; <http://www.w3.org/2000/01/rdf-schema#label> ?who }"
    )
    assert rows == [
        ["urn:synapse:assertion:01ASSERT", "scout"],
        ["urn:synapse:inferred", "Synapse's indexer"],
        ["urn:synapse:ontology:core/s.ttl", "Synapse's indexer"],
        ["vault:/people/bob.md", "Synapse's indexer"],
    ]


def test_a_retraction_says_what_was_withdrawn_when_by_whom_and_why() -> None:
    rows = ask(
        "SELECT ?s ?p ?o ?time ?reason ?kind { <urn:synapse:assertion:01ASSERT> prov:wasInvalidatedBy ?act ."
        " ?act prop:withdrew <<( ?s ?p ?o )>> ; prov:endedAtTime ?time ; prop:reason ?reason ;"
        " prov:wasAssociatedWith/a ?kind }"
    )
    assert rows == [
        ["vault:/a", "urn:synapse:prop:knows", "> } ; DROP ALL ; #\n\"", "2026-01-02T03:04:06Z", "wrong",
         "http://www.w3.org/ns/prov#Person"]
    ]  # fmt: skip


def test_the_client_and_its_version_are_kept() -> None:
    rows = ask(
        "SELECT ?c ?v ?r { ?a prop:client ?c ; prop:client_version ?v ."
        " ?act prov:wasAssociatedWith ?a ; prop:reason ?r }"
    )
    assert rows == [["client/x", "1.2", "because"]]


def test_nothing_is_blank_and_times_are_in_the_form_of_the_store() -> None:
    store = Store()
    facts = everything()
    store.extend(Quad(t.subject, t.predicate, t.object, v.META) for t in facts)
    assert {Triple(q.subject, q.predicate, q.object) for q in store} == facts, "the store changes no term"
    assert not any(isinstance(term, BlankNode) for t in facts for term in (t.subject, t.object))
    text = "".join(f"{t} .\n" for t in facts)
    assert {q.triple for q in parse(text.encode(), format=RdfFormat.N_TRIPLES)} == facts


def test_the_same_event_gives_the_same_statements() -> None:
    assert everything() == everything()
    assert provenance.new_activity(START) != provenance.new_activity(START)


def test_a_source_in_words_is_kept_as_words() -> None:
    found = provenance.assertion(ASSERT, "a talk at lunch")
    assert Triple(assertion_graph(ASSERT.id), provenance.SOURCE, Literal("a talk at lunch")) in found
    assert not any(t.predicate == v.PROV_WAS_DERIVED_FROM for t in found)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Agent("a"), Agent("a", "person")),
        (Agent("a", "software", "b"), Agent("a/b")),
        (Agent("a", "software", "b"), Agent("a", "software", "", "b")),
        (Agent("a", "software", "c", "1"), Agent("a", "software", "c", "2")),
        (Agent("indexer"), Agent("x")),
    ],
)
def test_different_agents_are_different_nodes(one: Agent, other: Agent) -> None:
    nodes = {provenance.agent_iri(one), provenance.agent_iri(other), provenance.INDEXER, v.REASONER}
    assert len(nodes) == 4


def test_names_that_rdf_cannot_hold_are_replaced_not_refused() -> None:
    found = provenance.agent(Agent("a\x00b\ud800"))
    assert any(isinstance(t.object, Literal) and t.object.value == "a\ufffdb\ufffd" for t in found)
