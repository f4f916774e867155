"""What the bridge tells a host by itself, from catalogue.json, which is made from the real server."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
"""The methods that list something, and the name of the list in their results."""

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The protocol's versions that begin with `initialize`, the oldest first."""

MODERN_VERSIONS = ("2026-07-28",)
"""The protocol's versions in which every request says its version itself."""

_OF_EVERY_RESULT = ("resultType", "ttlMs", "cacheScope", "_meta")


class Catalogue:
    """The answers of a server of this version."""

    def __init__(self, path: str | None = None) -> None:
        """Raises OSError and ValueError where the installation is damaged."""
        path = path or os.path.join(os.path.dirname(__file__), "catalogue.json")
        with open(path, encoding="utf-8") as file:
            self._content: dict[str, Any] = json.load(file)

    @property
    def version(self) -> str:
        """The version of the server that these answers are from."""
        return str(self._content["initialize"]["serverInfo"]["version"])

    def only_reads(self, method: str, params: Mapping[str, Any]) -> bool:
        """Whether a request changes nothing, so that it may be sent again."""
        if method != "tools/call":
            return method in ("resources/read", *LISTS)
        return params.get("name") in {
            tool["name"] for tool in self._content["tools"] if tool.get("annotations", {}).get("readOnlyHint")
        }

    def initialize(self, asked: object) -> dict[str, Any]:
        """The result of `initialize`, in the version that is asked for or else the newest."""
        version = asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
        return {**self._content["initialize"], "protocolVersion": version}

    def discover(self) -> dict[str, Any]:
        """The result of `server/discover`."""
        return dict(self._content["discover"])

    def listed(self, method: str, *, modern: bool) -> dict[str, Any]:
        """The result of one of `LISTS`: all of it on one page."""
        name = LISTS[method]
        found = {name: self._content[name]}
        if modern:
            discover = self._content["discover"]
            found |= {key: discover[key] for key in _OF_EVERY_RESULT if key in discover}
        return found
