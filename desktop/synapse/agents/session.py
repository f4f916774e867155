"""One attached connection: who it is, what it may do, and the calls that it has under way."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from shlex import quote as quoted
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from synapse.agents.registry import AgentRefused, Identity, Registry, WriteNotAllowed
from synapse.agents.threads import Kind, Threads
from synapse.engine.errors import SynapseError
from synapse.engine.record import Agent, utc_now

if TYPE_CHECKING:
    from synapse.engine import Engine

P = ParamSpec("P")
T = TypeVar("T")

Protocol = Literal["mcp", "ops"]

_LAST_WORD = 0.5
"""Seconds that a revoked agent's last answer has to go out before the connection is cut."""


class Interrupted(SynapseError):
    """The owner ends while a call is under way, or the call was cancelled."""

    kind = "interrupted"


class NotDone(Interrupted):
    """The call took no effect, so that it can be sent to the vault's next owner."""

    kind = "not-done"


@dataclass(frozen=True, slots=True)
class Attached:
    """An attached connection as people see it. access: what the agent may do now. since: UTC time.

    protocol: `mcp` for an agent, `ops` for a command of the command line. calls: all; writes:
    those among them that wrote.
    """

    id: int
    name: str
    proven: bool
    access: str
    client: str
    client_version: str
    pid: int
    protocol: str
    since: str
    calls: int
    writes: int
    wants_to_write: bool = False
    """It tried to write and may not yet."""


@dataclass(frozen=True, slots=True)
class House:
    """What all sessions of an owner share.

    first_index: done when the vault has been read for the first time since the owner opened it;
    until then calls wait, for an answer from half a vault would be a wrong one. changed: tells
    whoever watches that a session did something. hang_up: cuts a session off.
    """

    engine: Engine
    registry: Registry
    threads: Threads
    first_index: asyncio.Future[None]
    changed: Callable[[], None]
    hang_up: Callable[[int], None]


@dataclass(eq=False, slots=True)
class _Call:
    """A call under way. work: on its thread, or None while it waits for the first index."""

    answer: asyncio.Future[Any]
    writes: bool
    work: Future[Any] | None = None


