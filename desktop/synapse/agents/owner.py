"""The owner: serves one open vault to agents and to the command line, for as long as it is open.

One thread with one asyncio loop accepts connections, hears hello and speaks the protocols; calls run
on `Threads`. The order of a life is: lock, open the store (`open_vault` does both), listen, write the
discovery file, serve; and at the end `close`, then the engine's.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Literal

from synapse.agents import connection, loading
from synapse.agents.connection import Hello, HungUp
from synapse.agents.listening import described, listen, sweep
from synapse.agents.ops import serve_ops
from synapse.agents.registry import Identity, Registry
from synapse.agents.session import Attached, House, Session
from synapse.agents.threads import Threads
from synapse.agents.version import program_version
from synapse.bridge import discovery
from synapse.bridge.dialling import MOST
from synapse.bridge.discovery import Discovery
from synapse.engine import Engine
from synapse.engine.errors import SynapseError, VaultLocked, WriteFailed

log = logging.getLogger(__name__)

Role = Literal["window", "headless"]

_FINISHING = 0.5
"""Seconds that calls under way have to finish when the owner closes."""
_LEAVING = 0.5
"""Seconds for their last answers to go out."""
_CLOSING = 2.0
"""Seconds that closing takes at most."""

COMMAND_LINE = Identity("command line", True, "write")
"""Who speaks `ops`: the person at the terminal, as when there is no owner."""


class Owner:
    """Serves an open vault until `close`. Its methods may be called from any thread but its own.

    discovery: what the discovery file says. idle_since: monotonic seconds since when nobody is
    attached, None while somebody is.
    """

    def __init__(
        self,
        engine: Engine,
        role: Role,
        registry: Registry | None = None,
        on_hand_over: Callable[[], None] | None = None,
        *,
        first_index: Future[Any] | None = None,
    ) -> None:
        """Listen and write the discovery file. Raises WriteFailed.

        on_hand_over: called on the agents' thread when somebody asked for the vault and was told
        that it will be free: close owner and engine then. first_index: calls wait for it.
        """
        self.idle_since: float | None = time.monotonic()
        self._engine = engine
        self._role = role
        self._registry = registry if registry is not None else Registry()
        self._on_hand_over = on_hand_over
        self._listeners: list[Callable[[], None]] = []
        self._sessions: dict[int, Session] = {}
        self._conversations: dict[int, asyncio.Task[None]] = {}
        self._bridges: dict[int, asyncio.StreamWriter] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._last_id = 0
        self._closed = False
        self._lock = threading.Lock()
        self._threads = Threads()
        self._loop = asyncio.new_event_loop()
        self._house = House(
            engine, self._registry, self._threads, self._loop.create_future(), self._changed, self._cut
        )
        self._token = secrets.token_urlsafe(32)
        sweep(engine.vault)
        try:
            self._listening = listen(engine.vault)
        except OSError as error:
            self._loop.close()
            raise WriteFailed(
                f"The vault cannot be served to agents: {error.strerror or error}.",
                "Check the permissions of the data folder.",
            ) from error
        self.discovery: Discovery = described(
            self._listening, engine.vault, self._token, program_version(), role
        )
        self._server: asyncio.Server | None = None
        self._thread = threading.Thread(target=self._run, name="synapse-agents", daemon=True)
        self._thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self._serve(first_index), self._loop).result()
            discovery.write(self.discovery)
        except OSError as error:
            self.close()
            raise WriteFailed(
                f"The discovery file cannot be written: {error.strerror or error}.",
                "Check the permissions of the data folder.",
                path=discovery.discovery_path(engine.vault),
            ) from error

    # -- who is attached -----------------------------------------------------------------------------

    def attached(self) -> tuple[Attached, ...]:
        """Everybody who is attached, in the order in which they came."""
        return tuple(session.attached() for session in list(self._sessions.values()))

    def detach(self, id: int) -> None:
        """Hang up on one of them. Its calls under way are answered with an error."""
        with suppress(RuntimeError):  # the owner is closed: nobody is attached
            self._loop.call_soon_threadsafe(self._cut, id)

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` on the agents' thread when who is attached, or what they did, changed.

        Returns what ends that.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def _changed(self) -> None:
        for listener in list(self._listeners):
            listener()

    # -- serving -------------------------------------------------------------------------------------

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.close()

    async def _serve(self, first_index: Future[Any] | None) -> None:
        """Begin to accept connections."""
        if first_index is None:
            self._house.first_index.set_result(None)
        else:
            first_index.add_done_callback(self._indexed)
        start = asyncio.start_server if self._listening.path is None else asyncio.start_unix_server
        self._server = await start(self._accept, sock=self._listening.socket, limit=MOST)

    def _indexed(self, _: Future[Any]) -> None:
        """The first index ended, well or badly: what is known now is what there is to answer from."""
        with suppress(RuntimeError):  # the owner has closed
            self._loop.call_soon_threadsafe(self._house.first_index.set_result, None)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._loop.create_task(self._converse(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, from hello to the end."""
        try:
            try:
                hello = await connection.greet(reader, writer, self._token)
                identity = await self._identified(hello)
            except SynapseError as error:
                await connection.refuse(reader, writer, error)
                return
            await self._attached(hello, identity, reader, writer)
        except (HungUp, ConnectionError):
            return  # they left: nobody is there to be told
        except asyncio.CancelledError:
            return  # hung up on, by `detach` or `close`
        except Exception:
            # Where a connection is cut off, the SDK's own streams break noisily.
            level = logging.DEBUG if self._closed else logging.ERROR
            log.log(level, "a connection ended by a fault of ours", exc_info=True)
        finally:
            writer.close()
            with suppress(TimeoutError, ConnectionError):
                await asyncio.wait_for(writer.wait_closed(), _LEAVING)

    async def _identified(self, hello: Hello) -> Identity:
        if hello.protocol == "ops":
            return COMMAND_LINE
        # On a thread: a name seen for the first time is written down.
        work = self._threads.submit("read", self._registry.identify, hello.agent, hello.agent_token)
        return await asyncio.wrap_future(work)

    async def _attached(
        self, hello: Hello, identity: Identity, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._last_id += 1
        session = Session(self._house, self._last_id, identity, hello.pid, hello.protocol)
        answer: dict[str, object] = {
            "version": self.discovery.version,
            "pid": os.getpid(),
            "role": self._role,
            "vault": str(self._engine.vault),
            "warnings": list(self._engine.warnings),
        }
        if hello.protocol == "mcp":
            answer["agent"] = {
                "name": identity.name,
                "proven": identity.proven,
                "access": identity.access,
            }
        task = asyncio.current_task()
        assert task is not None
        self._sessions[session.id] = session
        self._conversations[session.id] = task
        if hello.protocol == "mcp":
            self._bridges[session.id] = writer
        self.idle_since = None
        self._changed()
        try:
            writer.write(connection.welcome(answer))
            await writer.drain()
            if hello.protocol == "ops":
                await serve_ops(session, reader, writer, self)
            else:
                # The SDK takes a second to load, and the loop must not wait for it.
                serve_mcp = await asyncio.wrap_future(self._threads.submit("long", loading.serve_mcp))
                await serve_mcp(session, reader, writer)
        finally:
            if hello.protocol == "mcp" and self._closed:
                await connection.give_back(reader, writer)
            session.end("The connection ended.")
            session.interrupt()
            del self._sessions[session.id]
            del self._conversations[session.id]
            self._bridges.pop(session.id, None)
            if not self._sessions:
                self.idle_since = time.monotonic()
            self._changed()

    def preload(self) -> None:
        """Load what agents will need, on a thread, so that the first of them need not wait for it."""
        with suppress(RuntimeError):  # closed meanwhile
            self._threads.submit("long", loading.serve_mcp)

    def hand_over(self) -> Callable[[], None]:
        """What begins to give the vault away; somebody asks for it. Raises VaultLocked."""
        if self._role == "window" or self._on_hand_over is None:
            raise VaultLocked(
                f"The vault {self._engine.vault} is open in a window (process {os.getpid()}).",
                "Close the window first.",
            )
        return self._on_hand_over

    def _cut(self, id: int) -> None:
        session, task = self._sessions.get(id), self._conversations.get(id)
        if session is not None and task is not None:
            session.end("The connection was closed by the person whose vault this is.")
            session.interrupt()
            farewell = self._loop.create_task(self._hang_up(task))
            self._tasks.add(farewell)
            farewell.add_done_callback(self._tasks.discard)

    async def _hang_up(self, conversation: asyncio.Task[None]) -> None:
        await self._last_answers()
        conversation.cancel()

    async def _last_answers(self) -> None:
        """Let answers go out: they pass through a few tasks before they are sent."""
        for _ in range(20):
            await asyncio.sleep(0.001)

    # -- the end -------------------------------------------------------------------------------------

    def close(self) -> None:
        """Stop accepting, fail the calls under way, hang up, take the discovery file and the socket away.

        Takes at most two seconds; close the engine next. May be called twice.
        """
        with self._lock:
            if self._closed:
                return
            self._closed = True
        ending = asyncio.run_coroutine_threadsafe(self._end(), self._loop)
        try:
            ending.result(_CLOSING)
        except TimeoutError:
            log.warning("connections did not end in time and were cut")
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=1.0)
        self._threads.close()
        with suppress(OSError):  # a discovery file that stays is stale, and the next owner's to replace
            discovery.remove(self.discovery)
        self._listening.remove()

    @property
    def is_idle(self) -> bool:
        """Whether no call runs any more: one that could not be stopped may outlive `close`."""
        return self._threads.is_idle

    async def _end(self) -> None:
        if self._server is not None:
            self._server.close()
        sessions = list(self._sessions.values())
        for bridge in self._bridges.values():
            bridge.write(connection.ending())  # so that nothing is sent that nobody reads any more
        for session in sessions:
            session.end("The owner of the vault is shutting down.")
        await self._while(lambda: any(session.is_busy for session in sessions), _FINISHING)
        for session in sessions:
            session.interrupt()
        await self._while(lambda: any(session.is_busy for session in sessions), _LEAVING)
        await self._last_answers()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_LEAVING)

    async def _while(self, holds: Callable[[], bool], seconds: float) -> None:
        end = self._loop.time() + seconds
        while holds() and self._loop.time() < end:
            await asyncio.sleep(0.01)
