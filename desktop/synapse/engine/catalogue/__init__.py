"""The catalogue: files, links, diagnostics and full text, in SQLite."""

from synapse.engine.catalogue.catalogue import Catalogue
from synapse.engine.catalogue.records import (
    DiagnosticRecord,
    FileEntry,
    FileRecord,
    LinkRecord,
    TextHit,
    Update,
)

__all__ = [
    "Catalogue",
    "DiagnosticRecord",
    "FileEntry",
    "FileRecord",
    "LinkRecord",
    "TextHit",
    "Update",
]
