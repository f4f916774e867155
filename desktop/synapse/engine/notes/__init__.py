"""Reading notes, what they state, and the one section of them that Synapse writes."""

from synapse.engine.notes.diagnostics import Diagnostic
from synapse.engine.notes.files import FileEntry, content_hash, file_kind, read_bytes, scan
from synapse.engine.notes.links import LinkResolver, Resolution, path_key
from synapse.engine.notes.reading import READER_VERSION, Note, is_listing, read_note
from synapse.engine.notes.source import Span
from synapse.engine.notes.stating import NoteFacts, ResolvedLink, StatedFact, state_note
from synapse.engine.notes.watching import watch

__all__ = [
    "READER_VERSION",
    "Diagnostic",
    "FileEntry",
    "LinkResolver",
    "Note",
    "NoteFacts",
    "Resolution",
    "ResolvedLink",
    "Span",
    "StatedFact",
    "content_hash",
    "file_kind",
    "is_listing",
    "path_key",
    "read_bytes",
    "read_note",
    "scan",
    "state_note",
    "watch",
]
