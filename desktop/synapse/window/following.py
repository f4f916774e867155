"""A panel about the open note: it follows the tabs and every write, and asks only while it is seen."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from synapse.window.panel import Panel
from synapse.window.session import Session, Task
from synapse.window.theme import Theme

SETTLE_MS = 80
"""Writes and tab changes that follow each other this fast are one reason to ask again."""


class FollowingPanel(Panel):
    """Subclasses say in `ask` what to run for `subject`, and in `say_nothing_open` what belongs here."""

    def __init__(self, title: str, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(title, theme, parent)
        self.session = session
        self.subject: str | None = None
        """Path or id of what the panel is about."""
        self._stale = True
        self._task: Task | None = None
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(SETTLE_MS)
        self._settle.timeout.connect(self.refresh)
        session.noteOpened.connect(self._on_note_opened)
        session.changed.connect(self._on_changed)

    # -- for subclasses ------------------------------------------------------------------------

    def follows(self) -> bool:
        """Whether the panel goes along when another note is opened."""
        return True

    def ask(self) -> Task:
        """Starts the question about `subject`; called only with one."""
        raise NotImplementedError

    def say_nothing_open(self) -> None:
        raise NotImplementedError

    def set_subject(self, subject: str | None) -> None:
        """What the panel is about from now on."""
        if subject == self.subject and not self._stale:
            return
        self.subject = subject
        self.mark_stale(at_once=True)

    def mark_stale(self, *, at_once: bool = False) -> None:
        """What is shown may no longer hold."""
        self._stale = True
        if not self.isVisible():
            return
        if at_once:
            self.refresh()
        elif not self._settle.isActive():
            self._settle.start()

    @Slot()
    def refresh(self) -> None:
        """Asks again; an earlier question that has no answer yet is given up."""
        self._settle.stop()
        self._stale = False
        if self._task is not None and not self._task.finished:
            self._task.cancel()
        self._task = None
        if self.subject is None:
            self.say_nothing_open()
        else:
            self._task = self.ask()

    # -- events --------------------------------------------------------------------------------

    @Slot(str)
    def _on_note_opened(self, path: str) -> None:
        if self.follows():
            self.set_subject(path or None)

    @Slot(object)
    def _on_changed(self, _change: object) -> None:
        self.mark_stale()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.subject is None and self.session.current and self.follows():
            self.subject = self.session.current
        if self._stale:
            self.refresh()
