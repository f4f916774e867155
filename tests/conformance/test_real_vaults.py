"""Vaults that people made are read whole, and reindexing replaces exactly what a change touches."""

from __future__ import annotations

import json
import os
import shutil
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from synapse.cli import main
from synapse.engine import Engine, open_vault
from synapse.engine.graph.results import SelectResult
from synapse.engine.questions.results import IndexReport
from synapse.engine.shipped import resource_folder
from synapse.engine.terms import vocabulary as v

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
BUNDLES = 45
PROBE = "zz probe folder/zz synapse probe.md"
STATEMENT = b"\n\nknows:: [[zz synapse probe]]\n"


def bundles(folder: Path) -> list[Path]:
    """The folders that have notes at their top, and none that lies in another."""
    if any(folder.glob("*.md")):
        return [folder]
    return [found for sub in sorted(folder.iterdir()) if sub.is_dir() for found in bundles(sub)]


def vaults() -> list[str]:
    """Names for `shared_data`; where the data are absent, the folders that are missing."""
    if not DATA.is_dir():
        return ["vaults", "okf"]
    okf = [path for path in bundles(DATA / "okf") if path.name != "LICENSES"]
    people = [path for path in sorted((DATA / "vaults").iterdir()) if path.is_dir()]
    return [path.relative_to(DATA).as_posix() for path in (*people, *okf)]


def test_all_bundles_are_there(shared_data: Callable[[str], Path]) -> None:
    shared_data("okf")
    assert len([name for name in vaults() if name.startswith("okf/")]) >= BUNDLES


@pytest.mark.parametrize("name", ["the sample vault", *vaults()])
def test_a_vault_of_people_is_read_and_followed(
    name: str, tmp_path: Path, shared_data: Callable[[str], Path], capfd: pytest.CaptureFixture[str]
) -> None:
    original = resource_folder() / "sample-vault" if name == "the sample vault" else shared_data(name)
    folder = tmp_path / "vault"
    shutil.copytree(original, folder)
    files = [path for path in folder.rglob("*") if path.is_file() and "/." not in path.as_posix()]

    first = indexed_by_command(folder, capfd)
    assert len(first["added"]) == len(files), "no refusal"
    assert first["notes"] == sum(path.suffix.lower() == ".md" for path in files)
    again = indexed_by_command(folder, capfd)
    assert (again["unchanged"], again["revision"]) == (len(files), first["revision"])
    assert not (again["added"] or again["changed"] or again["restated"] or again["removed"])

    with closing(open_vault(folder)) as engine:
        assert_sound(engine)
        change_and_take_back(engine, folder)
        new_note_moves_links(engine, folder)
        deleted_file_is_gone(engine, folder)


