"""What goes into each note's backlinks section, and writing it (data-model.md section 5)."""

from __future__ import annotations

import time
from collections.abc import Iterable

from pyoxigraph import NamedNode, Triple

from synapse.engine.errors import FileChanged, FileUnreadable, SectionRefused, WriteFailed
from synapse.engine.notes import read_bytes
from synapse.engine.notes.backlinks import Backlink, backlink_lines, with_section, without_section
from synapse.engine.notes.files import atomic_write
from synapse.engine.questions.reader import GraphReader
from synapse.engine.questions.results import BacklinksReport, Skipped
from synapse.engine.terms import entity_id
from synapse.engine.terms import vocabulary as v
from synapse.engine.workspace import Workspace

QUIET = 30.0
"""Seconds for which a note must not have changed before its section is written."""

_NO_LINK = frozenset({v.RDF_TYPE, v.SCHEMA_KEYWORDS, v.RDFS_LABEL})


class BacklinksWriter:
    """Computes the sections of a workspace's notes and brings the files in line with them."""

    def __init__(self, workspace: Workspace, reader: GraphReader) -> None:
        self._workspace = workspace
        self._index = workspace.published
        self._reader = reader
        self._broader: dict[NamedNode, set[NamedNode]] = {}
        for triple in reader.store.match(None, v.RDFS_SUB_PROPERTY_OF, None):
            narrow, broad = triple.subject, triple.object
            if isinstance(narrow, NamedNode) and isinstance(broad, NamedNode) and narrow != broad:
                self._broader.setdefault(narrow, set()).add(broad)

    def lines(self, path: str) -> tuple[str, ...]:
        """The lines of a note's section, in order; none where nothing links to it."""
        return backlink_lines(self.backlinks(path))

    def backlinks(self, path: str) -> list[Backlink]:
        """The relations of a note's entity that the note itself does not state."""
        index = self._index
        node = index.entities.iri(entity_id(path), index.identities)
        own = index.identities.document(path)
        incoming = self._elsewhere(self._reader.naming(node), own, subject=True)
        outgoing = self._elsewhere(self._reader.about(node), own, subject=False)
        stated_by = {other for other, _, graphs in incoming if graphs}
        found = self._links(incoming, outgoing=False)
        # "this · inferred" beside what was stated from the other side would say one thing twice.
        found += self._links([row for row in outgoing if row[2] or row[0] not in stated_by], outgoing=True)
        return found

    def _elsewhere(
        self, triples: Iterable[Triple], own: NamedNode, *, subject: bool
    ) -> list[tuple[NamedNode, Triple, list[NamedNode]]]:
        """The other end, the fact and its sources, of relations between entities of the vault that
        this note does not state."""
        rows = []
        for triple in triples:
            other = triple.subject if subject else triple.object
            if triple.predicate in _NO_LINK or triple.subject == triple.object:
                continue
            if not isinstance(other, NamedNode) or self._id_of(other) is None:
                continue
            graphs = self._reader.store.sources(triple)
            if own not in graphs:
                rows.append((other, triple, graphs))
        return rows

    def _links(
        self, rows: list[tuple[NamedNode, Triple, list[NamedNode]]], *, outgoing: bool
    ) -> list[Backlink]:
        said: dict[NamedNode, set[NamedNode]] = {}
        for other, triple, _ in rows:
            said.setdefault(other, set()).add(triple.predicate)
        found = []
        for other, triple, graphs in rows:
            narrower = said[other] - {triple.predicate}
            if not graphs and any(triple.predicate in self._broader.get(p, ()) for p in narrower):
                continue  # the narrower relation says it already
            entity = self._id_of(other)
            assert entity is not None
            agent = bool(graphs) and all(graph.value.startswith(v.ASSERTION) for graph in graphs)
            found.append(
                Backlink(
                    entity,
                    self._reader.entity(triple.predicate).label,
                    not graphs,
                    "agent" if agent else "note",
                    outgoing,
                )
            )
        return found

    def _id_of(self, node: NamedNode) -> str | None:
        path = self._index.entities.paths.get(node.value)
        return self._index.identities.id_of(node.value) if path is None else entity_id(path)

    # -- files ---------------------------------------------------------------------------------

    def run(self, mode: str, paths: Iterable[str] | None = None) -> BacklinksReport:
        """Preview, write or remove the sections of all notes or of some.

        A note that cannot be written, changed in the last 30 s or holds half a section is skipped
        with the reason; the rest goes on.
        """
        workspace = self._workspace
        written: list[str] = []
        skipped: list[Skipped] = []
        unchanged = links = 0
        notes = sorted(path for path, record in self._index.files.items() if record.kind == "note")
        for path in notes if paths is None else sorted(set(paths) & set(notes)):
            lines = () if mode == "remove" else self.lines(path)
            links += len(lines)
            try:
                changed = self.write(path, lines, dry_run=mode == "preview", at_once=mode == "remove")
            except (SectionRefused, FileUnreadable, FileChanged, WriteFailed) as error:
                skipped.append(Skipped(path, error.message))
                continue
            if changed:
                written.append(path)
            else:
                unchanged += 1
        return BacklinksReport(workspace.settings.backlinks, tuple(written), unchanged, tuple(skipped), links)

    def section(self, path: str) -> tuple[bytes, bytes]:
        """A note's bytes as they are and as they would be with its section. Raises as `write`."""
        content = read_bytes(self._workspace.vault / path)
        return content, _with(content, self.lines(path))

    def write(
        self, path: str, lines: tuple[str, ...], *, dry_run: bool = False, at_once: bool = False
    ) -> bool:
        """Bring one note's section in line; whether the file changed (or would).

        Raises SectionRefused, FileUnreadable, FileChanged, WriteFailed.
        """
        file = self._workspace.vault / path
        content = read_bytes(file)
        wanted = _with(content, lines)
        if wanted == content:
            return False
        if dry_run:
            return True
        if not at_once and 0 <= (age := time.time() - file.stat().st_mtime) < QUIET:
            raise SectionRefused(
                f"It was changed {age:.0f} s ago.", "Its section is written when it has been quiet for 30 s."
            )
        atomic_write(file, wanted, content)
        return True


def _with(content: bytes, lines: tuple[str, ...]) -> bytes:
    return with_section(content, lines) if lines else without_section(content)
