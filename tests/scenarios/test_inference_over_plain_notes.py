"""What the core vocabulary adds to plain notes: what one would say oneself, and nothing else."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, RdfFormat, Triple, parse

from synapse.engine.reasoning.closure import Reasoner
from synapse.engine.terms import Identities, Words, tag_iri
from synapse.engine.terms import vocabulary as v

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "scenarios" / "core"
MANIFEST = json.loads((CORE / "manifest.json").read_text(encoding="utf-8"))
WORDS = Words([MANIFEST["context"]], MANIFEST["prefixes"])
IDS = Identities()


@cache
def vocabularies(*more: str) -> frozenset[Triple]:
    files = [*CORE.glob("schema/*.ttl"), ROOT / "resources" / "terms" / "synapse.ttl"]
    files += [file for name in more for file in (ROOT / "scenarios" / name).glob("schema/*.ttl")]
    return frozenset(
        Triple(quad.subject, quad.predicate, quad.object)
        for file in files
        for quad in parse(path=str(file), format=RdfFormat.TURTLE)
    )


def fact(subject: str, predicate: str, object: str) -> Triple:
    """A fact in words; an object with a slash is a note, after `type` a class, else text."""
    if predicate == "type":
        return Triple(IDS.entity(subject), v.RDF_TYPE, WORDS.type(object))
    value = IDS.entity(object) if "/" in object else Literal(object)
    return Triple(IDS.entity(subject), WORDS.property(predicate), value)


def inferred(*stated: Triple, scenarios: tuple[str, ...] = ()) -> set[Triple]:
    """What follows from the stated facts that does not follow from the vocabularies alone."""
    quiet = Reasoner().rebuild(vocabularies(*scenarios))
    return Reasoner().rebuild({*vocabularies(*scenarios), *stated}) - quiet


def test_links_titles_aliases_tags_and_own_words_imply_nothing() -> None:
    plain = {
        fact("a/note", "title", "A note"),
        Triple(IDS.entity("a/note"), v.RDFS_LABEL, Literal("A note")),
        Triple(IDS.entity("a/note"), v.SKOS_ALT_LABEL, Literal("Something else")),
        Triple(IDS.entity("a/note"), v.SCHEMA_KEYWORDS, tag_iri("idea")),
        Triple(IDS.entity("a/note"), v.SCHEMA_MENTIONS, IDS.entity("b/other")),
        Triple(IDS.entity("a/note"), v.SCHEMA_CITATION, NamedNode("https://example.org/")),
        fact("a/note", "depends_on", "b/other"),
        fact("b/other", "depends_on", "c/third"),
        fact("a/note", "status", "draft"),
        fact("a/note", "created", "2026-01-01"),
        fact("a/note", "type", "Note"),
        fact("a/note", "type", "Project"),
    }
    assert inferred(*plain) == set()


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("author", "people/x"),
        ("location", "places/x"),
        ("located_in", "places/x"),
        ("birthday", "2019-04-01"),
        ("department", "teams/x"),
        ("founder", "people/x"),
        ("pages", "12"),
        ("derived_from", "notes/x"),
        ("attributed_to", "people/x"),
        ("homepage", "https://example.org/x"),
        ("knows_about", "topics/x"),
        ("version", "2"),
    ],
)
def test_a_common_word_gives_neither_end_a_type(word: str, value: str) -> None:
    assert inferred(fact("a/note", word, value)) == set()


# stated -> all that follows.
FOLLOWS = {
    "whoever works for something is a person and it an organization": (
        ("a/x", "works for", "b/y"),
        {("a/x", "type", "Person"), ("b/y", "type", "Organization"), ("b/y", "employee", "a/x")},
    ),
    "knowing is mutual": (("a/x", "knows", "b/y"), {("b/y", "knows", "a/x")}),
    "parts have a whole": (("a/x", "part of", "b/y"), {("b/y", "has part", "a/x")}),
    "parents have children": (("a/x", "parent", "b/y"), {("b/y", "child", "a/x")}),
    "members are members both ways": (("a/x", "member of", "b/y"), {("b/y", "member", "a/x")}),
    "related is mutual": (("a/x", "related", "b/y"), {("b/y", "related", "a/x")}),
    "subjects have texts about them": (("a/x", "about", "b/y"), {("b/y", "subject of", "a/x")}),
    "owners own": (("a/x", "owner", "b/y"), {("b/y", "owns", "a/x")}),
    "a book is a creative work": (("a/x", "type", "Book"), {("a/x", "type", "Creative work")}),
    "a company is an organization": (("a/x", "type", "Company"), {("a/x", "type", "Organization")}),
    "what has attendees is an event": (("a/x", "attendees", "b/y"), {("a/x", "type", "Event")}),
    "what has an ISBN is a book": (
        ("a/x", "isbn", "9780000000000"),
        {("a/x", "type", "Book"), ("a/x", "type", "Creative work")},
    ),
}


@pytest.mark.parametrize("case", FOLLOWS)
def test_exactly_this_follows(case: str) -> None:
    stated, expected = FOLLOWS[case]
    assert inferred(fact(*stated)) == {fact(*one) for one in expected}


def test_a_nested_tag_costs_two_facts_beside_the_one_stated() -> None:
    low, high = tag_iri("area/money"), tag_iri("area")
    broader_transitive = NamedNode(v.SKOS + "broaderTransitive")
    assert inferred(Triple(low, v.SKOS_BROADER, high)) == {
        Triple(low, broader_transitive, high),
        Triple(high, WORDS.property("narrower"), low),
    }


def test_embedding_mentions() -> None:
    a, b = IDS.entity("a/x"), IDS.entity("b/y")
    assert inferred(Triple(a, v.EMBEDS, b)) == {Triple(a, v.SCHEMA_MENTIONS, b)}


def test_what_a_go_module_requires_imports_or_calls_it_depends_on() -> None:
    a, b = IDS.entity("a/x"), IDS.entity("b/y")
    for word in ("requires", "imports", "calls"):
        stated = Triple(a, NamedNode(f"urn:synapse:kthulu:{word}"), b)
        assert inferred(stated, scenarios=("kthulu",)) == {Triple(a, v.DEPENDS_ON, b)}


def test_a_refutation_contradicts_both_ways_and_a_replication_supports() -> None:
    a, b = IDS.entity("a/x"), IDS.entity("b/y")

    def term(name: str) -> NamedNode:
        return NamedNode(f"urn:synapse:research:{name}")

    assert inferred(Triple(a, term("refutes"), b), scenarios=("research-assistant",)) == {
        Triple(a, term("contradicts"), b),
        Triple(b, term("contradicts"), a),
    }
    assert inferred(Triple(a, term("replicates"), b), scenarios=("research-assistant",)) == {
        Triple(a, term("supports"), b),
        Triple(b, term("supportedBy"), a),
    }
