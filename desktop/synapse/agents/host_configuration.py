"""What an agent's host needs in its configuration to start the bridge, in that host's own shape."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from synapse.bridge import places
from synapse.engine.errors import UsageError

SERVER = "synapse"
"""The name that a host shows for the server."""


@dataclass(frozen=True, slots=True)
class Host:
    """A program that runs agents.

    name: as `--host` takes it; key: the object in its file that lists servers; extra: what it wants
    in each entry besides command, arguments and environment; file: where the configuration lies by
    `sys.platform`, the first that its name begins with, "" for all others.
    """

    name: str
    title: str
    key: str
    file: Mapping[str, str]
    extra: Mapping[str, Any]

    @property
    def path(self) -> str:
        """Where the host reads the configuration on this system, as people write it."""
        for system, path in self.file.items():
            if sys.platform.startswith(system):
                return path
        raise AssertionError("a host has a file on every system")


_STDIO = {"type": "stdio"}

HOSTS = {
    host.name: host
    for host in (
        Host(
            "claude-desktop",
            "Claude Desktop",
            "mcpServers",
            {
                "darwin": "~/Library/Application Support/Claude/claude_desktop_config.json",
                "win": "%APPDATA%\\Claude\\claude_desktop_config.json",
                "": "~/.config/Claude/claude_desktop_config.json",
            },
            {},
        ),
        Host("claude-code", "Claude Code", "mcpServers", {"": ".mcp.json in the project's folder"}, _STDIO),
        Host("cursor", "Cursor", "mcpServers", {"": "~/.cursor/mcp.json"}, _STDIO),
        Host(
            "vscode",
            "VS Code",
            "servers",
            {"": ".vscode/mcp.json in the project's folder"},
            _STDIO,
        ),
        Host(
            "zed",
            "Zed",
            "context_servers",
            {"win": "%APPDATA%\\Zed\\settings.json", "": "~/.config/zed/settings.json"},
            # Zed before its servers' common form wants to be told that it is no extension's.
            {"source": "custom"},
        ),
    )
}
"""The hosts whose configuration is known, by name."""


def command(vault: str | os.PathLike[str], agent: str | None = None) -> list[str]:
    """The words that start the bridge from any folder and with any PATH. Raises UsageError.

    agent: the name that the agent claims.
    """
    path = os.path.abspath(os.path.expanduser(vault))
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"The name of the folder {path!r} is not UTF-8, and a configuration cannot hold it.",
            "Rename the folder.",
        ) from error
    # -P: a folder named synapse where the host stands is not the program.
    words = [_interpreter(), "-P", "-m", "synapse", "mcp", "--vault", path]
    return words if agent is None else [*words, "--agent", agent]


def environment() -> dict[str, str]:
    """The variables without which the bridge would look in other places than this process."""
    found = places.environment()
    path = [os.path.abspath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    here = str(Path(__file__).resolve().parents[2])
    if here in map(os.path.realpath, path):
        found["PYTHONPATH"] = here
    return found


def configuration(
    vault: str | os.PathLike[str],
    host: str | None = None,
    *,
    agent: str | None = None,
    token: str | None = None,
) -> dict[str, Any]:
    """The configuration for a host, or the form that most hosts share. Raises UsageError.

    host: a name in `HOSTS`, which is also the name that the agent claims unless `agent` is another.
    token: what it proves that name with.
    """
    known = None if host is None else HOSTS[host]
    first, *rest = command(vault, agent or host)
    entry: dict[str, Any] = {**(known.extra if known else {}), "command": first, "args": rest}
    variables = {**environment(), **({} if token is None else {"SYNAPSE_AGENT_TOKEN": token})}
    if variables:
        entry["env"] = variables
    return {known.key if known else "mcpServers": {SERVER: entry}}


def guidance(vault: str | os.PathLike[str], host: str | None = None) -> str:
    """What a person does with the configuration, a line or a few. Raises UsageError."""
    if host is None:
        width = max(len(known.title) for known in HOSTS.values())
        files = "\n".join(f"  {known.title:<{width}}  {known.path}" for known in HOSTS.values())
        return (
            f"The command by itself:\n  {shell(command(vault))}\n"
            f"Each host has its own shape (--host {', '.join(HOSTS)}) and place:\n{files}"
        )
    known = HOSTS[host]
    where = f"Put this into {known.path}, beside what is there, and restart {known.title}."
    if host == "claude-code":
        entry = json.dumps(configuration(vault, host)[known.key][SERVER], ensure_ascii=False)
        add = shell(["claude", "mcp", "add-json", "--scope", "user", SERVER, entry])
        return f"{where}\nOr, for all projects:\n  {add}"
    return where


def shell(words: list[str]) -> str:
    """A command line as this system's shell takes it."""
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def _interpreter() -> str:
    """The interpreter that runs this; not what it links to, which knows nothing of a venv."""
    path = sys.executable
    if os.path.basename(path).lower() == "pythonw.exe":  # has no standard streams
        path = os.path.join(os.path.dirname(path), "python.exe")
    return os.path.abspath(path)
