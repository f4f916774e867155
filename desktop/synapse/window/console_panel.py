"""The SPARQL console: a query, how it runs, what it answers."""

from __future__ import annotations

import threading
import time

from PySide6.QtCore import QCoreApplication, QLocale, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QSplitter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from synapse.engine.errors import QueryStopped, SynapseError
from synapse.engine.graph.syntax import check_syntax
from synapse.window.console.completion import Known
from synapse.window.console.editor import QueryEditor
from synapse.window.console.exporting import ExportMenu
from synapse.window.console.results_area import ResultsArea
from synapse.window.console.running import VIEWS, Answer, answer, load_known
from synapse.window.console.starters import Starter, starters
from synapse.window.console.status_label import StatusLabel
from synapse.window.panel import Panel, counted, grouped
from synapse.window.session import Session, Task, in_words
from synapse.window.theme import GRID, PADDING, Theme

ROW_LIMITS = (100, 1_000, 10_000, 100_000)
TIME_LIMITS = (5, 30, 120)
TICK_MS = 100
STOP_PATIENCE_S = 0.5
WIDE = 1.9


class ConsolePanel(Panel):
    """`queryChanged` gives the text at each pause, to be kept for the next start."""

    queryChanged = Signal(str)

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(QCoreApplication.translate("ConsolePanel", "SPARQL"), theme, parent)
        self.session = session
        self._task: Task | None = None
        self._began = 0.0
        self._stop_asked: float | None = None
        self._answer: Answer | None = None
        self._running = ""
        self._refused: str | None = None
        """The query that gave the error which is shown."""
        self._known_stale = True
        self._known_task: Task | None = None
        self._check_task: Task | None = None
        self.examples = self._menu_button("book", self.tr("Start from an example"))
        self.examples.setMenu(self._examples_menu())
        self.export = ExportMenu(self, session, theme)
        self.title_row.add(self.export.button)
        self.editor = QueryEditor(theme)
        self.editor.setPlaceholderText(self.tr("SELECT ?note ?name WHERE { ?note rdfs:label ?name }"))
        self.editor.runRequested.connect(self.run)
        self.editor.paused.connect(self._on_pause)
        self.message = QLabel()
        self.message.setObjectName("errorText")
        self.message.setWordWrap(True)
        self.message.setTextFormat(Qt.TextFormat.PlainText)
        self.message.setContentsMargins(PADDING + GRID, GRID, PADDING, GRID)
        self.message.hide()
        self.results = ResultsArea(session, theme)
        self.results.opened.connect(self._on_opened)
        self.results.exampleWanted.connect(self._show_examples)
        self.results.againWanted.connect(self.run)
        self.results.moreWanted.connect(self._on_more)
        self._tick = QTimer(self)
        self._tick.setInterval(TICK_MS)
        self._tick.timeout.connect(self._on_tick)
        self.set_body(self._build())
        self._show_running(False)
        self.setFocusProxy(self.editor)
        session.changed.connect(self._on_changed)

    # -- building ------------------------------------------------------------------------------

    def _menu_button(self, icon: str, text: str) -> QToolButton:
        button = self.add_action(icon, text)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        return button

    def _examples_menu(self) -> QMenu:
        menu = QMenu(self)
        for starter in starters():
            action = QAction(starter.title, menu)
            action.triggered.connect(lambda _checked=False, starter=starter: self.use_starter(starter))
            menu.addAction(action)
        return menu

    def _build(self) -> QWidget:
        top = QWidget()
        column = QVBoxLayout(top)
        column.setContentsMargins(PADDING, PADDING, PADDING, 0)
        column.setSpacing(0)
        column.addWidget(self.editor, 1)
        column.addWidget(self.message)
        column.addLayout(self._run_bar())
        self.splitter = QSplitter(Qt.Orientation.Vertical)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setHandleWidth(1)
        self.splitter.addWidget(top)
        self.splitter.addWidget(self.results)
        self.splitter.setStretchFactor(0, 2)
        self.splitter.setStretchFactor(1, 3)
        return self.splitter

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wide and low, as at the bottom of the window, query and answer stand side by side."""
        wide = self.width() > WIDE * self.height()
        orientation = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if self.splitter.orientation() != orientation:
            self.splitter.setOrientation(orientation)
            self.splitter.setSizes([400, 600])
        super().resizeEvent(event)

    def _run_bar(self) -> QHBoxLayout:
        self.button = QPushButton()
        self.button.setIconSize(QSize(14, 14))
        self.button.clicked.connect(self._on_button)
        self.view = QComboBox()
        for text, view in zip(
            (self.tr("Everything"), self.tr("Stated only"), self.tr("Inferred only")), VIEWS, strict=True
        ):
            self.view.addItem(text, view)
        self.view.setToolTip(self.tr("Which facts the query sees"))
        self.view.setAccessibleName(self.tr("Which facts the query sees"))
        self.rows = QComboBox()
        for limit in ROW_LIMITS:
            self.rows.addItem(self.tr("{n} rows").format(n=grouped(limit)), limit)
        self.rows.setCurrentIndex(ROW_LIMITS.index(1_000))
        self.rows.setToolTip(self.tr("At most so many rows are read"))
        self.rows.setAccessibleName(self.tr("Row limit"))
        self.seconds = QComboBox()
        for limit in TIME_LIMITS:
            self.seconds.addItem(self.tr("{n} s").format(n=limit), limit)
        self.seconds.setCurrentIndex(TIME_LIMITS.index(30))
        self.seconds.setToolTip(self.tr("A query that takes longer is stopped"))
        self.seconds.setAccessibleName(self.tr("Time limit"))
        self.status = StatusLabel(self.theme)
        bar = QHBoxLayout()
        bar.setContentsMargins(0, PADDING, 0, PADDING)
        bar.setSpacing(PADDING)
        for widget in (self.button, self.view, self.rows, self.seconds):
            bar.addWidget(widget)
        bar.addWidget(self.status, 1)
        return bar

    # -- text ----------------------------------------------------------------------------------

    def text(self) -> str:
        return self.editor.text()

    def set_text(self, text: str) -> None:
        """Puts a query in the editor without running it."""
        self.editor.set_text(text)

    def use_starter(self, starter: Starter) -> None:
        """Replaces the query by an example (Undo brings it back) and runs it."""
        self.editor.set_text(starter.text)
        self.run()
        self.editor.setFocus()

    @Slot()
    def _show_examples(self) -> None:
        self.examples.showMenu()

    @Slot()
    def _on_pause(self) -> None:
        text = self.editor.text()
        self.queryChanged.emit(text)
        if text != self._refused:
            self._say("")
        if self._check_task is not None and not self._check_task.finished:
            self._check_task.cancel()
        if not text.strip():
            self.editor.clear_error()
            return
        engine = self.session.engine
        self._check_task = self.session.run(
            check_syntax,
            text,
            engine.identities.base,
            engine.words.prefixes,
            done=self._checked,
            failed=self._check_failed,
        )
        self._say_stale()

    @Slot(object)
    def _checked(self, _nothing: object) -> None:
        if self.editor.error:
            self.editor.clear_error()
            self.status.say("")

    @Slot(object)
    def _check_failed(self, error: BaseException) -> None:
        # While one types, an error is a hint; in full it is said when the query is run.
        self._mark_error(error)
        if not self.is_running and not self.message.text():
            self.status.say(" ".join(in_words(error)), error=True)

    # -- running -------------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        return self._task is not None

    @Slot()
    def _on_button(self) -> None:
        if self.is_running:
            self.stop()
        else:
            self.run()

    @Slot()
    def run(self) -> None:
        """Runs the query in the editor, if none is running."""
        text = self.editor.text()
        if self.is_running or not text.strip():
            return
        if self._check_task is not None and not self._check_task.finished:
            self._check_task.cancel()
        self._say("")
        self.editor.clear_error()
        stop = threading.Event()
        self._stop_asked = None
        self._running, self._refused = text, None
        self._began = time.monotonic()
        self._task = self.session.run(
            answer,
            self.session.engine,
            text,
            self.view.currentData(),
            self.rows.currentData(),
            float(self.seconds.currentData()),
            stop,
            stop=stop,
            done=self._arrived,
            failed=self._failed,
        )
        self._show_running(True)

    @Slot()
    def stop(self) -> None:
        """Asks the running query to end between two rows."""
        if self._task is not None:
            self._task.stop.set()
            self._stop_asked = time.monotonic()
            self._on_tick()

    def _show_running(self, on: bool) -> None:
        self.button.setText(self.tr("Stop") if on else self.tr("Run"))
        self.button.setObjectName("" if on else "primary")
        self.button.style().unpolish(self.button)
        self.button.style().polish(self.button)
        self.theme.set_icon(self.button, "stop" if on else "play", "text" if on else "on_accent")
        self.button.setToolTip(
            self.tr(
                "Stop between two rows. A single step that takes long, such as sorting or counting, "
                "runs to its end."
            )
            if on
            else self.tr("Run the query (Ctrl+Enter)")
        )
        if on:
            self._tick.start()
            self._on_tick()
        else:
            self._tick.stop()

    @Slot()
    def _on_tick(self) -> None:
        passed = time.monotonic() - self._began
        text = self.tr("{n} s").format(n=f"{passed:.1f}")
        if self._stop_asked is not None:
            text = self.tr("Stopping… {n} s").format(n=f"{passed:.1f}")
            if time.monotonic() - self._stop_asked > STOP_PATIENCE_S:
                text = self.tr("Stopping after the step it is in, which cannot be cut short… {n} s").format(
                    n=f"{passed:.1f}"
                )
        self.status.say(text)

    @Slot(object)
    def _arrived(self, found: Answer) -> None:
        self._task = None
        self._answer = found
        self._show_running(False)
        took = self.tr("{n} ms").format(n=grouped(max(round(found.seconds * 1000), 1)))
        if found.kind == "ask":
            self.set_count(None)
            self.status.say(took)
        else:
            one, many = (
                (self.tr("triple"), self.tr("triples"))
                if found.kind == "graph"
                else (self.tr("row"), self.tr("rows"))
            )
            count = counted(len(found.rows), one, many)
            if found.truncated:
                count = self.tr("at least {count}").format(count=count)
            self.set_count(count)
            self.status.say(f"{count}, {took}")
        self.results.show_answer(found)
        self.export.set_answer(found)
        self._say_stale()

    @Slot(object)
    def _failed(self, error: BaseException) -> None:
        self._task = None
        self._show_running(False)
        if isinstance(error, QueryStopped) and self._stop_asked is not None:
            passed = QLocale().toString(time.monotonic() - self._began, "f", 1)
            self.status.say(self.tr("Stopped after {n} s").format(n=passed))
            return
        self.status.say("")
        self._mark_error(error)
        self._say_stale()
        self._refused = self._running
        self._say(" ".join(in_words(error)).strip())

    def _mark_error(self, error: BaseException) -> None:
        if isinstance(error, SynapseError) and error.line is not None:
            self.editor.show_error(error.line, error.column, f"{error.message} {error.hint}".strip())

    def _say(self, text: str) -> None:
        self.message.setText(text)
        self.message.setVisible(bool(text))

    @Slot()
    def _on_more(self) -> None:
        """Runs again with the next row limit."""
        if self._answer is not None:
            at = min(self.rows.currentIndex() + 1, self.rows.count() - 1)
            self.rows.setCurrentIndex(at)
            self.run()

    # -- what holds no longer ------------------------------------------------------------------

    @Slot(object)
    def _on_changed(self, _change: object) -> None:
        self._known_stale = True
        self.results.set_vault_changed(True)
        if self.isVisible() and self.editor.hasFocus():
            self._load_known()

    def _say_stale(self) -> None:
        found = self._answer
        self.results.set_text_differs(found is not None and self.editor.text() != found.text)

    # -- completion ----------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._load_known()

    def _load_known(self) -> None:
        if self._known_stale and (self._known_task is None or self._known_task.finished):
            self._known_stale = False
            self._known_task = self.session.run(
                load_known, self.session.engine, done=self._known_arrived, failed=self._known_failed
            )

    @Slot(object)
    def _known_arrived(self, known: Known) -> None:
        self.editor.known = known

    @Slot(object)
    def _known_failed(self, _error: BaseException) -> None:
        # Completion is a help, not a task of the person: it is tried again with the next change.
        self._known_stale = True

    @Slot(str)
    def _on_opened(self, what: str) -> None:
        self.session.open(what)
