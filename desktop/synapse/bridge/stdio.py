"""The host's side: frames in on stdin, frames out on stdout, and nothing else on stdout, ever."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import sys
import threading
import time
from typing import NoReturn

from synapse.bridge.frames import Cut, Lines

_PIECE = 64 * 1024
_SURE = 4096
"""Bytes that a pipe which takes any takes at once (PIPE_BUF)."""
_LOOK_AROUND = 0.5
_MOST_SAID = 200
"""Lines on standard error, which many hosts never read: a full pipe would stop the bridge."""


class HostGone(Exception):
    """The host reads no more, or its process is gone."""


class Stdio:
    """Takes the process's stdin and stdout for frames alone.

    File descriptor 1 becomes standard error, so that a stray `print`, a library's or the
    interpreter's at exit, does no harm. source: what `select` waits on for input.
    """

    def __init__(self) -> None:
        """Raises HostGone where stdout is closed."""
        self._parent = os.getppid()
        self._lines = Lines()
        self._said = 0
        self._last_said = ""
        try:
            self._out = _above_standard(1)
        except OSError as error:
            raise HostGone from error
        try:
            os.dup2(2, 1)
        except OSError:
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), 1)
        self.source: int | socket.socket = 0 if os.name == "posix" else _pumped()

    def read(self) -> tuple[list[bytes | Cut], bool]:
        """The frames that came, and whether that was all. To be called when `source` is readable."""
        try:
            data = os.read(0, _PIECE) if isinstance(self.source, int) else self.source.recv(_PIECE)
        except OSError:  # closed from the start, or a terminal that is gone
            data = b""
        return (self._lines.feed(data), False) if data else (self._lines.rest(), True)

    def emit(self, frame: bytes) -> None:
        """Write one frame whole, however slowly the host reads. Raises HostGone."""
        rest = memoryview(frame + b"\n")
        until = None
        try:
            while rest:
                while not self._takes_more():
                    self.check_host()
                    if self._hung_up():
                        until = until or time.monotonic() + 1.0
                        if time.monotonic() > until:
                            raise HostGone
                rest = rest[os.write(self._out, rest[:_SURE]) :]
        except OSError as error:
            raise HostGone from error

    def say(self, text: str) -> None:
        """A line for whoever reads the host's log, not twice in a row."""
        if text == self._last_said or self._said >= _MOST_SAID:
            return
        self._last_said = text
        self._said += 1
        with contextlib.suppress(OSError):
            os.write(2, f"synapse mcp: {text}\n".encode("utf-8", "replace"))

    def check_host(self) -> None:
        """Raises HostGone where the process that started this one is gone."""
        if os.name == "posix" and os.getppid() != self._parent:
            raise HostGone

    def _takes_more(self) -> bool:
        if os.name != "posix":
            return True
        return bool(select.select([], [self._out], [], _LOOK_AROUND)[1])

    def _hung_up(self) -> bool:
        """Whether stdin has ended, without reading what may still be in it."""
        if not hasattr(select, "poll"):
            return False
        poll = select.poll()
        poll.register(0, 0)
        return bool(poll.poll(0))


def _above_standard(descriptor: int) -> int:
    """A copy that is none of the three standard ones, which may be closed, and that no child gets."""
    if os.name == "posix":
        import fcntl

        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    return os.dup(descriptor)


def _pumped() -> socket.socket:
    """A socket that gives what stdin gives, where `select` takes sockets alone (Windows)."""
    inside, outside = socket.socketpair()

    def pump() -> None:
        with contextlib.suppress(OSError), outside:
            while data := os.read(0, _PIECE):
                outside.sendall(data)

    threading.Thread(target=pump, name="synapse-stdin", daemon=True).start()
    return inside


def end(status: int) -> NoReturn:
    """End the process now: no handler, thread or destructor runs that could write after it."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(status)
