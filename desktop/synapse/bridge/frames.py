"""Frames of JSON-RPC: one line of JSON each, read strictly, refused by name instead of in silence.

The MCP SDK drops a line that it cannot read, and a host that waits for its answer hangs. So
whatever the SDK would drop is found here first and answered with an error of JSON-RPC 2.0 (section
5.1), with the id of the request where one can be read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from synapse.bridge import dialling

Id = int | str

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602

MOST_DEEP = 150
"""Levels of arrays and objects inside one another; the SDK's reader ends at 200."""

_MOST_OF_A_BATCH = 100
_HEAD, _TAIL = 4096, 256
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_ID = rb'"id"\s*:\s*(-?\d{1,20}|"(?:[^"\\]|\\.){0,200}")'
_ID_FIRST = re.compile(
    rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*|"method"\s*:\s*"[^"\\]{0,200}"\s*,\s*)*' + _ID
)
_ID_LAST = re.compile(rb'(?<!\\)(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID + rb"\s*\}\s*\Z")


class Cut(NamedTuple):
    """What is left of a line that was too long: its first and its last bytes."""

    head: bytes
    tail: bytes


class BadFrame(Exception):
    """A frame that cannot be passed on. code: as JSON-RPC numbers errors; id: whom to answer."""

    def __init__(self, code: int, text: str, id: Id | None = None, data: object = None) -> None:
        super().__init__(text)
        self.code = code
        self.id = id
        self.data = data


class Batch(Exception):
    """An array of messages. ids: those of the requests in it, the first hundred."""

    def __init__(self, ids: list[Id]) -> None:
        super().__init__("A batch is not part of MCP. Send each message on a line of its own.")
        self.ids = ids


class Message(NamedTuple):
    """One message. line: its bytes without the newline; method: None for an answer."""

    line: bytes
    id: Id | None
    method: str | None
    params: dict[str, Any]


class Lines:
    """Splits a stream of bytes into lines, and keeps no more than the ends of one that is too long."""

    def __init__(self, most: int = dialling.MOST) -> None:
        self._most = most
        self._line = bytearray()
        self._head = b""
        self._cut = False

    def feed(self, data: bytes) -> list[bytes | Cut]:
        """The lines that end in this piece, without their newlines."""
        found: list[bytes | Cut] = []
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._add(data[start:end])
            found.append(self._take())
            start = end + 1
        self._add(data[start:])
        return found

    def rest(self) -> list[bytes | Cut]:
        """The last line, where the stream ended without a newline."""
        return [self._take()] if self._line or self._cut else []

    def _add(self, piece: bytes) -> None:
        self._line += piece
        if not self._cut and len(self._line) > self._most:
            self._head = bytes(self._line[:_HEAD])
            self._cut = True
        if self._cut:
            del self._line[:-_TAIL]

    def _take(self) -> bytes | Cut:
        line = bytes(self._line)
        self._line.clear()
        if not self._cut:
            return line
        self._cut = False
        return Cut(self._head, line)


def read(line: bytes | Cut) -> Message:
    """One frame of a host. Raises BadFrame, Batch."""
    if isinstance(line, Cut):
        raise BadFrame(
            INVALID_REQUEST,
            f"A frame may hold at most {dialling.MOST:,} bytes, and this one is longer. Send less at once.",
            id_of(line),
        )
    content = _parsed(line)
    if isinstance(content, list):
        ids = [_id(item) for item in content if isinstance(item, dict) and "method" in item]
        raise Batch([id for id in ids if id is not None][:_MOST_OF_A_BATCH])
    if not isinstance(content, dict):
        raise BadFrame(INVALID_REQUEST, "A message is a JSON object.")
    id = _id(content)
    if _SURROGATE.search(line) and not _is_text(content):
        raise BadFrame(INVALID_PARAMS, "A text in this message holds a lone surrogate, half a character.", id)
    if content.get("jsonrpc") != "2.0":
        raise BadFrame(INVALID_REQUEST, 'A message has "jsonrpc": "2.0".', id)
    if "id" in content and id is None and not ("error" in content and content["id"] is None):
        raise BadFrame(INVALID_REQUEST, "The id of a message is a text or a whole number.")
    answers = "result" in content or "error" in content
    if "method" not in content:
        if "id" in content and answers:
            return Message(line, id, None, {})
        raise BadFrame(INVALID_REQUEST, "A message has a method, or an id with a result or an error.", id)
    if answers:
        raise BadFrame(INVALID_REQUEST, "A message is a request or an answer, not both.", id)
    method, params = content["method"], content.get("params")
    if not isinstance(method, str):
        raise BadFrame(INVALID_REQUEST, "The method of a message is a text.", id)
    if params is not None and not isinstance(params, dict):
        raise BadFrame(INVALID_PARAMS, "The params of a message are an object.", id)
    return Message(line, id, method, params or {})


def read_answer(line: bytes | Cut) -> dict[str, Any] | None:
    """A frame of the owner; None for what is none."""
    if isinstance(line, Cut):
        return None
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def id_of(cut: Cut) -> Id | None:
    """The id of a message of which only the ends are left, where it stands first or last in it."""
    found = _ID_FIRST.match(cut.head) or _ID_LAST.search(cut.tail)
    if found is None:
        return None
    try:
        id = json.loads(found[1])
    except ValueError:
        return None
    return id if _is_text(id) else None


def shown(id: Id) -> str:
    """An id for people, cut where it is long."""
    return json.dumps(id)[:80]


def result(id: Id, value: object) -> bytes:
    """The frame that answers a request."""
    return _frame({"jsonrpc": "2.0", "id": id, "result": value})


def failure(id: Id | None, code: int, text: str, data: object = None) -> bytes:
    """The frame that refuses a request; id None where it could not be read."""
    # A path in the text may hold bytes that are no text.
    error: dict[str, object] = {"code": code, "message": text.encode("utf-8", "replace").decode()}
    if data is not None:
        error["data"] = data
    return _frame({"jsonrpc": "2.0", "id": id, "error": error})


def request(id: Id, method: str, params: object) -> bytes:
    """The frame of a request of the bridge's own."""
    return _frame({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


def notification(method: str) -> bytes:
    """The frame of a notification without params."""
    return _frame({"jsonrpc": "2.0", "method": method})


def _frame(content: dict[str, object]) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()


def _parsed(line: bytes) -> object:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadFrame(PARSE_ERROR, f"The frame is not UTF-8 (byte {error.start + 1:,}).") from error
    try:
        content: object = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise BadFrame(
            PARSE_ERROR, f"The frame is not JSON: {error.msg} (character {error.pos + 1:,})."
        ) from error
    except RecursionError as error:
        raise BadFrame(PARSE_ERROR, _TOO_DEEP) from error
    except ValueError as error:  # a number of thousands of digits
        raise BadFrame(PARSE_ERROR, f"The frame is not JSON that can be read: {error}.") from error
    if line.count(b"[") + line.count(b"{") > MOST_DEEP and _is_deep(content):
        raise BadFrame(PARSE_ERROR, _TOO_DEEP, _id(content))
    return content


_TOO_DEEP = f"The frame nests more than {MOST_DEEP} arrays and objects."


def _no_number(word: str) -> NoReturn:
    raise BadFrame(PARSE_ERROR, f"The frame is not JSON: {word} is no number of JSON.")


_refuse: Callable[[str], NoReturn] = _no_number
_DECODER = json.JSONDecoder(parse_constant=_refuse)


def _is_deep(content: object) -> bool:
    level = [content]
    for _ in range(MOST_DEEP):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)  # type: ignore[attr-defined]
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True


def _id(content: object) -> Id | None:
    """The id where it is one: strict, since `true` and `1.0` equal 1 and would be answered as 1."""
    id = content.get("id") if isinstance(content, dict) else None
    return id if type(id) in (int, str) and _is_text(id) else None


def _is_text(content: object) -> bool:
    """Whether it can be written as UTF-8."""
    try:
        json.dumps(content, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
