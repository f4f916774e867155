"""Quick open: a few letters of a title, an alias or an id, and Enter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)
from rapidfuzz import fuzz, process, utils

from synapse.engine.catalogue import FileRecord
from synapse.window.naming import note_name
from synapse.window.theme import GRID, PADDING, Theme

MOST = 50
CUTOFF = 60.0
NEAR = 45.0
_PATH = Qt.ItemDataRole.UserRole
_DETAIL = Qt.ItemDataRole.UserRole + 1


@dataclass(frozen=True, slots=True)
class Choice:
    """A line of the list. path: the note, or "" where `create` names one to write."""

    label: str
    detail: str
    path: str = ""
    create: str = ""


def choices(text: str, records: Sequence[FileRecord], recent: Sequence[str]) -> list[Choice]:
    """What fits a text, best first; without a text the notes opened last, then by path.

    recent: paths, the last one first.
    """
    if not text.strip():
        by_path = {record.path: record for record in records}
        first = [by_path[path] for path in recent if path in by_path]
        seen = set(recent)
        rest = [record for record in records if record.path not in seen]
        return [_choice(record) for record in [*first, *rest][:MOST]]
    names: list[str] = []
    owners: list[int] = []
    for number, record in enumerate(records):
        for name in {record.title, record.entity_id, *record.aliases}:
            names.append(name)
            owners.append(number)
    wanted = utils.default_process(text) or text
    simple = utils.default_process
    found = process.extract(
        wanted, names, scorer=fuzz.WRatio, processor=simple, score_cutoff=CUTOFF, limit=4 * MOST
    )
    rank = {path: place for place, path in enumerate(recent)}
    scores: dict[int, float] = {}
    for name, score, place in found:
        begins = 20.0 if simple(name.rpartition("/")[2]).startswith(wanted) else 0.0
        holds = 20.0 if wanted in simple(name) else 0.0
        recency = max(0.0, 5.0 - rank.get(records[owners[place]].path, 10))
        total = score + begins + holds + recency
        scores[owners[place]] = max(scores.get(owners[place], 0.0), total)
    # A far resemblance is of use only where nothing is near.
    least = max(scores.values(), default=0.0) - NEAR
    scores = {number: score for number, score in scores.items() if score >= least}
    best = sorted((-score, len(records[number].path), number) for number, score in scores.items())
    return [_choice(records[number]) for _, _, number in best[:MOST]]


def _choice(record: FileRecord) -> Choice:
    return Choice(record.title or record.entity_id, record.entity_id, record.path)


class QuickOpen(QDialog):
    """Lists notes as one types. `chosen` gives a path, `named` the path of a note to write."""

    chosen = Signal(str)
    named = Signal(str)

    def __init__(
        self,
        records: Sequence[FileRecord],
        recent: Sequence[str],
        theme: Theme,
        parent: QWidget,
        *,
        complete: bool = True,
    ) -> None:
        """complete: all notes are known; else none is offered to be written, since it may be there."""
        super().__init__(parent, Qt.WindowType.Dialog | Qt.WindowType.FramelessWindowHint)
        self.setObjectName("quickOpen")
        self.setWindowTitle(self.tr("Open a note"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._records = records
        self._recent = recent
        self._complete = complete
        self._is_ending = False
        self.text = QLineEdit(self)
        self.text.setPlaceholderText(self.tr("Title, alias or id of a note"))
        self.text.setAccessibleName(self.text.placeholderText())
        self.list = QListWidget(self)
        self.list.setAccessibleName(self.tr("Notes that fit"))
        self.list.setItemDelegate(_Rows(theme, self.list))
        self.list.setUniformItemSizes(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        column = QVBoxLayout(self)
        column.setContentsMargins(*[PADDING] * 4)
        column.setSpacing(PADDING)
        column.addWidget(self.text)
        column.addWidget(self.list, 1)
        self.text.textChanged.connect(self._typed)
        self.text.returnPressed.connect(self._take)
        self.text.installEventFilter(self)
        self.list.itemClicked.connect(self._take)
        width = min(620, parent.width() - 80)
        self.resize(width, min(420, parent.height() - 120))
        corner = parent.mapToGlobal(parent.rect().topLeft())
        self.move(corner.x() + (parent.width() - width) // 2, corner.y() + 64)
        self._typed("")

    @Slot(str)
    def _typed(self, text: str) -> None:
        found = choices(text, self._records, self._recent)
        name = note_name(text, [record.path for record in self._records]) if text.strip() else None
        if self._complete and name is not None and not name.problem:
            shown = name.path.removesuffix(".md")
            label = self.tr("Write a new note “{name}”").format(name=shown)
            found.append(Choice(label, "", create=name.path))
        self.list.clear()
        for choice in found:
            item = QListWidgetItem(choice.label)
            item.setData(_PATH, choice)
            item.setData(_DETAIL, choice.detail if choice.detail != choice.label else "")
            self.list.addItem(item)
        if found:
            self.list.setCurrentRow(0)

    @Slot()
    def _take(self) -> None:
        item = self.list.currentItem()
        if item is None:
            return
        choice: Choice = item.data(_PATH)
        self.accept()
        if choice.path:
            self.chosen.emit(choice.path)
        else:
            self.named.emit(choice.create)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            steps = {
                Qt.Key.Key_Down: 1,
                Qt.Key.Key_Up: -1,
                Qt.Key.Key_PageDown: 8,
                Qt.Key.Key_PageUp: -8,
            }
            if event.key() in steps and self.list.count():
                row = self.list.currentRow() + steps[Qt.Key(event.key())]
                self.list.setCurrentRow(min(self.list.count() - 1, max(0, row)))
                return True
        return super().eventFilter(watched, event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        left = event.type() == QEvent.Type.ActivationChange and not self.isActiveWindow()
        if left and self.isVisible() and not self._is_ending:
            self.reject()

    def done(self, result: int) -> None:
        if not self._is_ending:  # hiding makes another window active, which asks to end it again
            self._is_ending = True
            super().done(result)


class _Rows(QStyledItemDelegate):
    """The title, and the id in muted text at the right."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: object) -> QSize:
        return QSize(200, option.fontMetrics.height() + 3 * GRID)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: object) -> None:
        rect = option.rect.adjusted(0, 0, 0, 0)
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("selection"))
            painter.drawRoundedRect(rect, 4, 4)
        rect = rect.adjusted(PADDING, 0, -PADDING, 0)
        detail: str = index.data(_DETAIL) or ""  # type: ignore[attr-defined]
        label: str = index.data() or ""  # type: ignore[attr-defined]
        metrics = option.fontMetrics
        half = rect.width() // 2
        shown = metrics.elidedText(detail, Qt.TextElideMode.ElideLeft, half)
        vertical = Qt.AlignmentFlag.AlignVCenter
        painter.setPen(self._theme.color("muted"))
        painter.drawText(rect, vertical | Qt.AlignmentFlag.AlignRight, shown)
        room = rect.width() - metrics.horizontalAdvance(shown) - 2 * PADDING
        painter.setPen(self._theme.color("text"))
        painter.drawText(
            rect,
            vertical | Qt.AlignmentFlag.AlignLeft,
            metrics.elidedText(label, Qt.TextElideMode.ElideRight, room),
        )
        painter.restore()
