"""The frame of every panel: a title row with actions, and a body that is never just blank."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from synapse.window.theme import GRID, ICON, PADDING, ROW, TARGET, Theme


class TitleRow(QWidget):
    """Title left in semibold, a muted count beside it, actions right."""

    def __init__(self, title: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("titleRow")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(ROW)
        self.title = QLabel(title, self)
        self.title.setObjectName("panelTitle")
        self.count = QLabel(self)
        self.count.setObjectName("panelCount")
        row = QHBoxLayout(self)
        row.setContentsMargins(PADDING + GRID, 0, GRID, 0)
        row.setSpacing(GRID)
        row.addWidget(self.title)
        row.addWidget(self.count)
        row.addStretch(1)
        self._row = row

    def add(self, widget: QWidget) -> None:
        """Put a control at the right end."""
        self._row.addWidget(widget)

    def add_action(
        self, icon: str, text: str, triggered: Callable[[], object] | None = None, *, checkable: bool = False
    ) -> QToolButton:
        """A button with an icon; `text` is its tooltip and its name for a screen reader."""
        button = tool_button(self._theme, icon, text, self)
        button.setCheckable(checkable)
        if triggered is not None:
            button.clicked.connect(triggered)
        self.add(button)
        return button


class Panel(QWidget):
    """A docked panel. Subclasses give `set_body` their widget and say when there is nothing to show."""

    def __init__(self, title: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.title = title
        self.setObjectName("panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(title)
        self.title_row = TitleRow(title, theme, self)
        self._stack = QStackedWidget(self)
        self._body: QWidget | None = None
        self._message = _Message(self)
        self._stack.addWidget(self._message)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.title_row)
        column.addWidget(hairline(self))
        column.addWidget(self._stack, 1)

    def add_action(
        self, icon: str, text: str, triggered: Callable[[], object] | None = None, *, checkable: bool = False
    ) -> QToolButton:
        """A button in the title row; see `TitleRow.add_action`."""
        return self.title_row.add_action(icon, text, triggered, checkable=checkable)

    def set_body(self, widget: QWidget) -> None:
        """What the panel shows when it has something to show."""
        self._body = widget
        self._stack.addWidget(widget)
        self._stack.setCurrentWidget(widget)

    def show_body(self) -> None:
        if self._body is not None:
            self._stack.setCurrentWidget(self._body)

    def show_empty(self, text: str, action: tuple[str, Callable[[], object]] | None = None) -> None:
        """One sentence on what belongs here, and the action that brings it."""
        self._message.say(text, "", "emptyText", action)
        self._stack.setCurrentWidget(self._message)

    def show_error(
        self, text: str, hint: str = "", action: tuple[str, Callable[[], object]] | None = None
    ) -> None:
        """What went wrong, in place, and what to do."""
        self._message.say(text, hint, "errorText", action)
        self._stack.setCurrentWidget(self._message)

    def set_title(self, title: str) -> None:
        self.title = title
        self.title_row.title.setText(title)
        self.setAccessibleName(title)

    def set_count(self, count: int | str | None) -> None:
        """The muted number beside the title; None takes it away."""
        self.title_row.count.setText(
            "" if count is None else grouped(count) if isinstance(count, int) else count
        )

    @property
    def showing_message(self) -> str:
        """The sentence of the empty or error state, or "" while the body shows."""
        return self._message.text.text() if self._stack.currentWidget() is self._message else ""


class _Message(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.text = QLabel(self)
        self.hint = QLabel(self)
        self.hint.setObjectName("errorHint")
        self.action = QPushButton(self)
        self._act: Callable[[], object] | None = None
        self.action.clicked.connect(self._clicked)
        column = QVBoxLayout(self)
        column.setContentsMargins(PADDING * 2, PADDING * 2, PADDING * 2, PADDING * 2)
        column.setSpacing(PADDING)
        column.addStretch(1)
        for label in (self.text, self.hint):
            label.setWordWrap(True)
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            label.setTextFormat(Qt.TextFormat.PlainText)
            column.addWidget(label)
        column.addWidget(self.action, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(2)

    def say(self, text: str, hint: str, style: str, action: tuple[str, Callable[[], object]] | None) -> None:
        self.text.setText(text)
        if self.text.objectName() != style:
            self.text.setObjectName(style)
            self.text.style().unpolish(self.text)
            self.text.style().polish(self.text)
        self.hint.setText(hint)
        self.hint.setVisible(bool(hint))
        self._act = action[1] if action else None
        self.action.setText(action[0] if action else "")
        self.action.setVisible(action is not None)

    @Slot()
    def _clicked(self) -> None:
        if self._act is not None:
            self._act()


def tool_button(theme: Theme, icon: str, text: str, parent: QWidget | None = None) -> QToolButton:
    """An 18 px icon on a 28 px target."""
    button = QToolButton(parent)
    theme.set_icon(button, icon)
    button.setIconSize(QSize(ICON, ICON))
    button.setFixedSize(TARGET, TARGET)
    button.setToolTip(text)
    button.setAccessibleName(text)
    return button


def hairline(parent: QWidget | None = None, *, vertical: bool = False) -> QFrame:
    """One pixel between two areas."""
    line = QFrame(parent)
    line.setObjectName("hairline")
    if vertical:
        line.setFixedWidth(1)
        line.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
    else:
        line.setFixedHeight(1)
        line.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    return line


def grouped(number: int) -> str:
    """A number as people read it: 12,345."""
    return f"{number:,}"


def counted(number: int, one: str, many: str) -> str:
    """`1 note`, `1,200 notes`."""
    return f"{grouped(number)} {one if number == 1 else many}"
