"""The closure: equal to two SPARQL oracles, kept up to date, bounded, and every inference with a reason."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Triple

from synapse.engine.reasoning import Budget, Reasoner, rules_of
from synapse.engine.terms import vocabulary as v

PROFILES = ("rdfs", "rdfs-plus")


def node(local):
    return NamedNode(f"vault:/{local}")


@pytest.mark.parametrize("profile", PROFILES)
def test_closure_of_random_graphs_is_that_of_both_oracles(profile, triples, oracle, table_oracle, audit):
    @settings(max_examples=120)
    @given(st.lists(triples, max_size=30))
    def check(stated):
        reasoner = Reasoner(profile)
        inferred = reasoner.rebuild(stated)
        assert inferred == oracle(stated, profile)
        assert inferred == table_oracle(rules_of(profile), stated)
        assert reasoner.incomplete == ()
        audit(reasoner, stated)

    check()


def test_closure_with_the_rl_rows_is_that_of_the_table(triples, table_oracle, audit):
    @settings(max_examples=60)
    @given(st.lists(triples, max_size=25))
    def check(stated):
        reasoner = Reasoner("rl")
        assert reasoner.rebuild(stated) == table_oracle(rules_of("rl"), stated)
        audit(reasoner, stated)

    check()


def test_after_every_edit_the_state_is_that_of_a_rebuild_and_of_the_oracle(triples, oracle, audit):
    edits = st.tuples(st.lists(triples, max_size=6), st.lists(st.integers(0, 99), max_size=6))

    @settings(max_examples=80)
    @given(st.lists(triples, max_size=20), st.lists(edits, max_size=6))
    def check(first, script):
        reasoner = Reasoner()
        stated = set(first)
        before = reasoner.rebuild(first)
        for added, picks in script:
            order = sorted(stated, key=str)
            removed = {order[pick % len(order)] for pick in picks if order} - set(added)
            delta = reasoner.update(added, removed)
            stated = (stated - removed) | set(added)
            inferred = reasoner.inferred()
            assert inferred == Reasoner().rebuild(stated) == oracle(stated)
            assert (delta.added, delta.removed) == (inferred - before, before - inferred)
            audit(reasoner, stated)
            before = inferred

    check()


def test_the_order_of_statements_does_not_matter(triples):
    @settings(max_examples=60)
    @given(st.lists(triples, max_size=20, unique_by=str), st.randoms(use_true_random=False))
    def check(stated, shuffler):
        whole = Reasoner().rebuild(stated)
        one_by_one = Reasoner()
        shuffled = list(stated)
        shuffler.shuffle(shuffled)
        for fact in shuffled:
            one_by_one.update([fact], [])
        assert one_by_one.inferred() == whole
        shuffler.shuffle(shuffled)
        for fact in shuffled:
            one_by_one.update([], [fact])
        assert one_by_one.inferred() == set() and len(one_by_one) == 0

    check()


def small_company(rng):
    """A vault's graph: notes with typed links, a small ontology with cycles in it."""
    axioms = [
        Triple(node(f"C{i}"), v.RDFS_SUB_CLASS_OF, node(f"C{rng.randrange(8)}")) for i in range(12)
    ]
    axioms += [Triple(node(f"r{i}"), v.RDFS_DOMAIN, node(f"C{rng.randrange(12)}")) for i in range(4)]
    axioms += [Triple(node(f"r{i}"), v.RDFS_RANGE, node(f"C{rng.randrange(12)}")) for i in range(4)]
    axioms += [
        Triple(node("r0"), v.RDFS_SUB_PROPERTY_OF, node("r1")),
        Triple(node("r1"), v.RDFS_SUB_PROPERTY_OF, node("r2")),
        Triple(node("r2"), v.RDF_TYPE, v.OWL_TRANSITIVE_PROPERTY),
        Triple(node("r3"), v.RDF_TYPE, v.OWL_SYMMETRIC_PROPERTY),
        Triple(node("r3"), v.RDF_TYPE, v.OWL_TRANSITIVE_PROPERTY),
        Triple(node("r4"), v.OWL_INVERSE_OF, node("r2")),
    ]
    data = [
        Triple(node(f"n{rng.randrange(24)}"), node(f"r{rng.randrange(5)}"), node(f"n{rng.randrange(24)}"))
        for _ in range(40)
    ]
    data += [Triple(node(f"n{i}"), v.RDF_TYPE, node(f"C{rng.randrange(12)}")) for i in range(24)]
    data += [Triple(node(f"n{i}"), v.RDFS_LABEL, Literal(f"note {i}")) for i in range(24)]
    return axioms + data


