"""A new connection: whose process it is, its hello, and what is answered to it."""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import socket
import struct
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from synapse.agents.session import Protocol
from synapse.bridge.dialling import ENDING, LONGEST_GREETING, MOST, NOT_DONE
from synapse.engine.errors import SynapseError, UsageError

PATIENCE = 5.0
"""Seconds that a connection may take to say hello."""

_LINGER = 0.5
"""Seconds that somebody who was refused has to read why."""

_LAST_LOOK = 0.02
"""Seconds to wait for requests that are already in the socket."""

_CREDENTIALS = struct.Struct("3i")  # struct ucred of unix(7): pid, uid, gid


class Stranger(SynapseError):
    """Somebody who may not attach: without the token, or another user."""

    kind = "refused"


def ending() -> bytes:
    """The line that tells a bridge that its owner ends in order."""
    return json.dumps({"jsonrpc": "2.0", "method": ENDING}).encode("ascii") + b"\n"


async def give_back(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of MCP that came and were never read: they had no effect.

    For the end of an owner; what is still on its way then, the bridge sees as lost.
    """
    arrived = b""
    with suppress(TimeoutError, ConnectionError):
        while data := await asyncio.wait_for(reader.read(MOST), _LAST_LOOK):
            arrived += data
    for line in arrived.split(b"\n")[:-1]:
        try:
            message = json.loads(line)
        except ValueError:
            continue  # the bridge lets no such line through
        if isinstance(message, dict) and "method" in message and "id" in message:
            error = {"code": NOT_DONE, "message": "The owner of the vault ends. Nothing was done; ask again."}
            answer = {"jsonrpc": "2.0", "id": message["id"], "error": error}
            writer.write(json.dumps(answer).encode("ascii") + b"\n")


class HungUp(Exception):
    """The other side closed the connection before it said hello."""


@dataclass(frozen=True, slots=True)
class Hello:
    """What a connection said first. pid: as the system tells it where it does, else as it said."""

    protocol: Protocol
    pid: int
    agent: str | None = None
    agent_token: str | None = None


async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str) -> Hello:
    """Hear hello. Nothing after its line is taken from the reader.

    Raises Stranger and UsageError, which are to be answered, and HungUp.
    """
    peer = peer_of(writer)
    if peer is not None and peer[1] != os.geteuid():
        raise Stranger("The vault is served to another user.", "Open a vault of your own.")
    try:
        line = await asyncio.wait_for(_first_line(reader), PATIENCE)
    except TimeoutError as error:
        raise Stranger(f"There was no hello within {PATIENCE:g} s.", "Say hello first.") from error
    hello = _understood(line, token)
    return (
        hello
        if peer is None or peer[0] <= 0
        else Hello(hello.protocol, peer[0], hello.agent, hello.agent_token)
    )


def peer_of(writer: asyncio.StreamWriter) -> tuple[int, int] | None:
    """The pid and user id of who connected, as Linux tells them of a local socket; None elsewhere."""
    connection = writer.get_extra_info("socket")
    if not sys.platform.startswith("linux") or connection.family != socket.AF_UNIX:
        return None
    told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _ = _CREDENTIALS.unpack(told)
    return pid, uid


async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, error: SynapseError) -> None:
    """Answer hello with no; the connection is to be closed then."""
    writer.write(_line({"ok": False, "error": error.as_json()}))
    await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
    # Closed over what was not read, a socket may lose the answer on its way.
    with suppress(TimeoutError):
        await asyncio.wait_for(_drained(reader), _LINGER)


async def _drained(reader: asyncio.StreamReader) -> None:
    while await reader.read(64 * 1024):
        pass


def welcome(answer: dict[str, object]) -> bytes:
    """The answer to hello that says yes."""
    return _line({"ok": True, **answer})


async def _first_line(reader: asyncio.StreamReader) -> bytes:
    """Byte by byte, so that a long line is refused before it is held."""
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = await reader.read(1)
        if not byte:
            raise HungUp
        line += byte
        if len(line) > LONGEST_GREETING:
            raise UsageError(f"The hello is longer than {LONGEST_GREETING // 1024} KiB.", "Say less.")
    return bytes(line)


def _understood(line: bytes, token: str) -> Hello:
    try:
        said = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise UsageError("The hello is not JSON.", "Its first line is one JSON object.") from error
    if not isinstance(said, dict):
        raise UsageError("The hello is not a JSON object.", "Its first line is one JSON object.")
    given = said.get("token")
    # Before anything else of it is looked at: to a stranger there is only one answer.
    if not isinstance(given, str) or not hmac.compare_digest(_bytes(given), _bytes(token)):
        raise Stranger(
            "The token does not open this vault." if given is not None else "The hello has no token.",
            "Read the vault's discovery file again.",
        )
    protocol = said.get("protocol")
    if protocol not in ("mcp", "ops"):
        raise UsageError("The protocol of the hello is not known.", "It is mcp or ops.")
    texts: dict[str, str | None] = {}
    for name in ("agent", "agent_token"):
        value = said.get(name)
        if value is not None and not isinstance(value, str):
            raise UsageError(f"The {name} of the hello is not a text.", "Leave it out, or give a text.")
        texts[name] = value
    if protocol == "ops" and any(value is not None for value in texts.values()):
        raise UsageError(
            "The ops protocol is the command line's; an agent has no name in it.", "Agents attach with mcp."
        )
    pid = said.get("pid")
    number = pid if type(pid) is int and 0 < pid < 2**31 else 0
    return Hello(cast(Protocol, protocol), number, texts["agent"], texts["agent_token"])


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _line(value: dict[str, object]) -> bytes:
    return json.dumps(value).encode("ascii") + b"\n"
