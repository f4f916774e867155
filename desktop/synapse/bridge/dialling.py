"""Dialling an owner: connect to its socket, say hello, hear whether it takes the call."""

from __future__ import annotations

import json
import os
import socket

from synapse.bridge.discovery import Discovery

MOST = 8 * 1024 * 1024
"""Bytes of the longest frame that either side takes."""

ENDING = "notifications/synapse/ending"
"""The notification with which an owner tells a bridge that it ends in order: send it nothing more."""

NOT_DONE = -32013
"""Code of the error with which an owner that ends gives a call of MCP back: it had no effect, and the
bridge sends it to the next owner."""

LONGEST_GREETING = 64 * 1024
"""Bytes of the longest first line of either side."""


class Refused(Exception):
    """The owner answered hello with no; the text says why, and hint what to do, if anything.

    kind: as the engine's errors name it.
    """

    def __init__(self, message: str, kind: str = "refused", hint: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.hint = hint


def dial(
    owner: Discovery,
    protocol: str,
    *,
    agent: str | None = None,
    agent_token: str | None = None,
    timeout: float = 3.0,
) -> tuple[socket.socket, dict[str, object]]:
    """Connect and say hello; returns the socket, blocking, and what the owner answered.

    protocol: `mcp` or `ops`. timeout: seconds for connecting and for the answer. Raises OSError
    where nobody answers there, Refused where the owner says no.
    """
    connection = connect(owner, timeout)
    try:
        connection.sendall(hello(owner, protocol, agent=agent, agent_token=agent_token))
        answer = accepted(_greeting(connection))
        connection.settimeout(None)
        return connection, answer
    except BaseException:
        connection.close()
        raise


def hello(owner: Discovery, protocol: str, *, agent: str | None, agent_token: str | None) -> bytes:
    """The first line to an owner."""
    told: dict[str, object] = {"token": owner.token, "protocol": protocol, "pid": os.getpid()}
    if agent is not None:
        told["agent"] = agent
    if agent_token is not None:
        told["agent_token"] = agent_token
    return json.dumps(told).encode() + b"\n"


def accepted(line: bytes) -> dict[str, object]:
    """What an owner answered to hello. Raises Refused where it says no, OSError where it is no owner."""
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ConnectionError("what answers there is not an owner") from error
    if not isinstance(answer, dict):
        raise ConnectionError("what answers there is not an owner")
    if answer.get("ok") is not True:
        no = answer.get("error")
        told = no if isinstance(no, dict) else {}
        message = told.get("message") or "The owner of the vault refused the connection."
        raise Refused(str(message), str(told.get("kind") or "refused"), str(told.get("hint") or ""))
    return answer


def connect(owner: Discovery, timeout: float) -> socket.socket:
    """A connection to where the owner says it listens; hello is still to be said. Raises OSError."""
    if owner.socket is not None:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(timeout)
        try:
            connection.connect(owner.socket)
        except BaseException:
            connection.close()
            raise
        return connection
    return socket.create_connection(("127.0.0.1", owner.port or 0), timeout)


def _greeting(connection: socket.socket) -> bytes:
    """The first line, read byte by byte so that nothing of what follows is taken."""
    line = b""
    while not line.endswith(b"\n"):
        byte = connection.recv(1)
        if not byte:
            raise ConnectionError("the owner hung up")
        line += byte
        if len(line) > LONGEST_GREETING:
            raise ConnectionError("what answers there is not an owner")
    return line
