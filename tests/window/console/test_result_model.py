"""The answer as a table: any term is shown, sorted by value, copied without loss of columns."""

from __future__ import annotations

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from synapse.engine.graph.results import SelectResult
from synapse.engine.questions.results import Entity
from synapse.engine.terms import vocabulary as v
from synapse.window.console.result_model import LONGEST_CELL, ResultModel
from synapse.window.console.running import Answer
from synapse.window.theme import Theme

BOB = NamedNode("vault:/people/bob")
NAMES = {
    BOB.value: Entity("people/bob", BOB.value, "Bob | the \\ builder", "note", "people/bob.md"),
    "urn:x": Entity("urn:x", "urn:x", "x", "other"),
}


def table(*rows, columns=None):
    columns = columns or tuple("abcdef"[: len(rows[0])])
    found = SelectResult(columns, rows)
    return Answer("select", columns, rows, False, None, found, "SELECT", "all", 1000, 0.1, NAMES)


@pytest.fixture
def model(qapp: QApplication) -> ResultModel:
    return ResultModel(Theme("light"))


def column(model, number=0):
    return [model.index(row, number).data() for row in range(model.rowCount())]


def number(text, datatype=v.XSD_INTEGER):
    return Literal(text, datatype=datatype)


def test_numbers_sort_by_value_across_their_types(model):
    whole = [(number(text),) for text in ("10", "9", "-1")]
    model.show(table(*whole, (number("9.5", v.XSD_DECIMAL),), (None,)))
    model.sort(0)
    assert column(model) == ["—", "-1", "9", "9.5", "10"]
    model.sort(0, Qt.SortOrder.DescendingOrder)
    assert column(model) == ["10", "9.5", "9", "-1", "—"]


def test_a_third_click_brings_back_the_order_of_the_query(model):
    rows = [(number(text),) for text in ("3", "1", "2")]
    model.show(table(*rows))
    model.sort(0)
    model.sort(-1)
    assert column(model) == ["3", "1", "2"]


def test_times_sort_in_utc_and_infinity_and_nan_break_nothing(model):
    times = ("2024-01-01T12:00:00+02:00", "2024-01-01T11:00:00Z", "2024-01-01T09:00:00Z")
    model.show(table(*[(number(text, v.XSD_DATE_TIME),) for text in times]))
    model.sort(0)
    assert column(model) == [times[2], times[0], times[1]]
    model.show(table(*[(number(text, v.XSD_DOUBLE),) for text in ("INF", "NaN", "1.0E0", "-INF")]))
    model.sort(0)
    assert column(model)[-1] == "INF"


def test_text_sorts_as_it_reads_and_equal_rows_keep_their_order(model):
    model.show(table(*[(Literal(text), number(str(n))) for n, text in enumerate(("b", "A", "a", "B"))]))
    model.sort(0)
    assert column(model) == ["A", "a", "b", "B"]
    model.sort(0, Qt.SortOrder.DescendingOrder)
    assert column(model, 1) == ["0", "3", "1", "2"]


def test_names_stand_for_iris_and_ids_can_be_had(model):
    model.show(table((BOB, NamedNode("urn:x"))))
    assert model.index(0, 0).data() == "Bob | the \\ builder"
    model.set_with_names(False)
    assert model.index(0, 0).data() == "people/bob"


def test_a_link_is_told_from_other_names(model):
    model.show(table((BOB, NamedNode("urn:x"))))
    assert model.index(0, 0).data(Qt.ItemDataRole.ForegroundRole) == Theme("light").color("accent")
    assert model.index(0, 1).data(Qt.ItemDataRole.ForegroundRole) is None


def test_values_that_break_others_are_one_line_and_whole_when_copied(model):
    nasty = 'a,b","c"\twith\nlines \u05e9\u05dc\u05d5\u05dd'
    long = "x" * 1_000_000
    model.show(table((Literal(nasty), Literal(long), Literal("chat", language="fr"), Literal(""), None)))
    assert column(model, 0) == ['a,b","c" with lines \u05e9\u05dc\u05d5\u05dd']
    assert len(column(model, 1)[0]) == LONGEST_CELL + 1
    assert column(model, 2) == ["chat  @fr"]
    assert column(model, 3) == ["“”"]
    assert column(model, 4) == ["—"]
    assert model.text(model.row_terms(0)[0]) == nasty
    assert len(model.text(model.row_terms(0)[1])) == len(long)
    assert len(model.index(0, 1).data(Qt.ItemDataRole.ToolTipRole)) < 5_000


def test_every_kind_of_term_has_a_text(model):
    triple = Triple(BOB, NamedNode("urn:x"), Literal("1"))
    model.show(table((triple, BlankNode("b0"), NamedNode("http://e/%20."))))
    assert [model.index(0, n).data() for n in range(3)] == [
        "<<( Bob | the \\ builder x 1 )>>",
        "_:b0",
        "http://e/%20.",
    ]


def test_the_filter_keeps_rows_that_have_every_word_and_the_order(model):
    texts = ("red fox", "dog", "fox Red")
    model.show(table(*[(Literal(text), number(str(n))) for n, text in enumerate(texts)]))
    model.sort(1, Qt.SortOrder.DescendingOrder)
    model.set_filter("RED fox")
    assert column(model) == ["fox Red", "red fox"]
    assert model.total() == 3
    model.set_filter("")
    assert model.rowCount() == 3


def test_copied_rows_paste_into_a_spreadsheet_and_a_note(model):
    model.show(table((BOB, Literal("a\tb|c")), columns=("who", "what")))
    assert model.as_tsv([0], [1, 0]) == "a b|c\tBob | the \\ builder"
    assert model.as_markdown([0]).splitlines() == [
        "| who | what |",
        "| --- | --- |",
        "| [[people/bob\\|Bob \\| the \\\\ builder]] | a b\\|c |",
    ]


def test_the_model_keeps_qts_rules(model, qtmodeltester):
    model.show(table((BOB, number("1")), (None, Literal("x"))))
    qtmodeltester.check(model)
