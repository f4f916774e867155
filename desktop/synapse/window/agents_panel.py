"""The agents of this vault: who is attached, what each may do and did, and how to take it back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from PySide6.QtCore import QModelIndex, Qt, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QSplitter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from synapse.engine.questions.results import AssertionSummary, Undone
from synapse.window.agents.keeper import AgentsKeeper
from synapse.window.agents.plain import plain
from synapse.window.agents.rows import access_words, agent_line, assertion_lines, tr
from synapse.window.agents.state import AgentsState, AgentState, local_time
from synapse.window.agents.view import ElidedLabel, LinesView
from synapse.window.bar import Bar
from synapse.window.panel import Panel, counted, grouped, hairline
from synapse.window.session import Task, in_words
from synapse.window.settings import CLOSING_CHOICES
from synapse.window.theme import GRID, PADDING, Theme

PAGE = 100
"""Statements that are asked for at a time."""


class AgentsPanel(Panel):
    """A list of agents and, beside or below it, what the chosen one did."""

    connectRequested = Signal()
    closingChosen = Signal(str)
    """What to do when the window closes with agents attached: one of CLOSING_CHOICES."""

    def __init__(self, keeper: AgentsKeeper, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(tr("Agents"), theme, parent)
        self.keeper = keeper
        self.session = keeper.session
        self._chosen: str | None = None
        self._names: list[str] = []
        self._wanted = PAGE
        self._task: Task | None = None
        self._shown_of: tuple[str, object] | None = None
        self.agents = LinesView(theme, self.tr("Agents"), self)
        self.acts = LinesView(theme, self.tr("What this agent stated"), self)
        self.agents.selectionModel().currentChanged.connect(self._current_changed)
        self.acts.opened.connect(self._open)
        self.split = QSplitter(Qt.Orientation.Vertical, self)
        self.split.setHandleWidth(1)
        self.split.setChildrenCollapsible(False)
        self.split.addWidget(self.agents)
        self.split.addWidget(self._build_details())
        self.split.setSizes([120, 220])
        self.bar = Bar(theme, self)
        body = QWidget(self)
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.bar)
        column.addWidget(self.split, 1)
        self.set_body(body)
        self.add_action("plus", self.tr("Connect an agent…"), self.connectRequested.emit)
        more = self.add_action("more", self.tr("What happens when the window closes"))
        more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        more.setMenu(self._build_closing_menu())
        keeper.changed.connect(self._show)
        keeper.problem.connect(self._say_problem)
        keeper.wouldUndo.connect(self._confirm_undo)
        keeper.undone.connect(self._say_undone)
        self.session.changed.connect(self._on_write)
        self._show(keeper.state)

    # -- parts ---------------------------------------------------------------------------------------

    def _build_details(self) -> QWidget:
        self.name = ElidedLabel(self)
        self.name.setObjectName("panelTitle")
        self.about = QLabel(self)
        self.about.setObjectName("muted")
        for label in (self.name, self.about):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(label is self.about)
            label.setMinimumWidth(40)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.allow = self._button(self.tr("Allow writes"), self._allow)
        self.pause = self._button(self.tr("Pause"), self._pause)
        self.pause.setToolTip(self.tr("Its writes are refused until you resume them"))
        self.resume = self._button(self.tr("Resume"), self._resume)
        self.revoke = self._button(self.tr("Revoke…"), self._ask_revoke)
        self.revoke.setToolTip(self.tr("It may not attach any more, and its token is void"))
        self.undo = self._button(self.tr("Undo since…"), None)
        self.undo.setMenu(self._build_undo_menu())
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID)
        for button in (self.allow, self.resume, self.pause, self.undo, self.revoke):
            buttons.addWidget(button)
        buttons.addStretch(1)
        self.silent = QLabel(self)
        self.silent.setObjectName("muted")
        self.silent.setWordWrap(True)
        self.silent.setContentsMargins(PADDING + GRID, PADDING, PADDING, PADDING)
        head = QVBoxLayout()
        head.setContentsMargins(PADDING + GRID, PADDING, PADDING, PADDING)
        head.setSpacing(GRID)
        head.addWidget(self.name)
        head.addWidget(self.about)
        head.addLayout(buttons)
        details = QWidget(self)
        column = QVBoxLayout(details)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(hairline(details))
        column.addWidget(self.silent)
        column.addWidget(self.acts, 1)
        column.addStretch(0)
        return details

    def _button(self, text: str, act: object) -> QPushButton:
        button = QPushButton(text, self)
        if act is not None:
            button.clicked.connect(act)
        return button

    def _build_undo_menu(self) -> QMenu:
        menu = QMenu(self)
        for text, since in (
            (self.tr("Last 10 minutes"), lambda: _ago(timedelta(minutes=10))),
            (self.tr("Last hour"), lambda: _ago(timedelta(hours=1))),
            (self.tr("Today"), _today),
            (self.tr("Everything"), lambda: ""),
        ):
            action = QAction(text, menu)
            action.triggered.connect(lambda _=False, since=since: self._preview_undo(since()))
            menu.addAction(action)
        return menu

    def _build_closing_menu(self) -> QMenu:
        menu = QMenu(self)
        menu.addSection(self.tr("When the window closes with agents attached"))
        self._closing = QActionGroup(menu)
        texts = (self.tr("Ask"), self.tr("Keep serving them in the background"), self.tr("Stop serving them"))
        for choice, text in zip(CLOSING_CHOICES, texts, strict=True):
            action = QAction(text, menu)
            action.setCheckable(True)
            action.setData(choice)
            self._closing.addAction(action)
            menu.addAction(action)
        self._closing.triggered.connect(lambda action: self.closingChosen.emit(action.data()))
        menu.aboutToShow.connect(self._mark_closing)
        self.closing = "ask"
        self.closing_menu = menu
        return menu

    @Slot()
    def _mark_closing(self) -> None:
        for action in self._closing.actions():
            action.setChecked(action.data() == self.closing)

    # -- what is shown -------------------------------------------------------------------------------

    @property
    def chosen(self) -> AgentState | None:
        """The agent whose acts are shown."""
        return self.keeper.state.agent(self._chosen) if self._chosen is not None else None

    @Slot(object)
    def _show(self, state: AgentsState) -> None:
        connections = state.connections
        self.set_count(self.tr("{count} attached").format(count=connections) if connections else None)
        if not state.agents:
            self._chosen = None
            self.show_empty(
                self.tr("Agents that work with this vault appear here, with everything they state."),
                (self.tr("Connect an agent…"), self.connectRequested.emit),
            )
            return
        self.show_body()
        names = [agent.name for agent in state.agents]
        keep = self._chosen if self._chosen in names else names[0]
        self._names = names
        self.agents.lines.set_lines([agent_line(agent) for agent in state.agents])
        self._chosen = keep
        row = names.index(keep)
        if self.agents.currentIndex().row() != row:
            self.agents.setCurrentIndex(self.agents.lines.index(row))
        self._show_chosen()

    @Slot(QModelIndex)
    def _current_changed(self, index: QModelIndex) -> None:
        if index.isValid() and self._names[index.row()] != self._chosen:
            self._chosen = self._names[index.row()]
            self._wanted = PAGE
            self.bar.withdraw()
            self._show_chosen()

    def _show_chosen(self) -> None:
        agent = self.chosen
        if agent is None:
            return
        self.name.say(plain(agent.name, 80))
        self.about.setText(self._what_it_is(agent))
        self.allow.setVisible(agent.access in ("read", "revoked", None))
        self.allow.setEnabled(agent.access is not None)
        self.resume.setVisible(agent.access == "paused")
        self.pause.setVisible(agent.access == "write")
        self.revoke.setVisible(agent.access not in ("revoked", None))
        did = agent.activity is not None and bool(agent.activity.assertions or agent.activity.retractions)
        self.undo.setEnabled(did)
        self._ask_acts()

    def _what_it_is(self, agent: AgentState) -> str:
        proven = self.tr("Name proven by its token") if agent.is_proven else self.tr("Name not proven")
        parts = [f"{access_words(agent)[0].capitalize()}. {proven}."]
        if agent.attached:
            calls, writes = sum(a.calls for a in agent.attached), sum(a.writes for a in agent.attached)
            parts.append(
                self.tr("Since it attached: {calls}, {writes} wrote.").format(
                    calls=counted(calls, self.tr("call"), self.tr("calls")),
                    writes=self.tr("{count} of which").format(count=grouped(writes))
                    if writes
                    else self.tr("none of which"),
                )
            )
        done = agent.activity
        if done is not None:
            parts.append(
                self.tr("In all: {statements}, {facts} of which stand.").format(
                    statements=counted(done.assertions, self.tr("statement"), self.tr("statements")),
                    facts=counted(done.facts, self.tr("fact"), self.tr("facts")),
                )
            )
        return " ".join(parts)

    @Slot(object)
    def _on_write(self, _change: object) -> None:
        self._shown_of = None  # what is listed may stand no more; the keeper tells when

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show(self.keeper.state)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Side by side where there is room, else one below the other."""
        super().resizeEvent(event)
        wide = self.width() > 1.3 * self.height() and self.width() > 560
        wanted = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if self.split.orientation() != wanted:
            self.split.setOrientation(wanted)
            self.split.setSizes([2 * self.width() // 5, 3 * self.width() // 5] if wide else [120, 220])

    def _ask_acts(self) -> None:
        """Ask for the chosen agent's statements, if they are seen and not there yet."""
        agent = self.chosen
        if agent is None or not self.isVisible():
            return
        wanted = (agent.name, (self._wanted, agent.activity))
        if wanted == self._shown_of:
            return
        if self._task is not None and not self._task.finished:
            self._task.cancel()
        if self._shown_of is None or self._shown_of[0] != agent.name:
            self._clear_other(agent.name)
        self._shown_of = wanted
        if agent.activity is None:
            self._arrived(())
            return
        self._task = self.session.run(
            self.session.engine.assertions_of,
            agent.name,
            None,
            self._wanted + 1,
            done=self._arrived,
            failed=self._failed,
        )

    def _clear_other(self, name: str) -> None:
        """Nothing of another agent stays while this one's statements are on their way."""
        if self.acts.property("agent") != name:
            self.acts.lines.set_lines([])
            self.acts.setProperty("agent", name)

    @Slot(object)
    def _arrived(self, found: tuple[AssertionSummary, ...]) -> None:
        more = len(found) > self._wanted
        self.acts.lines.set_lines(assertion_lines(found[: self._wanted], more))
        self.acts.setVisible(bool(found))
        self.silent.setVisible(not found)
        agent = self.chosen
        if agent is not None and not found:
            self.silent.setText(
                self.tr("It has stated nothing here yet.")
                if agent.access != "read"
                else self.tr("It has stated nothing here. Allow writes, and what it states is listed here.")
            )

    @Slot(object)
    def _failed(self, error: BaseException) -> None:
        self._shown_of = None
        self.bar.say_error(*in_words(error), [(self.tr("Try again"), self._show_chosen)])

    @Slot(int)
    def _open(self, row: int) -> None:
        line = self.acts.lines.lines[row]
        if line.kind == "more":
            self._wanted += PAGE
            self._ask_acts()
        elif line.entity:
            self.session.open(line.entity)

    # -- what a person decides -----------------------------------------------------------------------

    @Slot()
    def _allow(self) -> None:
        if agent := self.chosen:
            self.keeper.allow(agent.name)

    @Slot()
    def _pause(self) -> None:
        if agent := self.chosen:
            self.keeper.pause(agent.name)

    @Slot()
    def _resume(self) -> None:
        if agent := self.chosen:
            self.keeper.resume(agent.name)

    @Slot()
    def _ask_revoke(self) -> None:
        if agent := self.chosen:
            text = self.tr("{name} will not be able to attach any more. What it stated stays.")

            def act() -> None:
                self.bar.withdraw()
                self.keeper.revoke(agent)

            self.bar.say(
                text.format(name=plain(agent.name, 80)),
                [(self.tr("Revoke"), act)],
                icon="warning",
                color="warning",
            )

    def _preview_undo(self, since: str) -> None:
        if agent := self.chosen:
            self.keeper.preview_undo(agent.name, since)

    @Slot(object, str)
    def _confirm_undo(self, would: Undone, since: str) -> None:
        what = self.tr("all that {name} wrote here").format(name=plain(would.agent, 80))
        if since:
            what = self.tr("{what} since {time}").format(what=what, time=local_time(since))
        if not would.events:
            text = self.tr("Nothing is left to take back of {what}.")
            self.bar.say(text.format(what=what), passing=True)
            return

        def act() -> None:
            self.bar.withdraw()
            self.keeper.undo(would.agent, since)

        acts = counted(would.events, self.tr("act"), self.tr("acts"))
        facts = counted(would.withdrawn, self.tr("fact"), self.tr("facts"))
        text = self.tr("Take back {what}? That is {acts}, and withdraws {facts}.")
        self.bar.say(
            text.format(what=what, acts=acts, facts=facts),
            [(self.tr("Take back"), act)],
            icon="warning",
            color="warning",
        )

    @Slot(object)
    def _say_undone(self, undone: Undone) -> None:
        parts = [counted(undone.withdrawn, self.tr("fact withdrawn"), self.tr("facts withdrawn"))]
        if undone.restored:
            parts.append(self.tr("{count} stated again").format(count=undone.restored))
        if undone.no_longer_inferred:
            parts.append(self.tr("{count} follow no more").format(count=undone.no_longer_inferred))
        text = self.tr("Taken back: {parts}.").format(parts=", ".join(parts))
        self.bar.say(text, icon="check", color="success", passing=True)

    @Slot(str, str)
    def _say_problem(self, text: str, hint: str) -> None:
        self.show_body()
        self.bar.say_error(text, hint)


def _ago(span: timedelta) -> str:
    return _utc(datetime.now(UTC) - span)


def _today() -> str:
    """Where this day began for the person here."""
    return _utc(datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0))


def _utc(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
