"""The owner's side of the wire: what is no message is answered, and the connection goes on."""

from __future__ import annotations

import itertools
import json
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from synapse.agents.catalogue import OPENING
from synapse.bridge.dialling import MOST, dial


class Wire:
    """A greeted connection, spoken to in bytes."""

    def __init__(self, made: Any) -> None:
        self.socket, _ = dial(made.owner.discovery, "mcp", agent="wire")
        self.socket.settimeout(60)
        self._file = self.socket.makefile("rb")
        self._ids = itertools.count(1)

    def send(self, line: bytes) -> None:
        self.socket.sendall(line)

    def read(self) -> Any:
        return json.loads(self._file.readline())

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        id = next(self._ids)
        message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        self.send(json.dumps(message).encode() + b"\n")
        answer = self.read()
        assert answer["id"] == id
        return answer

    def close(self) -> None:
        self._file.close()
        self.socket.close()


@pytest.fixture
def wire(house: Callable[..., Any]) -> Iterator[Wire]:
    found = Wire(house({"a.md": "# A\n"}))
    found.ask("initialize", OPENING["initialize"])
    yield found
    found.close()


@pytest.mark.parametrize(
    ("line", "id", "code"),
    [
        (b"nonsense\n", None, -32700),
        (b"\xff\xfe\n", None, -32700),
        (b"[" * 100_000 + b"\n", None, -32700),
        (b"[]\n", None, -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n', None, -32600),
        (b"7\n", None, -32600),
        (b"{}\n", None, -32600),
        (b'{"jsonrpc":"1.0","id":5,"method":"ping"}\n', 5, -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}\n', None, -32600),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}\n', None, -32600),
        (b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}\n', None, -32600),
        (b'{"jsonrpc":"2.0","id":6,"method":7}\n', 6, -32600),
        (
            b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"search",'
            b'"arguments":{"text":"\\udfff"}}}\n',
            9,
            -32600,
        ),
    ],
)
def test_a_line_that_is_no_message_is_answered_and_the_next_is_understood(
    wire: Wire, line: bytes, id: object, code: int
) -> None:
    wire.send(line)
    answer = wire.read()
    assert (answer["id"], answer["error"]["code"]) == (id, code)
    assert answer["error"]["message"]
    assert wire.ask("ping", {})["result"] == {}


def test_empty_lines_are_nothing(wire: Wire) -> None:
    wire.send(b"\n\r\n  \n")
    assert wire.ask("ping", {})["result"] == {}


def test_a_message_that_is_too_long_is_refused_by_its_id_and_the_next_is_understood(wire: Wire) -> None:
    text = b"x" * (MOST + 1000)
    wire.send(b'{"jsonrpc":"2.0","id":"big","method":"tools/call","params":{"text":"' + text + b'"}}\n')
    answer = wire.read()
    assert (answer["id"], answer["error"]["code"]) == ("big", -32600)
    assert "8 MiB" in answer["error"]["message"]
    assert wire.ask("ping", {})["result"] == {}


def test_half_a_message_at_the_end_is_nothing(house: Callable[..., Any]) -> None:
    made = house({"a.md": "# A\n"})
    found = Wire(made)
    found.send(b'{"jsonrpc":"2.0","id":1,"method":"pi')
    found.socket.shutdown(socket.SHUT_WR)
    made.until(lambda: not made.owner.attached(), "hanging up")
    found.close()


@pytest.mark.parametrize("text", ["日本語", "👩‍👩‍👧", "e\u0301", "a\u2028b", "\ufffd", "\u202e"])
def test_characters_of_all_kinds_pass_unchanged(wire: Wire, text: str) -> None:
    answer = wire.ask(
        "tools/call", {"name": "sparql_query", "arguments": {"query": f'SELECT ("{text}" AS ?x) {{}}'}}
    )
    assert answer["result"]["structuredContent"]["rows"] == [{"x": {"text": text}}]


def test_a_client_that_does_not_read_stops_no_other(house: Callable[..., Any]) -> None:
    made = house()
    deaf, other = Wire(made), made.attach()
    deaf.ask("initialize", OPENING["initialize"])
    call = {"name": "entity_dossier", "arguments": {"entity": "people/ada"}}
    for id in range(200):
        message = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call}
        deaf.send(json.dumps(message).encode() + b"\n")
    assert other.call("entity_dossier", entity="people/ada")["total"]
    deaf.close()
    made.until(lambda: len(made.owner.attached()) == 1, "hanging up")
    assert other.call("digest")
