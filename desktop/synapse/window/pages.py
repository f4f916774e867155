"""What stands in the middle when no note does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from synapse.window.theme import PADDING, Theme

Action = tuple[str, Callable[[], object]]
MARK = 40


class MiddlePage(QWidget):
    """A mark, a title, a sentence and what can be done."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("welcome")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.mark = QLabel(self)
        self.title = QLabel(self)
        self.title.setObjectName("welcomeTitle")
        self.text = QLabel(self)
        self.text.setObjectName("emptyText")
        self.progress = QProgressBar(self)
        self.progress.setTextVisible(False)
        self.progress.setFixedWidth(240)
        self.progress.setRange(0, 0)
        self._row = QHBoxLayout()
        self._row.setSpacing(PADDING)
        self._buttons: list[QPushButton] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(*[4 * PADDING] * 4)
        column.setSpacing(PADDING)
        column.addStretch(2)
        center = Qt.AlignmentFlag.AlignHCenter
        column.addWidget(self.mark, 0, center)
        for label in (self.title, self.text):
            label.setWordWrap(True)
            label.setAlignment(center)
            label.setTextFormat(Qt.TextFormat.PlainText)
            column.addWidget(label)
        column.addWidget(self.progress, 0, center)
        column.addSpacing(PADDING)
        column.addLayout(self._row)
        column.addStretch(3)

    def say(
        self,
        title: str,
        text: str,
        actions: Sequence[Action] = (),
        *,
        icon: str = "",
        color: str = "muted",
        busy: bool = False,
    ) -> None:
        """icon: a drawing, or "" for Synapse's mark. busy: something is on its way."""
        self._icon = (icon, color)
        self._draw()
        self.title.setText(title)
        self.text.setText(text)
        self.progress.setVisible(busy)
        while (item := self._row.takeAt(0)) is not None:
            if (button := item.widget()) is not None:
                button.hide()
                button.deleteLater()
        self._buttons = []
        self._row.addStretch(1)
        for number, (label, act) in enumerate(actions):
            made = QPushButton(label, self)
            if not number:
                made.setObjectName("primary")
            made.clicked.connect(act)
            self._row.addWidget(made)
            self._buttons.append(made)
        self._row.addStretch(1)
        self._theme.changed.connect(self._draw, Qt.ConnectionType.UniqueConnection)

    @Slot()
    def _draw(self) -> None:
        icon, color = self._icon
        if icon:
            self.mark.setPixmap(self._theme.picture(icon, color, MARK))
        else:
            self.mark.setPixmap(self._theme.application_icon().pixmap(QSize(MARK, MARK)))

    @property
    def buttons(self) -> tuple[QPushButton, ...]:
        return tuple(self._buttons)
