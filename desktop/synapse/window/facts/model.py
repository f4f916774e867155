"""Rows as a Qt model. Rows below a row are made when the view first asks for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from synapse.window.facts.rows import Row

Index = QModelIndex | QPersistentModelIndex
ROW_ROLE = Qt.ItemDataRole.UserRole + 1


class RowsModel(QAbstractItemModel):
    """A tree of rows in one column. An index's internal id is its row's place in `_rows`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Row] = []
        self._parents: list[int] = []
        self._positions: list[int] = []
        self._below: dict[int, list[int]] = {-1: []}

    def set_rows(self, rows: Iterable[Row]) -> None:
        self.beginResetModel()
        self._rows, self._parents, self._positions = [], [], []
        self._below = {}
        self._below[-1] = self._add(rows, -1)
        self.endResetModel()

    def _add(self, rows: Iterable[Row], parent: int) -> list[int]:
        added = []
        for position, row in enumerate(rows):
            added.append(len(self._rows))
            self._rows.append(row)
            self._parents.append(parent)
            self._positions.append(position)
        return added

    def row_at(self, index: Index) -> Row | None:
        return self._rows[index.internalId()] if index.isValid() else None

    def _children(self, parent: Index) -> list[int]:
        number = parent.internalId() if parent.isValid() else -1
        if number not in self._below:
            self._below[number] = self._add(self._rows[number].below(), number)
        return self._below[number]

    # -- QAbstractItemModel --------------------------------------------------------------------

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        children = self._children(parent)
        if column != 0 or not 0 <= row < len(children):
            return QModelIndex()
        return self.createIndex(row, 0, children[row])

    def parent(self, index: Index) -> QModelIndex:  # type: ignore[override]
        above = self._parents[index.internalId()] if index.isValid() else -1
        return QModelIndex() if above < 0 else self.createIndex(self._positions[above], 0, above)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return len(self._children(parent))

    def hasChildren(self, parent: Index = QModelIndex()) -> bool:  # noqa: B008
        if not parent.isValid():
            return bool(self._below[-1])
        return self._rows[parent.internalId()].inside is not None

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.row_at(index)
        if row is None:
            return None
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row.spoken
        if role == Qt.ItemDataRole.ToolTipRole and row.kind == "fact":
            parts = [row.text, row.detail, row.place.text if row.place else ""]
            return "\n".join(part for part in parts if part)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
