"""Proofs of any length, and what people may write for the entities and facts they mean."""

from __future__ import annotations

import json
import sys
from itertools import product
from typing import Any

import pytest

from synapse.engine import Engine
from synapse.engine.errors import InvalidId, NotHolding, UnknownEntity
from synapse.engine.questions.results import Entity, Fact, Proof, as_json

PLAIN = '{"scenarios": []}'
STEPS = 2000


@pytest.fixture
def vault(vault: Any) -> Any:
    vault.write(".synapse/settings.json", PLAIN)
    return vault


def made(number: int) -> Fact:
    return Fact(*(Entity(f"{part}{number}", f"urn:x:{part}{number}", f"{part}{number}") for part in "spo"))


# -- proofs ----------------------------------------------------------------------------------------


def test_a_proof_of_2000_steps_is_walked_and_written_without_recursion() -> None:
    proof = Proof(made(0), "stated")
    for number in range(1, STEPS + 1):
        premises = (proof, Proof(made(-number), "stated"))
        proof = Proof(made(number), f"step {number}", "rule", "reference", premises)
    assert len(list(proof.leaves())) == STEPS + 1
    written = as_json(proof)
    assert len(written["steps"]) == 2 * STEPS + 1  # type: ignore[index, call-overload]
    json.dumps(written)


def test_premises_that_are_shared_are_written_once() -> None:
    """As a tree this proof has 2 ** 60 leaves."""
    proof = Proof(made(0), "stated")
    for number in range(1, 61):
        proof = Proof(made(number), "step", "rule", None, (proof, proof))
    steps: list[Any] = as_json(proof)["steps"]  # type: ignore[index, call-overload, assignment]
    assert [step["premises"] for step in steps] == [[], *([n, n] for n in range(60))]
    assert len(list(proof.leaves())) == 1


def test_a_long_transitive_chain_is_explained_without_recursion(vault: Any) -> None:
    length = 200
    lines = ["<urn:x:before> a <http://www.w3.org/2002/07/owl#TransitiveProperty> ."]
    lines += [f"<vault:/n{n}> <urn:x:before> <vault:/n{n + 1}> ." for n in range(length)]
    vault.write("chain.ttl", "\n".join(lines))
    with vault.open() as engine:
        engine.index()
        depth, limit = len(frames()), sys.getrecursionlimit()
        sys.setrecursionlimit(depth + 150)  # shared by all threads, the writer's too
        try:
            proof = engine.explain("n0", "urn:x:before", f"n{length}")
            written: Any = as_json(proof)
        finally:
            sys.setrecursionlimit(limit)
        said = {(leaf.fact.subject.id, leaf.fact.object.label) for leaf in proof.leaves()}
        assert {(f"n{n}", f"n{n + 1}") for n in range(length)} <= said
        assert all(leaf.fact.sources for leaf in proof.leaves())
        for position, step in enumerate(written["steps"]):
            assert all(premise < position for premise in step["premises"])
        assert written["steps"][-1]["fact"]["object"]["id"] == f"n{length}"


def frames() -> list[Any]:
    found, frame = [], sys._getframe()
    while frame is not None:
        found.append(frame)
        frame = frame.f_back  # type: ignore[assignment]
    return found


def test_a_stated_fact_is_its_own_proof(vault: Any) -> None:
    vault.write("a.md", "sees:: [[b]]\n")
    with vault.open() as engine:
        engine.index()
        proof = engine.explain("a", "sees", "b")
        assert (proof.rule, proof.premises, proof.fact.sources[0].path) == (None, (), "a.md")
        assert engine.provenance("a", "sees", "b").proof is None


# -- facts as they are written -----------------------------------------------------------------------


@pytest.fixture
def people(vault: Any) -> Any:
    vault.write(
        "people/ada.md",
        "---\ntype: Person\nuri: https://example.org/ada\nborn: 1815-12-10\nage: 36\n"
        "motto: see it through\ntags: [Math/Early]\nsees: '[[people/bob]]'\n---\n# Ada\n",
    )
    vault.write("people/bob.md", "---\nknows: https://example.org/ada\n---\n# Bob\n[[ghost]]\n")
    with vault.open() as engine:
        engine.index()
        yield engine


