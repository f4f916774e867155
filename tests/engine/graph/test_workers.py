"""The processes that answer queries: their bounds, what they say, what they hold on to."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from synapse.engine.errors import QueryStopped
from synapse.engine.graph import frames
from synapse.engine.graph.results import AskResult, GraphResult, SelectResult
from synapse.engine.graph.store import GraphStore
from synapse.engine.graph.worker import MEMORY, End, Job, Part
from synapse.engine.graph.workers import Workers

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    opened = GraphStore.open(tmp_path_factory.mktemp("workers") / "graph")
    facts = [
        Triple(NamedNode(f"vault:/n{number}"), NamedNode("urn:p"), Literal("x")) for number in range(5_000)
    ]
    opened.load({NamedNode("vault:/a.md"): facts})
    yield opened
    opened.close()


@pytest.fixture
def folder(store: GraphStore, tmp_path: Path) -> Path:
    store.checkpoint(tmp_path / "checkpoint")
    return tmp_path / "checkpoint"


class Child:
    """A worker, spoken to over its pipes."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "synapse", "_worker", "query"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.pid = self.process.pid

    def ask(self, store: GraphStore, folder: Path, text: str) -> list[bytes]:
        """The messages of an answer, still pickled, the end included."""
        assert self.process.stdin is not None and self.process.stdout is not None
        request = replace(store.request(text), prefixes=dict(store.prefixes))
        self.process.stdin.write(frames.packed(Job(folder, request)))
        self.process.stdin.flush()
        found: list[bytes] = []
        while not found or not isinstance(frames.opened(found[-1]), End):
            content = frames.receive(self.process.stdout)
            assert content is not None, "it ended"
            found.append(content)
        return found

    def close(self) -> int:
        """End its input; returns its exit status."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        status = self.process.wait(10)
        self.process.stdout.close()
        return status


@pytest.fixture
def child() -> Iterator[Child]:
    made = Child()
    yield made
    assert made.close() == 0


def parts(messages: list[bytes]) -> list[Part]:
    opened = [frames.opened(message) for message in messages[:-1]]
    assert all(isinstance(part, Part) for part in opened)
    return opened  # type: ignore[return-value]


@pytest.mark.parametrize("width", [1, 40])
def test_no_message_holds_more_terms_than_are_read_in_a_moment(
    child: Child, store: GraphStore, folder: Path, width: int
) -> None:
    columns = " ".join(f"?v{number}" for number in range(width))
    binds = " ".join(f"BIND(?s AS ?v{number})" for number in range(width))
    messages = child.ask(store, folder, f"SELECT {columns} {{ ?s <urn:p> ?o {binds} }}")
    found = parts(messages)
    assert max(len(part.items) * width for part in found) <= 2_000
    rows = [row for part in found for row in part.items]
    assert len(rows) == len(set(rows)) == 5_000
    assert frames.opened(messages[-1]) == End(
        SelectResult(tuple(f"v{number}" for number in range(width)), (), truncated=False)
    )


def test_long_values_come_in_short_messages(child: Child, store: GraphStore, folder: Path) -> None:
    text = "x" * 50_000
    messages = child.ask(
        store, folder, f'SELECT ?s ?t {{ {{ SELECT ?s {{ ?s ?p ?o }} LIMIT 100 }} BIND("{text}" AS ?t) }}'
    )
    assert max(map(len, messages)) <= 1 << 20
    assert sum(len(part.items) for part in parts(messages)) == 100


def test_triples_come_in_parts_too(child: Child, store: GraphStore, folder: Path) -> None:
    messages = child.ask(store, folder, "CONSTRUCT { ?s ?p ?o } { ?s <urn:p> ?o . ?s ?p ?o }")
    assert len(messages) > 5
    assert sum(len(part.items) for part in parts(messages)) == 5_000
    assert frames.opened(messages[-1]) == End(GraphResult((), truncated=False))


def test_what_must_not_be_asked_is_refused_there_too(child: Child, store: GraphStore, folder: Path) -> None:
    (message,) = child.ask(store, folder, "SELECT * { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }")
    end = frames.opened(message)
    assert isinstance(end, End) and end.error is not None
    assert end.error["kind"] == "refused-query"


def test_a_checkpoint_that_cannot_be_read_is_an_error_and_the_worker_goes_on(
    child: Child, store: GraphStore, folder: Path, tmp_path: Path
) -> None:
    (message,) = child.ask(store, tmp_path / "nothing here", "ASK {}")
    end = frames.opened(message)
    assert isinstance(end, End) and end.error is not None and end.error["kind"] == "store-corrupt"
    assert frames.opened(child.ask(store, folder, "ASK {}")[-1]) == End(AskResult(True))


@linux
def test_a_worker_bounds_its_memory_and_dumps_none(child: Child, store: GraphStore, folder: Path) -> None:
    child.ask(store, folder, "ASK {}")
    lines = Path(f"/proc/{child.pid}/limits").read_text().splitlines()
    limits = {line[:25].strip(): line[25:].split()[0] for line in lines}
    assert limits["Max address space"] == str(MEMORY)
    assert limits["Max core file size"] == "0"


@linux
def test_an_idle_worker_lets_go_of_a_checkpoint_that_was_removed(
    child: Child, store: GraphStore, folder: Path
) -> None:
    def held() -> list[str]:
        links = []
        for entry in Path(f"/proc/{child.pid}/fd").iterdir():
            try:
                links.append(os.readlink(entry))
            except OSError:
                continue  # closed meanwhile
        return [link for link in links if link.startswith(str(folder))]

    child.ask(store, folder, "SELECT ?s { ?s ?p ?o }")
    assert held()
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    end = time.monotonic() + 40
    while held():
        assert time.monotonic() < end, "room on the disk stays taken"
        time.sleep(0.1)


def test_a_worker_that_cannot_be_started_is_an_error(
    store: GraphStore, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = Workers()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", str(tmp_path / "no python"))
        with pytest.raises(QueryStopped, match="No such file"):
            pool.ask(folder, store.request("ASK {}"), None)
        patch.setattr(sys, "executable", "/bin/true")
        with pytest.raises(QueryStopped, match="does not start"):
            pool.ask(folder, store.request("ASK {}"), None)
    assert pool.ask(folder, store.request("ASK {}"), None) == AskResult(True)
    pool.close()


def test_the_program_is_not_taken_from_where_somebody_stands(
    store: GraphStore, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "synapse").mkdir()
    (tmp_path / "synapse" / "__init__.py").write_text("raise SystemExit('not this one')")
    monkeypatch.chdir(tmp_path)
    pool = Workers()
    assert pool.ask(folder, store.request("ASK {}"), None) == AskResult(True)
    pool.close()


def test_messages_survive_and_a_cut_one_is_the_end(tmp_path: Path) -> None:
    message = End(SelectResult(("a",), ((Literal("x\u0000y", language="en"),), (None,)), truncated=True))
    content = frames.packed(message)
    (tmp_path / "frames").write_bytes(content * 2 + content[:-1])
    with (tmp_path / "frames").open("rb") as stream:
        for _ in range(2):
            received = frames.receive(stream)
            assert received is not None and frames.opened(received) == message
        assert frames.receive(stream) is None
    assert pickle.loads(content[8:]) == message
