"""Which agents this user knows, and what each may do (design/agents.md, "Who may do what").

An agent proves its name with a token that a person issued, or only claims one. A name that is seen
for the first time may read and not write until a person allows it. A name that has a token cannot
be claimed without it.

The list lies in the user's configuration folder, for this user's eyes only, never in a vault: a
vault that came from elsewhere brings no rights. Of a token only the SHA-256 is kept; a slow hash is
for passwords that can be guessed, and a token is 256 random bits.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import threading
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Literal

from filelock import FileLock

from synapse.bridge import places
from synapse.engine.errors import NotFound, SynapseError, UsageError, WriteFailed
from synapse.engine.record import utc_now

Access = Literal["read", "write", "paused", "revoked"]
"""read: may not write yet. paused: a person stopped its writes for now. revoked: may not attach."""

UNNAMED = "unnamed agent"
"""Who attaches without a name."""

_LONGEST_NAME = 64
_SEEN_EVERY = timedelta(minutes=1)
"""How exact `last_seen` is; it is not worth a write for every call."""


class AgentRefused(SynapseError):
    """An agent that may not attach: an unknown or revoked token, a name that is not its own."""

    kind = "agent-refused"


class WriteNotAllowed(SynapseError):
    """An agent that may read and not write; a person can change that."""

    kind = "write-not-allowed"


@dataclass(frozen=True, slots=True)
class Identity:
    """Who an attached agent is. proven: by a token that a person issued; else the name is a claim."""

    name: str
    proven: bool
    access: Access


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """An agent in the list. first_seen, last_seen: UTC times, None where it never attached."""

    name: str
    access: Access
    has_token: bool
    first_seen: str | None
    last_seen: str | None


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    access: Access = "read"
    token: str | None = None
    """SHA-256 of its token, in hexadecimal digits."""
    first_seen: str | None = None
    last_seen: str | None = None


_Entries = dict[str, _Entry]
"""By folded name."""


class Registry:
    """The agents of this user. Safe for several threads and processes: it is read again when the
    file changed, and written under a lock.

    file: by default `agents.json` in the user's configuration folder. A file that cannot be
    understood is put aside and counts as empty, so that everybody has less rights, never more.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file or Path(places.configuration_folder()) / "agents.json"
        self._guard = threading.RLock()
        self._stamp: tuple[int, int, int] | None = None
        self._entries: _Entries = {}

    @property
    def file(self) -> Path:
        """Where the list lies."""
        return self._file

    # -- asked by the owner ------------------------------------------------------------------------

    def identify(self, claimed: str | None, token: str | None) -> Identity:
        """Who says hello. claimed: the name it gives; token: what it proves a name with.

        Writes a name down that is seen for the first time. Raises AgentRefused.
        """
        if token is not None:
            return self._proven(claimed, token)
        name = UNNAMED if claimed is None or not claimed.strip() else _agent_name(claimed)
        entry = self._read().get(_folded(name), _Entry(name))
        if entry.token is not None:
            raise AgentRefused(
                f"The name {entry.name} belongs to an agent with a token.",
                "Set SYNAPSE_AGENT_TOKEN in the host's configuration, or choose another name.",
            )
        self._refuse_revoked(entry)
        self._see(entry)
        return Identity(entry.name, False, entry.access)

    def _proven(self, claimed: str | None, token: str) -> Identity:
        digest = _digest(token)
        found = [e for e in self._read().values() if e.token and hmac.compare_digest(e.token, digest)]
        if not found:
            raise AgentRefused(
                "SYNAPSE_AGENT_TOKEN is no token that was issued here, or it was revoked.",
                "Issue one with `synapse agents add NAME`.",
            )
        entry = found[0]
        self._refuse_revoked(entry)
        self._see(entry)
        return Identity(entry.name, True, entry.access)

    def _refuse_revoked(self, entry: _Entry) -> None:
        if entry.access == "revoked":
            raise AgentRefused(f"The agent {entry.name} was revoked.", "Ask the person whose vault this is.")

    def access(self, name: str) -> Access:
        """What an agent may do now; `read` for one that is not known."""
        entry = self._read().get(_folded(name))
        return "read" if entry is None else entry.access

    def known(self) -> tuple[KnownAgent, ...]:
        """All agents, by name."""
        entries = sorted(self._read().values(), key=lambda entry: _folded(entry.name))
        return tuple(
            KnownAgent(e.name, e.access, e.token is not None, e.first_seen, e.last_seen) for e in entries
        )

    # -- acts of a person --------------------------------------------------------------------------

    def add(self, name: str) -> str:
        """Issue a token to an agent, a new one where it has one; returns it, this once.

        What it may do stays as it is; a revoked agent may read again. Raises UsageError for an
        impossible name, WriteFailed.
        """
        checked = _agent_name(name, UsageError)
        token = f"syn_{secrets.token_urlsafe(32)}"

        def change(entry: _Entry) -> _Entry:
            access: Access = "read" if entry.access == "revoked" else entry.access
            return replace(entry, token=_digest(token), access=access)

        self._change(checked, change, may_be_new=True)
        return token

    def allow(self, name: str) -> None:
        """Let an agent write, also one that was paused or revoked. Raises NotFound, WriteFailed."""
        self._change(name, lambda entry: replace(entry, access="write"))

    def pause(self, name: str) -> None:
        """Stop an agent's writes until `resume`. Raises NotFound, UsageError, WriteFailed."""
        self._change(name, lambda entry: _moved(entry, "write", "paused", "may not write anyway"))

    def resume(self, name: str) -> None:
        """Let an agent that was paused write again. Raises NotFound, UsageError, WriteFailed."""
        self._change(name, lambda entry: _moved(entry, "paused", "write", "is not paused"))

    def revoke(self, name: str) -> None:
        """Let an agent do nothing any more; its token is void for good. Raises NotFound, WriteFailed."""

        # The digest stays, so that nobody can claim the bare name instead.
        self._change(name, lambda entry: replace(entry, access="revoked"))

    def _see(self, entry: _Entry) -> None:
        """Note that an agent attached. A disk that refuses costs only the memory of it."""
        now = datetime.now(UTC)
        last = entry.last_seen and datetime.fromisoformat(entry.last_seen)
        if last and now - last < _SEEN_EVERY:
            return
        time = utc_now()

        def seen(found: _Entry) -> _Entry:
            return replace(found, first_seen=found.first_seen or time, last_seen=time)

        with suppress(WriteFailed):
            self._change(entry.name, seen, may_be_new=True)

    # -- the file ----------------------------------------------------------------------------------

    def _change(self, name: str, change: Callable[[_Entry], _Entry], *, may_be_new: bool = False) -> None:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._guard, FileLock(f"{self._file}.lock", mode=0o600):
                entries = dict(self._load())  # raises for what cannot be read: nothing is overwritten
                entry = entries.get(_folded(name))
                if entry is None and not may_be_new:
                    known = ", ".join(one.name for one in self.known()) or "none yet"
                    raise NotFound(f"There is no agent {name!r}.", f"Known agents: {known}.")
                entries[_folded(name)] = change(entry or _Entry(name))
                self._write(entries)
        except OSError as error:
            raise WriteFailed(
                f"The list of agents cannot be written: {error.strerror or error}.",
                "Free space or check the permissions, then try again.",
                path=str(self._file),
            ) from error

    def _write(self, entries: _Entries) -> None:
        content = {"agents": [asdict(entry) for entry in entries.values()]}
        temporary = self._file.with_name(f"{self._file.name}.{os.getpid()}.new")
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(content, file, ensure_ascii=False, indent=2)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, self._file)
        self._stamp, self._entries = self._now(), entries

    def _now(self) -> tuple[int, int, int] | None:
        try:
            status = self._file.stat()
        except FileNotFoundError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _read(self) -> _Entries:
        """The entries; none while the file cannot be read, for nobody has rights that are not there."""
        try:
            return self._load()
        except OSError:
            return {}

    def _load(self) -> _Entries:
        """The entries, read again where the file changed. Raises OSError."""
        with self._guard:
            stamp = self._now()
            if stamp is None or stamp != self._stamp:
                try:
                    self._entries = {} if stamp is None else _entries(self._file.read_bytes())
                except ValueError:
                    os.replace(self._file, self._file.with_name(f"{self._file.name}.unreadable"))
                    self._entries, stamp = {}, None
                self._stamp = stamp
            return self._entries


