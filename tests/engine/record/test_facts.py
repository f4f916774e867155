"""A fact as an agent writes it, in the journal and in the graph."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Triple

from synapse.engine.errors import InvalidFact, InvalidId
from synapse.engine.record.facts import (
    Projector,
    Withdrawal,
    WrittenFact,
    asserted_facts,
    assertion_data,
    check_data,
    is_schema_axiom,
    parse_fact,
    retraction_data,
    withdrawals,
)
from synapse.engine.terms import Identities, Words
from synapse.engine.terms import vocabulary as v

IDENTITIES = Identities()
WORDS = Words([{"Person": "schema:Person", "works for": "schema:worksFor"}], {"ex": "http://example.org/"})
PROJECTOR = Projector(IDENTITIES.entity, WORDS, IDENTITIES)
BOB = NamedNode("vault:/people/bob")


def triple(subject: str, predicate: str, value: str, *rest: str | None) -> Triple:
    return PROJECTOR.triple(WrittenFact(subject, predicate, value, *rest))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "written",
    [
        "people/bob",
        "people/bob.md",
        "/people/bob",
        "[[people/bob]]",
        "vault:/people/bob",
        "<vault:/people/bob>",
    ],
)
def test_an_entity_may_be_written_in_any_of_its_forms(written: str) -> None:
    assert triple(written, "knows", written) == Triple(BOB, NamedNode("urn:synapse:prop:knows"), BOB)


@pytest.mark.parametrize(
    ("written", "iri"),
    [
        ("https://example.org/x?y#z", "https://example.org/x?y#z"),
        ("urn:isbn:1", "urn:isbn:1"),
        ("mailto:a@b.org", "mailto:a@b.org"),
        ("<doi:10.1/x>", "doi:10.1/x"),
        ("schema:Person", "http://schema.org/Person"),
        ("ex:thing", "http://example.org/thing"),
        ("note: a thing", "vault:/note%3A%20a%20thing"),
    ],
)
def test_absolute_iris_and_known_prefixes_are_taken_as_such(written: str, iri: str) -> None:
    assert PROJECTOR.node(written) == NamedNode(iri)


def test_an_entity_with_its_own_uri_is_that_node() -> None:
    own = NamedNode("https://example.org/bob")
    projector = Projector(lambda i: own if i == "people/bob" else IDENTITIES.entity(i), WORDS, IDENTITIES)
    for written in ("people/bob", "[[people/bob]]", "vault:/people/bob"):
        assert projector.node(written) == own


@pytest.mark.parametrize(
    ("word", "iri"),
    [
        ("Works-For", "http://schema.org/worksFor"),
        ("depends on", "urn:synapse:prop:depends_on"),
        ("schema:knows", "http://schema.org/knows"),
        ("<http://example.org/p>", "http://example.org/p"),
        ("type", v.RDF_TYPE.value),
        ("a", v.RDF_TYPE.value),
        ("title", v.RDFS_LABEL.value),
        ("aliases", v.SKOS_ALT_LABEL.value),
        ("tags", v.SCHEMA_KEYWORDS.value),
    ],
)
def test_words_mean_what_they_mean_in_a_note(word: str, iri: str) -> None:
    assert PROJECTOR.predicate(word) == NamedNode(iri)


def test_the_object_of_type_is_a_class_and_of_tags_a_concept() -> None:
    assert triple("people/bob", "type", "person").object == NamedNode("http://schema.org/Person")
    assert triple("people/bob", "rdf:type", "Robot").object == NamedNode("urn:synapse:type:robot")
    assert triple("people/bob", "type", "owl:Class").object == v.OWL_CLASS
    assert triple("people/bob", "type", "people/role").object == NamedNode("vault:/people/role")
    assert triple("people/bob", "tags", "#Area/Work").object == NamedNode("urn:synapse:tag:area/work")
    with pytest.raises(InvalidFact):
        triple("people/bob", "tags", "#")
    with pytest.raises(InvalidFact):
        triple("people/bob", "type", "--")


def test_literals_come_in_the_form_of_the_store() -> None:
    assert triple("a", "age", "042", "literal", "xsd:integer").object == Literal("42", datatype=v.XSD_INTEGER)
    assert triple("a", "name", "Bob", "literal", None, "EN-gb").object == Literal("Bob", language="en-gb")
    assert triple("a", "name", "> } ; DROP ALL ; #", "literal").object == Literal("> } ; DROP ALL ; #")
    assert triple("a", "age", "many", "literal", "xsd:integer").object == Literal(
        "many", datatype=v.XSD_INTEGER
    )
    for datatype in ("integer", "no such", "rdf:langString"):
        with pytest.raises(InvalidFact):
            triple("a", "age", "1", "literal", datatype)


@pytest.mark.parametrize("written", ["../x", "a/../b", "C:\\x", "/", "..%2F/..", "//x", "~x", "", "a//b"])
def test_ids_that_could_name_something_else_are_refused(written: str) -> None:
    with pytest.raises(InvalidId):
        PROJECTOR.node(written)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("text", "must be an object"),
        ({"subject": "a", "predicate": "b"}, "object is missing"),
        ({"subject": " ", "predicate": "b", "object": "c"}, "subject is missing"),
        ({"subject": "a", "predicate": 1, "object": "c"}, "predicate is missing"),
        ({"subject": "a\x00", "predicate": "b", "object": "c"}, "control character"),
        ({"subject": "a", "predicate": "b", "object": "\ud800"}, "lone surrogate"),
        ({"subject": "a", "predicate": "b", "object": "x\x00", "object_kind": "literal"}, "NUL"),
        ({"subject": "a", "predicate": "b", "object": "c", "objekt": "d"}, "no field 'objekt'"),
        ({"subject": "a", "predicate": "b", "object": "c", "object_kind": "thing"}, "entity or literal"),
        (
            {"subject": "a", "predicate": "b", "object": "c", "object_kind": "entity", "language": "en"},
            "neither",
        ),
        ({"subject": "a", "predicate": "b", "object": 5, "object_kind": "literal"}, "must be text"),
        ({"subject": "a", "predicate": "b", "object": "c", "datatype": "d", "language": "en"}, "not both"),
        ({"subject": "a", "predicate": "b", "object": "c", "language": "e n"}, "language tag"),
    ],
)
def test_a_malformed_fact_is_refused_by_name(value: object, says: str) -> None:
    with pytest.raises(InvalidFact, match=says):
        parse_fact(value)


_text = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(str.strip)
_facts = st.one_of(
    st.builds(WrittenFact, _text, _text, _text),
    st.builds(
        WrittenFact, _text, _text, st.text(st.characters(exclude_categories=["Cs", "Cc"])), st.just("literal")
    ),
    st.builds(WrittenFact, _text, _text, _text, st.just("literal"), st.just("xsd:date")),
    st.builds(WrittenFact, _text, _text, _text, st.just("literal"), st.none(), st.just("pt-BR")),
)


@given(st.lists(_facts, min_size=1, max_size=4))
def test_facts_and_withdrawals_come_back_from_the_journal(facts: list[WrittenFact]) -> None:
    data = assertion_data(facts, "source", ["01A"])
    check_data("assert", data)
    assert asserted_facts(data) == tuple(facts)
    taken = (Withdrawal("01A"), Withdrawal("01B", tuple(facts)))
    check_data("retract", retraction_data(taken))
    assert withdrawals(retraction_data(taken)) == taken


@given(_facts)
def test_projecting_gives_a_triple_or_says_why_not(fact: WrittenFact) -> None:
    try:
        found = PROJECTOR.triple(fact)
    except (InvalidFact, InvalidId) as error:
        assert error.message
        return
    assert isinstance(found.subject, NamedNode)
    assert found == PROJECTOR.triple(fact)


@pytest.mark.parametrize(
    ("subject", "predicate", "value", "axiom"),
    [
        ("a", "rdfs:subClassOf", "b", True),
        ("a", "owl:sameAs", "b", True),
        ("a", "owl:inverseOf", "b", True),
        ("a", "rdfs:label", "b", False),
        ("a", "rdfs:comment", "b", False),
        ("a", "rdfs:seeAlso", "b", False),
        ("a", "rdfs:isDefinedBy", "b", False),
        ("a", "type", "owl:TransitiveProperty", True),
        ("a", "type", "rdf:Property", True),
        ("a", "type", "rdfs:Class", True),
        ("a", "type", "Person", False),
        ("a", "knows", "owl:Class", False),
    ],
)
def test_what_counts_as_a_schema_axiom(subject: str, predicate: str, value: str, axiom: bool) -> None:
    assert is_schema_axiom(triple(subject, predicate, value)) is axiom
