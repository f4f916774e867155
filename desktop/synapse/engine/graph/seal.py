"""Knowing at opening whether a table of the database was damaged since it was closed.

RocksDB notices damage when it reads a block, and Oxigraph 0.5 then never ends an ORDER BY, an
aggregate or an ASK over it, taking ever more memory [tried]. Its tables are never changed once they
are written, so at each closing their digests are kept, and at opening each table whose size or time
differs is compared with its own.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

from synapse.engine.errors import StoreCorrupt

_WHOLE: Final = "seal.json"
_GROWING: Final = ("MANIFEST-*", "*.log")
"""Files that change while the database is open; without their ends it would open in a former state."""
_BROKEN: Final = "seal.broken.json"
"""The seal of a database that was opened since, so that tables may have come and gone."""


@dataclass(frozen=True, slots=True)
class _Table:
    """A file: bytes, modification time in nanoseconds, hexadecimal digest of its content."""

    size: int
    mtime_ns: int
    digest: str


def seal(folder: Path) -> None:
    """Writes down what the tables hold. The database must be closed. Raises OSError."""
    known = _read(folder / _WHOLE) | _read(folder / _BROKEN)
    tables: dict[str, _Table] = {}
    for path in sorted(path for pattern in ("*.sst", *_GROWING) for path in folder.glob(pattern)):
        before = known.get(path.name)
        tables[path.name] = before if before and _is_untouched(path, before) else _table(path)
    new = folder / f"{_WHOLE}.new"
    new.write_text(json.dumps({name: asdict(table) for name, table in tables.items()}), "utf-8")
    new.replace(folder / _WHOLE)
    (folder / _BROKEN).unlink(missing_ok=True)


def break_seal(folder: Path) -> None:
    """To be called once the database is open: from now on tables come and go."""
    if (folder / _WHOLE).exists():
        (folder / _WHOLE).replace(folder / _BROKEN)


def check_seal(folder: Path) -> None:
    """Raises StoreCorrupt if a sealed table is not what it was, or gone though nothing was opened."""
    whole = _read(folder / _WHOLE)
    for name, sealed in (whole or _read(folder / _BROKEN)).items():
        path = folder / name
        if not whole and path.suffix != ".sst":
            continue
        try:
            damaged = not _is_untouched(path, sealed) and _table(path).digest != sealed.digest
        except FileNotFoundError:
            damaged = bool(whole)
        if damaged:
            raise StoreCorrupt(
                f"The store's file {name} is damaged or gone.", "It is rebuilt from the vault."
            )


def _is_untouched(path: Path, table: _Table) -> bool:
    status = path.stat()
    return (status.st_size, status.st_mtime_ns) == (table.size, table.mtime_ns)


def _table(path: Path) -> _Table:
    status = path.stat()
    with path.open("rb") as file:
        digest = blake2b(digest_size=16)
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return _Table(status.st_size, status.st_mtime_ns, digest.hexdigest())


def _read(path: Path) -> dict[str, _Table]:
    """A seal; empty where there is none or none that can be read."""
    try:
        written = json.loads(path.read_text("utf-8"))
        return {name: _Table(**table) for name, table in written.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
