"""The threads that calls run on: three small pools, so that no kind of call waits for another.

A write that waits for the writer, or a query that counts for half a minute, never keeps a dossier
from being read; the loop itself runs nothing that takes long. The engine's own read pool is the
window's and is not used.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Literal, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

Kind = Literal["read", "write", "long"]
"""read: answers in milliseconds. write: waits for the engine's writer. long: SPARQL, exports, and
commands that index first."""

_THREADS: dict[Kind, int] = {"read": 4, "write": 2, "long": 4}


class Threads:
    """All pools of one owner."""

    def __init__(self) -> None:
        self._pools = {
            kind: ThreadPoolExecutor(count, f"synapse-agents-{kind}") for kind, count in _THREADS.items()
        }
        self._unfinished: set[Future[Any]] = set()

    def submit(self, kind: Kind, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a call on a thread of its kind. Raises RuntimeError after `close`."""
        work = self._pools[kind].submit(function, *args, **kwargs)
        self._unfinished.add(work)
        work.add_done_callback(self._unfinished.discard)
        return work

    @property
    def is_idle(self) -> bool:
        """Whether no call runs or waits."""
        return not self._unfinished

    def close(self) -> None:
        """Begin nothing more. What runs is not waited for: it ends when the engine closes."""
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)
