"""What the dialog offers to copy is what a host can use, with a token where one was issued."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from PySide6.QtGui import QGuiApplication

from synapse.agents.host_configuration import HOSTS, configuration
from synapse.agents.registry import Registry
from synapse.window.connect_agent import ConnectDialog


def test_each_host_gets_its_own_form_and_place(room: Any, vault: Path) -> None:
    window = room.open(vault)
    window.commands.run("vault.connect")
    dialog = window.findChild(ConnectDialog)
    assert [dialog.host.itemData(row) for row in range(dialog.host.count())] == [*HOSTS, None]
    for row, name in enumerate(HOSTS):
        dialog.host.setCurrentIndex(row)
        dialog.copy.click()
        copied = json.loads(QGuiApplication.clipboard().text())
        assert copied == configuration(vault, name)
        assert HOSTS[name].path in dialog.where.text()


def test_an_issued_token_stands_in_the_text_and_proves_the_name(room: Any, vault: Path) -> None:
    window = room.open(vault)
    window.commands.run("vault.connect")
    dialog = window.findChild(ConnectDialog)
    dialog.name.setText("my notes agent")
    dialog.issue.click()
    room.until(lambda: "SYNAPSE_AGENT_TOKEN" in dialog.text.toPlainText())
    entry = next(iter(json.loads(dialog.text.toPlainText()).values()))["synapse"]
    assert entry["args"][-2:] == ["--agent", "my notes agent"]
    identity = Registry().identify("my notes agent", entry["env"]["SYNAPSE_AGENT_TOKEN"])
    assert identity.name == "my notes agent" and identity.proven
    assert "not shown again" in dialog.about_token.text()
    dialog.name.setText("another")
    assert "SYNAPSE_AGENT_TOKEN" not in dialog.text.toPlainText(), "the token is not the other's"
    room.attach(vault, "my notes agent", entry["env"]["SYNAPSE_AGENT_TOKEN"])
    room.until(lambda: dialog.attached.text() == "Attached: my notes agent.")


def test_a_name_that_cannot_be_is_refused_where_it_is_typed(room: Any, vault: Path) -> None:
    window = room.open(vault)
    window.commands.run("vault.connect")
    dialog = window.findChild(ConnectDialog)
    dialog.name.setText("bell\u0007")
    dialog.issue.click()
    room.until(lambda: "control character" in dialog.about_token.text())
    assert dialog.issue.isEnabled()
    assert not Registry().known()
