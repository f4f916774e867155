"""The rule table: each row alone, the profiles, and what a row may look like."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode, Triple

from synapse.engine.errors import SettingsInvalid
from synapse.engine.reasoning import OFFERED, RULES, Reasoner, as_sparql, recheck, rules_of
from synapse.engine.reasoning.rules import Profile, Rule, atoms, fill

# What is given, and exactly what the row alone makes of it.
EXAMPLES = {
    "cax-sco": (":C rdfs:subClassOf :D . :x a :C . :y a :D", ":x a :D"),
    "cax-eqc1": (":C owl:equivalentClass :D . :x a :C . :y a :D", ":x a :D"),
    "cax-eqc2": (":C owl:equivalentClass :D . :x a :C . :y a :D", ":y a :C"),
    "prp-dom": (":p rdfs:domain :C . :x :p :y . :u :p 'word' . :x :q :y", ":x a :C . :u a :C"),
    "prp-rng": (":p rdfs:range :C . :x :p :y . :u :p 'word' . :x :q :z", ":y a :C"),
    "prp-spo1": (":p rdfs:subPropertyOf :q . :x :p :y, 7 . :u :q :w", ":x :q :y, 7"),
    "prp-eqp1": (":p owl:equivalentProperty :q . :x :p 1 . :y :q 2", ":x :q 1"),
    "prp-eqp2": (":p owl:equivalentProperty :q . :x :p 1 . :y :q 2", ":y :p 2"),
    "prp-inv1": (":p owl:inverseOf :q . :x :p :y, 'word' . :u :q :w", ":y :q :x"),
    "prp-inv2": (":p owl:inverseOf :q . :x :p :y . :u :q :w, 'word'", ":w :p :u"),
    "prp-symp": (":p a owl:SymmetricProperty . :x :p :y, :x, 'word' . :u :q :w", ":y :p :x"),
    "prp-trp": (
        ":p a owl:TransitiveProperty . :a :p :b . :b :p :c . :c :p :d, 'word' . :d :q :e",
        ":a :p :c, :d, 'word' . :b :p :d, 'word'",
    ),
    "prp-spo2": (
        ":r owl:propertyChainAxiom :l . :l rdf:first :p ; rdf:rest :m . :m rdf:first :q ; rdf:rest rdf:nil ."
        " :a :p :b . :b :q :c, 'word' . :a :q :d . :d :p :e",
        ":a :r :c, 'word'",
    ),
    "prp-spo2-3": (
        ":r owl:propertyChainAxiom :l . :l rdf:first :p ; rdf:rest :m . :m rdf:first :q ; rdf:rest :n ."
        " :n rdf:first :p ; rdf:rest rdf:nil . :a :p :b . :b :q :c . :c :p :d . :c :q :e",
        ":a :r :d",
    ),
    "scm-sco": (
        ":A rdfs:subClassOf :B . :B rdfs:subClassOf :C . :C rdfs:subClassOf :D . :x a :A",
        ":A rdfs:subClassOf :C, :D . :B rdfs:subClassOf :D",
    ),
    "scm-spo": (
        ":p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :r, :p",
        ":p rdfs:subPropertyOf :r",
    ),
    "scm-eqc1a": (":A owl:equivalentClass :B, :A", ":A rdfs:subClassOf :B"),
    "scm-eqc1b": (":A owl:equivalentClass :B, :A", ":B rdfs:subClassOf :A"),
    "scm-eqc2": (
        ":A rdfs:subClassOf :B . :B rdfs:subClassOf :A, :C",
        ":A owl:equivalentClass :B . :B owl:equivalentClass :A",
    ),
    "scm-eqp1a": (":p owl:equivalentProperty :q", ":p rdfs:subPropertyOf :q"),
    "scm-eqp1b": (":p owl:equivalentProperty :q", ":q rdfs:subPropertyOf :p"),
    "scm-eqp2": (
        ":p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :p, :r",
        ":p owl:equivalentProperty :q . :q owl:equivalentProperty :p",
    ),
    "scm-dom1": (":p rdfs:domain :C . :C rdfs:subClassOf :D . :x :p :y", ":p rdfs:domain :D"),
    "scm-dom2": (":q rdfs:domain :C . :p rdfs:subPropertyOf :q . :x :p :y", ":p rdfs:domain :C"),
    "scm-rng1": (":p rdfs:range :C . :C rdfs:subClassOf :D . :x :p :y", ":p rdfs:range :D"),
    "scm-rng2": (":q rdfs:range :C . :p rdfs:subPropertyOf :q . :x :p :y", ":p rdfs:range :C"),
}


def test_every_row_has_an_example_and_a_name_of_its_own():
    assert len({rule.id for rule in RULES}) == len(RULES)
    assert {rule.id for rule in RULES} == set(EXAMPLES)


@pytest.mark.parametrize("rule", RULES, ids=[rule.id for rule in RULES])
def test_row_alone_concludes_exactly_what_its_example_says(rule, turtle, table_oracle):
    given, expected = (turtle(text + " .") for text in EXAMPLES[rule.id])
    reasoner = Reasoner(rules=[rule])
    assert reasoner.rebuild(given) == set(expected)
    assert table_oracle([rule], given) == set(expected)
    for fact in expected:
        derivation = reasoner.derivation(fact)
        assert derivation.rule is rule
        assert recheck(derivation)
        assert set(derivation.bindings) == {name for atom in rule.body for name in atom.variables()}


@pytest.mark.parametrize("rule", RULES, ids=[rule.id for rule in RULES])
def test_row_takes_back_what_it_concluded_when_any_one_premise_goes(rule, turtle):
    given, _ = (turtle(text + " .") for text in EXAMPLES[rule.id])
    for premise in given:
        left = [fact for fact in given if fact != premise]
        reasoner = Reasoner(rules=[rule])
        before = reasoner.rebuild(given)
        delta = reasoner.update([], [premise])
        scratch = Reasoner(rules=[rule]).rebuild(left)
        assert reasoner.inferred() == scratch
        assert (delta.added, delta.removed) == (scratch - before, before - scratch)


def test_profiles_hold_each_other():
    by_profile = [set(rules_of(profile)) for profile in Profile]
    assert by_profile[0] < by_profile[1] < by_profile[2]
    assert set(OFFERED) == {"rdfs", "rdfs-plus"}


def test_rdfs_leaves_domains_and_ranges_unclosed(turtle):
    given = turtle(":p rdfs:domain :C . :C rdfs:subClassOf :D . :q rdfs:subPropertyOf :p .")
    for profile in OFFERED:
        assert Reasoner(profile).rebuild(given) == set()
    assert Reasoner("rl").rebuild(given) == set(turtle(":p rdfs:domain :D . :q rdfs:domain :C, :D ."))


def test_domain_and_range_can_be_switched_off(turtle):
    given = turtle(":p rdfs:domain :C ; rdfs:range :D ; rdfs:subPropertyOf :q . :x :p :y .")
    assert Reasoner().rebuild(given) == set(turtle(":x a :C ; :q :y . :y a :D ."))
    assert Reasoner(domain_and_range=False).rebuild(given) == set(turtle(":x :q :y ."))


def test_an_unknown_profile_is_refused_with_the_ones_to_choose():
    with pytest.raises(SettingsInvalid, match="owl-full") as caught:
        Reasoner("owl-full")
    assert "rdfs, rdfs-plus" in caught.value.hint


@pytest.mark.parametrize(
    ("schema", "data", "head", "sentence", "complaint"),
    [
        ("?p rdfs:domain ?c", "?x ?p ?y", "?x rdf:type ?d", "", "does not bind d"),
        ("?p rdfs:domain ?c", "?x ?p ?y", "?x rdf:type ?c", "{z}", "does not bind z"),
        ("?c ?p ?d", "?x rdf:type ?c", "?x rdf:type ?d", "", "without a fixed predicate"),
        ("?p rdfs:domain ?c", "?x ?q ?y", "?x rdf:type ?c", "", "does not bind the predicate"),
        ("?p rdfs:domain ?c", "", "?p rdf:type rdf:Property", "", "no data atom"),
    ],
)
def test_a_rule_that_no_evaluator_could_run_is_refused(schema, data, head, sentence, complaint):
    with pytest.raises(SettingsInvalid, match=complaint):
        Rule("mine", Profile.RDFS, atoms(schema), atoms(data) if data else (), atoms(head)[0], sentence, "")


@pytest.mark.parametrize("text", ["?x rdf:type", "?x rdf:type ?c ?d", "?x nobody:knows ?y", "?x word ?y"])
def test_text_that_is_no_pattern_is_refused(text):
    with pytest.raises(SettingsInvalid):
        atoms(text)


def test_a_rule_of_ones_own_with_repeated_variables_and_constants_runs(turtle, table_oracle):
    rules = [
        Rule("narcissist", Profile.RDFS, (), atoms("?x schema:likes ?x"), atoms("?x rdf:type type:vain")[0],
             "{x} likes itself", ""),
        Rule("fan", Profile.RDFS, (), atoms("?x rdf:type type:vain . ?y schema:likes ?x"),
             atoms("?y schema:follows tag:vanity")[0], "{y} likes {x}", ""),
        Rule("member", Profile.RDFS, (), atoms("?y schema:follows tag:vanity"),
             atoms("tag:vanity schema:member ?y")[0], "{y} follows it", ""),
    ]  # fmt: skip
    given = turtle(
        ":a schema:likes :a, :b . :b schema:likes :a . :c schema:follows tag:vanity ; schema:likes :b ."
    )
    reasoner = Reasoner(rules=rules)
    expected = set(turtle(
        ":a a type:vain ; schema:follows tag:vanity . :b schema:follows tag:vanity ."
        " tag:vanity schema:member :a, :b, :c ."
    ))  # fmt: skip
    assert reasoner.rebuild(given) == expected == table_oracle(rules, given)
    for premise in given:
        left = [fact for fact in given if fact != premise]
        reasoner.rebuild(given)
        reasoner.update([], [premise])
        assert reasoner.inferred() == table_oracle(rules, left)


def test_sparql_of_a_row_reads_like_the_row():
    rule = next(rule for rule in RULES if rule.id == "prp-dom")
    assert as_sparql(rule).startswith("INSERT { ?x <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> ?c }")


def test_an_article_agrees_with_its_label():
    assert fill("{x} is a {c}", {"x": "Ada", "c": "Engineer"}) == "Ada is an Engineer"
    assert fill("{x} is a {c}", {"x": "Ada", "c": "Person"}) == "Ada is a Person"
    assert fill("{x} leads a {c}", {"x": "a", "c": "a {odd} one"}) == "a leads an a {odd} one"


def test_references_name_the_w3c_rule():
    by_id = {rule.id: rule.reference for rule in RULES}
    assert by_id["cax-sco"] == "OWL 2 RL/RDF rules, table 7: cax-sco; RDFS entailment pattern rdfs9"
    assert by_id["scm-eqc1b"] == "OWL 2 RL/RDF rules, table 9: scm-eqc1"


def test_a_premise_is_never_its_own_conclusion(turtle):
    given = turtle(":C rdfs:subClassOf :C . :p rdfs:subPropertyOf :p ; owl:inverseOf :p . :x a :C ; :p :y .")
    assert Reasoner().rebuild(given) == {
        Triple(NamedNode("vault:/y"), NamedNode("vault:/p"), NamedNode("vault:/x"))
    }
