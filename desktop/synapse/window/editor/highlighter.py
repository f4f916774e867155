"""Live styling of a note: one pass a line, what is in sight first.

A block's user state is the number of the context the next line stands in, -1 while nobody has looked.
Styling runs in slices between events: loading a long note or opening a fence at its top styles what is
seen and then goes on from where it stopped (a *frontier*).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QFont, QSyntaxHighlighter, QTextBlock, QTextCharFormat, QTextCursor, QTextDocument

from synapse.window.editor.patterns import TEXT, Context, next_context, runs
from synapse.window.editor.positions import is_plain, to_qt
from synapse.window.theme import NOTE_POINTS, Theme

UNKNOWN = -1
LONGEST_STYLED = 10_000
"""Characters in a line; a longer one is left plain."""
SLICE = 120
"""Blocks styled in one go."""
SLICE_SECONDS = 0.006
LARGEST_STYLED = 4_000_000
"""Characters in a note; a longer one is left plain altogether."""

_SCALE = {"heading1": 1.6, "heading2": 1.35, "heading3": 1.15}


class NoteHighlighter(QSyntaxHighlighter):
    """Styles a document once `start` was called. `visible`: numbers of the blocks in sight."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._theme = theme
        self.points = NOTE_POINTS
        self._contexts: list[Context] = [TEXT]
        self._numbers: dict[Context, int] = {TEXT: 0}
        self._formats: dict[tuple[str, ...], QTextCharFormat] = {}
        self._waits = True
        self._budget = SLICE
        self._frontiers: list[QTextCursor] = []
        self._stopped: QTextCursor | None = None
        self._seen_all = True
        self.visible: Callable[[], tuple[int, int]] = lambda: (0, 0)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._style_a_slice)
        theme.changed.connect(self.restyle)

    def start(self) -> None:
        """The document holds its text: style it, from now on with every change."""
        self._waits = self.document().characterCount() > LARGEST_STYLED
        if not self._waits:
            self._seen_all = False
            self._frontiers = [QTextCursor(self.document())]
            self._timer.start(0)

    def set_points(self, points: float) -> None:
        """The size of plain text."""
        if points != self.points:
            self.points = points
            self.restyle()

    @Slot()
    def restyle(self) -> None:
        """Style everything anew: another theme or size."""
        self._formats.clear()
        if not self._waits:
            self._forget()
            self.start()

    def _forget(self) -> None:
        block = self.document().firstBlock()
        while block.isValid():
            block.setUserState(UNKNOWN)
            block = block.next()

    @property
    def is_finished(self) -> bool:
        """Whether every line has its styles, or is left without for good."""
        return not self._frontiers and not self._timer.isActive()

    def context_of(self, block: QTextBlock) -> Context:
        """What the line stands in."""
        return self._context(block.previous().userState()) if block.blockNumber() else TEXT

    def context_after(self, block: QTextBlock) -> Context:
        """What the line after it stands in."""
        return self._context(block.userState())

    def _context(self, state: int) -> Context:
        return self._contexts[state] if state >= 0 else TEXT

    def highlightBlock(self, text: str) -> None:
        if self._waits:
            return
        if self._budget <= 0:
            # The state stays as it is, so Qt goes no further; the frontier is taken up later.
            if self._stopped is None:
                self._stopped = QTextCursor(self.currentBlock())
                self._timer.start(0)
            return
        self._budget -= 1
        if not self._timer.isActive():
            self._timer.start(0)
        block = self.currentBlock()
        number = block.blockNumber()
        before = self._context(self.previousBlockState()) if number else TEXT
        long = len(text) > LONGEST_STYLED
        after = next_context(text[:200] if long else text, before, first=not number)
        self.setCurrentBlockState(self._number(after))
        if not long:
            self._style(text, before, after)

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

    @Slot()
    def _style_a_slice(self) -> None:
        """What is in sight first, then on from each frontier."""
        if self._waits:
            return
        self._keep_frontier()
        if not self._frontiers:
            self._budget = SLICE
            return
        until = time.perf_counter() + SLICE_SECONDS
        self._budget = SLICE
        if not self._seen_all:
            self._style_visible()
        while self._frontiers and self._budget > 0 and time.perf_counter() < until:
            self._advance(until)
        self._budget = SLICE
        if self._frontiers:
            self._timer.start(1)

    def _keep_frontier(self) -> None:
        if self._stopped is not None:
            self._frontiers.append(self._stopped)
            self._stopped = None

    def _style_visible(self) -> None:
        first, last = self.visible()
        block = self.document().findBlockByNumber(first)
        while block.isValid() and block.blockNumber() <= last:
            if block.userState() == UNKNOWN:
                self._budget = max(self._budget, 1)
                self.rehighlightBlock(block)
            block = block.next()
        self._stopped = None  # what lies below is reached from the frontier above

    def _advance(self, until: float) -> None:
        """Style from the first frontier on, as far as the budget and the time go."""
        frontier = self._frontiers[0]
        self.rehighlightBlock(frontier.block())
        if self._stopped is not None:
            self._frontiers[0], self._stopped = self._stopped, None
            return
        block = frontier.block().next()
        if not self._seen_all:
            while block.isValid() and block.userState() != UNKNOWN:
                block = block.next()
                if time.perf_counter() > until:
                    break
            if block.isValid():
                self._frontiers[0] = QTextCursor(block)
                return
            self._seen_all = True
        self._frontiers.pop(0)

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
