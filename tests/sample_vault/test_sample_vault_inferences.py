"""What follows from the sample vault, and that each proof ends in the notes that the tour names."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import NamedNode, RdfFormat, Triple, parse

from synapse.engine.notes.links import LinkResolver
from synapse.engine.notes.reading import read_note
from synapse.engine.notes.stating import state_note
from synapse.engine.reasoning.closure import Reasoner
from synapse.engine.terms import Identities, Words
from synapse.engine.terms import vocabulary as v

ROOT = Path(__file__).resolve().parents[2]
VAULT = ROOT / "resources" / "sample-vault"
MANIFEST = json.loads((ROOT / "scenarios" / "core" / "manifest.json").read_text(encoding="utf-8"))
WORDS = Words([MANIFEST["context"]], MANIFEST["prefixes"])
PATHS = sorted(path.relative_to(VAULT).as_posix() for path in VAULT.rglob("*") if path.is_file())
IDS = Identities(attachments=frozenset(path for path in PATHS if not path.endswith(".md")))
EXPECTED = json.loads((Path(__file__).parent / "expected_inferences.json").read_text(encoding="utf-8"))
IMPACT = json.loads((Path(__file__).parent / "payments_impact.json").read_text(encoding="utf-8"))


@cache
def stated() -> tuple[dict[Triple, set[str]], dict[str, list[str]]]:
    """Each fact with the notes that state it, and each note's diagnostics by severity."""
    resolver = LinkResolver(PATHS)
    notes = {path: read_note(path, (VAULT / path).read_bytes()) for path in PATHS if path.endswith(".md")}
    uris = {path: note.uri for path, note in notes.items() if note.uri}
    sources: dict[Triple, set[str]] = {}
    complaints: dict[str, list[str]] = {}
    for path, note in notes.items():
        of_note = state_note(note, resolver, WORDS, IDS, uris)
        for found in of_note.facts:
            sources.setdefault(found.triple, set()).add(path.removesuffix(".md"))
        for diagnostic in of_note.diagnostics:
            complaints.setdefault(path.removesuffix(".md"), []).append(diagnostic.severity)
    return sources, complaints


@cache
def reasoner() -> Reasoner:
    own_terms = ROOT / "resources" / "terms" / "synapse.ttl"
    files = [*(ROOT / "scenarios" / "core").glob("schema/*.ttl"), own_terms]
    axioms = {
        Triple(quad.subject, quad.predicate, quad.object)
        for file in files
        for quad in parse(path=str(file), format=RdfFormat.TURTLE)
    }
    made = Reasoner()
    made.rebuild(axioms | set(stated()[0]))
    return made


def rests_on(triple: Triple) -> set[str]:
    derivation = reasoner().derivation(triple)
    if derivation is None:
        return stated()[0].get(triple, set())
    return set().union(*(rests_on(premise) for premise in derivation.premises))


@pytest.mark.parametrize(
    "case", EXPECTED["inferences"], ids=lambda case: f"{case['subject']} {case['predicate']}"
)
def test_it_is_inferred_and_its_proof_ends_in_these_notes(case: dict[str, Any]) -> None:
    subject = IDS.entity(case["subject"])
    if case["predicate"] == "type":
        triple = Triple(subject, v.RDF_TYPE, WORDS.type(case["object"]))
    else:
        triple = Triple(subject, WORDS.property(case["predicate"]), IDS.entity(case["object"]))
    assert triple in reasoner().inferred()
    assert sorted(rests_on(triple)) == case["rest_on"]


def test_what_depends_on_payments_after_reasoning_is_the_golden_list() -> None:
    facts = set(stated()[0]) | reasoner().inferred()
    needing: dict[NamedNode, set[NamedNode]] = {}
    for triple in facts:
        if triple.predicate == v.DEPENDS_ON:
            needing.setdefault(triple.object, set()).add(triple.subject)
    seen: set[NamedNode] = set()
    waiting = [IDS.entity(IMPACT["entity"])]
    while waiting:
        fresh = needing.get(waiting.pop(), set()) - seen
        seen |= fresh
        waiting.extend(fresh)
    assert {IDS.id_of(node.value) for node in seen} == {one["id"] for one in IMPACT["dependents"]}


def test_only_the_note_about_mistakes_has_diagnostics_and_they_are_warnings() -> None:
    assert stated()[1] == {"rough-edges": ["warning", "warning"]}


def test_nothing_that_stands_in_code_or_html_comments_became_a_fact() -> None:
    named = {
        term.value
        for triple in stated()[0]
        for term in (triple.subject, triple.object)
        if isinstance(term, NamedNode)
    }
    for hidden in ("order-7f3a", "%s", "modules/nothing", "people/nobody", "decisions/the-old-one"):
        assert IDS.entity(hidden).value not in named


def test_inferred_facts_stay_fewer_than_those_that_somebody_wrote() -> None:
    assert len(reasoner().inferred()) < len(stated()[0]) / 2
