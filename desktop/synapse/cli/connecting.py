"""`synapse mcp` and `synapse mcp-config`: how an agent's host reaches a vault."""

from __future__ import annotations

import argparse
from typing import Any

HOSTS = ("claude-desktop", "claude-code", "cursor", "vscode", "zed")


def add_to(commands: Any) -> None:
    """Add the commands to argparse's subparsers."""
    bridge = commands.add_parser(
        "mcp",
        help="Connect an agent's host (MCP over stdin and stdout).",
        description="The bridge that an agent's host starts: MCP on stdin and stdout, to the window\n"
        "that has the vault open or to a server without one.",
        epilog="example:\n  synapse mcp --vault VAULT --agent claude",
    )
    bridge.add_argument("--vault", metavar="VAULT", help="the folder of notes")
    bridge.add_argument("--agent", metavar="NAME", help="the agent's name")
    bridge.set_defaults(run=run_bridge)
    config = commands.add_parser(
        "mcp-config",
        help="Print the configuration that connects an agent's host.",
        description="Print what an agent's host needs in its configuration to reach the vault.",
        epilog="example:\n  synapse mcp-config VAULT --host claude-desktop",
    )
    config.add_argument("vault", metavar="VAULT", help="the folder of notes")
    config.add_argument("--host", metavar="HOST", choices=HOSTS, help=f"{', '.join(HOSTS)}")
    config.add_argument("--json", action="store_true", help="print one JSON document")
    config.set_defaults(run=print_configuration)


def run_bridge(values: argparse.Namespace) -> int:
    """Run the bridge; returns the exit status."""
    raise NotImplementedError


def print_configuration(values: argparse.Namespace) -> int:
    """Print the configuration; returns the exit status."""
    raise NotImplementedError
