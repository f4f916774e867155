"""The browser panel: filter, tree, and a line in which a new note gets its name."""

from __future__ import annotations

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import QActionGroup, QGuiApplication, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLabel,
    QLineEdit,
    QMenu,
    QToolButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from synapse.window.browser.model import VaultModel
from synapse.window.naming import NoteName, note_name
from synapse.window.note_list import NoteList
from synapse.window.panel import Panel, counted, grouped
from synapse.window.session import Session
from synapse.window.theme import GRID, ICON, PADDING, Theme

FILTER_MS = 80
CHEVRON = 14


class BrowserPanel(Panel):
    """Lists the vault's notes. `noteRequested` opens one, `noteNamed` writes a new one at a path."""

    noteRequested = Signal(str)
    noteNamed = Signal(str)
    sortChanged = Signal(bool)

    def __init__(
        self, session: Session, notes: NoteList, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(session.engine.name, theme, parent)
        self._session = session
        self._notes = notes
        self._expanded: set[str] = set()
        self._restoring = False
        self.model = VaultModel(theme, self)
        self.filter = QLineEdit(self)
        self.filter.setPlaceholderText(self.tr("Filter notes"))
        self.filter.setAccessibleName(self.tr("Filter notes"))
        self.filter.setClearButtonEnabled(True)
        self.name = QLineEdit(self)
        self.name.setPlaceholderText(self.tr("Name, e.g. people/zoe"))
        self.name.setAccessibleName(self.tr("Name of the new note"))
        self.name_hint = QLabel(self)
        self.name_hint.setObjectName("muted")
        self.name_hint.setWordWrap(True)
        self.tree = _Tree(theme, self)
        self.tree.setModel(self.model)
        self.tree.setAccessibleName(self.tr("Folders and notes"))
        self.nothing = QLabel(self)
        self.nothing.setObjectName("emptyText")
        self.nothing.setWordWrap(True)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._lay_out()
        self._delay = QTimer(self)
        self._delay.setSingleShot(True)
        self._delay.setInterval(FILTER_MS)
        self._delay.timeout.connect(self._apply_filter)
        self._connect()
        self.new = self.add_action("note-new", self.tr("New note"), self.ask_name)
        self.sort = self._sort_button()
        self.reveal = self.add_action("locate", self.tr("Show the open note here"), self.reveal_current)
        self._fold = self.add_action("collapse", self.tr("Fold all folders"), self.fold_all)
        if notes.is_known:
            self._notes_changed()
        else:
            self.show_empty(self.tr("Reading the vault…"))

    def _lay_out(self) -> None:
        body = QWidget(self)
        column = QVBoxLayout(body)
        column.setContentsMargins(0, PADDING, 0, 0)
        column.setSpacing(GRID)
        for widget in (self.filter, self.name, self.name_hint):
            row = QVBoxLayout()
            row.setContentsMargins(PADDING, 0, PADDING, 0)
            row.addWidget(widget)
            column.addLayout(row)
        column.addWidget(self.tree, 1)
        column.addWidget(self.nothing, 1)
        self.name.hide()
        self.name_hint.hide()
        self.nothing.hide()
        self.set_body(body)

    def _connect(self) -> None:
        self._notes.changed.connect(self._notes_changed)
        self._session.noteOpened.connect(self._note_opened)
        self.filter.textChanged.connect(self._filter_typed)
        self.filter.installEventFilter(self)
        self.name.installEventFilter(self)
        self.name.textChanged.connect(self._name_typed)
        self.name.returnPressed.connect(self._name_given)
        self.tree.clicked.connect(self._clicked)
        self.tree.entered_key.connect(self._activated)
        self.tree.expanded.connect(self._unfolded)
        self.tree.collapsed.connect(self._folded)
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.tree.customContextMenuRequested.connect(self._menu)

    def _sort_button(self) -> QToolButton:
        button = self.add_action("sort", self.tr("Sort"))
        menu = QMenu(button)
        group = QActionGroup(menu)
        self._by_name = menu.addAction(self.tr("By name"))
        self._by_time = menu.addAction(self.tr("Newest first"))
        for action in (self._by_name, self._by_time):
            action.setCheckable(True)
            group.addAction(action)
        self._by_name.setChecked(True)
        group.triggered.connect(lambda action: self.sort_by_time(action is self._by_time))
        button.setMenu(menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        return button

    # -- contents ------------------------------------------------------------------------------

    @Slot()
    def _notes_changed(self) -> None:
        current = self.model.data(self.tree.currentIndex(), Qt.ItemDataRole.UserRole)
        self.model.set_notes(self._notes.records)
        self._after_reset()
        if current:
            index = self.model.index_of(current)
            if index.isValid():
                self.tree.setCurrentIndex(index)
        if not self._notes.records:
            self.set_count(None)
            self.show_empty(
                self.tr("This vault has no notes yet."), (self.tr("Write the first note"), self.ask_name)
            )
            if not self.name.isHidden():
                self.show_body()
        else:
            self.show_body()

    def _after_reset(self) -> None:
        total, matches = len(self._notes.records), self.model.matches
        self.set_count(total if matches == total else f"{grouped(matches)} of {grouped(total)}")
        filtering = bool(self.filter.text().strip())
        self._restoring = True
        if filtering:
            self.tree.expandAll() if matches <= 500 else self.tree.expandToDepth(0)
        else:
            for path in self._expanded:
                self.tree.setExpanded(self.model.index_of(path), True)
        self._restoring = False
        missing = filtering and not matches
        self.nothing.setText(self.tr("No note has “{text}”.").format(text=self.filter.text().strip()))
        self.nothing.setVisible(missing)
        self.tree.setVisible(not missing)

    @Slot(str)
    def _filter_typed(self, _text: str) -> None:
        self._delay.start()

    @Slot()
    def _apply_filter(self) -> None:
        self.model.set_filter(self.filter.text())
        self._after_reset()

    def sort_by_time(self, by_time: bool) -> None:
        """Newest first, or by name."""
        (self._by_time if by_time else self._by_name).setChecked(True)
        self.model.sort_by_time(by_time)
        self._after_reset()
        self.sortChanged.emit(by_time)

    @Slot(QModelIndex)
    def _unfolded(self, index: QModelIndex) -> None:
        if not self._restoring:
            self._expanded.add(self.model.data(index, Qt.ItemDataRole.UserRole))

    @Slot(QModelIndex)
    def _folded(self, index: QModelIndex) -> None:
        if not self._restoring:
            self._expanded.discard(self.model.data(index, Qt.ItemDataRole.UserRole))

    @Slot()
    def fold_all(self) -> None:
        self._expanded.clear()
        self.tree.collapseAll()

    # -- opening -------------------------------------------------------------------------------

    @Slot(str)
    def _note_opened(self, path: str) -> None:
        self.model.set_current(path)

    @Slot()
    def reveal_current(self) -> None:
        """Unfold the folders above the open note and scroll to it."""
        path = self._session.current
        if not path:
            return
        if not self.model.index_of(path).isValid() and self.filter.text():
            self.filter.clear()
            self._apply_filter()
        index = self.model.index_of(path)
        if index.isValid():
            above = index.parent()
            while above.isValid():
                self.tree.setExpanded(above, True)
                above = above.parent()
            self.tree.setCurrentIndex(index)
            self.tree.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)

    @Slot(QModelIndex)
    def _clicked(self, index: QModelIndex) -> None:
        node = self.model.node_at(index)
        if node is None:
            return
        if node.is_folder:
            self.tree.setExpanded(index, not self.tree.isExpanded(index))
        else:
            self.noteRequested.emit(node.path)

    @Slot(QModelIndex)
    def _activated(self, index: QModelIndex) -> None:
        self._clicked(index)

    @Slot(QPoint)
    def _menu(self, point: QPoint) -> None:
        node = self.model.node_at(self.tree.indexAt(point))
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        folder = ""
        if node is not None:
            folder = node.path if node.is_folder else node.path.rpartition("/")[0]
            if node.record is not None:
                path, entity = node.path, node.record.entity_id
                menu.addAction(self.tr("Open"), lambda: self.noteRequested.emit(path))
                menu.addSeparator()
                menu.addAction(self.tr("Copy id"), lambda: QGuiApplication.clipboard().setText(entity))
                link = f"[[{entity}]]"
                menu.addAction(self.tr("Copy link"), lambda: QGuiApplication.clipboard().setText(link))
                menu.addSeparator()
        here = self.tr("New note in {folder}").format(folder=folder) if folder else self.tr("New note")
        menu.addAction(here, lambda: self.ask_name(f"{folder}/" if folder else ""))
        menu.popup(self.tree.viewport().mapToGlobal(point))

    # -- new notes -----------------------------------------------------------------------------

    @Slot()
    def ask_name(self, start: object = None) -> None:
        """Let a person type the name of a new note; beside the open one if `start` is not given."""
        if not isinstance(start, str):
            folder = (self._session.current or "").rpartition("/")[0]
            start = f"{folder}/" if folder else ""
        self.show_body()
        self.name.setText(start)
        self.name.show()
        self._name_typed()
        self.name.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.name.end(False)

    def _name(self) -> NoteName:
        return note_name(self.name.text(), [record.path for record in self._notes.records])

    @Slot()
    def _name_typed(self) -> None:
        name = self._name()
        typed = self.name.text().strip().rpartition("/")[2]
        text = name.problem if typed and name.problem else name.warning
        self.name_hint.setText(text or self.tr("Enter writes the note, Esc goes back."))
        self.name_hint.setVisible(not self.name.isHidden())

    @Slot()
    def _name_given(self) -> None:
        name = self._name()
        if name.problem:
            self.name_hint.setText(name.problem)
            return
        self._hide_name()
        self.noteNamed.emit(name.path)

    def _hide_name(self) -> None:
        self.name.hide()
        self.name_hint.hide()
        if self._notes.is_known and not self._notes.records:
            self._notes_changed()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if watched is self.name and event.key() == Qt.Key.Key_Escape:
                self._hide_name()
                self.tree.setFocus()
                return True
            if watched is self.filter and event.key() == Qt.Key.Key_Escape and self.filter.text():
                self.filter.clear()
                return True
            if watched is self.filter and event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return):
                self._first_match(open_it=event.key() == Qt.Key.Key_Return)
                return True
        return super().eventFilter(watched, event)

    def _first_match(self, *, open_it: bool) -> None:
        self._apply_filter()
        index = self.model.index(0, 0)
        while (node := self.model.node_at(index)) is not None and node.is_folder and open_it:
            index = self.model.index(0, 0, index)
        if index.isValid():
            self.tree.setFocus()
            self.tree.setCurrentIndex(index)
            if open_it:
                self._clicked(index)

    @property
    def summary(self) -> str:
        """How many notes there are, in words."""
        return counted(len(self._notes.records), "note", "notes")


class _Tree(QTreeView):
    """A tree in which Enter opens and a click on a folder unfolds."""

    entered_key = Signal(QModelIndex)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setIndentation(16)
        self.setIconSize(QSize(ICON, ICON))
        self.setExpandsOnDoubleClick(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)

    def drawBranches(
        self, painter: QPainter, rect: QRect, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """A chevron in the theme's colour beside a folder."""
        if self.model().rowCount(index):
            name = "chevron-down" if self.isExpanded(index) else "chevron-right"
            place = QRect(0, 0, CHEVRON, CHEVRON)
            place.moveCenter(rect.center())
            place.moveRight(rect.right() - 1)
            self._theme.icon(name, "muted").paint(painter, place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.entered_key.emit(self.currentIndex())
            return
        super().keyPressEvent(event)
