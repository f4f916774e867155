"""The rows of the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal as OneOf

FileKind = OneOf["note", "rdf", "attachment"]


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file as it was last read. mtime_ns: nanoseconds. hash: of its content (files.content_hash)."""

    path: str
    kind: FileKind
    size: int
    mtime_ns: int
    hash: str
    entity_id: str
    uri: str | None = None
    title: str = ""
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LinkRecord:
    """A link and where it stands: byte range [start, stop) of the file, line and column from 1."""

    source: str
    kind: str
    target_text: str
    target_id: str
    target_path: str | None
    anchor: str | None
    text: str | None
    relation: str | None
    start: int
    stop: int
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class DiagnosticRecord:
    path: str
    line: int | None
    column: int | None
    severity: str
    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """All that the catalogue keeps of one file. lookups: folded last segments its links asked for."""

    record: FileRecord
    body: str = ""
    links: Sequence[LinkRecord] = ()
    lookups: frozenset[str] = frozenset()
    diagnostics: Sequence[DiagnosticRecord] = ()


@dataclass(frozen=True, slots=True)
class TextHit:
    """key: the path or IRI that was indexed. rank: lower is better, as FTS5's bm25."""

    key: str
    kind: str
    snippet: str
    rank: float


@dataclass(slots=True)
class Update:
    """Changes to be made in one transaction."""

    written: list[FileEntry] = field(default_factory=list)
    touched: list[FileRecord] = field(default_factory=list)
    """Files whose size or time moved and whose content did not."""
    removed: list[str] = field(default_factory=list)
    state: dict[str, str] = field(default_factory=dict)
