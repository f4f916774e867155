"""A vault's files: which there are, their bytes, and how a change of content is recognised."""

from __future__ import annotations

import errno
import os
import re
import stat
import time
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Literal

from synapse.engine.errors import FileUnreadable, VaultUnavailable
from synapse.engine.notes.atomic import FileStamp, atomic_write, is_temporary
from synapse.engine.notes.backlinks import generated_spans
from synapse.engine.notes.diagnostics import Diagnostic

__all__ = [
    "FileEntry",
    "FileStamp",
    "Ignore",
    "Scan",
    "atomic_write",
    "content_hash",
    "file_kind",
    "look",
    "read_bytes",
    "remove_leftovers",
    "scan",
]

FileKind = Literal["note", "rdf", "attachment"]
NOTE_SUFFIX = ".md"
RDF_SUFFIXES = (".ttl", ".nt", ".nq", ".trig", ".rdf", ".owl", ".jsonld")
LEFTOVER_AGE = 3600.0
"""Seconds after which a temporary file belongs to no write that is still going on."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file. path: relative to the vault, with `/`, spelled as on disk. size in bytes."""

    path: str
    size: int
    mtime_ns: int
    kind: FileKind


@dataclass(frozen=True, slots=True)
class Scan:
    """What a vault holds.

    files: ordered by path. diagnostics: what was left out and why. unread: files and folders
    that exist but could not be looked at; nothing known about them may be dropped for that.
    leftovers: temporary files of a write that was killed.
    """

    files: tuple[FileEntry, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    unread: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()


def file_kind(path: str) -> FileKind:
    """What a file is by its name."""
    name = path.lower()
    if name.endswith(NOTE_SUFFIX):
        return "note"
    return "rdf" if name.endswith(RDF_SUFFIXES) else "attachment"


class Ignore:
    """Ignore patterns of the settings: a path matches, or a folder above it does.

    `*` and `?` stay within a segment, `**` crosses them; a pattern without `/` (but at its
    end) matches a name anywhere, one with `/` from the vault's root; a final `/` means folders.
    """

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        written = [p for p in (pattern.strip() for pattern in patterns) if p.strip("/")]
        self._any = _union(p for p in written if not p.endswith("/"))
        self._folder = _union(written)

    def __call__(self, path: str, *, folder: bool = False) -> bool:
        """Whether a vault-relative path is ignored itself (its parents are asked for separately)."""
        pattern = self._folder if folder else self._any
        return pattern is not None and pattern.fullmatch(unicodedata.normalize("NFC", path)) is not None

    def covers(self, path: str) -> bool:
        """Whether a file is ignored itself or by a folder above it."""
        parts = path.split("/")
        return self(path) or any(self("/".join(parts[:n]), folder=True) for n in range(1, len(parts)))


def _union(patterns: Iterable[str]) -> re.Pattern[str] | None:
    regexes = [_regex(unicodedata.normalize("NFC", pattern)) for pattern in patterns]
    return re.compile("|".join(regexes)) if regexes else None


def _regex(pattern: str) -> str:
    anchored = "/" in pattern.rstrip("/")
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern.strip("/"))
    meaning = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    body = "".join(meaning.get(part, re.escape(part)) for part in parts)
    return body if anchored else f"(?:.*/)?{body}"


# --- scanning --------------------------------------------------------------------------------------


def scan(vault: Path, ignore: Ignore | Sequence[str] = ()) -> Scan:
    """Every file of the vault but those in dot folders, dot files and ignored ones.

    Folder links that lead back into the vault are not followed (their files are found under
    their own path), links that leave it neither. Raises VaultUnavailable where the vault's own
    folder is missing or cannot be listed.
    """
    root = os.path.realpath(vault)
    if not os.path.isdir(root):
        raise VaultUnavailable(f"There is no folder {vault}.", "Check the path, or mount the disk.")
    walk = _Walk(root, ignore if isinstance(ignore, Ignore) else Ignore(ignore))
    try:
        walk.folder("", os.scandir(root))
    except OSError as error:
        raise VaultUnavailable(
            f"The folder {vault} cannot be read: {error.strerror}.", "Check its permissions."
        ) from error
    files = walk.distinct()
    key = _diagnostic_order
    return Scan(
        tuple(files), tuple(sorted(walk.problems, key=key)), tuple(sorted(walk.unread)), tuple(walk.leftovers)
    )


