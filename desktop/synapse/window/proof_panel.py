"""Why a fact holds: who states it, or the proof down to the lines it rests on."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, Qt, Slot
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from synapse.engine.errors import NotHolding
from synapse.engine.questions.results import Fact, Proof, Source
from synapse.window.facts import FactsView
from synapse.window.facts.proof_rows import because, proof_rows, reason_in_full, said_of, source_rows
from synapse.window.panel import Panel, counted, hairline
from synapse.window.session import Session, Task, in_words
from synapse.window.theme import GRID, PADDING, Theme

FOLDED_AT = 4
"""Steps below this depth start folded."""
REMEMBERED = 50


class ProofPanel(Panel):
    """Shows the fact of the last `proofRequested`; Back returns to the one before."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(QCoreApplication.translate("ProofPanel", "Proof"), theme, parent)
        self.session = session
        self.fact: Fact | None = None
        self._earlier: list[Fact] = []
        self._task: Task | None = None
        self._stale = False
        self.back = self.add_action("back", self.tr("Back to the fact before"), self.go_back)
        self.copy = self.add_action("copy", self.tr("Copy the proof as text"), self._copy)
        self.sentence = QLabel()
        self.sentence.setObjectName("panelTitle")
        self.verdict = QLabel()
        self.verdict.setObjectName("muted")
        for label in (self.sentence, self.verdict):
            label.setWordWrap(True)
            # A long word must not make the dock wider.
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setContentsMargins(PADDING + GRID, 0, PADDING, 0)
        self.view = FactsView(theme, self.tr("Proof"))
        self.view.opened.connect(self._on_opened)
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(0, PADDING, 0, 0)
        column.setSpacing(GRID // 2)
        column.addWidget(self.sentence)
        column.addWidget(self.verdict)
        column.addSpacing(GRID)
        column.addWidget(hairline())
        column.addWidget(self.view, 1)
        self.set_body(body)
        session.proofRequested.connect(self.ask)
        session.changed.connect(self._on_changed)
        self._say_empty()

    def _say_empty(self) -> None:
        self.set_count(None)
        self.back.setEnabled(False)
        self.copy.setEnabled(False)
        self.show_empty(self.tr("Choose Why? beside a relation to see what it rests on."))

    @Slot(object)
    def ask(self, fact: Fact) -> None:
        """Shows why a fact holds."""
        if self.fact is not None and fact != self.fact:
            self._earlier = [*self._earlier[1 - REMEMBERED :], self.fact]
        self._show(fact)

    @Slot()
    def go_back(self) -> None:
        if self._earlier:
            self._show(self._earlier.pop())

    def _show(self, fact: Fact) -> None:
        self.fact = fact
        self.back.setEnabled(bool(self._earlier))
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Asks again why the fact holds."""
        self._stale = False
        if self.fact is None:
            return
        if self._task is not None and not self._task.finished:
            self._task.cancel()
        fact = self.fact
        self._task = self.session.run(
            self.session.engine.explain,
            fact.subject,
            fact.predicate,
            fact.object,
            done=self._arrived,
            failed=self._failed,
        )

    @Slot(object)
    def _arrived(self, proof: Proof) -> None:
        self.copy.setEnabled(True)
        self.sentence.setText(" ".join(proof.fact.sentence.split()))
        leaves = sum(1 for _ in proof.leaves())
        if proof.rule is None:
            self.verdict.setText(self._stated(proof.fact.sources))
            self.set_count(None)
            self.view.set_rows(source_rows(proof.fact))
        else:
            facts = counted(leaves, self.tr("stated fact"), self.tr("stated facts"))
            self.verdict.setText(self.tr("Inferred {reason}").format(reason=because(proof)))
            self.set_count(facts)
            self.view.set_rows(proof_rows(proof), FOLDED_AT)
        self.show_body()

    def _stated(self, sources: Sequence[Source]) -> str:
        """Who states it; a single agent's reason in full, which a row would cut."""
        if len(sources) != 1:
            count = counted(len(sources), self.tr("source"), self.tr("sources"))
            return self.tr("Stated, by {sources}.").format(sources=count) if sources else self.tr("Stated.")
        reason = reason_in_full(sources[0])
        return f"{said_of(sources[0])}: {reason}" if reason else f"{said_of(sources[0])}."

    @Slot(object)
    def _failed(self, error: BaseException) -> None:
        self.set_count(None)
        self.copy.setEnabled(False)
        text, hint = in_words(error)
        if isinstance(error, NotHolding) and self.fact is not None:
            sentence = " ".join(self.fact.sentence.split())
            self.show_empty(
                self.tr("“{sentence}” holds no longer: something it rested on has gone.").format(
                    sentence=sentence
                ),
                (self.tr("Look again"), self.refresh),
            )
            return
        self.show_error(text, hint, (self.tr("Try again"), self.refresh))

    @Slot(object)
    def _on_changed(self, _change: object) -> None:
        self._stale = True
        if self.isVisible():
            self.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self.refresh()

    @Slot(str, int)
    def _on_opened(self, what: str, line: int) -> None:
        self.session.open(what, line or None)

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(f"{self.sentence.text()}\n{self.view.as_text()}")
