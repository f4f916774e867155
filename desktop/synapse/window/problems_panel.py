"""What could not be read as it was meant, by note and line; a click goes there."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QCoreApplication,
    QModelIndex,
    QPersistentModelIndex,
    QSize,
    Qt,
    Slot,
)
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QListView, QWidget

from synapse.engine.questions.results import NoteDiagnostic
from synapse.window.panel import Panel
from synapse.window.session import Session, in_words
from synapse.window.theme import ICON, Theme

_ICONS = {"error": ("error", "error"), "warning": ("warning", "warning"), "info": ("info", "muted")}
_WORDS = {"error": "Error", "warning": "Warning", "info": "Note"}


class ProblemsPanel(Panel):
    """Lists the diagnostics of the vault while it is seen."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(QCoreApplication.translate("ProblemsPanel", "Problems"), theme, parent)
        self.session = session
        self._stale = True
        self.model = _Problems(theme, self)
        self.view = QListView(self)
        self.view.setModel(self.model)
        self.view.setAccessibleName(self.tr("Problems in notes"))
        self.view.setUniformItemSizes(True)
        self.view.setIconSize(QSize(ICON, ICON))
        self.view.clicked.connect(self._open)
        self.view.activated.connect(self._open)
        self.set_body(self.view)
        session.changed.connect(self._changed)
        self.show_empty(self.tr("Nothing to mend: every note was read as it was meant."))

    @Slot(object)
    def _changed(self, _change: object) -> None:
        self._stale = True
        if self.isVisible():
            self.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self.refresh()

    @Slot()
    def refresh(self) -> None:
        self._stale = False
        self.session.run(self.session.engine.diagnostics, done=self._arrived, failed=self._failed)

    @Slot(object)
    def _arrived(self, problems: tuple[NoteDiagnostic, ...]) -> None:
        order = {"error": 0, "warning": 1}
        self.model.set_problems(sorted(problems, key=lambda found: order.get(found.severity, 2)))
        self.set_count(len(problems) or None)
        if problems:
            self.show_body()
        else:
            self.show_empty(self.tr("Nothing to mend: every note was read as it was meant."))

    @Slot(object)
    def _failed(self, error: BaseException) -> None:
        self.show_error(*in_words(error), (self.tr("Try again"), self.refresh))

    @Slot(QModelIndex)
    def _open(self, index: QModelIndex) -> None:
        problem = self.model.problem(index.row())
        if problem.path:
            self.session.open(problem.path, problem.line)


class _Problems(QAbstractListModel):
    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._problems: list[NoteDiagnostic] = []
        theme.changed.connect(self.layoutChanged)

    def set_problems(self, problems: list[NoteDiagnostic]) -> None:
        self.beginResetModel()
        self._problems = problems
        self.endResetModel()

    def problem(self, row: int) -> NoteDiagnostic:
        return self._problems[row]

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._problems)

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        problem = self._problems[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            place = f"{problem.path}:{problem.line}" if problem.line and problem.path else problem.path
            return f"{place}  {problem.message} {problem.hint}".strip()
        if role == Qt.ItemDataRole.DecorationRole:
            return self._theme.icon(*_ICONS.get(problem.severity, _ICONS["info"]))
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{problem.message}\n{problem.hint}".strip()
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{_WORDS.get(problem.severity, 'Note')}: {problem.path}: {problem.message}"
        return None
