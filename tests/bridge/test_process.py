"""The bridge as a process: what it writes, what it loads, and when it ends."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

# What tests/bridge/conftest.py gives.
StartBridge = StartOwner = Any

COMMAND = [sys.executable, "-P", "-m", "synapse", "mcp"]
SOON = 2.0 + 2.0
"""The two seconds in which a bridge has to be gone, and as many for a busy machine."""


def lines(messages: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


@pytest.fixture
def session(client: dict[str, Any]) -> bytes:
    """A short session as bytes."""
    return lines(
        [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        ]
    )


def run(vault: Path, given: bytes, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, "--vault", str(vault)],
        input=given,
        capture_output=True,
        env={**os.environ, **environment},
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_every_byte_of_stdout_is_part_of_a_frame(vault: Path, session: bytes, unbuffered: str) -> None:
    """Also where something prints while modules load, from a thread, and at the interpreter's exit."""
    noisy = f"""
import atexit, os, sys, threading
sys.argv = ["synapse", "mcp", "--vault", {str(vault)!r}]
import synapse.bridge.catalogue as catalogue
def listed(self, method, *, modern, known=catalogue.Catalogue.listed):
    print("noise of a handler")
    os.write(1, b"noise of a library\\n")
    os.system("echo noise of a child")
    return known(self, method, modern=modern)
catalogue.Catalogue.listed = listed
atexit.register(print, "noise at exit")
class Late:
    def __del__(self): print("noise of a destructor")
late = Late()
from synapse.cli import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", noisy],
        input=session + b"nonsense\n",
        capture_output=True,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        timeout=60,
        check=False,
    )
    assert done.stdout.endswith(b"\n")
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2, None]
    if unbuffered:  # else it is still in a buffer that nobody writes out
        assert b"noise of a handler" in done.stderr
    assert b"noise of a child" in done.stderr
    assert done.returncode == 0


def test_a_client_that_sends_and_hangs_up_is_answered(
    vault: Path, session: bytes, stand_in: StartOwner
) -> None:
    owner = stand_in()
    call = {
        "jsonrpc": "2.0",
        "id": 3,
        "method": "tools/call",
        "params": {"name": "echo", "arguments": {"a": 1}},
    }
    # Without a newline at the end, as `printf` gives it.
    done = run(vault, (session + lines([call])).rstrip(b"\n"))
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2, 3]
    assert json.loads(done.stdout.splitlines()[-1])["result"] == {"a": 1}
    assert len(owner.calls("echo")) == 1
    assert done.returncode == 0


def test_a_call_that_outlasts_the_host_is_answered_with_doubt(
    vault: Path, session: bytes, stand_in: StartOwner
) -> None:
    stand_in()
    call = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "wait"}}
    start = time.monotonic()
    done = run(vault, session + lines([call]))
    assert time.monotonic() - start < SOON
    assert "may or may not" in json.loads(done.stdout.splitlines()[-1])["error"]["message"]


def test_nothing_on_stdin_is_the_end(vault: Path) -> None:
    with open(os.devnull, "rb") as nothing:
        done = subprocess.run(
            [*COMMAND, "--vault", str(vault)], stdin=nothing, capture_output=True, timeout=SOON, check=False
        )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_session_in_a_file_is_answered(vault: Path, session: bytes, tmp_path: Path) -> None:
    (tmp_path / "session").write_bytes(session)
    with open(tmp_path / "session", "rb") as file:
        done = subprocess.run(
            [*COMMAND, "--vault", str(vault)], stdin=file, capture_output=True, timeout=60, check=False
        )
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2]


@pytest.mark.skipif(os.name != "posix", reason="redirections of a POSIX shell")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_standard_stream_is_survived(vault: Path, session: bytes, closed: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *COMMAND, "--vault", str(vault)],
        input=session,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    if closed == "2>&-":
        assert len(done.stdout.splitlines()) == 2
    else:
        assert done.stdout == b""


def test_stdin_at_its_end_ends_the_bridge(
    start_bridge: StartBridge, vault: Path, stand_in: StartOwner
) -> None:
    stand_in()
    bridge = start_bridge("--vault", vault)
    bridge.shake_hands()
    bridge.hang_up()
    assert bridge.gone(SOON) == 0


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_ends_it_at_once_without_a_word(start_bridge: StartBridge, vault: Path, name: str) -> None:
    bridge = start_bridge("--vault", vault)
    bridge.shake_hands()
    bridge.process.send_signal(getattr(signal, name))
    assert bridge.gone(SOON) == -getattr(signal, name)
    assert bridge.err == b""


def test_a_host_that_closes_stdout_ends_it(start_bridge: StartBridge, vault: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "--vault", str(vault)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        assert process.stdin and process.stdout and process.stderr
        process.stdout.close()
        process.stdin.write(b"nonsense\n")
        process.stdin.flush()
        assert process.wait(SOON) == 0
        assert process.stderr.read() == b""


def test_a_host_that_stops_reading_and_hangs_up_ends_it(vault: Path, session: bytes) -> None:
    process = subprocess.Popen(
        [*COMMAND, "--vault", str(vault)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with process:
        assert process.stdin and process.stdout
        process.stdin.write(session)
        process.stdin.write(
            lines([{"jsonrpc": "2.0", "id": id, "method": "tools/list"} for id in range(500)])
        )
        process.stdin.close()
        # Its pipe is full, and nobody takes anything out.
        assert process.wait(SOON) == 0


# A parent that starts bridges, prints their pids and waits; the bridges' stdin is held open by others.
PARENT = """
import os, subprocess, sys, time
count, held = int(sys.argv[1]), int(sys.argv[2])
for _ in range(count):
    child = subprocess.Popen(sys.argv[3:], stdin=held, stdout=subprocess.DEVNULL)
    print(child.pid, flush=True)
