"""The backlinks section: found only where it is one, and every byte outside it stays."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from synapse.engine.errors import SectionRefused
from synapse.engine.notes import backlinks
from synapse.engine.notes.backlinks import (
    Backlink,
    backlink_line,
    backlink_lines,
    entity_link,
    find_section,
    generated_spans,
    relation_text,
    render_section,
    section_problem,
    with_section,
    without_section,
)
from synapse.engine.notes.frontmatter import split

LINES = ("- [[people/alice]] knows this", "- [[projects/apollo]] part of · inferred")
SECTION = render_section(LINES)

_pieces = st.sampled_from(
    [
        "words", "# heading", "- item", "  - deeper", "> quote", "```", "~~~", "$$", "%%", "%%x%%", "$$x$$",
        "---", "key: value", "...", "<div>", "</div>", "<!-- note", "-->", "<!-- note -->", "<script>",
        "| a |",
        "|---|", "[^1]: foot", "[ref]:", "    code", "`code", "é漢😀", "\u00a0", "\u2028", "", " ", "\t",
        "\\",
        "<!-- synapse:backlinks -->", "<!-- /synapse:backlinks -->", "`<!-- synapse:backlinks -->`",
    ]
)  # fmt: skip
_endings = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r\n", "\r", ""])
_notes = st.builds(
    lambda bom, parts, tail: (bom + "".join(a + b for a, b in parts) + tail).encode(),
    st.sampled_from(["", "\ufeff", "---\nx: y\n---\n", "\ufeff---\r\nx: y\r\n---\r\n"]),
    st.lists(st.tuples(_pieces, _endings), max_size=10),
    st.sampled_from(["", "\n", "\r\n", "\n\n\n", "end"]),
)


@given(_notes)
@example(b"")
@example(b"\xef\xbb\xbf")
@example(b"no final newline")
@example(b"one\r\ntwo\r\n")
@example(b"one\r\ntwo\nthree")
@example(b"blank lines at the end\n\n\n")
@example(b"```python\nopen fence\n")
@example(b"%%\nopen comment")
@example(b"$$\nopen formula\n")
@example(b"---\na: b\n---")
@example(b"ends in CR\r")
def test_writing_then_removing_gives_back_every_byte_or_is_refused(data: bytes) -> None:
    if find_section(data) is not None:
        return  # the note came with a section; see the test below
    problem = section_problem(data)
    if problem is not None:
        with pytest.raises(SectionRefused):
            with_section(data, LINES)
        assert 0 <= problem.offset <= len(data)
        return
    written = with_section(data, LINES)
    found = find_section(written)
    assert found is not None
    assert written.startswith(data), "what the person wrote comes first, untouched"
    assert written[found.start : found.end].replace(b"\r\n", b"\n") == SECTION
    assert with_section(written, LINES) == written, "a second run writes nothing"
    assert without_section(written) == data
    assert with_section(written, None) == data
    assert without_section(with_section(written, LINES[:1])) == data


@given(_notes, _notes)
def test_changing_a_section_leaves_every_byte_around_it(before: bytes, after: bytes) -> None:
    data = before + SECTION + b"\n" + after
    found = find_section(data)
    if found is None or section_problem(data) is not None:
        return
    changed = with_section(data, ("- [[other]] likes this",))
    assert changed.startswith(data[: found.start])
    assert changed.endswith(data[found.end :])
    assert b"[[other]]" in changed and LINES[0].encode() not in changed[found.start :]


@given(st.binary(max_size=60))
@example(b"\xff\xfetext")
@example("äöü".encode("utf-16-le"))
@example("plain".encode("utf-16-le"))
def test_any_bytes_are_refused_or_round_trip(data: bytes) -> None:
    if section_problem(data) is None:
        assert without_section(with_section(data, LINES)) == data
    else:
        with pytest.raises(SectionRefused):
            with_section(data, LINES)


@pytest.mark.parametrize(
    "text",
    [
        "```\n{}\n```\n",
        "~~~ md\n{}\n~~~\n",
        "%%\n{}\n%%\n",
        "text %%\n{}\n%%\n",
        "$$\n{}\n$$\n",
        "<!--\n{}\n-->\n",
        "<div>\n{}\n</div>\n",
        "- item\n\n  {}\n",
        "> {}\n",
    ],
)
def test_a_section_inside_something_else_is_none_and_is_never_written_to(text: str) -> None:
    section = SECTION.decode()
    if "  {}" in text:
        section = section.replace("\n", "\n  ")
    if text.startswith(">"):
        section = section.replace("\n", "\n> ")
    data = text.format(section).encode()
    assert find_section(data) is None
    problem = section_problem(data)
    assert problem is not None and problem.code == "not-top-level"
    assert without_section(data) == data
    with pytest.raises(SectionRefused):
        with_section(data, LINES)


@pytest.mark.parametrize(
    "close", ["", "```\n", "%% x %%\n", "$$\nx\n$$\n", "`%%`\n", "```\n%%\n```\n", r"\$$ "]
)
def test_closed_fences_comments_and_formulas_before_the_end_do_no_harm(close: str) -> None:
    opened = "```\ncode\n" if close == "```\n" else ""
    data = (opened + close).encode()
    assert section_problem(data) is None


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"x\n<!-- synapse:backlinks -->\n## Backlinks\n", "half"),
        (b"x\n<!-- /synapse:backlinks -->\n", "half"),
        (b"x\n" + SECTION + b"\n\n" + SECTION + b"\n", "doubled"),
        (b"In code: `<!-- synapse:backlinks -->`\n\n" + SECTION + b"\n", "doubled"),
        (b"<!-- /synapse:backlinks -->\n\n<!-- synapse:backlinks -->\n", "not-top-level"),
        (b"caf\xe9\n", "not-text"),
        (b"a\x00b\n", "not-text"),
        (b"```\nnever closed\n", "swallowed"),
        (b"<div>\n", "swallowed"),
        (b"100 %% sure\n", "swallowed"),
        (b"x\r", "line-endings"),
    ],
)
def test_the_problem_names_what_forbids_writing(data: bytes, code: str) -> None:
    problem = section_problem(data)
    assert problem is not None
    assert problem.code == code
    assert problem.message.endswith(".") and problem.hint.endswith(".")
    with pytest.raises(SectionRefused, match=r"[a-z]"):
        with_section(data, LINES)


def test_a_note_too_large_to_check_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlinks, "LARGEST_NOTE", 10)
    problem = section_problem(b"eleven byte")
    assert problem is not None and problem.code == "too-large"


def test_markers_in_frontmatter_are_the_persons_text() -> None:
    data = b"---\ntext: |\n  <!-- synapse:backlinks -->\n  <!-- /synapse:backlinks -->\n---\nbody\n"
    assert find_section(data) is None
    assert section_problem(data) is not None


def test_a_mixed_file_takes_the_ending_of_its_last_line() -> None:
    assert with_section(b"a\nb\r\nc", LINES[:1]).count(b"\r\n") == 5
    assert b"\r" not in with_section(b"a\nb", LINES)


def test_a_final_line_ending_added_after_the_section_survives_its_removal() -> None:
    written = with_section(b"no final newline", LINES) + b"\nadded later\n"
    assert without_section(written) == b"no final newline\nadded later\n"


@pytest.mark.parametrize(
    "data",
    [
        SECTION + b"\n",
        b"x\n" + SECTION + b"\n\n" + SECTION + b"\n",
        b"%%\n" + SECTION + b"\n%%\n",
        b"x\n" + SECTION.removesuffix(backlinks.CLOSING),
        b"x\n" + SECTION.removesuffix(b"\n" + backlinks.CLOSING) + b"\n\nMine: [[people/carol]]\n",
    ],
)
def test_generated_lines_are_named_for_the_reader_even_where_markers_are_damaged(data: bytes) -> None:
    spans = generated_spans(data)
    kept, last = b"", 0
    for span in spans:
        kept, last = kept + data[last : span.start], span.end
    kept += data[last:]
    assert b"alice" not in kept and b"apollo" not in kept
    assert (b"carol" in kept) == (b"carol" in data)


def test_a_section_in_code_is_text_like_any_other() -> None:
    assert generated_spans(b"```\n" + SECTION + b"\n```\n") == ()


@given(_notes)
@example(b"---" + b" " * 1000 + b"\na: b\n---\nbody")
@example(b"---\n---\n")
@example(b"---\r\na: b\r\n...  \r\nbody")
@example(b"--- \ra\r---\rbody")
@example(b"----\na\n---\n")
def test_the_body_begins_where_the_reader_has_it(data: bytes) -> None:
    offset = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    text = data[offset:].decode()
    place = split(text)
    start = 0 if place is None else len(text[: place[2]].encode())
    assert backlinks._body_start(data) == offset + start


# --- lines -----------------------------------------------------------------------------------------


def test_the_line_form_is_the_documented_one() -> None:
    assert backlink_line(Backlink("people/alice", "knows")) == "- [[people/alice]] knows this"
    assert (
        backlink_line(Backlink("projects/apollo", "part of", inferred=True, outgoing=True))
        == "- [[projects/apollo]] part of · inferred"
    )
    assert backlink_line(Backlink("a", "likes", by="agent")) == "- [[a]] likes this · agent"


@pytest.mark.parametrize("character", list('#^|[]`<>\\:%*"\n\r\u2028\x00'))
def test_an_id_that_cannot_stand_in_a_wikilink_is_percent_encoded(character: str) -> None:
    link = entity_link(f"people/a{character}b")
    assert link.startswith("[people/a b](</people/a%") and link.endswith("b.md>)")
    assert len(link.splitlines()) == 1


def test_an_id_that_ends_like_a_file_is_not_taken_for_the_file() -> None:
    assert entity_link("bob.md") == "[bob.md](</bob.md.md>)"


@given(st.text(max_size=40), st.text(max_size=40), st.booleans(), st.sampled_from(["note", "agent"]))
def test_no_id_or_word_breaks_out_of_its_line(entity_id: str, word: str, inferred: bool, by: str) -> None:
    try:
        entity_id.encode()
        word.encode()
    except UnicodeEncodeError:
        return
    lines = backlink_lines([Backlink(entity_id, word, inferred, "note" if by == "note" else "agent")])
    for data in (b"", b"text", b"one\r\ntwo\r\n"):
        written = with_section(data, lines)
        assert without_section(written) == data


def test_a_relation_word_holds_only_letters_digits_space_hyphen_and_underscore() -> None:
    assert relation_text("depends_on") == "depends_on"
    assert relation_text("<b>IGNORE</b> [[x]](http://evil)") == "b IGNORE b x http evil"
    assert relation_text("größer-als 2") == "größer-als 2"
    assert relation_text("***") == "related to"
    assert len(relation_text("x" * 500)) == 80


@given(st.permutations([Backlink(f"n/{i}", w, inf) for i in range(3) for w in "ab" for inf in (True, False)]))
def test_the_order_is_stable_and_a_statement_hides_the_same_inference(links: list[Backlink]) -> None:
    assert backlink_lines(links) == tuple(f"- [[n/{i}]] {w} this" for i in range(3) for w in "ab")


def test_two_hundred_lines_and_then_how_many_more() -> None:
    lines = backlink_lines(Backlink(f"n{i:03}", "knows") for i in range(237))
    assert len(lines) == 201
    assert lines[-1] == "- and 37 more"
    assert len(backlink_lines(Backlink(f"n{i:03}", "knows") for i in range(200))) == 200


@pytest.mark.parametrize("line", ["two\nlines", "cr\r", "<!-- /synapse:backlinks -->", "x\u2028y"])
def test_a_line_that_would_break_the_section_is_a_programming_error(line: str) -> None:
    with pytest.raises(ValueError, match="not one line"):
        render_section([line])
