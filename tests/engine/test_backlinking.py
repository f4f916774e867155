"""The sections hold what is stated elsewhere and what follows, and nothing outside them ever moves."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synapse.engine import Agent, WrittenFact

SECTION = "<!-- synapse:backlinks -->\n## Backlinks\n{}\n<!-- /synapse:backlinks -->\n"


def written(vault: Any, path: str) -> str:
    return (vault.folder / path).read_text("utf-8")


def test_a_section_lists_what_others_state_and_what_follows(vault: Any) -> None:
    vault.write("people/bob.md", "# Bob\n")
    vault.write("people/ada.md", "# Ada\n\nknows:: [[people/bob]]\n")
    vault.write("note.md", "I met [[people/bob]].\n")
    with vault.open() as engine:
        engine.index()
        fact = WrittenFact("people/bob", "likes", "people/cem")
        engine.assert_facts([fact], source="x", reason="x", agent=Agent("scout"))
        report = engine.backlinks("write")
        assert report.written == ("people/ada.md", "people/bob.md")
        assert written(vault, "people/bob.md") == "# Bob\n" + SECTION.format(
            "- [[note]] mentions this\n- [[people/ada]] knows this\n- [[people/cem]] likes · agent"
        )
        assert written(vault, "people/ada.md") == "# Ada\n\nknows:: [[people/bob]]\n" + SECTION.format(
            "- [[people/bob]] knows this · inferred"
        )
        assert written(vault, "note.md") == "I met [[people/bob]].\n"


def test_the_second_run_writes_nothing_and_the_sections_are_no_facts(vault: Any) -> None:
    vault.write("a.md", "[[b]] knows:: [[c]]\n")
    vault.write("b.md", "#tag\n")
    with vault.open() as engine:
        before = engine.index()
        engine.backlinks("write")
        texts = vault.bytes()
        after = engine.index()
        assert (after.facts, after.inferred, after.changed) == (before.facts, before.inferred, ())
        again = engine.backlinks("write")
        assert (again.written, vault.bytes()) == ((), texts)
        assert engine.check().ok
    with vault.open() as engine:
        assert engine.index().changed == ()


def test_removing_restores_the_original_bytes(vault: Any) -> None:
    vault.write("a.md", "[[b]] [[c]] [[d]]")
    vault.write("b.md", b"\xef\xbb\xbfone\r\ntwo")
    vault.write("c.md", "text\n\n\n")
    vault.write("d.md", "")
    with vault.open() as engine:
        engine.index()
        before = vault.bytes()
        assert engine.backlinks("write").written == ("b.md", "c.md", "d.md")
        assert vault.bytes() != before
        assert engine.backlinks("remove").written == ("b.md", "c.md", "d.md")
        assert vault.bytes() == before
        assert engine.check().ok


def test_a_preview_writes_nothing(vault: Any) -> None:
    vault.write("a.md", "[[b]]\n")
    vault.write("b.md", "text\n")
    with vault.open() as engine:
        engine.index()
        before = vault.bytes()
        report = engine.backlinks("preview")
        assert (report.written, report.links, vault.bytes()) == (("b.md",), 1, before)
        old, new = engine.section_preview("b.md")
        assert (old, new) == (b"text\n", b"text\n" + SECTION.format("- [[a]] mentions this").encode())


def test_a_note_that_changed_just_now_is_left_alone(vault: Any) -> None:
    vault.write("a.md", "[[b]]\n")
    vault.write("b.md", "text\n")
    os.utime(vault.folder / "b.md", (time.time(), time.time()))
    with vault.open() as engine:
        engine.index()
        report = engine.backlinks("write")
        assert report.written == ()
        assert [skipped.path for skipped in report.skipped] == ["b.md"]
        assert written(vault, "b.md") == "text\n"


@pytest.mark.parametrize(
    "text",
    [
        "```\nopen fence\n",
        "%% open comment\n",
        "$$\nopen formula\n",
        "<!-- synapse:backlinks -->\nhalf\n",
        b"\xff\n",
    ],
)
def test_a_note_that_cannot_take_a_section_is_skipped_and_the_rest_goes_on(vault: Any, text: Any) -> None:
    vault.write("a.md", "[[b]] [[c]]\n")
    vault.write("b.md", text)
    vault.write("c.md", "text\n")
    with vault.open() as engine:
        engine.index()
        before = vault.bytes()
        report = engine.backlinks("write")
        assert (report.written, [skipped.path for skipped in report.skipped]) == (("c.md",), ["b.md"])
        assert vault.bytes()["b.md"] == before["b.md"]


def test_a_damaged_section_is_a_diagnostic(vault: Any) -> None:
    vault.write("a.md", "one\n\n<!-- synapse:backlinks -->\ntwo\n")
    with vault.open() as engine:
        engine.index()
        assert [(d.code, d.line) for d in engine.diagnostics("a.md")] == [("section-half", 3)]


def test_a_broader_relation_that_only_follows_is_not_repeated(vault: Any) -> None:
    vault.write("a.md", "![[b]]\n")
    vault.write("b.md", "text\n")
    with vault.open() as engine:
        engine.index()
        engine.backlinks("write")
        assert written(vault, "b.md") == "text\n" + SECTION.format("- [[a]] embeds this")


def test_a_line_holds_neither_an_agents_prose_nor_markup(vault: Any) -> None:
    vault.write("b.md", "text\n")
    word = "is] [[evil]] <!-- /synapse:backlinks --> # of"
    with vault.open() as engine:
        engine.index()
        engine.assert_facts([WrittenFact("a", word, "b")], source="x", reason="x", agent=Agent("scout"))
        engine.backlinks("write")
        lines = written(vault, "b.md").splitlines()
        assert lines[:3] == ["text", "<!-- synapse:backlinks -->", "## Backlinks"]
        assert lines[-1] == "<!-- /synapse:backlinks -->"
        (line,) = lines[3:-1]
        assert line.startswith("- [[a]] is evil")
        assert engine.check().ok


PIECES = [
    *("\ufeff", "---\ntitle: x\n---\n", "text", " ", "\n", "\r\n", "\n\n", "```\n", "$$", "%%"),
    *("> quote\n", "- item\n", "# head\n", "<div>\n", "[[b]]", "\u00a0", "\u2028", "    code\n"),
    "| a | b |\n|---|---|\n",
]
bodies = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=bodies)
def test_every_byte_outside_the_section_stays(make_vault: Callable[[], Any], text: str) -> None:
    vault = make_vault()
    vault.write(".synapse/settings.json", '{"scenarios": []}')
    vault.write("links.md", "[[note]]\n")
    vault.write("note.md", text)
    original = vault.bytes()["note.md"]
    with vault.open() as engine:
        engine.index()
        facts = engine.status().facts
        report = engine.backlinks("write")
        after = vault.bytes()["note.md"]
        assert (after == original) == ("note.md" not in report.written)
        if after != original:
            assert after.startswith(original.rstrip(b"\r\n"))
        assert engine.index().facts == facts
        assert engine.backlinks("write").written == ()
        engine.backlinks("remove")
        assert vault.bytes()["note.md"] == original