def indexed_by_command(folder: Path, capfd: pytest.CaptureFixture[str]) -> dict[str, object]:
    assert main(["index", str(folder), "--json"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    found = json.loads(out)
    assert isinstance(found, dict)
    return found


def change_and_take_back(engine: Engine, folder: Path) -> None:
    """One more statement changes one note; without it, it and what rested on it are gone."""
    path = probed(engine)
    before, inferred = statements(engine), inferences(engine)
    content = (folder / path).read_bytes()
    write(folder / path, content + STATEMENT)
    report = engine.index()
    assert_only(report, changed=[path])
    gained = statements(engine)[graph_of(engine, path)] - before[graph_of(engine, path)]
    assert len(gained) == 1
    assert {graph for graph, facts in statements(engine).items() if facts != before.get(graph)} == {
        graph_of(engine, path)
    }
    (back,) = inferences(engine) - inferred
    assert back[0] == "<vault:/zz%20synapse%20probe>", "knows goes both ways"
    assert_sound(engine)
    write(folder / path, content)
    assert_only(engine.index(), changed=[path])
    assert (statements(engine), inferences(engine)) == (before, inferred)
    assert_sound(engine)


def new_note_moves_links(engine: Engine, folder: Path) -> None:
    """A note that a link now leads to restates the linking note, and no other."""
    path = probed(engine)
    content = (folder / path).read_bytes()
    write(folder / path, content + STATEMENT)
    engine.index()
    before = statements(engine)
    write(folder / PROBE, b"# Probe\n")
    report = engine.index()
    assert_only(report, added=[PROBE], restated=[path])
    moved = {graph for graph, facts in statements(engine).items() if facts != before.get(graph)}
    assert moved == {graph_of(engine, path), graph_of(engine, PROBE)}
    assert_sound(engine)
    (folder / PROBE).unlink()
    assert_only(engine.index(), removed=[PROBE], restated=[path])
    assert statements(engine) == before
    assert_sound(engine)
    write(folder / path, content)
    engine.index()


def deleted_file_is_gone(engine: Engine, folder: Path) -> None:
    """The file's graph goes, notes that linked to it are restated, and nothing else moves."""
    path = most_linked(engine)
    before, links = statements(engine), resolutions(engine)
    (folder / path).unlink()
    # A vault of one note is empty now, which a person must confirm.
    report = engine.index(accept_deletions=len(engine.notes()) == 1)
    after = statements(engine)
    graph = graph_of(engine, path)
    assert graph not in after
    differing = {g for g in before if g != graph and before[g] != after.get(g)}
    moved = {other for other, found in resolutions(engine).items() if found != links[other]}
    moved |= {other for other in links if graph_of(engine, other) in differing}
    assert_only(report, removed=[path], restated=sorted(moved - {path}))
    assert path not in {note.path for note in engine.notes()}
    assert_sound(engine)


# -- what is looked at ---------------------------------------------------------------------------


def probed(engine: Engine) -> str:
    """The first note at whose end a statement counts: not a listing, nothing left open."""
    listing = ("index.md", "log.md")
    for note in engine.notes():
        if note.path.rpartition("/")[2] in listing:
            continue
        links = engine.links_in(note.path, engine.read_file(note.path) + STATEMENT)
        if any(link.relation == "knows" and "probe" in link.target_id for link in links):
            return note.path
    pytest.fail("no note takes a statement at its end")


def most_linked(engine: Engine) -> str:
    counts: defaultdict[str, int] = defaultdict(int)
    for note in engine.notes():
        for path in {link.path for link in engine.links_in(note.path, engine.read_file(note.path))}:
            if path is not None and path != note.path:
                counts[path] += 1
    paths = [note.path for note in engine.notes() if note.path != "index.md"] or ["index.md"]
    return max(paths, key=lambda path: (counts[path], path))


def resolutions(engine: Engine) -> dict[str, list[tuple[str, str | None]]]:
    """Where each note's links lead."""
    return {
        note.path: [
            (link.target_id, link.path)
            for link in engine.links_in(note.path, engine.read_file(note.path))
        ]
        for note in engine.notes()
    }  # fmt: skip


def statements(engine: Engine) -> dict[str, set[tuple[str, ...]]]:
    """The facts of each source, by its graph; meta left out, for it has times."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for graph, *fact in rows(engine, "SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } }"):
        if graph not in (str(v.META), str(v.INFERRED)):
            found.setdefault(graph, set()).add(tuple(fact))
    return found


def inferences(engine: Engine) -> set[tuple[str, ...]]:
    return set(rows(engine, f"SELECT ?s ?p ?o {{ GRAPH {v.INFERRED} {{ ?s ?p ?o }} }}"))


def rows(engine: Engine, query: str) -> list[tuple[str, ...]]:
    result = engine.query(query)
    assert isinstance(result, SelectResult)
    return [tuple(map(str, row)) for row in result.rows]


def graph_of(engine: Engine, path: str) -> str:
    return str(engine.identities.document(path))


def assert_only(
    report: IndexReport,
    *,
    added: list[str] | None = None,
    changed: list[str] | None = None,
    restated: list[str] | None = None,
    removed: list[str] | None = None,
) -> None:
    said = (report.added, report.changed, report.restated, report.removed)
    assert said == tuple(tuple(paths or ()) for paths in (added, changed, restated, removed))


def assert_sound(engine: Engine) -> None:
    report = engine.check()
    assert report.ok, report.findings


def write(path: Path, content: bytes) -> None:
    """Write a file so that its time moves, whatever the clock's grain."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    if before:
        os.utime(path, ns=(before + 10**9, before + 10**9))
