"""What agents state is a pure function of the events, whatever the order in which they became known."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Triple

from synapse.engine.changes import Facts
from synapse.engine.record import provenance
from synapse.engine.record.assertions import Assertion, Projection, project
from synapse.engine.record.events import Agent, Event
from synapse.engine.record.facts import Withdrawal, WrittenFact, assertion_data, retraction_data
from synapse.engine.terms import Identities, Words, assertion_graph
from synapse.engine.terms import vocabulary as v

IDENTITIES, WORDS = Identities(), Words()
KNOWS = WrittenFact("people/bob", "knows", "people/carol")
WORKS = WrittenFact("people/bob", "works for", "org/acme")
AGE = WrittenFact("people/bob", "age", "42", "literal", "xsd:integer")
FACTS = [KNOWS, WORKS, AGE]
_numbers = itertools.count(1)


def event(kind: str, event_id: str, data: dict[str, object], second: int = 0, device: str = "d") -> Event:
    return Event(
        event_id,
        device,
        next(_numbers),
        f"2026-01-01T00:00:{second:02}.000Z",
        kind,
        Agent("bot"),
        "why",
        data,
    )


def projection(*events: Event, words: Words = WORDS) -> Projection:
    return project(events, IDENTITIES.entity, words)


def state(of: Projection) -> dict[str, tuple[Facts, Facts, tuple[str, ...]]]:
    return {one.id: (one.standing, one.meta, one.problems) for one in of.assertions()}


def standing(of: Projection, assertion: str) -> set[str]:
    found = of.assertion(assertion)
    assert found is not None
    return {triple.predicate.value.rsplit(":", 1)[-1] for triple in found.standing}


def get(of: Projection, assertion: str) -> Assertion:
    found = of.assertion(assertion)
    assert found is not None
    return found


STATED = event("assert", "A", assertion_data(FACTS, "a talk"), 1)


def test_an_assertion_is_a_graph_with_its_facts_and_provenance() -> None:
    found = projection(STATED)
    graph = assertion_graph("A")
    assert found.ids() == ["A"]
    assert found.graphs == {graph: get(found, "A").standing}
    assert standing(found, "A") == {"knows", "works_for", "age"}
    assert found.meta == provenance.assertion(STATED, "a talk")
    assert found.of_graph(graph) is found.assertion("A")
    assert found.of_graph(NamedNode("vault:/a.md")) is None and found.assertion("B") is None
    assert get(found, "A").source == "a talk" and found.problems == []


def test_retracting_an_assertion_withdraws_all_of_it_and_keeps_the_account() -> None:
    gone = event("retract", "R", retraction_data([Withdrawal("A")]), 2)
    found = projection(STATED, gone)
    one = get(found, "A")
    assert one.standing == frozenset() and found.graphs == {}
    assert [fact.withdrawn_by for fact in one.facts] == [("R",)] * 3
    assert Triple(one.graph, v.PROV_WAS_INVALIDATED_BY, provenance.activity_iri("R")) in found.meta
    assert {t.object for t in found.meta if t.predicate == provenance.WITHDREW} == {
        f.triple for f in one.facts
    }


def test_retracting_single_facts_leaves_the_others() -> None:
    gone = event("retract", "R", retraction_data([Withdrawal("A", (KNOWS,))]), 2)
    found = projection(STATED, gone)
    assert standing(found, "A") == {"works_for", "age"}
    assert [t.object for t in found.meta if t.predicate == provenance.WITHDREW] == [
        get(found, "A").facts[0].triple
    ]


def test_a_fact_is_withdrawn_under_any_spelling_that_means_it() -> None:
    spelled = WrittenFact("[[people/bob.md]]", "WORKS-FOR", "/org/acme")
    found = projection(STATED, event("retract", "R", retraction_data([Withdrawal("A", (spelled,))]), 2))
    assert standing(found, "A") == {"knows", "age"}


def test_a_withdrawn_text_stays_withdrawn_when_its_words_get_another_meaning() -> None:
    gone = event("retract", "R", retraction_data([Withdrawal("A", (WORKS,))]), 2)
    renamed = Words([{"works for": "schema:worksFor"}])
    assert "works_for" not in standing(projection(STATED, gone), "A")
    assert len(get(projection(STATED, gone, words=renamed), "A").standing) == 2


def test_a_retraction_that_comes_before_its_assertion_holds() -> None:
    early = event("retract", "R", retraction_data([Withdrawal("A", (KNOWS,)), Withdrawal("Z")]), 0)
    assert standing(projection(early, STATED), "A") == {"works_for", "age"}
    live = projection(early)
    assert live.ids() == [] and live.meta == frozenset()
    assert live.add([STATED]) == {"A"}
    assert standing(live, "A") == {"works_for", "age"}


def test_the_same_fact_stated_again_later_is_not_touched_by_the_earlier_retraction() -> None:
    again = event("assert", "B", assertion_data([KNOWS]), 3)
    found = projection(STATED, event("retract", "R", retraction_data([Withdrawal("A")]), 2), again)
    assert standing(found, "B") == {"knows"}


def test_a_superseding_assertion_withdraws_the_old_one() -> None:
    new = event("assert", "B", assertion_data([KNOWS], supersedes=["A", "B"]), 2)
    found = projection(STATED, new)
    assert standing(found, "A") == set() and standing(found, "B") == {"knows"}
    assert [fact.withdrawn_by for fact in get(found, "A").facts] == [("B",)] * 3
    undo = event("undo", "U", {"event": "B"}, 3)
    assert found.add([undo]) == {"A", "B"}
    assert standing(found, "A") == {"knows", "works_for", "age"} and standing(found, "B") == set()


def test_undo_takes_back_and_can_be_taken_back() -> None:
    gone = event("retract", "R", retraction_data([Withdrawal("A")]), 2)
    undo = event("undo", "U", {"event": "R"}, 3)
    redo = event("undo", "V", {"event": "U"}, 4)
    found = projection(STATED, gone)
    assert found.add([undo]) == {"A"} and len(get(found, "A").standing) == 3
    assert found.add([redo]) == {"A"} and get(found, "A").standing == frozenset()
    one = event("undo", "X", {"event": "A"}, 2)
    found = projection(STATED, one)
    assert get(found, "A").standing == frozenset()
    assert Triple(assertion_graph("A"), v.PROV_WAS_INVALIDATED_BY, provenance.activity_iri("X")) in found.meta


def test_a_long_chain_of_undos_is_no_problem() -> None:
    chain = [event("undo", f"U{n:05}", {"event": f"U{n - 1:05}" if n else "A"}, 2) for n in range(5001)]
    found = projection(STATED, *chain)
    assert get(found, "A").standing == frozenset()
    assert len(get(projection(STATED, *chain[:-1]), "A").standing) == 3


def test_undos_that_name_each_other_or_themselves_have_one_outcome() -> None:
    one = event("undo", "U", {"event": "V"}, 3)
    other = event("undo", "V", {"event": "U"}, 4)
    itself = event("undo", "W", {"event": "W"}, 5)
    assert state(projection(STATED, one, other, itself)) == state(projection(itself, other, one, STATED))


def test_adding_names_exactly_the_assertions_that_may_differ() -> None:
    found = projection(STATED, event("assert", "B", assertion_data([KNOWS]), 2))
    gone = event("retract", "R", retraction_data([Withdrawal("B"), Withdrawal("C")]), 3)
    assert found.add([gone]) == {"B", "C"}
    assert found.add([gone, STATED]) == frozenset(), "known events change nothing"
    assert found.add([event("verify", "W", {"event": "B"}, 4)]) == frozenset()


def test_parts_that_mean_nothing_are_named_and_the_rest_holds() -> None:
    odd = assertion_data(
        [KNOWS, WrittenFact("../x", "knows", "b"), WrittenFact("a", "b", "c", "literal", "nope")]
    )
    found = projection(
        event("assert", "A", odd, 1),
        event("assert", "B", {"facts": "none"}, 2),
        event("assert", "C", {**assertion_data([KNOWS]), "supersedes": 5}, 3),
        event("retract", "R", {"withdraw": 1}, 4),
        event("undo", "U", {}, 5),
        event("from-the-future", "F", {}, 6),
    )
    assert (
        standing(found, "A") == {"knows"}
        and standing(found, "B") == set()
        and standing(found, "C") == {"knows"}
    )
    assert [name for name, _ in found.problems] == ["A", "A", "B", "R", "U"]


def test_a_withdrawal_names_the_facts_as_they_were_written() -> None:
    found = projection(STATED)
    knows = get(found, "A").facts[0].triple
    assert found.withdrawal("A", [knows]) == Withdrawal("A", (KNOWS,))
    assert found.withdrawal("A") == Withdrawal("A")
    assert found.withdrawal("nothing") is None
    other = Triple(knows.subject, knows.predicate, Literal("x"))
    assert found.withdrawal("A", [other]) is None
    found.add([event("retract", "R", retraction_data([Withdrawal("A", (KNOWS,))]), 2)])
    assert found.withdrawal("A", [knows]) is None, "it does not hold any more"
    found.add([event("retract", "S", retraction_data([Withdrawal("A")]), 3)])
    assert found.withdrawal("A") is None


@pytest.mark.parametrize(
    ("source", "node"),
    [
        ("https://example.org/x", "https://example.org/x"),
        ("meetings/monday", "vault:/meetings/monday"),
        ("../outside", None),
        ("what Bob said", None),
        ("", None),
    ],
)
def test_a_source_is_a_node_where_it_names_one(source: str, node: str | None) -> None:
    found = projection(event("assert", "A", assertion_data([KNOWS], source), 1))
    derived = [t.object.value for t in found.meta if t.predicate == v.PROV_WAS_DERIVED_FROM]  # type: ignore[union-attr]
    words = [t.object.value for t in found.meta if t.predicate == provenance.SOURCE]  # type: ignore[union-attr]
    assert derived == ([node] if node else [])
    assert words == ([source] if source and not node else [])


# --- order -----------------------------------------------------------------------------------------

_ids = st.sampled_from(["A", "B", "C", "R", "S", "U", "V"])
_some_facts = st.lists(st.sampled_from(FACTS), min_size=1, max_size=3)
_data = st.one_of(
    st.tuples(
        st.just("assert"),
        st.builds(
            lambda facts, old: assertion_data(facts, "s", old), _some_facts, st.lists(_ids, max_size=1)
        ),
    ),
    st.tuples(
        st.just("retract"),
        st.lists(st.builds(Withdrawal, _ids, st.none() | _some_facts.map(tuple)), min_size=1, max_size=3).map(
            retraction_data
        ),
    ),
    st.tuples(st.just("undo"), st.builds(lambda target: {"event": target}, _ids)),
    st.tuples(st.sampled_from(["assert", "retract", "undo", "verify"]), st.just({})),
)
_events = st.builds(
    lambda event_id, kind_data, second, device: Event(
        event_id,
        device,
        second,
        f"2026-01-01T00:00:0{second}.000Z",
        kind_data[0],
        Agent("bot"),
        "",
        kind_data[1],
    ),
    _ids,
    _data,
    st.integers(0, 3),
    st.sampled_from(["x", "y"]),
)
_files = st.lists(st.lists(_events, max_size=6), max_size=4)


@given(_files.flatmap(lambda files: st.tuples(st.just(files), st.permutations(files))))
def test_any_order_of_journal_files_gives_the_same_projection(
    pair: tuple[list[list[Event]], list[list[Event]]],
) -> None:
    one, other = (list(itertools.chain.from_iterable(files)) for files in pair)
    assert state(projection(*one)) == state(projection(*other))


@given(st.lists(_events, max_size=10).flatmap(lambda e: st.tuples(st.just(e), st.permutations(e))))
def test_taking_events_in_one_by_one_equals_taking_them_in_at_once(
    pair: tuple[list[Event], list[Event]],
) -> None:
    events, shuffled = pair
    live = projection()
    for one in shuffled:
        before = state(live)
        touched = live.add([one])
        after = state(live)
        changed = {i for i in before.keys() | after.keys() if before.get(i) != after.get(i)}
        assert changed <= touched, "what changed was named"
    assert state(live) == state(projection(*events))


@given(st.lists(_events, max_size=10))
def test_what_stands_was_stated_and_what_was_withdrawn_is_accounted_for(events: list[Event]) -> None:
    found = projection(*events)
    for one in found.assertions():
        triples = {fact.triple for fact in one.facts}
        assert one.standing <= triples
        invalidated = any(
            t.predicate == v.PROV_WAS_INVALIDATED_BY and t.subject == one.graph for t in one.meta
        )
        assert (one.standing != triples) == invalidated
        for fact in one.facts:
            assert (fact.triple in one.standing) != bool(fact.withdrawn_by)
