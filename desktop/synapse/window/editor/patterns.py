"""Where styles begin and end in one line of Markdown, for the eye only.

What counts as a link or a tag is decided by the engine's reader; this is fast enough to run on every
key and needs no more than the line and what went before it.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Run(NamedTuple):
    """Code points `start` up to `end` of a line carry `style`."""

    start: int
    end: int
    style: str


class Context(NamedTuple):
    """What a line stands in: "", frontmatter, fence, math, comment. mark: what closes a fence."""

    kind: str = ""
    mark: str = ""


TEXT = Context()
_FENCE = re.compile(r"^(?: {0,3}|[ >]*)(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+|$)")
_QUOTE = re.compile(r"^ {0,3}(?:> ?)+")
_CALLOUT = re.compile(r"\[!([\w-]+)\][+-]?")
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)")
_TASK = re.compile(r"[ \t]+(\[[^\]\n]\])(?=[ \t]|$)")
_RULE = re.compile(r"^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_INLINE_FIELD = re.compile(r"^([ \t]*(?:[-*+][ \t]+)?)([^\W\d_][\w \-/]*)(::)(?=[ \t]|$)")
_KEY = re.compile(r"^([ \t]*(?:- )?)([^\s:#\-\[{][^:#]*|-[^\s:][^:]*)(:)(?=[ \t]|$)")
_YAML_COMMENT = re.compile(r"(?:^|(?<=\s))#.*$")
_LINK_IN_YAML = re.compile(r"\[\[[^\[\]]*\]\]|https?://[^\s\"',\]}]+")
_INLINE = re.compile(
    r"(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<code>(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<comment>%%.*?(?:%%|$)|<!--.*?(?:-->|$))"
    r"|(?P<math>\$\$.+?\$\$|(?<![\w$\\])\$(?!\s)[^$]+?(?<![\s\\])\$(?![\w$]))"
    r"|(?P<wiki>(?P<bang>!?)\[\[(?P<inner>[^\[\]\n]+)\]\])"
    r"|(?P<field>[\[(](?P<key>[^\W\d_][\w \-/]*)(?P<colons>::)(?=\s|\S))"
    r"|(?P<link>!?\[(?P<label>(?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]"
    r"(?P<target>\((?:<[^<>]*>|[^()\s]|\([^()\s]*\))*(?:[ \t]+(?:\"[^\"]*\"|'[^']*'))?[ \t]*\)|\[[^\[\]]*\]))"
    r"|(?P<foot>\[\^[^\]\s]+\]:?)"
    r"|(?P<url><(?:https?|mailto|ftp):[^<>\s]+>|(?<![\w/])https?://[^\s<>\"]+[^\s<>\"'.,;:!?)\]])"
    r"|(?P<tag>(?<![\w#/&])#(?=[\w/-]*[^\W\d])[\w/-]+)"
    r"|(?P<block>[ \t]\^[\w-]+$)"
)
_STRONG = re.compile(r"(?P<mark>\*\*|__)(?=\S)(?P<inside>.+?)(?<=\S)(?P=mark)")
_EMPHASIS = re.compile(
    r"(?<![\w*\\])\*(?![\s*])(?P<star>[^*]+?)(?<![\s\\])\*(?!\*)|(?<![\w_\\])_(?![\s_])(?P<bar>[^_]+?)(?<![\s\\])_(?![\w_])"
)
_STRIKE = re.compile(r"~~(?=\S)(?P<inside>.+?)(?<=\S)~~")
_MARKED = re.compile(r"==(?=\S)(?P<inside>.+?)(?<=\S)==")


def next_context(line: str, before: Context, *, first: bool = False) -> Context:
    """What the line after this one stands in. first: this is the first line of the note."""
    if before.kind == "frontmatter":
        return TEXT if line.rstrip() in ("---", "...") else before
    if before.kind == "fence":
        closes = re.match(rf"^[ >]*{re.escape(before.mark[0])}{{{len(before.mark)},}}[ \t]*$", line)
        return TEXT if closes else before
    if before.kind == "math":
        return TEXT if "$$" in line else before
    if before.kind == "comment":
        return TEXT if before.mark in line else before
    if first and line.rstrip() == "---":
        return Context("frontmatter")
    if fence := _FENCE.match(line):
        return Context("fence", fence.group(1))
    if line.strip() == "$$":
        return Context("math")
    if line.count("%%") % 2 and "`" not in line:
        return Context("comment", "%%")
    if line.lstrip().startswith("<!--") and "-->" not in line:
        return Context("comment", "-->")
    return TEXT


def runs(line: str, before: Context, after: Context) -> list[Run]:
    """The styles of a line between two contexts; later runs lie over earlier ones."""
    everything = len(line)
    if before.kind == "frontmatter" or (after.kind == "frontmatter" and before.kind == ""):
        return _frontmatter(line, fence=before.kind == "" or after.kind == "")
    if before.kind == "fence":
        return [Run(0, everything, "code" if after.kind == "fence" else "fence")]
    if after.kind == "fence":
        return [Run(0, everything, "fence")]
    if "math" in (before.kind, after.kind):
        return [Run(0, everything, "code")]
    if "comment" in (before.kind, after.kind):
        return [Run(0, everything, "comment")]
    return _block(line) + _inline(line)


def link_at(line: str, index: int) -> Run | None:
    """The link around a code point, for the pointer's shape."""
    for match in _INLINE.finditer(line):
        if match.lastgroup and match.start() <= index < match.end():
            for kind in ("wiki", "link", "url"):
                if match.group(kind) is not None:
                    return Run(match.start(), match.end(), kind)
    for match in _LINK_IN_YAML.finditer(line):
        if match.start() <= index < match.end():
            return Run(match.start(), match.end(), "wiki")
    return None


