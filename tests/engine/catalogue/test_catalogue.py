"""The catalogue takes all of an update or nothing, and keeps nothing of a file that it forgot."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from synapse.engine.catalogue import (
    Catalogue,
    DiagnosticRecord,
    FileEntry,
    FileRecord,
    LinkRecord,
    Update,
)


@pytest.fixture
def catalogue(tmp_path: Path) -> Iterator[Catalogue]:
    made = Catalogue(tmp_path / "catalogue.sqlite")
    yield made
    made.close()


def entry(path: str, body: str = "", title: str = "", **more: Any) -> FileEntry:
    record = FileRecord(path, "note", len(body), 1, "hash", path.removesuffix(".md"), title=title)
    return FileEntry(record, body, **more)


def link(source: str, target: str, start: Any = 0) -> LinkRecord:
    return LinkRecord(source, "wikilink", target, target, None, None, None, "", start, 5, 1, 1)


def rows(catalogue: Catalogue, table: str) -> int:
    (row,) = catalogue._rows(f"select count(*) from {table}")
    return int(str(row[0]))


FULL = entry(
    "a.md", "running words", "Title", links=[link("a.md", "b")], lookups=frozenset({"b"}),
    diagnostics=[DiagnosticRecord("a.md", 1, 1, "warning", "code", "message", "hint")],
)  # fmt: skip


def stems(catalogue: Catalogue, word: str) -> list[Any]:
    return catalogue._rows("select rowid from stems where stems match ?", (word,))


def test_a_forgotten_file_leaves_no_row_in_any_table(catalogue: Catalogue) -> None:
    catalogue.apply(Update(written=[FULL]))
    assert catalogue.search("running")[1] == catalogue.search("runs")[1] == 1
    assert stems(catalogue, "run")
    catalogue.apply(Update(removed=["a.md"]))
    assert catalogue.search("running")[1] == catalogue.search("runs")[1] == 0
    assert not stems(catalogue, "run") and not stems(catalogue, "title")
    for table in ("files", "links", "lookups", "diagnostics", "searchable", "words"):
        assert rows(catalogue, table) == 0, table
    catalogue._connection.execute("insert into words (words) values ('integrity-check')")


def test_a_file_written_again_is_found_by_its_new_words_only(catalogue: Catalogue) -> None:
    catalogue.apply(Update(written=[FULL]))
    catalogue.apply(Update(written=[entry("a.md", "sleeping")]))
    assert [catalogue.search(word)[1] for word in ("running", "title", "sleeping", "sleeps")] == [0, 0, 1, 1]
    assert not stems(catalogue, "run") and catalogue.links(source="a.md") == []
    assert catalogue.looking_up(["b"]) == set() and catalogue.diagnostics() == []


def test_an_update_that_fails_in_its_middle_changes_nothing(catalogue: Catalogue) -> None:
    catalogue.apply(Update(written=[FULL], state={"epoch": "one"}))
    broken = entry("c.md", "other", links=[link("c.md", "b", start=object())])
    update = Update(written=[entry("b.md", "new"), broken], removed=["a.md"], state={"epoch": "two"})
    with pytest.raises(sqlite3.Error):
        catalogue.apply(update)
    assert [record.path for record in catalogue.files()] == ["a.md"]
    assert catalogue.search("running")[1] == 1 and catalogue.search("new")[1] == 0
    assert (catalogue.state("epoch"), catalogue.diagnostic_count()) == ("one", 1)
    catalogue.apply(Update(written=[entry("b.md", "new")]))
    assert catalogue.search("new")[1] == 1


def test_a_touched_file_changes_its_size_and_time_alone(catalogue: Catalogue) -> None:
    catalogue.apply(Update(written=[FULL]))
    catalogue.apply(Update(touched=[replace(FULL.record, size=9, mtime_ns=9)]))
    assert catalogue.file("a.md") == replace(FULL.record, size=9, mtime_ns=9)
    assert catalogue.search("running")[1] == 1


def test_clearing_forgets_everything(catalogue: Catalogue) -> None:
    catalogue.apply(Update(written=[FULL], state={"epoch": "one"}))
    catalogue.clear()
    assert catalogue.files() == [] and catalogue.state("epoch") is None
    assert catalogue.search("running")[1] == 0 and not stems(catalogue, "run")
    catalogue.apply(Update(written=[FULL]))
    assert catalogue.search("runs")[1] == 1


def test_what_was_written_is_there_after_opening_again(tmp_path: Path) -> None:
    for number in range(2):
        catalogue = Catalogue(tmp_path / "c.sqlite")
        if number == 0:
            catalogue.apply(Update(written=[FULL]))
        assert catalogue.file("a.md") == FULL.record
        assert catalogue.links(source="a.md") == list(FULL.links)
        catalogue.close()


def test_unwritten_ids_are_counted_the_most_linked_first(catalogue: Catalogue) -> None:
    catalogue.apply(
        Update(written=[
            entry("a.md", links=[link("a.md", "x"), link("a.md", "y", 9)]),
            entry("b.md", links=[link("b.md", "y"), link("b.md", "z", 9)]),
        ])
    )  # fmt: skip
    assert catalogue.unwritten() == [("y", 2), ("x", 1), ("z", 1)]
