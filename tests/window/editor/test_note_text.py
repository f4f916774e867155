"""Bytes in, bytes out: an edit changes what was edited and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse.engine.notes.backlinks import find_section, with_section, without_section
from synapse.window.editor.note_text import BOM, NoteText, decode, encode

ODD = ["\u00a0", "\u2028", "\u200b", "\u202e", "\x0b", "\x0c", "\x85", "\U0001f600", "e\u0301", "\ufeff"]
pieces = st.sampled_from(["a", "Zwei", " ", "\t", "# h", "- [ ] x", "[[a|b]]", "---", "> q", *ODD])
endings = st.sampled_from(["\n", "\r\n"])
lines = st.lists(st.lists(pieces, max_size=4).map("".join), max_size=8)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """UTF-8 files with any mix of endings, a mark or none, a section or none."""
    body = "".join(line + draw(endings) for line in draw(lines)) + draw(st.sampled_from(["", "end"]))
    data = draw(st.sampled_from([b"", BOM])) + body.encode()
    if draw(st.booleans()):
        data = with_section(data, ["- [[people/alice]] knows this", "- [[b]] part of · inferred"])
        if draw(st.booleans()):
            data += ("\n" + body).encode()
    return data


@given(files())
def test_open_and_save_without_an_edit_is_byte_identical(data: bytes) -> None:
    note = decode(data)
    assert not note.read_only
    assert encode(note.text, note) == data


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_come_back_or_are_read_only_with_a_reason(data: bytes) -> None:
    note = decode(data)
    if note.read_only:
        assert note.read_only.endswith(("edited.", "only."))
        with pytest.raises(ValueError):
            encode(note.text, note)
    else:
        assert encode(note.text, note) == data


@given(files(), st.data())
def test_one_edited_line_is_one_changed_line(data: bytes, draw: st.DataObject) -> None:
    note = decode(data)
    text_lines = note.lines
    at = draw.draw(st.integers(0, len(text_lines) - 1))
    text_lines[at] += "!"
    result = encode("\n".join(text_lines), note)
    before, after = data.split(b"\n"), result.split(b"\n")
    if note.section is None:
        assert len(before) == len(after)
        assert sum(a != b for a, b in zip(before, after, strict=True)) == 1
    assert len(without_section(result)) == len(without_section(data)) + 1


@given(files(), st.data())
def test_the_section_survives_every_edit_of_the_text(data: bytes, draw: st.DataObject) -> None:
    note = decode(data)
    text = draw.draw(lines.map("\n".join).filter(lambda text: not text.startswith("\ufeff")))
    result = encode(text, note)
    again = decode(result)
    assert again.text == text
    if note.section is not None:
        assert again.section is not None and again.section.lines == note.section.lines


def test_a_section_between_a_persons_lines_stays_between_them() -> None:
    data = with_section(b"one\n", ["- [[a]] knows this"]) + b"two\nthree\n"
    note = decode(data)
    assert note.text == "one\ntwo\nthree\n"
    assert note.section is not None and note.section.index == 4
    assert encode("ONE\ntwo\nthree\n", note) == data.replace(b"one", b"ONE")
    assert encode("one\nnew\ntwo\n3\n", note, section_at=8) == with_section(
        b"one\nnew\n", ["- [[a]] knows this"]
    ) + b"two\n3\n"


def test_a_section_that_an_open_fence_would_swallow_gives_way_to_the_text() -> None:
    note = decode(with_section(b"one\n", ["- [[a]] knows this"]))
    assert encode("one\n```\n", note) == b"one\n```\n"


def test_a_new_line_takes_its_neighbours_ending() -> None:
    note = decode(b"a\r\nb\r\nc\nd\n")
    assert encode("a\nnew\nb\nc\nd\n", note) == b"a\r\nnew\r\nb\r\nc\nd\n"
    assert encode("a\nb\nc\nnew\nd\n", note) == b"a\r\nb\r\nc\nnew\nd\n"
    assert encode("a\nb\nc\nd\nlast", note) == b"a\r\nb\r\nc\nd\nlast"


def test_a_line_that_undo_brings_back_has_its_old_ending() -> None:
    first = decode(b"a\nb\r\nc\nd\n")
    saved = decode(encode("a\nc\nd\n", first))
    assert encode("a\nb\nc\nd\n", saved) == b"a\nb\nc\nd\n"
    mixed = decode(b"a\r\nx\nb\r\nc\nd\n")
    saved = decode(encode("a\nx\nc\nd\n", mixed))
    assert encode("a\nx\nb\nc\nd\n", saved, [mixed]) == b"a\r\nx\nb\r\nc\nd\n"


def test_a_text_without_lines_gets_plain_newlines() -> None:
    assert encode("a\nb", NoteText("")) == b"a\nb"
    assert encode("a\nb\n", decode(b"\xef\xbb\xbfx")) == BOM + b"a\nb\n"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"a\nb\rc\n", "Line 2 ends in a lone carriage return"),
        ("a\nb\u2029c".encode(), "Line 2 holds the character U+2029"),
        ("\ufdd0".encode(), "U+FDD0"),
        (b"a\n\xff\n", "not UTF-8 text (line 2)"),
        (b"\xed\xa0\x80", "not UTF-8"),
    ],
)
def test_what_an_edit_would_change_is_read_only_and_says_why(data: bytes, reason: str) -> None:
    assert reason in decode(data).read_only


def test_a_section_in_a_fence_is_a_persons_text() -> None:
    data = b"```\n<!-- synapse:backlinks -->\n## Backlinks\n<!-- /synapse:backlinks -->\n```\n"
    assert find_section(data) is None
    assert decode(data).text == data.decode()