def test_a_fact_is_found_however_its_parts_are_written(people: Engine) -> None:
    subjects = ["people/ada", "people/ada.md", "/people/ada", "[[people/ada]]", "People/Ada"]
    subjects += ["https://example.org/ada", "<https://example.org/ada>"]
    predicates = ["sees", "Sees", "urn:synapse:prop:sees", "<urn:synapse:prop:sees>", "prop:sees"]
    objects = ["people/bob", "vault:/people/bob", "<vault:/people/bob>", "[[people/bob]]", "people/Bob"]
    for written in product(subjects, predicates, objects):
        assert people.explain(*written).fact.object.label == "Bob", written


@pytest.mark.parametrize(
    ("predicate", "object", "label"),
    [
        ("born", "1815-12-10", "1815-12-10"), ("age", "36", "36"), ("type", "Person", "person"),
        ("motto", "see it through", "see it through"), ("a", "person", "person"),
        ("rdf:type", "type:person", "person"),
        ("schema:keywords", "math/early", "Math/Early"), ("schema:keywords", "#Math/Early", "Math/Early"),
        ("rdfs:label", "Ada", "Ada"),
    ],
)  # fmt: skip
def test_literals_classes_and_tags_are_found_by_their_text(
    people: Engine, predicate: str, object: str, label: str
) -> None:
    assert people.provenance("people/ada", predicate, object).fact.object.label.casefold() == label.casefold()


def test_parts_of_an_answer_can_be_asked_back(people: Engine) -> None:
    answer = people.dossier("people/ada")
    for fact in (*answer.types, *answer.attributes, *answer.outgoing, *answer.incoming):
        again = people.provenance(fact.subject, fact.predicate, fact.object).fact
        assert (again.subject, again.predicate, again.object) == (fact.subject, fact.predicate, fact.object)


@pytest.mark.parametrize(
    ("subject", "predicate", "object"),
    [("people/ada", "sees", "people/ada"), ("people/ada", "age", "37"), ("people/ada", "a", "Place"),
     ("people/ada", "nothing", "people/bob"), ("people/bob", "sees", "people/ada")],
)  # fmt: skip
def test_what_does_not_hold_is_said_so(people: Engine, subject: str, predicate: str, object: str) -> None:
    for ask in (people.explain, people.provenance):
        with pytest.raises(NotHolding, match="neither is stated nor follows"):
            ask(subject, predicate, object)


# -- entities as they are written ----------------------------------------------------------------------


def test_a_single_match_but_for_case_is_used_and_named(people: Engine) -> None:
    assert people.dossier("people/ada").note is None
    found = people.dossier("PEOPLE/Bob")
    assert (found.entity.id, found.note) == ("people/bob", "Read PEOPLE/Bob as people/bob.")
    assert people.dossier("Ghost").entity.id == "ghost", "unwritten ones too"
    assert people.impact("people/BOB").note == "Read people/BOB as people/bob."


def test_of_two_matches_but_for_case_none_is_taken(vault: Any) -> None:
    vault.write("Note.md", "one\n")
    vault.write("NOTE.md", "two\n")
    with vault.open() as engine:
        engine.index()
        if len(engine.notes()) == 1:
            pytest.skip("this file system knows no case")
        assert engine.entity("Note").path == "Note.md"
        with pytest.raises(UnknownEntity) as refused:
            engine.dossier("note")
        assert refused.value.candidates == ("NOTE", "Note")


def test_a_slip_of_the_hand_is_answered_with_what_is_near(people: Engine) -> None:
    for slip in ("people/adda", "ada", "peple/ada"):
        with pytest.raises(UnknownEntity) as refused:
            people.dossier(slip)
        assert refused.value.candidates[0] == "people/ada", slip
        assert "people/ada" in refused.value.hint
    with pytest.raises(UnknownEntity) as refused:
        people.dossier("quite/something-else")
    assert refused.value.candidates == ()


@pytest.mark.parametrize("unknown", ["https://example.org/x", "<https://example.org/x>", "urn:x:nobody"])
def test_an_iri_that_nothing_names_is_unknown(people: Engine, unknown: str) -> None:
    with pytest.raises(UnknownEntity):
        people.dossier(unknown)


@pytest.mark.parametrize("wrong", ["", "../x", "a//b", "C:\\x", "a\nb"])
def test_what_is_no_id_is_refused(people: Engine, wrong: str) -> None:
    with pytest.raises(InvalidId):
        people.dossier(wrong)
