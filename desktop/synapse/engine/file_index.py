"""The files of a vault in memory: what ids, links and IRIs mean.

Immutable: the writer makes a new index when files come, go or change, and publishes it together with
the graph that was made by it. A question takes one index and keeps it to its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from synapse.engine.catalogue import FileRecord
from synapse.engine.notes import LinkResolver
from synapse.engine.questions.reader import EntityIndex
from synapse.engine.terms import Identities, Words


@dataclass(frozen=True, slots=True)
class FileIndex:
    """files: path -> record. graph_paths: IRI of a file's graph -> its path as it is spelled on disk.
    uris: path of a note -> the IRI that its `uri:` gives its entity. is_bundle: whether the vault is
    an OKF bundle."""

    files: Mapping[str, FileRecord]
    words: Words
    identities: Identities
    entities: EntityIndex
    resolver: LinkResolver
    graph_paths: Mapping[str, str]
    uris: Mapping[str, str]
    is_bundle: bool

    @property
    def notes(self) -> int:
        """How many notes there are."""
        return sum(record.kind == "note" for record in self.files.values())


def file_index(records: Iterable[FileRecord], words: Words, base: str, *, is_bundle: bool) -> FileIndex:
    """The index of these files."""
    files = {record.path: record for record in records}
    attachments = frozenset(path for path, record in files.items() if record.kind == "attachment")
    identities = Identities(base, attachments)
    graph_paths: dict[str, str] = {}
    uris: dict[str, str] = {}
    paths: dict[str, str] = {}
    ids: dict[str, str] = {}
    iris: dict[str, str] = {}
    for path, record in files.items():
        if record.kind == "attachment":
            continue
        graph_paths[identities.document(path).value] = path
        if record.kind != "note":
            continue
        ids[record.entity_id] = path
        if record.uri is not None:
            uris[path] = iris[record.entity_id] = record.uri
        paths.setdefault(record.uri or identities.entity(record.entity_id).value, path)
    return FileIndex(
        MappingProxyType(files),
        words,
        identities,
        EntityIndex(paths, iris, ids, attachments),
        LinkResolver(files),
        graph_paths,
        uris,
        is_bundle,
    )
