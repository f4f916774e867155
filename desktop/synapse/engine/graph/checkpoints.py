"""Read-only copies of the store for query workers, taken when a query asks after a write.

A checkpoint is one committed state. It lies beside the store, so that its files are hard links to the
store's. The newest is kept for the next query; an older one goes when the last query over it ends.
"""

from __future__ import annotations

import itertools
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from synapse.engine.changes import Revision
from synapse.engine.errors import VaultUnavailable
from synapse.engine.graph import queries
from synapse.engine.graph.results import QueryResult
from synapse.engine.graph.store import GraphStore
from synapse.engine.graph.views import View
from synapse.engine.graph.workers import WORKERS


@dataclass(slots=True)
class _Checkpoint:
    revision: Revision
    folder: Path
    readers: int = 0


class Checkpoints:
    """The checkpoints of one store, and queries over them. Safe from any thread.

    folder: theirs alone, on the store's disk; what a killed process left there is swept.
    """

    def __init__(self, store: GraphStore, folder: Path) -> None:
        self._store = store
        self._folder = folder
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._newest: _Checkpoint | None = None
        self._closed = threading.Event()
        shutil.rmtree(folder, ignore_errors=True)

    def query(
        self,
        text: str,
        view: View = "all",
        limit: int | None = None,
        timeout: float | None = None,
        stops: tuple[threading.Event | None, ...] = (),
    ) -> QueryResult:
        """As `GraphStore.query`, in a process of its own: it stops within a second of its time, of any
        of `stops` and of `close`, whatever it does.

        The answer is of one committed state, at least as new as the last write before the call.
        Raises InvalidQuery, RefusedQuery, QueryStopped, WriteFailed.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        request = self._store.request(text, view, limit, timeout, (*stops, self._closed))
        queries.check(request)  # before anything is taken or started for it
        with self._leased() as folder:
            return WORKERS.ask(folder, request, deadline)

    def close(self) -> None:
        """Stop the queries under way and remove all checkpoints. May be called twice."""
        self._closed.set()
        with self._lock:
            newest, self._newest = self._newest, None
        if newest is not None and newest.readers == 0:
            _remove(newest.folder)

    @contextmanager
    def _leased(self) -> Iterator[Path]:
        with self._lock:
            checkpoint = self._current()
            checkpoint.readers += 1
        try:
            yield checkpoint.folder
        finally:
            with self._lock:
                checkpoint.readers -= 1
                unused = checkpoint.readers == 0 and checkpoint is not self._newest
            if unused:
                _remove(checkpoint.folder)

    def _current(self) -> _Checkpoint:
        """A checkpoint of the store as it is now. The lock is held."""
        if self._closed.is_set():
            raise VaultUnavailable("The vault is closed.", "Open it again.")
        before = self._newest
        revision = self._store.revision
        if before is not None and before.revision == revision:
            return before
        self._folder.mkdir(parents=True, exist_ok=True)
        made = _Checkpoint(revision, self._folder / str(next(self._numbers)))
        self._store.checkpoint(made.folder)
        self._newest = made
        if before is not None and before.readers == 0:
            _remove(before.folder)
        return made


def _remove(folder: Path) -> None:
    # What stays, as on a system that keeps open files, is swept at the next start.
    shutil.rmtree(folder, ignore_errors=True)
