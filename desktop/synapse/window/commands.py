"""One table of everything a person can do: menus, keys, the palette and the tests use its names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget


@dataclass(frozen=True, slots=True)
class Command:
    """id: `note.save`; title: as the menu shows it; shortcut: as Qt writes it, "" for none."""

    id: str
    title: str
    shortcut: str
    run: Callable[[], object]
    checkable: bool = False


class Commands(QObject):
    """The commands of one window, each with its action.

    keys: shortcuts a person chose, by command id; they replace the defaults.
    """

    def __init__(self, window: QWidget, keys: Mapping[str, str] | None = None) -> None:
        super().__init__(window)
        self._window = window
        self._keys = dict(keys or {})
        self._commands: dict[str, Command] = {}
        self._actions: dict[str, QAction] = {}

    def add(
        self, id: str, title: str, shortcut: str, run: Callable[[], object], *, checkable: bool = False
    ) -> QAction:
        """Declare a command. Raises ValueError for an id or a shortcut that is taken."""
        if id in self._commands:
            raise ValueError(f"there is a command {id} already")
        shortcut = self._keys.get(id, shortcut)
        taken = next((c.id for c in self._commands.values() if shortcut and c.shortcut == shortcut), None)
        if taken is not None:
            raise ValueError(f"{shortcut} belongs to {taken}, {id} cannot have it")
        self._commands[id] = Command(id, title, shortcut, run, checkable)
        action = QAction(title, self)
        action.setObjectName(id)
        action.setCheckable(checkable)
        if shortcut:
            action.setShortcut(QKeySequence(shortcut))
            action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        action.triggered.connect(lambda _checked=False: run())
        self._window.addAction(action)
        self._actions[id] = action
        return action

    def action(self, id: str) -> QAction:
        return self._actions[id]

    def run(self, id: str) -> None:
        """Do it, if it can be done now."""
        self._actions[id].trigger()

    def enable(self, enabled: bool, *ids: str) -> None:
        for id in ids:
            self._actions[id].setEnabled(enabled)

    def __iter__(self) -> Iterator[Command]:
        return iter(self._commands.values())

    def __contains__(self, id: str) -> bool:
        return id in self._commands
