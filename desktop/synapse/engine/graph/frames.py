"""Messages between a process and its query workers: a length in eight bytes, then a pickle.

Both ends are this program, and pyoxigraph's terms survive pickling exactly; nothing from outside is
ever unpickled.
"""

from __future__ import annotations

import pickle
import struct
from typing import IO, Final

_LENGTH: Final = struct.Struct(">Q")


def packed(message: object) -> bytes:
    """A message as it is written into the pipe."""
    content = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(content)) + content


def receive(stream: IO[bytes]) -> bytes | None:
    """The next message, still pickled; None where the other side is gone."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    content = stream.read(length)
    return content if len(content) == length else None


def opened(content: bytes) -> object:
    """A message that `receive` gave."""
    return pickle.loads(content)
