"""`synapse agents`: what gives rights asks a person at a terminal; what takes them does not."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from synapse.agents.registry import Registry

Command = Callable[..., Any]


def at_a_terminal(*arguments: str, typed: str) -> tuple[int, str]:
    """Runs a command with a real terminal as its stdin; returns status and stdout."""
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "synapse", "agents", *arguments],
            stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        os.write(ours, typed.encode() + b"\n")
        out, _ = process.communicate(timeout=60)
        return process.returncode, out.decode()
    finally:
        os.close(ours)
        os.close(theirs)


def test_nobody_is_listed_at_first_and_then_who_came(process: Command) -> None:
    assert "mcp-config" in process("agents", "list").out
    assert process("agents", "list", "--json").json == []
    Registry().identify("claude", None)
    told = process("agents", "list")
    assert told.status == 0
    assert "claude" in told.out and "may read" in told.out and "name only" in told.out
    (agent,) = process("agents", "list", "--json").json
    assert agent["name"] == "claude" and agent["access"] == "read" and agent["has_token"] is False


@pytest.mark.parametrize("action", ["add", "allow", "resume"])
def test_what_gives_rights_is_refused_where_no_person_can_type(process: Command, action: str) -> None:
    Registry().identify("claude", None)
    told = process("agents", action, "claude")
    assert told.status == 2
    assert "terminal" in told.err
    assert Registry().access("claude") == "read"
    assert not Registry().known()[0].has_token


def test_a_person_allows_an_agent_by_typing_its_name() -> None:
    Registry().identify("claude", None)
    status, _ = at_a_terminal("allow", "claude", typed="yes")
    assert (status, Registry().access("claude")) == (2, "read")
    status, out = at_a_terminal("allow", "claude", typed="claude")
    assert (status, Registry().access("claude")) == (0, "write")
    assert out == "claude: may write.\n"


def test_a_token_is_shown_once_and_works() -> None:
    status, out = at_a_terminal("add", "codex", typed="codex")
    assert status == 0
    (token,) = [word for word in out.split() if word.startswith("syn_")]
    assert Registry().identify(None, token).name == "codex"
    assert "SYNAPSE_AGENT_TOKEN" in out


def test_pause_and_revoke_need_no_terminal(process: Command) -> None:
    registry = Registry()
    registry.identify("claude", None)
    registry.allow("claude")
    assert process("agents", "pause", "claude").out == "claude: paused.\n"
    assert process("agents", "revoke", "claude", "--json").json["access"] == "revoked"
    assert registry.access("claude") == "revoked"


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (("allow",), 2, "lacks NAME"),
        (("list", "claude"), 2, "takes no name"),
        (("revoke", "nobody"), 1, "There is no agent"),
        (("remove", "claude"), 2, "cannot be 'remove'"),
    ],
)
def test_wrong_usage_says_what_is_wrong(
    process: Command, arguments: tuple[str, ...], status: int, told: str
) -> None:
    answer = process("agents", *arguments)
    assert answer.status == status
    assert told in answer.err
