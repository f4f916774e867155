"""The window: menus, the middle, and the desk of the vault that is open."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QAction, QActionGroup, QCloseEvent
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QMainWindow,
    QMenu,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from synapse.engine import Engine
from synapse.engine.vaults import recent_vaults
from synapse.window.about import show_about
from synapse.window.agents.state import AgentsState
from synapse.window.bar import Bars
from synapse.window.commands import Commands
from synapse.window.desk import Desk
from synapse.window.leaving import Leaving
from synapse.window.menus import PANELS, build_commands, build_menus
from synapse.window.opening import VaultHost
from synapse.window.pages import MiddlePage
from synapse.window.quick_open import QuickOpen
from synapse.window.session import in_words
from synapse.window.settings import WindowSettings
from synapse.window.status_bar import VaultStatusBar
from synapse.window.theme import NOTE_POINTS, Theme


class MainWindow(QMainWindow):
    """Shows one vault. `open_vault` may be called again: the vault before is saved and closed first."""

    def __init__(self, settings: WindowSettings, theme: Theme, host: VaultHost) -> None:
        super().__init__()
        self.settings = settings
        self.theme = theme
        self.host = host
        self.desk: Desk | None = None
        self._wanted: tuple[Path, bool] | None = None
        self._asked: Path | None = None
        self._closing = False
        self._may_close = False
        self._unasked = False
        self.setWindowTitle("Synapse")
        self.setDockOptions(
            QMainWindow.DockOption.AnimatedDocks
            | QMainWindow.DockOption.AllowTabbedDocks
            | QMainWindow.DockOption.AllowNestedDocks
        )
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.setCorner(Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.LeftDockWidgetArea)
        self.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.RightDockWidgetArea)
        self.resize(1320, 840)
        self.bars = Bars(theme, self)
        self.page = MiddlePage(theme, self)
        self._middle = QStackedWidget(self)
        self._middle.addWidget(self.page)
        center = QWidget(self)
        column = QVBoxLayout(center)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.bars)
        column.addWidget(self._middle, 1)
        self.setCentralWidget(center)
        self.status = VaultStatusBar(theme, self)
        self.setStatusBar(self.status)
        self.commands = Commands(self, settings.keys)
        build_commands(self)
        self.recent_menu = QMenu(self.tr("Recent vaults"), self)
        self.recent_menu.aboutToShow.connect(self._fill_recent)
        self.theme_group = QActionGroup(self)
        build_menus(self)
        self.status.problemsRequested.connect(lambda: self.commands.run("view.problems"))
        self.status.agentsRequested.connect(lambda: self.commands.run("view.agents"))
        self.status.stopRequested.connect(self._stop_index)
        host.opened.connect(self._attach)
        host.failed.connect(self._open_failed)
        host.closed.connect(self._host_closed)
        host.takingOver.connect(self._say_taking_over)
        self._leaving = Leaving(self, settings, host)
        self._leaving.stayed.connect(self._stayed)
        self._say_no_vault()

    # -- vaults --------------------------------------------------------------------------------

    def open_vault(self, vault: Path, *, create: bool = False) -> None:
        """Open a vault in this window. create: make a new one there first."""
        self._wanted = (vault, create)
        if self.desk is not None:
            self._leaving.start(self.desk, self._leave_vault)
        else:
            self._open_wanted()

    def _open_wanted(self) -> None:
        if self._wanted is None:
            self._say_no_vault()
            return
        vault, create = self._wanted
        self._wanted, self._asked = None, vault
        self.page.say(self.tr("Opening {name}").format(name=vault.name), str(vault), busy=True)
        self.host.open(vault, create=create)

    @Slot(object)
    def _attach(self, engine: Engine) -> None:
        settings = self.settings.of_vault(engine.vault)
        desk = Desk(self, engine, self.host, settings, self.theme, self.bars, self.settings.note_points)
        self.desk = desk
        self.setWindowTitle(f"{engine.name} – Synapse")
        self._middle.addWidget(desk.tabs)
        desk.tabs.emptied.connect(self._tabs_emptied)
        desk.tabs.zoomRequested.connect(self.zoom)
        desk.tabs.allSaved.connect(self._leaving.all_saved)
        desk.tabs.saveFailed.connect(self._leaving.save_failed)
        desk.session.statusChanged.connect(self.status.show_status)
        desk.session.indexing.connect(self.status.show_indexing)
        desk.session.busyChanged.connect(self.status.show_busy)
        desk.session.noteOpened.connect(self._note_opened)
        desk.navigator.trailChanged.connect(self._trail_changed)
        desk.notes.changed.connect(self._say_empty)
        desk.index.finished.connect(self._say_empty)
        desk.openVaultRequested.connect(self.choose_vault)
        desk.newVaultRequested.connect(self.choose_new_vault)
        desk.agents.changed.connect(self._agents_changed)
        desk.agents_panel.closing = self.settings.when_closing
        desk.agents_panel.closingChosen.connect(self._closing_chosen)
        geometry = settings.state("geometry")
        if not geometry.isEmpty():
            self.restoreGeometry(geometry)
        self._tabs_emptied(not desk.tabs.count())
        self._note_opened(desk.session.current or "")
        desk.start()

    @Slot()
    def _say_taking_over(self) -> None:
        vault = self._asked
        if vault is not None:
            self.page.say(
                self.tr("Opening {name}").format(name=vault.name),
                self.tr("Taking over from the background server…"),
                busy=True,
            )

    @Slot(object)
    def _open_failed(self, error: BaseException) -> None:
        text, hint = in_words(error)
        asked = self._asked
        actions = [(self.tr("Open another folder…"), self.choose_vault)]
        if asked is not None and asked.exists():
            actions.insert(0, (self.tr("Try again"), lambda: self.open_vault(asked)))
        self._enable()
        self.page.say(text, hint, actions, icon="error", color="error")

    def _leave_vault(self) -> None:
        desk = self.desk
        if desk is None:
            return
        self._remember()
        self._middle.setCurrentWidget(self.page)
        desk.take_down()
        self.desk = None
        self.status.clear_numbers()
        self.status.show_indexing(0, 0)
        self.setWindowTitle("Synapse")
        self._enable()
        self.host.close()

    @Slot()
    def _host_closed(self) -> None:
        self._open_wanted()

    def _remember(self) -> None:
        if self.desk is not None:
            self.settings.of_vault(self.desk.session.engine.vault).set("geometry", self.saveGeometry())
            self.desk.remember()

    @Slot()
    def choose_vault(self) -> None:
        """Let a person choose the folder to open."""
        name = QFileDialog.getExistingDirectory(self, self.tr("Open a folder of notes"), str(Path.home()))
        if name:
            self.open_vault(Path(name))

    @Slot()
    def choose_new_vault(self) -> None:
        """Let a person say where a new vault goes."""
        name, _ = QFileDialog.getSaveFileName(
            self, self.tr("A folder for the new vault"), str(Path.home() / self.tr("Notes"))
        )
        if name:
            self.open_vault(Path(name), create=True)

    @Slot()
    def _fill_recent(self) -> None:
        self.recent_menu.clear()
        current = self.desk.session.engine.vault if self.desk else None
        for vault in recent_vaults():
            if vault != current:
                action = self.recent_menu.addAction(f"{vault.name}    {vault.parent}")
                action.triggered.connect(lambda _=False, vault=vault: self.open_vault(vault))
        if self.recent_menu.isEmpty():
            self.recent_menu.addAction(self.tr("No other vault was opened yet")).setEnabled(False)

    # -- the middle ----------------------------------------------------------------------------

    def _say_no_vault(self) -> None:
        self.page.say(
            "Synapse",
            self.tr("Open a folder of Markdown notes, or begin a new one."),
            [
                (self.tr("Open a folder…"), self.choose_vault),
                (self.tr("New vault…"), self.choose_new_vault),
            ],
        )

    @Slot(bool)
    def _tabs_emptied(self, empty: bool) -> None:
        if self.desk is None:
            return
        self._middle.setCurrentWidget(self.page if empty else self.desk.tabs)
        if empty:
            self._say_empty()

    @Slot()
    def _say_empty(self) -> None:
        desk = self.desk
        if desk is None or desk.tabs.count():
            return
        if desk.notes.is_known and not desk.notes.records and not desk.index.is_running:
            self.page.say(
                self.tr("This vault has no notes yet"),
                self.tr("Write the first one; links between notes become facts."),
                [(self.tr("Write the first note"), lambda: self.commands.run("note.new"))],
                icon="note-new",
            )
        else:
            self.page.say(
                self.tr("No note is open"),
                self.tr("Choose one at the left, or open one by its name."),
                [
                    (self.tr("Open a note…"), lambda: self.commands.run("note.open")),
                    (self.tr("New note"), lambda: self.commands.run("note.new")),
                ],
                icon="note",
            )

    @Slot(str)
    def _note_opened(self, path: str) -> None:
        name = self.desk.session.engine.name if self.desk else ""
        shown = path.removesuffix(".md")
        self.setWindowTitle(f"{shown} – {name} – Synapse" if path else f"{name} – Synapse")
        self._enable()

    @Slot(bool, bool)
    def _trail_changed(self, back: bool, forward: bool) -> None:
        self.commands.enable(back, "go.back")
        self.commands.enable(forward, "go.forward")

    def _enable(self) -> None:
        """Commands that need a vault or a note can be done only with one."""
        vault = self.desk is not None
        note = self.desk is not None and self.desk.tabs.page is not None
        for command in self.commands:
            if command.id in ("go.back", "go.forward"):
                if not vault:
                    self.commands.enable(False, command.id)
            elif command.id.startswith(_NEED_NOTE):
                self.commands.enable(note, command.id)
            elif command.id.startswith(_NEED_VAULT):
                self.commands.enable(vault, command.id)

    # -- commands ------------------------------------------------------------------------------

    def quick_open(self) -> None:
        """Find a note by a few letters."""
        if self.desk is None:
            return
        dialog = QuickOpen(
            self.desk.notes.records,
            self.desk.navigator.recent,
            self.theme,
            self,
            complete=not self.desk.index.is_running,
        )
        dialog.chosen.connect(self.desk.navigator.request)
        dialog.named.connect(self.desk.navigator.write)
        # Not modal: it closes by itself when another window becomes active, and a modal window that
        # closes while it is being closed leaves the window behind it deaf to keys and clicks.
        dialog.show()
        dialog.activateWindow()

    def new_note(self) -> None:
        """Ask for a new note's name in the browser."""
        if self.desk is not None:
            self.desk.docks.show("browser")
            self.desk.browser.ask_name()

    @Slot(int)
    def zoom(self, steps: int) -> None:
        """Notes' text larger or smaller; 0 brings the usual size back."""
        points = self.settings.note_points + steps if steps else NOTE_POINTS
        self.settings.note_points = points
        if self.desk is not None:
            self.desk.tabs.set_points(self.settings.note_points)

    def choose_theme(self, choice: str) -> None:
        """`system`, `light` or `dark`."""
        app = QApplication.instance()
        if isinstance(app, QApplication):
            self.settings.theme = choice
            self.theme.apply(app, choice)

    @Slot(QAction)
    def theme_chosen(self, action: QAction) -> None:
        self.choose_theme(str(action.data()))

    @Slot()
    def _stop_index(self) -> None:
        if self.desk is not None:
            self.desk.index.stop()

    def about(self) -> None:
        show_about(self.theme, self)

    # -- closing -------------------------------------------------------------------------------

    @Slot(object)
    def _agents_changed(self, state: AgentsState) -> None:
        self.status.show_agents(state.connections)

    @Slot(str)
    def _closing_chosen(self, choice: str) -> None:
        self.settings.when_closing = choice
        if self.desk is not None:
            self.desk.agents_panel.closing = choice

    @Slot()
    def _stayed(self) -> None:
        self._wanted = None
        self._closing = self._unasked = False

    @Slot()
    def close_unasked(self) -> None:
        """Close as the system wants it, with nobody there to answer a question about agents."""
        self._unasked = True
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.desk is None or self._may_close:
            event.accept()
            return
        event.ignore()
        if not self._closing:
            self._closing = True
            self._leaving.start(self.desk, self._close_now, unasked=self._unasked)

    def _close_now(self) -> None:
        self._remember()
        if self.desk is not None:
            self.desk.take_down()
            self.desk = None
        self._may_close = True
        # Qt ignores a close from within a close event.
        QTimer.singleShot(0, self.close)


# Commands by the beginning of their ids.
_NEED_NOTE = ("note.save", "note.close", "note.follow", "note.reveal", "edit.")
_NEED_VAULT = ("note.", "vault.", "view.arrange", *(f"view.{name}" for name, _, _ in PANELS))
