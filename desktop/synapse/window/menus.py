"""The commands of the window and the menus that hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit

from synapse.window.theme import CHOICES

if TYPE_CHECKING:
    from collections.abc import Callable

    from synapse.window.main_window import MainWindow

PANELS = (
    ("browser", "Vault browser", "Ctrl+Shift+E"),
    ("graph", "Subgraph", "Ctrl+Shift+G"),
    ("relations", "Relations", "Ctrl+Shift+B"),
    ("proof", "Proof", "Ctrl+Shift+Y"),
    ("console", "SPARQL console", "Ctrl+Shift+Q"),
    ("problems", "Problems", "Ctrl+Shift+M"),
    ("agents", "Agents", "Ctrl+Shift+A"),
)


def build_commands(window: MainWindow) -> None:
    """Declare everything the window can do."""
    add, tr = window.commands.add, window.tr
    add("note.new", tr("New note"), "Ctrl+N", window.new_note)
    add("note.open", tr("Open a note…"), "Ctrl+O", window.quick_open)
    add("note.save", tr("Save"), "Ctrl+S", _on_tabs(window, "save_current"))
    add("note.close", tr("Close tab"), "Ctrl+W", _on_tabs(window, "close_current"))
    add("note.follow", tr("Follow the link"), "", lambda: _follow(window))
    add("note.reveal", tr("Show in the browser"), "", lambda: _reveal(window))
    add("vaults.open", tr("Open a vault…"), "Ctrl+Shift+O", window.choose_vault)
    add("vaults.new", tr("New vault…"), "", window.choose_new_vault)
    add("app.quit", tr("Quit"), "Ctrl+Q", window.close)
    for name, title, keys in (
        ("undo", tr("Undo"), "Ctrl+Z"),
        ("redo", tr("Redo"), "Ctrl+Shift+Z"),
        ("cut", tr("Cut"), "Ctrl+X"),
        ("copy", tr("Copy"), "Ctrl+C"),
        ("paste", tr("Paste"), "Ctrl+V"),
        ("selectAll", tr("Select all"), "Ctrl+A"),
    ):
        action = add(f"edit.{name}", title, keys, lambda name=name: _on_focus(window, name))
        # These keys belong to whatever field has the focus; the menu only shows them.
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
    add("go.back", tr("Back"), "Alt+Left", lambda: _go(window, "back"))
    add("go.forward", tr("Forward"), "Alt+Right", lambda: _go(window, "forward"))
    add("go.next", tr("Next tab"), "Ctrl+Tab", lambda: _step(window, 1))
    add("go.previous", tr("Previous tab"), "Ctrl+Shift+Tab", lambda: _step(window, -1))
    for name, title, keys in PANELS:
        add(f"view.{name}", tr(title), keys, lambda name=name: _toggle(window, name))
    add("view.arrange", tr("Arrange panels as at first"), "", lambda: _arrange(window))
    add("view.larger", tr("Larger text"), "Ctrl+=", lambda: window.zoom(1))
    add("view.smaller", tr("Smaller text"), "Ctrl+-", lambda: window.zoom(-1))
    add("view.usual", tr("Usual text size"), "Ctrl+0", lambda: window.zoom(0))
    add("view.full", tr("Full screen"), "F11", lambda: _full_screen(window))
    add("vault.index", tr("Read the vault again"), "F5", lambda: _index(window))
    add("vault.backlinks", tr("Preview backlinks…"), "", lambda: _preview(window))
    add("vault.connect", tr("Connect an agent…"), "", lambda: _connect(window))
    add("help.about", tr("About Synapse"), "", window.about)


def build_menus(window: MainWindow) -> None:
    """The menu bar; each entry is a command."""
    tr, action = window.tr, window.commands.action
    for title, entries in (
        (
            tr("&File"),
            "note.new note.open - vaults.new vaults.open @recent - note.save note.close - app.quit",
        ),
        (tr("&Edit"), "edit.undo edit.redo - edit.cut edit.copy edit.paste - edit.selectAll - note.follow"),
        (tr("&Go"), "go.back go.forward - go.next go.previous - note.reveal"),
        (
            tr("&View"),
            "view.browser view.graph view.relations view.proof view.console view.problems view.agents - "
            "view.arrange - @theme - view.larger view.smaller view.usual - view.full",
        ),
        (tr("V&ault"), "vault.index vault.backlinks - vault.connect"),
        (tr("&Help"), "help.about"),
    ):
        menu = window.menuBar().addMenu(title)
        for entry in entries.split():
            if entry == "-":
                menu.addSeparator()
            elif entry == "@recent":
                menu.addMenu(window.recent_menu)
            elif entry == "@theme":
                themes = menu.addMenu(tr("Colours"))
                names = {"system": tr("As the system"), "light": tr("Light"), "dark": tr("Dark")}
                for choice in CHOICES:
                    chosen = themes.addAction(names[choice])
                    chosen.setCheckable(True)
                    chosen.setChecked(window.theme.choice == choice)
                    chosen.setData(choice)
                    window.theme_group.addAction(chosen)
                window.theme_group.triggered.connect(window.theme_chosen)
            else:
                menu.addAction(action(entry))


def _on_tabs(window: MainWindow, method: str) -> Callable[[], None]:
    def act() -> None:
        if window.desk is not None:
            getattr(window.desk.tabs, method)()

    return act


def _on_focus(window: MainWindow, method: str) -> None:
    """Edit what has the focus, or the note in front."""
    target = window.focusWidget()
    if not hasattr(target, method) and window.desk is not None and window.desk.tabs.page is not None:
        target = window.desk.tabs.page.edit
    if isinstance(target, QPlainTextEdit) or hasattr(target, method):
        getattr(target, method)()


def _follow(window: MainWindow) -> None:
    if window.desk is not None and window.desk.tabs.page is not None:
        window.desk.tabs.page.follow_at_caret()


def _reveal(window: MainWindow) -> None:
    if window.desk is not None:
        window.desk.docks.show("browser")
        window.desk.browser.reveal_current()


def _go(window: MainWindow, method: str) -> None:
    if window.desk is not None:
        getattr(window.desk.navigator, method)()


def _step(window: MainWindow, step: int) -> None:
    if window.desk is not None and (count := window.desk.tabs.count()):
        window.desk.tabs.setCurrentIndex((window.desk.tabs.currentIndex() + step) % count)


def _toggle(window: MainWindow, name: str) -> None:
    if window.desk is not None:
        window.desk.docks.toggle(name)


def _arrange(window: MainWindow) -> None:
    if window.desk is not None:
        window.desk.docks.arrange()


def _full_screen(window: MainWindow) -> None:
    window.showNormal() if window.isFullScreen() else window.showFullScreen()


def _index(window: MainWindow) -> None:
    if window.desk is not None:
        window.desk.index.start()


def _preview(window: MainWindow) -> None:
    if window.desk is not None:
        window.desk.ask_backlinks_again()


def _connect(window: MainWindow) -> None:
    if window.desk is not None:
        window.desk.connect_agent()
