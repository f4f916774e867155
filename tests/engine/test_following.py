"""What others change in the folder is followed: files, folders, settings, journals of other devices."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from typing import Any

import pytest

from synapse.engine import Agent, Engine, WrittenFact

PATIENCE = 20
"""Seconds to wait for something that takes less than one where nothing else runs."""


@pytest.fixture
def followed(vault: Any) -> Any:
    """An engine that follows a vault with two notes, and a way to wait for what becomes true."""
    vault.write("people/ada.md", "knows:: [[people/bob]]\n")
    vault.write("people/bob.md", "# Bob\n")
    with vault.open() as engine:
        engine.index()
        changed = threading.Event()
        engine.subscribe(lambda _: changed.set())
        engine.watch()
        threading.Event().wait(0.5)  # the system's watches are set on another thread

        def until(holds: Callable[[Engine], bool]) -> None:
            for _ in range(PATIENCE * 4):
                if holds(engine):
                    return
                changed.wait(0.25)
                changed.clear()
            pytest.fail("it was not followed")

        yield vault, until


def notes(engine: Engine) -> set[str]:
    return {note.path for note in engine.notes()}


def asks(query: str) -> Callable[[Engine], bool]:
    return lambda engine: bool(engine.query(query).value)  # type: ignore[union-attr]


def test_a_new_a_changed_and_a_deleted_file(followed: Any) -> None:
    vault, until = followed
    vault.write("new.md", "[[people/ada]]\n")
    until(asks("ASK { <new> schema:mentions <people/ada> }"))
    vault.touch("new.md", "[[people/bob]]\n")
    until(asks("ASK { <new> schema:mentions <people/bob> }"))
    vault.delete("new.md")
    until(lambda engine: "new.md" not in notes(engine))


def test_a_renamed_folder_takes_its_notes_along(followed: Any) -> None:
    vault, until = followed
    shutil.move(vault.folder / "people", vault.folder / "persons")
    until(lambda engine: notes(engine) == {"persons/ada.md", "persons/bob.md"})
    until(lambda engine: engine.check().ok)


def test_settings_that_another_program_writes(followed: Any) -> None:
    vault, until = followed
    vault.write(".synapse/settings.json", json.dumps({"context": {"knows": "foaf:knows"}}))
    until(asks("ASK { <people/ada> foaf:knows <people/bob> }"))
    vault.write(".synapse/settings.json", json.dumps({"context": {"knows": 3}}))
    until(lambda engine: any("context" in d.message for d in engine.diagnostics()))
    until(asks("ASK { <people/ada> schema:knows <people/bob> }"))


def test_a_journal_that_a_sync_service_brings(followed: Any, make_vault: Callable[[], Any]) -> None:
    vault, until = followed
    other = make_vault()
    with other.open() as engine:
        engine.index()
        fact = WrittenFact("people/bob", "knows", "people/cem")
        engine.assert_facts([fact], source="x", reason="x", agent=Agent("scout"))
    shutil.copytree(other.folder / ".synapse", vault.folder / ".synapse", dirs_exist_ok=True)
    until(asks("ASK { <people/bob> schema:knows <people/cem> }"))
    until(lambda engine: engine.check().ok)
