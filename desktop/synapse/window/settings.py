"""What the window remembers between starts: in the user's settings folder, never in a vault."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from platformdirs import user_config_path
from PySide6.QtCore import QByteArray, QSettings

from synapse.window.theme import CHOICES

SMALLEST, LARGEST = 8.0, 32.0
CLOSING_CHOICES = ("ask", "keep", "stop")


class WindowSettings:
    """Theme, text size, shortcuts, and the arrangement of each vault's window."""

    def __init__(self, folder: Path | None = None) -> None:
        """folder: where `window.ini` lies, by default the user's settings folder."""
        folder = folder or user_config_path("synapse", appauthor=False)
        folder.mkdir(parents=True, exist_ok=True)
        self._store = QSettings(str(folder / "window.ini"), QSettings.Format.IniFormat)

    def sync(self) -> None:
        """Write what was changed now."""
        self._store.sync()

    @property
    def theme(self) -> str:
        choice = str(self._store.value("theme", "system"))
        return choice if choice in CHOICES else "system"

    @theme.setter
    def theme(self, choice: str) -> None:
        self._store.setValue("theme", choice)

    @property
    def note_points(self) -> float:
        """The size of a note's text in points."""
        try:
            points = float(self._store.value("note-points", 11.0))
        except (TypeError, ValueError):
            return 11.0
        return min(LARGEST, max(SMALLEST, points))

    @note_points.setter
    def note_points(self, points: float) -> None:
        self._store.setValue("note-points", min(LARGEST, max(SMALLEST, points)))

    @property
    def when_closing(self) -> str:
        """What to do when the window closes with agents attached: `ask`, `keep` serving or `stop`."""
        choice = str(self._store.value("when-closing", "ask"))
        return choice if choice in CLOSING_CHOICES else "ask"

    @when_closing.setter
    def when_closing(self, choice: str) -> None:
        self._store.setValue("when-closing", choice)

    @property
    def keys(self) -> dict[str, str]:
        """Shortcuts a person chose, by command id."""
        self._store.beginGroup("keys")
        keys = {key: str(self._store.value(key)) for key in self._store.childKeys()}
        self._store.endGroup()
        return keys

    def of_vault(self, vault: Path) -> VaultSettings:
        """What is remembered for one vault."""
        return VaultSettings(self._store, sha256(os.fsencode(vault)).hexdigest()[:16])


class VaultSettings:
    """The arrangement of one vault's window."""

    def __init__(self, store: QSettings, key: str) -> None:
        self._store = store
        self._group = f"vault-{key}/"

    def text(self, key: str, default: str = "") -> str:
        return str(self._store.value(self._group + key, default))

    def flag(self, key: str, default: bool = False) -> bool:
        return self.text(key, "true" if default else "false").lower() == "true"

    def texts(self, key: str) -> list[str]:
        found = self._store.value(self._group + key, [])
        return [found] if isinstance(found, str) else [str(item) for item in found or []]

    def state(self, key: str) -> QByteArray:
        found = self._store.value(self._group + key)
        return found if isinstance(found, QByteArray) else QByteArray()

    def set(self, key: str, value: str | bool | list[str] | QByteArray) -> None:
        self._store.setValue(self._group + key, value)
