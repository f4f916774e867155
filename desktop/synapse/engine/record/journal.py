"""The journal: every write that is no edit of a file, one append-only file per device.

`VAULT/.synapse/journal/<device>.jsonl`, so that two synced machines never write one file. An
event that `append` returned survives a crash. Nothing in a journal is a reason not to open it:
what cannot be read becomes a warning and stays where it is.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from synapse.engine.errors import InvalidFact, UsageError, WriteFailed
from synapse.engine.notes.atomic import write_all
from synapse.engine.record.events import KINDS, Agent, Event, Identifiers, parse_event, utc_now
from synapse.engine.record.facts import check_data

SUFFIX: Final = ".jsonl"
PARTIAL_SUFFIX: Final = ".partial"
_DEVICE = re.compile(r"[a-z0-9][a-z0-9-]{3,63}")


@dataclass(frozen=True, slots=True)
class JournalWarning:
    """A line that cannot be read. line counts from 1; 0 is the file as a whole."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class Reading:
    """What journals hold.

    events: each once, in their order. positions: file name -> bytes read, up to the last whole line.
    """

    events: tuple[Event, ...]
    warnings: tuple[JournalWarning, ...]
    positions: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Appended:
    """An event on disk: in `file` from byte `position` on, which `rollback` takes; it ends at `end`."""

    event: Event
    file: str
    position: int
    end: int

    @property
    def positions(self) -> dict[str, int]:
        """What the graph stores as consumed once it has taken the event in."""
        return {self.file: self.end}


def device_id(data_folder: Path) -> str:
    """This machine's id for this user, made at first use. Raises WriteFailed."""
    path = data_folder / "device"
    try:
        found = path.read_text("utf-8").strip()
        if _DEVICE.fullmatch(found):
            return found
    except (FileNotFoundError, UnicodeDecodeError):
        pass  # made below; what is not an id is replaced
    except OSError as error:
        raise _failed("the device's id", path, error) from error
    made = secrets.token_hex(8)
    temporary = path.with_name(f"device.{made}")
    try:
        data_folder.mkdir(parents=True, exist_ok=True)
        temporary.write_text(made + "\n", "utf-8")
        os.replace(temporary, path)
    except OSError as error:
        raise _failed("the device's id", path, error) from error
    finally:
        temporary.unlink(missing_ok=True)
    return path.read_text("utf-8").strip()  # of two processes that made one at once, the same


class Journal:
    """The journals in one folder, of which this device writes one. Safe from any thread.

    Nothing is created before the first event is appended.
    """

    def __init__(self, folder: Path, device: str, clock: Callable[[], str] = utc_now) -> None:
        if not _DEVICE.fullmatch(device):
            raise UsageError(
                f"{device!r} cannot name a device.", "Use lower-case letters, digits and hyphens."
            )
        self.folder = folder
        self.device = device
        self.name = device + SUFFIX
        self._clock = clock
        self._ids = Identifiers()
        self._lock = threading.RLock()
        self._tail: _Tail | None = None

    # -- writing --------------------------------------------------------------------------------

    def append(self, kind: str, who: Agent, why: str = "", data: Mapping[str, Any] | None = None) -> Appended:
        """Writes one event and makes sure that it is on disk.

        Raises InvalidFact where the data is not of the kind's shape, WriteFailed when the disk
        refuses; then the file is as before.
        """
        data = data or {}
        if kind not in KINDS:
            raise InvalidFact(f"There is no kind of event called {kind!r}.")
        if not who.name.strip():
            raise InvalidFact("An event needs the name of who did it.")
        check_data(kind, data)
        with self._lock:
            draft = Event("", self.device, 0, self._clock(), kind, who, why, data)
            draft.line()  # refuses what cannot be written before anything is created
            try:
                return self._append(draft)
            except OSError as error:
                raise _failed("the journal", self.folder / self.name, error) from error

    def rollback(self, position: int) -> None:
        """Cuts this device's file back to `position` bytes; needs no space on the disk.

        Raises WriteFailed where even that fails: then the event stays and is applied at the next start.
        """
        with self._lock:
            self._tail = None
            try:
                descriptor = os.open(self.folder / self.name, os.O_RDWR | getattr(os, "O_BINARY", 0))
                try:
                    if os.fstat(descriptor).st_size < position:
                        raise OSError(errno.EINVAL, "the file is shorter than it was")
                    _cut(descriptor, position)
                finally:
                    os.close(descriptor)
            except OSError as error:
                raise _failed("the journal", self.folder / self.name, error) from error

    def _append(self, draft: Event) -> Appended:
        path = self.folder / self.name
        created = not path.exists()
        if created:
            self.folder.mkdir(parents=True, exist_ok=True)
        flags = (
            os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
        )
        descriptor = os.open(path, flags, 0o666)
        try:
            tail = self._tail
            if tail is None or tail.size != os.fstat(descriptor).st_size:
                tail = self._read_tail(descriptor, path)
            self._tail = None
            # A clock that was set back must not put an event before its predecessor.
            time = max(draft.time, tail.time)
            event = replace(draft, id=self._ids.new(time), sequence=tail.sequence + 1, time=time)
            line = (b"" if tail.ended else b"\n") + event.line()
            try:
                write_all(descriptor, line)
                os.fsync(descriptor)
                if created:
                    _sync_folders(self.folder)
            except OSError:
                _cut(descriptor, tail.size)
                raise
            end = tail.size + len(line)
            self._tail = _Tail(end, event.sequence, event.time, True)
            return Appended(event, self.name, tail.size, end)
        finally:
            os.close(descriptor)

    def _read_tail(self, descriptor: int, path: Path) -> _Tail:
        """Where this device's file ends; a half-written last line is moved to a file beside it."""
        content = _read_from(descriptor)
        lines = _Lines(path.name, content)
        if lines.half:
            with open(path.with_name(path.name + PARTIAL_SUFFIX), "ab") as side:
                side.write(content[lines.position :] + b"\n")
                side.flush()
                os.fsync(side.fileno())
            _cut(descriptor, lines.position)
        own = [event for event in lines.events if event.device == self.device]
        return _Tail(
            lines.position,
            max((event.sequence for event in own), default=0),
            max((event.time for event in own), default=""),
            not content[: lines.position] or content[: lines.position].endswith(b"\n"),
        )

    # -- reading --------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """Bytes of this device's file as it is now; 0 where there is none or it cannot be looked at."""
        try:
            return (self.folder / self.name).stat().st_size
        except OSError:
            return 0

    def read(self, after: Mapping[str, int] | None = None) -> Reading:
        """Everything in every `*.jsonl` of the folder, conflict copies of sync tools too.

        after: positions of an earlier reading; then only what came since, and the whole of a file
        that is not the one read then, because it became shorter or its lines moved.
        """
        events: list[Event] = []
        warnings: list[JournalWarning] = []
        positions: dict[str, int] = {}
        for path in self._files(warnings):
            try:
                with self._lock:  # a line that is just being written is not half-written
                    content = path.read_bytes()
            except OSError as error:
                reason = error.strerror or str(error)
                warnings.append(JournalWarning(path.name, 0, f"the file cannot be read: {reason}"))
                continue
            begin = (after or {}).get(path.name, 0)
            if begin > len(content) or (
                begin and content[begin - 1 : begin] != b"\n" and begin < len(content)
            ):
                begin = 0
            lines = _Lines(path.name, content, begin)
            events += lines.events
            warnings += lines.warnings
            positions[path.name] = lines.position
        return Reading(in_order(events), tuple(warnings), positions)

    def read_all(self) -> tuple[Event, ...]:
        """Every event, each once, in the order that holds on every machine."""
        return self.read().events

    def positions(self) -> dict[str, int]:
        """File name -> bytes up to the last whole line."""
        return dict(self.read().positions)

    def _files(self, warnings: list[JournalWarning]) -> list[Path]:
        try:
            found = sorted(path for path in self.folder.iterdir() if path.name.endswith(SUFFIX))
        except FileNotFoundError:
            return []
        except OSError as error:
            warnings.append(JournalWarning(self.folder.name, 0, f"it cannot be listed: {error.strerror}"))
            return []
        files = []
        for path in found:
            try:
                regular = stat.S_ISREG(path.lstat().st_mode)
            except OSError:
                continue  # gone since the folder was listed
            if regular:
                files.append(path)
            else:
                warnings.append(JournalWarning(path.name, 0, "it is not a regular file and is not read"))
        return files


