"""The look: palette, stylesheet and icons, all made from the tokens of one file per theme.

`resources/themes/*.toml` hold the colours and `resources/icons/*.svg` the drawings; widgets ask for a
token by name and hold no colour of their own. `changed` tells them to ask again.
"""

from __future__ import annotations

import tomllib
import weakref
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import shiboken6
from PySide6.QtCore import QByteArray, QEvent, QObject, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFont, QFontDatabase, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

from synapse.engine.shipped import resource_folder
from synapse.window.stylesheet import stylesheet

GRID = 4
PADDING = 8
ROW = 32
"""Height of a panel's title row, in device independent pixels as all lengths here."""
TARGET = 28
ICON = 18
CORNER = 6
NOTE_WIDTH = 720
NOTE_POINTS = 11.0
INTERFACE_POINTS = 10.0

CHOICES = ("system", "light", "dark")


@dataclass(frozen=True, slots=True)
class Edge:
    """How a kind of relation is drawn."""

    color: QColor
    style: Qt.PenStyle


@dataclass(frozen=True, slots=True)
class Tokens:
    """One theme file. `ground` lists the text colours allowed on each background."""

    name: str
    colors: dict[str, str]
    syntax: dict[str, str]
    edges: dict[str, tuple[str, str]]
    nodes: tuple[str, ...]
    ground: dict[str, tuple[str, ...]]


@cache
def load_tokens(name: str) -> Tokens:
    """The tokens of the theme `light` or `dark`."""
    data: dict[str, Any] = tomllib.loads(
        (resource_folder() / "themes" / f"{name}.toml").read_text(encoding="utf-8")
    )
    return Tokens(
        name=data["name"],
        colors=dict(data["color"]),
        syntax=dict(data["syntax"]),
        edges={kind: (edge["color"], edge["style"]) for kind, edge in data["edge"].items()},
        nodes=tuple(data["node"]["by_type"]),
        ground={ground: tuple(names) for ground, names in data["ground"].items()},
    )


@cache
def _drawing(name: str) -> str:
    return (resource_folder() / "icons" / f"{name}.svg").read_text(encoding="utf-8")


class HasIcon(Protocol):
    """A button, an action: whatever carries an icon."""

    def setIcon(self, icon: QIcon, /) -> None: ...


_STYLES = {"solid": Qt.PenStyle.SolidLine, "dash": Qt.PenStyle.DashLine, "dot": Qt.PenStyle.DotLine}


