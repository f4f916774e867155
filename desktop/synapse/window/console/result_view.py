"""The results: a table with links, a plain yes or no, or nothing and what to do next."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction, QContextMenuEvent, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QMenu, QTableView, QWidget

from synapse.window.console.result_model import ResultModel, openable
from synapse.window.theme import GRID, Theme

WIDEST = 360
NARROWEST = 64
SQUEEZED = 110
MEASURED = 200
"""Rows that decide how wide a column begins."""


def shared_out(wanted: Sequence[int], room: int) -> list[int]:
    """Widths that fit into `room` if that is possible without going below SQUEEZED: the widest
    columns give first."""
    bound = max(wanted, default=0)
    while sum(min(width, bound) for width in wanted) > room and bound > SQUEEZED:
        bound -= 4
    return [min(width, bound) for width in wanted]


class ResultTable(QTableView):
    """Keys: Enter opens the note of a cell, Ctrl+C copies what is selected."""

    opened = Signal(str)
    """Entity id or path."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.model_ = ResultModel(theme, self)
        self.setModel(self.model_)
        self.setAccessibleName(self.tr("Results"))
        self.setSortingEnabled(False)
        self.setAlternatingRowColors(True)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 2 * GRID)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        header = self.horizontalHeader()
        header.setSectionsMovable(True)
        header.setStretchLastSection(True)
        header.setSectionsClickable(True)
        header.setHighlightSections(False)
        header.sectionClicked.connect(self._on_header)
        self._order: tuple[int, Qt.SortOrder] | None = None
        self.doubleClicked.connect(self.open_cell)
        self._repaint()
        theme.changed.connect(self._repaint)

    def fit_columns(self, width: int) -> None:
        """As wide as their text needs, within bounds and `width`; called once for each answer."""
        self._order = None
        header = self.horizontalHeader()
        header.setSortIndicatorShown(False)
        metrics, wanted = self.fontMetrics(), []
        for column in range(self.model_.columnCount()):
            texts = [str(self.model_.headerData(column, Qt.Orientation.Horizontal))]
            texts += [
                self.model_.shown(self.model_.row_terms(row)[column])
                for row in range(min(self.model_.rowCount(), MEASURED))
            ]
            widest = max(metrics.horizontalAdvance(text) for text in texts)
            wanted.append(max(NARROWEST, min(widest + 28, WIDEST)))
        room = width - self.verticalHeader().sizeHint().width() - 16
        for column, given in enumerate(shared_out(wanted, room)):
            self.setColumnWidth(column, given)

    @Slot(int)
    def _on_header(self, column: int) -> None:
        """First click ascending, second descending, third the order of the query again."""
        header = self.horizontalHeader()
        ascending, descending = Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder
        if self._order is None or self._order[0] != column:
            self._order = (column, ascending)
        elif self._order[1] == ascending:
            self._order = (column, descending)
        else:
            self._order = None
        if self._order is None:
            header.setSortIndicatorShown(False)
            self.model_.sort(-1)
            return
        header.setSortIndicatorShown(True)
        header.setSortIndicator(*self._order)
        self.model_.sort(*self._order)

    @Slot(QModelIndex)
    def open_cell(self, index: QModelIndex) -> None:
        """Opens the note of a cell, if it is one."""
        entity = self.model_.entity(self.model_.term(index))
        if entity is not None and openable(entity):
            self.opened.emit(entity.path or entity.id)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.open_cell(self.currentIndex())
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy_cells()
        else:
            super().keyPressEvent(event)

    # -- copying -------------------------------------------------------------------------------

    def _chosen(self) -> tuple[list[int], list[int]]:
        """Selected rows and columns as they are seen, left to right."""
        indexes = self.selectionModel().selectedIndexes()
        header = self.horizontalHeader()
        rows = sorted({index.row() for index in indexes})
        columns = sorted({index.column() for index in indexes}, key=header.visualIndex)
        return rows, columns

    @Slot()
    def copy_cells(self) -> None:
        rows, columns = self._chosen()
        if len(rows) == 1 and len(columns) == 1:
            # One cell is copied as it is, line ends and all.
            text = self.model_.text(self.model_.row_terms(rows[0])[columns[0]])
        else:
            text = self.model_.as_tsv(rows, columns)
        QGuiApplication.clipboard().setText(text)

    @Slot()
    def copy_rows(self) -> None:
        rows, _ = self._chosen()
        header = self.horizontalHeader()
        columns = sorted(range(self.model_.columnCount()), key=header.visualIndex)
        QGuiApplication.clipboard().setText(self.model_.as_tsv(rows, columns))

    @Slot()
    def copy_markdown(self) -> None:
        rows, _ = self._chosen()
        QGuiApplication.clipboard().setText(self.model_.as_markdown(rows))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        keyboard = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if keyboard else self.indexAt(event.pos())
        if index.isValid():
            at: QPoint = self.visualRect(index).center() if keyboard else event.pos()
            self.menu_for(index).popup(self.viewport().mapToGlobal(at))

    def menu_for(self, index: QModelIndex) -> QMenu:
        """What can be done with a cell and what is selected."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        entity = self.model_.entity(self.model_.term(index))
        if entity is not None and openable(entity):
            opening = QAction(self.tr("Open {name}\tEnter").format(name=entity.label), menu)
            target = entity.path or entity.id
            opening.triggered.connect(lambda: self.opened.emit(target))
            menu.addAction(opening)
            menu.addSeparator()
        for text, act in (
            (self.tr("Copy\tCtrl+C"), self.copy_cells),
            (self.tr("Copy rows"), self.copy_rows),
            (self.tr("Copy rows as a Markdown table"), self.copy_markdown),
        ):
            action = QAction(text, menu)
            action.triggered.connect(act)
            menu.addAction(action)
        return menu

    @Slot()
    def _repaint(self) -> None:
        ground = self._theme.color("panel").name()
        self.setStyleSheet(f"QTableCornerButton::section {{ background: {ground}; border: none; }}")
        self.viewport().update()
