"""Connect an agent: what its host's configuration needs to hold, ready to copy, and who attached then."""

from __future__ import annotations

import json

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from synapse.agents.host_configuration import HOSTS, configuration
from synapse.engine.errors import SynapseError
from synapse.window.agents.keeper import AgentsKeeper
from synapse.window.agents.plain import plain
from synapse.window.agents.state import AgentsState
from synapse.window.panel import hairline
from synapse.window.session import in_words
from synapse.window.theme import GRID, PADDING, Theme


class ConnectDialog(QDialog):
    """Not modal: the host's file is edited beside it."""

    def __init__(self, keeper: AgentsKeeper, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._keeper = keeper
        self._token: tuple[str, str] | None = None
        self._before = {one.id for agent in keeper.state.agents for one in agent.attached}
        self.setWindowTitle(self.tr("Connect an agent"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(680, 600)
        self.intro = _label(
            self.tr(
                "Choose the program your agent runs in, and put this text into its configuration. "
                "The agent reads this vault at once; it writes when you allow it."
            )
        )
        self.host = QComboBox(self)
        self.host.setAccessibleName(self.tr("The program the agent runs in"))
        for name, host in HOSTS.items():
            self.host.addItem(host.title, name)
        self.host.addItem(self.tr("Another program"), None)
        self.where = _label("")
        self.text = QPlainTextEdit(self)
        self.text.setReadOnly(True)
        self.text.setFont(theme.mono_font(9.5))
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setAccessibleName(self.tr("Configuration"))
        self.copy = QPushButton(self.tr("Copy"), self)
        self.copy.setDefault(True)
        self.copied = _label("", muted=True)
        self.name = QLineEdit(self)
        self.name.setMaxLength(64)
        self.name.setAccessibleName(self.tr("The agent's name"))
        self.issue = QPushButton(self.tr("Issue a token"), self)
        self.issue.setAutoDefault(False)
        self.about_token = _label("", muted=True)
        self.attached = _label(self.tr("Waiting for an agent to attach…"), muted=True)
        close = QPushButton(self.tr("Close"), self)
        close.setAutoDefault(False)
        close.clicked.connect(self.reject)
        self._lay_out(close)
        self.host.currentIndexChanged.connect(self._host_chosen)
        self.name.textChanged.connect(self._name_changed)
        self.copy.clicked.connect(self._copy)
        self.issue.clicked.connect(self._issue)
        keeper.tokenIssued.connect(self._issued)
        keeper.problem.connect(self._say_problem)
        keeper.changed.connect(self._agents_changed)
        self._host_chosen()

    def _lay_out(self, close: QPushButton) -> None:
        form = QFormLayout()
        form.setSpacing(PADDING)
        form.addRow(self.tr("Program"), self.host)
        copying = QHBoxLayout()
        copying.setSpacing(PADDING)
        copying.addWidget(self.copy)
        copying.addWidget(self.copied, 1)
        token = QHBoxLayout()
        token.setSpacing(PADDING)
        token.addWidget(self.name, 1)
        token.addWidget(self.issue)
        named = QFormLayout()
        named.setSpacing(PADDING)
        named.addRow(self.tr("Agent's name"), token)
        ending = QHBoxLayout()
        ending.addWidget(self.attached, 1)
        ending.addWidget(close)
        column = QVBoxLayout(self)
        column.setContentsMargins(*[2 * PADDING] * 4)
        column.setSpacing(PADDING + GRID)
        column.addWidget(self.intro)
        column.addLayout(form)
        column.addWidget(self.where)
        column.addWidget(self.text, 1)
        column.addLayout(copying)
        column.addWidget(hairline(self))
        column.addLayout(named)
        column.addWidget(self.about_token)
        column.addWidget(hairline(self))
        column.addLayout(ending)

    # -- the text ------------------------------------------------------------------------------------

    @Slot()
    def _host_chosen(self) -> None:
        chosen = self.host.currentData()
        self._token = None
        self.name.setText(chosen or "my-agent")
        if chosen:
            known = HOSTS[chosen]
            words = self.tr("Put this into {path}, beside what is there, and restart {program}.")
            self.where.setText(words.format(path=known.path, program=known.title))
        else:
            self.where.setText(self.tr("Most programs take this form; its documentation says where."))
        self._name_changed()

    @Slot()
    def _name_changed(self) -> None:
        name = " ".join(self.name.text().split())
        if self._token is not None and self._token[0] != name:
            self._token = None
        known = self._keeper.state.agent(name)
        if self._token is not None:
            self.about_token.setText(
                self.tr(
                    "The text above holds the token now. It is not shown again: copy it before you close."
                )
            )
        elif known is not None and known.has_token:
            self.about_token.setText(
                self.tr("This name has a token, and is refused without it. A new one makes the old one void.")
            )
        else:
            self.about_token.setText(
                self.tr("Without a token any program can use this name. With one, what it writes is its own.")
            )
        self.issue.setEnabled(bool(name))
        self._fill(name)

    def _fill(self, name: str) -> None:
        vault = self._keeper.session.engine.vault
        token = self._token[1] if self._token is not None else None
        try:
            content = configuration(vault, self.host.currentData(), agent=name or None, token=token)
        except SynapseError as error:
            self.text.setPlainText("\n".join(in_words(error)))
            self.copy.setEnabled(False)
            return
        self.text.setPlainText(json.dumps(content, indent=2, ensure_ascii=False))
        self.copy.setEnabled(True)
        self.copied.clear()

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text.document().toRawText().replace("\u2029", "\n"))
        self.copied.setText(self.tr("Copied."))

    # -- the token -----------------------------------------------------------------------------------

    @Slot()
    def _issue(self) -> None:
        self.issue.setEnabled(False)
        self._keeper.issue_token(self.name.text())

    @Slot(str, str)
    def _issued(self, name: str, token: str) -> None:
        self._token = (name, token)
        self._name_changed()

    @Slot(str, str)
    def _say_problem(self, text: str, hint: str) -> None:
        self.issue.setEnabled(True)
        self.about_token.setText(f"{text} {hint}".strip())

    # -- who attached --------------------------------------------------------------------------------

    @Slot(object)
    def _agents_changed(self, state: AgentsState) -> None:
        new = [a for a in state.agents if any(one.id not in self._before for one in a.attached)]
        if new:
            names = ", ".join(plain(agent.name, 60) for agent in new)
            self.attached.setText(self.tr("Attached: {names}.").format(names=names))


def _label(text: str, *, muted: bool = False) -> QLabel:
    label = QLabel(text)
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    if muted:
        label.setObjectName("muted")
    return label
