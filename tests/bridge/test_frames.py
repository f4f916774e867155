"""Frames: cut apart the same however they arrive, and nothing passes that the SDK would drop."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mcp_types import (
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from synapse.bridge import frames
from synapse.bridge.frames import BadFrame, Batch, Cut, Lines, read


def pieces(data: bytes, sizes: list[int]) -> list[bytes]:
    found, start = [], 0
    for size in sizes:
        found.append(data[start : start + size])
        start += size
    return [*found, data[start:]]


@given(st.lists(st.binary(max_size=30).filter(lambda line: b"\n" not in line)), st.lists(st.integers(1, 40)))
def test_lines_are_the_same_however_they_arrive(lines: list[bytes], sizes: list[int]) -> None:
    reader = Lines(most=30)
    data = b"".join(line + b"\n" for line in lines)
    found = [line for piece in pieces(data, sizes) for line in reader.feed(piece)]
    assert found == lines
    assert reader.rest() == []


@given(st.integers(31, 20_000), st.lists(st.integers(1, 3000)))
def test_of_a_line_that_is_too_long_only_the_ends_are_kept(length: int, sizes: list[int]) -> None:
    reader = Lines(most=30)
    line = bytes(ord("a") + i % 26 for i in range(length))
    found: list[bytes | Cut] = []
    for piece in pieces(line + b"\nnext\n", sizes):
        found += reader.feed(piece)
        assert len(reader._line) <= 300
    cut, following = found
    assert isinstance(cut, Cut)
    assert line.startswith(cut.head) and line.endswith(cut.tail) and len(cut.tail) >= 31
    assert following == b"next"


def test_a_last_line_without_a_newline_counts() -> None:
    reader = Lines()
    assert reader.feed(b'{"a":1}\n{"b"') == [b'{"a":1}']
    assert reader.rest() == [b'{"b"']
    assert reader.rest() == []


@pytest.mark.parametrize(
    ("start", "end", "id"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"', b'"}}', 7),
        (b'{"method":"tools/call","params":{"a":"', b'"},"jsonrpc":"2.0","id":"a\\"b"}', 'a"b'),
        (b'{ "id" : -3 , "params":"', b'"}', -3),
        (b'{"params":{"id":5,"a":"', b'"}}', None),
        (b'{"params":{"a":"', b'\\"id\\":5}"}}', None),
        (b'{"params":{"a":"', b'","b":{"id":5}}}', None),
        (b'{"id":"\\ud800","params":"', b'"}', None),
        (b"", b"", None),
    ],
)
def test_the_id_of_a_frame_that_is_too_long(start: bytes, end: bytes, id: object) -> None:
    cut, *_ = Lines(most=1000).feed(start + b"x" * 9000 + end + b"\n")
    with pytest.raises(BadFrame, match="at most") as caught:
        read(cut)
    assert caught.value.id == id
    assert caught.value.code == frames.INVALID_REQUEST


BAD: list[tuple[bytes, int, object]] = [
    (b"nonsense", frames.PARSE_ERROR, None),
    (b'{"jsonrpc":"2.0","id":1,"method":"x"', frames.PARSE_ERROR, None),
    (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', frames.PARSE_ERROR, None),
    (b'{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\x80"}', frames.PARSE_ERROR, None),
    (b'{"jsonrpc":"2.0","id":1,"method":"a\x00b"}', frames.PARSE_ERROR, None),
    (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"x"}', frames.PARSE_ERROR, None),
    (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":NaN}}', frames.PARSE_ERROR, None),
    (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":' + b"9" * 5000 + b"}}", frames.PARSE_ERROR, None),
    (b"[" * 100_000, frames.PARSE_ERROR, None),
    (
        b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":' + b"[" * 160 + b"]" * 160 + b"}}",
        frames.PARSE_ERROR,
        1,
    ),
    (b"null", frames.INVALID_REQUEST, None),
    (b'"text"', frames.INVALID_REQUEST, None),
    (b"{}", frames.INVALID_REQUEST, None),
    (b'{"jsonrpc":"2.0"}', frames.INVALID_REQUEST, None),
    (b'{"jsonrpc":"2.0","id":4}', frames.INVALID_REQUEST, 4),
    (b'{"jsonrpc":"2.0","result":{}}', frames.INVALID_REQUEST, None),
    (b'{"id":4,"method":"x"}', frames.INVALID_REQUEST, 4),
    (b'{"jsonrpc":"1.0","id":4,"method":"x"}', frames.INVALID_REQUEST, 4),
    (b'{"jsonrpc":"2.0","id":null,"method":"x"}', frames.INVALID_REQUEST, None),
    (b'{"jsonrpc":"2.0","id":true,"method":"x"}', frames.INVALID_REQUEST, None),
    (b'{"jsonrpc":"2.0","id":1.0,"method":"x"}', frames.INVALID_REQUEST, None),
    (b'{"jsonrpc":"2.0","id":[1],"method":"x"}', frames.INVALID_REQUEST, None),
    (b'{"jsonrpc":"2.0","id":"\\udfff","method":"x"}', frames.INVALID_PARAMS, None),
    (b'{"jsonrpc":"2.0","id":"a","method":3}', frames.INVALID_REQUEST, "a"),
    (b'{"jsonrpc":"2.0","id":"a","method":null}', frames.INVALID_REQUEST, "a"),
    (b'{"jsonrpc":"2.0","id":1,"method":"x","result":{}}', frames.INVALID_REQUEST, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}', frames.INVALID_PARAMS, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"\\ud800"}}', frames.INVALID_PARAMS, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"\\uDC00":1}}', frames.INVALID_PARAMS, 1),
]


@pytest.mark.parametrize(("line", "code", "id"), BAD, ids=range(len(BAD)))
def test_a_bad_frame_is_refused_by_name_and_id(line: bytes, code: int, id: object) -> None:
    with pytest.raises(BadFrame) as caught:
        read(line)
    assert (caught.value.code, caught.value.id) == (code, id)
    assert str(caught.value)


def test_each_request_of_a_batch_is_refused() -> None:
    batch = [{"jsonrpc": "2.0", "id": 1, "method": "a"}, {"id": "b", "method": "b"}, {"method": "c"}, 5]
    with pytest.raises(Batch) as caught:
        read(json.dumps(batch).encode())
    assert caught.value.ids == [1, "b"]
    with pytest.raises(Batch) as caught:
        read(b"[]")
    assert caught.value.ids == []


def test_characters_of_every_kind_pass_unchanged() -> None:
    text = "人 👩‍👩‍👧 e\u0301 \u00e9 \u2028 \u2029 \x7f \ufeff"
    for ascii in (True, False):
        line = json.dumps(
            {"jsonrpc": "2.0", "id": text, "method": "x", "params": {"a": text}}, ensure_ascii=ascii
        ).encode()
        message = read(line)
        assert (message.id, message.params, message.line) == (text, {"a": text}, line)
    pair = b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"\\ud83d\\udc69"}}'
    assert read(pair).params == {"a": "👩"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
IDS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=3)
MESSAGES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0") | JSON},
    optional={
        "id": IDS,
        "method": st.sampled_from(["ping", "tools/call"]) | JSON,
        "params": st.dictionaries(st.text(max_size=4), JSON, max_size=3) | JSON,
        "result": st.just({}) | JSON,
        "error": st.just({"code": 1, "message": "m"}) | JSON,
    },
)


@given(MESSAGES)
@example({"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "m"}})
def test_what_passes_is_read_by_the_sdk_as_the_same(content: dict[str, Any]) -> None:
    try:
        message = read(json.dumps(content).encode("utf-8", "surrogatepass"))
    except BadFrame:
        return
    if message.method is None:  # an answer is passed on to who asked, or to nobody
        return
    parsed = jsonrpc_message_adapter.validate_json(message.line, by_name=False)
    if message.id is None:
        assert isinstance(parsed, JSONRPCNotification)
    else:
        assert isinstance(parsed, JSONRPCRequest)
        assert (parsed.id, type(parsed.id)) == (message.id, type(message.id))
    assert parsed.method == message.method


@given(
    st.binary(max_size=60)
    | st.text(st.sampled_from('{}[]":,\\ud8001enidmthjsorpc. \n'), max_size=60).map(str.encode)
)
def test_no_bytes_do_anything_but_pass_or_be_refused(line: bytes) -> None:
    for found in (*Lines().feed(line), line):
        try:
            read(found)
        except BadFrame as bad:
            answer = frames.failure(bad.id, bad.code, str(bad), bad.data)
        except Batch as batch:
            answer = frames.failure(None, frames.INVALID_REQUEST, str(batch))
        else:
            continue
        assert b"\n" not in answer
        assert isinstance(jsonrpc_message_adapter.validate_json(answer, by_name=False), JSONRPCError)


def test_own_frames_are_frames_of_the_sdk() -> None:
    parsed = jsonrpc_message_adapter.validate_json(frames.result("a\n", {"t": "\u2028"}), by_name=False)
    assert isinstance(parsed, JSONRPCResponse)
    assert parsed.result == {"t": "\u2028"}
    assert b"\n" not in frames.failure(None, 1, "two\nlines, \udcff")
