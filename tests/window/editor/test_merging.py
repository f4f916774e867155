"""Two versions of a note: merged line by line, or known to be in conflict."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from synapse.window.editor.merging import applied, edits, keep_both, merge

texts = st.lists(st.sampled_from(["", "a", "b", "c", "\U0001f600 d", "e\u2028f"]), max_size=10).map("\n".join)


@given(texts, texts)
def test_the_edits_make_the_old_text_into_the_new(old: str, new: str) -> None:
    assert applied(old, edits(old, new)) == new


def test_edits_leave_unchanged_lines_alone() -> None:
    found = edits("one\ntwo\nthree\nfour\n", "one\nTwo\nthree\nfour!\n")
    assert [(edit.start, edit.end, edit.text) for edit in found] == [(4, 5, "T"), (18, 18, "!")]


def test_changes_of_different_lines_come_together() -> None:
    assert merge("a\nb\nc\nd", "A\nb\nc\nd", "a\nb\nc\nD").text == "A\nb\nc\nD"
    assert merge("a\nb\nc", "a\nb\nc\nmine", "theirs\na\nb\nc").text == "theirs\na\nb\nc\nmine"
    assert merge("a", "b", "b").text == "b"


def test_changes_of_one_line_are_a_conflict_not_a_guess() -> None:
    result = merge("a\nb\nc", "a\nmine\nc", "a\ntheirs\nc")
    assert (result.text, result.conflicts) == (None, 1)


@given(texts, texts, texts)
def test_no_line_that_was_typed_is_missing_from_a_merge(base: str, mine: str, theirs: str) -> None:
    result = merge(base, mine, theirs)
    if result.text is None:
        assert result.conflicts
        return
    merged = result.text.split("\n")
    for version in (mine, theirs):
        for line in set(version.split("\n")) - set(base.split("\n")):
            assert line in merged


@given(texts, texts)
def test_a_merge_with_an_unchanged_side_is_the_other_side(base: str, other: str) -> None:
    assert merge(base, base, other).text == other
    assert merge(base, other, base).text == other


@given(texts, texts, texts)
def test_keeping_both_loses_no_line_of_either(base: str, mine: str, theirs: str) -> None:
    kept = keep_both(base, mine, theirs).split("\n")
    for version in (mine, theirs):
        assert set(version.split("\n")) - set(base.split("\n")) <= set(kept)
