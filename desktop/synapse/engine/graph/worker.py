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
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, NoReturn

from pyoxigraph import Store

from synapse.engine.errors import SynapseError
from synapse.engine.graph import frames, queries
from synapse.engine.graph.opening import corrupt
from synapse.engine.graph.results import AskResult, GraphResult, QueryResult, SelectResult

MEMORY: Final = 4 << 30
"""Bytes of address space that a query may take, where SYNAPSE_QUERY_MEMORY does not say otherwise."""
_IDLE: Final = 300.0
"""Seconds without a query after which the process ends."""
_TICK: Final = 5.0
"""Seconds between two looks of an idle process at whether its checkpoint is still there."""
_TERMS: Final = 2_000
_BYTES: Final = 1 << 20
"""The most in one message, so that reading it holds up nothing else: terms (some 5 ms), and bytes
where there is more than one row."""


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
    opened = _Opened()
    idle_since = time.monotonic()
    while True:
        try:
            job = jobs.get(timeout=_TICK)
        except queue.Empty:
            opened.let_go_of_what_was_removed()
            if time.monotonic() - idle_since > _IDLE:
                os._exit(0)
            continue
        try:
            for message in _answer(opened, job):
                answers.write(message)
            answers.flush()
        except BrokenPipeError:
            os._exit(0)
        idle_since = time.monotonic()


class _Opened:
    """The checkpoint that was asked last, open for the next query."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._store: Store | None = None

    def store(self, folder: Path) -> Store:
        """The store in `folder`; the one before is let go of. Raises OSError, RuntimeError."""
        if self._store is None or folder != self._folder:
            self._store = None
            self._store, self._folder = Store.read_only(str(folder)), folder
        return self._store

    def let_go_of_what_was_removed(self) -> None:
        """Files that are held open take room on the disk although they were deleted."""
        if self._folder is not None and not self._folder.exists():
            self._store = self._folder = None


def _listen(stdin: IO[bytes], jobs: queue.SimpleQueue[Job]) -> None:
    """Take jobs in. On a thread of its own, so that the parent's end ends a query under way too."""
    try:
        while (content := frames.receive(stdin)) is not None:
            job = frames.opened(content)
            assert isinstance(job, Job)
            jobs.put(job)
    finally:
        os._exit(0)


def _answer(opened: _Opened, job: Job) -> Iterator[bytes]:
    """The messages that answer a query."""
    try:
        result = queries.answer(opened.store(job.folder), job.request)
    except SynapseError as error:
        yield frames.packed(End(error=error.as_json()))
        return
    except (OSError, RuntimeError) as error:
        yield frames.packed(End(error=corrupt(error).as_json()))
        return
    if isinstance(result, AskResult):
        yield frames.packed(End(result))
    elif isinstance(result, SelectResult):
        yield from _parts(result.rows, max(1, _TERMS // max(1, len(result.variables))))
        yield frames.packed(End(SelectResult(result.variables, (), result.truncated)))
    else:
        yield from _parts(result.triples, _TERMS // 3)
        yield frames.packed(End(GraphResult((), result.truncated)))


def _parts(items: tuple[object, ...], most: int) -> Iterator[bytes]:
    for begin in range(0, len(items), most):
        part = items[begin : begin + most]
        message = frames.packed(Part(part))
        if len(message) > _BYTES and len(part) > 1:
            yield from _parts(part, (len(part) + 1) // 2)
        else:
            yield message


def _bound_memory() -> None:
    if sys.platform == "win32":
        return  # it has no such limit
    import resource

    # Running out of memory aborts the process; its memory need not be written to the disk for that.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    wanted = int(os.environ.get("SYNAPSE_QUERY_MEMORY") or MEMORY)
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))
