"""What an attached connection may do, and what becomes of its calls when it or the owner ends."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from synapse.agents.registry import AgentRefused, Identity, Registry, WriteNotAllowed
from synapse.agents.session import House, Interrupted, Protocol, Session
from synapse.agents.threads import Threads
from synapse.engine import Engine
from synapse.engine.errors import UnknownEntity, UsageError

Run = Callable[[Callable[[Session], Awaitable[None]]], None]


@pytest.fixture
def threads() -> Iterator[Threads]:
    made = Threads()
    yield made
    made.close()


class Hall:
    """Runs a test's coroutine on a loop, with a session of the kind that it asks for."""

    def __init__(self, engine: Engine, registry: Registry, threads: Threads) -> None:
        self.registry = registry
        self.threads = threads
        self.engine = engine
        self.cut: list[int] = []
        self.told = 0
        self.first_index: asyncio.Future[None]

    def run(
        self,
        work: Callable[[Session], Awaitable[None]],
        identity: Identity | None = None,
        protocol: Protocol = "mcp",
        *,
        indexed: bool = True,
    ) -> None:
        async def main() -> None:
            self.first_index = asyncio.get_running_loop().create_future()
            if indexed:
                self.first_index.set_result(None)
            house = House(
                self.engine, self.registry, self.threads, self.first_index, self._told, self.cut.append
            )
            await asyncio.wait_for(
                work(Session(house, 1, identity or self.registry.identify("claude", None), 1, protocol)), 60
            )

        asyncio.run(main())

    def _told(self) -> None:
        self.told += 1


@pytest.fixture
def hall(engine: Engine, registry: Registry, threads: Threads) -> Hall:
    return Hall(engine, registry, threads)


# -- what it may do ------------------------------------------------------------------------------


def test_an_agent_reads_and_writes_only_once_a_person_allowed_it(hall: Hall) -> None:
    async def work(session: Session) -> None:
        session.check()
        with pytest.raises(WriteNotAllowed, match="may read but not write") as told:
            session.check_may_write()
        assert "synapse agents allow claude" in told.value.hint
        assert session.attached().access == "read"
        hall.registry.allow("claude")
        session.check_may_write()
        assert session.attached().access == "write"
        hall.registry.pause("claude")
        with pytest.raises(WriteNotAllowed, match="paused") as told:
            session.check_may_write()
        assert "synapse agents resume claude" in told.value.hint
        hall.registry.resume("claude")
        session.check_may_write()

    hall.run(work)
    assert not hall.cut


def test_a_revoked_agent_can_do_nothing_more_and_is_hung_up_on(hall: Hall) -> None:
    async def work(session: Session) -> None:
        hall.registry.revoke("claude")
        for call in (session.check, session.check_may_write):
            with pytest.raises(AgentRefused, match="claude was revoked"):
                call()
        with pytest.raises(AgentRefused):
            await session.run(lambda: 1)
        while not hall.cut:
            await asyncio.sleep(0.01)

    hall.run(work)
    assert set(hall.cut) == {1}


def test_a_claimed_name_that_gets_a_token_meanwhile_is_no_longer_its(hall: Hall) -> None:
    async def work(session: Session) -> None:
        hall.registry.add("claude")
        with pytest.raises(AgentRefused, match="token"):
            await session.run(lambda: 1)
        with pytest.raises(AgentRefused, match="token"):
            session.check_may_write()

    hall.registry.identify("claude", None)
    hall.registry.allow("claude")
    hall.run(work, Identity("claude", False, "write"))


def test_who_has_the_token_stays_attached_under_its_name(hall: Hall) -> None:
    async def work(session: Session) -> None:
        assert await session.run(lambda: 1) == 1
        assert session.attached().proven

    token = hall.registry.add("claude")
    hall.run(work, hall.registry.identify(None, token))


def test_the_command_line_is_the_person_and_asks_nobody(hall: Hall) -> None:
    async def work(session: Session) -> None:
        session.check_may_write()
        assert session.attached().access == "write"

    hall.run(work, Identity("command line", True, "write"), "ops")
    assert hall.registry.known() == ()


def test_it_writes_under_the_name_it_has_and_with_what_its_program_calls_itself(hall: Hall) -> None:
    async def work(session: Session) -> None:
        session.introduce("Claude Desktop", "1.2")
        agent = session.agent()
        assert (agent.name, agent.kind) == ("claude", "software")
        session.count()
        session.count(writes=True)
        found = session.attached()
        assert (found.client, found.client_version, found.calls, found.writes) == (
            "Claude Desktop",
            "1.2",
            2,
            1,
        )

    hall.run(work)
    assert hall.told == 3


# -- calls ---------------------------------------------------------------------------------------


