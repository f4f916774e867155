"""One process owns a vault and is found; it can be killed, raced with and asked for the vault."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from synapse.agents import listening
from synapse.agents.owner import Owner
from synapse.agents.taking_over import open_taking_over, take_over
from synapse.bridge import discovery, places, stopped
from synapse.bridge.dialling import dial
from synapse.bridge.discovery import Discovery
from synapse.engine import open_vault
from synapse.engine.errors import VaultLocked
from synapse.engine.vaults import data_folder

posix = pytest.mark.skipif(os.name != "posix", reason="signals and local sockets")

HOLD = """
import sys, time
from synapse.engine import open_vault
with open_vault(sys.argv[1]):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def hold(vault: Path, seconds: float) -> subprocess.Popen[str]:
    """A process that has the vault open and is no owner, as a long command is."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(vault), str(seconds)], stdout=subprocess.PIPE, encoding="utf-8"
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


# -- being found ---------------------------------------------------------------------------------


@posix
def test_the_owner_is_written_down_for_this_user_alone_and_taken_away_at_the_end(
    owners: Any, small: Path
) -> None:
    process = owners.serve(small)
    found = discovery.read(small)
    assert found is not None
    assert (found.pid, found.role, found.vault) == (process.pid, "headless", str(small.resolve()))
    path, socket_path = Path(discovery.discovery_path(small)), Path(found.socket or "")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(socket_path.stat().st_mode) == 0o600
    assert (
        stat.S_IMODE(path.parent.stat().st_mode) == stat.S_IMODE(socket_path.parent.stat().st_mode) == 0o700
    )
    assert socket_path.name == places.vault_key(small)
    process.send_signal(signal.SIGTERM)
    assert process.wait(owners.patience) == 0
    assert not path.exists()
    assert not socket_path.exists()


@posix
def test_a_socket_path_that_is_too_long_lies_in_a_private_temporary_folder(
    owners: Any, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("long-" * 20)
    long.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(long))
    monkeypatch.setenv("XDG_DATA_HOME", str(long))
    process = owners.serve(small)
    found = owners.of(small, process)
    assert len(os.fsencode(found.socket)) <= listening.LONGEST_PATH
    folder = Path(found.socket).parent
    assert not folder.is_relative_to(long)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert owners.ops(small).ask("status")["notes"] == 2
    process.terminate()
    assert process.wait(owners.patience) == 0
    assert not folder.exists()


@posix
def test_a_killed_owner_leaves_a_file_and_a_socket_that_the_next_one_replaces(
    owners: Any, small: Path
) -> None:
    first = owners.serve(small)
    left = owners.of(small, first)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    assert Path(left.socket).exists()
    assert discovery.read(small) == left
    assert not discovery.may_live(left)
    second = owners.serve(small)
    found = owners.of(small, second)
    assert found.token != left.token
    assert owners.ops(small).ask("status")["notes"] == 2


@posix
def test_a_killed_owners_temporary_folder_is_swept(
    owners: Any, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("long-" * 20)
    long.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(long))
    monkeypatch.setenv("XDG_DATA_HOME", str(long))
    first = owners.serve(small)
    left = owners.of(small, first)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    owners.serve(small)
    assert not Path(left.socket).parent.exists()


# -- case 16: discovery files that are not as they should be -------------------------------------


@posix
@pytest.mark.parametrize("text", ["", "{", '{"vault": "', "[]", '{"pid": "x"}', "\0\0\0"])
def test_a_half_written_discovery_file_is_replaced(owners: Any, small: Path, text: str) -> None:
    path = Path(discovery.discovery_path(small))
    path.parent.mkdir(parents=True)
    path.write_text(text, "utf-8")
    assert discovery.read(small) is None
    process = owners.serve(small)
    assert owners.of(small, process) is not None
    assert owners.ops(small).ask("status")["notes"] == 2


@posix
def test_a_file_that_names_another_program_is_replaced_and_the_program_left_alone(
    owners: Any, small: Path, tmp_path: Path
) -> None:
    """A pid that another program has now, and a socket on which it listens: neither is touched."""
    place = tmp_path / places.vault_key(small)
    with socket.socket(socket.AF_UNIX) as other, hold_nothing() as program:
        other.bind(os.path.relpath(place))
        other.listen()
        discovery.write(Discovery(str(small), program.pid, "1", "stale", "0.1.0", socket=str(place)))
        process = owners.serve(small)
        assert owners.of(small, process) is not None
        assert program.poll() is None
        assert place.exists()
        program.kill()


def hold_nothing() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])


@posix
def test_a_file_of_a_newer_version_is_read_as_far_as_it_is_known_and_replaced(
    owners: Any, small: Path
) -> None:
    discovery.write(Discovery(str(small), 2**22 + 1, "1", "stale", "9.0", socket="/nowhere", schema=9))
    path = Path(discovery.discovery_path(small))
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "news": [1]}), "utf-8")
    found = discovery.read(small)
    assert found is not None
    assert (found.version, found.schema) == ("9.0", 9)
    process = owners.serve(small)
    assert owners.of(small, process) is not None
    assert json.loads(path.read_text("utf-8"))["schema"] == discovery.SCHEMA


@posix
def test_a_live_socket_of_an_owner_with_other_data_folders_is_left_alone(
    owners: Any, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = Path(os.path.realpath(os.environ["XDG_RUNTIME_DIR"]))
    if len(str(short)) > 70:
        pytest.skip("needs a short runtime folder")
    first = owners.serve(small)
    one = owners.of(small, first)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "other"))
    second = owners.serve(small)
    two = owners.of(small, second)
    assert one.socket != two.socket
    assert owners.ops(small).greeting["pid"] == second.pid
    connection, greeting = dial(one, "ops")
    connection.close()
    assert greeting["pid"] == first.pid


def test_an_owner_listens_on_a_port_where_there_are_no_local_sockets(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "HAS_LOCAL_SOCKETS", False)
    with open_vault(small) as engine:
        engine.index()
        owner = Owner(engine, "headless")
        try:
            found = discovery.read(small)
            assert found is not None
            assert found.socket is None
            connection, greeting = dial(found, "ops")
            with connection:
                assert greeting["vault"] == str(engine.vault)
                assert connection.getpeername() == ("127.0.0.1", found.port)
        finally:
            owner.close()
        assert discovery.read(small) is None


# -- races ---------------------------------------------------------------------------------------


@posix
def test_of_two_that_start_at_once_one_serves_and_the_loser_is_silent(owners: Any, small: Path) -> None:
    started = [owners.start(small, "--detached") for _ in range(4)]
    owners.until(lambda: sum(process.poll() is not None for process in started) == 3, "three losers")
    winner = owners.until(lambda: owners.of(small), "an owner")
    for process in started:
        if process.pid == winner.pid:
            assert process.poll() is None
        else:
            assert (process.wait(), *process.communicate()) == (0, "", "")
    assert owners.ops(small).greeting["pid"] == winner.pid


@posix
def test_an_owner_that_nobody_looks_at_ends_some_time_after_its_last_agent(owners: Any, small: Path) -> None:
    process = owners.serve(small, "--detached", SYNAPSE_IDLE_SECONDS="1")
    line = owners.ops(small)
    with pytest.raises(subprocess.TimeoutExpired):  # somebody is attached
        process.wait(2.5)
    assert line.ask("status")["notes"] == 2
    line.close()
    assert process.wait(owners.patience) == 0
    assert process.communicate() == ("", "")
    assert discovery.read(small) is None


@posix
def test_a_vault_that_a_person_stopped_is_not_served_in_the_background(owners: Any, small: Path) -> None:
    stopped.mark(small)
    process = owners.start(small, "--detached")
    assert (process.wait(owners.patience), *process.communicate()) == (0, "", "")
    assert stopped.is_stopped(small)


# -- handing over --------------------------------------------------------------------------------


@posix
def test_a_headless_owner_hands_over_and_its_process_ends(owners: Any, small: Path) -> None:
    process = owners.serve(small)
    take_over(small)
    with open_vault(small) as engine:
        assert process.wait(owners.patience) == 0
        assert len(engine.notes()) == 2
    assert discovery.read(small) is None


def test_taking_over_what_nobody_holds_does_nothing(small: Path) -> None:
    take_over(small)
    assert not data_folder(small).exists()
    open_vault(small).close()
    take_over(small)
    open_vault(small).close()


def test_a_window_does_not_hand_over_and_says_so(small: Path) -> None:
    with open_vault(small, role="Synapse's window") as engine:
        owner = Owner(engine, "window", on_hand_over=lambda: pytest.fail("it handed over"))
        try:
            with pytest.raises(VaultLocked, match="Synapse's window"):
                take_over(small, timeout=0.5)
            connection, _ = dial(owner.discovery, "ops")
            with connection, connection.makefile("rb") as answers:
                connection.sendall(b'{"id": 1, "op": "hand-over"}\n')
                answer = json.loads(answers.readline())
            assert answer["error"]["kind"] == "vault-locked"
        finally:
            owner.close()


def test_a_command_that_holds_the_vault_for_a_moment_is_waited_for(small: Path) -> None:
    with hold(small, 1.0) as process:
        open_taking_over(small).close()
        process.wait()


def test_a_vault_that_stays_taken_is_refused_by_the_name_of_who_has_it(small: Path) -> None:
    with hold(small, 600) as process:
        with pytest.raises(VaultLocked, match=str(process.pid)):
            open_taking_over(small, timeout=0.3)
        process.kill()


@posix
def test_whoever_opens_gets_the_vault_also_while_others_keep_starting_owners(
    owners: Any, small: Path
) -> None:
    owners.serve(small, "--detached")
    end = threading.Event()

    def keep_starting() -> None:
        while not end.is_set():
            owners.start(small, "--detached").wait(owners.patience)

    with ThreadPoolExecutor(1) as pool:
        starting = pool.submit(keep_starting)
        try:
            engine = open_taking_over(small, timeout=30)
            engine.close()
        finally:
            end.set()
            owners.until(lambda: starting.done() or take_over(small), "the end of the last owner")


@posix
def test_a_closing_window_leaves_the_vault_to_an_owner_that_outlives_it(owners: Any, small: Path) -> None:
    code = "import sys; from synapse.agents.taking_over import serve_in_background as s; s(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", code, str(small)], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    found = owners.until(lambda: owners.of(small), "an owner in the background")
    try:
        assert os.getsid(found.pid) == found.pid
        assert owners.ops(small).ask("status")["notes"] == 2
    finally:
        take_over(small)
    owners.until(lambda: not discovery.may_live(found), "its end")


@posix
def test_calls_that_run_when_the_vault_is_handed_over_are_all_answered(owners: Any, sample: Path) -> None:
    process = owners.serve(sample)
    asking, other = owners.ops(sample), owners.ops(sample)
    # It cannot end by itself within its minute.
    slow = "SELECT (count(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . FILTER(?a != ?i) }"
    waiting = {asking.begin("query", sparql=slow, timeout=60) for _ in range(3)}
    waiting |= {asking.begin("dossier", entity="people/ada") for _ in range(20)}
    waiting |= {
        asking.begin(
            "assert", subject="people/ada", predicate="knows", object=f"people/x{n}", source="s", reason="r"
        )
        for n in range(20)
    }
    assert other.ask("hand-over") == {"ok": True}
    answers = {}
    while (line := asking.read()) is not None:
        if "progress" not in line:
            assert line["id"] not in answers
            answers[line["id"]] = line
    assert answers.keys() == waiting
    told = [answer["error"] for answer in answers.values() if "error" in answer]
    assert {error["kind"] for error in told} <= {"interrupted", "not-done", "stopped"}
    assert len(told) >= 3
    assert process.wait(owners.patience) == 0
    # What was answered as done is there; what was not may be.
    done = sum("result" in answer and "assertion" in answer["result"] for answer in answers.values())
    with open_taking_over(sample) as engine:
        engine.index()
        stated = [fact for fact in engine.dossier("people/ada").outgoing if fact.object.label.startswith("x")]
        assert done <= len(stated) <= 20
