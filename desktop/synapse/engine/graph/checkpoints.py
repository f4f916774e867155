"""Read-only copies of the store for query workers, taken when a query asks after a write.

A checkpoint is one committed state. It lies beside the store, so that its files are hard links to the
store's. The newest is kept for the next query; an older one goes when the last query over it ends.
Two are the most: what an old one keeps from being deleted is the user's disk.
"""

from __future__ import annotations

import secrets
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from synapse.engine.changes import Revision
from synapse.engine.errors import QueryStopped, VaultUnavailable
from synapse.engine.graph import queries
from synapse.engine.graph.opening import WAIT
from synapse.engine.graph.results import QueryResult
from synapse.engine.graph.store import GraphStore
from synapse.engine.graph.views import View
from synapse.engine.graph.workers import WORKERS

_MOST: Final = 2
"""Checkpoints of one store at a time."""
_LOOK: Final = 0.02
"""Seconds between two looks at whether a query that waits shall stop."""


@dataclass(slots=True, eq=False)
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
        self._changed = threading.Condition()
        self._kept: list[_Checkpoint] = []
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
        Raises InvalidQuery, RefusedQuery, QueryStopped, WriteFailed, StoreCorrupt.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        request = self._store.request(text, view, limit, timeout, (*stops, self._closed))
        queries.check(request)  # before anything is taken or started for it
        with self._leased(request, deadline) as folder:
            return WORKERS.ask(folder, request, deadline)

    def close(self) -> None:
        """Stop the queries under way and remove all checkpoints. May be called twice."""
        self._closed.set()
        with self._changed:
            self._changed.notify_all()
            self._changed.wait_for(lambda: not any(kept.readers for kept in self._kept), WAIT)
            self._kept.clear()
        _remove(self._folder)

    @contextmanager
    def _leased(self, request: queries.Request, deadline: float | None) -> Iterator[Path]:
        with self._changed:
            checkpoint = self._current(request, deadline)
            checkpoint.readers += 1
        try:
            yield checkpoint.folder
        finally:
            with self._changed:
                checkpoint.readers -= 1
                self._sweep()
                self._changed.notify_all()

    def _current(self, request: queries.Request, deadline: float | None) -> _Checkpoint:
        """A checkpoint of the store as it is now; waits while two are read that are older."""
        while True:
            if self._closed.is_set():
                raise VaultUnavailable("The vault is closed.", "Open it again.")
            revision, loads = self._store.revision, self._store.loads
            if self._kept and self._kept[-1].revision == revision:
                return self._kept[-1]
            self._sweep(even_newest=True)
            if len(self._kept) < _MOST and loads % 2 == 0:
                made = _Checkpoint(revision, self._folder / secrets.token_hex(8))
                self._store.checkpoint(made.folder)
                if self._store.loads == loads:
                    self._kept.append(made)
                    return made
                _remove(made.folder)  # a load began meanwhile, and this may be half of it
            self._changed.wait(_LOOK)
            queries.was_stopped(request)
            if deadline is not None and time.monotonic() > deadline:
                raise QueryStopped(
                    "A load or other queries took all the time there was.", "Try again when they are done."
                )

    def _sweep(self, *, even_newest: bool = False) -> None:
        """Remove what nobody reads. The newest stays for the next query, unless a newer one is to come."""
        newest = self._kept[-1] if self._kept else None
        for kept in list(self._kept):
            if kept.readers == 0 and (even_newest or kept is not newest):
                self._kept.remove(kept)
                _remove(kept.folder)


def _remove(folder: Path) -> None:
    # What stays, as on a system that keeps open files, is swept at the next start.
    shutil.rmtree(folder, ignore_errors=True)
