"""What is offered where, by the text before the cursor."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse.window.console.completion import Known, Term, place_at, proposals

KNOWN = Known(
    classes=(Term("schema:Person", "Person", 5), Term("type:module", "Module", 9)),
    properties=(
        Term("schema:knows", "knows", 2),
        Term("prop:depends_on", "depends on", 7),
        Term("x:far", "far", 1),
    ),
    entities=(Term("<people/bob>", "Robert"), Term("<modules/payments>", "Payments")),
    graphs=(Term("<people/bob.md>", "Robert"),),
    prefixes={"schema": "http://schema.org/", "prop": "urn:synapse:prop:", "x": "http://x/"},
    undeclared=frozenset({"schema", "prop"}),
)


def offered(text: str) -> list[str]:
    at = text.find("|")
    text = text.replace("|", "", 1) if at >= 0 else text
    at = at if at >= 0 else len(text)
    return [proposal.text for proposal in proposals(text, place_at(text, at), KNOWN)]


@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("", "any"),
        ("PREFIX ", "prefix"),
        ("SELECT * { ", "entity"),
        ("SELECT * { ?s ", "property"),
        ("SELECT * { ?s a ", "class"),
        ("SELECT * { ?s rdf:type ", "class"),
        ("SELECT * { ?s schema:knows ", "entity"),
        ("SELECT * { ?s schema:knows ?o ; ", "property"),
        ("SELECT * { ?s schema:knows ?o , ", "entity"),
        ("SELECT * { ?s schema:knows ?o . ", "entity"),
        ("SELECT * { ?s schema:knows/", "property"),
        ("SELECT * { ?s ^", "property"),
        ("SELECT * { ?s prop:depends_on+ ", "entity"),
        ("SELECT * { [ ", "property"),
        ("SELECT * { OPTIONAL { ?s ", "property"),
        ("SELECT * { GRAPH ", "graph"),
        ("SELECT * FROM ", "graph"),
        ("SELECT * { ?s ?p ?", "variable"),
        ("SELECT * { ?s ?p 'te", "none"),
        ("SELECT * # comm", "none"),
        ('SELECT * { ?s ?p """long\n', "none"),
        ("SELECT * { FILTER(", "any"),
    ],
)
def test_the_place_decides_what_belongs_there(text, slot):
    assert place_at(text, len(text)).slot == slot


def test_the_most_used_come_first_and_labels_count_as_names():
    assert offered("SELECT * { ?s ") == ["prop:depends_on", "schema:knows", "x:far"]
    assert offered("SELECT * { ?s knows") == ["schema:knows"]
    assert offered("SELECT * { ?s schema:knows rob") == ["<people/bob>"]
    assert offered("SELECT * { ?s a mod") == ["type:module"]


def test_an_entity_is_completed_inside_its_brackets():
    assert offered("SELECT * { <mod|> ?p ?o }") == ["<modules/payments>"]
    place = place_at("SELECT * { <mod", 15)
    assert (place.start, place.typed) == (11, "<mod")


def test_variables_of_the_whole_query_are_offered_but_not_the_one_being_typed():
    assert offered("SELECT ?name { ?note ?p ?n| . ?note a ?type }") == ["?name", "?note"]


def test_a_prefix_that_is_not_known_without_a_line_asks_for_one():
    found = proposals("SELECT * { ?s x:f", place_at("SELECT * { ?s x:f", 17), KNOWN)
    assert [(proposal.text, proposal.declares) for proposal in found] == [("x:far", "x")]
    text = "PREFIX x: <http://x/> SELECT * { ?s x:f"
    assert proposals(text, place_at(text, len(text)), KNOWN)[0].declares is None


def test_a_prefix_line_is_completed_with_its_iri_once():
    assert offered("PREFIX sch") == ["schema: <http://schema.org/>"]
    assert offered("PREFIX schema: <http://schema.org/> PREFIX sch") == []


def test_keywords_and_functions_are_offered_where_nothing_else_is():
    assert "SELECT" in offered("SEL")
    assert "STRSTARTS(" in offered("SELECT * { FILTER(strs")


@given(st.text(alphabet=st.sampled_from("SELECT ?xa:<>{}[]().;,/^'\"#\n \U0001f600"), max_size=60), st.data())
def test_any_text_at_any_place_gives_an_answer(text, data):
    at = data.draw(st.integers(0, len(text)))
    place = place_at(text, at)
    assert 0 <= place.start <= place.end == at
    proposals(text, place, KNOWN)
