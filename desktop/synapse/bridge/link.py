"""The connection of a bridge to an owner, without ever waiting for it."""

from __future__ import annotations

import socket
from collections import deque
from typing import Literal

from synapse.bridge import dialling, discovery
from synapse.bridge.dialling import LONGEST_GREETING
from synapse.bridge.discovery import Discovery
from synapse.bridge.frames import Cut, Lines

_PIECE = 64 * 1024


class Lost(Exception):
    """The owner is gone, or what answers there is none."""


class Link:
    """Down, greeting (hello was said, no answer yet) or up.

    Frames are queued by `send` and go out when `write` is called for a socket that takes bytes. A
    frame carries what it belongs to, so that what an owner never saw whole can go to the next one.
    """

    def __init__(self) -> None:
        self.state: Literal["down", "greeting", "up"] = "down"
        self.socket: socket.socket | None = None
        self.waiting_bytes = 0
        self.told_ending = False
        """Whether the owner said that it ends in order; until the next one is dialled."""
        self._owner: Discovery | None = None
        self._lines = Lines()
        self._greeting = b""
        self._queue: deque[tuple[bytes, object]] = deque()
        self._sent = 0

    def dial(self, owner: Discovery, agent: str | None, agent_token: str | None) -> None:
        """Connect and say hello. Raises OSError where nobody listens."""
        connection = dialling.connect(owner, timeout=1.0)
        connection.setblocking(False)
        self.socket, self.state, self._owner = connection, "greeting", owner
        self._lines, self._greeting, self.told_ending = Lines(), b"", False
        self.send(dialling.hello(owner, "mcp", agent=agent, agent_token=agent_token).rstrip(b"\n"))

    def send(self, frame: bytes, of: object = None) -> None:
        """Queue one frame. of: what `close` gives back if the owner is gone before it has all of it."""
        self._queue.append((frame + b"\n", of))
        self.waiting_bytes += len(frame) + 1

    @property
    def is_ending(self) -> bool:
        """Whether the owner ends: it said so, or its process is gone although nobody hung up for it yet."""
        return self.told_ending or (self._owner is not None and not discovery.may_live(self._owner))

    @property
    def wants_to_write(self) -> bool:
        return bool(self._queue)

    def write(self) -> None:
        """Send as much as the socket takes. Raises Lost."""
        assert self.socket is not None
        while self._queue:
            frame, _ = self._queue[0]
            try:
                count = self.socket.send(frame[self._sent : self._sent + _PIECE])
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                raise Lost(str(error)) from error
            self._sent += count
            self.waiting_bytes -= count
            if self._sent == len(frame):
                self._queue.popleft()
                self._sent = 0

    def read(self) -> tuple[dict[str, object] | None, list[bytes | Cut]]:
        """The owner's answer to hello, when it comes, and the frames that came.

        Raises Lost, and `dialling.Refused` where the owner says no.
        """
        assert self.socket is not None
        try:
            data = self.socket.recv(_PIECE)
        except (BlockingIOError, InterruptedError):
            return None, []
        except OSError as error:
            raise Lost(str(error)) from error
        if not data:
            raise Lost("it hung up")
        if self.state == "up":
            return None, self._lines.feed(data)
        self._greeting += data
        line, newline, rest = self._greeting.partition(b"\n")
        if not newline:
            if len(line) > LONGEST_GREETING:
                raise Lost("what answers there is not an owner")
            return None, []
        try:
            answer = dialling.accepted(line)
        except OSError as error:
            raise Lost(str(error)) from error
        self.state = "up"
        return answer, self._lines.feed(rest)

    def close(self) -> list[object]:
        """Hang up; returns what the frames belong to that the owner cannot have seen whole."""
        if self.socket is not None:
            self.socket.close()
        unseen = [of for _, of in self._queue if of is not None]
        self._queue.clear()
        self.socket, self.state, self._sent, self.waiting_bytes = None, "down", 0, 0
        return unseen
