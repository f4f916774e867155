"""`synapse mcp`, before anything else of the command line is imported: a host waits for it."""

from __future__ import annotations

import signal
from collections.abc import Sequence

from synapse.bridge.relay import serve

_OPTIONS = ("--vault", "--agent")


def options(words: Sequence[str]) -> dict[str, str] | None:
    """The options by name; None where there is a word that is none of them, or a value is missing."""
    found: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name not in _OPTIONS:
            return None
        if not equals:
            after = next(rest, None)
            if after is None or after.startswith("--"):
                return None
            value = after
        found[name] = value
    return found


def main(words: Sequence[str]) -> None:
    """Be the bridge. Returns only where the words need the command line's parser: help, or a mistake."""
    given = options(words)
    if given is not None:
        run(given.get("--vault"), given.get("--agent"))


def run(vault: str | None, agent: str | None) -> None:
    """Be the bridge and end the process with it. vault: a folder, or None for the only one known."""
    # A host that interrupts wants it gone, not a traceback.
    for name in ("SIGINT", "SIGTERM"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    serve(vault, agent)