def test_a_call_gives_back_what_the_engine_gives_or_raises(hall: Hall) -> None:
    async def work(session: Session) -> None:
        found = await session.run(session.engine.dossier, "a")
        assert found.entity.id == "a"
        with pytest.raises(UnknownEntity):
            await session.run(session.engine.dossier, "nobody")
        with pytest.raises(RuntimeError, match="StopIteration"):
            await session.run(lambda: next(iter(())))
        assert not session.is_busy

    hall.run(work)


def test_no_kind_of_call_waits_for_another_kind(hall: Hall) -> None:
    async def work(session: Session) -> None:
        free = threading.Event()
        blocked: list[Any] = [
            asyncio.create_task(session.run(free.wait, 60, **kind))
            for kind in ({"writes": True}, {"long": True})
            for _ in range(20)
        ]
        await asyncio.sleep(0)
        assert await session.run(lambda: 1) == 1
        free.set()
        assert all(await asyncio.gather(*blocked))

    hall.run(work)


def test_calls_wait_for_the_first_index(hall: Hall) -> None:
    async def work(session: Session) -> None:
        began = threading.Event()
        call = asyncio.create_task(session.run(began.set))
        for _ in range(20):
            await asyncio.sleep(0.005)
        assert not began.is_set()
        assert session.is_busy
        hall.first_index.set_result(None)
        await call
        assert began.is_set()

    hall.run(work, indexed=False)


def test_a_call_that_waits_for_the_first_index_can_be_interrupted(hall: Hall) -> None:
    async def work(session: Session) -> None:
        call = asyncio.create_task(session.run(lambda: 1, writes=True))
        await asyncio.sleep(0)
        session.end("The owner ends.")
        session.interrupt()
        with pytest.raises(Interrupted, match=r"^The owner ends\. Nothing") as told:
            await call
        assert "Nothing was done" in told.value.hint

    hall.run(work, indexed=False)


def test_a_cancelled_call_is_told_so_where_it_runs(hall: Hall) -> None:
    async def work(session: Session) -> None:
        cancel, began, ended = threading.Event(), threading.Event(), threading.Event()

        def slow() -> None:
            began.set()
            assert cancel.wait(60)
            ended.set()

        call = asyncio.create_task(session.run(slow, long=True, cancel=cancel))
        while not began.is_set():
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert ended.wait(60)
        assert not session.is_busy

    hall.run(work)


def test_a_cancelled_call_that_has_not_begun_never_begins(hall: Hall) -> None:
    async def work(session: Session) -> None:
        free, began = threading.Event(), threading.Event()
        holding: list[Any] = [asyncio.create_task(session.run(free.wait, 60, writes=True)) for _ in range(2)]
        await asyncio.sleep(0)
        call = asyncio.create_task(session.run(began.set, writes=True))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        free.set()
        await asyncio.gather(*holding)
        await session.run(lambda: None, writes=True)
        assert not began.is_set()

    hall.run(work)


@pytest.mark.parametrize(
    ("kind", "message", "hint"),
    [
        ({"writes": True}, "may or may not have taken effect", "Look before you send it again."),
        ({}, "The owner ends.", "Ask again."),
        ({"long": True}, "The owner ends.", "Ask again."),
    ],
    ids=["write", "read", "query"],
)
def test_an_interrupted_call_says_what_is_known_of_its_effect(
    hall: Hall, kind: dict[str, bool], message: str, hint: str
) -> None:
    async def work(session: Session) -> None:
        cancel, began = threading.Event(), threading.Event()

        def slow() -> None:
            began.set()
            assert cancel.wait(60)

        call = asyncio.create_task(session.run(slow, cancel=cancel, **kind))
        while not began.is_set():
            await asyncio.sleep(0.01)
        session.end("The owner ends.")
        session.interrupt()
        with pytest.raises(Interrupted) as told:
            await call
        assert message in told.value.message
        assert told.value.hint == hint
        assert cancel.wait(60), "what can be stopped is told to"
        with pytest.raises(Interrupted, match="Nothing was done"):
            await session.run(lambda: pytest.fail("it began"))

    hall.run(work)


def test_an_error_of_a_call_that_nobody_waits_for_is_no_trouble(hall: Hall) -> None:
    async def work(session: Session) -> None:
        began, free = threading.Event(), threading.Event()

        def fail() -> None:
            began.set()
            assert free.wait(60)
            raise UsageError("too late")

        call = asyncio.create_task(session.run(fail))
        while not began.is_set():
            await asyncio.sleep(0.01)
        call.cancel()
        await asyncio.wait([call])
        free.set()
        while not hall.threads.is_idle:
            await asyncio.sleep(0.01)
        assert await session.run(lambda: 1) == 1

    hall.run(work)
