"""How links are written: wikilinks, Markdown destinations, and relations inside them.

Nothing here looks at the vault; whether `[[a:b]]` is a relation or a title is decided by
`stating`, which knows what exists.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import unquote

from pyoxigraph import NamedNode

from synapse.engine.notes.source import rdf_text

Syntax = Literal["wikilink", "markdown"]

SCHEMES: Final = frozenset(
    (
        "http",
        "https",
        "ftp",
        "file",
        "mailto",
        "tel",
        "urn",
        "data",
        "javascript",
        "obsidian",
        "zotero",
        "doi",
    )
)
"""Schemes after which a colon never separates a relation (design/data-model.md section 4)."""

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+:(?=\S)")
_WEB: Final = re.compile(
    r"(?:(?:https?|ftp|file)://|(?:mailto|tel|urn|data|javascript|obsidian|zotero|doi):)\S+\Z", re.I
)
_ONE_COLON: Final = re.compile(r"([^\W\d][\w-]*):(?!\s|//)(.+)", re.S)
_VALUE_LINK: Final = re.compile(
    r"!?\[\[(?P<wiki>[^\[\]\r\n]+)\]\]"
    r"|!?\[(?P<text>[^\[\]\r\n]*)\]\((?:<(?P<angle>[^<>\r\n]*)>|(?P<dest>[^\s()<>]+))\)"
)
_SEPARATOR: Final = re.compile(r"[\s,;]*+(?:and\b)?[\s,;]*+")


@dataclass(frozen=True, slots=True)
class LinkText:
    """A link as written, taken apart.

    target: path part, decoded, without anchor. anchor: what follows the first `#`, without it
    (`heading`, `heading#sub`, `^block`). text: what is shown instead of the target, or "".
    """

    syntax: Syntax
    target: str
    anchor: str
    text: str
    start: int = 0
    end: int = 0


def wikilink(inner: str) -> tuple[str, str, str]:
    """Target, anchor and text of what stands between `[[` and `]]`.

    A backslash before the first `|` is a table's escape and belongs to neither side.
    """
    place, bar, text = inner.partition("|")
    if bar and place.endswith("\\"):
        place = place[:-1]
    if not place.isascii():
        place = place.replace("\xa0", " ")
    target, _, anchor = place.partition("#")
    return target.strip(), anchor.strip(), text.strip()


def destination(url: str) -> tuple[str, str]:
    """Target and anchor of a Markdown link's destination, each percent-decoded once."""
    target, _, anchor = url.partition("#")
    if "%" in url:
        target, anchor = rdf_text(unquote(target)), rdf_text(unquote(anchor))
    return target.strip(), anchor


def has_scheme(destination: str) -> bool:
    """Whether a Markdown destination is shaped like an absolute URL."""
    return _SCHEME.match(destination) is not None


def is_web(target: str) -> bool:
    """Whether the target is an address under one of the known schemes rather than a title."""
    return _WEB.match(target) is not None


def valid_iri(text: str) -> NamedNode | None:
    """The absolute IRI that `text` is (RFC 3987), or None."""
    try:
        return NamedNode(text)
    except ValueError:
        return None


def typed_title(title: str) -> str | None:
    """The relation in a Markdown link's title, `[text](/x.md "rel:depends_on")`, or None."""
    if title[:4].casefold() != "rel:":
        return None
    return title[4:].strip() or None


def double_colon(target: str) -> tuple[str, str] | None:
    """Relation and target of `rel::target`, which always splits; or None."""
    relation, colons, rest = target.partition("::")
    relation, rest = relation.strip(), rest.strip()
    return (relation, rest) if colons and relation and rest else None


def single_colon(target: str) -> tuple[str, str] | None:
    """What stands left and right of the first colon of `rel:target`, if it may be a relation."""
    found = _ONE_COLON.match(target)
    if found is None or found[1].casefold() in SCHEMES:
        return None
    return found[1], found[2]


def value_links(text: str) -> tuple[LinkText, ...]:
    """The links of a property's value if it holds nothing but links and separators, else ().

    `start` and `end` are indices into `text`.
    """
    if "[[" not in text and "](" not in text:
        return ()
    found: list[LinkText] = []
    position = 0
    while position < len(text):
        position = _after_separator(text, position)
        if position == len(text):
            break
        match = _VALUE_LINK.match(text, position)
        if match is None:
            return ()
        if match["wiki"] is not None:
            target, anchor, shown = wikilink(match["wiki"])
            syntax: Syntax = "wikilink"
        else:
            url = match["angle"] if match["dest"] is None else match["dest"]
            target, anchor = (url, "") if has_scheme(url) else destination(url)
            shown, syntax = match["text"], "markdown"
        if not target and not anchor:
            return ()
        found.append(LinkText(syntax, target, anchor, shown, match.start(), match.end()))
        position = match.end()
    return tuple(found)


def _after_separator(text: str, position: int) -> int:
    match = _SEPARATOR.match(text, position)
    return position if match is None else match.end()


def only_separators(text: str) -> bool:
    """Whether `text` holds nothing but what may stand between links of one value."""
    return _SEPARATOR.fullmatch(text) is not None
