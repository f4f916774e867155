"""What `synapse mcp-config` prints works as it stands, from any folder and with an empty environment."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

HOSTS = ("claude-desktop", "claude-code", "cursor", "vscode", "zed")


def the_server(configuration: Any) -> dict[str, Any]:
    """The one object with a command, however deep the host wants it."""
    found = []
    waiting = [configuration]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if "command" in value:
                found.append(value)
            waiting += value.values()
    (server,) = found
    return server


@pytest.mark.parametrize("host", HOSTS)
def test_the_printed_configuration_answers_from_a_bare_environment(
    host: str, world: Any, vault: Path
) -> None:
    printed = world.run("mcp-config", str(vault), "--host", host)
    assert printed.returncode == 0, printed.stderr
    server = the_server(json.loads(printed.stdout))
    frames = [
        {
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "bare", "version": "1"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "dependency_impact", "arguments": {"entity": "modules/payments"}},
        },
    ]  # fmt: skip
    # The mark is only there so that the processes can be found again.
    environment = [f"{name}={value}" for name, value in server.get("env", {}).items()]
    mark = f"SYNAPSE_TEST_MARK={world.mark}"
    process = subprocess.Popen(
        ["env", "-i", mark, *environment, server["command"], *server["args"]],
        cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    for frame in frames:
        process.stdin.write(json.dumps(frame).encode() + b"\n")
    process.stdin.flush()
    answers = {}
    while 2 not in answers:
        line = process.stdout.readline()
        assert line, "the bridge ended without an answer"
        frame = json.loads(line)
        answers[frame.get("id")] = frame
    process.stdin.close()
    assert process.wait(30) == 0
    process.stdout.close()
    assert process.stderr is not None
    process.stderr.close()
    result = answers[2]["result"]
    expected = json.loads(
        (Path(__file__).parents[1] / "sample_vault" / "payments_impact.json").read_text(encoding="utf-8")
    )
    assert result["structuredContent"]["total"] == expected["total"]
    assert "modules/checkout" in result["content"][0]["text"]
