"""The `ops` protocol: the table of operations over the owner's socket, one JSON object a line.

    {"id": 1, "op": "dossier", "args": {"entity": "people/ada"}}   -> {"id": 1, "result": {...}}
    {"cancel": 1}                                                   -> {"id": 1, "error": {...}}

An answer may be preceded by `{"id", "progress": {"done", "total"}}` and, where the result is bytes, by
`{"id", "part": text}` to be joined. Several requests of one connection run at once. A request that
makes no sense is answered with an error, and the connection goes on.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import Any, Protocol

from pyoxigraph import DefaultGraph, NamedNode, RdfFormat, parse

from synapse.agents.session import Attached, Session
from synapse.bridge.dialling import MOST
from synapse.engine.errors import QueryStopped, SynapseError, UsageError
from synapse.engine.graph.results import Term
from synapse.engine.operations import OPERATIONS, Operation, carry_out
from synapse.engine.questions.results import as_json
from synapse.engine.wire import dumped, pieces, read_values, to_wire

log = logging.getLogger(__name__)

Id = str | int
Arguments = Mapping[str, Any]
Run = Callable[[], Awaitable[None]]

_EVERY = 0.1
"""Seconds between two reports of progress."""
_AT_ONCE = 256
"""Requests of one connection that may be under way."""
_CANCELLED = "cancelled by request"
_OWN = {"describe": ("terms",), "hand-over": (), "attached": ()}
"""Operations of the owner itself, and their arguments."""

_ID = re.compile(rb'\s*\{\s*"id"\s*:\s*(-?\d{1,18}|"(?:[^"\\\x00-\x1f]|\\.){0,200}")\s*,')


class House(Protocol):
    """What the owner itself is asked for."""

    def attached(self) -> tuple[Attached, ...]: ...

    def hand_over(self) -> Callable[[], None]:
        """What begins the hand-over once it was answered. Raises VaultLocked."""


async def serve_ops(
    session: Session, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, house: House
) -> None:
    """Speak `ops` until the other side hangs up; what is under way then is cancelled."""
    await _Conversation(session, reader, writer, house).run()


class _Conversation:
    def __init__(
        self, session: Session, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, house: House
    ) -> None:
        self._session = session
        self._reader = reader
        self._writer = writer
        self._house = house
        self._requests: dict[Id, asyncio.Task[None]] = {}
        """Those that have no answer yet."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._sending = asyncio.Lock()

    async def run(self) -> None:
        try:
            while (line := await self._line()) is not None:
                if line.strip():
                    await self._take(line)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- lines ---------------------------------------------------------------------------------------

    async def _line(self) -> bytes | None:
        """The next line; None where the connection ends. One that is too long is refused and skipped."""
        try:
            return await self._reader.readuntil(b"\n")
        except asyncio.IncompleteReadError:
            return None
        except asyncio.LimitOverrunError as error:
            head = await self._reader.readexactly(error.consumed)
        found = _ID.match(head[:1024])
        while True:
            try:
                await self._reader.readuntil(b"\n")
                break
            except asyncio.IncompleteReadError:
                return None
            except asyncio.LimitOverrunError as error:
                await self._reader.readexactly(error.consumed)
        too_long = UsageError(
            f"The request is longer than {MOST // 1024 // 1024} MiB.", "Ask for it in several requests."
        )
        await self._fail(json.loads(found[1]) if found else None, too_long)
        return b""

    async def _send(self, answer: dict[str, object] | bytes) -> None:
        """Send one line, and wait until the other side takes more."""
        line = answer if isinstance(answer, bytes) else _line(answer)
        async with self._sending:
            self._writer.write(line)
            await self._writer.drain()

    async def _finish(self, id: Id, answer: bytes) -> None:
        """Send a request's one answer: from here on it cannot be cancelled."""
        self._requests.pop(id, None)
        await self._send(answer)

    async def _fail(self, id: Id | None, error: SynapseError) -> None:
        if id is not None:
            self._requests.pop(id, None)
        await self._send({"id": id, "error": error.as_json()})

    # -- requests ------------------------------------------------------------------------------------

    async def _take(self, line: bytes) -> None:
        id: Id | None = None
        try:
            message = _parsed(line)
            if "cancel" in message:
                self._cancel(message["cancel"])
                return
            id = _checked_id(message.get("id"))
            if id in self._requests:
                raise _InUse("A request with that id is under way.", "Give each its own id.")
            if len(self._tasks) >= _AT_ONCE:
                raise UsageError(f"{_AT_ONCE} requests are under way.", "Wait for answers first.")
            run = self._understood(id, message)
        except _InUse as error:
            # Not under its id: that answer belongs to the first.
            await self._fail(None, error)
            return
        except SynapseError as error:
            await self._fail(id, error)
            return
        task = asyncio.get_running_loop().create_task(self._answer(id, run))
        self._requests[id] = task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _cancel(self, id: object) -> None:
        """An id that is not under way was answered already."""
        task = self._requests.get(id) if isinstance(id, (str, int)) else None
        if task is not None:
            task.cancel(_CANCELLED)

    async def _answer(self, id: Id, run: Run) -> None:
        try:
            try:
                await run()
            except SynapseError as error:
                await self._fail(id, error)
            except asyncio.CancelledError as cancelled:
                if cancelled.args != (_CANCELLED,):
                    raise
                await self._fail(id, QueryStopped("The call was cancelled."))
            except ConnectionError:
                raise
            except Exception as error:
                log.exception("a request failed by a fault of ours")
                await self._fail(id, _Fault(f"The owner failed: {type(error).__name__}: {error}"))
        except ConnectionError:
            return  # they hung up; reading ends with the same

    def _understood(self, id: Id, message: Arguments) -> Run:
        """What answers a request. Raises UsageError."""
        name = message.get("op")
        if not isinstance(name, str):
            raise UsageError("A request names an operation.", 'Write {"id": 1, "op": "status", "args": {}}.')
        told = message.get("args", {})
        if not isinstance(told, dict):
            raise UsageError("The arguments of a request are an object.", 'Write "args": {}.')
        for operation in OPERATIONS:
            if operation.name == name:
                values = read_values(operation, told)
                return lambda: self._operate(id, operation, values)
        if name not in _OWN:
            near = get_close_matches(name, [*_OWN, *(known.name for known in OPERATIONS)], 1)
            guess = f" Did you mean {near[0]}?" if near else ""
            raise UsageError(f"There is no operation {_shown(name)}.{guess}", "See `synapse --help`.")
        for given in told:
            if given not in _OWN[name]:
                near = get_close_matches(given, _OWN[name], 1)
                guess = f" Did you mean {near[0]}?" if near else ""
                raise UsageError(f"`{name}` has no argument {_shown(given)}.{guess}")
        if name == "describe":
            terms = _terms(told.get("terms"))
            return lambda: self._describe(id, terms)
        return (lambda: self._hand_over(id)) if name == "hand-over" else (lambda: self._attached(id))

    async def _operate(self, id: Id, operation: Operation, values: Arguments) -> None:
        session, cancel = self._session, threading.Event()
        report = _Reporter(id, self._writer)

        def work() -> tuple[bytes | None, bytes]:
            result = carry_out(session.engine, operation, values, report, cancel)
            # Here, where a large answer keeps nobody else waiting.
            return (result if isinstance(result, bytes) else None), _answered(id, to_wire(result))

        if operation.writes:
            session.check_may_write()
        try:
            content, answer = await session.run(
                work, writes=operation.writes, long=operation.indexes and not operation.writes, cancel=cancel
            )
        finally:
            report.stop()
        session.count(writes=operation.writes)
        for part in pieces(content) if content is not None else ():
            await self._send({"id": id, "part": part})
        await self._finish(id, answer)

    async def _describe(self, id: Id, terms: Sequence[Term | None]) -> None:
        engine = self._session.engine
        answer = await self._session.run(lambda: _answered(id, as_json(engine.describe(terms))))
        await self._finish(id, answer)

    async def _attached(self, id: Id) -> None:
        await self._finish(id, _answered(id, as_json(self._house.attached())))

    async def _hand_over(self, id: Id) -> None:
        hand_over = self._house.hand_over()
        await self._finish(id, _answered(id, {"ok": True}))
        hand_over()


