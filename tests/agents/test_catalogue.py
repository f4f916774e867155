"""The bridge's catalogue is what a real owner says, and its tools are as every host can take them."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from synapse.agents import catalogue
from synapse.agents.owner import Owner
from synapse.agents.registry import Registry
from synapse.agents.tools.table import TOOLS
from synapse.bridge.catalogue import Catalogue
from synapse.bridge.dialling import dial
from synapse.engine import open_vault

WRITE = "SYNAPSE_WRITE_CATALOGUE"


class Wire:
    """A connection to an owner, spoken to in frames."""

    def __init__(self, owner: Owner) -> None:
        self._socket, _ = dial(owner.discovery, "mcp", agent="wire")
        self._socket.settimeout(30)
        self._file = self._socket.makefile("rb")

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        message = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
        self._socket.sendall(json.dumps(message).encode() + b"\n")
        answer = json.loads(self._file.readline())
        assert answer["id"] == method
        return answer["result"]

    def close(self) -> None:
        self._file.close()
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


def told_by_an_owner(folder: Path) -> dict[str, Any]:
    """The catalogue as a real owner tells it over its socket, once in each era."""
    folder.mkdir()
    with open_vault(folder) as engine:
        owner = Owner(engine, "headless", Registry())
        try:
            wire = Wire(owner)
            found = {"initialize": wire.ask("initialize", catalogue.OPENING["initialize"])}
            found |= {name: wire.ask(method, {})[name] for name, method in catalogue.LISTS.items()}
            wire.close()
            wire = Wire(owner)
            found["discover"] = wire.ask("server/discover", catalogue.OPENING["server/discover"])
            wire.close()
        finally:
            owner.close()
    return found


def test_the_bridges_catalogue_is_what_a_real_owner_tells(tmp_path: Path) -> None:
    if os.environ.get(WRITE) == "1":
        catalogue.FILE.write_text(catalogue.text(), "utf-8")
    kept = json.loads(catalogue.FILE.read_text("utf-8"))
    assert kept == told_by_an_owner(tmp_path / "vault"), f"run this test with {WRITE}=1 to write it anew"
    assert Catalogue().version == kept["initialize"]["serverInfo"]["version"]


def test_the_catalogue_is_written_the_same_each_time() -> None:
    assert catalogue.text() == catalogue.text()
    assert json.loads(catalogue.text()) == catalogue.catalogue()


TOLD = {tool["name"]: tool for tool in json.loads(catalogue.FILE.read_text("utf-8"))["tools"]}


def test_tools_are_listed_in_the_order_of_the_table() -> None:
    assert list(TOLD) == [tool.name for tool in TOOLS]
    assert len(set(TOLD)) == len(TOOLS)


@pytest.mark.parametrize("name", TOLD)
def test_a_tools_schemas_are_plain_objects_that_every_host_takes(name: str) -> None:
    tool = TOLD[name]
    assert name.isascii() and 0 < len(name) <= 64 and name.replace("_", "").isalnum()
    for schema in (tool["inputSchema"], tool["outputSchema"]):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert not {"anyOf", "oneOf", "allOf", "not", "$ref"} & set(schema)
    for argument in tool["inputSchema"]["properties"].values():
        assert argument["description"]
        assert "type" in argument


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_says_what_it_does_in_words_and_hints(tool: Any) -> None:
    told = TOLD[tool.name]
    assert told["title"]
    assert 80 < len(told["description"]) < 1500
    assert told["annotations"] == {
        "title": tool.title,
        "readOnlyHint": tool.reads,
        "destructiveHint": tool.destructive,
        "idempotentHint": tool.idempotent,
        "openWorldHint": False,
    }
    jsonschema.validate(dict(tool.example), told["inputSchema"])


def test_only_two_tools_write_and_one_takes_away() -> None:
    assert [tool.name for tool in TOOLS if not tool.reads] == ["assert_facts", "retract_facts"]
    assert [tool.name for tool in TOOLS if tool.destructive] == ["retract_facts"]
