"""Two versions of texts beside what changed between them, and the dialogs that show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from synapse.window.theme import GRID, PADDING, Theme

MOST_LINES = 4000


@dataclass(frozen=True, slots=True)
class Versions:
    """A text before and after. name: what a list calls it."""

    name: str
    before: str
    after: str


class DiffView(QPlainTextEdit):
    """A unified diff: what goes and what comes differ by sign and by colour."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setReadOnly(True)
        self.setFont(theme.mono_font())
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setAccessibleName(self.tr("What changes"))

    def show_versions(self, before: str, after: str) -> None:
        self.clear()
        lines = list(unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=3))[2:]
        cursor = QTextCursor(self.document())
        for number, line in enumerate(lines[:MOST_LINES]):
            cursor.insertText("\n" if number else "", self._format("text"))
            color = {"+": "success", "-": "error", "@": "muted"}.get(line[:1], "text")
            text = "⋯" if line.startswith("@@") else line
            cursor.insertText(text, self._format(color))
        if len(lines) > MOST_LINES:
            cursor.insertText(f"\n… {len(lines) - MOST_LINES:,} more lines", self._format("muted"))
        if not lines:
            cursor.insertText(self.tr("No difference."), self._format("muted"))
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def _format(self, token: str) -> QTextCharFormat:
        made = QTextCharFormat()
        color: QColor = self._theme.color(token)
        made.setForeground(color)
        return made


class DiffDialog(QDialog):
    """Files with their diffs, and buttons for what to do. `choice` is the button's id, "" for none."""

    def __init__(
        self,
        theme: Theme,
        title: str,
        intro: str,
        choices: Sequence[tuple[str, str]],
        parent: QWidget | None = None,
    ) -> None:
        """choices: (id, label) of the buttons, the first is the recommended one."""
        super().__init__(parent)
        self.setWindowTitle(title)
        self.choice = ""
        self.resize(860, 560)
        self.intro = QLabel(intro, self)
        self.intro.setWordWrap(True)
        self.files = QListWidget(self)
        self.files.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.files.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.files.setAccessibleName(self.tr("Notes that change"))
        self.diff = DiffView(theme, self)
        self._versions: list[Versions] = []
        self.files.currentRowChanged.connect(self._show)
        split = QSplitter(Qt.Orientation.Horizontal, self)
        split.addWidget(self.files)
        split.addWidget(self.diff)
        split.setStretchFactor(1, 1)
        split.setSizes([230, 630])
        buttons = QHBoxLayout()
        cancel = QPushButton(self.tr("Close"), self)
        cancel.clicked.connect(self.reject)
        buttons.addWidget(cancel)
        buttons.addStretch(1)
        self.buttons: dict[str, QPushButton] = {}
        for number, (name, label) in enumerate(choices):
            button = QPushButton(label, self)
            button.setDefault(number == 0)
            button.setAutoDefault(number == 0)
            button.clicked.connect(lambda _=False, name=name: self._choose(name))
            buttons.insertWidget(2, button)
            self.buttons[name] = button
        column = QVBoxLayout(self)
        column.setContentsMargins(*[PADDING + GRID] * 4)
        column.setSpacing(PADDING)
        column.addWidget(self.intro)
        column.addWidget(split, 1)
        column.addLayout(buttons)

    def set_versions(self, versions: Sequence[Versions]) -> None:
        """The files to list; a single one needs no list."""
        self._versions = list(versions)
        self.files.clear()
        self.files.addItems([found.name for found in versions])
        self.files.setVisible(len(versions) > 1)
        if versions:
            self.files.setCurrentRow(0)

    @Slot(int)
    def _show(self, row: int) -> None:
        if 0 <= row < len(self._versions):
            self.diff.show_versions(self._versions[row].before, self._versions[row].after)

    def _choose(self, name: str) -> None:
        self.choice = name
        self.accept()