@pytest.mark.parametrize("seed", range(3))
def test_a_long_edit_script_over_a_small_vault_never_drifts(seed, oracle, audit):
    rng = random.Random(seed)
    pool = list(dict.fromkeys(small_company(rng)))
    stated = set(pool)
    reasoner = Reasoner()
    reasoner.rebuild(pool)
    for step in range(60):
        removed = set(rng.sample(sorted(stated, key=str), min(4, len(stated))))
        added = set(rng.sample(pool, 5)) - removed
        reasoner.update(added, removed)
        stated = (stated - removed) | added
        assert reasoner.inferred() == Reasoner().rebuild(stated), f"step {step}"
        if step % 10 == 9:
            assert reasoner.inferred() == oracle(stated)
            audit(reasoner, stated)


def test_a_stated_fact_that_also_follows_is_stated_and_becomes_inferred_when_unstated(turtle):
    reasoner = Reasoner()
    given = turtle(":C rdfs:subClassOf :D . :x a :C, :D .")
    (fact,) = turtle(":x a :D .")
    assert reasoner.rebuild(given) == set()
    assert reasoner.is_stated(fact) and reasoner.derivation(fact) is None
    assert reasoner.update([], [fact]).added == {fact}
    assert not reasoner.is_stated(fact) and reasoner.derivation(fact).rule.id == "cax-sco"
    assert reasoner.update([fact], []).removed == {fact}
    assert reasoner.inferred() == set()


def test_retracting_what_is_inferred_or_unknown_or_stating_twice_changes_nothing(turtle):
    reasoner = Reasoner()
    given = turtle(":C rdfs:subClassOf :D . :x a :C .")
    inferred = reasoner.rebuild([*given, *given])
    assert not reasoner.update([], inferred)
    assert not reasoner.update([], turtle(":nobody :knows :nothing ."))
    assert not reasoner.update(given, [])
    assert not reasoner.update(given, given)
    assert reasoner.inferred() == inferred
    assert reasoner.update([], [*given, *given]).removed == inferred
    assert not reasoner.update([], given)


def test_a_symmetric_pair_does_not_support_itself(turtle):
    reasoner = Reasoner()
    pair = turtle(":a :knows :b .")
    reasoner.rebuild(turtle(":knows a owl:SymmetricProperty .") + pair)
    assert reasoner.inferred() == set(turtle(":b :knows :a ."))
    reasoner.update([], pair)
    assert reasoner.inferred() == set()


def test_a_cycle_of_classes_does_not_support_its_members(turtle):
    reasoner = Reasoner()
    member = turtle(":x a :A .")
    cycle = turtle(":A rdfs:subClassOf :B . :B rdfs:subClassOf :C . :C rdfs:subClassOf :A .")
    reasoner.rebuild(cycle + member)
    assert set(turtle(":x a :B, :C . :A owl:equivalentClass :C .")) <= reasoner.inferred()
    assert not [fact for fact in reasoner.inferred() if fact.subject == fact.object]
    reasoner.update([], member)
    assert not [fact for fact in reasoner.inferred() if fact.predicate == v.RDF_TYPE]


def test_symmetric_and_transitive_closes_each_component(turtle, audit):
    given = turtle(
        ":p a owl:SymmetricProperty, owl:TransitiveProperty . :a :p :b . :b :p :c . :d :p :e ."
    )
    reasoner = Reasoner()
    reasoner.rebuild(given)
    facts = {fact for fact in reasoner.inferred() | set(given) if fact.predicate == node("p")}
    expected = {(one, two) for group in ("abc", "de") for one in group for two in group}
    assert facts == {Triple(node(one), node("p"), node(two)) for one, two in expected}
    audit(reasoner, given)


