"""`synapse serve` and `synapse open --headless`: one line, agents and commands are served, a clean end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from synapse.bridge import discovery, stopped
from synapse.bridge.calling import OpsConnection
from synapse.engine import open_vault

pytestmark = pytest.mark.skipif(os.name != "posix", reason="ends its children by signals")

PATIENCE = 60.0

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a command and lets it run; whatever still runs at the end is killed."""
    started: list[subprocess.Popen[str]] = []

    def call(*arguments: str | Path, **environment: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "synapse", *map(str, arguments)],
            env={**os.environ, "COLUMNS": "80", **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        started.append(process)
        return process

    yield call
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def asked(vault: Path, op: str, **arguments: object) -> Any:
    """What the vault's owner answers."""
    owner = discovery.read(vault)
    assert owner is not None
    with OpsConnection(owner) as connection:
        return connection.call(op, arguments)


def until(holds: Callable[[], object], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"{what} did not happen in {PATIENCE:g} s"
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_says_one_line_serves_and_ends_cleanly_when_told_to(
    start: Start, vault: Path, number: signal.Signals
) -> None:
    process = start("serve", vault)
    assert first_line(process) == f"Serving {vault} to agents. Ctrl+C ends it.\n"
    assert asked(vault, "status")["notes"] == 44
    process.send_signal(number)
    assert process.wait(PATIENCE) == 0
    assert process.communicate() == ("", "")
    assert discovery.read(vault) is None
    with open_vault(vault) as engine:
        assert not engine.is_new


def test_json_says_where_it_listens_and_in_which_process(start: Start, vault: Path) -> None:
    process = start("serve", vault, "--json")
    told = json.loads(first_line(process))
    owner = discovery.read(vault)
    assert owner is not None
    assert told == {"socket": owner.socket, "pid": process.pid}


def test_it_follows_the_vault(start: Start, vault: Path) -> None:
    first_line(start("serve", vault))
    asked(vault, "status")

    def is_known() -> bool:
        # More than once: what is written before the watching began is not told.
        (vault / "new.md").write_text(f"# New\n\n[[modules/payments]] {time.monotonic()}\n", "utf-8")
        told = asked(vault, "describe", terms=["<vault:/new>"])
        return told[0] is not None and told[0]["label"] == "New"

    until(is_known, "indexing the new note")


def test_a_person_is_told_who_has_the_vault(start: Start, process: Any, vault: Path) -> None:
    first = start("serve", vault)
    first_line(first)
    second = process("serve", vault)
    assert second.status == 1
    assert second.out == ""
    assert f"is open in a server without a window (process {first.pid})" in second.err
    assert second.err.count("\n") == 1
    asked(vault, "status")
    json_too = process("serve", vault, "--json")
    assert json_too.json["error"]["kind"] == "vault-locked"


def test_serving_it_again_lets_bridges_start_owners_again(start: Start, vault: Path) -> None:
    stopped.mark(vault)
    first_line(start("serve", vault))
    assert not stopped.is_stopped(vault)


@pytest.mark.parametrize("what", ["missing", "a file"])
def test_what_is_no_folder_is_refused(process: Any, tmp_path: Path, what: str) -> None:
    place = tmp_path / "place"
    if what == "a file":
        place.write_text("", "utf-8")
    for more in ([], ["--detached"]):
        answer = process("serve", place, *more)
        assert (answer.status, answer.out) == (1, "")
        assert str(place) in answer.err


def test_a_vault_that_seems_to_have_vanished_is_served_as_it_was(start: Start, vault: Path) -> None:
    """Case 22, for the owner: nothing is deleted because most files are gone for a moment."""
    with open_vault(vault) as engine:
        engine.index()
    aside = vault.with_name("aside")
    vault.rename(aside)
    vault.mkdir()
    process = start("serve", vault)
    first_line(process)
    owner = discovery.read(vault)
    assert owner is not None
    with OpsConnection(owner) as connection:
        (told,) = connection.call("describe", {"terms": ["<vault:/modules/payments>"]})
        assert told["label"] == "Payments"
    process.terminate()
    assert process.wait(PATIENCE) == 0
    assert process.communicate()[1].startswith("synapse: ")
    vault.rmdir()
    aside.rename(vault)
    with open_vault(vault) as engine:
        assert engine.status().notes == 44


def test_open_without_a_window_serves_agents_too(start: Start, vault: Path) -> None:
    process = start("open", vault, "--headless")
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("Following"):
            break
    assert asked(vault, "status")["notes"] == 44
    owner = discovery.read(vault)
    assert owner is not None
    assert (owner.pid, owner.role) == (process.pid, "headless")
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0
    assert process.communicate()[1] == ""


def test_it_ends_within_seconds_also_in_the_middle_of_an_index(start: Start, tmp_path: Path) -> None:
    vault = tmp_path / "large"
    vault.mkdir()
    for number in range(1500):
        (vault / f"n{number}.md").write_text(f"# N{number}\n\nknows:: [[n{number + 1}]]\n" * 20, "utf-8")
    process = start("serve", vault)
    first_line(process)
    process.terminate()
    began = time.monotonic()
    assert process.wait(PATIENCE) == 0
    assert time.monotonic() - began < 15, "five seconds, on a machine that has nothing else to do"
    assert discovery.read(vault) is None
    with open_vault(vault) as engine:
        engine.index()
        assert engine.status().notes == 1500
        assert engine.check().ok
