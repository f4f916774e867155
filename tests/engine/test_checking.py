"""`check` names each planted fault, and `check --repair` mends it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import DefaultGraph, NamedNode, Quad, Store

from synapse.engine import WrittenFact
from synapse.engine.terms import vocabulary as v
from synapse.engine.vaults import data_folder

ADA, BOB = NamedNode("vault:/people/ada"), NamedNode("vault:/people/bob")
KNOWS = NamedNode(v.SCHEMA + "knows")
DOCUMENT = NamedNode("vault:/people/ada.md")


@pytest.fixture
def indexed(vault: Any) -> Any:
    """A vault with a note, an inference and an assertion, closed."""
    vault.write("people/ada.md", "knows:: [[people/bob]]\n")
    vault.write("people/bob.md", "# Bob\n")
    with vault.open() as engine:
        engine.index()
        engine.assert_facts([WrittenFact("people/bob", "likes", "people/ada")], source="test", reason="test")
        assert engine.check().ok
    return vault


def kinds(vault: Any) -> set[str]:
    """What `check` finds; then mends it and finds nothing."""
    with vault.open() as engine:
        before = {path: content for path, content in vault.bytes().items() if path.endswith(".md")}
        report = engine.check()
        found = {finding.kind for finding in report.findings}
        assert report.ok == (not found)
        repaired = engine.check(repair=True)
        assert repaired.ok
        assert repaired.repaired == bool(found)
        assert engine.check().findings == ()
        assert {path: content for path, content in vault.bytes().items() if path.endswith(".md")} == before
    with vault.open() as engine:
        assert engine.check().findings == ()
        dossier = engine.dossier("people/bob")
        assert {(fact.subject.id, fact.predicate.label) for fact in dossier.incoming} == {
            ("people/ada", "knows")
        }
        assert {fact.predicate.label for fact in dossier.outgoing if fact.inferred} == {"knows"}
        assert {fact.predicate.label for fact in dossier.outgoing if not fact.inferred} == {"likes"}
    return found


def in_store(vault: Any, work: Callable[[Store], None]) -> None:
    """Change the closed store behind the engine's back."""
    store = Store(str(data_folder(vault.folder, vault.data) / "graph"))
    work(store)
    store.flush()


def in_catalogue(vault: Any, statement: str) -> None:
    path: Path = data_folder(vault.folder, vault.data) / "catalogue.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


def test_nothing_is_found_where_nothing_is_amiss(indexed: Any) -> None:
    assert kinds(indexed) == set()


def test_a_quad_missing_from_the_default_graph(indexed: Any) -> None:
    in_store(indexed, lambda store: store.remove(Quad(ADA, KNOWS, BOB, DefaultGraph())))
    assert "missing-from-union" in kinds(indexed)


def test_a_quad_of_the_default_graph_that_nothing_states(indexed: Any) -> None:
    in_store(indexed, lambda store: store.add(Quad(ADA, KNOWS, ADA, DefaultGraph())))
    assert "stray-in-union" in kinds(indexed)


def test_a_fact_missing_from_a_notes_graph(indexed: Any) -> None:
    def work(store: Store) -> None:
        store.remove(Quad(ADA, KNOWS, BOB, DOCUMENT))
        store.remove(Quad(ADA, KNOWS, BOB, DefaultGraph()))

    in_store(indexed, work)
    assert "graph-differs" in kinds(indexed)


def test_a_stray_inferred_quad(indexed: Any) -> None:
    in_store(indexed, lambda store: store.add(Quad(ADA, KNOWS, ADA, v.INFERRED)))
    assert kinds(indexed) == {"inferred-stray"}


def test_a_missing_inferred_quad(indexed: Any) -> None:
    in_store(indexed, lambda store: store.remove(Quad(BOB, KNOWS, ADA, v.INFERRED)))
    assert kinds(indexed) == {"inferred-missing"}


def test_an_inferred_quad_that_is_stated(indexed: Any) -> None:
    in_store(indexed, lambda store: store.add(Quad(ADA, KNOWS, BOB, v.INFERRED)))
    assert "inferred-but-stated" in kinds(indexed)


def test_a_wrong_hash_in_the_catalogue(indexed: Any) -> None:
    in_catalogue(indexed, "update files set hash = 'no' where path = 'people/ada.md'")
    assert "catalogue-hash" in kinds(indexed)


def test_a_link_missing_from_the_catalogue(indexed: Any) -> None:
    in_catalogue(indexed, "delete from links")
    assert kinds(indexed) == {"catalogue-differs"}


def test_a_journal_line_that_was_not_applied(indexed: Any) -> None:
    (journal,) = (indexed.folder / ".synapse" / "journal").glob("*.jsonl")
    line = journal.read_text("utf-8")
    other = line.replace('"sequence":1', '"sequence":2').replace("people/ada", "people/cem")
    other = other.replace(line[7:33], "01ZZZZZZZZZZZZZZZZZZZZZZZZ")
    journal.write_text(line + other, "utf-8")
    with indexed.open() as engine:
        report = engine.check()
        assert "journal-not-applied" in {finding.kind for finding in report.findings}
        assert engine.check(repair=True).ok
        assert "people/cem" in {fact.object.id for fact in engine.dossier("people/bob").outgoing}


def test_an_orphan_graph_of_a_file_that_is_not_there(indexed: Any) -> None:
    graph = NamedNode("vault:/people/gone.md")

    def work(store: Store) -> None:
        store.add(Quad(ADA, KNOWS, ADA, graph))
        store.add(Quad(ADA, KNOWS, ADA, DefaultGraph()))

    in_store(indexed, work)
    assert "orphan-graph" in kinds(indexed)


def test_an_orphan_graph_of_an_assertion_that_nobody_made(indexed: Any) -> None:
    graph = NamedNode(v.ASSERTION + "nobody")

    def work(store: Store) -> None:
        store.add(Quad(ADA, KNOWS, ADA, graph))
        store.add(Quad(ADA, KNOWS, ADA, DefaultGraph()))

    in_store(indexed, work)
    assert "orphan-graph" in kinds(indexed)


def test_a_fact_missing_from_an_ontology(indexed: Any) -> None:
    symmetric = NamedNode(v.OWL + "SymmetricProperty")

    def work(store: Store) -> None:
        for quad in list(store.quads_for_pattern(KNOWS, None, symmetric, None)):
            store.remove(quad)

    in_store(indexed, work)
    assert "graph-differs" in kinds(indexed)


def test_a_note_without_provenance(indexed: Any) -> None:
    def work(store: Store) -> None:
        for graph in (v.META, DefaultGraph()):
            for quad in list(store.quads_for_pattern(DOCUMENT, None, None, graph)):
                store.remove(quad)

    in_store(indexed, work)
    assert kinds(indexed) == {"provenance"}


def test_a_file_that_changed_since_it_was_indexed(indexed: Any) -> None:
    indexed.touch("people/bob.md", "# Robert\n")
    assert kinds(indexed) == {"not-indexed"}
