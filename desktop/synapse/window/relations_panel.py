"""Backlinks and relations of the open note, and what depends on it."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QCoreApplication, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from synapse.engine.errors import UnknownEntity
from synapse.engine.questions.results import Dossier, Impact
from synapse.window.facts import FactsView, Row
from synapse.window.facts.rows import rows_of
from synapse.window.following import FollowingPanel
from synapse.window.session import Session, Task, in_words
from synapse.window.theme import GRID, PADDING, Theme

PAGE = 500


class RelationsPanel(FollowingPanel):
    """Two answers about the open note: its relations, or everything that depends on it."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(QCoreApplication.translate("RelationsPanel", "Relations"), session, theme, parent)
        self._dossier: Dossier | None = None
        self._impact: Impact | None = None
        self._shows_impact = False
        self._rows_task: Task | None = None
        self.copy = self.add_action("copy", self.tr("Copy as text"), self._copy)
        self.filter = QLineEdit()
        self.filter.setPlaceholderText(self.tr("Filter"))
        self.filter.setAccessibleName(self.tr("Filter relations"))
        self.filter.setClearButtonEnabled(True)
        self.filter.textChanged.connect(self._on_filter)
        self.switch = QPushButton()
        self.switch.setObjectName("link")
        self.switch.clicked.connect(self._on_switch)
        self.view = FactsView(theme, self.tr("Relations of the open note"))
        self.view.opened.connect(self._on_opened)
        self.view.why.connect(session.proofRequested)
        self.view.moreWanted.connect(self._on_more)
        body = QWidget()
        top = QHBoxLayout()
        top.setContentsMargins(PADDING, PADDING, PADDING, GRID)
        top.setSpacing(GRID)
        top.addWidget(self.filter, 1)
        top.addWidget(self.switch)
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        column.addWidget(self.view, 1)
        self.set_body(body)
        self._label_switch()
        self.say_nothing_open()

    # -- asking --------------------------------------------------------------------------------

    @Slot()
    def refresh(self) -> None:
        if self._rows_task is not None and not self._rows_task.finished:
            self._rows_task.cancel()
        super().refresh()

    def ask(self) -> Task:
        engine = self.session.engine
        if self._shows_impact:
            return self.session.run(
                engine.impact, self.subject, done=self._impact_arrived, failed=self._failed
            )
        return self.session.run(
            engine.dossier, self.subject, PAGE, done=self._dossier_arrived, failed=self._failed
        )

    def say_nothing_open(self) -> None:
        self.set_count(None)
        self.copy.setEnabled(False)
        self.show_empty(self.tr("Open a note to see what links to it and what it relates to."))

    def set_subject(self, subject: str | None) -> None:
        if subject != self.subject:
            self._show_impact(False)
        super().set_subject(subject)

    @Slot()
    def show_impact(self) -> None:
        """Lists everything that depends on the open note."""
        self._show_impact(True)
        self.refresh()

    def _show_impact(self, on: bool) -> None:
        self._shows_impact = on
        self.filter.clear()
        self._label_switch()
        self.set_title(self.tr("What depends on this") if on else self.tr("Relations"))

    def _label_switch(self) -> None:
        self.switch.setText(self.tr("← Relations") if self._shows_impact else self.tr("What depends on this"))
        tip = self.tr("Back to the relations of the note") if self._shows_impact else self.tr(
            "Everything that depends on this note, directly or through others"
        )
        self.switch.setToolTip(tip)

    # -- answers -------------------------------------------------------------------------------

    @Slot(object)
    def _dossier_arrived(self, dossier: Dossier) -> None:
        self._dossier = dossier
        if not (dossier.incoming or dossier.outgoing or dossier.types or dossier.attributes):
            self.set_count(None)
            self.copy.setEnabled(False)
            self.show_empty(
                self.tr("Nothing links to this note yet, and it says nothing about other notes."),
                (self.tr("Write a [[link]] in it"), self._open_subject),
            )
            return
        self.set_count(dossier.total)
        self._show_rows()

    @Slot(object)
    def _more_arrived(self, page: Dossier) -> None:
        if self._dossier is None:
            return
        self._dossier = replace(
            page,
            types=self._dossier.types + page.types,
            attributes=self._dossier.attributes + page.attributes,
            outgoing=self._dossier.outgoing + page.outgoing,
            incoming=self._dossier.incoming + page.incoming,
        )
        self._show_rows()

    @Slot(object)
    def _impact_arrived(self, impact: Impact) -> None:
        self._impact = impact
        name = " ".join(impact.entity.label.split())
        self.set_count(impact.total)
        if not impact.items:
            self.copy.setEnabled(False)
            self.show_empty(
                self.tr("Nothing depends on {name}.").format(name=name),
                (self.tr("Back to its relations"), self._on_switch),
            )
            return
        self._show_rows()

    @Slot(object)
    def _failed(self, error: BaseException) -> None:
        self.set_count(None)
        self.copy.setEnabled(False)
        if isinstance(error, UnknownEntity):
            self.show_empty(
                self.tr("This note is not in the graph yet. It appears here once it has been read."),
                (self.tr("Look again"), self.refresh),
            )
            return
        self.show_error(*in_words(error), (self.tr("Try again"), self.refresh))

    # -- rows ----------------------------------------------------------------------------------

    def _show_rows(self) -> None:
        """Makes the rows in the read pool: a hub has more of them than a key press may take."""
        answer = self._impact if self._shows_impact else self._dossier
        if answer is None:
            return
        if self._rows_task is not None and not self._rows_task.finished:
            self._rows_task.cancel()
        self._rows_task = self.session.run(
            rows_of, answer, self.filter.text(), done=self._rows_arrived, failed=self._failed
        )

    @Slot(object)
    def _rows_arrived(self, rows: tuple[Row, ...]) -> None:
        self.view.set_rows(rows)
        self.copy.setEnabled(True)
        self.show_body()

    # -- acting --------------------------------------------------------------------------------

    @Slot()
    def _on_filter(self) -> None:
        if not self.showing_message:
            self._show_rows()

    @Slot()
    def _on_switch(self) -> None:
        self._show_impact(not self._shows_impact)
        self.refresh()

    @Slot()
    def _on_more(self) -> None:
        engine = self.session.engine
        if self._shows_impact and self._impact is not None and self._impact.cursor:
            self._task = self.session.run(
                engine.impact,
                self.subject,
                cursor=self._impact.cursor,
                done=self._more_impact_arrived,
                failed=self._failed,
            )
        elif self._dossier is not None and self._dossier.cursor:
            self._task = self.session.run(
                engine.dossier,
                self.subject,
                PAGE,
                self._dossier.cursor,
                done=self._more_arrived,
                failed=self._failed,
            )

    @Slot(object)
    def _more_impact_arrived(self, page: Impact) -> None:
        if self._impact is not None:
            self._impact = replace(page, items=self._impact.items + page.items)
            self._show_rows()

    @Slot(str, int)
    def _on_opened(self, what: str, line: int) -> None:
        self.session.open(what, line or None)

    def _open_subject(self) -> None:
        if self.subject is not None:
            self.session.open(self.subject)

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.view.as_text())