def test_a_symmetric_transitive_group_of_many_is_closed_and_split_again(audit):
    axioms = [
        Triple(node("p"), v.RDF_TYPE, v.OWL_SYMMETRIC_PROPERTY),
        Triple(node("p"), v.RDF_TYPE, v.OWL_TRANSITIVE_PROPERTY),
    ]
    path = [Triple(node(f"n{i}"), node("p"), node(f"n{i + 1}")) for i in range(59)]
    reasoner = Reasoner()
    assert len(reasoner.rebuild(axioms + path)) == 60 * 60 - 59
    reasoner.update([], [path[29]])
    assert len(reasoner.inferred()) == 2 * 30 * 30 - 58
    audit(reasoner, axioms + path[:29] + path[30:])


def test_a_pair_that_followed_and_is_then_stated_carries_on_when_its_old_support_goes(turtle, audit):
    reasoner = Reasoner()
    given = turtle(":p a owl:TransitiveProperty . :a :p :b . :b :p :c . :c :p :d .")
    reasoner.rebuild(given)
    short_cut = turtle(":b :p :d .")
    assert reasoner.update(short_cut, []).removed == set(short_cut)
    (support,) = turtle(":b :p :c .")
    delta = reasoner.update([], [support])
    assert delta.removed == set(turtle(":a :p :c .")) and not delta.added
    assert reasoner.inferred() == set(turtle(":a :p :d ."))
    audit(reasoner, [fact for fact in given + short_cut if fact != support])


def test_an_axiom_that_comes_after_the_data_and_goes_again(turtle):
    reasoner = Reasoner()
    reasoner.rebuild(turtle(":a :needs :b . :b :needs :c . :c :needs 'rest' ."))
    axiom = turtle(":needs a owl:TransitiveProperty .")
    expected = set(turtle(":a :needs :c, 'rest' . :b :needs 'rest' ."))
    assert reasoner.update(axiom, []).added == expected
    assert reasoner.update([], axiom).removed == expected


def test_an_axiom_that_is_itself_inferred(turtle, audit):
    given = turtle(
        ":Linking rdfs:subClassOf owl:TransitiveProperty . :needs a :Linking . :a :needs :b . :b :needs :c ."
    )
    reasoner = Reasoner()
    assert set(turtle(":a :needs :c .")) <= reasoner.rebuild(given)
    audit(reasoner, given)
    reasoner.update([], given[:1])
    assert reasoner.inferred() == set()


def test_no_noise(turtle):
    """No thing is a resource, nothing is below or equal to itself, no literal has a property."""
    given = turtle(
        ":x :p :y, 'word' . :y a :C . :C a rdfs:Class ; rdfs:subClassOf :D . :D rdfs:subClassOf :C ."
        " :p a rdf:Property, owl:SymmetricProperty ; rdfs:range :C . :x owl:sameAs :x ."
    )
    inferred = Reasoner().rebuild(given)
    assert inferred == set(turtle(
        ":y :p :x ; a :D . :x a :C, :D . :C owl:equivalentClass :D . :D owl:equivalentClass :C ."
    ))  # fmt: skip


def test_rebuild_forgets_what_was_before(turtle):
    reasoner = Reasoner()
    reasoner.rebuild(turtle(":C rdfs:subClassOf :D . :x a :C ."))
    assert reasoner.rebuild(turtle(":y a :C .")) == set()
    assert len(reasoner) == 1


# --- Budgets ---


def chain(length, predicate="needs"):
    return [Triple(node(f"n{i}"), node(predicate), node(f"n{i + 1}")) for i in range(length)]


TRANSITIVE = Triple(node("needs"), v.RDF_TYPE, v.OWL_TRANSITIVE_PROPERTY)
ELSEWHERE = [
    Triple(node("C"), v.RDFS_SUB_CLASS_OF, node("D")),
    Triple(node("x"), v.RDF_TYPE, node("C")),
]


