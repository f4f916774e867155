"""Frames of MCP over a byte stream: one JSON-RPC message a line, as on stdio.

A line that is no message is answered with an error, never with silence: the SDK drops what its
transport cannot parse, and whoever asked would wait for ever.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from synapse.bridge.dialling import MOST

log = logging.getLogger(__name__)

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]

_ID = re.compile(rb'"id"\s*:\s*(-?\d{1,18}|"(?:[^"\\\x00-\x1f]|\\.){0,200}")\s*[,}]')
_TOO_LONG = f"The message is longer than {MOST // 1024 // 1024} MiB. Send less at once."
_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Why a line is no message, to be answered by us."""

    id: str | int | None
    code: int
    message: str

    @property
    def answer(self) -> SessionMessage:
        error = types.ErrorData(code=self.code, message=self.message)
        return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=self.id, error=error))


@asynccontextmanager
async def message_streams(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """The two streams that a server of the SDK is run on. They end with the connection."""
    in_send, in_receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    out_send, out_receive = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as group:
        group.start_soon(_read, reader, in_send, out_send.clone())
        group.start_soon(_write, writer, out_receive)
        async with in_receive, out_send:
            yield in_receive, out_send
        group.cancel_scope.cancel()


async def _read(
    reader: asyncio.StreamReader, messages: MemoryObjectSendStream[SessionMessage | Exception], out: Outgoing
) -> None:
    try:
        async with messages, out:
            while (line := await _line(reader)) is not None:
                if isinstance(line, _Refusal):
                    await out.send(line.answer)
                elif line.strip():
                    found = _parsed(line)
                    if isinstance(found, _Refusal):
                        await out.send(found.answer)
                    else:
                        await messages.send(SessionMessage(found))
    except (ConnectionError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        return  # the connection, or the server, ended


async def _line(reader: asyncio.StreamReader) -> bytes | _Refusal | None:
    """The next line; None at the end; an error for one that is too long, which is skipped."""
    try:
        return await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError:
        return None  # a half line is no message
    except asyncio.LimitOverrunError as error:
        head = await reader.readexactly(error.consumed)
    found = _ID.search(head[:1024])
    while True:
        try:
            await reader.readuntil(b"\n")
            break
        except asyncio.IncompleteReadError:
            return None
        except asyncio.LimitOverrunError as error:
            await reader.readexactly(error.consumed)
    return _Refusal(json.loads(found[1]) if found else None, types.INVALID_REQUEST, _TOO_LONG)


def _parsed(line: bytes) -> types.JSONRPCMessage | _Refusal:
    try:
        message: types.JSONRPCMessage = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return _refusal(line)
    # A request whose id is neither text nor number reads as a notification, and would get no answer.
    if isinstance(message, types.JSONRPCNotification) and b'"id"' in line and "id" in json.loads(line):
        return _refusal(line)
    return message


def _refusal(line: bytes) -> _Refusal:
    """Why a line is no message."""
    try:
        read = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return _Refusal(None, types.PARSE_ERROR, "The line is not JSON in UTF-8.")
    if isinstance(read, list):
        return _Refusal(None, types.INVALID_REQUEST, "Batches are not taken; send one message a line.")
    id = read.get("id") if isinstance(read, dict) else None
    if not (type(id) is int or (isinstance(id, str) and not _HALF.search(id))):
        id = None
    if _HALF.search(json.dumps(read, ensure_ascii=False)):
        return _Refusal(
            id, types.INVALID_REQUEST, "A text holds half of a surrogate pair, which is no character."
        )
    return _Refusal(id, types.INVALID_REQUEST, "The line is not a message of JSON-RPC 2.0.")


async def _write(writer: asyncio.StreamWriter, messages: MemoryObjectReceiveStream[SessionMessage]) -> None:
    """Write until the server has closed its end; to a connection that broke, nothing more."""
    broken = False
    async with messages:
        async for message in messages:
            if broken:
                continue
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                writer.write(text.encode() + b"\n")
                await writer.drain()
            except ConnectionError:
                broken = True