def look(vault: Path, path: str, ignore: Ignore | Sequence[str] = ()) -> FileEntry | None:
    """One file by its vault-relative path, as `scan` would give it; None where it would not.

    A path that leads out of the vault, through a dot folder or to a folder gives None.
    """
    ignored = ignore if isinstance(ignore, Ignore) else Ignore(ignore)
    parts = path.split("/")
    if any(not part or part.startswith(".") for part in parts) or ignored.covers(path):
        return None
    root = os.path.realpath(vault)
    file = os.path.join(root, *parts)
    try:
        path.encode("utf-8")
        if os.path.realpath(os.path.dirname(file)) != os.path.dirname(file):
            return None  # below a link to a folder
        target = os.path.realpath(file)
        if not target.startswith(root.rstrip(os.sep) + os.sep):
            return None
        status = os.stat(target)
    except (OSError, UnicodeEncodeError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return FileEntry(path, status.st_size, status.st_mtime_ns, file_kind(path))


def _diagnostic_order(diagnostic: Diagnostic) -> tuple[str, str]:
    return diagnostic.path, diagnostic.code


@dataclass(slots=True)
class _Walk:
    root: str
    ignore: Ignore
    files: list[FileEntry] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)

    def folder(self, prefix: str, entries: Iterator[os.DirEntry[str]]) -> None:
        """Walks without recursion, so that no depth of folders is too much."""
        pending = [(prefix, entries)]
        while pending:
            prefix, entries = pending.pop()
            with entries:  # type: ignore[attr-defined]  # scandir's iterator is a context manager
                for entry in entries:
                    path = prefix + entry.name
                    if entry.name.startswith("."):
                        if is_temporary(entry.name):
                            self.leftovers.append(path)
                    elif (below := self._entry(path, entry)) is not None:
                        pending.append((path + "/", below))

    def _entry(self, path: str, entry: os.DirEntry[str]) -> Iterator[os.DirEntry[str]] | None:
        """Notes a file, or returns the entries of a folder to walk."""
        try:
            path.encode("utf-8")
        except UnicodeEncodeError:
            shown = os.fsencode(path).decode("utf-8", "backslashreplace")
            self._problem(shown, "name-not-utf8", "the file's name is not valid UTF-8.", "Rename it.")
            return None
        try:
            status = entry.stat()
            folder = stat.S_ISDIR(status.st_mode)
            if self.ignore(path, folder=folder):
                return None
            if entry.is_symlink() and not self._followed(path, entry, folder):
                return None
            if folder:
                return os.scandir(entry.path)
        except FileNotFoundError:
            if entry.is_symlink():
                self._problem(path, "broken-link", "the link points to nothing.", "Mend or delete it.")
            return None  # else deleted since the folder was listed
        except OSError as error:
            if error.errno == errno.ELOOP:
                self._problem(path, "symlink-loop", "the link leads back to itself.", "Delete it.")
                return None
            self.unread.append(path)
            reason = error.strerror or "unknown reason"
            self._problem(path, "unreadable", f"it cannot be read: {reason}.", "Check its permissions.")
            return None
        if not stat.S_ISREG(status.st_mode):
            self._problem(path, "not-a-file", "it is a device, pipe or socket.", "Move it out of the vault.")
            return None
        self.files.append(FileEntry(path, status.st_size, status.st_mtime_ns, file_kind(path)))
        return None

    def _followed(self, path: str, entry: os.DirEntry[str], folder: bool) -> bool:
        """Whether a symbolic link is one that counts: to a file in the vault."""
        target = os.path.realpath(entry.path)
        if target != self.root and not target.startswith(self.root.rstrip(os.sep) + os.sep):
            self._problem(
                path,
                "symlink-outside",
                "the link leaves the vault and is not followed.",
                "Add that folder with `synapse index VAULT --add PATH --as NAME`.",
            )
            return False
        if not folder:
            return True
        above = os.path.realpath(os.path.dirname(entry.path))
        if above == target or above.startswith(target.rstrip(os.sep) + os.sep):
            self._problem(
                path, "symlink-loop", "the link leads back to a folder it is in.", "Delete the link."
            )
        else:
            self._problem(
                path,
                "symlink-inside",
                "the link leads to another folder of the vault, whose files keep their own paths.",
                "",
                severity="info",
            )
        return False

    def distinct(self) -> list[FileEntry]:
        """By path; of files whose names differ only in Unicode normalisation, the NFC one."""
        kept: dict[str, FileEntry] = {}
        for entry in sorted(self.files, key=lambda file: file.path):
            name = unicodedata.normalize("NFC", entry.path)
            other = kept.get(name)
            if other is None:
                kept[name] = entry
                continue
            if entry.path == name:
                kept[name], entry = entry, other
            self._problem(
                entry.path,
                "name-twice",
                "another file has the same name in a different Unicode form; only that one is read.",
                "Rename one of the two.",
            )
        return sorted(kept.values(), key=lambda file: file.path)

    def _problem(
        self,
        path: str,
        code: str,
        message: str,
        hint: str,
        severity: Literal["error", "warning", "info"] = "warning",
    ) -> None:
        self.problems.append(
            Diagnostic(path=path, line=1, column=1, severity=severity, code=code, message=message, hint=hint)
        )


def remove_leftovers(vault: Path, leftovers: Iterable[str], older_than: float = LEFTOVER_AGE) -> int:
    """Deletes temporary files that killed writes left; returns how many. older_than: seconds."""
    removed = 0
    for path in leftovers:
        file = vault / path
        try:
            if is_temporary(file.name) and time.time() - file.lstat().st_mtime > older_than:
                file.unlink()
                removed += 1
        except OSError:
            continue  # gone already, or not ours to delete: it does no harm where it is
    return removed


# --- content ---------------------------------------------------------------------------------------


def read_bytes(path: Path) -> bytes:
    """The file's bytes. Raises FileUnreadable, also for what is no regular file."""
    try:
        # Not blocking: opening a pipe would wait for its writer for ever.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise FileUnreadable(f"{path.name} is not a regular file.", path=str(path))
            return file.read()
    except FileNotFoundError as error:
        raise FileUnreadable(
            f"{path.name} does not exist.", "Check the path, or index the vault.", path=str(path)
        ) from error
    except PermissionError as error:
        raise FileUnreadable(
            f"{path.name} may not be read.", "Check its permissions.", path=str(path)
        ) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise FileUnreadable(f"{path.name} cannot be read: {reason}.", path=str(path)) from error


def content_hash(data: bytes, version: str) -> str:
    """SHA-256 in hex of what a reader of this version would see (data-model, section 3).

    The generated section and white space at the ends of lines and of the file do not count.
    version: the reader's, so that a new reader reads every file again.
    """
    for section in reversed(generated_spans(data)):
        rest = data[section.end :]
        following = re.match(rb"[ \t]*(?:\r\n|\n|\r)?", rest)
        assert following is not None  # matches the empty string
        data = data[: section.start] + rest[following.end() :]
    lines = b"\n".join(line.rstrip() for line in data.split(b"\n")).rstrip()
    return sha256(f"{version}\0".encode() + lines).hexdigest()
