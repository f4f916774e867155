"""The catalogue: what a server of this version tells about itself, as it tells it.

The bridge answers with it until an owner answers; hosts keep the first list that they see. It is taken
from a real server, spoken to in frames, so that it cannot say anything else than one.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import synapse.bridge
from synapse.agents.mcp_server import Conversation, serve

HANDSHAKE, MODERN = "2025-11-25", "2026-07-28"
"""The version of the protocol that the catalogue is in, of each era."""

FILE = Path(synapse.bridge.__file__).with_name("catalogue.json")

_CLIENT = {"name": "synapse-catalogue", "version": "1"}
_ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": _CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
OPENING: dict[str, dict[str, Any]] = {
    "initialize": {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": _CLIENT},
    "server/discover": {"_meta": _ENVELOPE},
}
"""Parameters of the requests that begin a connection, by method."""

LISTS = {
    "tools": "tools/list",
    "resources": "resources/list",
    "resourceTemplates": "resources/templates/list",
    "prompts": "prompts/list",
}


def catalogue() -> dict[str, Any]:
    """`{"initialize", "discover", "tools", "resources", "resourceTemplates", "prompts"}`: the results of
    the requests of those names."""
    return asyncio.run(_catalogue())


def text() -> str:
    """The catalogue as `bridge/catalogue.json` holds it."""
    return json.dumps(catalogue(), ensure_ascii=False, indent=1) + "\n"


async def _catalogue() -> dict[str, Any]:
    initialize, *lists = await _asked(
        ("initialize", OPENING["initialize"]), *((method, {}) for method in LISTS.values())
    )
    (discover,) = await _asked(("server/discover", OPENING["server/discover"]))
    found = {name: result[name] for name, result in zip(LISTS, lists, strict=True)}
    return {"initialize": initialize, "discover": discover, **found}


async def _asked(*requests: tuple[str, dict[str, Any]]) -> list[Any]:
    """The results of requests to a server on a local socket pair, sent one after another."""
    import socket

    ours, its = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    its_reader, its_writer = await asyncio.open_connection(sock=its)
    serving = asyncio.create_task(serve(Conversation(None), its_reader, its_writer))
    try:
        results = []
        for id, (method, params) in enumerate(requests):
            message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
            writer.write(json.dumps(message).encode() + b"\n")
            results.append(json.loads(await reader.readuntil(b"\n"))["result"])
        return results
    finally:
        writer.close()
        await serving
        its_writer.close()