def _entries(content: bytes) -> _Entries:
    """Raises ValueError for what no registry wrote."""
    read = json.loads(content)
    listed = read.get("agents") if isinstance(read, dict) else None
    if not isinstance(listed, list):
        raise ValueError("no list of agents")
    found: _Entries = {}
    for item in listed:
        try:
            entry = _Entry(**item)
        except TypeError as error:
            raise ValueError("an entry is not one of ours") from error
        texts = (entry.token, entry.first_seen, entry.last_seen)
        if (
            not isinstance(entry.name, str)
            or entry.access not in ("read", "write", "paused", "revoked")
            or not all(text is None or isinstance(text, str) for text in texts)
        ):
            raise ValueError("an entry is not one of ours")
        for time in texts[1:]:
            if time is not None and datetime.fromisoformat(time).tzinfo is None:
                raise ValueError("a time has no zone")
        found[_folded(entry.name)] = entry
    return found


def _moved(entry: _Entry, before: Access, after: Access, otherwise: str) -> _Entry:
    if entry.access not in (before, after):
        raise UsageError(f"The agent {entry.name} {otherwise}.", "See `synapse agents list`.")
    return replace(entry, access=after)


def _agent_name(text: str, error: type[SynapseError] = AgentRefused) -> str:
    name = unicodedata.normalize("NFC", " ".join(text.split()))
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise error(
            f"An agent's name has 1 to {_LONGEST_NAME} characters, none of them a control character.",
            "Choose a name such as claude-desktop.",
        )
    return name


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", " ".join(name.split())).casefold()


def _digest(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
