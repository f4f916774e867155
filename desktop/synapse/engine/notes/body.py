"""The body of a note by CommonMark events: links, headings, runs of text and lines (design section 4).

pyromark (pulldown-cmark) says what is code, HTML, math or a link and where; nothing is searched for
in raw text but in the runs that it calls text. All offsets are bytes of the body's UTF-8 form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

import pyromark
from pyromark import Options

from synapse.engine.notes.syntax import Syntax, destination, has_scheme, is_web, typed_title, wikilink
from synapse.engine.terms import fold_word

_MARKDOWN: Final = pyromark.Markdown(
    options=Options.ENABLE_TABLES
    | Options.ENABLE_FOOTNOTES
    | Options.ENABLE_STRIKETHROUGH
    | Options.ENABLE_TASKLISTS
    | Options.ENABLE_MATH
    | Options.ENABLE_WIKILINKS
)
_ATX: Final = re.compile(r"#{1,6}(?:[ \t]+|$)(.*?)(?:[ \t]+#+)?[ \t]*\Z", re.S)
_INLINE: Final = frozenset(
    ("Emphasis", "Strong", "Strikethrough", "Superscript", "Subscript", "Link", "Image")
)
_OPAQUE: Final = frozenset(("Code", "InlineMath", "DisplayMath", "InlineHtml", "FootnoteReference"))
_CODE_BLOCKS: Final = frozenset(("CodeBlock", "HtmlBlock"))


@dataclass(slots=True)
class BodyLink:
    """A link at `start:end`. `relation` is what its own syntax or its line names, or None."""

    start: int
    end: int
    syntax: Syntax
    embed: bool
    url: bool
    target: str
    anchor: str
    text: str
    relation: str | None = None


@dataclass(slots=True)
class BodyHeading:
    """`text` as written, without the markers; `plain` without markup."""

    start: int
    end: int
    level: int
    text: str
    plain: str


@dataclass(slots=True)
class Line:
    """One line of inline content, without the markers of quotes, lists and tasks before it.

    item: it is the first line of a list item. relations: it stands under a `Relations` heading.
    first_link, end_link: the range of its links in `Outline.links`. last: it ends its block.
    """

    start: int
    end: int
    item: bool
    relations: bool
    first_link: int
    end_link: int
    last: bool = False


@dataclass(slots=True)
class Outline:
    """What the events say. runs: start, end, and whether markup rather than text precedes it.

    opaque: ranges of inline code, math, HTML and links, in order.
    """

    links: list[BodyLink] = field(default_factory=list)
    headings: list[BodyHeading] = field(default_factory=list)
    runs: list[tuple[int, int, bool]] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    opaque: list[tuple[int, int]] = field(default_factory=list)


def read_outline(text: str, encoded: bytes) -> Outline:
    """The outline of a body. `encoded` is the UTF-8 form of `text`."""
    return _OutlineReader(encoded).read(text)


class _OutlineReader:
    def __init__(self, encoded: bytes) -> None:
        self.encoded = encoded
        self.outline = Outline()
        self._open_links: list[tuple[BodyLink | None, list[str]]] = []
        self._heading: tuple[int, list[str]] | None = None
        self._relations_level = 0
        self._line_start = -1
        self._line_end = -1
        self._line_links = 0
        self._new_item = False

    def read(self, text: str) -> Outline:
        blocked = 0  # depth of code and HTML blocks
        after_markup = True
        open_links = self._open_links
        runs, opaque = self.outline.runs, self.outline.opaque
        event: Any
        detail: Any
        # Merged, a run of text is one event, escapes and entities in it as they stand.
        for event, place in _MARKDOWN.events_with_range(text, merge_text=True):
            if event.__class__ is str:
                if event != "Rule":
                    self._end_line()
                    if open_links:
                        open_links[-1][1].append(" ")
                    if self._heading is not None:
                        self._heading[1].append(" ")
                after_markup = True
                continue
            ((name, payload),) = event.items()
            if name == "Text":
                if blocked:
                    continue
                start, end = place["start"], place["end"]
                if self._line_start < 0:
                    self._line_start = start
                self._line_end = end
                if self._heading is not None:
                    self._heading[1].append(payload)
                if open_links:
                    open_links[-1][1].append(payload)
                else:
                    runs.append((start, end, after_markup))
                    after_markup = False
            elif name == "Start":
                tag, detail = (payload, None) if payload.__class__ is str else next(iter(payload.items()))
                after_markup = True
                if tag in _INLINE:
                    start, end = place["start"], place["end"]
                    if self._line_start < 0:
                        self._line_start = start
                    self._line_end = end
                    if detail is not None:
                        self._start_link(start, end, tag == "Image", detail)
                    continue
                self._end_line(last=True)
                if tag in _CODE_BLOCKS:
                    blocked += 1
                elif tag == "Item":
                    self._new_item = True
                elif tag == "Heading":
                    self._heading = (int(detail["level"][1]), [])
            elif name == "End":
                tag = payload if payload.__class__ is str else next(iter(payload))
                if tag in _INLINE:
                    after_markup = False
                    self._line_end = place["end"]
                    if tag == "Link" or tag == "Image":
                        self._end_link()
                    continue
                self._end_line(last=True)
                after_markup = True
                if tag in _CODE_BLOCKS:
                    blocked -= 1
                elif tag == "Heading":
                    self._end_heading(place["start"], place["end"])
            elif name in _OPAQUE:
                start, end = place["start"], place["end"]
                if self._line_start < 0:
                    self._line_start = start
                self._line_end = end
                after_markup = name == "InlineHtml"
                if not open_links:
                    opaque.append((start, end))
                if name == "Code":
                    if self._heading is not None:
                        self._heading[1].append(payload)
                    if open_links:
                        open_links[-1][1].append(payload)
            else:  # TaskListMarker stands before the line; Html is a block's content
                after_markup = True
        self._end_line(last=True)
        return self.outline

    def _end_line(self, last: bool = False) -> None:
        if self._line_start >= 0:
            links = len(self.outline.links)
            self.outline.lines.append(
                Line(
                    self._line_start,
                    self._line_end,
                    self._new_item,
                    self._relations_level > 0,
                    self._line_links,
                    links,
                    last,
                )
            )
            self._line_links = links
            self._line_start = self._line_end = -1
            self._new_item = False
        elif last and self.outline.lines:
            self.outline.lines[-1].last = True

    def _start_link(self, start: int, end: int, image: bool, detail: dict[str, Any]) -> None:
        if not self._open_links:
            self.outline.opaque.append((start, end))
        link = self._link(start, end, image, detail)
        if link is not None:
            self.outline.links.append(link)
        self._open_links.append((link, []))

    def _link(self, start: int, end: int, image: bool, detail: dict[str, Any]) -> BodyLink | None:
        url: str = detail["dest_url"]
        kind = detail["link_type"]
        if kind.__class__ is dict:  # a wikilink: its source, since the event's fields are unescaped
            raw = self.encoded[start + (3 if image else 2) : end - 2].decode()
            if "\n" in raw or "\r" in raw:
                return None
            target, anchor, text = wikilink(raw)
            if not target and not anchor:
                return None
            return BodyLink(start, end, "wikilink", image, not image and is_web(target), target, anchor, text)
        if not url:
            return None
        relation = typed_title(detail["title"]) if detail["title"] else None
        if kind == "Email":
            url = "mailto:" + url
        if has_scheme(url):
            return BodyLink(start, end, "markdown", image, not image, url, "", "", relation)
        target, anchor = destination(url)
        if not target and not anchor:
            return None
        return BodyLink(start, end, "markdown", image, False, target, anchor, "", relation)

    def _end_link(self) -> None:
        link, parts = self._open_links.pop()
        text = "".join(parts)
        if link is not None and link.syntax == "markdown":
            link.text = text.strip()
        if self._open_links:
            self._open_links[-1][1].append(text)

    def _end_heading(self, start: int, end: int) -> None:
        if self._heading is None:
            return
        level, parts = self._heading
        self._heading = None
        source = self.encoded[start:end].decode().rstrip()
        end = start + len(source.encode())
        source = source.lstrip()
        found = _ATX.match(source)
        if found is not None:
            written = found[1]
        else:
            written = " ".join(line.strip() for line in source.splitlines()[:-1])
        plain = " ".join("".join(parts).split())
        self.outline.headings.append(BodyHeading(start, end, level, written.strip(), plain))
        if level <= self._relations_level or self._relations_level == 0:
            self._relations_level = level if fold_word(plain) == "relations" else 0
