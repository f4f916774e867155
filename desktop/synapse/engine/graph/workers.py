"""The query workers of this process: started when needed, kept warm, killed to stop a query."""

from __future__ import annotations

import atexit
import queue
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from synapse.engine.errors import QueryStopped, SynapseError, error_from_json
from synapse.engine.graph import frames
from synapse.engine.graph.queries import Request, was_stopped
from synapse.engine.graph.results import AskResult, GraphResult, QueryResult, SelectResult
from synapse.engine.graph.worker import End, Job, Part

_MOST: Final = 4
"""Queries that run at the same time; more wait."""
_LOOK: Final = 0.02
"""Seconds between two looks at whether a query shall stop."""
_GRACE: Final = 0.25
"""Seconds over its time that a query has to stop by itself, between two rows, which keeps the worker."""


class _Gone(Exception):
    """The worker ended before it said anything of the query."""


class _Worker:
    """A child process and the thread that hears it."""

    def __init__(self) -> None:
        self.folder: Path | None = None  # the checkpoint it has open
        # -P: a folder named synapse where somebody stands is not the program.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "synapse", "_worker", "query"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._heard: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._listener = threading.Thread(target=self._listen, name="synapse-query-listener", daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        while (content := frames.receive(self._process.stdout)) is not None:
            self._heard.put(content)
        self._process.wait()  # no zombie stays where nobody asks again
        self._heard.put(None)

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """End the process, with whatever it is doing."""
        self._process.kill()
        self._process.wait()
        self._listener.join()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()

    def ask(self, job: Job, request: Request, deadline: float | None) -> QueryResult | SynapseError:
        """The answer to a query, or the error that it is. After an exception the worker is of no use.

        deadline: monotonic seconds. Raises QueryStopped, _Gone.
        """
        assert self._process.stdin is not None
        self.folder = job.folder
        try:
            self._process.stdin.write(frames.packed(job))
            self._process.stdin.flush()
        except OSError as error:
            raise _Gone from error
        items: list[object] = []
        begun = False
        while True:
            was_stopped(request)
            if deadline is not None and time.monotonic() > deadline + _GRACE:
                raise _too_long(request)
            try:
                content = self._heard.get(timeout=_LOOK)
            except queue.Empty:
                continue
            if content is None:
                if not begun and self._process.wait() in (0, -signal.SIGTERM):
                    raise _Gone
                raise QueryStopped(
                    "The query needed too much memory, or is nested too deeply, and was stopped.",
                    "Narrow it, or ask for less at once.",
                )
            begun = True
            message = frames.opened(content)
            if isinstance(message, Part):
                items += message.items
                continue
            assert isinstance(message, End)
            if message.error is not None:
                return error_from_json(message.error)
            return _completed(message.result, items)


def _completed(result: QueryResult | None, items: list[object]) -> QueryResult:
    if isinstance(result, SelectResult):
        return SelectResult(result.variables, tuple(items), result.truncated)  # type: ignore[arg-type]
    if isinstance(result, GraphResult):
        return GraphResult(tuple(items), result.truncated)  # type: ignore[arg-type]
    assert isinstance(result, AskResult)
    return result


def _too_long(request: Request) -> QueryStopped:
    return QueryStopped(f"The query took more than {request.timeout:g} s.", "Narrow it or allow more time.")


class Workers:
    """A pool that all vaults of a process share; a worker belongs to none of them."""

    def __init__(self) -> None:
        self._idle: list[_Worker] = []
        self._running = 0
        self._changed = threading.Condition()

    def warm_up(self) -> None:
        """Start a worker in advance, where none is idle; the next query says what stands against it."""
        with self._changed, suppress(OSError):
            if not self._idle and self._running <= _MOST:
                self._idle.append(_Worker())

    def ask(self, folder: Path, request: Request, deadline: float | None) -> QueryResult:
        """Answer a query over a checkpoint; it stops within a moment of its deadline or its events.

        deadline: monotonic seconds. Raises RefusedQuery, InvalidQuery, QueryStopped.
        """
        job = Job(folder, replace(request, prefixes=dict(request.prefixes), stops=()))
        self._wait_for_room(request, deadline)
        try:
            return self._ask(job, request, deadline)
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify()

    def _ask(self, job: Job, request: Request, deadline: float | None) -> QueryResult:
        for _ in range(2):
            worker = self._take(job.folder)
            try:
                answer = worker.ask(job, request, deadline)
            except _Gone:
                worker.kill()
                continue  # it ended for want of work just now; the next one is new
            except QueryStopped:
                worker.kill()
                self.warm_up()  # whoever stopped a query asks another one soon
                raise
            except BaseException:
                worker.kill()
                raise
            with self._changed:
                self._idle.append(worker)
            if isinstance(answer, SynapseError):
                raise answer
            return answer
        raise QueryStopped("The process that answers queries does not start.", "Try again.")

    def _wait_for_room(self, request: Request, deadline: float | None) -> None:
        with self._changed:
            while self._running >= _MOST:
                self._changed.wait(_LOOK)
                was_stopped(request)
                if deadline is not None and time.monotonic() > deadline:
                    raise QueryStopped(
                        "Other queries took all the time there was.", "Try again, or stop one of them."
                    )
            self._running += 1

    def _take(self, folder: Path) -> _Worker:
        """An idle worker, best one that has the folder open, else a new one."""
        with self._changed:
            self._idle.sort(key=lambda worker: worker.folder == folder)
            while self._idle:
                worker = self._idle.pop()
                if worker.is_alive:
                    return worker
                worker.kill()
        try:
            return _Worker()
        except OSError as error:
            raise QueryStopped(
                f"No process can be started for the query: {error.strerror}.",
                "End something that is running, and try again.",
            ) from error

    def close(self) -> None:
        """End the idle workers."""
        with self._changed:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.kill()


WORKERS: Final = Workers()
"""The pool of this process."""

atexit.register(WORKERS.close)