class Theme(QObject):
    """The theme in force. `choice` is what the person chose: system, light or dark."""

    changed = Signal()

    def __init__(self, choice: str = "light", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._app: QApplication | None = None
        self._icons: dict[tuple[str, str], QIcon] = {}
        self._carriers: list[tuple[weakref.ref[Any], str, str]] = []
        self.choice = choice
        self._tokens = load_tokens(self._resolved())

    @property
    def tokens(self) -> Tokens:
        return self._tokens

    @property
    def is_dark(self) -> bool:
        return self._tokens.name == "dark"

    def apply(self, app: QApplication, choice: str | None = None) -> None:
        """Put the theme on the application and follow the system's scheme while `choice` is system."""
        if self._app is None:
            self._app = app
            app.setStyle("Fusion")
            font = app.font()
            font.setPointSizeF(INTERFACE_POINTS)
            app.setFont(font)
            app.styleHints().colorSchemeChanged.connect(self._system_changed)
        if choice is not None:
            if choice not in CHOICES:
                raise ValueError(f"a theme is one of {', '.join(CHOICES)}, not {choice!r}")
            self.choice = choice
        self._tokens = load_tokens(self._resolved())
        self._icons.clear()
        app.setPalette(self.palette())
        app.setStyleSheet(stylesheet(self._tokens.colors))
        self._renew_icons()
        self.changed.emit()

    @Slot()
    def _system_changed(self) -> None:
        if self._app is not None and self.choice == "system" and self._resolved() != self._tokens.name:
            self.apply(self._app)

    def _resolved(self) -> str:
        if self.choice != "system":
            return self.choice
        app = QApplication.instance()
        if isinstance(app, QApplication) and app.styleHints().colorScheme() == Qt.ColorScheme.Dark:
            return "dark"
        return "light"

    def color(self, name: str) -> QColor:
        """A colour by its token: `text`, `accent`, ..., `syntax.keyword`, `node.3`."""
        group, _, rest = name.partition(".")
        if rest and group == "syntax":
            return QColor(self._tokens.syntax[rest])
        if rest and group == "node":
            return QColor(self._tokens.nodes[int(rest) % len(self._tokens.nodes)])
        return QColor(self._tokens.colors[name])

    def edge(self, kind: str) -> Edge:
        """How to draw a relation that is `stated`, `inferred` or an `agent`'s."""
        color, style = self._tokens.edges[kind]
        return Edge(QColor(color), _STYLES[style])

    def node_colors(self) -> list[QColor]:
        """The colours for nodes by type, safe for colour-blind people."""
        return [QColor(color) for color in self._tokens.nodes]

    def icon(self, name: str, color: str = "text") -> QIcon:
        """A drawing in the colour of a token; sharp at one to three times its 18 pixels."""
        key = (name, color)
        if key not in self._icons:
            icon = QIcon()
            for scale in (1, 2, 3):
                for mode, token in ((QIcon.Mode.Normal, color), (QIcon.Mode.Disabled, "faint")):
                    icon.addPixmap(_pixmap(_drawing(name), self.color(token), ICON, scale), mode)
            self._icons[key] = icon
        return self._icons[key]

    def picture(self, name: str, color: str, size: int) -> QPixmap:
        """A drawing at another size than an icon's, sharp on any screen."""
        return _pixmap(_drawing(name), self.color(color), size, 3)

    def set_icon(self, carrier: HasIcon, name: str, color: str = "text") -> None:
        """Give a button or action an icon that follows later changes of the theme."""
        carrier.setIcon(self.icon(name, color))
        self._carriers = [known for known in self._carriers if known[0]() not in (None, carrier)]
        self._carriers.append((weakref.ref(carrier), name, color))

    def _renew_icons(self) -> None:
        kept = []
        for reference, name, color in self._carriers:
            carrier = reference()
            if carrier is None or not shiboken6.isValid(carrier):
                continue
            carrier.setIcon(self.icon(name, color))
            kept.append((reference, name, color))
        self._carriers = kept

    def application_icon(self) -> QIcon:
        """Synapse's own mark, the same in every theme."""
        return QIcon(str(resource_folder() / "icons" / "synapse.svg"))

    def palette(self) -> QPalette:
        """The tokens as a palette, for what the stylesheet does not reach."""
        role, group = QPalette.ColorRole, QPalette.ColorGroup
        palette = QPalette()
        for where, token in (
            (role.Window, "window"),
            (role.WindowText, "text"),
            (role.Base, "panel"),
            (role.AlternateBase, "window"),
            (role.Text, "text"),
            (role.Button, "raised"),
            (role.ButtonText, "text"),
            (role.BrightText, "error"),
            (role.ToolTipBase, "raised"),
            (role.ToolTipText, "text"),
            (role.PlaceholderText, "muted"),
            (role.Highlight, "selection"),
            (role.HighlightedText, "text"),
            (role.Link, "accent"),
            (role.LinkVisited, "accent"),
            (role.Light, "raised"),
            (role.Midlight, "hover"),
            (role.Mid, "border"),
            (role.Dark, "faint"),
            (role.Shadow, "shadow"),
            (role.Accent, "accent"),
        ):
            palette.setColor(where, self.color(token))
        for where in (role.WindowText, role.Text, role.ButtonText):
            palette.setColor(group.Disabled, where, self.color("faint"))
        return palette

    def mono_font(self, points: float = NOTE_POINTS) -> QFont:
        """The system's font for code."""
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPointSizeF(points * 0.92)
        return font


def _pixmap(drawing: str, color: QColor, size: int, scale: int) -> QPixmap:
    coloured = drawing.replace("currentColor", color.name())
    pixmap = QPixmap(QSize(size, size) * scale)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    QSvgRenderer(QByteArray(coloured.encode())).render(painter, QRectF(0, 0, size * scale, size * scale))
    painter.end()
    pixmap.setDevicePixelRatio(scale)
    return pixmap


def is_style_change(event: QEvent) -> bool:
    """Whether a widget's `changeEvent` tells of a new palette or stylesheet."""
    return event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange)


def theme_names() -> list[Path]:
    """The theme files that come with Synapse."""
    return sorted((resource_folder() / "themes").glob("*.toml"))
