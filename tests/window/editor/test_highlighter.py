"""Live styling: each style on the characters it is for."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor, QFont, QTextCharFormat, QTextDocument
from PySide6.QtWidgets import QPlainTextDocumentLayout
from pytestqt.qtbot import QtBot

from synapse.window.editor.highlighter import LONGEST_STYLED, NoteHighlighter
from synapse.window.editor.patterns import TEXT, Context, link_at, next_context, runs
from synapse.window.theme import Theme


def styled(line: str, style: str, before: Context = TEXT) -> list[str]:
    """The parts of a line with a style."""
    found = runs(line, before, next_context(line, before))
    return [line[run.start : run.end] for run in found if run.style == style]


@pytest.mark.parametrize(
    ("line", "style", "parts"),
    [
        ("# Title", "heading1", ["# Title"]),
        ("### *x*", "heading3", ["### *x*"]),
        ("#nospace", "heading1", []),
        ("a **bold** b", "strong", ["**bold**"]),
        ("a *it* and _that_", "emphasis", ["*it*", "_that_"]),
        ("snake_case_word 2 * 3 * 4", "emphasis", []),
        ("**a *b* c**", "emphasis", ["*b*"]),
        ("`*no*` ~~gone~~", "strike", ["~~gone~~"]),
        ("`*no*` ~~gone~~", "emphasis", []),
        ("``a ` b`` c", "code", ["``a ` b``"]),
        ("see [[people/bob|Bob]] and [[x]]", "link", ["Bob", "x"]),
        ("[[knows:people/bob]] [[part of::x]]", "key", ["knows:", "part of::"]),
        ("[[https://x.y]]", "key", []),
        ("![[pic.png]]", "link", ["pic.png"]),
        ("[text](other.md \"t\") <https://a.b> https://c.d.", "link", ["text", "<https://a.b>", "https://c.d"]),
        ("#tag, #a/b and #1 C# x#y", "tag", ["#tag", "#a/b"]),
        ("- [x] done", "done", [" done"]),
        ("- [ ] open", "keyword", ["[ ]"]),
        ("- [ ] open", "done", []),
        ("> [!note] Title", "keyword", ["[!note]"]),
        ("> quoted", "quote", ["> quoted"]),
        ("key:: value", "key", ["key::"]),
        ("a [k:: v] b", "key", ["k::"]),
        ("text %%hidden%% more", "comment", ["%%hidden%%"]),
        ("\U0001f600 **bold** [[Link]]", "link", ["Link"]),
        ("price $5 and $6", "code", []),
        ("where $x+1$ is", "code", ["$x+1$"]),
    ],
)
def test_a_style_covers_what_it_is_for(line: str, style: str, parts: list[str]) -> None:
    assert styled(line, style) == parts


def test_contexts_run_over_lines() -> None:
    lines = ["---", "a: 1", "---", "```py", "---", "```", "$$", "x", "$$"]
    lines += ["%% a", "b %%", "<!-- c", "-->", "t"]
    context, kinds = TEXT, []
    for number, line in enumerate(lines):
        context = next_context(line, context, first=number == 0)
        kinds.append(context.kind)
    assert kinds == [
        "frontmatter", "frontmatter", "", "fence", "fence", "", "math", "math", "",
        "comment", "", "comment", "", "",
    ]  # fmt: skip


def test_frontmatter_shows_keys_links_and_comments() -> None:
    inside = Context("frontmatter")
    assert styled("depends_on: [[a]] # why", "key", inside) == ["depends_on:"]
    assert styled("depends_on: [[a]] # why", "link", inside) == ["[[a]]"]
    assert styled("depends_on: [[a]] # why", "comment", inside) == ["# why"]


def test_the_link_under_the_pointer_is_found() -> None:
    line = "go [[a b]] or [x](y.md)"
    assert [link is not None for link in (link_at(line, 2), link_at(line, 5), link_at(line, 14))] == [
        False,
        True,
        True,
    ]


def made(text: str, qtbot: QtBot) -> tuple[QTextDocument, NoteHighlighter]:
    document = QTextDocument()
    document.setDocumentLayout(QPlainTextDocumentLayout(document))
    highlighter = NoteHighlighter(document, Theme("light"))
    document.setPlainText(text)
    highlighter.start()
    qtbot.waitUntil(lambda: highlighter.is_finished)
    return document, highlighter


def formats(document: QTextDocument, line: int) -> list[tuple[str, QTextCharFormat]]:
    block = document.findBlockByNumber(line)
    units = block.text().encode("utf-16-le")
    found = []
    for part in block.layout().formats():
        text = units[part.start * 2 : (part.start + part.length) * 2].decode("utf-16-le")
        found.append((text, QTextCharFormat(part.format)))
    return found


def test_styles_reach_the_document_beyond_the_basic_plane(qtbot: QtBot) -> None:
    document, _ = made("\U0001f600 **bold** [[Link]]", qtbot)
    found = dict(formats(document, 0))
    assert found["bold"].fontWeight() == QFont.Weight.Bold
    assert found["Link"].foreground().color() == QColor(Theme("light").color("accent"))


def test_a_fence_opened_above_restyles_all_below(qtbot: QtBot) -> None:
    document, highlighter = made("\n".join(["top", *["*a*"] * 3000]), qtbot)
    assert [text for text, _ in formats(document, 3000)] == ["*", "a", "*"]
    cursor = document.rootFrame().firstCursorPosition()
    cursor.insertText("```\n")
    qtbot.waitUntil(lambda: highlighter.is_finished)
    assert [text for text, _ in formats(document, 3001)] == ["*a*"]
    assert highlighter.context_of(document.lastBlock()).kind == "fence"


def test_a_very_long_line_is_left_plain(qtbot: QtBot) -> None:
    document, _ = made("*a*\n" + "*b* " * LONGEST_STYLED, qtbot)
    assert formats(document, 0) and not formats(document, 1)


def test_styling_a_long_note_comes_in_short_steps(qtbot: QtBot) -> None:
    document = QTextDocument()
    document.setDocumentLayout(QPlainTextDocumentLayout(document))
    highlighter = NoteHighlighter(document, Theme("light"))
    document.setPlainText("\n".join(["# h", "some *text* with [[links]] and `code` #tag"] * 5000))
    highlighter.start()
    steps = 0
    while not highlighter.is_finished:
        qtbot.wait(1)
        steps += 1
        assert steps < 5000
    assert steps > 5, "it was all styled at once"


def test_what_is_in_sight_is_styled_first(qtbot: QtBot) -> None:
    document = QTextDocument()
    document.setDocumentLayout(QPlainTextDocumentLayout(document))
    highlighter = NoteHighlighter(document, Theme("light"))
    document.setPlainText("\n".join(["*a*"] * 20_000))
    highlighter.visible = lambda: (15_000, 15_030)
    highlighter.start()
    qtbot.waitUntil(lambda: bool(formats(document, 15_010)))
    assert not highlighter.is_finished
    assert not formats(document, 14_000)
    qtbot.waitUntil(lambda: highlighter.is_finished, timeout=20_000)
    assert all(formats(document, line) for line in range(0, 20_000, 97))


def test_another_theme_restyles(qtbot: QtBot, qapp: object) -> None:
    theme = Theme("light")
    document = QTextDocument()
    document.setDocumentLayout(QPlainTextDocumentLayout(document))
    highlighter = NoteHighlighter(document, theme)
    document.setPlainText("[[a]]")
    highlighter.start()
    qtbot.waitUntil(lambda: highlighter.is_finished)
    before = dict(formats(document, 0))["a"].foreground().color()
    theme.apply(qapp, "dark")  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: highlighter.is_finished)
    assert dict(formats(document, 0))["a"].foreground().color() != before
    theme.apply(qapp, "light")  # type: ignore[arg-type]
