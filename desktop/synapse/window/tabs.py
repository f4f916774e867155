"""The open notes as tabs: movable, closable, a dot where something is not saved yet."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QTabBar, QTabWidget, QWidget

from synapse.window.editor.note_page import NotePage
from synapse.window.panel import tool_button
from synapse.window.session import Session
from synapse.window.theme import Theme


class NoteTabs(QTabWidget):
    """Each note is open at most once."""

    activated = Signal(str)
    """The path of the note in front, "" for none."""
    emptied = Signal(bool)
    """Whether no note is open any more."""
    zoomRequested = Signal(int)
    allSaved = Signal()
    saveFailed = Signal(str)
    """The path of a note that could not be saved."""

    def __init__(self, session: Session, theme: Theme, points: float, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._theme = theme
        self._points = points
        self._waiting = False
        bar = _Bar(self)
        self.setTabBar(bar)
        self.setDocumentMode(True)
        self.setMovable(True)
        self.setElideMode(Qt.TextElideMode.ElideMiddle)
        self.setUsesScrollButtons(True)
        self.setIconSize(QSize(12, 12))
        bar.setExpanding(False)
        bar.middleClicked.connect(self.close_at)
        self.currentChanged.connect(self._current_changed)
        theme.changed.connect(self._redraw)
        session.changed.connect(self._look_at_disks)

    # -- pages ---------------------------------------------------------------------------------

    def pages(self) -> list[NotePage]:
        """The open notes, in the order of their tabs."""
        return [page for page in map(self.widget, range(self.count())) if isinstance(page, NotePage)]

    @property
    def page(self) -> NotePage | None:
        """The note in front."""
        page = self.currentWidget()
        return page if isinstance(page, NotePage) else None

    def page_of(self, path: str) -> NotePage | None:
        return next((page for page in self.pages() if page.path == path), None)

    def open(self, path: str, line: int = 0, *, focus: bool = True) -> NotePage:
        """Show a note, in its tab if it is open already."""
        page = self.page_of(path)
        if page is None:
            page = NotePage(self._session, path, self._theme, self)
            page.edit.set_points(self._points)
            page.stateChanged.connect(self._redraw)
            page.closeRequested.connect(self._close_sender)
            page.zoomRequested.connect(self.zoomRequested)
            page.note.saved.connect(self._check_all_saved)
            page.note.failed.connect(self._save_failed)
            place = self.insertTab(self.currentIndex() + 1, page, page.title)
            self.setTabToolTip(place, path)
            closer = tool_button(self._theme, "close", self.tr("Close {name}").format(name=page.title), self)
            closer.setFixedSize(20, 20)
            closer.setIconSize(QSize(12, 12))
            closer.clicked.connect(lambda _=False, page=page: self.close_page(page))
            self.tabBar().setTabButton(place, QTabBar.ButtonPosition.RightSide, closer)
            self.emptied.emit(False)
        self.setCurrentWidget(page)
        page.go_to_line(line)
        if focus:
            page.edit.setFocus(Qt.FocusReason.OtherFocusReason)
        return page

    def set_points(self, points: float) -> None:
        """The size of notes' text."""
        self._points = points
        for page in self.pages():
            page.edit.set_points(points)

    @Slot()
    def _look_at_disks(self) -> None:
        for page in self.pages():
            page.note.look_at_disk()

    @Slot(int)
    def _current_changed(self, _place: int) -> None:
        page = self.page
        self.activated.emit(page.path if page else "")

    @Slot()
    def _redraw(self) -> None:
        for place, page in enumerate(self.pages()):
            note = page.note
            mark = "warning" if note.conflict or note.is_missing else "dot" if note.is_dirty else ""
            color = "warning" if mark == "warning" else "accent"
            icon = self._theme.icon(mark, color) if mark else self._theme.icon("note", "muted")
            self.setTabIcon(place, icon)
            state = {"warning": self.tr("needs you"), "dot": self.tr("not saved yet"), "": ""}[mark]
            self.setTabToolTip(place, f"{page.path} ({state})" if state else page.path)
            self.tabBar().setAccessibleTabName(place, f"{page.title}, {state}" if state else page.title)

    # -- closing -------------------------------------------------------------------------------

    @Slot()
    def close_current(self) -> None:
        if self.page is not None:
            self.close_page(self.page)

    @Slot(int)
    def close_at(self, place: int) -> None:
        page = self.widget(place)
        if isinstance(page, NotePage):
            self.close_page(page)

    @Slot()
    def _close_sender(self) -> None:
        page = self.sender()
        if isinstance(page, NotePage):
            self._remove(page)

    def close_page(self, page: NotePage) -> None:
        """Save and close; a note that cannot be saved stays and says why."""
        note = page.note
        if note.conflict is not None or note.is_missing:
            self.setCurrentWidget(page)
            return
        if note.is_dirty and not note.read_only:
            page.closes_when_saved = True
            note.saved.connect(page.close_if_saved)
            note.save()
        else:
            self._remove(page)

    def _remove(self, page: NotePage) -> None:
        place = self.indexOf(page)
        if place >= 0:
            self.removeTab(place)
        page.close_note()
        page.deleteLater()
        if not self.count():
            self.emptied.emit(True)

    def close_all(self) -> None:
        """Drop all pages; save them before."""
        self.blockSignals(True)
        for page in self.pages():
            self.removeTab(self.indexOf(page))
            page.close_note()
            page.deleteLater()
        self.blockSignals(False)

    # -- saving --------------------------------------------------------------------------------

    @Slot()
    def save_current(self) -> None:
        if self.page is not None:
            self.page.note.save()

    def unsaved(self) -> list[NotePage]:
        """Pages with text that is not on disk."""
        return [page for page in self.pages() if page.note.is_dirty or page.note.is_saving]

    def save_all(self) -> None:
        """Save what is not saved; `allSaved` or `saveFailed` follows."""
        self._waiting = True
        for page in self.unsaved():
            if page.note.conflict is not None or page.note.is_missing or page.note.read_only:
                self._waiting = False
                self.saveFailed.emit(page.path)
                return
            page.note.save()
        self._check_all_saved()

    @Slot()
    def _check_all_saved(self) -> None:
        if self._waiting and not self.unsaved():
            self._waiting = False
            self.allSaved.emit()

    @Slot()
    def _save_failed(self) -> None:
        if self._waiting:
            self._waiting = False
            note = self.sender()
            self.saveFailed.emit(getattr(note, "path", ""))

    def each(self, act: Callable[[NotePage], object]) -> None:
        for page in self.pages():
            act(page)


class _Bar(QTabBar):
    """Middle click closes; tabs are as wide as they need, up to a limit."""

    middleClicked = Signal(int)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.MiddleButton:
            place = self.tabAt(event.position().toPoint())
            if place >= 0:
                self.middleClicked.emit(place)
                return
        super().mouseReleaseEvent(event)

    def tabSizeHint(self, index: int) -> QSize:
        size = super().tabSizeHint(index)
        return QSize(min(size.width(), 240), size.height())
