"""Opening, closing, damage, full disks and sudden death."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from synapse.engine.changes import Delta, GraphChange
from synapse.engine.errors import (
    InvalidQuery,
    QueryStopped,
    StoreCorrupt,
    VaultLocked,
    VaultUnavailable,
    WriteFailed,
)
from synapse.engine.graph import GraphStore, SelectResult

GRAPH = NamedNode("vault:/notes/a.md")
SLOW = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"
"""Rows without end, for a store of some hundred facts."""


def facts(count: int, tag: str = "") -> frozenset[Triple]:
    return frozenset(
        Triple(NamedNode(f"vault:/n{i % 20}"), NamedNode("urn:p"), Literal(f"{tag}{i} {'x' * 60}"))
        for i in range(count)
    )


def filled(folder: Path, count: int = 300) -> GraphStore:
    store = GraphStore.open(folder)
    store.load({GRAPH: facts(count)})
    return store


# -- closing -----------------------------------------------------------------------------------


def test_closing_stops_queries_under_way_and_the_store_opens_again_at_once(tmp_path: Path) -> None:
    store = filled(tmp_path)
    with ThreadPoolExecutor(3) as pool:
        running = [pool.submit(store.query, SLOW) for _ in range(3)]
        time.sleep(0.3)
        store.close()
        for query in running:
            with pytest.raises((QueryStopped, VaultUnavailable)):
                query.result(timeout=10)
    again = GraphStore.open(tmp_path)
    assert again.count("stated") > 300
    again.close()


def test_an_error_that_someone_keeps_does_not_keep_the_store_open(tmp_path: Path) -> None:
    store = filled(tmp_path)
    kept = []
    for text in ("SELECT * { ?a ?b ?c . BIND(<urn:f>(1) AS ?x) }", SLOW):
        with pytest.raises((InvalidQuery, QueryStopped)) as caught:
            store.query(text, timeout=0.05)
        kept.append(caught)
    store.close()
    GraphStore.open(tmp_path).close()
    assert len(kept) == 2


def test_a_locked_store_says_so_in_another_process(tmp_path: Path) -> None:
    store = filled(tmp_path)
    code = (
        "import sys; from pathlib import Path; from synapse.engine.graph import GraphStore\n"
        "from synapse.engine.errors import VaultLocked\n"
        "try: GraphStore.open(Path(sys.argv[1]))\n"
        "except VaultLocked: sys.exit(7)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    assert subprocess.run(command, check=False).returncode == 7
    store.close()
    assert subprocess.run(command, check=False).returncode == 0


def test_opening_many_times_leaves_no_pile_of_logs(tmp_path: Path) -> None:
    for _ in range(4):
        GraphStore.open(tmp_path).close()
    assert len(list(tmp_path.glob("LOG.old.*"))) <= 1


# -- threads -----------------------------------------------------------------------------------


def test_readers_never_see_half_a_change(tmp_path: Path) -> None:
    """A fact moves between stated and inferred, and between two graphs: it always holds, once."""
    store = GraphStore.open(tmp_path)
    moved = Triple(NamedNode("vault:/a"), NamedNode("urn:p"), NamedNode("vault:/b"))
    other = NamedNode("vault:/other.md")
    store.apply([GraphChange(GRAPH, added=frozenset({moved}))])
    done = threading.Event()

    def read() -> set[int]:
        seen = set()
        while not done.is_set():
            seen.add(len(store.match(moved.subject)))
            seen.add(len(store.query("SELECT * { <a> ?p ?o }").rows))
            seen.add(int(store.contains(moved)))
        return seen

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        one = frozenset({moved})
        for _ in range(60):
            store.apply([GraphChange(GRAPH, removed=one)], Delta(added=one))
            store.apply([GraphChange(other, added=one)], Delta(removed=one))
            store.apply([GraphChange(other, removed=one), GraphChange(GRAPH, added=one)])
        done.set()
        assert [reader.result() for reader in readers] == [{1}, {1}, {1}]
    assert store.audit() == []
    store.close()


def test_writes_from_many_threads_are_all_kept_with_rising_revisions(tmp_path: Path) -> None:
    store = GraphStore.open(tmp_path)

    def write(number: int) -> int:
        graph = NamedNode(f"vault:/{number}.md")
        return store.apply([GraphChange(graph, added=facts(5, str(number)))]).number

    with ThreadPoolExecutor(4) as pool:
        numbers = list(pool.map(write, range(40)))
    assert sorted(numbers) == list(range(1, 41))
    assert len(store.graphs()) == 41
    assert store.audit() == []
    store.close()


# -- damage ------------------------------------------------------------------------------------


def damage(path: Path, how: str) -> None:
    content = bytearray(path.read_bytes())
    chance = random.Random(path.name)
    if how == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif how == "removed":
        path.unlink()
    elif how == "garbled":
        for _ in range(len(content) // 20 + 1):
            content[chance.randrange(len(content))] ^= 0x5A
        path.write_bytes(content)


@pytest.mark.parametrize("how", ["cut", "garbled", "removed"])
@pytest.mark.parametrize("what", ["*.sst", "MANIFEST-*", "CURRENT"])
def test_a_damaged_store_is_refused_and_never_answers_wrongly(tmp_path: Path, what: str, how: str) -> None:
    folder = tmp_path / "store"
    filled(folder).close()
    damaged = [path for path in sorted(folder.glob(what)) if path.stat().st_size]
    assert damaged
    for path in damaged[:: max(1, len(damaged) // 4)]:
        copy = tmp_path / f"copy of {path.name}"
        shutil.copytree(folder, copy)
        damage(copy / path.name, how)
        with pytest.raises(StoreCorrupt):
            GraphStore.open(copy)


def test_a_store_that_was_not_closed_is_checked_as_far_as_it_was_sealed(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    filled(folder).close()
    code = (
        "import os, sys; from pathlib import Path; from synapse.engine.graph import GraphStore\n"
        "from synapse.engine.changes import GraphChange\n"
        "from pyoxigraph import *\n"
        "store = GraphStore.open(Path(sys.argv[1]))\n"
        "fact = Triple(NamedNode('vault:/late'), NamedNode('urn:p'), Literal('late'))\n"
        "store.apply([GraphChange(NamedNode('vault:/late.md'), added=frozenset([fact]))])\n"
        "os._exit(1)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(folder)], check=False).returncode == 1
    store = GraphStore.open(folder)
    assert store.match(NamedNode("vault:/late"))
    assert store.audit() == []
    store.close()


def test_a_folder_of_something_else_is_not_taken_for_a_store(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("no folder")
    with pytest.raises((StoreCorrupt, VaultUnavailable)):
        GraphStore.open(file)


# -- sudden death ------------------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from pyoxigraph import Literal, NamedNode, Triple
from synapse.engine.changes import GraphChange
from synapse.engine.graph import GraphStore
store = GraphStore.open(Path(sys.argv[1]))
for n in range(int(sys.argv[2]), 10**6):
    graph = NamedNode(f"vault:/{n}.md")
    facts = frozenset(Triple(NamedNode(f"vault:/{n}"), NamedNode("urn:p"), Literal(i)) for i in range(20))
    print(store.apply([GraphChange(graph, added=facts)], journal={"j": n}).number, n, flush=True)
"""


