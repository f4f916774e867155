"""The canvas: a picture that people move in, by mouse or keyboard."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from synapse.window.graph.picture import Colours
from synapse.window.graph.view import Floats, PictureView

DRAG_FROM = 4
STEP = 60.0

_WAYS = {
    Qt.Key.Key_Left: np.array([-1.0, 0.0]),
    Qt.Key.Key_Right: np.array([1.0, 0.0]),
    Qt.Key.Key_Up: np.array([0.0, -1.0]),
    Qt.Key.Key_Down: np.array([0.0, 1.0]),
}


class GraphCanvas(PictureView):
    """Keys: arrows select the next node that way, Shift+arrows pan, Enter opens, Space shows what
    surrounds the node, + and - zoom, 0 shows all, Home selects the centre, Escape nothing."""

    opened = Signal(int)
    """A node was asked to be opened: double click or Enter."""
    centreRequested = Signal(int)
    menuRequested = Signal(int, QPoint)
    """Node (or -1) and global position."""
    pinned = Signal(int)

    def __init__(self, colours: Colours, parent: QWidget | None = None) -> None:
        super().__init__(colours, parent)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._pressed: QPointF | None = None
        self._dragging = -1
        self._panning = False
        self._grab = np.zeros(2)

    # -- mouse ---------------------------------------------------------------------------------

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned = event.pixelDelta().y() or event.angleDelta().y()
        if turned:
            at = event.position()
            self._zoom(float(1.0015**turned), np.array([at.x(), at.y()]))
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            return
        self._pressed = event.position()
        self._dragging = self.node_at(event.position()) if event.button() == Qt.MouseButton.LeftButton else -1
        self._panning = False
        if self._dragging >= 0 and self.picture is not None:
            scene = self.camera.to_scene(np.array([event.position().x(), event.position().y()]))
            self._grab = self.picture.place[self._dragging] - scene

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        picture = self.picture
        if picture is None:
            return
        point = event.position()
        if self._pressed is None or not event.buttons():
            self._hover(point)
            return
        moved = point - self._pressed
        if not self._panning and moved.manhattanLength() < DRAG_FROM:
            return
        at = np.array([point.x(), point.y()])
        if self._dragging >= 0:
            if not self._panning:
                self._animation.stop()
                self._panning = True
                picture.pinned.add(self._iri(self._dragging) or "")
                picture.hovered = picture.hovered_edge = -1
                self._follow_fit = False
            picture.place = picture.place.copy()
            picture.place[self._dragging] = self.camera.to_scene(at) + self._grab
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
        else:
            self._panning = True
            self._follow_fit = False
            self.camera.pan(np.array([moved.x(), moved.y()]))
            self._pressed = point
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
        self.move_on()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None:
            return
        if self._panning:
            if self._dragging >= 0:
                self.pinned.emit(self._dragging)
        elif event.button() == Qt.MouseButton.LeftButton:
            node = self.node_at(event.position())
            self.select(node, self.edge_at(event.position()) if node < 0 else -1)
        self._pressed, self._dragging, self._panning = None, -1, False
        self._hover(event.position())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        node = self.node_at(event.position())
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if node >= 0:
            self.opened.emit(node)
        elif self.edge_at(event.position()) < 0:
            self.fit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() == QContextMenuEvent.Reason.Keyboard and self.picture is not None:
            node = self.picture.selected
            x, y = self.camera.to_screen(self.picture.place[node]).tolist() if node >= 0 else (20.0, 20.0)
            self.menuRequested.emit(node, self.mapToGlobal(QPoint(int(x), int(y))))
            return
        node = self.node_at(QPointF(event.pos()))
        if node >= 0:
            self.select(node)
        self.menuRequested.emit(node, event.globalPos())

    def leaveEvent(self, event: QEvent) -> None:
        if self.picture is not None and (self.picture.hovered, self.picture.hovered_edge) != (-1, -1):
            self.picture.hovered = self.picture.hovered_edge = -1
            self.update()
        super().leaveEvent(event)

    def _hover(self, point: QPointF) -> None:
        picture = self.picture
        if picture is None:
            return
        node = self.node_at(point)
        edge = self.edge_at(point) if node < 0 else -1
        on_something = max(node, edge) >= 0
        self.setCursor(Qt.CursorShape.PointingHandCursor if on_something else Qt.CursorShape.ArrowCursor)
        if (node, edge) != (picture.hovered, picture.hovered_edge):
            picture.hovered, picture.hovered_edge = node, edge
            self.update()

    # -- keyboard ------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        picture = self.picture
        if picture is None:
            super().keyPressEvent(event)
            return
        key = Qt.Key(event.key())
        if key in _WAYS:
            if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self.camera.pan(-_WAYS[key] * STEP)
                self._follow_fit = False
                self.move_on()
            else:
                self.select(self._next(_WAYS[key]))
            return
        actions: dict[Qt.Key, Callable[[], None]] = {
            Qt.Key.Key_Plus: self.zoom_in,
            Qt.Key.Key_Equal: self.zoom_in,
            Qt.Key.Key_Minus: self.zoom_out,
            Qt.Key.Key_0: self.fit,
            Qt.Key.Key_Home: self._select_centre,
            Qt.Key.Key_Return: self._open_selected,
            Qt.Key.Key_Enter: self._open_selected,
            Qt.Key.Key_Space: self._centre_on_selected,
        }
        if key in actions:
            actions[key]()
        elif key == Qt.Key.Key_Escape and (picture.selected, picture.selected_edge) != (-1, -1):
            self.select(-1)
        else:
            super().keyPressEvent(event)

    def _select_centre(self) -> None:
        assert self.picture is not None
        self.select(self.picture.graph.centre)

    def _open_selected(self) -> None:
        assert self.picture is not None
        if self.picture.selected >= 0:
            self.opened.emit(self.picture.selected)

    def _centre_on_selected(self) -> None:
        assert self.picture is not None
        if self.picture.selected >= 0:
            self.centreRequested.emit(self.picture.selected)

    def _next(self, way: Floats) -> int:
        """The nearest node in a direction from the selected one; from nothing, the centre."""
        picture = self.picture
        assert picture is not None
        if picture.selected < 0:
            return picture.graph.centre
        gap = picture.place - picture.place[picture.selected]
        ahead = gap @ way
        aside = np.abs(gap @ way[::-1])
        cost = np.where((ahead > 1e-6) & ~picture.hidden_nodes, ahead + 2.0 * aside, np.inf)
        node = int(cost.argmin())
        return node if np.isfinite(cost[node]) else picture.selected
