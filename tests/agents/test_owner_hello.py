"""Hello: nobody gets in without the token, and whoever makes no sense is told so and hung up on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from synapse.agents import connection
from synapse.agents.owner import Owner
from synapse.agents.registry import Registry
from synapse.bridge.dialling import LONGEST_GREETING, Refused, dial

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc and SO_PEERCRED")


def refused(line: Any) -> Any:
    """The error that answers hello; fails unless the owner then hangs up."""
    answer = line.read()
    assert answer["ok"] is False
    assert line.read() is None
    return answer["error"]


# -- case 18: the token --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "token", [None, "", "x", "x" * 43, 7, True, ["x"], {"x": 1}, "\ud800", "ü"], ids=repr
)
@pytest.mark.parametrize("protocol", ["mcp", "ops"])
def test_without_the_right_token_nobody_gets_in(
    owners: Any, shared: Owner, token: object, protocol: str
) -> None:
    error = refused(owners.greet(shared.discovery, token=token, protocol=protocol))
    assert error["kind"] == "refused"
    assert shared.discovery.token not in str(error)
    assert shared.attached() == ()


def test_part_of_the_token_is_not_enough(owners: Any, shared: Owner) -> None:
    token = shared.discovery.token
    for given in (token[:-1], token + " ", token.swapcase()):
        assert refused(owners.greet(shared.discovery, token=given))["kind"] == "refused"


def test_an_agents_token_does_not_open_the_socket(owners: Any, here: Owner, registry: Registry) -> None:
    token = registry.add("claude")
    assert refused(owners.greet(here.discovery, token=token))["kind"] == "refused"


def test_a_wrong_or_revoked_agents_token_is_refused_by_name(
    owners: Any, here: Owner, registry: Registry
) -> None:
    token = registry.add("claude")
    assert owners.greet(here.discovery, agent_token=token).read()["agent"] == {
        "name": "claude",
        "proven": True,
        "access": "read",
    }
    assert refused(owners.greet(here.discovery, agent_token=token + "x"))["kind"] == "agent-refused"
    assert refused(owners.greet(here.discovery, agent="claude"))["kind"] == "agent-refused"
    registry.revoke("claude")
    error = refused(owners.greet(here.discovery, agent_token=token))
    assert (error["kind"], "claude" in error["message"]) == ("agent-refused", True)


def test_a_refusal_reaches_whoever_dials_as_an_exception_with_its_kind(shared: Owner) -> None:
    with pytest.raises(Refused, match="token") as told:
        dial(shared.discovery._replace(token="x"), "ops")
    assert told.value.kind == "refused"


# -- what makes no sense -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [b"\n", b"hello\n", b"[]\n", b'"x"\n', b"\xff\xfe\n", b"[" * 30_000 + b"\n", b"GET / HTTP/1.1\r\n"],
    ids=lambda line: repr(line[:20]),
)
def test_a_hello_that_is_no_json_object_is_refused(owners: Any, shared: Owner, line: bytes) -> None:
    stranger = owners.dial(shared.discovery)
    stranger.send(line)
    assert refused(stranger)["kind"] == "usage"


@pytest.mark.parametrize(
    ("hello", "about"),
    [
        ({"protocol": "http"}, "protocol"),
        ({"protocol": None}, "protocol"),
        ({"agent": 7}, "agent"),
        ({"agent_token": ["x"]}, "agent_token"),
        ({"protocol": "ops", "agent": "claude"}, "ops"),
        ({"agent": "a\nb\0"}, "name"),
        ({"agent": "x" * 1000}, "name"),
        ({"agent": "\ud800"}, "name"),
    ],
    ids=str,
)
def test_a_hello_with_a_wrong_value_is_refused_by_name(
    owners: Any, shared: Owner, hello: dict[str, object], about: str
) -> None:
    assert about in refused(owners.greet(shared.discovery, **hello))["message"]


def test_a_hello_without_an_end_is_refused_before_it_is_held(owners: Any, shared: Owner) -> None:
    stranger = owners.dial(shared.discovery)
    stranger.send(b"x" * (LONGEST_GREETING + 1))
    assert "64 KiB" in refused(stranger)["message"]


def test_who_never_says_hello_is_hung_up_on(
    owners: Any, here: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert connection.PATIENCE == 5.0
    monkeypatch.setattr(connection, "PATIENCE", 0.3)
    silent, slow = owners.dial(here.discovery), owners.dial(here.discovery)
    slow.send(b'{"token": "')
    assert "hello" in refused(silent)["message"]
    assert "hello" in refused(slow)["message"]


def test_who_hangs_up_before_hello_leaves_no_trace(owners: Any, shared: Owner) -> None:
    for said in (b"", b'{"tok'):
        stranger = owners.dial(shared.discovery)
        stranger.send(said)
        stranger.close()
    assert owners.ops(shared.discovery).ask("status")["notes"] == 2


def test_the_owner_says_who_it_is_and_what_it_found(owners: Any, here: Owner, small: Path) -> None:
    greeting = owners.ops(here.discovery).greeting
    assert greeting == {
        "ok": True,
        "version": here.discovery.version,
        "pid": os.getpid(),
        "role": "headless",
        "vault": str(small.resolve()),
        "warnings": [],
    }


def test_an_agent_without_a_name_is_shown_as_unnamed_and_may_only_read(owners: Any, shared: Owner) -> None:
    told = owners.greet(shared.discovery).read()["agent"]
    assert told == {"name": "unnamed agent", "proven": False, "access": "read"}


# -- another user --------------------------------------------------------------------------------

STRANGER = """
import json, os, socket, sys
folder, name, token = sys.argv[1:]
os.chdir(folder)
os.seteuid(65534)
line = socket.socket(socket.AF_UNIX)
line.connect(name)
try:
    line.sendall(json.dumps({"token": token, "protocol": "ops", "pid": 1}).encode() + b"\\n")
except BrokenPipeError:
    pass  # refused before it said anything
print(line.makefile().read())
"""


@linux
def test_another_user_is_refused_although_it_has_the_token(here: Owner) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    place = Path(str(here.discovery.socket))
    # What a careless person could do to the socket: everybody may reach it.
    place.parent.chmod(0o711)
    place.chmod(0o666)
    done = subprocess.run(
        [sys.executable, "-c", STRANGER, str(place.parent), place.name, here.discovery.token],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert '"kind": "refused"' in done.stdout
    assert '"ok": true' not in done.stdout


@linux
def test_the_pid_that_is_shown_is_the_systems_not_the_one_that_was_said(owners: Any, here: Owner) -> None:
    line = owners.greet(here.discovery, pid=1)
    assert line.read()["ok"] is True
    assert [one.pid for one in here.attached()] == [os.getpid()]