class _Fault(SynapseError):
    kind = "internal"


class _InUse(UsageError):
    """The id of a request that is under way."""


class _Reporter:
    """Reports the progress of one request, from any thread, until `stop` on the loop's."""

    def __init__(self, id: Id, writer: asyncio.StreamWriter) -> None:
        self._id = id
        self._writer = writer
        self._loop = asyncio.get_running_loop()
        self._last: float | None = None
        self._stopped = False

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self._last is None:
            self._last = now  # work that ends at once has no progress
        elif now - self._last >= _EVERY:
            self._last = now
            with suppress(RuntimeError):  # the loop has closed: nobody is told any more
                self._loop.call_soon_threadsafe(self._tell, done, total)

    def stop(self) -> None:
        """Nothing is said of a request after its answer."""
        self._stopped = True

    def _tell(self, done: int, total: int) -> None:
        # To somebody who does not read, nothing is piled up.
        if not self._stopped and self._writer.transport.get_write_buffer_size() == 0:
            self._writer.write(_line({"id": self._id, "progress": {"done": done, "total": total}}))


def _parsed(line: bytes) -> dict[str, Any]:
    """A request. Raises UsageError."""
    try:
        message = json.loads(line.decode("utf-8"), parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise UsageError("The request is not UTF-8.", "Send one JSON object a line.") from error
    except (ValueError, RecursionError) as error:
        raise UsageError("The request is not JSON.", "Send one JSON object a line.") from error
    if not isinstance(message, dict):
        raise UsageError("The request is not a JSON object.", "Send one JSON object a line.")
    return message


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no JSON number")


def _checked_id(given: object) -> Id:
    if type(given) is int or (isinstance(given, str) and given.isprintable()):
        assert isinstance(given, (int, str))
        return given
    raise UsageError("A request has an id: a text or a whole number.", 'Write {"id": 1, "op": ...}.')


def _terms(told: object) -> list[Term | None]:
    """Terms in N-Triples' form. Raises UsageError."""
    if not isinstance(told, list):
        raise UsageError("terms must be a list of terms in N-Triples' form, or null.")
    return [None if text is None else _term(text) for text in told]


_OURS = NamedNode("urn:synapse:term")


def _term(text: object) -> Term:
    try:
        if not isinstance(text, str):
            raise ValueError("not a text")
        (quad,) = parse(f"{_OURS} {_OURS} {text} .", format=RdfFormat.N_TRIPLES)
    except (ValueError, SyntaxError) as error:
        raise UsageError(f"{_shown(text)} is no term in N-Triples' form.") from error
    if (quad.subject, quad.predicate, quad.graph_name) != (_OURS, _OURS, DefaultGraph()):
        raise UsageError(f"{_shown(text)} is no term in N-Triples' form.")
    term: Term = quad.object
    return term


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _answered(id: Id, result: object) -> bytes:
    return _line({"id": id, "result": result})


def _line(value: object) -> bytes:
    return dumped(value).encode("ascii") + b"\n"
