"""Loading the MCP server: a second of imports, which must not hold up a window in the same process."""

from __future__ import annotations

import gc
import sys
from typing import Any

_SERVER = "synapse.agents.mcp_server"


def serve_mcp() -> Any:
    """The function that speaks MCP on a connection.

    The imports make 60,000 objects, and the collector would go through all there are several times,
    100 ms each with the interpreter's lock held (measured). It rests meanwhile; where the process
    has frozen what it loaded before, as the window does, these are frozen too.
    """
    if _SERVER in sys.modules:
        return _imported()
    was_on = gc.isenabled()
    gc.disable()
    try:
        found = _imported()
        if gc.get_freeze_count():
            gc.freeze()
        return found
    finally:
        if was_on:
            gc.enable()


def _imported() -> Any:
    from synapse.agents.mcp_server import serve_mcp

    return serve_mcp
