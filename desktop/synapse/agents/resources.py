"""What agents can read by its address, and be told of when it changes: `synapse://digest`.

Both eras are served: 2025's `resources/subscribe` with `notifications/resources/updated`, and 2026's
`subscriptions/listen`. Changes come from the engine's ChangeSets; many in a row are told as one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from synapse.engine import Engine
from synapse.engine.changes import ChangeSet

DIGEST = "synapse://digest"

RESOURCES = (
    types.Resource(
        name="digest",
        title="Digest",
        uri=DIGEST,
        description="The state of the vault on one page: read it at the beginning of a session.",
        mime_type="text/markdown",
    ),
)

COALESCED = 0.25
"""Seconds in which changes are told as one."""


def known_uri(uri: object) -> str:
    """The address of a resource that is there. Raises MCPError."""
    text = str(uri)
    if text != DIGEST:
        raise MCPError(types.INVALID_PARAMS, f"There is no such resource. The one there is: {DIGEST}")
    return text


def contents(text: str) -> types.ReadResourceResult:
    """The digest as the answer to `resources/read`."""
    return types.ReadResourceResult(
        contents=[types.TextResourceContents(uri=DIGEST, mime_type="text/markdown", text=text)]
    )


class Subscriptions:
    """What one connection wants to be told of. All methods belong to the loop's thread."""

    def __init__(self) -> None:
        self._bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self._bus, max_subscriptions=64)
        """The handler of `subscriptions/listen`."""
        self._subscriber: ServerSession | None = None
        self._changed = asyncio.Event()

    async def subscribe(
        self, ctx: ServerRequestContext[Any], params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        """The handler of `resources/subscribe`."""
        known_uri(params.uri)
        self._subscriber = ctx.session
        return types.EmptyResult()

    async def unsubscribe(
        self, ctx: ServerRequestContext[Any], params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        """The handler of `resources/unsubscribe`."""
        known_uri(params.uri)
        self._subscriber = None
        return types.EmptyResult()

    def follow(self, engine: Engine) -> Callable[[], None]:
        """Hear of the engine's changes from now on; returns what ends that."""
        loop = asyncio.get_running_loop()

        def changed(_: ChangeSet) -> None:  # on the writer's thread
            with suppress(RuntimeError):  # the loop is closed: nobody listens any more
                loop.call_soon_threadsafe(self._changed.set)

        return engine.subscribe(changed)

    async def tell(self) -> None:
        """Tell whoever asked for it of changes, until cancelled."""
        while True:
            await self._changed.wait()
            await asyncio.sleep(COALESCED)
            self._changed.clear()
            if self._subscriber is not None:
                await self._subscriber.send_resource_updated(DIGEST)
            await self._bus.publish(ResourceUpdated(uri=DIGEST))
