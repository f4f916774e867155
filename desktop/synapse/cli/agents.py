"""`synapse agents`: who may attach, and who may write."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from synapse.agents.registry import KnownAgent

ACTIONS = ("list", "add", "allow", "pause", "resume", "revoke")

_PERSON_ONLY = {
    "add": "issues a token to {name}",
    "allow": "lets {name} write into your vaults",
    "resume": "lets {name} write into your vaults again",
}
"""What gives rights: a person confirms it at a terminal, so that no agent gives them to itself."""

_ACCESS = {"read": "may read", "write": "may write", "paused": "paused", "revoked": "revoked"}


def add_to(commands: Any) -> None:
    """Add the command to argparse's subparsers."""
    command = commands.add_parser(
        "agents",
        help="List agents, issue their tokens, allow or revoke them.",
        description="The agents that this user knows: who may write, who has a token of their own.\n"
        "A new agent may read and not write until you allow it. `pause` stops its writes\n"
        "until `resume`; `revoke` shuts it out. What gives rights asks for the name again.",
        epilog="example:\n  synapse agents list",
    )
    command.add_argument("action", metavar="ACTION", choices=ACTIONS, help=f"{', '.join(ACTIONS)}")
    command.add_argument("name", metavar="NAME", nargs="?", help="the agent's name")
    command.add_argument("--json", action="store_true", help="print one JSON document")
    command.set_defaults(run=run)


def run(values: argparse.Namespace) -> int:
    """Run the command; returns the exit status. Raises UsageError, NotFound, WriteFailed."""
    from synapse.agents.registry import Registry
    from synapse.engine.errors import UsageError

    registry = Registry()
    action, name = values.action, values.name
    if action == "list":
        if name is not None:
            raise UsageError("`synapse agents list` takes no name.", "Leave it out.")
        _list(registry.known(), as_json=values.json)
        return 0
    if name is None:
        raise UsageError(f"`synapse agents {action}` lacks NAME.", "See `synapse agents list`.")
    if action in _PERSON_ONLY:
        _confirm(_PERSON_ONLY[action].format(name=name), name, action)
    if action == "add":
        _show_token(name, registry.add(name), as_json=values.json)
        return 0
    getattr(registry, action)(name)
    agent = next(agent for agent in registry.known() if agent.name.casefold() == name.strip().casefold())
    if values.json:
        print(json.dumps(asdict(agent)))
    else:
        print(f"{agent.name}: {_ACCESS[agent.access]}.")
    return 0


def _confirm(what: str, name: str, action: str) -> None:
    from synapse.engine.errors import UsageError

    if not sys.stdin.isatty():
        raise UsageError(
            f"`synapse agents {action}` gives rights, so a person confirms it.",
            "Run it at a terminal, or do it in the window.",
        )
    sys.stderr.write(f"This {what}.\nType the agent's name to go on: ")
    sys.stderr.flush()
    if sys.stdin.readline().strip() != name.strip():
        raise UsageError("That is not the agent's name; nothing was changed.", "Try again.")


def _show_token(name: str, token: str, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"name": name, "token": token}))
        return
    print(f"The token of {name}, shown this once:\n\n  {token}\n")
    print("Put it into the host's configuration as the variable SYNAPSE_AGENT_TOKEN.")


def _list(agents: tuple[KnownAgent, ...], *, as_json: bool) -> None:
    from synapse.cli import terminal
    from synapse.cli.tables import table

    if as_json:
        print(json.dumps([asdict(agent) for agent in agents], indent=2))
        return
    if not agents:
        print("No agent was here yet. `synapse mcp-config VAULT` connects one.")
        return
    rows = [
        [a.name, _ACCESS[a.access], "token" if a.has_token else "name only", _minute(a.last_seen)]
        for a in agents
    ]
    lines = table(["agent", "access", "proof", "last seen (UTC)"], rows, terminal.width())
    terminal.write(terminal.visible("\n".join(lines) + "\n"))


def _minute(time: str | None) -> str:
    return "never" if time is None else time[:16].replace("T", " ")