def test_a_budget_of_pairs_stops_one_rule_on_one_property_and_says_so(oracle, audit):
    stated = [TRANSITIVE, *chain(100), *ELSEWHERE]
    reasoner = Reasoner(budget=Budget(pairs=500))
    inferred = reasoner.rebuild(stated)
    assert [str(finding) for finding in reasoner.incomplete] == ["incomplete: prp-trp on vault:/needs"]
    assert len([fact for fact in inferred if fact.predicate == node("needs")]) == 400
    assert Triple(node("x"), v.RDF_TYPE, node("D")) in inferred
    assert inferred < oracle(stated)
    audit(reasoner, stated)


def test_a_budget_of_facts_stops_every_rule_that_would_pass_it(audit):
    stated = [TRANSITIVE, *chain(100)]
    reasoner = Reasoner(budget=Budget(times_stated=1, more=50))
    assert len(reasoner.rebuild(stated)) == 151
    assert {finding.property for finding in reasoner.incomplete} == {node("needs")}
    audit(reasoner, stated)


def test_after_a_budget_was_hit_edits_stay_sound(oracle, audit):
    stated = {TRANSITIVE, *chain(60), *ELSEWHERE}
    reasoner = Reasoner(budget=Budget(pairs=300))
    before = reasoner.rebuild(stated)
    for fact in chain(60)[10:50:10]:
        delta = reasoner.update([], [fact])
        stated.discard(fact)
        inferred = reasoner.inferred()
        assert inferred == (before | delta.added) - delta.removed
        assert inferred <= oracle(stated)
        audit(reasoner, stated)
        before = inferred


@pytest.mark.parametrize("budget", [Budget(pairs=500), Budget(times_stated=1, more=300)])
def test_when_the_excess_is_removed_what_was_left_out_is_derived(budget, oracle):
    stated = [TRANSITIVE, *chain(100), *ELSEWHERE]
    reasoner = Reasoner(budget=budget)
    before = reasoner.rebuild(stated)
    delta = reasoner.update([], chain(100)[10:])
    left = [TRANSITIVE, *chain(10), *ELSEWHERE]
    assert reasoner.incomplete == ()
    assert reasoner.inferred() == oracle(left) == (before | delta.added) - delta.removed
    assert not delta.added & before and delta.removed <= before


def test_when_the_axiom_goes_so_does_the_finding():
    reasoner = Reasoner(budget=Budget(pairs=500))
    reasoner.rebuild([TRANSITIVE, *chain(100)])
    reasoner.update([], [TRANSITIVE])
    assert reasoner.incomplete == () and reasoner.inferred() == set()


def test_the_finding_goes_with_its_axiom_even_where_there_is_no_more_room():
    reasoner = Reasoner(budget=Budget(pairs=50))
    reasoner.rebuild([TRANSITIVE, *chain(100)])
    assert reasoner.incomplete
    reasoner.update([], [TRANSITIVE])
    assert reasoner.incomplete == ()


def test_a_rule_that_stopped_does_not_stand_in_the_way_of_another(turtle):
    needed = turtle(":n0 :needs :n2 .")
    reasoner = Reasoner(budget=Budget(pairs=150))
    sub_property = turtle(":insists_on rdfs:subPropertyOf :needs . :n0 :insists_on :n2 .")
    reasoner.rebuild([TRANSITIVE, *chain(100), *sub_property, *needed])
    assert [finding.rule.id for finding in reasoner.incomplete] == ["prp-trp"]
    assert reasoner.update([], needed).added == set(needed)
    assert reasoner.derivation(needed[0]).rule.id == "prp-spo1"


def test_the_budget_counts_what_is_stated_now():
    labels = [Triple(node(f"n{i}"), v.RDFS_LABEL, Literal(f"note {i}")) for i in range(100)]
    reasoner = Reasoner(budget=Budget(times_stated=1, more=0))
    reasoner.rebuild(labels)
    reasoner.update([], labels)
    reasoner.update([TRANSITIVE, *chain(10)], [])
    assert len(reasoner.inferred()) == 11 and reasoner.incomplete
