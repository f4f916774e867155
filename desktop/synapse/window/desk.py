"""Everything of the window that belongs to one open vault; it comes and goes with it."""

from __future__ import annotations

from platformdirs import user_documents_path
from PySide6.QtCore import QByteArray, QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QMainWindow, QWidget

from synapse.engine import Engine
from synapse.engine.questions.results import BacklinksReport
from synapse.window.agents.keeper import AgentsKeeper
from synapse.window.agents.plain import plain
from synapse.window.agents.state import AgentsState
from synapse.window.agents_panel import AgentsPanel
from synapse.window.bar import Bars
from synapse.window.browser import BrowserPanel
from synapse.window.connect_agent import ConnectDialog
from synapse.window.console_panel import ConsolePanel
from synapse.window.diff_view import DiffDialog, Versions
from synapse.window.docks import Docks
from synapse.window.graph_panel import NeighbourhoodPanel
from synapse.window.indexing import BacklinksKeeper, IndexKeeper
from synapse.window.navigation import Navigator
from synapse.window.note_list import NoteList
from synapse.window.opening import VaultHost
from synapse.window.panel import counted
from synapse.window.problems_panel import ProblemsPanel
from synapse.window.proof_panel import ProofPanel
from synapse.window.relations_panel import RelationsPanel
from synapse.window.session import Session, in_words
from synapse.window.settings import VaultSettings
from synapse.window.tabs import NoteTabs
from synapse.window.theme import Theme

LAYOUT_VERSION = 1
_OF_AGENTS = ("agent-writes", "unserved")


