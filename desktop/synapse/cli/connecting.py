"""`synapse mcp` and `synapse mcp-config`: how an agent's host reaches a vault."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from synapse.cli import terminal

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
    """Run the bridge; the process ends with it.

    Plain arguments never come this far: `cli.main` hands them to the bridge before it imports anything.
    """
    from synapse.bridge import command

    command.run(values.vault, values.agent)
    raise AssertionError("the bridge ends the process")


def print_configuration(values: argparse.Namespace) -> int:
    """Print the configuration; returns the exit status."""
    from synapse.agents import host_configuration
    from synapse.engine.vaults import checked_vault

    checked_vault(Path(values.vault))
    found = host_configuration.configuration(values.vault, values.host)
    terminal.write(json.dumps(found, indent=2, ensure_ascii=not terminal.is_utf8()) + "\n")
    if not values.json:
        sys.stdout.flush()
        for line in host_configuration.guidance(values.vault, values.host).splitlines():
            print(terminal.visible(line), file=sys.stderr)
    return 0
