"""Reindexing replaces: what a file said is exchanged for what it says now, and nothing else moves."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from synapse.engine import Engine
from synapse.engine.errors import UnknownEntity, VaultUnavailable


def rows(engine: Engine, query: str, view: Any = "all") -> set[tuple[str, ...]]:
    """The rows of a SELECT as text."""
    found = engine.query(query, view)
    return {tuple(cell.value for cell in row) for row in found.rows}  # type: ignore[union-attr]


def knows(engine: Engine, view: Any = "all") -> set[tuple[str, ...]]:
    return rows(engine, "SELECT ?a ?b { ?a schema:knows ?b }", view)


ADA_KNOWS_BOB = ("vault:/people/ada", "vault:/people/bob")
BOB_KNOWS_ADA = ("vault:/people/bob", "vault:/people/ada")


def test_a_note_becomes_facts_and_what_follows_from_them(vault: Any) -> None:
    vault.write("people/ada.md", "---\ntype: Person\nknows: '[[people/bob]]'\n---\n# Ada\n")
    with vault.open() as engine:
        report = engine.index()
        assert (report.notes, report.added) == (1, ("people/ada.md",))
        assert knows(engine, "stated") == {ADA_KNOWS_BOB}
        assert knows(engine, "inferred") == {BOB_KNOWS_ADA}
        assert engine.entity("people/bob").kind == "unwritten"
        assert engine.check().ok


def test_a_second_run_finds_everything_unchanged_and_writes_nothing(vault: Any) -> None:
    vault.write("a.md", "[[b]]\n")
    vault.write("b.md", "text\n")
    with vault.open() as engine:
        first = engine.index()
        second = engine.index()
        assert (second.added, second.changed, second.restated, second.removed) == ((), (), (), ())
        assert (second.unchanged, second.revision) == (2, first.revision)
    with vault.open() as engine:
        assert engine.index().revision == first.revision


def test_white_space_at_the_end_is_no_change(vault: Any) -> None:
    vault.write("a.md", "one\ntwo\n")
    with vault.open() as engine:
        before = engine.index()
        vault.touch("a.md", "one  \ntwo\n\n\n")
        after = engine.index()
        assert (after.changed, after.revision) == ((), before.revision)


def test_a_deleted_statement_goes_with_what_rested_on_it(vault: Any) -> None:
    vault.write("people/ada.md", "knows:: [[people/bob]]\nsees:: [[people/cem]]\n")
    with vault.open() as engine:
        engine.index()
        assert knows(engine) == {ADA_KNOWS_BOB, BOB_KNOWS_ADA}
        vault.touch("people/ada.md", "sees:: [[people/cem]]\n")
        assert engine.index().changed == ("people/ada.md",)
        assert knows(engine) == set()
        assert rows(engine, "SELECT ?a ?b { ?a prop:sees ?b }") == {
            ("vault:/people/ada", "vault:/people/cem")
        }
        assert engine.check().ok


def test_a_fact_that_another_note_states_too_stays(vault: Any) -> None:
    vault.write("one.md", "[x](/people/ada.md)\n")
    statement = "---\nrelationships:\n  - {to: '[[people/bob]]', type: knows}\nuri: urn:x:ada\n---\n"
    vault.write("people/ada.md", statement)
    vault.write("people/ada too.md", statement)
    with vault.open() as engine:
        engine.index()
        vault.delete("people/ada too.md")
        engine.index()
        assert ("urn:x:ada", "vault:/people/bob") in knows(engine, "stated")
        assert engine.check().ok


def test_a_deleted_file_takes_its_graph_its_inferences_and_its_search_text(vault: Any) -> None:
    vault.write("people/ada.md", "knows:: [[people/bob]] xylophone\n")
    vault.write("other.md", "nothing\n")
    with vault.open() as engine:
        engine.index()
        assert engine.search("xylophone").total == 1
        vault.delete("people/ada.md")
        assert engine.index().removed == ("people/ada.md",)
        assert knows(engine) == set()
        assert engine.search("xylophone").total == 0
        assert rows(engine, "SELECT ?p ?o { <people/ada> ?p ?o }") == set()
        with pytest.raises(UnknownEntity):
            engine.dossier("people/ada")
        assert engine.check().ok


def test_exactly_the_notes_whose_links_resolve_differently_are_restated(vault: Any) -> None:
    vault.write("one.md", "[[target]]\n")
    vault.write("two.md", "[[other]]\n")
    vault.write("three.md", "---\nsee: deep/target\n---\n")
    with vault.open() as engine:
        engine.index()
        vault.write("deep/target.md", "here\n")
        report = engine.index()
        assert report.added == ("deep/target.md",)
        assert report.restated == ("one.md", "three.md")
        assert rows(engine, "SELECT ?b { <one> schema:mentions ?b }") == {("vault:/deep/target",)}
        assert rows(engine, "SELECT ?b { <three> prop:see ?b }") == {("vault:/deep/target",)}
        vault.delete("deep/target.md")
        assert engine.index().restated == ("one.md", "three.md")
        assert rows(engine, "SELECT ?b { <one> schema:mentions ?b }") == {("vault:/target",)}
        assert rows(engine, "SELECT ?b { <three> prop:see ?b }") == {("deep/target",)}
        assert engine.check().ok


def test_a_uri_renames_the_entity_everywhere(vault: Any) -> None:
    vault.write("people/ada.md", "# Ada\n")
    vault.write("note.md", "[[people/ada]]\n")
    with vault.open() as engine:
        engine.index()
        asserted = engine.assert_facts(
            [fact("people/ada", "likes", "people/bob")], source="test", reason="test"
        )
        vault.touch("people/ada.md", "---\nuri: https://example.org/ada\n---\n# Ada\n")
        assert engine.index().restated == ("note.md",)
        assert rows(engine, "SELECT ?b { <note> schema:mentions ?b }") == {("https://example.org/ada",)}
        assert rows(engine, "SELECT ?b { <https://example.org/ada> prop:likes ?b }") == {
            ("vault:/people/bob",)
        }
        assert engine.entity("people/ada").iri == "https://example.org/ada"
        assert engine.entity("https://example.org/ada").id == "people/ada"
        assert engine.check().ok
        assert engine.retract_facts(assertion=asserted.assertion, reason="over").no_longer_holds
        assert engine.check().ok


def fact(subject: str, predicate: str, object: str) -> Any:
    from synapse.engine import WrittenFact

    return WrittenFact(subject, predicate, object)


def test_a_context_in_the_settings_gives_words_their_meaning_everywhere(vault: Any) -> None:
    vault.write("a.md", "likes:: [[b]]\n")
    with vault.open() as engine:
        engine.index()
        engine.change_setting("context", {"likes": "foaf:topic_interest"})
        likes = "SELECT ?b { <a> foaf:topic_interest ?b }"
        assert rows(engine, likes) == {("vault:/b",)}
        assert rows(engine, "SELECT ?b { <a> prop:likes ?b }") == set()
        assert engine.check().ok
    with vault.open() as engine:
        assert engine.index().restated == ()
        assert rows(engine, likes) == {("vault:/b",)}


def test_a_vault_that_lost_most_of_its_files_is_not_believed(vault: Any) -> None:
    for number in range(30):
        vault.write(f"{number}.md", f"[[{number + 1}]]\n")
    with vault.open() as engine:
        before = engine.index()
        for number in range(16):
            vault.delete(f"{number}.md")
        with pytest.raises(VaultUnavailable, match="16 of 30 files"):
            engine.index()
        assert engine.status().facts == before.facts
        assert engine.index(accept_deletions=True).notes == 14
        assert engine.check().ok


@pytest.mark.parametrize("emptied", [True, False])
def test_an_empty_or_missing_folder_deletes_nothing(vault: Any, emptied: bool) -> None:
    vault.write("a.md", "knows:: [[b]]\n")
    with vault.open() as engine:
        before = engine.index()
        shutil.rmtree(vault.folder)
        if emptied:
            vault.folder.mkdir()
        with pytest.raises(VaultUnavailable):
            engine.index()
        assert engine.status().facts == before.facts


def test_a_vault_on_another_disk_loses_nothing_unasked(vault: Any) -> None:
    vault.write("a.md", "one\n")
    vault.write("b.md", "two\n")
    with vault.open() as engine:
        engine.index()
        engine._workspace.catalogue.set_state("disk", "another")
        vault.delete("b.md")
        with pytest.raises(VaultUnavailable, match="another disk"):
            engine.index()
        assert engine.index(accept_deletions=True).removed == ("b.md",)
        vault.delete("a.md")
        vault.write("c.md", "three\n")
        assert engine.index().removed == ("a.md",)


def test_a_dry_run_says_what_would_be_done_and_does_nothing(vault: Any) -> None:
    vault.write("a.md", "one\n")
    with vault.open() as engine:
        before = engine.index()
        vault.write("b.md", "two\n")
        vault.touch("a.md", "[[b]]\n")
        report = engine.index(dry_run=True)
        assert (report.added, report.changed, report.revision) == (("b.md",), ("a.md",), before.revision)
        assert engine.status().notes == 1
        assert [note.path for note in engine.notes()] == ["a.md"]
        again = engine.index()
        assert (again.added, again.changed) == (("b.md",), ("a.md",))
        assert engine.check().ok


def test_paths_name_the_only_files_that_are_looked_at(vault: Any) -> None:
    vault.write("a.md", "one\n")
    vault.write("b.md", "two\n")
    with vault.open() as engine:
        engine.index()
        vault.touch("a.md", "three\n")
        vault.touch("b.md", "four\n")
        assert engine.index(["a.md"]).changed == ("a.md",)
        assert engine.index().changed == ("b.md",)


def test_a_rebuild_gives_the_same_facts_in_a_new_epoch(vault: Any) -> None:
    vault.write("people/ada.md", "knows:: [[people/bob]]\n")
    with vault.open() as engine:
        engine.index()
        engine.assert_facts([fact("people/bob", "knows", "people/cem")], source="test", reason="test")
        before = (rows(engine, "SELECT ?s ?p ?o { ?s ?p ?o FILTER(!isTRIPLE(?o)) }"), engine.status())
        report = engine.rebuild()
        after = engine.status()
        assert (after.facts, after.inferred) == (before[1].facts, before[1].inferred)
        assert report.revision.split("-")[0] != before[1].revision.split("-")[0]
        assert knows(engine) == {
            ADA_KNOWS_BOB, BOB_KNOWS_ADA,
            ("vault:/people/bob", "vault:/people/cem"), ("vault:/people/cem", "vault:/people/bob"),
        }  # fmt: skip
        assert engine.check().ok


def test_listeners_hear_of_each_write_and_of_nothing_else(vault: Any) -> None:
    vault.write("a.md", "[[b]]\n")
    heard: list[Any] = []
    with vault.open() as engine:
        unsubscribe = engine.subscribe(heard.append)
        engine.index()
        assert heard[-1].files == ("a.md",)
        vault.touch("a.md", "[[c]]\n")
        engine.index()
        assert (heard[-1].facts_added > 0, heard[-1].files) == (True, ("a.md",))
        count = len(heard)
        unsubscribe()
        vault.touch("a.md", "[[d]]\n")
        engine.index()
        assert len(heard) == count
