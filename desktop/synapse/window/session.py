"""What the parts of the window share: the engine, its news, and calls that never block.

The interface thread never waits for the engine. `Session.run` hands a function to the engine's
executor and brings its result back to a slot of a bound method on the interface thread; if the
receiver is gone by then, the result is dropped.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING, Any, Protocol

import shiboken6
from PySide6.QtCore import QObject, Signal, Slot

from synapse.engine.changes import ChangeSet
from synapse.engine.errors import SynapseError

if TYPE_CHECKING:
    from synapse.engine import Engine

Slotted = Callable[[Any], None]


class Executor(Protocol):
    """Where functions run: the engine, or the pool that opens it."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]: ...


class Task:
    """A call on its way. `stop` is set by `cancel`, for functions that look at it."""

    def __init__(self, done: Slotted | None, failed: Slotted | None, stop: threading.Event | None) -> None:
        self.stop = stop or threading.Event()
        self.future: Future[Any] | None = None
        self._done = weakref.WeakMethod(done) if done else None
        self._failed = weakref.WeakMethod(failed) if failed else None
        self.finished = False

    def cancel(self) -> None:
        """Nobody wants the result any more: no slot is called, and a running function is told."""
        self.stop.set()
        self._done = self._failed = None
        if self.future is not None:
            self.future.cancel()

    @property
    def handles_failure(self) -> bool:
        return self._failed is not None

    def receiver(self, succeeded: bool) -> Slotted | None:
        reference = self._done if succeeded else self._failed
        method = reference() if reference else None
        owner = getattr(method, "__self__", None)
        if owner is None or (isinstance(owner, QObject) and not shiboken6.isValid(owner)):
            return None
        return method


class Runner(QObject):
    """Runs functions on an executor and delivers results on the thread it lives on."""

    problem = Signal(str, str)
    """An error that nobody took: what happened, what to do."""
    _arrived = Signal(object)

    def __init__(self, executor: Executor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._executor = executor
        self._lock = threading.Lock()
        self._closed = False
        self._running: set[Task] = set()
        self._arrived.connect(self._deliver)

    def run(
        self,
        function: Callable[..., Any],
        /,
        *args: Any,
        done: Slotted | None = None,
        failed: Slotted | None = None,
        stop: threading.Event | None = None,
        **kwargs: Any,
    ) -> Task:
        """Call `function(*args, **kwargs)` off the interface thread; after `close` nothing is called.

        `done(result)` and `failed(error)` are bound methods, called on the interface thread; without
        `failed` an error goes to `problem`. `stop` is the event a function was given to look at.
        """
        task = Task(done, failed, stop)
        if self._closed:
            task.cancel()
            task.finished = True
            return task
        self._running.add(task)
        self._count_changed()
        task.future = self._executor.submit(function, *args, **kwargs)
        task.future.add_done_callback(lambda _future: self._announce(task))
        return task

    @property
    def busy(self) -> int:
        """Calls on their way."""
        return len(self._running)

    def _count_changed(self) -> None:
        """A call began or ended."""

    def close(self) -> None:
        """Take no more results; call it before the engine closes."""
        with self._lock:
            self._closed = True
        for task in tuple(self._running):
            task.cancel()
        self._running.clear()

    def _announce(self, task: Task) -> None:
        with self._lock:
            if not self._closed and shiboken6.isValid(self):
                self._arrived.emit(task)

    @Slot(object)
    def _deliver(self, task: Task) -> None:
        self._running.discard(task)
        task.finished = True
        self._count_changed()
        if self._closed or task.future is None or task.future.cancelled():
            return
        error = task.future.exception()
        if error is None:
            if receiver := task.receiver(succeeded=True):
                receiver(task.future.result())
        elif receiver := task.receiver(succeeded=False):
            receiver(error)
        elif not task.handles_failure and not task.stop.is_set():
            self.problem.emit(*in_words(error))


def in_words(error: BaseException) -> tuple[str, str]:
    """What happened and what to do, for a person."""
    if isinstance(error, SynapseError):
        place = error.path or ""
        if error.line is not None:
            place += f", line {error.line}" if place else f"Line {error.line}"
        return (f"{place}: {error.message}" if place else error.message), error.hint
    if isinstance(error, CancelledError):
        return "Stopped.", ""
    what = str(error) or type(error).__name__
    return f"Something went wrong: {what}.", "Try again; if it stays, restart Synapse."


class Session(Runner):
    """One open vault as the window sees it."""

    changed = Signal(object)
    """A ChangeSet: one write of the engine."""
    indexing = Signal(int, int)
    """Files read so far and in all; (0, 0) when it is over."""
    noteOpened = Signal(str)
    """The path of the note that became the active one; empty if none is."""
    noteRequested = Signal(str, int)
    """Somebody wants to see an entity or path, at a line (0: wherever it was)."""
    entitySelected = Signal(str)
    proofRequested = Signal(object)
    """A Fact whose proof or sources are asked for."""
    statusChanged = Signal(object)
    """A Status, after each change."""
    busyChanged = Signal(bool)

    def __init__(self, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(engine, parent)
        self.engine = engine
        self.current: str | None = None
        self._unsubscribe = engine.subscribe(self._on_writer_thread)
        self._was_busy = False
        self.changed.connect(self.refresh_status)

    def _on_writer_thread(self, change: ChangeSet) -> None:
        with self._lock:
            if not self._closed and shiboken6.isValid(self):
                self.changed.emit(change)

    def announce_indexing(self, done: int, total: int) -> None:
        """From any thread: how far an index is."""
        with self._lock:
            if not self._closed and shiboken6.isValid(self):
                self.indexing.emit(done, total)

    def _count_changed(self) -> None:
        if bool(self.busy) != self._was_busy:
            self._was_busy = bool(self.busy)
            self.busyChanged.emit(self._was_busy)

    def open(self, entity_or_path: str, line: int | None = None) -> None:
        """Ask the shell to show a note, or to offer to write it."""
        self.noteRequested.emit(entity_or_path, line or 0)

    def set_current(self, path: str | None) -> None:
        """Told by the tabs: which note is the active one."""
        if path != self.current:
            self.current = path
            self.noteOpened.emit(path or "")

    @Slot()
    def refresh_status(self) -> None:
        self.run(self.engine.status, done=self._status_arrived)

    @Slot(object)
    def _status_arrived(self, status: object) -> None:
        self.statusChanged.emit(status)

    def close(self) -> None:
        self._unsubscribe()
        super().close()
