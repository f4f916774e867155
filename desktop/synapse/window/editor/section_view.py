"""The generated section, shown below a note's own text: dimmed, read-only, its links alive."""

from __future__ import annotations

import html
import re
from urllib.parse import quote, unquote

from PySide6.QtCore import QEvent, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QTextOption
from PySide6.QtWidgets import QHBoxLayout, QLabel, QTextBrowser, QVBoxLayout, QWidget

from synapse.window.editor.note_text import GeneratedSection
from synapse.window.panel import counted, hairline
from synapse.window.theme import GRID, NOTE_POINTS, PADDING, Theme

_LINK = re.compile(
    r"\[\[(?P<id>[^\[\]|#]+)\]\]|\[(?P<label>(?:[^\[\]\\]|\\.)*)\]\((?:<(?P<angle>[^<>]*)>|(?P<target>[^()\s]*))\)"
)


class SectionView(QWidget):
    """Shows what the file holds between the markers; nothing here can be edited."""

    linkActivated = Signal(str)
    """The id or path a line names."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._section: GeneratedSection | None = None
        self.setObjectName("section")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.title = QLabel(self.tr("Backlinks"), self)
        self.title.setObjectName("sectionTitle")
        self.keeper = QLabel(self.tr("maintained by Synapse"), self)
        self.keeper.setObjectName("muted")
        self.lines = QTextBrowser(self)
        self.lines.setObjectName("sectionLines")
        self.lines.setOpenLinks(False)
        self.lines.setAccessibleName(self.tr("Backlinks, maintained by Synapse"))
        self.lines.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.lines.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.lines.document().setDocumentMargin(0)
        self.lines.anchorClicked.connect(self._clicked)
        head = QHBoxLayout()
        head.addWidget(self.title)
        head.addStretch(1)
        head.addWidget(self.keeper)
        column = QVBoxLayout()
        column.setContentsMargins(PADDING + GRID, PADDING, PADDING + GRID, PADDING)
        column.setSpacing(GRID)
        column.addLayout(head)
        column.addWidget(self.lines, 1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(hairline(self, vertical=True))
        row.addLayout(column, 1)
        theme.changed.connect(self._fill)
        self.hide()

    def show_section(self, section: GeneratedSection | None) -> None:
        """Show a section, or nothing for None."""
        self._section = section
        self._fill()

    @property
    def has_lines(self) -> bool:
        return self._section is not None

    def height_for(self, width: int) -> int:
        """The height at which nothing has to scroll, for a width in pixels."""
        inner = max(50, width - 2 * (PADDING + GRID) - 1)
        self.lines.document().setTextWidth(inner)
        head = max(self.title.sizeHint().height(), self.keeper.sizeHint().height())
        return int(self.lines.document().size().height()) + head + 2 * PADDING + GRID + 2

    @Slot()
    def _fill(self) -> None:
        if self._section is None:
            self.lines.clear()
            return
        font = self.lines.font()
        font.setPointSizeF(NOTE_POINTS * 0.92)
        self.lines.setFont(font)
        color, accent = self._theme.color("muted").name(), self._theme.color("accent").name()
        self.lines.document().setDefaultStyleSheet(
            f"a {{ color: {accent}; text-decoration: none; }} p {{ color: {color}; margin: 2px 0; }}"
        )
        lines = [line for line in self._section.lines if not line.startswith("#")]
        self.title.setText(self.tr("Backlinks"))
        self.keeper.setText(
            self.tr("{lines} · maintained by Synapse").format(
                lines=counted(len(lines), self.tr("line"), self.tr("lines"))
            )
        )
        self.lines.setHtml("".join(f"<p>{_as_html(line.removeprefix('- '))}</p>" for line in lines))

    @Slot(QUrl)
    def _clicked(self, url: QUrl) -> None:
        self.linkActivated.emit(unquote(url.toString(QUrl.ComponentFormattingOption.FullyEncoded)))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fill()


def _as_html(line: str) -> str:
    parts, at = [], 0
    for link in _LINK.finditer(line):
        if link["id"] is not None:
            target, shown = link["id"], link["id"]
        else:
            target = unquote(link["angle"] or link["target"] or "")
            shown = link["label"] or target
        parts.append(html.escape(line[at : link.start()]))
        parts.append(f'<a href="{quote(target, safe="/")}">{html.escape(shown)}</a>')
        at = link.end()
    return "".join([*parts, html.escape(line[at:])])
