"""Arguments, results and errors keep their meaning on their way between processes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BaseDirection, BlankNode, Literal, NamedNode, Triple

from synapse.engine import errors
from synapse.engine.errors import InvalidFact, SynapseError, UsageError, error_from_json
from synapse.engine.graph.results import AskResult, GraphResult, SelectResult
from synapse.engine.operations import OPERATIONS, operation
from synapse.engine.questions.decoding import Undecodable
from synapse.engine.record import WrittenFact
from synapse.engine.wire import PIECE, dumped, from_wire, pieces, read_values, to_arguments, to_wire

QUERY = operation("query")


def carried(value: object) -> Any:
    return json.loads(json.dumps(value))


# -- results -------------------------------------------------------------------------------------

NAMED = st.sampled_from(["vault:/a", "vault:/é/日本", "urn:x:%20y", "http://a.example/?b=c#d"]).map(NamedNode)
LITERALS = st.one_of(
    st.text().map(Literal),
    st.builds(lambda text, tag: Literal(text, language=tag), st.text(), st.sampled_from(["nl", "pt-br"])),
    st.builds(
        lambda text, to: Literal(text, language="ar", direction=to),
        st.text(),
        st.sampled_from([BaseDirection.LTR, BaseDirection.RTL]),
    ),
    st.builds(lambda text, kind: Literal(text, datatype=kind), st.text(), NAMED),
    st.integers().map(Literal),
)
BLANK = st.sampled_from(["b", "x1"]).map(BlankNode)
TRIPLES = st.recursive(
    st.builds(Triple, st.one_of(NAMED, BLANK), NAMED, st.one_of(NAMED, BLANK, LITERALS)),
    lambda inner: st.builds(Triple, st.one_of(NAMED, BLANK), NAMED, inner),
    max_leaves=3,
)
CELLS = st.one_of(st.none(), NAMED, BLANK, LITERALS, TRIPLES)


@given(st.lists(st.tuples(CELLS, CELLS), max_size=4), st.booleans())
def test_every_term_of_a_row_comes_back_as_it_was(rows: list[Any], truncated: bool) -> None:
    result = SelectResult(("z", "a"), tuple(rows), truncated)
    assert from_wire(QUERY, carried(to_wire(result))) == result


@given(st.sets(TRIPLES, max_size=4), st.booleans())
def test_a_graph_comes_back_sorted(triples: set[Triple], truncated: bool) -> None:
    found = from_wire(QUERY, carried(to_wire(GraphResult(tuple(triples), truncated))))
    assert found == GraphResult(tuple(sorted(triples, key=str)), truncated)


@pytest.mark.parametrize(
    "result", [AskResult(True), AskResult(False), SelectResult((), ((), ())), SelectResult(("a",), ())]
)
def test_answers_without_terms_come_back(result: Any) -> None:
    assert from_wire(QUERY, carried(to_wire(result))) == result


@pytest.mark.parametrize("value", [None, [], {}, {"rows": []}, {"select": {}}, {"ask": 1}, {"graph": "<a"}])
def test_what_is_no_query_s_answer_is_refused(value: object) -> None:
    with pytest.raises(Undecodable):
        from_wire(QUERY, value)


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        {"é": {"list": list(range(1999)), "none": None}, "b": [{"語": "\u2028\n"}] * 501},
        [[1, 2]] * 1000,
        {"graph": '<a> <b> "😀" .\n', "truncated": False},
        "text",
    ],
)
def test_json_that_is_written_in_pieces_is_one_line_of_the_same(value: object) -> None:
    text = dumped(value)
    assert json.loads(text) == value
    assert text.isascii() and "\n" not in text


@pytest.mark.parametrize("sign", ["a", "é", "語", "😀"])
def test_pieces_never_cut_a_character_and_add_up(sign: str) -> None:
    content = ("x" + sign * PIECE).encode()
    found = list(pieces(content))
    assert "".join(found).encode() == content
    assert all(0 < len(piece.encode()) <= PIECE for piece in found)
    assert len(found) <= len(content) // (PIECE - 3) + 1
    assert list(pieces(b"")) == []


# -- arguments -----------------------------------------------------------------------------------


def test_arguments_come_back_with_the_defaults_filled_in() -> None:
    row = operation("neighbourhood")
    values = read_values(
        row, carried(to_arguments(row, {"entity": "a", "predicates": ("b", "c"), "depth": 2}))
    )
    assert values == {
        "entity": "a", "depth": 2, "direction": "both", "predicates": ("b", "c"), "types": (), "limit": 200,
    }  # fmt: skip


def test_facts_travel_and_files_do_not() -> None:
    row = operation("assert")
    fact = WrittenFact("a", "b", "1", "literal", datatype="xsd:integer")
    told = to_arguments(row, {"facts": [fact], "file": "secret.json", "source": "s", "reason": "r"})
    assert "file" not in told
    assert read_values(row, carried(told))["facts"] == [fact]
    assert "out" not in to_arguments(operation("export"), {"out": "file.nq"})


@pytest.mark.parametrize("row", OPERATIONS, ids=lambda row: row.name)
def test_what_is_at_its_default_is_not_sent(row: Any) -> None:
    assert to_arguments(row, {argument.name: argument.default for argument in row.arguments}) == {}


@pytest.mark.parametrize(
    ("name", "told", "message"),
    [
        ("dossier", {}, "`dossier` lacks entity."),
        ("dossier", {"entity": None}, "`dossier` lacks entity."),
        ("dossier", {"entiy": "a"}, "`dossier` has no argument 'entiy'. Did you mean entity?"),
        ("status", {"x": 1}, "`status` has no argument 'x'."),
        ("export", {"out": "x"}, "`export` has no argument 'out'."),
        ("dossier", {"entity": 1}, "entity must be a text, not 1."),
        ("dossier", {"entity": "\ud800"}, "entity holds half of a surrogate pair"),
        ("dossier", {"entity": "a", "limit": 0}, "limit must be a whole number, at least 1, not 0."),
        ("dossier", {"entity": "a", "limit": True}, "limit must be a whole number"),
        ("dossier", {"entity": "a", "limit": 1.5}, "limit must be a whole number"),
        ("query", {"sparql": "ASK {}", "timeout": 0}, "timeout must be a number of seconds"),
        ("query", {"sparql": "ASK {}", "stated": "yes"}, "stated must be true or false"),
        ("neighbourhood", {"entity": "a", "types": "b"}, "types must be a list of texts"),
        ("neighbourhood", {"entity": "a", "types": ["\udfff"]}, "types holds half"),
        ("neighbourhood", {"entity": "a", "direction": "up"}, "direction cannot be 'up'. It is one of both"),
    ],
)
def test_a_wrong_argument_is_named(name: str, told: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_values(operation(name), told)
    assert str(caught.value).startswith(message)


def test_a_wrong_fact_is_named_by_its_number() -> None:
    told = {"facts": [WrittenFact("a", "b", "c").as_json(), {"subject": "a"}], "source": "s", "reason": "r"}
    with pytest.raises(InvalidFact, match="Fact 2: "):
        read_values(operation("assert"), told)


# -- errors --------------------------------------------------------------------------------------


def classes(root: type[SynapseError] = SynapseError) -> list[type[SynapseError]]:
    found = [one for below in root.__subclasses__() for one in classes(below)]
    return [root, *found] if root.__module__ == errors.__name__ else found


@pytest.mark.parametrize("kind", classes(), ids=lambda kind: kind.__name__)
def test_every_error_comes_back_as_what_it_was(kind: type[SynapseError]) -> None:
    given = kind("What is wrong.", "What to do.")
    given.path, given.line, given.column = "a.md", 3, 4
    found = error_from_json(carried(given.as_json()))
    assert type(found) is kind
    assert (found.as_json(), str(found)) == (given.as_json(), str(given))


def test_an_unknown_entity_comes_back_with_its_candidates() -> None:
    found = error_from_json(carried(errors.UnknownEntity("No.", candidates=("a", "b")).as_json()))
    assert isinstance(found, errors.UnknownEntity) and found.candidates == ("a", "b")


def test_an_error_that_is_not_known_here_keeps_its_kind_and_words() -> None:
    found = error_from_json(
        {"kind": "from-the-future", "message": "It is late.", "hint": "Wait.", "line": "x"}
    )
    assert (found.kind, str(found), found.line) == ("from-the-future", "It is late. Wait.", None)
    assert SynapseError.kind == "error"


@pytest.mark.parametrize(
    "told", [{}, {"kind": 1, "message": None}, {"kind": "unknown-entity", "candidates": 1}]
)
def test_an_error_without_words_still_says_something(told: dict[str, object]) -> None:
    assert str(error_from_json(told)).startswith("The other process failed")
