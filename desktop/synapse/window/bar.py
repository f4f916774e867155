"""A bar says something where it happens, with what can be done about it; nothing pops up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt, QTimer, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from synapse.window.panel import tool_button
from synapse.window.theme import GRID, ICON, PADDING, Theme

Action = tuple[str, Callable[[], object]]
PASSING_MS = 6000


class Bar(QFrame):
    """One message with its actions. A bar that passes goes by itself."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("bar")
        self._theme = theme
        self._sign = QLabel(self)
        self._sign.setFixedSize(ICON, ICON)
        self.text = QLabel(self)
        self.text.setWordWrap(True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.progress = QProgressBar(self)
        self.progress.setTextVisible(False)
        self.progress.setFixedWidth(160)
        self.progress.hide()
        self._buttons: list[QPushButton] = []
        self._closer = tool_button(theme, "close", self.tr("Close this message"), self)
        self._closer.clicked.connect(self.dismiss)
        self._passing = QTimer(self)
        self._passing.setSingleShot(True)
        self._passing.setInterval(PASSING_MS)
        self._passing.timeout.connect(self.dismiss)
        row = QHBoxLayout(self)
        row.setContentsMargins(PADDING + GRID, GRID, GRID, GRID)
        row.setSpacing(PADDING)
        row.addWidget(self._sign)
        row.addWidget(self.text, 1)
        row.addWidget(self.progress)
        self._actions = QHBoxLayout()
        self._actions.setSpacing(0)
        row.addLayout(self._actions)
        row.addWidget(self._closer)
        self._on_close: Callable[[], object] | None = None
        self._icon = ("info", "accent")
        theme.changed.connect(self._draw_sign)
        self.hide()

    def say(
        self,
        text: str,
        actions: Sequence[Action] = (),
        *,
        icon: str = "info",
        color: str = "accent",
        passing: bool = False,
        closable: bool = True,
        closed: Callable[[], object] | None = None,
    ) -> None:
        """Show a message. passing: it goes by itself. closed: called when a person closes it."""
        self.text.setText(text)
        self.text.setAccessibleName(text)
        for button in self._buttons:
            self._actions.removeWidget(button)
            button.hide()
            button.deleteLater()
        self._buttons = []
        for label, act in actions:
            button = QPushButton(label, self)
            button.setObjectName("link")
            button.clicked.connect(act)
            self._actions.addWidget(button)
            self._buttons.append(button)
        self._closer.setVisible(closable)
        self._on_close = closed
        self.progress.hide()
        self._icon = (icon, color)
        self._draw_sign()
        self._passing.stop()
        if passing:
            self._passing.start()
        self.show()

    def say_error(self, text: str, hint: str = "", actions: Sequence[Action] = ()) -> None:
        """What went wrong and what to do."""
        self.say(f"{text} {hint}".strip(), actions, icon="error", color="error")

    def say_progress(self, text: str, done: int, total: int, actions: Sequence[Action] = ()) -> None:
        """Long work and how far it is; total 0 means not known."""
        if not self.progress.isVisibleTo(self) or len(actions) != len(self._buttons):
            self.say(text, actions, closable=False)
            self.progress.show()
        self.text.setText(text)
        self.progress.setRange(0, total)
        self.progress.setValue(done)

    @property
    def buttons(self) -> tuple[QPushButton, ...]:
        return tuple(self._buttons)

    @Slot()
    def dismiss(self) -> None:
        """Take the bar away."""
        self._passing.stop()
        self.hide()
        on_close, self._on_close = self._on_close, None
        if on_close is not None:
            on_close()

    def withdraw(self) -> None:
        """Take the bar away because its reason has gone."""
        self._on_close = None
        self.dismiss()

    @Slot()
    def _draw_sign(self) -> None:
        self._sign.setPixmap(self._theme.icon(*self._icon).pixmap(QSize(ICON, ICON)))


class Bars(QWidget):
    """A column of bars, one a reason, above what they are about."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._bars: dict[str, Bar] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)

    def bar(self, reason: str) -> Bar:
        """The bar for a reason, made when first asked for."""
        if reason not in self._bars:
            self._bars[reason] = Bar(self._theme, self)
            self._column.addWidget(self._bars[reason])
        return self._bars[reason]

    def withdraw(self, reason: str) -> None:
        if reason in self._bars:
            self._bars[reason].withdraw()

    def is_shown(self, reason: str) -> bool:
        return reason in self._bars and not self._bars[reason].isHidden()
