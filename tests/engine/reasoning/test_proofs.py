"""Proofs: read like sentences, hold when checked, and as deep as they come."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyoxigraph import NamedNode, Triple

from synapse.engine.errors import ProofBroken
from synapse.engine.reasoning import Derivation, Reasoner, build_proof, recheck, rules_of, say
from synapse.engine.terms import vocabulary as v


def label(term):
    return term.value.rpartition("/")[2].rpartition("#")[2].replace("_", " ")


def node(local):
    return NamedNode(f"vault:/{local}")


@pytest.fixture
def company(turtle):
    reasoner = Reasoner()
    reasoner.rebuild(turtle(
        ":Engineer rdfs:subClassOf :Employee . :Employee rdfs:subClassOf :Person ."
        " :writes rdfs:domain :Engineer ."
        " :depends_on a owl:TransitiveProperty . :Ada :writes :checkout . :checkout :depends_on :payments ."
        " :payments :depends_on :ledger . :needed_by owl:inverseOf :depends_on ."
    ))  # fmt: skip
    return reasoner


def test_a_proof_reads_from_the_conclusion_down_to_stated_facts(company, turtle):
    (fact,) = turtle(":ledger :needed_by :checkout .")
    proof = company.proof(fact, label)
    assert [(level, step.sentence) for level, step in proof.walk()] == [
        (0, "ledger needed by checkout because checkout depends on ledger,"
            " and “needed by” is “depends on” the other way round"),
        (1, "“needed by” is “depends on” the other way round"),
        (1, "checkout depends on ledger because checkout depends on payments and payments depends on ledger,"
            " and “depends on” carries on from one to the next"),
        (2, "“depends on” carries on from one to the next"),
        (2, "checkout depends on payments"),
        (2, "payments depends on ledger"),
    ]  # fmt: skip
    assert set(proof.stated()) == set(turtle(
        ":needed_by owl:inverseOf :depends_on . :depends_on a owl:TransitiveProperty ."
        " :checkout :depends_on :payments . :payments :depends_on :ledger ."
    ))  # fmt: skip


def test_a_proof_can_be_folded_at_a_depth(company, turtle):
    (fact,) = turtle(":ledger :needed_by :checkout .")
    assert [level for level, _ in company.proof(fact, label).walk(depth=1)] == [0, 1, 1]


def test_sentences_name_what_is_an_engineer(company, turtle):
    (fact,) = turtle(":Ada a :Engineer .")
    assert company.proof(fact, label).conclusion.sentence == (
        "Ada is an Engineer because Ada writes checkout, and whatever “writes” is said of is an Engineer"
    )


def test_a_stated_fact_is_its_own_proof_and_an_unknown_one_has_none(company, turtle):
    stated, unknown = turtle(":Ada :writes :checkout . :Ada :writes :ledger .")
    proof = company.proof(stated, label)
    assert [step.sentence for step in proof.steps] == ["Ada writes checkout"]
    assert proof.conclusion.rule is None and proof.stated() == (stated,)
    assert company.proof(unknown, label) is None


def test_a_premise_used_twice_is_one_step(turtle):
    reasoner = Reasoner()
    reasoner.rebuild(turtle(":p a owl:TransitiveProperty . :a :p :b . :b :p :a ."))
    (fact,) = turtle(":a :p :a .")
    proof = reasoner.proof(fact, label)
    assert len(proof.steps) == 4
    reasoner.rebuild(turtle(":p a owl:TransitiveProperty . :a :p :b . :b :p :c . :c :p :d ."))
    (fact,) = turtle(":a :p :d .")
    sentences = [step.sentence for step in reasoner.proof(fact, label).steps]
    assert len(sentences) == len(set(sentences)) == 6


def test_fold_builds_from_the_premises_up(company, turtle):
    (fact,) = turtle(":ledger :needed_by :checkout .")
    height = company.proof(fact, label).fold(lambda step, premises: 1 + max(premises, default=0))
    assert height == 3


def test_a_proof_of_ten_thousand_steps_in_a_row():
    """Only cax-sco runs, so the classes above are reached one by one."""
    length = 10_000
    reasoner = Reasoner(rules=[rule for rule in rules_of("rdfs") if rule.id == "cax-sco"])
    stated = [
        Triple(node(f"C{i}"), v.RDFS_SUB_CLASS_OF, node(f"C{i + 1}")) for i in range(length)
    ]
    reasoner.rebuild([*stated, Triple(node("x"), v.RDF_TYPE, node("C0"))])
    proof = reasoner.proof(Triple(node("x"), v.RDF_TYPE, node(f"C{length}")), label)
    assert len(proof.steps) == 2 * length + 1
    assert len(proof.stated()) == length + 1
    assert max(level for level, _ in proof.walk()) == length
    assert proof.fold(lambda step, premises: 1 + max(premises, default=0)) == length + 1
    assert repr(proof)


def test_recheck_refuses_a_step_that_does_not_follow(company, turtle):
    (fact,) = turtle(":checkout :depends_on :ledger .")
    derivation = company.derivation(fact)
    assert recheck(derivation)
    other = Triple(node("checkout"), node("depends_on"), node("Ada"))
    first, *rest = derivation.premises
    assert not recheck(replace(derivation, conclusion=other))
    assert not recheck(replace(derivation, premises=(first, *reversed(rest))))
    assert not recheck(replace(derivation, premises=derivation.premises[:-1]))
    assert not recheck(replace(derivation, premises=(other, *rest)))
    assert not recheck(replace(derivation, rule=next(r for r in rules_of("rdfs") if r.id == "prp-spo1")))


def test_a_circle_of_derivations_is_no_proof():
    rule = next(rule for rule in rules_of("rdfs-plus") if rule.id == "prp-symp")
    one, two = (Triple(node(a), node("p"), node(b)) for a, b in ("xy", "yx"))
    axiom = Triple(node("p"), v.RDF_TYPE, v.OWL_SYMMETRIC_PROPERTY)
    bindings = {"p": node("p"), "x": node("x"), "y": node("y")}
    circle = {
        one: Derivation(one, rule, (axiom, two), bindings),
        two: Derivation(two, rule, (axiom, one), bindings),
    }
    with pytest.raises(ProofBroken, match="rests on itself"):
        build_proof(one, circle.get, {axiom}.__contains__, label)
    del circle[two]
    with pytest.raises(ProofBroken, match="neither stated nor derived"):
        build_proof(one, circle.get, {axiom}.__contains__, label)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (":Ada :knows :Bob", "Ada knows Bob"),
        (":Ada a :Engineer", "Ada is an Engineer"),
        (":A rdfs:subClassOf :B", "every A is a B"),
        (":knows a owl:SymmetricProperty", "“knows” holds both ways"),
        (":knows rdfs:range :Person", "whatever “knows” leads to is a Person"),
        (":Ada :age 36", "Ada age 36"),
    ],
)
def test_stated_facts_as_sentences(text, sentence, turtle):
    (fact,) = turtle(text + " .")
    assert say(fact, label) == sentence
