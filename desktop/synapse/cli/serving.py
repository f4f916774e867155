"""`synapse serve`: a vault's owner without a window."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from synapse.cli import terminal

if TYPE_CHECKING:
    from synapse.bridge.discovery import Discovery
    from synapse.engine.errors import SynapseError


def add_to(commands: Any) -> None:
    """Add the command to argparse's subparsers."""
    command = commands.add_parser(
        "serve",
        help="Serve a vault to agents without a window.",
        description="Own a vault without a window: follow its files and serve agents and commands\n"
        "until interrupted.",
        epilog="example:\n  synapse serve VAULT",
    )
    command.add_argument("vault", metavar="VAULT", help="the folder of notes")
    command.add_argument("--json", action="store_true", help="print one JSON document, then serve")
    # How a bridge or a closing window starts it: silent, and gone ten minutes after the last agent.
    command.add_argument("--detached", action="store_true", help=argparse.SUPPRESS)
    command.set_defaults(run=serve)


def serve(values: argparse.Namespace) -> int:
    """Run the command; returns the exit status. Raises VaultLocked, naming who has the vault."""
    from synapse.agents.headless import Headless, serve_detached
    from synapse.cli.run import warn

    if values.detached:
        serve_detached(values.vault)
        return 0
    with Headless(values.vault) as headless:
        warn(headless.engine)
        if values.json:
            print(json.dumps(where(headless.owner.discovery)), flush=True)
        else:
            print(f"Serving {headless.engine.vault} to agents. Ctrl+C ends it.", flush=True)
        headless.start()
        headless.wait(_indexed)
    return 0


def _indexed(failed: SynapseError | None) -> None:
    if failed is not None:
        terminal.say(str(failed))


def where(owner: Discovery) -> dict[str, object]:
    """What `serve --json` prints: where the owner listens, and its process."""
    place = {"port": owner.port} if owner.socket is None else {"socket": owner.socket}
    return {**place, "pid": owner.pid}
