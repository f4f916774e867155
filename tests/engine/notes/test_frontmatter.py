"""The frontmatter block: splitting, scalars as written, and what strict YAML rejects."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal, NamedNode

from synapse.engine.notes.frontmatter import DEEPEST, MOST_ALIASED
from synapse.engine.notes.reading import Note, read_note
from synapse.engine.notes.values import ListValue, MapValue, ScalarValue, Value, plain_literal
from synapse.engine.terms import vocabulary as v


def note(text: str) -> Note:
    return read_note("people/bob.md", text.encode())


def plain(value: Value) -> object:
    """A value as bare Python: text, lists, and mappings as lists of pairs."""
    if isinstance(value, ScalarValue):
        return value.text
    if isinstance(value, ListValue):
        return [plain(item) for item in value.items]
    return [(entry.key, plain(entry.value)) for entry in value.entries]


def properties(text: str) -> list[tuple[str, object]]:
    return [(entry.key, plain(entry.value)) for entry in note(text).frontmatter]


def codes(text: str) -> list[str]:
    return [found.code for found in note(text).diagnostics]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("last", ["---", "...", "---  \t"])
def test_the_block_ends_at_a_line_of_dashes_or_dots(end: str, mark: str, last: str) -> None:
    found = note(f"{mark}---  {end}a: 1{end}{last}{end}body --- x{end}")
    assert [(entry.key, plain(entry.value)) for entry in found.frontmatter] == [("a", "1")]
    assert found.body == f"body --- x{end}"


@pytest.mark.parametrize("text", ["", "text\n---\na: 1\n---\n", " ---\na: 1\n---\n", "----\na: 1\n----\n"])
def test_a_block_not_on_the_first_line_is_text(text: str) -> None:
    assert note(text).frontmatter == ()
    assert note(text).body == text


def test_an_unclosed_block_is_text_with_a_diagnostic() -> None:
    found = note("---\na: 1\n# Title\n")
    assert found.frontmatter == ()
    assert [item.code for item in found.diagnostics] == ["frontmatter-unclosed"]
    assert codes("---\n\nA rule above a paragraph.\n") == []


def test_places_count_bytes_lines_and_code_points_of_the_file() -> None:
    data = "\ufeff---\r\nä: 1\r\nkey:   \U0001f600wert\r\n---\r\n".encode()
    entry = read_note("a.md", data).frontmatter[1]
    span = entry.value.span
    assert data[span.start : span.end].decode() == "\U0001f600wert"
    assert (span.line, span.column) == (3, 8)
    assert data[entry.span.start : entry.span.end].decode() == "key:   \U0001f600wert"


def literal(value: str, datatype: NamedNode) -> Literal:
    return Literal(value, datatype=datatype)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", literal("true", v.XSD_BOOLEAN)),
        ("false", literal("false", v.XSD_BOOLEAN)),
        ("True", Literal("True")),
        ("yes", Literal("yes")),
        ("no", Literal("no")),
        ("0", literal("0", v.XSD_INTEGER)),
        ("-12", literal("-12", v.XSD_INTEGER)),
        ("012", Literal("012")),
        ("+1", Literal("+1")),
        ("1_000", Literal("1_000")),
        ("0x1", Literal("0x1")),
        ("12:30", Literal("12:30")),
        ("1.50", literal("1.5", v.XSD_DECIMAL)),
        ("-0.5", literal("-0.5", v.XSD_DECIMAL)),
        ("1.", Literal("1.")),
        (".5", Literal(".5")),
        (".inf", Literal(".inf")),
        ("1e3", literal("1E3", v.XSD_DOUBLE)),
        ("1.5E-2", literal("1.5E-2", v.XSD_DOUBLE)),
        ("1980-02-29", literal("1980-02-29", v.XSD_DATE)),
        ("1981-02-29", Literal("1981-02-29")),
        ("0000-01-01", Literal("0000-01-01")),
        ("2024-01-02T03:04", literal("2024-01-02T03:04:00", v.XSD_DATE_TIME)),
        ("2024-01-02 03:04:05", literal("2024-01-02T03:04:05", v.XSD_DATE_TIME)),
        ("2024-01-02T03:04:05Z", literal("2024-01-02T03:04:05Z", v.XSD_DATE_TIME)),
        ("2024-01-02T03:04+02:00", literal("2024-01-02T03:04:00+02:00", v.XSD_DATE_TIME)),
        ("2024-01-02T24:04", Literal("2024-01-02T24:04")),
        ("2024-01-02T03:04+15:00", Literal("2024-01-02T03:04+15:00")),
        ("2024-13-02T03:04", Literal("2024-13-02T03:04")),
    ],
)
def test_a_plain_scalar_is_the_literal_that_it_looks_like(text: str, expected: Literal) -> None:
    found = plain_literal(text)
    assert found.datatype == expected.datatype
    if expected.datatype == v.XSD_DOUBLE:
        assert float(found.value) == float(expected.value)
    else:
        assert found == expected


def test_a_number_of_five_thousand_digits_is_an_integer() -> None:
    assert plain_literal("9" * 5000).datatype == v.XSD_INTEGER


def test_null_is_told_from_quoted_text() -> None:
    values = [entry.value for entry in note('---\na:\nb: ~\nc: null\nd: "null"\ne: ""\n---\n').frontmatter]
    assert [value.is_null for value in values if isinstance(value, ScalarValue)] == [True] * 3 + [False] * 2


@pytest.mark.parametrize(
    "text", ["knows: [[people/alice]]", "knows: [[people/alice]] # friend", 'knows: "[[people/alice]]"']
)
def test_a_link_needs_no_quotes(text: str) -> None:
    found = note(f"---\n{text}\n---\n")
    assert [(link.kind, link.relation, link.target) for link in found.links] == [
        ("frontmatter", "knows", "people/alice")
    ]
    assert found.diagnostics == ()


def test_unquoted_links_in_lists_and_with_text_are_links() -> None:
    found = note("---\na:\n  - [[x|y]]\n  - [[z#h]]\nb: [[[p]], [[q]]]\n---\n")
    assert [(link.target, link.anchor, link.text) for link in found.links] == [
        ("x", "", "y"),
        ("z", "h", ""),
        ("p", "", ""),
        ("q", "", ""),
    ]
    assert properties("---\nm: [[1, 2], [3]]\n---\n") == [("m", [["1", "2"], ["3"]])]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("title: a: b\nx: 1", [("title", "a: b"), ("x", "1")]),
        (
            "x: 1\ncreated: {{date}} {{time}}\ny: 2",
            [("x", "1"), ("created", "{{date}} {{time}}"), ("y", "2")],
        ),
        ("d: It is: long\n  and goes on\nx: 1", [("d", "It is: long and goes on"), ("x", "1")]),
        ("l:\n  - a: b: c\n  - d\nx: 1", [("l", ["a: b: c", "d"]), ("x", "1")]),
        ("m:\n  a: b: c\n  d: 1\nx: 1", [("m", [("a", "b: c"), ("d", "1")]), ("x", "1")]),
        ("a: [[x]], [[y]]\nx: 1", [("a", "[[x]], [[y]]"), ("x", "1")]),
        ("a: @home\nx: 1", [("a", "@home"), ("x", "1")]),
        ("a: %done\nx: 1", [("a", "%done"), ("x", "1")]),
        ("a: 'it's\nx: 1", [("a", "'it's"), ("x", "1")]),
        ('a: "\\ud83d\\ude00"\nx: 1', [("a", "\U0001f600"), ("x", "1")]),
        ("a:\tb: c\nx: 1", [("a", "b: c"), ("x", "1")]),
        ("a: 1\nnonsense\nx: 1", [("a", "1"), ("x", "1")]),
    ],
)
def test_one_value_that_yaml_rejects_becomes_text_and_the_rest_is_read(
    block: str, expected: list[tuple[str, object]]
) -> None:
    text = f"---\n{block}\n---\n"
    assert properties(text) == expected
    assert set(codes(text)) == {"yaml"}


def test_a_placeholder_is_text_with_its_place_and_what_to_write() -> None:
    found = note("---\ncreated: {{date}}\n---\n")
    assert plain(found.frontmatter[0].value) == "{{date}}"
    (problem,) = found.diagnostics
    assert (problem.code, problem.line, problem.column) == ("yaml-placeholder", 2, 10)
    assert '"{{date}}"' in problem.hint


def test_both_values_of_a_duplicate_key_are_read() -> None:
    assert properties("---\na: 1\nb: 2\na: 3\n---\n") == [("a", "1"), ("b", "2"), ("a", "3")]
    assert codes("---\na: 1\na: 3\n---\n") == ["yaml-duplicate-key"]


def test_json_and_merge_keys_are_read() -> None:
    assert properties('---\n{"a": 1, "b": ["x", {"c": null}]}\n---\n') == [
        ("a", "1"),
        ("b", ["x", [("c", "null")]]),
    ]
    assert properties("---\nd: &d {a: 1, b: 2}\ne:\n  <<: *d\n  b: 3\n---\n")[1] == (
        "e",
        [("b", "3"), ("a", "1")],
    )


def size(value: Value) -> int:
    if isinstance(value, ListValue):
        return 1 + sum(map(size, value.items))
    if isinstance(value, MapValue):
        return 1 + sum(size(entry.value) for entry in value.entries)
    return 1


def test_an_alias_bomb_ends_at_the_limit() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    found = note("---\n" + "\n".join(lines) + "\n---\n")
    assert sum(size(entry.value) for entry in found.frontmatter) < MOST_ALIASED + 300
    assert [item.code for item in found.diagnostics] == ["yaml-aliases"]


def test_a_value_that_holds_itself_ends() -> None:
    assert "yaml-depth" in codes("---\na: &a [*a]\n---\n")


@pytest.mark.parametrize("depth", [DEEPEST + 5, 900, 40_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("{a: ", "}"), ("- ", "")])
def test_deep_nesting_is_no_exception(depth: int, opening: str, closing: str) -> None:
    found = note(f"---\nx: 1\na:\n  {opening * depth}y{closing * depth}\n---\n")
    assert found.frontmatter[0].key == "x"
    assert found.diagnostics


@pytest.mark.parametrize("block", ["just text", "- a\n- b", "[a, b]"])
def test_a_block_without_keys_is_told(block: str) -> None:
    assert codes(f"---\n{block}\n---\n")
    assert codes("---\n---\n") == []
    assert codes("---\n\n# comment\n---\n") == []


def test_nul_and_control_characters_do_not_stop_reading() -> None:
    assert properties('---\na: "x\\0y"\nb: 1\n---\n') == [("a", "x\ufffdy"), ("b", "1")]
    assert properties("---\na: x\0y\nb: 1\n---\n") == [("a", "x\ufffdy"), ("b", "1")]
    assert properties("---\na: x\x01y\nb: 1\n---\n") == [("a", "x\x01y"), ("b", "1")]
