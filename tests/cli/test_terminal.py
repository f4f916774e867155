"""Whatever standard output is, a command answers or says in one line why not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse.cli.progress import ProgressBar
from synapse.cli.terminal import visible

Command = Callable[..., Any]

EVERYTHING = "SELECT * { ?s ?p ?o }"
ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"
posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes and signals of POSIX")


def start(*arguments: str | Path, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-m", "synapse", *map(str, arguments)], text=True, **options)


def through_shell(redirection: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", f'"$@" {redirection}', "sh", sys.executable, "-m", "synapse", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_terminal_that_is_not_utf8_gets_plain_signs(process: Command, vault: Path) -> None:
    found = process("impact", vault, "modules/payments", PYTHONIOENCODING="ascii", LC_ALL="C")
    assert (found.status, found.err) == (0, "")
    assert "  3  modules/mobile-app -> modules/storefront -> modules/checkout\n" in found.out
    assert found.out.isascii()


@pytest.mark.parametrize(
    "arguments",
    [
        ["search", "payment"],
        ["query", "SELECT ?l { ?s rdfs:label ?l }"],
        ["dossier", "nøwhere"],
    ],
)
def test_json_says_the_same_in_any_encoding(process: Command, vault: Path, arguments: list[str]) -> None:
    (vault / "ünïcode.md").write_text("# Ünïcode → payment 支払い 💳\n", encoding="utf-8")
    name, *rest = arguments
    wide = process(name, vault, *rest, "--json")
    narrow = process(name, vault, *rest, "--json", PYTHONIOENCODING="ascii")
    assert narrow.out.isascii() and not wide.out.isascii()
    assert (narrow.status, narrow.json) == (wide.status, wide.json)


def test_what_notes_say_cannot_steer_the_terminal(synapse: Command, vault: Path) -> None:
    (vault / "trap.md").write_bytes("# a\x1b[2J b\u202ec\n\nsetting \x9b31m:: \x1b]0;x\x07\n".encode())
    for command in (["dossier", "trap"], ["search", "setting"], ["query", EVERYTHING], ["digest"]):
        found = synapse(command[0], vault, *command[1:])
        assert found.status == 0
        assert not set(found.out) & set("\x1b\x9b\x07\u202e")
    assert "a\\x1b[2J b\\u202ec" in synapse("dossier", vault, "trap").out


@given(st.text())
def test_text_made_visible_holds_no_control_sign_but_line_feeds(text: str) -> None:
    shown = visible(text)
    assert all(sign == "\n" or sign.isprintable() or ord(sign) >= 0xA0 for sign in shown)
    assert shown.count("\n") == text.count("\n")
    assert visible(shown) == shown


@posix
def test_a_reader_that_has_enough_ends_the_command_quietly(vault: Path) -> None:
    with start("query", vault, EVERYTHING, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None and child.stderr is not None
        assert child.stdout.readline().startswith("?o")
        child.stdout.close()
        assert child.stderr.read() == ""
        assert child.wait(30) == 0


@posix
@pytest.mark.parametrize("option", ["--format=table", "--json"])
def test_a_full_disk_under_the_output_is_said_in_one_line(vault: Path, option: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    found = through_shell("> /dev/full", "query", vault, EVERYTHING, option)
    assert found.returncode == 1
    assert found.stderr == "synapse: The answer could not be written: No space left on device.\n"


@posix
def test_closed_streams_are_no_fault(vault: Path) -> None:
    assert (done := through_shell(">&-", "status", vault)).returncode == 0, done.stderr
    assert done.stderr == ""
    assert through_shell("2>&-", "status", vault / "nowhere").returncode == 1


@posix
def test_control_c_ends_a_query_that_gives_no_row(vault: Path, process: Command) -> None:
    process("index", vault)
    with start("query", vault, ENDLESS, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        time.sleep(2)  # by then the query is under way; were it not, the answer would be the same
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=20)
        assert (child.returncode, out, err) == (1, "", "synapse: stopped.\n")
    assert process("check", vault).status == 0


def test_the_time_limit_holds_for_a_query_that_gives_no_row(process: Command, vault: Path) -> None:
    found = process("query", vault, ENDLESS, "--timeout", "0.5", "--json")
    assert found.status == 1
    assert found.json["error"]["kind"] == "stopped"
    assert found.err == "synapse: The query took more than 0.5 s. Narrow it or allow more time.\n"
    assert process("query", vault, "ASK {}").out == "yes\n", "the vault is free again"


def test_the_bar_is_drawn_in_place_and_wiped(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(100))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    with ProgressBar(enabled=True) as bar:
        bar(0, 0)
        bar(16, 64)
        bar(1064, 1064)
    drawn = capsys.readouterr().err
    assert drawn.startswith("\r[##########..............................] 16 of 64 files\r[####")
    assert "] 1,064 of 1,064 files" in drawn
    assert drawn.endswith("\r\x1b[K")
    with ProgressBar(enabled=False) as bar:
        bar(1, 2)
    assert capsys.readouterr().err == ""


@posix
def test_a_terminal_shows_progress_and_a_pipe_does_not(tmp_path: Path) -> None:
    import pty

    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(2000):
        (folder / f"{number}.md").write_text(f"# {number}\n\n[[{number + 1}]] #t\n", encoding="utf-8")
    seen = b""
    master, slave = pty.openpty()
    with start("index", folder, stdout=subprocess.PIPE, stderr=slave) as child:
        os.close(slave)
        while True:
            try:
                piece = os.read(master, 4096)
            except OSError:  # Linux says EIO when the other side has closed
                break
            if not piece:
                break
            seen += piece
        assert child.stdout is not None
        out = child.stdout.read()
        assert child.wait(60) == 0
    os.close(master)
    assert b" of 2,000 files" in seen and seen.endswith(b"\r\x1b[K")
    assert out.startswith("2,000 notes added\n")
    piped = through_shell("", "rebuild", folder)
    assert piped.stderr == ""