def _frontmatter(line: str, *, fence: bool) -> list[Run]:
    found = [Run(0, len(line), "fence" if fence else "frontmatter")]
    if fence:
        return found
    if key := _KEY.match(line):
        found.append(Run(key.start(2), key.end(3), "key"))
    for link in _LINK_IN_YAML.finditer(line):
        found.append(Run(link.start(), link.end(), "link"))
    if comment := _YAML_COMMENT.search(line):
        found.append(Run(comment.start(), comment.end(), "comment"))
    return found


def _block(line: str) -> list[Run]:
    everything = len(line)
    found: list[Run] = []
    if heading := _HEADING.match(line):
        found.append(Run(0, everything, f"heading{len(heading.group(1))}"))
        return [*found, Run(heading.start(1), heading.end(1), "markup")]
    if _RULE.match(line):
        return [Run(0, everything, "markup")]
    start = 0
    if quote := _QUOTE.match(line):
        start = quote.end()
        found += [Run(0, everything, "quote"), Run(0, start, "markup")]
        if callout := _CALLOUT.match(line, start):
            found += [Run(start, everything, "callout"), Run(start, callout.end(), "keyword")]
    if item := _ITEM.match(line[start:]):
        found.append(Run(start, start + item.end(), "bullet"))
        at = start + item.end()
        if task := _TASK.match(line, at):
            found.append(Run(task.start(1), task.end(1), "keyword"))
            if task.group(1)[1] in "xX-":
                found.append(Run(task.end(), everything, "done"))
    if field := _INLINE_FIELD.match(line):
        found.append(Run(field.start(2), field.end(3), "key"))
    return found


def _inline(line: str) -> list[Run]:
    found: list[Run] = []
    hidden = line
    for match in _INLINE.finditer(line):
        kind = next(name for name in _KINDS if match.group(name) is not None)
        start, end = match.span()
        if kind == "wiki":
            found += _wikilink(match)
        elif kind == "link":
            found += [Run(start, end, "markup"), Run(*match.span("label"), "link")]
        elif kind == "field":
            found.append(Run(match.start("key"), match.end("colons"), "key"))
            continue
        elif kind == "code":
            ticks = len(match.group("ticks"))
            found.append(Run(start, end, "code"))
            found += [Run(start, start + ticks, "markup"), Run(end - ticks, end, "markup")]
        else:
            found.append(Run(start, end, _STYLE_OF[kind]))
        if kind not in ("link",):
            hidden = hidden[:start] + "\0" * (end - start) + hidden[end:]
    return _emphasis(hidden) + found


_KINDS = ("escape", "code", "comment", "math", "wiki", "field", "link", "foot", "url", "tag", "block")
_STYLE_OF = {
    "escape": "markup",
    "comment": "comment",
    "math": "code",
    "foot": "link",
    "url": "link",
    "tag": "tag",
    "block": "comment",
}


def _wikilink(match: re.Match[str]) -> list[Run]:
    start, end = match.span()
    inner_start, inner_end = match.span("inner")
    inner = match.group("inner")
    found = [Run(start, end, "markup")]
    shown = inner_start
    relation = re.match(r"[^\W\d][\w-]*::?(?=[^\s:/])|[^|\[\]]+?::(?=\S)", inner)
    if relation and not re.match(r"(?:https?|file|mailto|tel|urn|data|obsidian|zotero|doi):", inner):
        found.append(Run(inner_start, inner_start + relation.end(), "key"))
        shown = inner_start + relation.end()
    bar = inner.find("|")
    if bar >= 0 and inner_start + bar + 1 < inner_end:
        return [*found, Run(inner_start + bar + 1, inner_end, "link")]
    return [*found, Run(shown, inner_end, "link")]


def _emphasis(line: str) -> list[Run]:
    found: list[Run] = []
    if "*" in line or "_" in line:
        for match in _STRONG.finditer(line):
            found += _marked(match, 2, "strong")
        bare = _STRONG.sub(lambda m: "\0\0" + m.group("inside") + "\0\0", line)
        for match in _EMPHASIS.finditer(bare):
            found += _marked(match, 1, "emphasis")
    if "~~" in line:
        for match in _STRIKE.finditer(line):
            found += _marked(match, 2, "strike")
    if "==" in line:
        for match in _MARKED.finditer(line):
            found += _marked(match, 2, "marked")
    return found


def _marked(match: re.Match[str], width: int, style: str) -> list[Run]:
    start, end = match.span()
    return [Run(start, end, style), Run(start, start + width, "markup"), Run(end - width, end, "markup")]