class Session:
    """One attached connection. All methods belong to the agents' thread.

    client, client_version: what the agent's program calls itself. calls, writes: counted by
    `count`; `introduce` and `count` also tell whoever watches.
    """

    def __init__(self, house: House, id: int, identity: Identity, pid: int, protocol: Protocol) -> None:
        self.engine = house.engine
        self.registry = house.registry
        self.id = id
        self.identity = identity
        self.pid = pid
        self.protocol = protocol
        self.since = utc_now()
        self.client = ""
        self.client_version = ""
        self.calls = 0
        self.writes = 0
        self._wanted_to_write = False
        self._house = house
        self._calls: set[_Call] = set()
        self._ending: str | None = None

    # -- who it is ---------------------------------------------------------------------------------

    def agent(self) -> Agent:
        """As whom it writes."""
        return Agent(self.identity.name, "software", self.client, self.client_version)

    def introduce(self, client: str, version: str) -> None:
        """Note what the agent's program calls itself."""
        self.client, self.client_version = client, version
        self._house.changed()

    def count(self, *, writes: bool = False) -> None:
        """Count one call. writes: one that wrote."""
        self.calls += 1
        self.writes += writes
        self._house.changed()

    def attached(self) -> Attached:
        """As people see it."""
        access = self.registry.access(self.identity.name) if self.protocol == "mcp" else "write"
        return Attached(
            self.id,
            self.identity.name,
            self.identity.proven,
            access,
            self.client,
            self.client_version,
            self.pid,
            self.protocol,
            self.since,
            self.calls,
            self.writes,
            self._wanted_to_write and access == "read",
        )

    def check(self) -> None:
        """Ask whether it may still be attached. Raises AgentRefused, and hangs up soon, where not."""
        if self.protocol != "mcp":
            return
        name, proven = self.identity.name, self.identity.proven
        standing = next((known for known in self.registry.known() if known.name == name), None)
        if standing is None or (standing.access != "revoked" and (proven or not standing.has_token)):
            return
        asyncio.get_running_loop().call_later(_LAST_WORD, self._house.hang_up, self.id)
        if standing.access == "revoked":
            raise AgentRefused(f"The agent {name} was revoked.", "Ask the person whose vault this is.")
        raise AgentRefused(
            f"The name {name} belongs to an agent with a token by now.",
            "Set SYNAPSE_AGENT_TOKEN in the host's configuration.",
        )

    def check_may_write(self) -> None:
        """Ask whether it may write now. Raises WriteNotAllowed, AgentRefused."""
        self.check()
        if self.protocol != "mcp":
            return
        name = self.identity.name
        access = self.registry.access(name)
        if access == "paused":
            raise WriteNotAllowed(
                f"A person paused the writes of {name}.",
                f"They go on with `synapse agents resume {quoted(name)}`, or in the window.",
            )
        if access != "write":
            self._wanted_to_write = True
            self._house.changed()
            raise WriteNotAllowed(
                f"The agent {name} may read but not write.",
                f"A person allows it with `synapse agents allow {quoted(name)}`, or in the window.",
            )

    # -- calls -------------------------------------------------------------------------------------

    async def run(
        self,
        function: Callable[..., T],
        *args: object,
        writes: bool = False,
        long: bool = False,
        cancel: threading.Event | None = None,
    ) -> T:
        """Run a call of the engine on a thread of its kind and wait for its result.

        writes: it waits for the engine's writer. long: it may take more than a moment (SPARQL).
        cancel: set when the awaiting task is cancelled or the owner ends, so that the call can stop.
        Waits for the vault's first index. Raises what the function raises, AgentRefused for a
        revoked agent, Interrupted where the owner ends first, NotDone where that had no effect.
        """
        self.check()
        if self._ending is not None:
            raise NotDone(self._ending, "Nothing was done; ask again.")
        loop = asyncio.get_running_loop()
        call = _Call(loop.create_future(), writes)
        self._calls.add(call)
        try:
            if not self._house.first_index.done():
                await asyncio.wait(
                    [self._house.first_index, call.answer], return_when=asyncio.FIRST_COMPLETED
                )
            if not call.answer.done():
                kind: Kind = "long" if long else "write" if writes else "read"
                call.work = self._house.threads.submit(kind, function, *args)
                call.work.add_done_callback(lambda work: _hand_back(loop, call.answer, work))
            result: T = await call.answer
            return result
        finally:
            self._calls.discard(call)
            if call.work is not None and not call.work.done() and not call.work.cancel() and cancel:
                cancel.set()

    @property
    def is_busy(self) -> bool:
        """Whether calls are under way."""
        return bool(self._calls)

    def end(self, why: str) -> None:
        """Take no more calls; those under way go on."""
        self._ending = why

    def interrupt(self) -> None:
        """Fail the calls under way, each with what is known about its effect."""
        why = self._ending or "The connection ends."
        for call in self._calls:
            if call.answer.done():
                continue
            if call.work is None or call.work.cancel():
                error: Interrupted = NotDone(why, "Nothing was done; ask again.")
            elif call.writes:
                error = Interrupted(
                    f"{why} The call may or may not have taken effect.", "Look before you send it again."
                )
            else:
                error = NotDone(why, "Ask again.")
            call.answer.set_exception(error)


def _hand_back(loop: asyncio.AbstractEventLoop, answer: asyncio.Future[T], work: Future[T]) -> None:
    """Give a thread's result to the loop; nobody waits any more where the loop is closed."""
    try:
        loop.call_soon_threadsafe(_settle, answer, work)
    except RuntimeError:
        return


def _settle(answer: asyncio.Future[T], work: Future[T]) -> None:
    if answer.done():
        return
    if work.cancelled():
        answer.set_exception(NotDone("The owner of the vault ends.", "Nothing was done; ask again."))
        return
    error = work.exception()
    if error is None:
        answer.set_result(work.result())
    elif isinstance(error, StopIteration):  # a future refuses it
        answer.set_exception(RuntimeError("a call ended by StopIteration"))
    else:
        answer.set_exception(error)
