"""Under the query: banners, the filter, and the answer as table, yes or no, or empty."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from synapse.window.console.arranging import Arrangement, arrange
from synapse.window.console.result_view import ResultTable
from synapse.window.console.running import Answer
from synapse.window.panel import counted, grouped, hairline
from synapse.window.session import Session, Task
from synapse.window.theme import GRID, PADDING, Theme


def arranged(answer: Answer, wanted: Arrangement) -> tuple[Arrangement, list[int]]:
    """Runs in the read pool."""
    return wanted, arrange(answer, wanted)


class ResultsArea(QWidget):
    """Shows one answer at a time."""

    opened = Signal(str)
    exampleWanted = Signal()
    againWanted = Signal()
    moreWanted = Signal()

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._arranging: Task | None = None
        self._answer: Answer | None = None
        self._vault_changed = self._text_differs = False
        self.banner = QLabel()
        self.again = QPushButton(self.tr("Run again"))
        self.again.setObjectName("link")
        self.again.clicked.connect(self.againWanted)
        self._banner = QWidget()
        self._banner.setObjectName("bar")
        self._banner.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        banner = QHBoxLayout(self._banner)
        banner.setContentsMargins(PADDING + GRID, 2, PADDING, 2)
        banner.addWidget(self.banner)
        banner.addStretch(1)
        banner.addWidget(self.again)
        self._banner.hide()
        self.table = ResultTable(theme)
        self.table.opened.connect(self.opened)
        self.table.model_.arrangementWanted.connect(self._arrange)
        self.table.model_.modelReset.connect(self._count)
        self.filter = QLineEdit()
        self.filter.setPlaceholderText(self.tr("Filter"))
        self.filter.setAccessibleName(self.tr("Filter results"))
        self.filter.setClearButtonEnabled(True)
        self.filter.setMaximumWidth(220)
        self.filter.textChanged.connect(self._on_filter)
        self.names = QToolButton()
        self.names.setText(self.tr("Names"))
        self.names.setCheckable(True)
        self.names.setChecked(True)
        self.names.setToolTip(self.tr("Show names; off: ids as they are written in queries"))
        self.names.toggled.connect(self.table.model_.set_with_names)
        self.shown = QLabel()
        self.shown.setObjectName("muted")
        self.more = QPushButton(self.tr("Show more"))
        self.more.setObjectName("link")
        self.more.clicked.connect(self.moreWanted)
        self._tools = QWidget()
        tools = QHBoxLayout(self._tools)
        tools.setContentsMargins(PADDING, GRID, PADDING, GRID)
        tools.setSpacing(PADDING)
        tools.addWidget(self.filter, 1)
        tools.addWidget(self.names)
        tools.addWidget(self.shown)
        tools.addStretch(1)
        tools.addWidget(self.more)
        self.word = QLabel()
        self.word.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.word.setWordWrap(True)
        self.example = QPushButton(self.tr("Choose an example"))
        self.example.clicked.connect(self.exampleWanted)
        words = QWidget()
        column = QVBoxLayout(words)
        column.addStretch(1)
        column.addWidget(self.word)
        column.addWidget(self.example, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(2)
        full = QWidget()
        inner = QVBoxLayout(full)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(0)
        inner.addWidget(self._tools)
        inner.addWidget(self.table, 1)
        self._stack = QStackedWidget()
        self._stack.addWidget(words)
        self._stack.addWidget(full)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(hairline())
        whole.addWidget(self._banner)
        whole.addWidget(self._stack, 1)
        welcome = self.tr("Ask the vault anything that its facts can answer. Ctrl+Enter runs the query.")
        self._say(welcome, True)

    # -- answers -------------------------------------------------------------------------------

    def show_answer(self, answer: Answer) -> None:
        self._answer = answer
        if self._arranging is not None and not self._arranging.finished:
            self._arranging.cancel()
        self.set_vault_changed(False)
        self.set_text_differs(False)
        self.filter.clear()
        self.table.model_.show(None if answer.kind == "ask" else answer)
        if answer.kind == "ask":
            self._say(self.tr("Yes") if answer.value else self.tr("No"), False, large=True)
            return
        if not answer.rows:
            self._say(
                self.tr("No facts match. Try Everything instead of {view}.").format(
                    view=self.tr("stated only") if answer.view == "stated" else self.tr("inferred only")
                )
                if answer.view != "all"
                else self.tr("No facts match. Loosen a pattern, or put one in OPTIONAL { … }."),
                True,
            )
            return
        self.table.fit_columns(self.width())
        self.table.scrollToTop()
        self.more.setVisible(answer.truncated)
        self._count()
        self._stack.setCurrentIndex(1)

    def _say(self, text: str, offer_example: bool, *, large: bool = False) -> None:
        self.word.setText(text)
        self.word.setObjectName("welcomeTitle" if large else "emptyText")
        self.word.style().unpolish(self.word)
        self.word.style().polish(self.word)
        self.example.setVisible(offer_example)
        self._stack.setCurrentIndex(0)

    @property
    def showing_message(self) -> str:
        """The words that stand in place of a table, or ""."""
        return self.word.text() if self._stack.currentIndex() == 0 else ""

    # -- filter --------------------------------------------------------------------------------

    @Slot(str)
    def _on_filter(self, text: str) -> None:
        self.table.model_.set_filter(text)

    @Slot(object)
    def _arrange(self, wanted: Arrangement) -> None:
        """Sorts and filters a large answer in the read pool."""
        if self._arranging is not None and not self._arranging.finished:
            self._arranging.cancel()
        if self._answer is not None:
            self.shown.setText(self.tr("Sorting…") if wanted.column is not None else self.tr("Filtering…"))
            self._arranging = self._session.run(arranged, self._answer, wanted, done=self._arranged)

    @Slot(object)
    def _arranged(self, found: tuple[Arrangement, list[int]]) -> None:
        self.table.model_.apply(*found)

    @Slot()
    def _count(self) -> None:
        model, found = self.table.model_, self._answer
        if found is None:
            return
        if model.rowCount() != model.total():
            text = self.tr("{shown} of {total}").format(
                shown=grouped(model.rowCount()), total=grouped(model.total())
            )
        elif found.truncated:
            limit = counted(found.limit, self.tr("row"), self.tr("rows"))
            text = self.tr("The first {limit}; there are more.").format(limit=limit)
        else:
            text = ""
        self.shown.setText(text)

    # -- banners -------------------------------------------------------------------------------

    def set_vault_changed(self, on: bool) -> None:
        """The store is not what it was when the query ran."""
        self._vault_changed = on and self._answer is not None
        self._show_banner()

    def set_text_differs(self, on: bool) -> None:
        """The query in the editor is not the one that ran."""
        self._text_differs = on and self._answer is not None
        self._show_banner()

    def _show_banner(self) -> None:
        if self._text_differs:
            self.banner.setText(self.tr("This answers the query as it was before you changed it."))
        elif self._vault_changed:
            self.banner.setText(self.tr("The vault has changed since this was answered."))
        self._banner.setVisible(self._text_differs or self._vault_changed)