def test_a_killed_writer_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    next_number = 0
    for _ in range(5):
        command = [sys.executable, "-c", WRITER, str(tmp_path), str(next_number)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(7)]
            process.send_signal(signal.SIGKILL)
            lines += process.stdout.readlines()  # what was printed before the kill counts as well
        revision, number = [line.split() for line in lines if line.endswith("\n")][-1]
        acknowledged = (int(revision), int(number))
        store = GraphStore.open(tmp_path)
        assert store.revision.number >= acknowledged[0]
        kept = store.journal_positions()["j"]
        assert kept >= acknowledged[1]
        for n in range(kept + 1):
            assert len(store.triples(NamedNode(f"vault:/{n}.md"))) == 20
        assert store.audit() == []
        store.close()
        next_number = kept + 1


def test_a_load_that_was_cut_short_is_known_as_unfinished(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from synapse.engine.graph import GraphStore\n"
        "from pyoxigraph import *\n"
        "def triples():\n"
        "    for n in range(200000):\n"
        "        if n == 160000: os._exit(1)\n"
        "        yield Triple(NamedNode('vault:/a'), NamedNode('urn:p'), Literal(str(n)))\n"
        "store = GraphStore.open(Path(sys.argv[1]))\n"
        "store.load({NamedNode('vault:/a.md'): triples()})\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == 1
    store = GraphStore.open(tmp_path)
    assert store.unfinished
    assert store.revision.number == 0
    assert store.match(view="stated"), "nothing was loaded, so nothing is proved"
    store.load({GRAPH: facts(10)})
    assert not store.unfinished
    assert len(store.triples(GRAPH)) == 10
    assert store.audit() == []
    store.close()


# -- full disks --------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MB."""
    mount = tmp_path / "disk"
    mount.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(mount)]
    if shutil.which("mount") is None or subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("mounting a small tmpfs is not permitted here")
    try:
        yield mount
    finally:
        subprocess.run(["umount", "-l", str(mount)], check=True)


