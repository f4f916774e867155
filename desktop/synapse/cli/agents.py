"""`synapse agents`: who may attach, and who may write."""

from __future__ import annotations

import argparse
from typing import Any

ACTIONS = ("list", "add", "allow", "pause", "resume", "revoke")


def add_to(commands: Any) -> None:
    """Add the command to argparse's subparsers."""
    command = commands.add_parser(
        "agents",
        help="List agents, issue their tokens, allow or revoke them.",
        description="The agents that this user knows: who may write, who has a token of their own.",
        epilog="example:\n  synapse agents list",
    )
    command.add_argument("action", metavar="ACTION", choices=ACTIONS, help=f"{', '.join(ACTIONS)}")
    command.add_argument("name", metavar="NAME", nargs="?", help="the agent's name")
    command.add_argument("--json", action="store_true", help="print one JSON document")
    command.set_defaults(run=run)


def run(values: argparse.Namespace) -> int:
    """Run the command; returns the exit status."""
    raise NotImplementedError