def in_order(events: Iterable[Event]) -> tuple[Event, ...]:
    """Each event once, ordered by (time, device, sequence); the same for any order they come in."""
    found: dict[str, Event] = {}
    for event in events:
        other = found.get(event.id)
        # Two lines with one id differ only where somebody edited one: the choice must not
        # depend on which file was read first.
        if other is None or (event != other and _rank(event) < _rank(other)):
            found[event.id] = event
    return tuple(sorted(found.values(), key=lambda event: event.order))


def _rank(event: Event) -> tuple[tuple[str, str, int, str], bytes]:
    return event.order, event.line()


@dataclass(frozen=True, slots=True)
class _Tail:
    """The end of this device's file. ended: whether its last line has its line ending."""

    size: int
    sequence: int
    time: str
    ended: bool


class _Lines:
    """The events in a file's content from byte `begin` on."""

    def __init__(self, file: str, content: bytes, begin: int = 0) -> None:
        self.events: list[Event] = []
        self.warnings: list[JournalWarning] = []
        self.half = False
        number = content.count(b"\n", 0, begin)
        self.position = begin
        while self.position < len(content):
            number += 1
            end = content.find(b"\n", self.position)
            line = content[self.position : end if end >= 0 else len(content)]
            try:
                if line.strip():
                    self.events.append(parse_event(line))
            except ValueError as error:
                if end < 0:
                    self.half = True
                    self.warnings.append(JournalWarning(file, number, "the last line is half-written"))
                    return
                self.warnings.append(JournalWarning(file, number, f"the line cannot be read: {error}"))
            self.position = end + 1 if end >= 0 else len(content)


def _read_from(descriptor: int) -> bytes:
    os.lseek(descriptor, 0, os.SEEK_SET)
    with os.fdopen(os.dup(descriptor), "rb") as file:
        return file.read()


def _cut(descriptor: int, size: int) -> None:
    os.ftruncate(descriptor, size)
    os.fsync(descriptor)


def _sync_folders(folder: Path) -> None:
    """Makes new folders durable: the journal's, `.synapse` and the vault's entry for it."""
    if os.name != "posix":
        return
    for place in (folder, folder.parent, folder.parent.parent):
        descriptor = os.open(place, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise
        finally:
            os.close(descriptor)


def _failed(what: str, path: Path, error: OSError) -> WriteFailed:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    hint = "Free some space and try again." if full else "Check the folder's permissions and the disk."
    return WriteFailed(f"{what} could not be written: {error.strerror or error}.", hint, path=str(path))
