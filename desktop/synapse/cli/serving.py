"""`synapse serve`: a vault's owner without a window."""

from __future__ import annotations

import argparse
from typing import Any


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
    """Run the command; returns the exit status."""
    raise NotImplementedError
