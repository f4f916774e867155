"""Colours SPARQL by its tokens."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtGui import QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from synapse.window.console.tokens import State, tokens
from synapse.window.editor.positions import is_plain, to_qt
from synapse.window.theme import Theme

LONGEST_LINE = 10_000
"""Longer lines stay plain: colouring them would cost more than a key press may."""

_STATES = frozenset(int(state) for state in State)
_COLOURS = {
    "keyword": "syntax.keyword",
    "function": "syntax.keyword",
    "variable": "syntax.variable",
    "iri": "syntax.iri",
    "name": "syntax.iri",
    "string": "syntax.string",
    "language": "syntax.string",
    "number": "syntax.number",
    "comment": "syntax.comment",
    "blank": "syntax.tag",
}


class SparqlHighlighter(QSyntaxHighlighter):
    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._theme = theme
        self._formats: dict[str, QTextCharFormat] = {}
        self._make_formats()
        theme.changed.connect(self._on_theme)

    def _make_formats(self) -> None:
        for kind, token in _COLOURS.items():
            look = QTextCharFormat()
            look.setForeground(self._theme.color(token))
            if kind == "keyword":
                look.setFontWeight(QFont.Weight.DemiBold)
            look.setFontItalic(kind == "comment")
            self._formats[kind] = look

    @Slot()
    def _on_theme(self) -> None:
        self._make_formats()
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        before = self.previousBlockState()
        state = State(before) if before in _STATES else State.NORMAL
        if len(text) > LONGEST_LINE:
            self.setCurrentBlockState(state)
            return
        found, after = tokens(text, state)
        self.setCurrentBlockState(int(after))
        plain = is_plain(text)
        for token in found:
            look = self._formats.get(token.kind)
            if look is None:
                continue
            start = token.start if plain else to_qt(text, token.start)
            end = token.end if plain else to_qt(text, token.end)
            self.setFormat(start, end - start, look)
