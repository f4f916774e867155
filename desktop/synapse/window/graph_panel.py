"""The subgraph of the open note: picture, legend, the facts of what is selected."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QCoreApplication, QPoint, QSize, Qt, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QLabel,
    QMenu,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from synapse.engine.errors import UnknownEntity
from synapse.engine.layout import AGENT, INFERRED, STATED, Floats, Subgraph
from synapse.engine.questions.results import Neighbourhood
from synapse.window.facts import FactsView, Row, fact_rows
from synapse.window.facts.rows import opening
from synapse.window.following import FollowingPanel
from synapse.window.graph.asking import canvas_colours, find_subgraph, place_subgraph
from synapse.window.graph.canvas import GraphCanvas
from synapse.window.graph.legend import Legend, entries
from synapse.window.graph.node_list import node_rows
from synapse.window.panel import counted, grouped, hairline
from synapse.window.session import Session, Task, in_words
from synapse.window.theme import GRID, PADDING, Theme

DEPTHS = (1, 2, 3)
LIMIT = 200
STEP = 200
MOST = 400
"""More nodes than this are no picture any more; Relations lists them."""


class NeighbourhoodPanel(FollowingPanel):
    """Follows the open note, or stays at the one it is pinned to."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(QCoreApplication.translate("NeighbourhoodPanel", "Subgraph"), session, theme, parent)
        self._depth = 1
        self._limit = LIMIT
        self._found: Neighbourhood | None = None
        self._graph: Subgraph | None = None
        self._layout_task: Task | None = None
        self._make_actions()
        self.canvas = GraphCanvas(canvas_colours(theme))
        self.canvas.opened.connect(self._open_node)
        self.canvas.centreRequested.connect(self._centre_on)
        self.canvas.menuRequested.connect(self._show_menu)
        self.canvas.selectionChanged.connect(self._on_selection)
        self.list = FactsView(theme, self.tr("Nodes of the subgraph"))
        self.facts = FactsView(theme, self.tr("Facts of what is selected"))
        for view in (self.list, self.facts):
            view.opened.connect(self._on_opened)
            view.why.connect(session.proofRequested)
        self.legend = Legend(theme)
        self.legend.hiddenChanged.connect(self._hide_parts)
        self.cut = QLabel()
        self.cut.setObjectName("muted")
        self.more = QToolButton()
        self.more.setText(self.tr("Show more"))
        self.more.clicked.connect(self._show_more)
        self.set_body(self._build())
        self.setFocusProxy(self.canvas)
        theme.changed.connect(self._on_theme)
        self.say_nothing_open()

    def _make_actions(self) -> None:
        self.depths = QButtonGroup(self)
        for depth in DEPTHS:
            button = QToolButton()
            button.setText(str(depth))
            button.setCheckable(True)
            button.setFixedSize(QSize(24, 28))
            button.setChecked(depth == self._depth)
            text = counted(depth, self.tr("step around the note"), self.tr("steps around the note"))
            button.setToolTip(text)
            button.setAccessibleName(text)
            self.depths.addButton(button, depth)
            self.title_row.add(button)
        self.depths.idClicked.connect(self.set_depth)
        fit = self.tr("Show all of it (0)")
        self.fit = self.add_action("fit", fit, lambda: self.canvas.fit())
        self.as_list = self.add_action("list", self.tr("Show as a list"), checkable=True)
        self.as_list.clicked.connect(self._on_as_list)
        self.pin = self.add_action("pin", "", checkable=True)
        self.pin.clicked.connect(self._on_pin)
        self._name_pin()

    def _build(self) -> QWidget:
        self.views = QStackedWidget()
        picture = QWidget()
        column = QVBoxLayout(picture)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.canvas, 1)
        column.addWidget(self.legend)
        self.views.addWidget(picture)
        self.views.addWidget(self.list)
        notice = QHBoxLayout()
        notice.setContentsMargins(PADDING + GRID, 0, PADDING, 0)
        notice.addWidget(self.cut)
        notice.addStretch(1)
        notice.addWidget(self.more)
        self._notice = QWidget()
        self._notice.setLayout(notice)
        self._notice.hide()
        self._details = QWidget()
        self._heading = QLabel()
        self._heading.setObjectName("panelTitle")
        self._heading.setTextFormat(Qt.TextFormat.PlainText)
        self._heading.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._heading.setContentsMargins(PADDING + GRID, GRID, PADDING, 0)
        details = QVBoxLayout(self._details)
        details.setContentsMargins(0, 0, 0, 0)
        details.setSpacing(0)
        details.addWidget(hairline())
        details.addWidget(self._heading)
        details.addWidget(self.facts, 1)
        self._details.hide()
        self.splitter = QSplitter(Qt.Orientation.Vertical)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(self.views)
        self.splitter.addWidget(self._details)
        self.splitter.setStretchFactor(0, 3)
        self.splitter.setStretchFactor(1, 2)
        self.splitter.setHandleWidth(1)
        body = QWidget()
        whole = QVBoxLayout(body)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self._notice)
        whole.addWidget(self.splitter, 1)
        return body

    # -- asking --------------------------------------------------------------------------------

    def follows(self) -> bool:
        return not self.pin.isChecked()

    @Slot()
    def refresh(self) -> None:
        if self._layout_task is not None and not self._layout_task.finished:
            self._layout_task.cancel()
        super().refresh()

    def ask(self) -> Task:
        return self.session.run(
            find_subgraph,
            self.session.engine,
            self.subject,
            self._depth,
            self._limit,
            done=self._arrived,
            failed=self._failed,
        )

    def say_nothing_open(self) -> None:
        self._enable(False)
        self.set_count(None)
        self.canvas.clear()
        self.show_empty(self.tr("Open a note to see what it is connected to."))

    def set_subject(self, subject: str | None) -> None:
        if subject != self.subject:
            self._limit = LIMIT
        super().set_subject(subject)

    @Slot(int)
    def set_depth(self, depth: int) -> None:
        """Steps around the note, 1 to 3."""
        self._depth = depth
        self.depths.button(depth).setChecked(True)
        if self.subject is not None:
            self.refresh()

    @Slot()
    def _show_more(self) -> None:
        self._limit = min(self._limit + STEP, MOST)
        self.refresh()

    # -- answers -------------------------------------------------------------------------------

    @Slot(object)
    def _arrived(self, answer: tuple[Neighbourhood, Subgraph]) -> None:
        found, graph = answer
        if not self.canvas.isVisible():
            # It has no size of its own yet; the labels and the shape of the picture depend on it.
            self.canvas.resize(self.width(), max(self.height() - 130, 120))
        self._layout_task = self.session.run(
            place_subgraph,
            found,
            graph,
            self.canvas.sizes(graph),
            self.canvas.places(),
            self.canvas.pins(),
            self.canvas.aspect(),
            done=self._laid_out,
            failed=self._failed,
        )

    @Slot(object)
    def _laid_out(self, answer: tuple[Neighbourhood, Subgraph, Floats]) -> None:
        found, graph, place = answer
        moved_on = self._found is None or self._found.centre.iri != found.centre.iri
        self._found, self._graph = found, graph
        self._enable(True)
        self.set_count(len(graph.nodes))
        alone = len(graph.nodes) <= 1
        if alone and not len(graph.ends):
            self.canvas.show_graph(graph, place, animate=False)
            self.show_empty(
                self.tr("{name} is not connected to anything yet.").format(name=found.centre.label),
                (self.tr("Write a [[link]] in it"), self._open_subject),
            )
            self._enable(False)
            return
        self.canvas.show_graph(graph, place, keep_view=not moved_on)
        look = self.canvas.picture.look if self.canvas.picture is not None else None
        if look is not None:
            words = {
                STATED: self.tr("stated"),
                INFERRED: self.tr("inferred"),
                AGENT: self.tr("by agents"),
            }
            self.legend.set_entries(
                entries(graph, look, words, self.tr("no type"), self.tr("not written yet"))
            )
        self._hide_parts()
        self._fill_list()
        self._notice.setVisible(found.cut > 0)
        if found.cut:
            bounded = self._limit >= MOST
            text = (
                self.tr("Showing {shown} of {total}; Relations lists all.")
                if bounded
                else self.tr("Showing {shown} of {total}.")
            )
            self.cut.setText(text.format(shown=grouped(len(graph.nodes)), total=grouped(found.total)))
            self.more.setVisible(not bounded)
        self.show_body()

    @Slot(object)
    def _failed(self, error: BaseException) -> None:
        self._enable(False)
        self.set_count(None)
        if isinstance(error, UnknownEntity):
            self.show_empty(
                self.tr("This note is not in the graph yet. It appears here once it has been read."),
                (self.tr("Look again"), self.refresh),
            )
            return
        self.show_error(*in_words(error), (self.tr("Try again"), self.refresh))

    def _enable(self, on: bool) -> None:
        self.fit.setEnabled(on)
        self.as_list.setEnabled(on)
        if not on:
            self._details.hide()

    @Slot()
    def _hide_parts(self) -> None:
        picture = self.canvas.picture
        if picture is None:
            return
        hidden = self.legend.hidden
        nodes = np.array(
            [
                "unwritten" in hidden if hollow else f"type:{name}" in hidden
                for name, hollow in zip(picture.look.type_label, picture.look.hollow.tolist(), strict=True)
            ],
            dtype=bool,
        )
        edges = np.array([f"edge:{kind}" in hidden for kind in picture.graph.kind.tolist()], dtype=bool)
        self.canvas.hide_parts(nodes, edges)

    # -- selection -----------------------------------------------------------------------------

    @Slot(int, int)
    def _on_selection(self, node: int, edge: int) -> None:
        graph = self._graph if self.canvas.picture is None else self.canvas.picture.graph
        rows: tuple[Row, ...] = ()
        if graph is not None and node >= 0:
            entity = graph.nodes[node].entity
            self._heading.setText(" ".join(entity.label.split()))
            rows = fact_rows(graph.facts_of(node), entity)
            self.session.entitySelected.emit(entity.id)
        elif graph is not None and edge >= 0:
            self._heading.setText(graph.relation(edge))
            rows = fact_rows(graph.facts[edge])
        self.facts.set_rows(rows)
        # What was clicked must not slip away from under the pointer.
        self.canvas.steady = True
        self._details.setVisible(bool(rows) and not self.as_list.isChecked())
        self.splitter.refresh()
        self.canvas.steady = False
        if node >= 0:
            self.canvas.reveal(node)

    @Slot(bool)
    def _on_as_list(self, on: bool) -> None:
        self.views.setCurrentIndex(1 if on else 0)
        if on:
            self._details.hide()
            self._fill_list()
            self.list.setFocus()

    def _fill_list(self) -> None:
        if self._graph is not None and self.as_list.isChecked():
            self.list.set_rows(node_rows(self._graph))

    # -- acting --------------------------------------------------------------------------------

    @Slot(bool)
    def _on_pin(self, on: bool) -> None:
        self._name_pin()
        if not on:
            self.set_subject(self.session.current)

    def _name_pin(self) -> None:
        on = self.pin.isChecked()
        self.theme.set_icon(self.pin, "pinned" if on else "pin", "accent" if on else "text")
        text = self.tr("Stays at this note; follow the open one") if on else self.tr("Stay at this note")
        self.pin.setToolTip(text)
        self.pin.setAccessibleName(text)

    @Slot(int)
    def _open_node(self, node: int) -> None:
        if self.canvas.picture is not None:
            opens = opening(self.canvas.picture.graph.nodes[node].entity)
            if opens is not None:
                self.session.open(opens[0])
            else:  # a tag, a class, an address: what can be shown of it is what surrounds it
                self._centre_on(node)

    @Slot(int)
    def _centre_on(self, node: int) -> None:
        """Shows the surroundings of another node without opening it; the panel stays there."""
        if self.canvas.picture is None:
            return
        entity = self.canvas.picture.graph.nodes[node].entity
        if not self.pin.isChecked():
            self.pin.setChecked(True)
            self._name_pin()
        self.set_subject(entity.id)

    @Slot(int, QPoint)
    def _show_menu(self, node: int, at: QPoint) -> None:
        menu = self.menu_for(node)
        menu.popup(at)

    def menu_for(self, node: int) -> QMenu:
        """What can be done with a node, or with the whole picture."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

        def add(text: str, act: object) -> None:
            action = QAction(text, menu)
            action.triggered.connect(act)
            menu.addAction(action)

        picture = self.canvas.picture
        if node >= 0 and picture is not None:
            add(self.tr("Open\tEnter"), lambda: self._open_node(node))
            add(self.tr("Show what surrounds it\tSpace"), lambda: self._centre_on(node))
            if picture.graph.nodes[node].entity.iri in picture.pinned:
                add(self.tr("Let it move again"), lambda: self.canvas.unpin(node))
            menu.addSeparator()
        add(self.tr("Zoom in\t+"), self.canvas.zoom_in)
        add(self.tr("Zoom out\t-"), self.canvas.zoom_out)
        add(self.tr("Show all of it\t0"), self.canvas.fit)
        return menu

    @Slot(str, int)
    def _on_opened(self, what: str, line: int) -> None:
        self.session.open(what, line or None)

    def _open_subject(self) -> None:
        if self.subject is not None:
            self.session.open(self.subject)

    @Slot()
    def _on_theme(self) -> None:
        self.canvas.set_colours(canvas_colours(self.theme))
