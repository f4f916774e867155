"""Arguments as agents send them: what is meant is taken, what is wrong is said (cases 10, 11)."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse.agents.tools.arguments import MOST, ArgumentError, input_schema, read_arguments
from synapse.agents.tools.table import BY_NAME, TOOLS
from synapse.engine.errors import SynapseError, UsageError
from synapse.engine.record import WrittenFact

KNOWS = {"subject": "people/ada", "predicate": "knows", "object": "people/esther"}
STATED = {"facts": [KNOWS], "source": "s", "reason": "r"}


def read(tool: str, **given: Any) -> dict[str, Any]:
    return read_arguments(tool, BY_NAME[tool].arguments, given)


def refused(tool: str, **given: Any) -> str:
    with pytest.raises(UsageError) as error:
        read(tool, **given)
    return str(error.value)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_the_example_of_each_tool_is_taken(tool: Any) -> None:
    values = read(tool.name, **tool.example)
    assert set(values) == {argument.name for argument in tool.arguments}


def test_defaults_are_filled_in_and_null_is_as_if_left_out() -> None:
    assert read("entity_neighbourhood", entity="a", predicates=None) == read(
        "entity_neighbourhood", entity="a"
    )
    assert read("entity_neighbourhood", entity="a")["direction"] == "both"
    assert read("assert_facts", **STATED)["dry_run"] is False


@pytest.mark.parametrize(
    ("tool", "given", "named"),
    [
        ("entity_dossier", {}, "`entity`"),
        ("entity_dossier", {"entity": None}, "`entity`"),
        ("assert_facts", {}, "`facts` and `source` and `reason`"),
        ("fact_provenance", {"subject": "a", "object": "b"}, "`predicate`"),
        ("sparql_query", {"limit": 3}, "`query`"),
        ("retract_facts", {"assertion": "x"}, "`reason`"),
    ],
)
def test_what_is_missing_is_named(tool: str, given: dict[str, Any], named: str) -> None:
    message = refused(tool, **given)
    assert f"needs {named}." in message
    assert "(required)" in message


@pytest.mark.parametrize(
    ("tool", "given", "meant"),
    [
        ("entity_dossier", {"entty": "people/ada"}, "entity"),
        ("entity_dossier", {"entity": "a", "Limit": 3}, "limit"),
        ("entity_dossier", {"entity": "a", "curser": "x"}, "cursor"),
        ("assert_facts", {**STATED, "dryrun": True}, "dry_run"),
        ("assert_facts", {**STATED, "idempotencyKey": "x"}, "idempotency_key"),
        ("sparql_query", {"qurey": "ASK {}"}, "query"),
        ("entity_neighbourhood", {"entity": "a", "predicate": "knows"}, "predicates"),
    ],
)
def test_a_misspelt_argument_is_told_its_right_name(tool: str, given: dict[str, Any], meant: str) -> None:
    assert f"Did you mean `{meant}`?" in refused(tool, **given)


def test_an_argument_of_a_tool_without_any_is_refused() -> None:
    assert "It takes no arguments." in refused("digest", verbose=True)


def test_lists_and_objects_are_taken_as_json_strings_and_one_value_as_a_list_of_one() -> None:
    plain = read("assert_facts", **STATED)["facts"]
    assert plain == [WrittenFact("people/ada", "knows", "people/esther")]
    for facts in (json.dumps([KNOWS]), [json.dumps(KNOWS)], json.dumps(KNOWS), KNOWS):
        assert read("assert_facts", **{**STATED, "facts": facts})["facts"] == plain
    for predicates in (["knows"], '["knows"]', "knows"):
        found = read("entity_neighbourhood", entity="a", predicates=predicates)
        assert found["predicates"] == ("knows",)


def test_a_text_that_looks_like_json_stays_a_text() -> None:
    assert read("search", text='["a"]')["text"] == '["a"]'
    assert read("entity_dossier", entity="{}")["entity"] == "{}"


@pytest.mark.parametrize(("sent", "meant"), [(5, 5), (5.0, 5), ("5", 5), (" 5 ", 5), ("5.0", 5)])
def test_numbers_are_taken_as_strings_where_they_can_mean_only_one(sent: object, meant: int) -> None:
    limit = read("search", text="a", limit=sent)["limit"]
    assert (limit, type(limit)) == (meant, int)


@pytest.mark.parametrize("sent", [True, "true", " True "])
def test_flags_are_taken_as_strings(sent: object) -> None:
    assert read("assert_facts", **STATED, dry_run=sent)["dry_run"] is True


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("search", {"text": 7}, "`text` must be a text, not 7."),
        ("search", {"text": ["a"]}, "`text` must be a text"),
        ("search", {"text": "a", "limit": 0}, "a whole number from 1 to 1,000, not 0."),
        ("search", {"text": "a", "limit": -1}, "a whole number from 1"),
        ("search", {"text": "a", "limit": 1001}, "a whole number from 1"),
        ("search", {"text": "a", "limit": 10**400}, "a whole number from 1"),
        ("search", {"text": "a", "limit": 1.5}, "a whole number from 1"),
        ("search", {"text": "a", "limit": True}, "a whole number from 1"),
        ("search", {"text": "a", "limit": "ten"}, "a whole number from 1"),
        ("search", {"text": "a", "limit": float("nan")}, "a whole number from 1"),
        ("sparql_query", {"query": "ASK {}", "timeout": 0}, "a number above 0 and at most 300"),
        ("sparql_query", {"query": "ASK {}", "timeout": "1e999"}, "a number above 0"),
        ("entity_neighbourhood", {"entity": "a", "direction": "up"}, "one of both, out, in"),
        ("entity_neighbourhood", {"entity": "a", "predicates": [1]}, "a list of at most"),
        ("entity_neighbourhood", {"entity": "a", "predicates": {"a": 1}}, "a list of at most"),
        ("assert_facts", {**STATED, "dry_run": 1}, "true or false"),
        ("assert_facts", {**STATED, "facts": []}, "a list of 1 to 1,000 facts"),
        ("assert_facts", {**STATED, "facts": "[not json"}, "a list of 1 to 1,000 facts"),
        ("assert_facts", {**STATED, "facts": [KNOWS, {"subject": "a"}]}, "Fact 2: The predicate is missing"),
        ("assert_facts", {**STATED, "facts": [{**KNOWS, "lang": "en"}]}, "Fact 1: A fact has no field"),
        ("assert_facts", {**STATED, "facts": [KNOWS] * 1001}, "a list of 1 to 1,000 facts"),
        ("search", {"text": "a" * 100_001}, "100,000 are the most"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_told_what_is_expected(tool: str, given: dict[str, Any], expected: str) -> None:
    assert expected in refused(tool, **given)


@pytest.mark.parametrize(
    ("tool", "given", "place"),
    [
        ("search", {"text": "a\x00b"}, "`text` holds a NUL character"),
        ("search", {"text": "a\ud800b"}, "`text` holds half of a surrogate pair"),
        ("entity_neighbourhood", {"entity": "a", "types": ["x", "\x00"]}, "`types[1]` holds a NUL"),
        ("assert_facts", {**STATED, "facts": [{**KNOWS, "object": "\udfff"}]}, "`facts[0].object`"),
        ("assert_facts", {**STATED, "facts": json.dumps([{**KNOWS, "object": "\x00"}])}, "`facts[0].object`"),
        ("entity_neighbourhood", {"entity": "a", "types": '["\\u0000"]'}, "`types[0]` holds a NUL"),
    ],
)  # fmt: skip
def test_what_no_text_of_the_graph_can_hold_is_refused_with_its_place(
    tool: str, given: dict[str, Any], place: str
) -> None:
    assert place in refused(tool, **given)


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(st.data())
def test_whatever_is_sent_is_read_or_refused_and_never_fails_otherwise(data: st.DataObject) -> None:
    tool = data.draw(st.sampled_from(TOOLS))
    names = st.sampled_from([a.name for a in tool.arguments]) if tool.arguments else st.nothing()
    sent = data.draw(st.dictionaries(names | st.text(max_size=8), json_values, max_size=5))
    try:
        values = read_arguments(tool.name, tool.arguments, sent)
    except SynapseError as error:
        assert error.message
        assert len(error.message) < 1000
        assert "\n" not in error.message or not isinstance(error, ArgumentError)
    else:
        assert set(values) == {argument.name for argument in tool.arguments}
        assert values.get("limit", 1) <= MOST["limit"]


@given(st.data())
def test_what_fits_the_schema_is_read(data: st.DataObject) -> None:
    tool = BY_NAME["entity_neighbourhood"]
    sent = data.draw(
        st.fixed_dictionaries(
            {"entity": st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1)},
            optional={
                "depth": st.integers(1, 1000),
                "direction": st.sampled_from(["both", "in", "out"]),
                "predicates": st.lists(st.text(st.sampled_from("ab_ "), min_size=1), max_size=3),
                "limit": st.integers(1, 1000),
            },
        )
    )
    jsonschema.validate(sent, input_schema(tool.arguments))
    values = read_arguments(tool.name, tool.arguments, sent)
    assert {
        name: list(v) if isinstance(v, tuple) else v for name, v in values.items() if name in sent
    } == sent
