"""Which protocol a connection speaks, as the MCP SDK decides it, and how it is opened anew.

The first request decides, once (`mcp.server.runner.serve_dual_era_loop`): one that carries the
envelope of 2026-07-28 in `params._meta` opens a modern connection, any other, and `initialize`
always, one that begins with the handshake. The bridge judges as the owner would, since it answers
before there is one, and opens each new owner's connection as the host opened the bridge's.
"""

from __future__ import annotations

from typing import Any, Literal

from synapse.bridge import frames
from synapse.bridge.catalogue import HANDSHAKE_VERSIONS, LISTS, MODERN_VERSIONS, Catalogue
from synapse.bridge.frames import BadFrame, Message

_VERSION = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_UNSUPPORTED_VERSION = -32022

# What a host says once and an owner must hear again, and what takes it back.
_KEPT = {"resources/subscribe": "uri", "logging/setLevel": None}
_TAKEN_BACK = {"resources/unsubscribe": "uri"}


class Era:
    """What one host said about itself, and what follows from it."""

    def __init__(self) -> None:
        self.name: Literal["handshake", "modern"] | None = None
        self._initialize: dict[str, Any] | None = None
        self.initialized = False
        self._envelope: dict[str, Any] = {_VERSION: MODERN_VERSIONS[-1], _CAPABILITIES: {}}
        self._is_envelope_given = False
        self._kept: dict[tuple[str, object], dict[str, Any]] = {}

    def judge(self, message: Message) -> None:
        """Decide the era by the first request; raises BadFrame for a request that is not of it."""
        meta = message.params.get("_meta")
        enveloped = isinstance(meta, dict) and _VERSION in meta
        if self.name is None:
            modern = enveloped and message.method != "initialize"
            self.name = "modern" if modern else "handshake"
        if self.name == "modern":
            self._judge_modern(message, meta)
        elif message.method == "initialize":
            _judge_initialize(message)
        elif enveloped:
            raise BadFrame(
                frames.INVALID_REQUEST,
                "This connection began with the handshake; requests with the envelope of 2026-07-28 "
                "are not accepted on it.",
                message.id,
            )
        elif message.method == "server/discover":
            raise BadFrame(frames.METHOD_NOT_FOUND, "Method not found", message.id, message.method)
        elif self._initialize is None and message.method != "ping":
            raise BadFrame(frames.INVALID_PARAMS, "Send initialize before anything else.", message.id)

    def answer(self, message: Message, catalogue: Catalogue) -> dict[str, Any] | None:
        """The result that the bridge gives by itself; None for what only the owner can answer.

        Raises BadFrame.
        """
        modern = self.name == "modern"
        match message.method:
            case "initialize":
                self._initialize = message.params
                return catalogue.initialize(message.params["protocolVersion"])
            case "ping" if not modern:
                return {}
            case "ping":
                raise BadFrame(frames.METHOD_NOT_FOUND, "Method not found", message.id, "ping")
            case "server/discover":
                return catalogue.discover()
            case str() as method if method in LISTS:
                if message.params.get("cursor") is not None:
                    raise BadFrame(
                        frames.INVALID_PARAMS,
                        "This list has one page; ask for it without a cursor.",
                        message.id,
                    )
                return catalogue.listed(method, modern=modern)
        return None

    def answered(self, message: Message) -> None:
        """Remember what the owner granted, so that the next owner hears of it too."""
        method = message.method or ""
        if method in _KEPT:
            argument = _KEPT[method]
            self._kept[method, argument and message.params.get(argument)] = message.params
        elif method in _TAKEN_BACK:
            self._kept.pop(("resources/subscribe", message.params.get(_TAKEN_BACK[method])), None)

    def opening(self, name: str) -> list[tuple[str | None, bytes]]:
        """The frames that open a connection to an owner, each with the id of its answer.

        name: what the ids begin with, which no id of the host does. The answers are the bridge's.
        """
        if self.name == "modern":
            id = f"{name}-discover"
            return [(id, frames.request(id, "server/discover", {"_meta": self._envelope}))]
        if self._initialize is None:
            return []
        id = f"{name}-initialize"
        found: list[tuple[str | None, bytes]] = [(id, frames.request(id, "initialize", self._initialize))]
        if self.initialized:
            found.append((None, frames.notification("notifications/initialized")))
        for number, ((method, _), params) in enumerate(self._kept.items()):
            id = f"{name}-{number}"
            found.append((id, frames.request(id, method, params)))
        return found

    def _judge_modern(self, message: Message, meta: object) -> None:
        if message.method == "initialize":
            asked = message.params.get("protocolVersion")
            data: dict[str, object] = {"supported": list(MODERN_VERSIONS)}
            raise BadFrame(
                _UNSUPPORTED_VERSION,
                "This connection serves the protocol of 2026-07-28; the handshake is not accepted on it.",
                message.id,
                {**data, "requested": asked} if isinstance(asked, str) else data,
            )
        given = meta if isinstance(meta, dict) else {}
        missing = [key for key in (_VERSION, _CAPABILITIES) if key not in given]
        if missing:
            raise BadFrame(frames.INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}.", message.id)
        version = given[_VERSION]
        if not isinstance(version, str):
            raise BadFrame(frames.INVALID_PARAMS, f"{_VERSION} in params._meta is a text.", message.id)
        if version not in MODERN_VERSIONS:
            raise BadFrame(
                _UNSUPPORTED_VERSION,
                "Unsupported protocol version",
                message.id,
                {"supported": list(MODERN_VERSIONS), "requested": version},
            )
        if not self._is_envelope_given:
            self._is_envelope_given = True
            self._envelope = {key: value for key, value in given.items() if key != "progressToken"}


def _judge_initialize(message: Message) -> None:
    """What the owner would refuse when it hears it, so that a host is not told yes and no."""
    params = message.params
    client = params.get("clientInfo")
    wanted = {
        "protocolVersion (a text)": isinstance(params.get("protocolVersion"), str),
        "capabilities (an object)": isinstance(params.get("capabilities"), dict),
        "clientInfo (an object with the texts name and version)": isinstance(client, dict)
        and isinstance(client.get("name"), str)
        and isinstance(client.get("version"), str),
    }
    missing = [name for name, given in wanted.items() if not given]
    if missing:
        known = f"The newest protocol version with a handshake is {HANDSHAKE_VERSIONS[-1]}."
        raise BadFrame(frames.INVALID_PARAMS, f"initialize lacks {', '.join(missing)}. {known}", message.id)
