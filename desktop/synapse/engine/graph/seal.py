"""Knowing at opening whether the database was damaged since it was closed.

RocksDB notices damage when it reads a block, and Oxigraph 0.5 then never ends an ORDER BY, an
aggregate or an ASK over it, taking ever more memory [tried]. Its tables are never changed once they
are written, so at each closing the digests of its files are kept, and at opening each file whose
size or time differs is compared with its own.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Final

from synapse.engine.errors import StoreCorrupt

_NAME: Final = "seal.json"
_TABLES: Final = "*.sst"
_GROWING: Final = ("MANIFEST-*", "*.log")
"""Files that change while the database is open; without their ends it would open in a former state."""


@dataclass(frozen=True, slots=True)
class _File:
    """A file: bytes, modification time in nanoseconds, hexadecimal digest of its content."""

    size: int
    mtime_ns: int
    digest: str


@dataclass(frozen=True, slots=True)
class _Seal:
    """What the folder held when the database was closed.

    opening: RocksDB's name for its last opening, which each new one changes. From then on tables
    come and go, and only those that are still there can be compared.
    """

    opening: str = ""
    files: dict[str, _File] = field(default_factory=dict)


def seal(folder: Path) -> None:
    """Writes down what the files hold. The database must be closed. Raises OSError."""
    known = _read(folder).files
    files: dict[str, _File] = {}
    for path in sorted(path for pattern in (_TABLES, *_GROWING) for path in folder.glob(pattern)):
        before = known.get(path.name)
        files[path.name] = before if before and _is_untouched(path, before) else _file(path)
    new = folder / f"{_NAME}.new"
    new.write_text(json.dumps(asdict(_Seal(_opening(folder), files))), "utf-8")
    new.replace(folder / _NAME)


def check_seal(folder: Path) -> None:
    """Raises StoreCorrupt if a sealed file is not what it was, or gone though nothing was opened."""
    sealed = _read(folder)
    unopened = sealed.opening == _opening(folder)
    for name, file in sealed.files.items():
        path = folder / name
        if not unopened and not path.match(_TABLES):
            continue
        try:
            damaged = not _is_untouched(path, file) and _file(path).digest != file.digest
        except FileNotFoundError:
            damaged = unopened
        if damaged:
            raise StoreCorrupt(
                f"The store's file {name} is damaged or gone.", "It is rebuilt from the vault."
            )


def _opening(folder: Path) -> str:
    """The text of RocksDB's file CURRENT: the manifest that the last opening began."""
    try:
        return (folder / "CURRENT").read_text("utf-8", "replace")
    except OSError:
        return ""


def _is_untouched(path: Path, file: _File) -> bool:
    status = path.stat()
    return (status.st_size, status.st_mtime_ns) == (file.size, file.mtime_ns)


def _file(path: Path) -> _File:
    status = path.stat()
    digest = blake2b(digest_size=16)
    with path.open("rb") as opened:
        while chunk := opened.read(1 << 20):
            digest.update(chunk)
    return _File(status.st_size, status.st_mtime_ns, digest.hexdigest())


def _read(folder: Path) -> _Seal:
    """The last seal; an empty one where there is none that can be read."""
    try:
        written = json.loads((folder / _NAME).read_text("utf-8"))
        files = {name: _File(**file) for name, file in written["files"].items()}
        return _Seal(written["opening"], files)
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        return _Seal()