def fill_up(path: Path) -> None:
    with path.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        while True:
            file.write(bytes(4096))


def test_a_full_disk_refuses_a_write_and_takes_the_next_once_there_is_space(small_disk: Path) -> None:
    store = filled(small_disk / "store")
    before, known = store.revision, store.count()
    fill_up(small_disk / "filling")
    new = NamedNode("vault:/new.md")
    for attempt in range(4):
        with pytest.raises(WriteFailed):
            store.apply([GraphChange(new, added=facts(400, f"attempt {attempt}"))], journal={"j": 5})
        assert store.revision == before
        assert store.count() == known
        assert store.triples(new) == []
    assert isinstance(store.query("SELECT * { ?s ?p ?o } LIMIT 3"), SelectResult)
    (small_disk / "filling").unlink()
    after = store.apply([GraphChange(new, added=facts(400, "at last"))])
    assert after == (before.epoch, before.number + 1)
    assert len(store.triples(new)) == 400
    assert store.journal_positions() == {}
    assert store.audit() == []
    store.close()
    again = GraphStore.open(small_disk / "store")
    assert again.revision == after
    assert again.audit() == []
    again.close()


def test_a_load_that_fills_the_disk_fails_and_can_be_repeated(small_disk: Path) -> None:
    store = GraphStore.open(small_disk / "store")
    (small_disk / "ballast").write_bytes(bytes(20 << 20))
    with pytest.raises(WriteFailed):
        store.load({GRAPH: [fact for n in range(40) for fact in facts(1000, f"{n} ")]})
    assert store.unfinished
    (small_disk / "ballast").unlink()
    store.load({GRAPH: facts(100)})
    assert not store.unfinished
    assert store.audit() == []
    store.close()


def test_a_query_under_way_delays_recovery_but_loses_nothing(small_disk: Path) -> None:
    store = filled(small_disk / "store")
    fill_up(small_disk / "filling")
    with pytest.raises(WriteFailed):
        store.apply([GraphChange(GRAPH, added=facts(400, "no room"))])
    (small_disk / "filling").unlink()
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        query = pool.submit(store.query, SLOW, cancel=stop)
        time.sleep(0.2)
        with pytest.raises(WriteFailed, match="query under way"):
            store.apply([GraphChange(GRAPH, added=facts(1, "while reading"))])
        assert store.triples(GRAPH)
        stop.set()
        with pytest.raises(QueryStopped):
            query.result(timeout=10)
    store.apply([GraphChange(GRAPH, added=facts(1, "afterwards"))])
    assert store.audit() == []
    store.close()


def test_a_second_holder_in_the_same_process_is_refused_without_harm(tmp_path: Path) -> None:
    store = filled(tmp_path)
    with pytest.raises(VaultLocked):
        GraphStore.open(tmp_path)
    store.apply([GraphChange(GRAPH, added=facts(1, "still mine"))])
    store.close()
