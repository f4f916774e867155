"""The queries that come with Synapse."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from synapse.engine.shipped import resource_folder


@dataclass(frozen=True, slots=True)
class Starter:
    """title: the file's first comment. text: the whole file."""

    title: str
    text: str


def starters(folder: Path | None = None) -> tuple[Starter, ...]:
    """The `.rq` files of a folder, by title."""
    found = []
    for path in (folder or resource_folder() / "queries").glob("*.rq"):
        text = path.read_text(encoding="utf-8")
        first = text.partition("\n")[0]
        title = first.lstrip("# ").strip() if first.startswith("#") else path.stem.replace("-", " ")
        found.append(Starter(title, text))
    return tuple(sorted(found, key=lambda starter: starter.title.casefold()))
