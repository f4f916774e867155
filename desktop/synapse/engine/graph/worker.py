"""A process that answers SPARQL, one query at a time, until it is killed or its parent goes away.

Oxigraph can neither be interrupted nor bounded from Python. So a query that people or agents write
runs here, on a read-only checkpoint, and is stopped by ending the process (agents.md, "Queries that
can be stopped"). Started as `synapse _worker query`; speaks `frames` on stdin and stdout.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, NoReturn

from pyoxigraph import Store

from synapse.engine.errors import SynapseError
from synapse.engine.graph import frames, queries
from synapse.engine.graph.results import AskResult, GraphResult, QueryResult, SelectResult

MEMORY: Final = 4 << 30
"""Bytes of address space that a query may take, where SYNAPSE_QUERY_MEMORY does not say otherwise."""
_IDLE: Final = 300.0
"""Seconds without a query after which the process ends."""
_ROWS: Final = 2_000
"""Rows in one message: few enough that reading it holds up nothing else (some 8 ms)."""


@dataclass(frozen=True, slots=True)
class Job:
    """One query over the checkpoint in `folder`."""

    folder: Path
    request: queries.Request


@dataclass(frozen=True, slots=True)
class Part:
    """Some rows of a SELECT, or triples of a graph; an End follows the last."""

    items: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class End:
    """The answer without its rows and triples, which came before, or the error as JSON."""

    result: QueryResult | None = None
    error: dict[str, object] | None = None


def main() -> NoReturn:
    """Answer queries until stdin ends."""
    # Whatever prints, prints elsewhere: stdout is for messages alone.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the parent, which ends this process
    _bound_memory()
    jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, jobs), daemon=True).start()
    store: Store | None = None
    folder: Path | None = None
    while True:
        try:
            job = jobs.get(timeout=_IDLE)
        except queue.Empty:
            os._exit(0)
        try:
            if folder != job.folder or store is None:
                store, folder = None, None
                store, folder = Store.read_only(str(job.folder)), job.folder
            for message in _answer(store, job.request):
                frames.send(answers, message)
        except BrokenPipeError:
            os._exit(0)


def _listen(stdin: IO[bytes], jobs: queue.SimpleQueue[Job]) -> None:
    """Take jobs in. On a thread of its own, so that the parent's end ends a query under way too."""
    while (content := frames.receive(stdin)) is not None:
        job = frames.opened(content)
        assert isinstance(job, Job)
        jobs.put(job)
    os._exit(0)


def _answer(store: Store, request: queries.Request) -> Iterator[Part | End]:
    try:
        result = queries.answer(store, request)
    except SynapseError as error:
        yield End(error=error.as_json())
        return
    except (OSError, RuntimeError, MemoryError) as error:
        told = str(error) or "out of memory"
        yield End(error={"kind": "stopped", "message": f"The query failed: {told}.", "hint": ""})
        return
    if isinstance(result, AskResult):
        yield End(result)
        return
    items: tuple[object, ...] = result.rows if isinstance(result, SelectResult) else result.triples
    for begin in range(0, len(items), _ROWS):
        yield Part(items[begin : begin + _ROWS])
    if isinstance(result, SelectResult):
        yield End(SelectResult(result.variables, (), result.truncated))
    else:
        yield End(GraphResult((), result.truncated))


def _bound_memory() -> None:
    if sys.platform == "win32":
        return  # it has no such limit
    import resource

    wanted = int(os.environ.get("SYNAPSE_QUERY_MEMORY") or MEMORY)
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))