class Desk(QObject):
    """The session of a vault with its tabs, panels and keepers."""

    newVaultRequested = Signal()
    openVaultRequested = Signal()

    def __init__(
        self,
        window: QMainWindow,
        engine: Engine,
        host: VaultHost,
        settings: VaultSettings,
        theme: Theme,
        bars: Bars,
        points: float,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._host = host
        self._settings = settings
        self._theme = theme
        self._bars = bars
        self._report: BacklinksReport | None = None
        self.session = Session(engine, self)
        self.notes = NoteList(self.session, self)
        self.tabs = NoteTabs(self.session, theme, points)
        self.navigator = Navigator(self.session, self.tabs, bars, self)
        self.index = IndexKeeper(self.session, self)
        self.backlinks = BacklinksKeeper(self.session, self)
        self.agents = AgentsKeeper(self.session, host.owner, host.registry, self)
        self.agents_panel = AgentsPanel(self.agents, theme)
        self._connecting: ConnectDialog | None = None
        self._put_off: set[str] = set()
        self.browser = BrowserPanel(self.session, self.notes, theme)
        self.console = ConsolePanel(self.session, theme)
        self.docks = Docks(
            window,
            {
                "browser": self.browser,
                "graph": NeighbourhoodPanel(self.session, theme),
                "relations": RelationsPanel(self.session, theme),
                "proof": ProofPanel(self.session, theme),
                "console": self.console,
                "problems": ProblemsPanel(self.session, theme),
                "agents": self.agents_panel,
            },
        )
        self._connect()
        self._restore()

    def _connect(self) -> None:
        self.browser.noteRequested.connect(self.navigator.request)
        self.browser.noteNamed.connect(self.navigator.write)
        self.browser.sortChanged.connect(lambda by_time: self._settings.set("newest-first", by_time))
        self.session.proofRequested.connect(self._show_proof)
        self.session.problem.connect(self._say_problem)
        self.index.finished.connect(self._indexed)
        self.index.stopped.connect(self._index_stopped)
        self.index.failed.connect(self._index_failed)
        self.backlinks.asking.connect(self._ask_backlinks)
        self.backlinks.previewed.connect(self._show_preview)
        self.backlinks.wrote.connect(self._backlinks_wrote)
        for ended in (self.index.finished, self.index.stopped, self.index.failed):
            ended.connect(self._host_may_answer)
        self.agents.changed.connect(self._agents_changed)
        self.agents_panel.connectRequested.connect(self.connect_agent)
        self._host.served.connect(self.agents.set_owner)
        self.console.queryChanged.connect(lambda text: self._settings.set("query", text))

    @property
    def vault(self) -> str:
        return str(self.session.engine.vault)

    # -- arrangement ---------------------------------------------------------------------------

    def _restore(self) -> None:
        """As this vault's window was left."""
        state = self._settings.state("state")
        if not state.isEmpty():
            self._window.restoreState(state, LAYOUT_VERSION)
        self.browser.sort_by_time(self._settings.flag("newest-first"))
        if query := self._settings.text("query"):
            self.console.set_text(query)
        vault = self.session.engine.vault
        paths = [path for path in self._settings.texts("tabs") if (vault / path).is_file()]
        for path in paths:
            self.tabs.open(path, focus=False)
        active = self._settings.text("tab")
        if active in paths:
            self.tabs.open(active)
        elif not paths and not self._settings.flag("visited") and (vault / "welcome.md").is_file():
            self.tabs.open("welcome.md")

    def remember(self) -> None:
        """Keep the arrangement for the next start."""
        state: QByteArray = self._window.saveState(LAYOUT_VERSION)
        self._settings.set("state", state)
        self._settings.set("tabs", [page.path for page in self.tabs.pages()])
        self._settings.set("tab", self.tabs.page.path if self.tabs.page else "")
        self._settings.set("visited", True)

    # -- beginning -----------------------------------------------------------------------------

    def start(self) -> None:
        """Show what is known already, then look at the folder."""
        if self.session.engine.recovered:
            self._bars.bar("recovered").say(self.session.engine.recovered, icon="warning", color="warning")
        if self._host.unserved is not None:
            self._bars.bar("unserved").say_error(*in_words(self._host.unserved))
        self.notes.refresh()
        self.session.refresh_status()
        self.index.start()
        self._greet()

    def _greet(self) -> None:
        vault = self.session.engine.vault
        if vault != (user_documents_path() / "Synapse" / "Sample vault").resolve():
            return
        if self._settings.flag("stays"):
            return
        self._bars.bar("welcome").say(
            self.tr("This is your own copy of the sample vault. Look around, or begin with your notes."),
            [
                (self.tr("Open a folder…"), self.openVaultRequested.emit),
                (self.tr("New vault…"), self.newVaultRequested.emit),
                (self.tr("Stay here"), self._stay),
            ],
            icon="book",
            closed=self._stay,
        )

    @Slot()
    def _stay(self) -> None:
        self._settings.set("stays", True)
        self._bars.withdraw("welcome")

    @Slot(object)
    def _indexed(self, _report: object) -> None:
        self._bars.withdraw("index")
        self.notes.refresh()
        self.backlinks.start()

    @Slot()
    def _index_stopped(self) -> None:
        self._bars.bar("index").say(
            self.tr("Reading the vault was stopped, so facts and relations are missing or old."),
            [(self.tr("Read it now"), self.index.start)],
            icon="warning",
            color="warning",
        )

    @Slot(str, str)
    def _index_failed(self, text: str, hint: str) -> None:
        self._bars.bar("index").say_error(text, hint, [(self.tr("Try again"), self.index.start)])

    @Slot(str, str)
    def _say_problem(self, text: str, hint: str) -> None:
        self._bars.bar("problem").say_error(text, hint)

    @Slot(object)
    def _show_proof(self, _fact: object) -> None:
        self.docks.show("proof")

    # -- backlinks -----------------------------------------------------------------------------

    @Slot(object)
    def _ask_backlinks(self, report: BacklinksReport) -> None:
        self._report = report
        links = counted(report.links, self.tr("backlink"), self.tr("backlinks"))
        notes = counted(len(report.written), self.tr("note"), self.tr("notes"))
        self._bars.bar("backlinks").say(
            self.tr("{links} for {notes}.").format(links=links, notes=notes),
            [
                (self.tr("Preview"), self.preview_backlinks),
                (self.tr("Write into notes"), lambda: self._decide("write")),
                (self.tr("Keep in the panel only"), lambda: self._decide("off")),
            ],
            icon="link",
        )

    def ask_backlinks_again(self) -> None:
        """Preview the sections, whatever the policy is."""
        self.session.run(self.session.engine.backlinks, "preview", done=self._preview_again)

    @Slot(object)
    def _preview_again(self, report: BacklinksReport) -> None:
        self._report = report
        if report.written:
            self.backlinks.preview(report)
        else:
            self._bars.bar("wrote").say(
                self.tr("Every backlinks section is up to date."), icon="check", passing=True
            )

    @Slot()
    def preview_backlinks(self) -> None:
        if self._report is not None:
            self.backlinks.preview(self._report)

    @Slot(object)
    def _show_preview(self, versions: list[Versions]) -> None:
        report = self._report
        if report is None:
            return
        dialog = DiffDialog(
            self._theme,
            self.tr("What would be written"),
            self.tr(
                "Each of these notes would get a section at its end, kept up to date by Synapse. "
                "Every other byte stays as it is, and the sections can be taken out again."
            ),
            [("write", self.tr("Write into notes")), ("off", self.tr("Keep in the panel only"))],
            self._window,
        )
        dialog.set_versions(versions)
        dialog.accepted.connect(lambda: self._decide(dialog.choice))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def _decide(self, policy: str) -> None:
        self._bars.withdraw("backlinks")
        self.backlinks.decide(policy)

    @Slot(object)
    def _backlinks_wrote(self, report: BacklinksReport) -> None:
        if self._report is not None and report.written:
            self._report = None
            notes = counted(len(report.written), self.tr("note"), self.tr("notes"))
            text = self.tr("Backlinks were written into {notes}.").format(notes=notes)
            self._bars.bar("wrote").say(text, icon="check", passing=True)

    # -- agents --------------------------------------------------------------------------------

    @Slot()
    def _host_may_answer(self) -> None:
        """The first index ended: agents' calls wait no more, and what they need is loaded."""
        self._host.indexed()

    @Slot(object)
    def _agents_changed(self, state: AgentsState) -> None:
        """Ask about one agent at a time that tried to write and may not."""
        kept = {*self._settings.texts("kept-read-only"), *self._put_off}
        wanting = [one for one in state.agents if one.wants_to_write and one.name not in kept]
        if not wanting:
            self._bars.withdraw("agent-writes")
            return
        agent = wanting[0]
        text = (
            self.tr("The agent {name} wants to write into this vault.")
            if agent.is_proven
            else self.tr("An agent that calls itself {name} wants to write into this vault.")
        )
        self._bars.bar("agent-writes").say(
            text.format(name=plain(agent.name, 80)),
            [
                (self.tr("Allow"), lambda _=False, name=agent.name: self.agents.allow(name)),
                (
                    self.tr("Keep read-only"),
                    lambda _=False, name=agent.name: self._keep_read_only(name),
                ),
            ],
            icon="agent",
            closed=lambda name=agent.name: self._put_off.add(name),
        )

    def _keep_read_only(self, name: str) -> None:
        self._settings.set("kept-read-only", [*self._settings.texts("kept-read-only"), name])
        self._agents_changed(self.agents.state)

    @Slot()
    def connect_agent(self) -> None:
        """Show what a host needs to reach this vault."""
        if self._connecting is None:
            self._connecting = ConnectDialog(self.agents, self._theme, self._window)
            self._connecting.finished.connect(self._connect_closed)
        self._connecting.show()
        self._connecting.raise_()
        self._connecting.activateWindow()

    @Slot()
    def _connect_closed(self) -> None:
        self._connecting = None

    # -- ending --------------------------------------------------------------------------------

    def take_down(self) -> None:
        """Remove everything of this vault from the window; what is unsaved must be saved before."""
        for reason in (
            "recovered",
            "welcome",
            "index",
            "problem",
            "backlinks",
            "wrote",
            "place",
            *_OF_AGENTS,
        ):
            self._bars.withdraw(reason)
        if self._connecting is not None:
            self._connecting.close()
        self.agents.close()
        self.session.close()
        self.tabs.close_all()
        self.docks.remove()
        self.tabs.deleteLater()
        self.deleteLater()

    def widgets(self) -> list[QWidget]:
        return [self.tabs, *self.docks.panels.values()]
