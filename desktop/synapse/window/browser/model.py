"""Folders and notes as a tree for Qt. Sorting and filtering happen here, on plain objects: a proxy
model would call back into Python for each comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from synapse.engine.catalogue import FileRecord
from synapse.window.theme import Theme

PATH_ROLE = Qt.ItemDataRole.UserRole
_Index = QModelIndex | QPersistentModelIndex


class Node:
    """A folder or a note. record: None for a folder. shown: the children that pass the filter."""

    __slots__ = ("children", "id", "name", "newest", "parent", "path", "record", "row", "shown")

    def __init__(self, name: str, path: str, parent: Node | None, record: FileRecord | None = None) -> None:
        self.name = name
        self.path = path
        self.parent = parent
        self.record = record
        self.children: dict[str, Node] = {}
        self.shown: list[Node] = []
        self.row = 0
        self.id = 0
        self.newest = record.mtime_ns if record else 0

    @property
    def is_folder(self) -> bool:
        return self.record is None


class VaultModel(QAbstractItemModel):
    """The tree of a vault's notes. `by_time`: newest first, else by name, folders first."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._root = Node("", "", None)
        self._nodes: dict[str, Node] = {}
        self._by_id: list[Node] = [self._root]
        self._filter: list[str] = []
        self.by_time = False
        self.current = ""
        """Path of the note that is open."""
        self.matches = 0
        theme.changed.connect(self._repaint)

    # -- contents ------------------------------------------------------------------------------

    def set_notes(self, records: Iterable[FileRecord]) -> None:
        """Show these notes from now on."""
        self.beginResetModel()
        self._root = Node("", "", None)
        self._nodes = {"": self._root}
        for record in records:
            folder = self._root
            *parents, name = record.path.split("/")
            for depth, part in enumerate(parents):
                if part not in folder.children:
                    path = "/".join(parents[: depth + 1])
                    folder.children[part] = self._nodes[path] = Node(part, path, folder)
                folder = folder.children[part]
                folder.newest = max(folder.newest, record.mtime_ns)
            # A folder and a note may share a name, but not with the ending.
            note = Node(name.removesuffix(".md"), record.path, folder, record)
            folder.children[name] = self._nodes[record.path] = note
        self._by_id = list(self._nodes.values())
        for number, node in enumerate(self._by_id):
            node.id = number
        self._arrange()
        self.endResetModel()

    def set_filter(self, text: str) -> None:
        """Show only notes with every word of `text` in their path, title or aliases."""
        words = text.casefold().split()
        if words != self._filter:
            self.beginResetModel()
            self._filter = words
            self._arrange()
            self.endResetModel()

    def sort_by_time(self, by_time: bool) -> None:
        if by_time != self.by_time:
            self.beginResetModel()
            self.by_time = by_time
            self._arrange()
            self.endResetModel()

    def _arrange(self) -> None:
        self.matches = 0
        self._arrange_folder(self._root)

    def _arrange_folder(self, folder: Node) -> None:
        shown = []
        for node in folder.children.values():
            if node.is_folder:
                self._arrange_folder(node)
                if node.shown:
                    shown.append(node)
            elif self._passes(node):
                self.matches += 1
                shown.append(node)
        if self.by_time:
            shown.sort(key=lambda node: (-node.newest, node.name.casefold()))
        else:
            shown.sort(key=lambda node: (not node.is_folder, node.name.casefold(), node.name))
        for row, node in enumerate(shown):
            node.row = row
        folder.shown = shown

    def _passes(self, node: Node) -> bool:
        record = node.record
        if not self._filter or record is None:
            return True
        text = "\n".join((record.path, record.title, *record.aliases)).casefold()
        return all(word in text for word in self._filter)

    def folders(self) -> Iterator[str]:
        """Paths of all folders with notes below them."""
        return (path for path, node in self._nodes.items() if node.is_folder)

    def index_of(self, path: str) -> QModelIndex:
        """Where a note or folder is shown; invalid if it is not."""
        node = self._nodes.get(path)
        if node is None or node.parent is None:
            return QModelIndex()
        above: Node | None = node
        while above is not None and above.parent is not None:
            if above.row >= len(above.parent.shown) or above.parent.shown[above.row] is not above:
                return QModelIndex()
            above = above.parent
        return self.createIndex(node.row, 0, node.id)

    def set_current(self, path: str) -> None:
        """Mark the note that is open."""
        before, self.current = self.current, path
        for changed in (before, path):
            index = self.index_of(changed)
            if index.isValid():
                self.dataChanged.emit(index, index)

    def _repaint(self) -> None:
        self.layoutChanged.emit()

    # -- Qt ------------------------------------------------------------------------------------

    def _node(self, index: _Index) -> Node:
        # Numbers, not pointers: an index that outlives a reset must not reach freed memory.
        number = index.internalId() if index.isValid() else 0
        return self._by_id[number] if number < len(self._by_id) else self._root

    def index(self, row: int, column: int, parent: _Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        shown = self._node(parent).shown
        if column or not 0 <= row < len(shown):
            return QModelIndex()
        return self.createIndex(row, 0, shown[row].id)

    def parent(self, index: _Index) -> QModelIndex:  # type: ignore[override]
        above = self._node(index).parent if index.isValid() else None
        if above is None or above.parent is None:
            return QModelIndex()
        return self.createIndex(above.row, 0, above.id)

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return len(self._node(parent).shown)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 1

    def flags(self, index: _Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return flags if self._node(index).is_folder else flags | Qt.ItemFlag.ItemNeverHasChildren

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        node = self._node(index)
        if role == Qt.ItemDataRole.DisplayRole:
            return node.name
        if role == PATH_ROLE:
            return node.path
        if role == Qt.ItemDataRole.DecorationRole:
            return self._theme.icon("folder" if node.is_folder else "note", "muted")
        if role == Qt.ItemDataRole.ForegroundRole and node.path == self.current and not node.is_folder:
            return self._theme.color("accent")
        if role == Qt.ItemDataRole.ToolTipRole:
            return node.path if node.record is None or node.record.title == node.name else (
                f"{node.record.title}\n{node.path}"
            )
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{node.name}, folder" if node.is_folder else node.name
        return None

    def node_at(self, index: _Index) -> Node | None:
        return self._node(index) if index.isValid() else None
