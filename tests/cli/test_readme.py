"""The README's table of commands is the one that the command line's grammar gives."""

from __future__ import annotations

import os
from pathlib import Path

from synapse.cli.parser import build_parser
from synapse.engine.operations import OPERATIONS

README = Path(__file__).resolve().parents[2] / "README.md"
BEGIN, END = "<!-- commands -->\n", "<!-- /commands -->"


OTHERS = {
    "open": "[VAULT]",
    "serve": "VAULT",
    "mcp": "--vault VAULT [--agent NAME]",
    "mcp-config": "VAULT [--host HOST]",
    "agents": "list\\|add\\|allow\\|pause\\|resume\\|revoke [NAME]",
}
"""The arguments of commands that are no operations on a vault, as the README shows them."""


def commands() -> dict[str, str]:
    """What the command line's help says of each command."""
    (choices,) = (action for action in build_parser()._actions if action.dest == "command")
    return {choice.dest: str(choice.help) for choice in choices._get_subactions()}


def table() -> str:
    docs = commands()
    rows = ["| command | does |", "|---|---|", f"| `open {OTHERS['open']}` | {docs.pop('open')} |"]
    for operation in OPERATIONS:
        names = [operation.name]
        arguments = [a for a in operation.arguments if a.positional]
        if operation.name == "scenarios":  # the one command whose action stands before the vault
            action = arguments.pop(0)
            names.append("\\|".join(action.choices))
        names.append("VAULT")
        names += [a.name.upper() if a.required else f"[{a.name.upper()}]" for a in arguments]
        rows.append(f"| `{' '.join(names)}` | {docs.pop(operation.name)} |")
    rows += [f"| `{name} {OTHERS[name]}` | {doc} |" for name, doc in docs.items()]
    return "\n".join(rows) + "\n"


def test_the_readme_lists_every_command() -> None:
    """SYNAPSE_WRITE_README=1 brings the README in line."""
    text = README.read_text("utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    wanted = before + BEGIN + table() + END + after
    if os.environ.get("SYNAPSE_WRITE_README"):
        README.write_text(wanted, "utf-8")
    assert README.read_text("utf-8") == wanted
