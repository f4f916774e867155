"""The line at the bottom: what is known, and what is being done."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton, QStatusBar, QWidget

from synapse.engine.questions.results import Status
from synapse.window.panel import counted, grouped
from synapse.window.theme import Theme

BUSY_AFTER_MS = 300


class VaultStatusBar(QStatusBar):
    """Revision, notes, facts, inferred, problems; a running index with a way to stop it."""

    problemsRequested = Signal()
    agentsRequested = Signal()
    stopRequested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setSizeGripEnabled(False)
        self.busy = QLabel(self)
        self.busy.setAccessibleName(self.tr("What is being done"))
        self.progress = QProgressBar(self)
        self.progress.setTextVisible(False)
        self.progress.setFixedWidth(140)
        self.stop = QPushButton(self.tr("Stop"), self)
        self.stop.clicked.connect(self.stopRequested)
        self.addWidget(self.busy)
        self.addWidget(self.progress)
        self.addWidget(self.stop)
        self.progress.hide()
        self.stop.hide()
        self.notes, self.facts, self.inferred, self.revision = (QLabel(self) for _ in range(4))
        self.problems = QPushButton(self)
        self.problems.clicked.connect(self.problemsRequested)
        self.problems.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.agents = QPushButton(self)
        self.agents.clicked.connect(self.agentsRequested)
        self.agents.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.agents.setToolTip(self.tr("Show who is attached and what they did"))
        for widget in (self.agents, self.problems, self.notes, self.facts, self.inferred, self.revision):
            self.addPermanentWidget(widget)
        self._busy_timer = QTimer(self)
        self._busy_timer.setSingleShot(True)
        self._busy_timer.setInterval(BUSY_AFTER_MS)
        self._busy_timer.timeout.connect(self._say_busy)
        self._indexing = False
        self.clear_numbers()

    def clear_numbers(self) -> None:
        """No vault is open."""
        for label in (self.notes, self.facts, self.inferred, self.revision):
            label.clear()
        self.problems.hide()
        self.agents.hide()
        self.busy.clear()

    @Slot(object)
    def show_status(self, status: Status) -> None:
        self.notes.setText(counted(status.notes, self.tr("note"), self.tr("notes")))
        self.facts.setText(counted(status.facts, self.tr("fact"), self.tr("facts")))
        self.inferred.setText(self.tr("{count} inferred").format(count=grouped(status.inferred)))
        epoch, _, number = status.revision.rpartition("-")
        self.revision.setText(self.tr("revision {number}").format(number=number))
        tip = self.tr("Revision {number} of store {epoch}").format(number=number, epoch=epoch)
        self.revision.setToolTip(tip)
        found = status.diagnostics
        self.problems.setVisible(True)
        self.problems.setText(
            counted(found, self.tr("problem"), self.tr("problems")) if found else self.tr("No problems")
        )
        self.problems.setToolTip(self.tr("Show what could not be read as it was meant"))
        name = "hasWarnings" if found else ""
        if self.problems.objectName() != name:
            self.problems.setObjectName(name)
            self.problems.style().unpolish(self.problems)
            self.problems.style().polish(self.problems)

    def show_agents(self, attached: int) -> None:
        """How many agents are attached now."""
        self.agents.setText(
            counted(attached, self.tr("agent attached"), self.tr("agents attached")) if attached else ""
        )
        self.agents.setVisible(bool(attached))

    @Slot(int, int)
    def show_indexing(self, done: int, total: int) -> None:
        """Notes read of all; (0, 0) ends it."""
        self._indexing = bool(total)
        self.progress.setVisible(self._indexing)
        self.stop.setVisible(self._indexing)
        if not self._indexing:
            self.busy.clear()
            return
        self.progress.setRange(0, total)
        self.progress.setValue(done)
        if done < total:
            self.busy.setText(
                self.tr("Reading notes: {done} of {total}").format(done=grouped(done), total=grouped(total))
            )
        else:
            self.stop.hide()
            self.busy.setText(self.tr("Reasoning…"))

    @Slot(bool)
    def show_busy(self, busy: bool) -> None:
        """Calls are on their way; said only when they take a while."""
        if busy:
            self._busy_timer.start()
        else:
            self._busy_timer.stop()
            if not self._indexing:
                self.busy.clear()

    @Slot()
    def _say_busy(self) -> None:
        if not self._indexing:
            self.busy.setText(self.tr("Working…"))
