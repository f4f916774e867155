"""Names for new notes."""

from __future__ import annotations

import pytest

from synapse.window.naming import note_name


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("people/zoe", "people/zoe.md"),
        (" /people/zoe.md ", "people/zoe.md"),
        ("constructor", "constructor.md"),
        ("__proto__", "__proto__.md"),
        ("e\u0301", "é.md"),
        ("a.b", "a.b.md"),
    ],
)
def test_a_name_gives_a_path_from_the_root(text: str, path: str) -> None:
    assert note_name(text).path == path
    assert not note_name(text).problem


@pytest.mark.parametrize(
    "text", ["", "  ", "/", "a//b", "../x", "a/./b", "....", ".hidden", "x\x00y", "n" * 300]
)
def test_what_cannot_be_a_name_says_why(text: str) -> None:
    assert note_name(text).problem and not note_name(text).path


def test_a_taken_name_is_refused_whatever_its_case() -> None:
    assert "people/Zoe" in note_name("people/zoe", ["people/Zoe.md"]).problem


@pytest.mark.parametrize("text", ["CON", "nul.txt", "a/com1", "what?", "a:b", "x.", "a[b]", "c#d"])
def test_names_that_other_systems_or_links_cannot_hold_are_warned_of(text: str) -> None:
    name = note_name(text)
    assert name.path and name.warning
