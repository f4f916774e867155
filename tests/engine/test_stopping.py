"""Queries run in a process of their own: any of them stops, and whatever happens there, the next works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from synapse.engine import Agent, Engine, WrittenFact
from synapse.engine.errors import (
    InvalidQuery,
    QueryStopped,
    RefusedQuery,
    VaultUnavailable,
    WriteFailed,
)
from synapse.engine.graph import workers as pool
from synapse.engine.graph.checkpoints import Checkpoints
from synapse.engine.graph.results import AskResult, SelectResult
from synapse.engine.graph.store import GraphStore

QUADS = 200_000
CROSS_JOIN = "SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?c ?q ?d }"
SOON = 3.0
"""Seconds: stopping takes milliseconds; more than this on a loaded machine means that it waited."""


def triple(number: int, text: str = "x") -> Triple:
    return Triple(NamedNode(f"vault:/n{number}"), NamedNode("urn:p"), Literal(text))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[GraphStore, Checkpoints]]:
    """A store of 200,000 quads."""
    folder = tmp_path_factory.mktemp("large")
    store = GraphStore.open(folder / "graph")
    half = QUADS // 2  # each fact is in its graph and in the default graph
    store.load({NamedNode("vault:/all.md"): [triple(number) for number in range(half)]})
    checkpoints = Checkpoints(store, folder / "checkpoints")
    assert len(checkpoints.query("SELECT ?s { ?s ?p ?o }", limit=3).rows) == 3  # type: ignore[union-attr]
    yield store, checkpoints
    checkpoints.close()
    store.close()


@pytest.fixture
def engine(vault: Any) -> Iterator[Engine]:
    vault.write("people/ada.md", "# Ada\n\n- [[knows:people/bob]]\n")
    with vault.open() as opened:
        opened.index()
        yield opened


def quick(checkpoints: Checkpoints) -> None:
    """The next query is answered at once."""
    began = time.monotonic()
    assert checkpoints.query("ASK { <n7> ?p ?o }", timeout=30) == AskResult(True)
    assert time.monotonic() - began < SOON


def test_a_cross_join_stops_when_its_time_is_up(large: tuple[GraphStore, Checkpoints]) -> None:
    began = time.monotonic()
    with pytest.raises(QueryStopped, match=r"more than 0.5 s"):
        large[1].query(CROSS_JOIN, timeout=0.5)
    assert time.monotonic() - began < 0.5 + SOON
    quick(large[1])


def test_a_cross_join_stops_when_it_is_cancelled(large: tuple[GraphStore, Checkpoints]) -> None:
    cancel = threading.Event()
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(large[1].query, CROSS_JOIN, timeout=100, stops=(cancel,))
        time.sleep(1)
        assert not running.done()
        began = time.monotonic()
        cancel.set()
        with pytest.raises(QueryStopped):
            running.result(60)
        assert time.monotonic() - began < SOON
    quick(large[1])


def test_closing_the_vault_stops_its_queries_and_removes_the_checkpoints(vault: Any) -> None:
    vault.write("a.md", "[[b]]\n" * 10)
    with vault.open() as engine, ThreadPoolExecutor(1) as threads:
        engine.index()
        join = "SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f . ?g ?s ?h }"
        running = threads.submit(engine.query, join, timeout=100)
        time.sleep(1)
        assert not running.done()
        assert list((vault.data / "vaults").glob("*/checkpoints/*"))
        began = time.monotonic()
        engine.close()
        with pytest.raises((QueryStopped, VaultUnavailable)):
            running.result(60)
        assert time.monotonic() - began < SOON + 2
    assert not list((vault.data / "vaults").glob("*/checkpoints/*"))


def test_a_query_can_be_stopped_while_its_vault_is_made_anew(vault: Any) -> None:
    vault.write("a.md", "[[b]]\n" * 10)
    cancel, reached, release = threading.Event(), threading.Event(), threading.Event()

    def progress(done: int, total: int) -> None:
        reached.set()
        assert release.wait(60)

    with vault.open() as engine, ThreadPoolExecutor(2) as threads:
        engine.index()
        join = "SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f . ?g ?s ?h . ?i ?t ?j }"
        running = threads.submit(engine.query, join, cancel=cancel)
        time.sleep(0.5)
        rebuilding = threads.submit(engine.rebuild, progress)
        assert reached.wait(30)
        assert not running.done(), "it is asked again when the vault is made"
        cancel.set()
        with pytest.raises(QueryStopped):
            running.result(SOON)
        assert not rebuilding.done()
        release.set()
        rebuilding.result(60)
        assert engine.query("ASK { <a> ?p ?o }") == AskResult(True)


def test_a_killed_worker_is_an_error_and_the_next_query_works(
    large: tuple[GraphStore, Checkpoints],
) -> None:
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(large[1].query, CROSS_JOIN, timeout=100)
        time.sleep(1)
        for pid in children():
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(QueryStopped, match="memory"):
            running.result(60)
    quick(large[1])


def test_a_query_that_takes_too_much_memory_is_stopped(
    large: tuple[GraphStore, Checkpoints], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYNAPSE_QUERY_MEMORY", str(700 << 20))
    pool.WORKERS.close()  # what is idle has the usual bound
    product = "SELECT ?a ?b ?c ?d { ?a ?p ?b . ?c ?q ?d } ORDER BY ?d ?a"
    with pytest.raises(QueryStopped):
        large[1].query(product, timeout=90)
    monkeypatch.delenv("SYNAPSE_QUERY_MEMORY")
    quick(large[1])


def test_an_idle_worker_that_ended_is_replaced(large: tuple[GraphStore, Checkpoints]) -> None:
    quick(large[1])
    for pid in children():
        os.kill(pid, signal.SIGTERM)
    quick(large[1])


def test_a_write_is_seen_by_the_next_query(engine: Engine) -> None:
    question = "SELECT ?who { ?who schema:knows <people/ada> FILTER(?who != <people/bob>) }"
    for number in range(5):
        found = engine.query(question)
        assert isinstance(found, SelectResult) and len(found.rows) == number
        fact = WrittenFact(f"people/p{number}", "knows", "people/ada")
        engine.assert_facts([fact], source="a test", reason="to see", agent=Agent("claude"))


def test_checkpoints_are_taken_for_queries_and_never_for_writes(vault: Any, engine: Engine) -> None:
    (folder,) = (vault.data / "vaults").iterdir()
    for number in range(3):
        fact = WrittenFact(f"people/p{number}", "knows", "people/ada")
        engine.assert_facts([fact], source="a test", reason="to see")
    assert not list(folder.glob("checkpoints/*"))
    for _ in range(3):
        engine.query("ASK {}")
        assert len(list(folder.glob("checkpoints/*"))) == 1


def test_what_a_killed_process_left_is_swept(vault: Any) -> None:
    vault.write("a.md", "# A\n")
    with vault.open() as engine:
        engine.index()
    (folder,) = (vault.data / "vaults").iterdir()
    left = folder / "checkpoints" / "1"
    left.mkdir(parents=True)
    (left / "000001.sst").write_bytes(b"left behind")
    with vault.open() as engine:
        assert not left.exists()
        assert engine.query("ASK { <a> ?p ?o }") == AskResult(True)


def test_twenty_queries_at_once_get_their_own_answers(large: tuple[GraphStore, Checkpoints]) -> None:
    def ask(number: int) -> list[str]:
        found = large[1].query(f"SELECT ?s {{ ?s ?p ?o FILTER(?s = <n{number}>) }}", timeout=100)
        assert isinstance(found, SelectResult)
        return [row[0].value for row in found.rows]  # type: ignore[union-attr]

    with ThreadPoolExecutor(20) as threads:
        for number, rows in enumerate(threads.map(ask, range(20))):
            assert rows == [f"vault:/n{number}"]
    assert len(children()) <= 4


def test_many_rows_arrive_whole_and_in_order(large: tuple[GraphStore, Checkpoints]) -> None:
    everything = "SELECT ?s { ?s <urn:p> ?o }"
    found = large[1].query(everything, timeout=100)
    assert isinstance(found, SelectResult) and len(found.rows) == QUADS // 2
    assert found == large[0].query(everything)
    limited = large[1].query("SELECT ?s { ?s ?p ?o }", limit=2_500, timeout=100)
    assert isinstance(limited, SelectResult)
    assert (len(limited.rows), limited.truncated) == (2_500, True)


def test_every_kind_of_term_and_answer_arrives_as_it_is(engine: Engine) -> None:
    text = 'SELECT ?v { VALUES ?v { "a"@en "b"^^xsd:integer <x> 1.5 true "" UNDEF } }'
    here = engine._workspace.store.query(text)
    assert engine.query(text) == here
    graph = "CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }"
    there = engine.query(graph)
    assert set(there.triples) == set(engine._workspace.store.query(graph).triples)  # type: ignore[union-attr]
    blank = engine.query("SELECT ?b { BIND(BNODE() AS ?b) }")
    assert isinstance(blank, SelectResult) and blank.rows[0][0] is not None


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("SELECT ?s {\n ?s ?p }", InvalidQuery),
        ("SELECT (my:f(?s) AS ?x) { ?s ?p ?o }", InvalidQuery),
        ("SELECT * { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }", RefusedQuery),
        ("INSERT DATA { <a> <b> <c> }", RefusedQuery),
        ("ASK { <a> <\ud800> ?o }", InvalidQuery),
    ],
)
def test_errors_are_those_of_the_store(engine: Engine, text: str, error: type[Exception]) -> None:
    with pytest.raises(error) as here:
        engine._workspace.store.query(text)
    with pytest.raises(error) as there:
        engine.query(text)
    assert here.value.as_json() == there.value.as_json()  # type: ignore[attr-defined]


def test_a_disk_that_takes_no_checkpoint_is_an_error_and_no_wrong_answer(engine: Engine, vault: Any) -> None:
    (folder,) = (vault.data / "vaults").iterdir()
    (folder / "checkpoints").write_text("in the way")
    with pytest.raises((WriteFailed, OSError)):
        engine.query("ASK {}")
    (folder / "checkpoints").unlink()
    assert engine.query("ASK {}") == AskResult(True)


ORPHAN = """
import sys, threading, time
from pathlib import Path
from synapse.engine import open_vault
engine = open_vault(sys.argv[1], Path(sys.argv[2]))
engine.index()
join = "SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f . ?g ?s ?h . ?i ?t ?j }"
threading.Thread(target=lambda: engine.query(join), daemon=True).start()
time.sleep(1)
print("running", flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts processes in /proc")
def test_no_worker_outlives_a_parent_that_was_killed(vault: Any) -> None:
    vault.write("a.md", "[[b]]\n" * 10)
    parent = subprocess.Popen(
        [sys.executable, "-c", ORPHAN, str(vault.folder), str(vault.data)], stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"running\n"
    workers = children(parent.pid)
    assert workers
    parent.kill()
    parent.wait()
    parent.stdout.close()
    end = time.monotonic() + 20
    while any(Path(f"/proc/{pid}/cmdline").exists() for pid in workers):
        assert time.monotonic() < end, "a worker stayed"
        time.sleep(0.05)


def children(parent: int | None = None) -> list[int]:
    """The query workers of a process."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status = (entry / "stat").read_text().rpartition(")")[2].split()
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue  # it has gone
            if int(status[1]) == (parent or os.getpid()) and b"_worker\0query" in line:
                found.append(int(entry.name))
    return found
