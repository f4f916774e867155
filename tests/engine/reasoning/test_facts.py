"""Numbered terms, indexes and patterns against their plain meaning."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from synapse.engine.reasoning.facts import FactBase, TermTable
from synapse.engine.reasoning.patterns import bind, ground, matches, projection, solve, unify

RDF_TYPE = 0
numbers = st.integers(-2, 3)
facts = st.tuples(st.integers(0, 3), st.integers(0, 2), numbers)


def test_terms_come_back_as_they_went_in_and_literals_are_negative():
    table = TermTable()
    iri, blank, literal = NamedNode("vault:/x"), BlankNode("b"), Literal("x", language="nl")
    quoted = Triple(iri, iri, literal)
    given_terms = [iri, blank, literal, quoted, iri, literal]
    found = [table.number(term) for term in given_terms]
    assert [table.term(number) for number in found] == given_terms
    assert [number < 0 for number in found] == [False, False, True, True, False, True]
    assert table.is_iri(found[0]) and not table.is_iri(found[1]) and not table.is_iri(found[2])
    fact = Triple(blank, iri, literal)
    assert table.triple(table.fact(fact)) == fact
    assert table.facts([fact]) == [table.fact(fact)] == [table.find(fact)]
    assert table.find(Triple(iri, iri, Literal("unseen"))) is None


changes = st.lists(st.tuples(st.sampled_from(["add", "discard", "subject", "object"]), facts), max_size=40)


@given(st.lists(facts, max_size=15), changes)
def test_indexes_hold_what_the_base_holds_whenever_they_are_made(loaded, script):
    base = FactBase(RDF_TYPE)
    base.load(loaded)
    plain = set(loaded)
    for action, fact in script:
        if action == "add":
            assert base.add(fact) is (fact not in plain)
            plain.add(fact)
        elif action == "discard":
            base.discard(fact)
            plain.discard(fact)
        elif action == "subject":
            found = base.of_subject(fact[1], fact[0])
            assert set(found) == {f for f in plain if (f[1], f[0]) == (fact[1], fact[0])}
        else:
            found = base.of_object(fact[1], fact[2])
            assert set(found) == {f for f in plain if (f[1], f[2]) == (fact[1], fact[2])}
        assert (fact in base) is (fact in plain)
    assert set(base) == plain and len(base) == len(plain)
    for predicate in range(3):
        assert set(base.of_predicate(predicate)) == {fact for fact in plain if fact[1] == predicate}


names = st.sampled_from(["x", "y", "z"])
patterns = st.tuples(names | st.integers(0, 3), st.integers(0, 2), names | numbers)


@settings(max_examples=300)
@given(st.lists(patterns, max_size=3), st.lists(facts, max_size=12))
def test_solutions_are_those_of_nested_loops(wanted, loaded):
    base = FactBase(RDF_TYPE)
    base.load(loaded)
    expected = [{}]
    for pattern in wanted:
        expected = [
            found
            for bindings in expected
            for fact in set(loaded)
            if (found := unify(pattern, fact, bindings)) is not None
        ]
    found = list(solve(wanted, base, {}))
    canonical = lambda rows: sorted(sorted(row.items()) for row in rows)  # noqa: E731
    assert canonical(found) == canonical(expected)


@settings(max_examples=500)
@given(patterns, patterns, facts)
def test_a_projection_is_unify_and_ground(source, target, fact):
    project = projection(source, target, RDF_TYPE)
    variables = {part for part in target if isinstance(part, str)}
    if not variables <= set(source):
        assert project is None
        return
    base = FactBase(RDF_TYPE)
    base.load([fact])
    if fact not in set(matches(bind(("s", *source[1:]), {}), base)) and fact[1] != source[1]:
        return  # a projection is only asked about facts of its group
    if source[1] == RDF_TYPE and isinstance(source[2], int) and source[2] >= 0 and fact[2] != source[2]:
        return
    bindings = unify(source, fact, {})
    assert project(fact) == (None if bindings is None else ground(target, bindings))
