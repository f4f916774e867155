"""Following a link of a note: the links that are followed are the links that are indexed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from synapse.engine import Engine


@dataclass(frozen=True, slots=True)
class Target:
    """Where a link leads.

    entity: the id to open, or "" for an anchor in the same note. url: an address outside. path: the
    file, None for an unwritten note. anchor: heading or block, without `#`.
    """

    entity: str = ""
    path: str | None = None
    url: str = ""
    anchor: str = ""


def link_target(engine: Engine, path: str, text: str, index: int) -> Target | None:
    """The link around the code point `index` of a note's text, None where there is none."""
    content = text.encode("utf-8", "replace")
    at = len(text[:index].encode("utf-8", "replace"))
    around = [link for link in engine.links_in(path, content) if link.span.start <= at <= link.span.end]
    if not around:
        return None
    link = min(around, key=lambda link: (link.span.end - link.span.start, -link.span.start))
    if link.kind == "url":
        return Target(url=link.target_id)
    return Target(link.target_id, link.path, anchor=link.anchor)


def line_of_anchor(engine: Engine, path: str, anchor: str) -> int:
    """The line (from 1) of a heading or `^block` in a note; 0 where it is not found."""
    from synapse.engine.notes.reading import read_note

    note = read_note(path, engine.read_file(path))
    if anchor.startswith("^"):
        return next((block.span.line for block in note.block_ids if block.id == anchor[1:]), 0)
    wanted = " ".join(anchor.rpartition("#")[2].split()).casefold()
    for heading in note.headings:
        if wanted in (" ".join(text.split()).casefold() for text in (heading.plain, heading.text)):
            return heading.span.line
    return 0
