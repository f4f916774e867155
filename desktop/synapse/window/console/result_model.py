"""The rows of an answer as a table: sorted by value, filtered by text, without a proxy model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from synapse.engine.graph.results import Term
from synapse.engine.questions.results import Entity
from synapse.engine.terms import vocabulary as v
from synapse.window.console.arranging import NUMBERS, Arrangement, arrange, text_of
from synapse.window.console.running import Answer
from synapse.window.theme import Theme

Index = QModelIndex | QPersistentModelIndex
Row = tuple[Term | None, ...]

TERM_ROLE = Qt.ItemDataRole.UserRole + 1
LONGEST_CELL = 300
LONGEST_TIP = 1_500
AT_ONCE = 2_000
"""Rows up to which sorting and filtering are done where they are asked for."""


def openable(entity: Entity | None) -> bool:
    """Whether there is a note, or a place for one, to open."""
    return entity is not None and entity.kind in ("note", "unwritten", "attachment")


class ResultModel(QAbstractTableModel):
    """Shows an Answer as its `arrangement` says."""

    arrangementWanted = Signal(object)
    """An Arrangement of more rows than are arranged at once; `apply` takes the order."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._answer: Answer | None = None
        self._order: list[int] = []
        self.arrangement = Arrangement()

    # -- content -------------------------------------------------------------------------------

    @property
    def answer(self) -> Answer | None:
        return self._answer

    def show(self, answer: Answer | None) -> None:
        """Another answer, in its own order; whether names are shown stays."""
        self.beginResetModel()
        self._answer = answer
        self.arrangement = Arrangement(with_names=self.arrangement.with_names)
        self._order = list(range(len(answer.rows))) if answer is not None else []
        self.endResetModel()

    def set_with_names(self, on: bool) -> None:
        self._arrange(replace(self.arrangement, with_names=on))
        if self.rowCount():
            self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, self.columnCount() - 1))

    def set_filter(self, text: str) -> None:
        """Only rows that have every word of `text` in some cell."""
        self._arrange(replace(self.arrangement, words=text))

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """By value; a column below 0 brings back the order of the query."""
        descending = order == Qt.SortOrder.DescendingOrder
        chosen = column if column >= 0 else None
        self._arrange(replace(self.arrangement, column=chosen, descending=descending))

    def _arrange(self, wanted: Arrangement) -> None:
        self.arrangement = wanted
        if self._answer is None:
            return
        if len(self._answer.rows) > AT_ONCE:
            self.arrangementWanted.emit(wanted)
        else:
            self.apply(wanted, arrange(self._answer, wanted))

    def apply(self, wanted: Arrangement, order: list[int]) -> None:
        """Takes an order, unless something else is wanted by now."""
        if wanted == self.arrangement:
            self.beginResetModel()
            self._order = order
            self.endResetModel()

    # -- cells ---------------------------------------------------------------------------------

    def entity(self, term: Term | None) -> Entity | None:
        if self._answer is None or not isinstance(term, NamedNode):
            return None
        return self._answer.names.get(term.value)

    def term(self, index: Index) -> Term | None:
        if self._answer is None or not index.isValid():
            return None
        return self._answer.rows[self._order[index.row()]][index.column()]

    def text(self, term: Term | None) -> str:
        """A term in full, as it is shown and copied."""
        names = self._answer.names if self._answer is not None else {}
        return text_of(term, names, self.arrangement.with_names)

    def shown(self, term: Term | None) -> str:
        """One line, cut, with what tells it from others: its language."""
        if term is None:
            return "—"
        line = " ".join(self.text(term)[: LONGEST_CELL + 1].split())
        if len(line) > LONGEST_CELL:
            line = f"{line[:LONGEST_CELL]}…"
        if isinstance(term, Literal):
            if not line:
                return "“”"
            if term.language:
                return f"{line}  @{term.language}"
        return line

    def row_terms(self, row: int) -> Row:
        assert self._answer is not None
        return self._answer.rows[self._order[row]]

    def total(self) -> int:
        """Rows of the answer, filtered or not."""
        return len(self._answer.rows) if self._answer is not None else 0

    # -- QAbstractTableModel -------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._order)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() or self._answer is None else len(self._answer.columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if role == Qt.ItemDataRole.TextAlignmentRole and orientation == Qt.Orientation.Horizontal:
            rows = self._answer.rows if self._answer is not None else ()
            return _side(rows[0][section] if rows and section < len(rows[0]) else None)
        if role != Qt.ItemDataRole.DisplayRole or self._answer is None:
            return None
        if orientation == Qt.Orientation.Horizontal:
            return self._answer.columns[section] if section < len(self._answer.columns) else None
        return str(section + 1)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if self._answer is None or not index.isValid():
            return None
        term = self.term(index)
        if role == TERM_ROLE:
            return term
        if role == Qt.ItemDataRole.DisplayRole:
            return self.shown(term)
        if role == Qt.ItemDataRole.ForegroundRole:
            if term is None or isinstance(term, BlankNode):
                return self._theme.color("muted")
            return self._theme.color("accent") if openable(self.entity(term)) else None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(term)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(term)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return "unbound" if term is None else self.shown(term)
        return None

    def _tip(self, term: Term | None) -> str:
        if term is None:
            return "unbound"
        if isinstance(term, Literal):
            kind = f"@{term.language}" if term.language else self._short(term.datatype.value)
            text = term.value if len(term.value) <= LONGEST_TIP else f"{term.value[:LONGEST_TIP]}…"
            return f"{text}\n{kind}"
        entity = self.entity(term)
        return f"{entity.label}\n{entity.id}" if entity is not None else self.text(term)

    def _short(self, iri: str) -> str:
        for prefix, namespace in v.PREFIXES.items():
            if iri.startswith(namespace):
                return f"{prefix}:{iri[len(namespace) :]}"
        return iri

    # -- copying -------------------------------------------------------------------------------

    def as_tsv(self, rows: Sequence[int], columns: Sequence[int]) -> str:
        """Cells as lines and tabs; white space inside a cell becomes single blanks."""
        lines = []
        for row in rows:
            terms = self.row_terms(row)
            lines.append("\t".join(" ".join(self.text(terms[column]).split()) for column in columns))
        return "\n".join(lines)

    def as_markdown(self, rows: Sequence[int]) -> str:
        """A Markdown table of whole rows; notes as wikilinks."""
        assert self._answer is not None
        lines = [_markdown_row(self._answer.columns), _markdown_row(["---"] * len(self._answer.columns))]
        lines += [_markdown_row([self._markdown(term) for term in self.row_terms(row)]) for row in rows]
        return "\n".join(lines)

    def _markdown(self, term: Term | None) -> str:
        entity = self.entity(term)
        text = " ".join(self.text(term).split()).replace("\\", "\\\\").replace("|", "\\|")
        if entity is not None and openable(entity):
            # Inside a table the bar of a link must be escaped.
            return f"[[{entity.id}]]" if entity.label == entity.id else f"[[{entity.id}\\|{text}]]"
        return text


def _side(term: Term | None) -> int:
    """Numbers stand at the right, so that their digits line up."""
    number = isinstance(term, Literal) and term.datatype.value in NUMBERS
    side = Qt.AlignmentFlag.AlignRight if number else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
