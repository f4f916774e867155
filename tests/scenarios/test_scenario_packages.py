"""The vocabularies that ship with Synapse: sound, labelled, and quiet over plain notes."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import NamedNode, Quad, RdfFormat, parse

from synapse.engine.terms import Words, fold_word
from synapse.engine.terms import vocabulary as v

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "scenarios"
OWN_TERMS = ROOT / "resources" / "terms" / "synapse.ttl"
NAMES = ("core", "kthulu", "research-assistant")
FILES = [*sorted(SCENARIOS.glob("*/schema/*.ttl")), OWN_TERMS]
CLASS_OR_PROPERTY = {v.RDFS_CLASS, v.RDF_PROPERTY, v.OWL_SYMMETRIC_PROPERTY, v.OWL_TRANSITIVE_PROPERTY}


@cache
def facts(path: Path) -> tuple[Quad, ...]:
    return tuple(parse(path=str(path), format=RdfFormat.TURTLE))


@cache
def everything() -> tuple[Quad, ...]:
    return tuple(fact for path in FILES for fact in facts(path))


@cache
def manifest(name: str) -> dict[str, Any]:
    return json.loads((SCENARIOS / name / "manifest.json").read_text(encoding="utf-8"))


def pairs(predicate: NamedNode) -> list[tuple[str, str]]:
    return [
        (fact.subject.value, fact.object.value) for fact in everything() if fact.predicate == predicate
    ]


def declared(kind: NamedNode) -> set[str]:
    return {
        fact.subject.value
        for fact in everything()
        if fact.predicate == v.RDF_TYPE and fact.object == kind
    }


def labels() -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for term, label in pairs(v.RDFS_LABEL):
        found[term].add(label)
    return found


def context_terms(name: str) -> list[tuple[str, str]]:
    read = manifest(name)
    words = Words([], read["prefixes"])
    found = []
    for word, value in read["context"].items():
        iri = words.expand(value)
        assert iri is not None, f"{name}: {word} -> {value} has no known prefix"
        found.append((word, iri.value))
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_each_turtle_file_parses_and_says_something(path: Path) -> None:
    assert facts(path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_vocabularies_hold_no_blank_nodes_and_no_languages(path: Path) -> None:
    for fact in facts(path):
        assert isinstance(fact.subject, NamedNode)
        assert isinstance(fact.object, NamedNode) or fact.object.language is None, fact


@pytest.mark.parametrize("name", NAMES)
def test_a_manifest_names_the_files_that_exist(name: str) -> None:
    read = manifest(name)
    assert set(read) == {"name", "version", "description", "prefixes", "context", "ontologies", "data"}
    assert read["name"] == name
    assert read["description"].endswith(".")
    listed = {*read["ontologies"], *read["data"]}
    there = {path.relative_to(SCENARIOS / name).as_posix() for path in SCENARIOS.glob(f"{name}/schema/*")}
    assert listed == there


@pytest.mark.parametrize("name", NAMES)
def test_prefixes_never_redefine_a_known_one(name: str) -> None:
    for prefix, namespace in manifest(name)["prefixes"].items():
        assert v.PREFIXES.get(prefix, namespace) == namespace


@pytest.mark.parametrize("name", NAMES)
def test_every_word_of_a_context_names_a_declared_and_labelled_term(name: str) -> None:
    classes, properties, labelled = declared(v.RDFS_CLASS), declared(v.RDF_PROPERTY), labels()
    outside = {v.RDFS_SEE_ALSO.value}
    for word, iri in context_terms(name):
        kind = classes if word[0].isupper() else properties | outside
        assert iri in kind, f"{word} -> {iri}"
        assert labelled[iri], f"{word} -> {iri} has no label"


@pytest.mark.parametrize("name", NAMES)
def test_words_that_fold_alike_mean_one_term(name: str) -> None:
    meaning: dict[tuple[bool, str], str] = {}
    for word, iri in context_terms(name):
        key = word[0].isupper(), fold_word(word)
        assert meaning.setdefault(key, iri) == iri, word
        assert key[1], word


def test_later_scenarios_do_not_rely_on_words_that_core_has_taken() -> None:
    taken = {(word[0].isupper(), fold_word(word)): iri for word, iri in context_terms("core")}
    for name in ("kthulu", "research-assistant"):
        for word, iri in context_terms(name):
            assert taken.get((word[0].isupper(), fold_word(word)), iri) == iri, f"{name}: {word}"


def test_words_with_a_meaning_of_their_own_stay_unmapped() -> None:
    reserved = {"type", "title", "alias", "aliases", "tag", "tags", "depends_on", "uri", "status"}
    for name in NAMES:
        assert not reserved & {fold_word(word) for word in manifest(name)["context"]}


def test_everything_declared_has_exactly_one_label_over_all_files() -> None:
    labelled = labels()
    terms = set().union(*(declared(kind) for kind in CLASS_OR_PROPERTY))
    assert len(terms) > 200
    for term in terms | set(labelled):
        assert len(labelled[term]) == 1, f"{term}: {labelled[term]}"


def test_labels_of_relations_survive_in_a_backlinks_line() -> None:
    labelled = labels()
    for term in declared(v.RDF_PROPERTY):
        (label,) = labelled[term]
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9 _-]*", label), label


def test_what_is_placed_in_a_hierarchy_is_declared() -> None:
    classes, properties = declared(v.RDFS_CLASS), declared(v.RDF_PROPERTY)
    for predicate, kind, value_kind in (
        (v.RDFS_SUB_CLASS_OF, classes, classes),
        (v.RDFS_SUB_PROPERTY_OF, properties, properties),
        (v.OWL_INVERSE_OF, properties, properties),
        (v.RDFS_DOMAIN, properties, classes),
        (v.RDFS_RANGE, properties, classes),
    ):
        stated = pairs(predicate)
        assert stated
        for subject, value in stated:
            assert subject in kind, f"{subject} {predicate}"
            assert value in value_kind, f"{predicate} {value}"


@pytest.mark.parametrize("predicate", [v.RDFS_SUB_CLASS_OF, v.RDFS_SUB_PROPERTY_OF])
def test_hierarchies_have_no_cycle(predicate: NamedNode) -> None:
    above: dict[str, set[str]] = defaultdict(set)
    for lower, upper in pairs(predicate):
        above[lower].add(upper)
    for start in list(above):
        seen, waiting = set(), list(above[start])
        while waiting:
            term = waiting.pop()
            assert term != start, f"{start} is above itself"
            if term not in seen:
                seen.add(term)
                waiting.extend(above[term])


def test_inverses_are_declared_from_both_sides_and_one_to_one() -> None:
    inverse = pairs(v.OWL_INVERSE_OF)
    assert len(dict(inverse)) == len(set(inverse))
    for left, right in set(inverse):
        assert left != right
        # Stating it once would do for the reasoner; stated twice, either term can be read alone.
        assert dict(inverse).get(right) == left, f"{left} inverse of {right}"


def test_domain_and_range_of_inverses_mirror_each_other() -> None:
    domain, range_ = dict(pairs(v.RDFS_DOMAIN)), dict(pairs(v.RDFS_RANGE))
    for left, right in pairs(v.OWL_INVERSE_OF):
        assert domain.get(left) == range_.get(right), f"{left} / {right}"


def test_a_property_has_at_most_one_domain_and_one_range() -> None:
    for predicate in (v.RDFS_DOMAIN, v.RDFS_RANGE):
        stated = pairs(predicate)
        assert len(dict(stated)) == len(set(stated))


def test_no_rule_gives_types_that_tell_nobody_anything() -> None:
    everything_is_one = {
        v.SCHEMA + "Thing",
        v.PROV + "Entity",
        v.RDFS + "Resource",
        v.OWL + "Thing",
        v.SCHEMA + "CreativeWork",
    }
    for predicate in (v.RDFS_DOMAIN, v.RDFS_RANGE):
        assert not everything_is_one & {value for _, value in pairs(predicate)}
    assert v.SCHEMA + "Thing" not in {upper for _, upper in pairs(v.RDFS_SUB_CLASS_OF)}
    silent = {v.SCHEMA_MENTIONS.value, v.SCHEMA_KEYWORDS.value, v.RDFS_LABEL.value, v.SKOS_ALT_LABEL.value}
    for predicate in (v.RDFS_DOMAIN, v.RDFS_RANGE, v.RDFS_SUB_PROPERTY_OF, v.OWL_INVERSE_OF):
        assert not silent & {subject for subject, _ in pairs(predicate)}
    assert v.RDFS_LABEL.value not in {upper for _, upper in pairs(v.RDFS_SUB_PROPERTY_OF)}


def test_nothing_is_equated_and_no_axiom_merges_entities() -> None:
    merging = {
        v.OWL_EQUIVALENT_CLASS,
        v.OWL_EQUIVALENT_PROPERTY,
        v.OWL_SAME_AS,
        NamedNode(v.OWL + "disjointWith"),
    }
    assert not merging & {fact.predicate for fact in everything()}
    kinds = {fact.object for fact in everything() if fact.predicate == v.RDF_TYPE}
    assert kinds == CLASS_OR_PROPERTY | {v.OWL_ONTOLOGY}


def test_dependency_is_a_chain_that_kthulu_feeds_and_nothing_shortcuts() -> None:
    depends_on = v.DEPENDS_ON.value
    kthulu = "urn:synapse:kthulu:"
    below = {lower for lower, upper in pairs(v.RDFS_SUB_PROPERTY_OF) if upper == depends_on}
    assert below == {kthulu + "requires", kthulu + "imports", kthulu + "calls"}
    assert depends_on not in declared(v.OWL_TRANSITIVE_PROPERTY)
    assert not [pair for pair in pairs(v.RDFS_SUB_PROPERTY_OF) if pair[0] == depends_on]


def test_embedding_is_the_only_axiom_of_our_own_terms() -> None:
    axioms = {v.RDFS_SUB_CLASS_OF, v.RDFS_SUB_PROPERTY_OF, v.RDFS_DOMAIN, v.RDFS_RANGE, v.OWL_INVERSE_OF}
    stated = [(f.subject, f.predicate, f.object) for f in facts(OWN_TERMS) if f.predicate in axioms]
    assert stated == [(v.EMBEDS, v.RDFS_SUB_PROPERTY_OF, v.SCHEMA_MENTIONS)]


def test_common_words_of_notes_are_known_to_core() -> None:
    read = manifest("core")
    words = Words([read["context"]], read["prefixes"])
    assert words.type("person").value == v.SCHEMA + "Person"
    assert words.type("Company").value == v.SCHEMA + "Corporation"
    assert words.property("works for") == words.property("worksFor") == NamedNode(v.SCHEMA + "worksFor")
    assert words.property("part of").value == v.SCHEMA + "isPartOf"
    assert words.property("derived-from") == v.PROV_WAS_DERIVED_FROM
    assert words.property("depends on") == v.DEPENDS_ON
    assert len(read["context"]) >= 100
