"""What is printed for each host is what that host reads, and starts the bridge from anywhere."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from synapse.agents import host_configuration
from synapse.agents.host_configuration import HOSTS, configuration
from synapse.bridge import places
from synapse.cli import connecting, main
from synapse.engine.errors import UsageError

# Where each host looks for servers, and what an entry has besides command, args and env.
SHAPES = {
    "claude-desktop": ("mcpServers", {}),
    "claude-code": ("mcpServers", {"type": "stdio"}),
    "cursor": ("mcpServers", {"type": "stdio"}),
    "vscode": ("servers", {"type": "stdio"}),
    "zed": ("context_servers", {"source": "custom"}),
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "my notes é"
    folder.mkdir()
    return folder


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Any:
    def call(*words: str | Path) -> tuple[int, str, str]:
        capfd.readouterr()
        status = main([str(word) for word in words])
        return status, *capfd.readouterr()

    return call


def entry_of(found: dict[str, Any], key: str) -> dict[str, Any]:
    assert list(found) == [key]
    assert list(found[key]) == ["synapse"]
    entry: dict[str, Any] = found[key]["synapse"]
    return entry


def test_every_host_of_the_command_line_has_a_shape() -> None:
    assert set(SHAPES) == set(HOSTS) == set(connecting.HOSTS)


@pytest.mark.parametrize("host", SHAPES)
def test_each_host_gets_its_own_shape(host: str, vault: Path, run: Any) -> None:
    status, out, err = run("mcp-config", vault, "--host", host)
    assert status == 0
    key, extra = SHAPES[host]
    entry = entry_of(json.loads(out), key)
    assert {name: entry.get(name) for name in extra} == extra
    assert set(entry) <= {"command", "args", "env", *extra}
    assert entry["command"] == sys.executable
    assert entry["args"][-4:] == ["--vault", str(vault), "--agent", host]
    assert HOSTS[host].path in err


def test_claude_code_is_also_told_its_command(vault: Path, run: Any) -> None:
    _, out, err = run("mcp-config", vault, "--host", "claude-code")
    words = shlex.split(err.splitlines()[-1])
    assert words[:-1] == ["claude", "mcp", "add-json", "--scope", "user", "synapse"]
    assert json.loads(words[-1]) == json.loads(out)["mcpServers"]["synapse"]


def test_without_a_host_the_command_and_every_place_are_told(vault: Path, run: Any) -> None:
    status, out, err = run("mcp-config", vault)
    entry = entry_of(json.loads(out), "mcpServers")
    assert status == 0
    assert "--agent" not in entry["args"]
    assert host_configuration.shell([entry["command"], *entry["args"]]) in err
    assert all(host.title in err and host.path in err for host in HOSTS.values())


def test_json_is_one_document_and_nothing_else(vault: Path, run: Any) -> None:
    status, out, err = run("mcp-config", vault, "--host", "zed", "--json")
    assert (status, err) == (0, "")
    assert "context_servers" in json.loads(out)


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path, run: Any) -> None:
    status, out, err = run("mcp-config", tmp_path / "none")
    assert (status, out) == (1, "")
    assert "There is no folder" in err


def test_a_relative_path_is_made_absolute(vault: Path, monkeypatch: pytest.MonkeyPatch, run: Any) -> None:
    monkeypatch.chdir(vault.parent)
    _, out, _ = run("mcp-config", vault.name)
    args = json.loads(out)["mcpServers"]["synapse"]["args"]
    assert args[args.index("--vault") + 1] == str(vault)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="file names of Linux are bytes")
def test_a_folder_whose_name_is_no_text_is_refused() -> None:
    with pytest.raises(UsageError, match="not UTF-8"):
        configuration("/vault-\udcff", "zed")


@pytest.mark.skipif(os.name != "posix", reason="env -i")
@pytest.mark.parametrize("host", [None, "cursor"])
def test_it_works_from_the_root_folder_with_an_empty_environment(vault: Path, host: str | None) -> None:
    """Started exactly as printed, the bridge looks where this process would."""
    found = configuration(vault, host)
    entry = entry_of(found, "mcpServers")
    initialize = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    done = subprocess.run(
        [
            "env",
            "-i",
            *(f"{name}={value}" for name, value in entry.get("env", {}).items()),
            entry["command"],
            *entry["args"],
        ],
        input=json.dumps(initialize).encode() + b"\n",
        capture_output=True,
        cwd="/",
        timeout=60,
        check=False,
    )
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"]
    asked = subprocess.run(
        [entry["command"], "-P", "-c", "from synapse.bridge import places; print(places.data_folder())"],
        env=entry.get("env", {}),
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    )
    assert asked.stdout.strip() == places.data_folder()


def test_a_python_path_that_is_needed_is_handed_on(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = str(Path(host_configuration.__file__).resolve().parents[2])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["/elsewhere", here]))
    assert configuration(vault)["mcpServers"]["synapse"]["env"]["PYTHONPATH"] == here
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    assert "PYTHONPATH" not in configuration(vault)["mcpServers"]["synapse"].get("env", {})


def test_the_interpreter_of_a_virtual_environment_stays_its_own(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    linked = tmp_path / "python"
    linked.symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(linked))
    assert configuration(vault)["mcpServers"]["synapse"]["command"] == str(linked)
