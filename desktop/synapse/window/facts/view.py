"""A tree of facts: a click opens, Why? asks for the proof, all of it from the keyboard too."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
)
from PySide6.QtWidgets import QAbstractItemView, QMenu, QStyleOptionViewItem, QTreeView, QWidget

from synapse.window.facts.delegate import Part, RowDelegate
from synapse.window.facts.model import ROW_ROLE, RowsModel
from synapse.window.facts.rows import Row
from synapse.window.theme import PADDING, Theme

Index = QModelIndex | QPersistentModelIndex

MOST_OPENED = 400
"""Rows that are unfolded at first; a longer list stays folded below that."""


def _plain(index: Index) -> QModelIndex:
    """A persistent index as a plain one, which is all that views take."""
    return QModelIndex(index)  # type: ignore[arg-type]


class FactsView(QTreeView):
    """Shows rows. Keys: Enter opens, Shift+Enter opens the line it is written on, ? asks why."""

    opened = Signal(str, int)
    """Entity id or path, and line; 0 is none."""
    why = Signal(object)
    """A Fact."""
    moreWanted = Signal()

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = RowsModel(self)
        self._delegate = RowDelegate(theme, self.tr("Why?"), self)
        self.setModel(self._model)
        self.setItemDelegate(self._delegate)
        self.setAccessibleName(name)
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setIndentation(PADDING)
        self.setExpandsOnDoubleClick(False)
        self.setUniformRowHeights(False)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setMouseTracking(True)
        self.setStyleSheet("QTreeView { show-decoration-selected: 0; }")
        self._pressed: tuple[QPersistentModelIndex, Part] | None = None
        theme.changed.connect(self._repaint)

    # -- content -------------------------------------------------------------------------------

    def set_rows(self, rows: Iterable[Row], depth: int = 8) -> None:
        """Shows other rows, unfolded to `depth` where they are `open_at_first`.

        The row that was current stays so if it is still there, and the view where it was.
        """
        current = self.row(self.currentIndex())
        scrolled = self.verticalScrollBar().value()
        self._delegate.hovered = None
        self._model.set_rows(rows)
        self._unfold(depth)
        if current is not None:
            found = self._find(current.spoken)
            if found.isValid():
                self.setCurrentIndex(found)
        self.verticalScrollBar().setValue(scrolled)

    def _unfold(self, depth: int) -> None:
        waiting = [(self._model.index(n, 0), 1) for n in range(self._model.rowCount())]
        opened = len(waiting)
        while waiting:
            index, level = waiting.pop(0)
            row = self.row(index)
            if row is None or row.inside is None or not row.open_at_first or level >= depth:
                continue
            below = self._model.rowCount(index)
            if opened + below > MOST_OPENED and level > 1:
                continue
            opened += below
            self.setExpanded(index, True)
            waiting += [(self._model.index(n, 0, index), level + 1) for n in range(below)]

    def _find(self, spoken: str) -> QModelIndex:
        index = self._model.index(0, 0)
        while index.isValid():
            row = self.row(index)
            if row is not None and row.spoken == spoken:
                return index
            index = self.indexBelow(index)
        return QModelIndex()

    def row(self, index: Index) -> Row | None:
        found = index.data(ROW_ROLE) if index.isValid() else None
        return found if isinstance(found, Row) else None

    def visible_rows(self) -> list[Row]:
        """The rows that are not folded away, in order."""
        rows, index = [], self._model.index(0, 0)
        while index.isValid():
            row = self.row(index)
            if row is not None:
                rows.append(row)
            index = self.indexBelow(index)
        return rows

    def as_text(self) -> str:
        """The rows that are not folded away, indented, for the clipboard."""
        lines, index = [], self._model.index(0, 0)
        while index.isValid():
            row, depth, above = self.row(index), 0, index.parent()
            while above.isValid():
                depth, above = depth + 1, above.parent()
            lines.append("  " * depth + (row.spoken if row is not None else ""))
            index = self.indexBelow(index)
        return "\n".join(lines)

    # -- acting --------------------------------------------------------------------------------

    def act(self, index: Index, part: Part) -> None:
        """What a click on a part of a row, or its key, does."""
        row = self.row(index)
        if row is None:
            return
        if part == "why":
            if row.fact is not None:
                self.why.emit(row.fact)
        elif part == "place":
            if row.place is not None:
                self.opened.emit(row.place.path, row.place.line or 0)
        elif row.kind == "more":
            self.moreWanted.emit()
        elif part == "toggle" or row.opens is None:
            if row.inside is not None:
                self.setExpanded(_plain(index), not self.isExpanded(_plain(index)))
        else:
            self.opened.emit(row.opens[0], row.opens[1] or 0)

    def _part_at(self, index: Index, point: QPointF) -> Part:
        option = QStyleOptionViewItem()
        self.initViewItemOption(option)
        option.rect = self.visualRect(_plain(index))
        return self._delegate.part_at(option, index, point)

    def part_rect(self, index: QModelIndex, part: Part) -> QPoint:
        """The middle of a part of a row in the viewport (for tests and for tooltips)."""
        option = QStyleOptionViewItem()
        self.initViewItemOption(option)
        option.rect = self.visualRect(index)
        parts = self._delegate.layout(option, index)
        boxes = {"why": parts.why, "place": parts.place, "toggle": parts.chevron, "row": parts.text}
        return boxes[part].center()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        self._pressed = None
        if index.isValid() and event.button() == Qt.MouseButton.LeftButton:
            self._pressed = (QPersistentModelIndex(index), self._part_at(index, event.position()))
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if self._pressed is None or event.button() != Qt.MouseButton.LeftButton:
            return
        pressed, part = self._pressed
        self._pressed = None
        index = self.indexAt(event.position().toPoint())
        if pressed.isValid() and pressed == index and self._part_at(index, event.position()) == part:
            self.act(index, part)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        hovered: tuple[int, Part] | None = None
        if index.isValid():
            hovered = (index.internalId(), self._part_at(index, event.position()))
        if hovered != self._delegate.hovered:
            self._delegate.hovered = hovered
            hand = hovered is not None and hovered[1] in ("why", "place")
            shape = Qt.CursorShape.PointingHandCursor if hand else Qt.CursorShape.ArrowCursor
            self.viewport().setCursor(shape)
            self.viewport().update()
        super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._delegate.hovered = None
        self.viewport().update()
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and index.isValid():
            shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self.act(index, "place" if shift else "row")
        elif event.text() == "?" and index.isValid():
            self.act(index, "why")
        elif event.matches(QKeySequence.StandardKey.Copy):
            self._copy()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        keyboard = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if keyboard else self.indexAt(event.pos())
        menu = self.menu_for(index)
        if menu is not None:
            point = self.visualRect(index).center() if keyboard else event.pos()
            menu.popup(self.viewport().mapToGlobal(point))

    def menu_for(self, index: QModelIndex) -> QMenu | None:
        """The menu of a row: all that can be done with it, with its keys."""
        row = self.row(index)
        if row is None:
            return None
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        place = QPersistentModelIndex(index)

        def add(text: str, part: Part) -> None:
            action = QAction(text, menu)
            action.triggered.connect(lambda: self.act(place, part))
            menu.addAction(action)

        if row.opens is not None:
            add(self.tr("Open\tEnter"), "row")
        if row.place is not None:
            add(self.tr("Open {place}\tShift+Enter").format(place=row.place.text), "place")
        if row.fact is not None:
            add(self.tr("Why?\t?"), "why")
        copy = QAction(self.tr("Copy"), menu)
        copy.triggered.connect(lambda: QGuiApplication.clipboard().setText(row.spoken))
        menu.addAction(copy)
        return menu

    def _copy(self) -> None:
        row = self.row(self.currentIndex())
        if row is not None:
            QGuiApplication.clipboard().setText(row.spoken)

    def drawBranches(self, painter: QPainter, rect: QRect, index: Index) -> None:
        """Nothing: the delegate draws the chevrons, and a row's ground is one shape."""

    @Slot()
    def _repaint(self) -> None:
        self.viewport().update()
