"""An owner without a window: opens the vault, indexes and follows it, and serves until told to stop."""

from __future__ import annotations

import logging
import os
import queue
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from types import FrameType, TracebackType

from synapse.agents.owner import Owner
from synapse.bridge import stopped
from synapse.engine import Engine, open_vault
from synapse.engine.errors import SynapseError, VaultLocked

log = logging.getLogger(__name__)

ROLE = "a server without a window"
"""What such an owner is called to whoever finds the vault taken."""

IDLE_VARIABLE = "SYNAPSE_IDLE_SECONDS"
_IDLE = 600.0
"""Seconds without an agent after which an owner that nobody looks at ends."""

_SHUTDOWN = 5.0
"""Seconds that the whole shutdown takes at most (design/README.md)."""

_STOP, _INDEXED, _CHANGED = "stop", "indexed", "changed"

Progress = Callable[[int, int], None]


class Headless:
    """An open vault and its owner, as a context; leaving it runs the shutdown order.

    engine, owner: to look at. Made on the main thread, which from then on is told of signals.
    """

    def __init__(self, vault: str | os.PathLike[str]) -> None:
        """Open the vault and listen. Raises the errors of `open_vault` and of Owner."""
        # Safe in a signal handler, which an Event is not.
        self._told: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._first_index: Future[None] = Future()
        self._failed: SynapseError | None = None
        self._indexer: threading.Thread | None = None
        self._restore = _on_signals(lambda: self._told.put(_STOP))
        try:
            self.engine: Engine = open_vault(vault, role=ROLE)
            try:
                with suppress(OSError):
                    stopped.forget(self.engine.vault)
                self.owner = Owner(
                    self.engine,
                    "headless",
                    on_hand_over=lambda: self._told.put(_STOP),
                    first_index=self._first_index,
                )
            except BaseException:
                self.engine.close()
                raise
        except BaseException:
            self._restore()
            raise

    def __enter__(self) -> Headless:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self, progress: Progress | None = None) -> None:
        """Index the vault and then follow it, on a thread of its own."""

        def work() -> None:
            try:
                self.engine.index(progress=progress)
            except SynapseError as error:
                self._failed = error
            finally:
                self._first_index.set_result(None)
            self._told.put(_INDEXED)
            self.engine.watch()
            self.owner.preload()

        self._indexer = threading.Thread(target=work, name="synapse-first-index", daemon=True)
        self._indexer.start()

    def wait(self, indexed: Callable[[SynapseError | None], None], idle: float | None = None) -> None:
        """Wait until a signal, a hand-over or, with `idle`, that many seconds without an agent.

        indexed: called here after the first index, with what went wrong; what was known before is
        served then. Raises what it raises.
        """
        unsubscribe = self.owner.subscribe(lambda: self._told.put(_CHANGED))
        try:
            while (left := self._left(idle)) is None or left > 0:
                with suppress(queue.Empty):
                    told = self._told.get(timeout=left)
                    if told == _STOP:
                        return
                    if told == _INDEXED:
                        indexed(self._failed)
        finally:
            unsubscribe()

    def _left(self, idle: float | None) -> float | None:
        since = self.owner.idle_since
        return None if idle is None or since is None else since + idle - time.monotonic()

    def close(self) -> None:
        """Shut down in order, within five seconds; then the process ends, whatever still runs.

        What a write under way then left undone is made good when the vault is opened next.
        """
        deadline = threading.Timer(_SHUTDOWN, _cut_short)
        deadline.daemon = True
        deadline.start()
        self.owner.close()
        try:
            self.engine.close()
        except SynapseError as error:  # a read that does not end holds it: the process's end closes it
            log.warning("%s", error)
            _cut_short()
        if self._indexer is not None:
            self._indexer.join()
        if self.owner.is_idle:
            deadline.cancel()
        self._restore()


def idle_seconds() -> float:
    """How long an owner that nobody looks at stays without an agent."""
    try:
        return float(os.environ.get(IDLE_VARIABLE, "") or _IDLE)
    except ValueError:
        return _IDLE


def serve_detached(vault: str | os.PathLike[str]) -> None:
    """Serve until the last agent has been gone for ten minutes; nothing where another owner was first.

    For whoever starts an owner in the background: the loser of a race is silent.
    """
    if stopped.is_stopped(Path(vault)):
        return
    try:
        headless = Headless(vault)
    except VaultLocked:
        return
    with headless:
        headless.start()
        headless.wait(_log, idle_seconds())


def _log(failed: SynapseError | None) -> None:
    if failed is not None:
        log.warning("the vault could not be indexed: %s", failed)


def _cut_short() -> None:
    log.warning("something did not end when the owner shut down; the process ends with it")
    os._exit(0)


def _on_signals(stop: Callable[[], None]) -> Callable[[], None]:
    """Call `stop` instead of ending at once; returns what undoes that."""

    def handle(_number: int, _frame: FrameType | None) -> None:
        stop()

    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, handle) for number in numbers}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    return restore
