"""Which state a query in a process of its own sees, and what of it lies on the disk meanwhile."""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from synapse.engine.changes import GraphChange
from synapse.engine.errors import QueryStopped, VaultUnavailable, WriteFailed
from synapse.engine.graph.checkpoints import Checkpoints
from synapse.engine.graph.results import AskResult, QueryResult, SelectResult
from synapse.engine.graph.store import GraphStore

GRAPH = NamedNode("vault:/a.md")
ENDLESS = f"SELECT (COUNT(*) AS ?n) {{ {' '.join(f'?a{n} ?p{n} ?o{n} .' for n in range(8))} }}"
"""A cross join of 8: over a hundred facts it outlives every test."""


def fact(name: str) -> Triple:
    return Triple(NamedNode("vault:/" + name), NamedNode("urn:p"), Literal("x"))


def state(store: GraphStore, *names: str) -> None:
    store.apply([GraphChange(GRAPH, added=frozenset(map(fact, names)))])


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


class Opened:
    """A store, its checkpoints, and threads that ask them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "checkpoints"
        self.store = GraphStore.open(folder / "graph")
        self.checkpoints = Checkpoints(self.store, self.folder)
        self._threads = ThreadPoolExecutor(8)

    def kept(self) -> set[str]:
        """Names of the checkpoints that are complete."""
        return {path.name for path in self.folder.glob("*") if path.suffix != ".tmp"}

    def holds(self, name: str, timeout: float | None = 60) -> bool:
        found = self.checkpoints.query(f"ASK {{ <{name}> ?p ?o }}", timeout=timeout)
        assert isinstance(found, AskResult)
        return found.value

    def later(self, text: str, *stops: threading.Event) -> Future[QueryResult]:
        return self._threads.submit(self.checkpoints.query, text, stops=stops)

    def close(self) -> None:
        self.checkpoints.close()
        self._threads.shutdown()
        self.store.close()


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    made = Opened(tmp_path)
    state(made.store, *(f"n{number}" for number in range(100)))
    yield made
    made.close()


def test_a_store_opened_again_answers_what_it_holds_now(tmp_path: Path) -> None:
    for number in range(3):
        opened = Opened(tmp_path)
        assert [opened.holds(f"run{n}") for n in range(3)] == [n < number for n in range(3)]
        state(opened.store, f"run{number}")
        opened.close()


def test_queries_of_one_state_share_a_checkpoint(opened: Opened) -> None:
    assert opened.kept() == set()
    assert opened.holds("n1")
    (first,) = opened.kept()
    stop = threading.Event()
    running = opened.later(ENDLESS, stop)
    assert opened.holds("n2")
    assert opened.kept() == {first}
    stop.set()
    with pytest.raises(QueryStopped):
        running.result(30)
    assert opened.kept() == {first}


def test_an_older_checkpoint_goes_when_its_last_query_ends(opened: Opened) -> None:
    stop = threading.Event()
    running = opened.later(ENDLESS, stop)
    wait_until(opened.kept)
    old = opened.kept()
    state(opened.store, "new")
    assert opened.holds("new")
    assert len(opened.kept()) == 2 and old < opened.kept()
    stop.set()
    with pytest.raises(QueryStopped):
        running.result(30)
    assert len(opened.kept()) == 1 and not old & opened.kept()


def test_a_third_state_waits_for_one_of_two_that_are_read(opened: Opened) -> None:
    stops = [threading.Event(), threading.Event()]
    running = []
    for number, stop in enumerate(stops):
        state(opened.store, f"state{number}")
        running.append(opened.later(ENDLESS, stop))
        wait_until(lambda: len(opened.kept()) == len(running))
    two = opened.kept()
    state(opened.store, "third")
    with pytest.raises(QueryStopped, match="other queries"):
        opened.holds("third", timeout=0.2)
    cancelled = threading.Event()
    waiting, given_up = opened.later("ASK { <third> ?p ?o }"), opened.later("ASK {}", cancelled)
    cancelled.set()
    with pytest.raises(QueryStopped, match="stopped"):
        given_up.result(30)
    assert not waiting.done() and opened.kept() == two
    stops[0].set()
    assert waiting.result(30) == AskResult(True)
    assert len(opened.kept()) == 2
    stops[1].set()
    for ended in running:
        with pytest.raises(QueryStopped):
            ended.result(30)
    assert len(opened.kept()) == 1


class Held(list[Triple]):
    """Facts that are handed over when `release` is set."""

    def __init__(self, facts: list[Triple]) -> None:
        super().__init__(facts)
        self.reached, self.release = threading.Event(), threading.Event()

    def __iter__(self) -> Iterator[Triple]:
        self.reached.set()
        assert self.release.wait(60)
        return super().__iter__()


def test_half_a_load_is_never_seen(opened: Opened) -> None:
    assert opened.holds("n1")
    held = Held([fact("loaded")])
    with ThreadPoolExecutor(1) as threads:
        loading = threads.submit(opened.store.load, {GRAPH: held})
        assert held.reached.wait(30)
        with pytest.raises(QueryStopped, match="load"):
            opened.holds("n1", timeout=0.2)
        waiting = opened.later("SELECT ?s { ?s <urn:p> ?o }")
        held.release.set()
        loading.result(60)
        found = waiting.result(60)
    assert isinstance(found, SelectResult)
    assert found.rows == ((NamedNode("vault:/loaded"),),)


def test_a_checkpoint_that_a_load_ran_into_is_thrown_away(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    take, loads = opened.store.checkpoint, []

    def checkpoint(folder: Path) -> None:
        if not loads:
            loads.append(opened.store.load({GRAPH: [fact("loaded")]}))
        take(folder)

    monkeypatch.setattr(opened.store, "checkpoint", checkpoint)
    assert opened.holds("loaded") and not opened.holds("n1")
    assert len(opened.kept()) == 1


def test_closing_stops_all_and_leaves_nothing(opened: Opened) -> None:
    running = [opened.later(ENDLESS) for _ in range(6)]  # more than there are workers
    wait_until(opened.kept)
    opened.checkpoints.close()
    assert not opened.folder.exists()
    for ended in running:
        with pytest.raises((QueryStopped, VaultUnavailable)):
            ended.result(10)
    with pytest.raises(VaultUnavailable):
        opened.holds("n1")


def test_writers_and_readers_at_once_see_whole_states_in_order(opened: Opened) -> None:
    """Each write replaces one pair of facts; a reader sees both of one write, and never an older one."""
    writes, most = 40, 0

    def read() -> list[int]:
        nonlocal most
        seen: list[int] = []
        while not seen or seen[-1] < writes - 1:
            found = opened.checkpoints.query("SELECT ?a ?b { <pair> <urn:a> ?a ; <urn:b> ?b }", timeout=60)
            assert isinstance(found, SelectResult)
            for one, other in found.rows:
                assert isinstance(one, Literal) and one == other
                seen.append(int(one.value))
            assert len(found.rows) <= 1
            most = max(most, len(opened.kept()))
        return seen

    def pair(number: int) -> frozenset[Triple]:
        names = (NamedNode("urn:a"), NamedNode("urn:b"))
        return frozenset(Triple(NamedNode("vault:/pair"), name, Literal(str(number))) for name in names)

    with ThreadPoolExecutor(3) as threads:
        readers = [threads.submit(read) for _ in range(3)]
        for number in range(writes):
            before = pair(number - 1) if number else frozenset()
            opened.store.apply([GraphChange(GRAPH, removed=before, added=pair(number))])
            time.sleep(0.01)
        for reader in readers:
            seen = reader.result(60)
            assert seen == sorted(seen)
    assert most <= 2


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


def test_a_full_disk_gives_an_error_and_then_answers_and_writes_again(small_disk: Path) -> None:
    opened = Opened(small_disk)
    state(opened.store, *(f"n{number}" for number in range(1000)))
    with (small_disk / "filling").open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        while True:
            file.write(bytes(4096))
    for _ in range(2):
        with pytest.raises(WriteFailed):
            opened.holds("n1")
    assert not list(opened.folder.iterdir())
    (small_disk / "filling").unlink()
    state(opened.store, "after")
    assert opened.holds("n1") and opened.holds("after")
    assert opened.store.audit() == []
    opened.close()
