"""The panels around the notes: where they stand at first, and bringing them back."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow

from synapse.window.panel import Panel

_AREAS = {
    "browser": Qt.DockWidgetArea.LeftDockWidgetArea,
    "graph": Qt.DockWidgetArea.RightDockWidgetArea,
    "relations": Qt.DockWidgetArea.RightDockWidgetArea,
    "proof": Qt.DockWidgetArea.RightDockWidgetArea,
    "console": Qt.DockWidgetArea.BottomDockWidgetArea,
    "problems": Qt.DockWidgetArea.BottomDockWidgetArea,
    "agents": Qt.DockWidgetArea.BottomDockWidgetArea,
}
BOTTOM = 300
AT_FIRST = ("browser", "graph", "relations")
"""The panels that show when a vault is opened for the first time."""


class Docks:
    """The docks of one vault. A panel's title row is its dock's title bar, so that it can be dragged."""

    def __init__(self, window: QMainWindow, panels: dict[str, Panel]) -> None:
        self._window = window
        self.panels = panels
        self.docks: dict[str, QDockWidget] = {}
        for name, panel in panels.items():
            dock = QDockWidget(panel.title, window)
            dock.setObjectName(f"dock-{name}")
            dock.setWidget(panel)
            dock.setTitleBarWidget(panel.title_row)
            closer = panel.add_action("close", dock.tr("Close this panel"), dock.close)
            closer.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            window.addDockWidget(_AREAS[name], dock)
            self.docks[name] = dock
        window.tabifyDockWidget(self.docks["relations"], self.docks["proof"])
        window.tabifyDockWidget(self.docks["console"], self.docks["problems"])
        window.tabifyDockWidget(self.docks["problems"], self.docks["agents"])
        self.arrange()

    def arrange(self) -> None:
        """As at the first start."""
        for name, dock in self.docks.items():
            dock.setFloating(False)
            dock.setVisible(name in AT_FIRST)
        self.docks["relations"].raise_()
        docks = self.docks
        horizontal, vertical = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        width = max(900, self._window.width())
        self._window.resizeDocks(
            [docks["browser"], docks["graph"]], [max(220, width // 6), max(320, width // 4)], horizontal
        )
        self._window.resizeDocks([docks["graph"], docks["relations"]], [400, 400], vertical)
        self._window.resizeDocks([docks["console"]], [BOTTOM], vertical)

    def show(self, name: str, *, focus: bool = False) -> None:
        """Bring a panel to the front."""
        dock = self.docks[name]
        dock.show()
        dock.raise_()
        if focus:
            self.panels[name].setFocus(Qt.FocusReason.ShortcutFocusReason)

    def toggle(self, name: str) -> None:
        """Show a panel that is hidden or behind another, else hide it."""
        dock = self.docks[name]
        if dock.isVisible() and not dock.visibleRegion().isEmpty():
            dock.hide()
        else:
            self.show(name, focus=True)

    def remove(self) -> None:
        """Take all docks away with their panels."""
        for dock in self.docks.values():
            self._window.removeDockWidget(dock)
            dock.setTitleBarWidget(None)  # type: ignore[arg-type]  # Qt takes null for its own title bar
            dock.deleteLater()
        self.docks.clear()
