"""The generated backlinks section of a note, on bytes (design/data-model.md, section 5).

    <!-- synapse:backlinks -->
    ## Backlinks
    - [[people/alice]] knows this
    <!-- /synapse:backlinks -->

The engine owns what stands between the two markers and nothing else. A section
counts only where both markers are HTML blocks at the top level of the
document's CommonMark parse (https://spec.commonmark.org/0.31.2/#html-blocks,
kind 2); anywhere else (a fence, a list, a quote, an unclosed `%%` or `$$`) it is
somebody's text and no write is made.

`with_section` and `without_section` mirror each other: for every note in which
a section may be written, removing it gives back the original bytes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

import pyromark

from synapse.engine.errors import SectionRefused

OPENING = b"<!-- synapse:backlinks -->"
CLOSING = b"<!-- /synapse:backlinks -->"
HEADING = "## Backlinks"
MOST_LINES = 200
LARGEST_NOTE = 8 * 1024 * 1024
"""Bytes; a larger note gets no section, because checking it would take seconds."""

_OPTIONS = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_MATH
    | pyromark.Options.ENABLE_WIKILINKS
    | pyromark.Options.ENABLE_FOOTNOTES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TASKLISTS
)
_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n|\n|\r")
_REST_OF_LINE = re.compile(rb"[ \t]*(\r\n|\n|\r)?")
_FRONTMATTER_START = re.compile(rb"---[ \t]*+(?:\r\n|\n|\r)")
_FRONTMATTER_END = re.compile(rb"(?<=[\r\n])(?:---|\.\.\.)[ \t]*+(?:\r\n|\n|\r|\Z)")
_OWN_LINE = re.compile(rb"(?:## Backlinks|- \[.*|- and \d+ more)[ \t]*\Z")
_TOGGLE = re.compile(rb"\\.|%%|\$\$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Section:
    """Byte offsets in the file, half open: from the opening `<` to the closing `>`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SectionProblem:
    """Why no section can be written; `offset` is the byte in the file that shows it.

    `code` is one of `not-text`, `too-large`, `half`, `doubled`, `not-top-level`, `swallowed`,
    `line-endings`.
    """

    code: str
    message: str
    hint: str
    offset: int = 0


@dataclass(frozen=True, slots=True, order=True)
class Backlink:
    """One line: the vault entity `entity_id` stands in `relation_word` to the note's entity, or,
    outgoing, the note's entity to it."""

    entity_id: str
    relation_word: str
    inferred: bool = False
    by: Literal["note", "agent"] = "note"
    outgoing: bool = False


# --- lines -----------------------------------------------------------------------------------------


def backlink_lines(backlinks: Iterable[Backlink], most: int = MOST_LINES) -> tuple[str, ...]:
    """The section's list, in a stable order, without line endings; empty for no backlinks.

    Of the same entity and relation a note's statement is shown before an agent's,
    and either before an inference. At most `most` links; a last line counts the rest.
    """
    shown: dict[tuple[str, bool, str], Backlink] = {}
    for link in sorted(backlinks, key=lambda b: (b.inferred, b.by != "note", b)):
        shown.setdefault((link.entity_id, link.outgoing, relation_text(link.relation_word)), link)
    ordered = sorted(shown, key=lambda key: (key[0].casefold(), key))
    lines = [backlink_line(shown[key]) for key in ordered[:most]]
    if len(ordered) > most:
        lines.append(f"- and {len(ordered) - most} more")
    return tuple(lines)


def backlink_line(link: Backlink) -> str:
    """`- [[people/alice]] knows this`; outgoing, with a mark: `- [[projects/apollo]] part of · inferred`."""
    mark = " · inferred" if link.inferred else " · agent" if link.by == "agent" else ""
    this = "" if link.outgoing else " this"
    return f"- {entity_link(link.entity_id)} {relation_text(link.relation_word)}{this}{mark}"


def relation_text(word: str) -> str:
    """A relation word reduced to letters, digits, space, `-` and `_` (at most 80 of them)."""
    kept = "".join(c if _plain(c) or c in " -_" else " " for c in unicodedata.normalize("NFC", word))
    return " ".join(kept.split())[:80].rstrip() or "related to"


def entity_link(entity_id: str) -> str:
    """A wikilink, or a percent-encoded Markdown link where the id cannot stand in a wikilink."""
    if all(_plain(c) or c in " -_/.,'()&+@=!" for c in entity_id) and not (
        entity_id != entity_id.strip() or entity_id.endswith(".md") or "$$" in entity_id
    ):
        return f"[[{entity_id}]]"
    label = "".join(c if _plain(c) or c in " -_/." else " " for c in entity_id)
    target = quote(entity_id.encode("utf-8", "surrogatepass"), safe="/")
    return f"[{' '.join(label.split()) or 'entity'}](</{target}.md>)"


