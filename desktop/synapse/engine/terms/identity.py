"""Ids and their IRIs: one entity, one name (data-model.md section 2).

An entity's id is its vault path without `.md`, plain text, NFC. Its IRI is that id under the
vault's base, each segment percent-encoded as RFC 3987 `isegment` asks. Nothing else in Synapse
builds or takes apart such an IRI.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache
from urllib.parse import unquote

from pyoxigraph import NamedNode

from synapse.engine.errors import InvalidId

DEFAULT_BASE = "vault:/"
NOTE_SUFFIX = ".md"

# RFC 3987: isegment = *( iunreserved / pct-encoded / sub-delims / ":" / "@" ), without "%" and ":"
# so that an encoded segment is never mistaken for an escape or a scheme.
_UCSCHAR = "".join(
    f"{chr(first)}-{chr(last)}"
    for first, last in [
        (0xA0, 0xD7FF),
        (0xF900, 0xFDCF),
        (0xFDF0, 0xFFEF),
        *((plane * 0x10000, plane * 0x10000 + 0xFFFD) for plane in range(1, 14)),
        (0xE1000, 0xEFFFD),
    ]
)
_ENCODED = re.compile(rf"[^A-Za-z0-9\-._~!$&'()*+,;=@{_UCSCHAR}]")
_PLAIN = re.compile(r"(?<!%)(?<!%[0-9A-F])[^%/]")
_ABSOLUTE_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:[^\s<>\"{}|\\^`\x00-\x20]*\Z")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def is_absolute_iri(text: str) -> bool:
    """Whether `text` is shaped like an absolute IRI (RFC 3987 with a scheme)."""
    return _ABSOLUTE_IRI.match(text) is not None


def entity_id(path: str) -> str:
    """The id of the note at a vault-relative path: NFC, without `.md`."""
    path = unicodedata.normalize("NFC", path)
    return path[: -len(NOTE_SUFFIX)] if path.lower().endswith(NOTE_SUFFIX) else path


def _encode_segment(segment: str) -> str:
    if segment in (".", ".."):
        return segment.replace(".", "%2E")
    return _ENCODED.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8")), segment)


def _apart(encoded: str) -> str:
    """Another spelling of an encoded path: with its last dot encoded, or, as in `LICENSE`, its last
    character that is not."""
    start = encoded.rfind(".")
    if start < 0:
        plain = [found.start() for found in _PLAIN.finditer(encoded)]
        if not plain:
            return encoded
        start = plain[-1]
    octets = encoded[start].encode("utf-8")
    return encoded[:start] + "".join(f"%{octet:02X}" for octet in octets) + encoded[start + 1 :]


@lru_cache(maxsize=65536)
def _encode_path(path: str) -> str:
    return "/".join(_encode_segment(segment) for segment in path.split("/"))


class Identities:
    """Maps ids and paths of one vault to IRIs and back.

    base: the vault's base IRI; ends in `/` or `#`.
    attachments: vault paths of files that are no notes; a note id equal to one of them gets its
        last dot encoded, so that the two stay apart.
    """

    def __init__(self, base: str = DEFAULT_BASE, attachments: Collection[str] = frozenset()) -> None:
        if not is_absolute_iri(base) or base[-1] not in "/#":
            raise InvalidId(f"{base!r} cannot be a base IRI.", "Use an absolute IRI that ends in / or #.")
        self.base = base
        self.attachments = attachments

    def entity(self, entity_id: str) -> NamedNode:
        """The IRI of an entity. Raises InvalidId for a lone surrogate."""
        entity_id = unicodedata.normalize("NFC", entity_id)
        try:
            encoded = _encode_path(entity_id)
        except UnicodeEncodeError as error:
            raise InvalidId(f"{entity_id!r} is not valid Unicode.", "Rename the file.") from error
        if entity_id.lower().endswith(NOTE_SUFFIX) or entity_id in self.attachments:
            encoded = _apart(encoded)
        return NamedNode(self.base + encoded)

    def document(self, path: str) -> NamedNode:
        """The IRI of a file: its named graph, and the node of an attachment."""
        try:
            return NamedNode(self.base + _encode_path(unicodedata.normalize("NFC", path)))
        except UnicodeEncodeError as error:
            raise InvalidId(f"{path!r} is not valid Unicode.", "Rename the file.") from error

    def id_of(self, iri: str) -> str | None:
        """The id of the vault entity that `iri` names, or None for any other IRI."""
        path = self._decoded(iri)
        if path is None:
            return None
        raw = iri[len(self.base) :]
        if raw.lower().endswith(NOTE_SUFFIX):  # an unencoded dot: the document, not the entity
            return None
        return path

    def path_of(self, iri: str) -> str | None:
        """The vault path of the file whose document IRI is `iri`, or None for any other IRI."""
        path = self._decoded(iri)
        return path if path is not None and self.document(path).value == iri else None

    def _decoded(self, iri: str) -> str | None:
        if not iri.startswith(self.base) or len(iri) == len(self.base):
            return None
        return unquote(iri[len(self.base) :], errors="replace")

    def parse_id(self, text: str) -> str:
        """The id that a person or an agent wrote: with or without `.md`, a leading `/`, `[[ ]]`,
        or as the entity's IRI. Exact, from the vault's root; nothing is looked up.

        Raises InvalidId for an empty id, an empty, `.` or `..` segment, a control character,
        a drive letter or a backslash path.
        """
        written = text.strip()
        if written.startswith("[[") and written.endswith("]]"):
            written = written[2:-2].split("|", 1)[0].split("#", 1)[0].strip()
        if written.startswith("<") and written.endswith(">"):
            written = written[1:-1]
        if written.startswith(self.base):
            found = self.id_of(written)
            if found is None:
                path = self.path_of(written)
                found = entity_id(path) if path else ""
            written = found
        else:
            written = entity_id(written.removeprefix("/"))
        written = unicodedata.normalize("NFC", written)
        if not written:
            raise InvalidId("The id is empty.", "Write a path such as people/bob.")
        if any(unicodedata.category(character) in ("Cc", "Cs") for character in written):
            raise InvalidId("The id holds a control character.", "Write a path such as people/bob.")
        if _DRIVE.match(written) or written.startswith(("/", "\\", "~")):
            raise InvalidId("An id is a path inside the vault.", "Write a path such as people/bob.")
        if any(segment in ("", ".", "..") for segment in re.split(r"[/\\]", written)):
            raise InvalidId(
                "An id cannot have empty, '.' or '..' segments.", "Write a path such as people/bob."
            )
        return written
