"""Sorting and filtering in steps gives what one sort would give."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from synapse.engine.graph.results import SelectResult
from synapse.engine.terms import vocabulary as v
from synapse.window.console import arranging
from synapse.window.console.arranging import Arrangement, arrange, sort_key
from synapse.window.console.running import Answer


def answer(terms):
    rows = tuple((term,) for term in terms)
    return Answer("select", ("x",), rows, False, None, SelectResult(("x",), rows), "q", "all", 10, 0.0, {})


TERMS = st.one_of(
    st.none(),
    st.integers(-50, 50).map(lambda number: Literal(str(number), datatype=v.XSD_INTEGER)),
    st.floats(-50, 50).map(lambda number: Literal(repr(number), datatype=v.XSD_DOUBLE)),
    st.decimals(-50, 50, places=2).map(lambda number: Literal(str(number), datatype=v.XSD_DECIMAL)),
    st.sampled_from(["INF", "-INF", "NaN"]).map(lambda text: Literal(text, datatype=v.XSD_DOUBLE)),
    st.text(max_size=4).map(Literal),
    st.sampled_from(["ten", "1.5"]).map(lambda text: Literal(text, datatype=v.XSD_INTEGER)),
    st.sampled_from(["urn:a", "urn:b"]).map(NamedNode),
    st.dates().map(lambda day: Literal(day.isoformat(), datatype=v.XSD_DATE)),
    st.booleans().map(lambda value: Literal(str(value).lower(), datatype=v.XSD_BOOLEAN)),
)


@given(st.lists(TERMS, max_size=60), st.booleans(), st.integers(1, 9))
def test_any_terms_can_be_ordered_and_steps_do_not_show(terms, descending, step):
    found = answer(terms)
    whole, arranging.STEP = arranging.STEP, step
    try:
        order = arrange(found, Arrangement(column=0, descending=descending))
    finally:
        arranging.STEP = whole
    keys = [sort_key(term, "" if term is None else str(getattr(term, "value", ""))) for term in terms]
    assert order == sorted(range(len(terms)), key=keys.__getitem__, reverse=descending)


def test_more_rows_than_one_step_are_sorted_whole():
    numbers = list(range(3 * arranging.STEP + 7))
    random.Random(0).shuffle(numbers)
    found = answer([Literal(str(number), datatype=v.XSD_INTEGER) for number in numbers])
    order = arrange(found, Arrangement(column=0))
    assert [numbers[at] for at in order] == sorted(numbers)


def test_a_column_that_is_not_there_leaves_the_order_of_the_query():
    assert arrange(answer([Literal("b"), Literal("a")]), Arrangement(column=5)) == [0, 1]
