"""Live styling of a note: one pass a line, most of it only where it is seen.

A block's user state is the index of its context, and `UNSTYLED` is added while only the context is
known. A fence opened at the top of a long note moves every context below it; contexts are cheap, so
they follow at once, and the styles in slices between events.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QFont, QSyntaxHighlighter, QTextBlock, QTextCharFormat, QTextDocument

from synapse.window.editor.patterns import TEXT, Context, next_context, runs
from synapse.window.editor.positions import is_plain, to_qt
from synapse.window.theme import NOTE_POINTS, Theme

UNSTYLED = 1 << 20
LONGEST_STYLED = 10_000
"""Characters in a line; a longer one is left plain."""
SLICE = 250
"""Blocks styled in one go."""
LARGEST_STYLED = 4_000_000
"""Characters in a note; a longer one is left plain altogether."""

_SCALE = {"heading1": 1.6, "heading2": 1.35, "heading3": 1.15}


class NoteHighlighter(QSyntaxHighlighter):
    """Styles the document it is given. `visible`: first and last block in sight."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._theme = theme
        self.points = NOTE_POINTS
        self._contexts: list[Context] = [TEXT]
        self._numbers: dict[Context, int] = {TEXT: 0}
        self._formats: dict[tuple[str, ...], QTextCharFormat] = {}
        self._budget = SLICE
        self._pending = False
        self._from = 0
        self.visible: Callable[[], tuple[int, int]] = lambda: (0, 0)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._style_a_slice)
        theme.changed.connect(self.restyle)

    def set_points(self, points: float) -> None:
        """The size of plain text."""
        if points != self.points:
            self.points = points
            self.restyle()

    @Slot()
    def restyle(self) -> None:
        """Style everything anew: another theme or size."""
        self._formats.clear()
        self._budget = SLICE
        self.rehighlight()

    def context_of(self, block: QTextBlock) -> Context:
        """What the line stands in."""
        return self._context(block.previous().userState()) if block.blockNumber() else TEXT

    def context_after(self, block: QTextBlock) -> Context:
        return self._context(block.userState())

    def _context(self, state: int) -> Context:
        return self._contexts[state & (UNSTYLED - 1)] if state >= 0 else TEXT

    def highlightBlock(self, text: str) -> None:
        block = self.currentBlock()
        number = block.blockNumber()
        before = self._context(self.previousBlockState()) if number else TEXT
        long = len(text) > LONGEST_STYLED
        after = next_context(text[:200] if long else text, before, first=not number)
        state = self._number(after)
        if self._budget <= 0 or self._pending_everything():
            self.setCurrentBlockState(state | UNSTYLED)
            self._from = min(self._from, number)
            self._later()
            return
        self._budget -= 1
        self.setCurrentBlockState(state)
        self._later()
        if not long:
            self._style(text, before, after)

    def _pending_everything(self) -> bool:
        return self.document().characterCount() > LARGEST_STYLED

    def _number(self, context: Context) -> int:
        if context not in self._numbers:
            self._numbers[context] = len(self._contexts)
            self._contexts.append(context)
        return self._numbers[context]

    def _style(self, text: str, before: Context, after: Context) -> None:
        found = runs(text, before, after)
        if not found:
            return
        cuts = sorted({edge for run in found for edge in (run.start, run.end)})
        plain = is_plain(text)
        for start, end in pairwise(cuts):
            styles = tuple(dict.fromkeys(run.style for run in found if run.start <= start and end <= run.end))
            if styles:
                first = start if plain else to_qt(text, start)
                last = end if plain else to_qt(text, end)
                self.setFormat(first, last - first, self._format(styles))

    # -- slices --------------------------------------------------------------------------------

    def _later(self) -> None:
        if not self._timer.isActive():
            self._timer.start(0)

    @Slot()
    def _style_a_slice(self) -> None:
        """What is in sight first, then on from the first line that waits."""
        self._budget = SLICE
        if self._from >= self.document().blockCount() or self._pending_everything():
            self._from = self.document().blockCount()
            return
        first, last = self.visible()
        self._style_from(first, last)
        start = self._from
        self._from = self.document().blockCount()
        reached = self._style_from(start, self.document().blockCount())
        self._from = min(self._from, reached)
        if self._from < self.document().blockCount():
            self._timer.start(5)

    def _style_from(self, start: int, stop: int) -> int:
        block = self.document().findBlockByNumber(start)
        number = start
        while block.isValid() and number <= stop:
            if block.userState() >= UNSTYLED:
                if self._budget <= 0:
                    return number
                self.rehighlightBlock(block)
            block = block.next()
            number += 1
        return number

    @property
    def is_finished(self) -> bool:
        """Whether every line has its styles."""
        return self._from >= self.document().blockCount()

    # -- formats -------------------------------------------------------------------------------

    def _format(self, styles: tuple[str, ...]) -> QTextCharFormat:
        if styles not in self._formats:
            self._formats[styles] = self._made(styles)
        return self._formats[styles]

    def _made(self, styles: tuple[str, ...]) -> QTextCharFormat:
        theme, made = self._theme, QTextCharFormat()
        for style in styles:
            if style.startswith("heading"):
                made.setFontWeight(QFont.Weight.DemiBold)
                made.setFontPointSize(self.points * _SCALE.get(style, 1.0))
            elif style == "strong":
                made.setFontWeight(QFont.Weight.Bold)
            elif style in ("emphasis", "quote"):
                made.setFontItalic(style == "emphasis")
            elif style == "strike" or style == "done":
                made.setFontStrikeOut(True)
                made.setForeground(theme.color("muted"))
            elif style == "marked":
                made.setBackground(theme.color("selection"))
            elif style in ("code", "frontmatter", "fence"):
                self._in_mono(made)
                if style == "fence":
                    made.setForeground(theme.color("muted"))
                elif style == "code":
                    made.setBackground(theme.color("code"))
            if style in _COLORS:
                made.setForeground(theme.color(_COLORS[style]))
            if style == "callout":
                made.setFontWeight(QFont.Weight.DemiBold)
        return made

    def _in_mono(self, made: QTextCharFormat) -> None:
        font = self._theme.mono_font(self.points)
        made.setFontFamilies(font.families())
        made.setFontFixedPitch(True)
        made.setFontPointSize(font.pointSizeF())


_COLORS = {
    "markup": "syntax.markup",
    "bullet": "accent",
    "keyword": "accent",
    "key": "syntax.variable",
    "link": "accent",
    "tag": "syntax.tag",
    "comment": "syntax.comment",
    "quote": "muted",
}