time.sleep(60)
"""


def lives(pid: int) -> bool:
    """Whether a process runs; one that only waits for its parent to hear of its end does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_its_parent_killed_ends_it_and_none_of_fifty_is_left(vault: Path, until: Any) -> None:
    """stdin stays open: another process holds the other end."""
    reading, writing = os.pipe()
    try:
        parent = subprocess.Popen(
            [sys.executable, "-c", PARENT, "50", str(reading), *COMMAND, "--vault", str(vault)],
            stdout=subprocess.PIPE,
            pass_fds=[reading],
        )
        with parent:
            assert parent.stdout
            pids = [int(parent.stdout.readline()) for _ in range(50)]

            def served() -> bool:
                """All read from stdin, so all looked at who their parent is."""
                return all(os.path.exists(f"/proc/{pid}/fd/3") for pid in pids)

            until(served, "fifty bridges", 60)
            parent.kill()
        until(lambda: not any(map(lives, pids)), "the end of the bridges", SOON + 6)
    finally:
        os.close(reading)
        os.close(writing)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a terminal of Linux")
def test_a_terminal_that_goes_away_ends_it(vault: Path) -> None:
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "--vault", str(vault)], stdin=slave, stdout=subprocess.DEVNULL, start_new_session=True
    )
    os.close(slave)
    os.close(master)
    try:
        assert process.wait(SOON) == 0
    finally:
        process.kill()
        process.wait()


LOADED = """
import sys
from synapse.bridge import stdio
stdio.end = lambda status: (sys.stderr.write("loaded " + " ".join(sys.modules) + "\\n"), known(status))
known = __import__("os")._exit
from synapse.cli import main
main(["mcp", "--vault", sys.argv[1]])
"""


def test_it_loads_the_standard_library_and_little_of_that(vault: Path, session: bytes) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, str(vault)],
        input=session,
        capture_output=True,
        timeout=60,
        check=False,
    )
    last = done.stderr.decode().splitlines()[-1]
    assert last.startswith("loaded "), done.stderr
    modules = set(last.split()[1:]) - {"__main__"}
    ours = {name for name in modules if name.partition(".")[0] == "synapse"}
    assert all(name.startswith("synapse.bridge") for name in ours - {"synapse", "synapse.cli"}), ours
    top = {name.partition(".")[0] for name in modules}
    # What site's .pth files bring is the installation's.
    assert top <= set(sys.stdlib_module_names) | {"synapse", "_distutils_hack", "sitecustomize"}, top
    assert not {"argparse", "asyncio", "subprocess", "logging", "ssl", "inspect", "dataclasses"} & modules


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_it_stays_small(start_bridge: StartBridge, vault: Path) -> None:
    bridge = start_bridge("--vault", vault)
    bridge.shake_hands()
    status = Path(f"/proc/{bridge.process.pid}/status").read_text(encoding="ascii")
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    assert peak < 20 * 1024, f"{peak} kB"
    threads = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("Threads"))
    assert threads <= 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--vault"], "--vault"),
        (["--valt", "x"], "Did you mean --vault?"),
        (["--agent", "--vault", "x"], "--agent"),
        (["here"], "here"),
    ],
)
def test_wrong_words_are_a_usage_error(words: list[str], said: str) -> None:
    done = subprocess.run(
        [*COMMAND, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert said in done.stderr and len(done.stderr.splitlines()) == 1


def test_an_empty_home_is_as_good_as_none(vault: Path, session: bytes, tmp_path: Path) -> None:
    (tmp_path / "cwd" / "synapse").mkdir(parents=True)
    (tmp_path / "cwd" / "synapse" / "__init__.py").write_text("raise ImportError('not this one')", "utf-8")
    call = lines([{"jsonrpc": "2.0", "id": 3, "method": "resources/read", "params": {"uri": "x"}}])
    for environment in ({}, {"HOME": ""}):
        done = subprocess.run(
            [*COMMAND, "--vault", str(vault / "not there")],
            input=session + call,
            capture_output=True,
            env=environment,
            cwd=tmp_path / "cwd",
            timeout=60,
            check=False,
        )
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert [answer["id"] for answer in answers] == [1, 2, 3], done.stderr
        assert "There is no folder" in answers[-1]["error"]["message"]
