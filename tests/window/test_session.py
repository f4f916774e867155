"""Calls off the interface thread."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
import shiboken6
from PySide6.QtCore import QObject, QThread, Slot
from pytestqt.qtbot import QtBot

from synapse.engine.errors import InvalidQuery
from synapse.window.session import Runner, in_words


class Receiver(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.results: list[Any] = []
        self.errors: list[BaseException] = []
        self.threads: list[QThread] = []

    @Slot(object)
    def take(self, result: object) -> None:
        self.threads.append(QThread.currentThread())
        self.results.append(result)

    @Slot(object)
    def fail(self, error: BaseException) -> None:
        self.errors.append(error)


@pytest.fixture
def runner():  # type: ignore[no-untyped-def]
    with ThreadPoolExecutor(2) as pool:
        runner = Runner(pool)
        yield runner
        runner.close()


def test_a_result_arrives_on_the_interface_thread(runner: Runner, qtbot: QtBot) -> None:
    receiver = Receiver()
    runner.run(lambda x, *, y: x + y, 2, y=3, done=receiver.take)
    qtbot.waitUntil(lambda: bool(receiver.results))
    assert receiver.results == [5]
    assert receiver.threads == [receiver.thread()]
    assert runner.busy == 0


def test_an_error_goes_to_the_slot_that_takes_it_or_is_announced(runner: Runner, qtbot: QtBot) -> None:
    receiver = Receiver()

    def broken() -> None:
        raise InvalidQuery("A brace is missing.", "Close it.", line=3, column=1)

    runner.run(broken, done=receiver.take, failed=receiver.fail)
    qtbot.waitUntil(lambda: bool(receiver.errors))
    assert isinstance(receiver.errors[0], InvalidQuery)
    with qtbot.waitSignal(runner.problem) as caught:
        runner.run(broken, done=receiver.take)
    assert caught.args == ["Line 3: A brace is missing.", "Close it."]
    assert receiver.results == []


def test_results_for_a_destroyed_receiver_are_dropped(runner: Runner, qtbot: QtBot) -> None:
    gate = threading.Event()
    receiver = Receiver()
    task = runner.run(gate.wait, done=receiver.take)
    shiboken6.delete(receiver)
    gate.set()
    qtbot.waitUntil(lambda: task.finished)
    assert receiver.results == []


def test_a_cancelled_call_is_told_and_its_result_unwanted(runner: Runner, qtbot: QtBot) -> None:
    receiver = Receiver()
    stop = threading.Event()
    task = runner.run(stop.wait, done=receiver.take, failed=receiver.fail, stop=stop)
    task.cancel()
    assert stop.is_set()
    qtbot.waitUntil(lambda: runner.busy == 0)
    assert (receiver.results, receiver.errors) == ([], [])


def test_nothing_arrives_after_closing(qtbot: QtBot) -> None:
    class Later:
        def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            return future

    future: Future[Any] = Future()
    receiver = Receiver()
    runner = Runner(Later())
    runner.run(len, done=receiver.take)
    runner.close()
    future.set_running_or_notify_cancel()
    qtbot.wait(10)
    assert receiver.results == []


def test_any_error_is_said_in_words() -> None:
    assert in_words(ValueError("x"))[0] == "Something went wrong: x."
    assert "ValueError" in in_words(ValueError())[0]


def test_a_closed_runner_calls_nothing(qtbot: QtBot) -> None:
    with ThreadPoolExecutor(1) as pool:
        runner = Runner(pool)
        runner.close()
        receiver = Receiver()
        assert runner.run(len, "x", done=receiver.take).finished
        qtbot.wait(10)
    assert receiver.results == []