def _plain(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMN"


# --- finding ---------------------------------------------------------------------------------------


def find_section(data: bytes) -> Section | None:
    """The note's one well-formed section; None where there is none, or it is not ours to touch."""
    if OPENING not in data or CLOSING not in data:
        return None
    body = _Body(data)
    sections = list(body.sections())
    if len(sections) != 1 or len(body.markers) != 2 or body.open_at(sections[0].start):
        return None
    return sections[0]


def generated_spans(data: bytes) -> tuple[Section, ...]:
    """Every span that a reader must ignore, so that generated lines never read back as facts.

    More lenient than `find_section`: doubled sections (a merge of two copies), a
    section inside a comment, and after an opening marker that lost its end the
    lines in the section's own form.
    """
    if OPENING not in data:
        return ()
    body = _Body(data)
    found = list(body.sections())
    for start, end, opening in body.markers:
        if opening and not any(s.start <= start < s.end for s in found):
            found.append(Section(start, _own_lines_end(data, end)))
    return tuple(sorted(found, key=lambda s: s.start))


def section_problem(data: bytes) -> SectionProblem | None:
    """Why no section can be written into this note or changed in it; None if one can."""
    return _text_problem(data) or _marker_problem(data) or _trial_problem(data)


def _text_problem(data: bytes) -> SectionProblem | None:
    if len(data) > LARGEST_NOTE:
        return SectionProblem(
            "too-large",
            f"the note has {len(data)} bytes; sections are written up to {LARGEST_NOTE}.",
            "Split the note.",
        )
    if 0 in data:
        return SectionProblem(
            "not-text",
            "the note holds NUL bytes, so it is not UTF-8 text.",
            "Save it as UTF-8.",
            data.index(0),
        )
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return SectionProblem("not-text", "the note is not UTF-8 text.", "Save it as UTF-8.", error.start)
    return None


def _marker_problem(data: bytes) -> SectionProblem | None:
    openings, closings = data.count(OPENING), data.count(CLOSING)
    if not openings and not closings:
        return None
    first = min(at for at in (data.find(OPENING), data.find(CLOSING)) if at >= 0)
    if openings > 1 or closings > 1:
        return SectionProblem(
            "doubled",
            "the markers of the backlinks section stand there more than once.",
            "Keep one pair, or delete them all.",
            first,
        )
    if openings != closings:
        missing = (OPENING if closings else CLOSING).decode()
        return SectionProblem(
            "half",
            f"the backlinks section lost its marker {missing}.",
            "Put the marker back on a line of its own, or delete the other one.",
            first,
        )
    if find_section(data) is None:
        return SectionProblem(
            "not-top-level",
            "the markers of the backlinks section do not stand as lines of their own at the top level "
            "(they are in code, a comment, a list, a quote or math).",
            "Move both markers out to lines of their own, or delete them.",
            first,
        )
    return None


def _trial_problem(data: bytes) -> SectionProblem | None:
    """Appending a section must give a document in which it is one."""
    if find_section(data) is not None:
        return None
    if find_section(_appended(data, render_section((), _newline(data)))) is not None:
        return None
    if _newline(data) == b"\r":
        return SectionProblem(
            "line-endings",
            "the note's lines end in a lone carriage return, which Markdown parsers read differently.",
            "Convert its line endings to LF or CRLF.",
            len(data),
        )
    what = _Body(data).open_at(len(data)) or "a code fence, comment or HTML block"
    return SectionProblem(
        "swallowed",
        f"{what} is still open at the end of the note and would swallow the backlinks section.",
        "Close it, or end the note with an empty line.",
        len(data),
    )


# --- writing ---------------------------------------------------------------------------------------


def render_section(lines: Sequence[str], newline: bytes = b"\n") -> bytes:
    """The section from marker to marker, without a final line ending.

    Raises ValueError for a line that holds a line ending or a marker.
    """
    for line in lines:
        if len(line.splitlines()) > 1 or "\n" in line or "\r" in line or "synapse:backlinks -->" in line:
            raise ValueError(f"not one line of a section: {line!r}")
    inner = [HEADING.encode(), *(line.encode("utf-8") for line in lines)]
    return newline.join([OPENING, *inner, CLOSING])


def with_section(data: bytes, body_lines: Sequence[str] | None) -> bytes:
    """The note with exactly these lines in its section; None or no lines removes the section.

    Replaces the section where it stands, else appends one. The result equals
    `data` when nothing changes. Raises SectionRefused where `section_problem`
    says why no section can be written.
    """
    problem = _text_problem(data) or _marker_problem(data)
    if problem is None and body_lines:
        found = find_section(data)
        if found is not None:
            section = render_section(body_lines, _section_newline(data, found))
            result = data[: found.start] + section + data[found.end :]
        else:
            result = _appended(data, render_section(body_lines, _newline(data)))
        if find_section(result) is not None:
            return result
        problem = _trial_problem(data)
    if problem is not None:
        raise SectionRefused(problem.message, problem.hint)
    return without_section(data)


def without_section(data: bytes) -> bytes:
    """The note as it was before a section was appended; unchanged where none is found.

    A section that ends the file without a line ending was appended to a file
    without one: the line ending before it goes too.
    """
    found = find_section(data)
    if found is None:
        return data
    before, after = data[: found.start], data[found.end :]
    rest = _REST_OF_LINE.match(after)
    assert rest is not None  # matches the empty string
    if rest.group(1) is None:
        before = before.removesuffix(_last_line_end(before) or b"")
        return before + after[rest.end() :]
    own = _section_newline(data, found)
    blanks = rest.start(1)
    # A lone CR of ours followed by somebody's LF must not take the LF along.
    taken = own if after.startswith(own, blanks) else rest.group(1)
    return before + after[blanks + len(taken) :]


def _appended(data: bytes, section: bytes) -> bytes:
    newline = _newline(data)
    if data in (b"", _BOM) or _last_line_end(data):
        return data + section + newline
    return data + newline + section


def _newline(data: bytes) -> bytes:
    """The last line ending of the file, so that in a mixed file the neighbour decides."""
    end = max(data.rfind(b"\n"), data.rfind(b"\r"))
    if end < 0:
        return b"\n"
    return b"\r\n" if data[end - 1 : end + 1] == b"\r\n" and end else data[end : end + 1]


def _last_line_end(data: bytes) -> bytes | None:
    return next((end for end in (b"\r\n", b"\n", b"\r") if data.endswith(end)), None)


def _section_newline(data: bytes, section: Section) -> bytes:
    found = _LINE_END.search(data, section.start, section.end)
    return found.group() if found else b"\n"


# --- the document's parse --------------------------------------------------------------------------


class _Body:
    """What the CommonMark parse of the text after the frontmatter says about markers and code."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.offset = _body_start(data)
        self.markers: list[tuple[int, int, bool]] = []
        """(start, end, opening) of each marker that is a top-level HTML block, in order."""
        self.opaque: list[tuple[int, int]] = []
        """Spans of code and HTML, where `%%` and `$$` mean nothing."""
        depth = 0
        for event, span in pyromark.events_with_range(_text(data[self.offset :]), options=_OPTIONS):
            if not isinstance(event, dict):
                continue
            start, end = span["start"] + self.offset, span["end"] + self.offset
            if "Start" in event:
                tag = event["Start"]
                if tag == "HtmlBlock" or (isinstance(tag, dict) and "CodeBlock" in tag):
                    self.opaque.append((start, end))
                    if depth == 0 and tag == "HtmlBlock":
                        self._add_marker(start, end)
                depth += 1
            elif "End" in event:
                depth -= 1
            elif "Code" in event or "InlineHtml" in event:
                self.opaque.append((start, end))

    def _add_marker(self, start: int, end: int) -> None:
        block = self.data[start:end]
        start += len(block) - len(block.lstrip(b" \t"))
        line = block.strip(b" \t\r\n")
        if line in (OPENING, CLOSING):
            self.markers.append((start, start + len(line), line == OPENING))

    def sections(self) -> Iterator[Section]:
        """Each opening marker with the closing marker right after it."""
        for (start, _, opening), (_, end, reopening) in zip(self.markers, self.markers[1:], strict=False):
            if opening and not reopening:
                yield Section(start, end)

    def open_at(self, position: int) -> str:
        """The Obsidian comment or display formula still open at this byte; "" if none is."""
        inside = b""
        opaque = iter([*self.opaque, (len(self.data), len(self.data))])
        begin, end = next(opaque)
        for found in _TOGGLE.finditer(self.data, self.offset, position):
            while end <= found.start():
                following = next(opaque, None)
                if following is None:
                    break
                begin, end = following
            token = found.group()
            if token.startswith(b"\\") or begin <= found.start() < end:
                continue
            if not inside:
                inside = token
            elif inside == token:
                inside = b""
        return {b"": "", b"%%": "a comment (%%)", b"$$": "a formula ($$)"}[inside]


def _own_lines_end(data: bytes, end: int) -> int:
    """The end of the lines in the section's form that follow an opening marker ending at `end`."""
    start = end
    for number, line in enumerate(data[end:].splitlines(keepends=True)):
        text = line.rstrip(b"\r\n")
        if number and not _OWN_LINE.match(text):
            break
        end = start + len(text)
        start += len(line)
    return end


def _body_start(data: bytes) -> int:
    """The byte after BOM and frontmatter block, where CommonMark begins (data-model, section 4)."""
    offset = len(_BOM) if data.startswith(_BOM) else 0
    first = _FRONTMATTER_START.match(data, offset)
    last = _FRONTMATTER_END.search(data, first.end()) if first else None
    return last.end() if last else offset


def _text(data: bytes) -> str:
    """Decoded so that every UTF-8 offset in the text is the byte's offset in `data`."""
    return re.sub("[\udc80-\udcff]", "?", data.decode("utf-8", "surrogateescape"))
