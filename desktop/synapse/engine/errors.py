"""Every error the engine raises on purpose.

SynapseError
├── UsageError            the call itself is wrong
│   ├── InvalidId         an id that cannot name an entity
│   ├── UnknownEntity     no entity has that id; `candidates` lists near ones
│   ├── InvalidQuery      SPARQL that does not parse (line and column)
│   ├── RefusedQuery      SPARQL that is not allowed: SERVICE, LOAD, updates
│   ├── InvalidFact       a fact that cannot be stated
│   ├── NotFound          a scenario or an assertion that is not there
│   ├── IdempotencyConflict  a key that was used for another call
│   ├── NotHolding        a fact that neither is stated nor follows
│   └── SettingsInvalid   a setting with a wrong value
├── ScenarioInvalid       a scenario package that cannot be read
├── RdfInvalid            an RDF file that does not parse (line and column)
├── RetractionRefused     no agent states the fact; says where to edit
├── QueryStopped          cancelled or out of time
├── VaultUnavailable      the folder is missing, unreadable or suddenly empty
├── VaultLocked           another process owns the vault's store
├── OwnerGone             the owner ended before it answered
├── VersionMismatch       the owner is of a version whose answers cannot be read
├── StoreCorrupt          the store on disk cannot be read
├── WriteFailed           the disk refused a write; nothing was changed
├── FileUnreadable        a file is missing, not allowed or not a regular file
├── FileChanged           a file is no longer the one that was read
├── SectionRefused        a note's backlinks section cannot be written safely
├── ProofBroken           the record of a derivation does not add up
└── InstallationIncomplete  files that come with Synapse are missing

Each has one message for a person, `hint` says what to do, and `path`, `line`
and `column` (both from 1, columns in code points) point at the place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping


class SynapseError(Exception):
    """The root of the tree; never raised itself."""

    kind = "error"

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        path: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.path = path
        self.line = line
        self.column = column

    def __str__(self) -> str:
        place = self.path or ""
        if self.line is not None:
            place += f":{self.line}" if place else f"line {self.line}"
            if self.column is not None:
                place += f":{self.column}" if self.path else f", column {self.column}"
        text = f"{place}: {self.message}" if place else self.message
        return f"{text} {self.hint}" if self.hint else text

    def as_json(self) -> dict[str, object]:
        """The `error` object that `--json` prints (design/cli.md)."""
        found: dict[str, object] = {"kind": self.kind, "message": self.message, "hint": self.hint}
        for name in ("path", "line", "column"):
            if (value := getattr(self, name)) is not None:
                found[name] = value
        return found


class UsageError(SynapseError):
    kind = "usage"


class InvalidId(UsageError):
    kind = "invalid-id"


class UnknownEntity(UsageError):
    """`candidates` holds the ids that are nearest to the one asked for."""

    kind = "unknown-entity"

    def __init__(self, message: str, hint: str = "", *, candidates: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint)
        self.candidates = candidates

    def as_json(self) -> dict[str, object]:
        """As every error's, and the near ids."""
        return {**super().as_json(), "candidates": list(self.candidates)}


class InvalidQuery(UsageError):
    kind = "invalid-query"


class RefusedQuery(UsageError):
    kind = "refused-query"


class InvalidFact(UsageError):
    kind = "invalid-fact"


class NotFound(UsageError):
    """Something else than an entity that was named and is not there: a scenario, an assertion."""

    kind = "not-found"


class ScenarioInvalid(SynapseError):
    kind = "scenario"


class IdempotencyConflict(UsageError):
    """The key of a call that was used before for something else."""

    kind = "conflict"


class NotHolding(UsageError):
    """A fact that was asked about and neither is stated nor follows."""

    kind = "not-holding"


class SettingsInvalid(UsageError):
    kind = "settings"


class RetractionRefused(SynapseError):
    kind = "retraction-refused"


class QueryStopped(SynapseError):
    kind = "stopped"


class VaultUnavailable(SynapseError):
    kind = "vault-unavailable"


class VaultLocked(SynapseError):
    kind = "vault-locked"


class OwnerGone(SynapseError):
    """Whether what was asked was done is not known."""

    kind = "owner-gone"


class VersionMismatch(SynapseError):
    kind = "version-mismatch"


class StoreCorrupt(SynapseError):
    kind = "store-corrupt"


class WriteFailed(SynapseError):
    kind = "write-failed"


class FileUnreadable(SynapseError):
    kind = "file-unreadable"


class FileChanged(SynapseError):
    kind = "file-changed"


class SectionRefused(SynapseError):
    kind = "section-refused"


class InstallationIncomplete(SynapseError):
    kind = "installation"


class ProofBroken(SynapseError):
    """The reasoner's own record does not add up; `synapse rebuild` makes it anew."""

    kind = "proof-broken"


class RdfInvalid(SynapseError):
    kind = "rdf-invalid"


def error_from_json(told: Mapping[str, object]) -> SynapseError:
    """The error that another process told with `as_json`, to be raised here.

    Of the class that has its kind, where that class is known here; else a SynapseError of that kind,
    so that a newer process's errors keep their words. What makes no sense is left out.
    """
    kind = _text(told.get("kind")) or SynapseError.kind
    message, hint = _text(told.get("message")), _text(told.get("hint"))
    message = message or "The other process failed and did not say why."
    known: type[SynapseError] = SynapseError
    for found in reversed(list(_classes(SynapseError))):  # of a kind's classes the one above the others
        if found.kind == kind:
            known = found
    if issubclass(known, UnknownEntity):
        listed = told.get("candidates")
        near = tuple(map(_text, listed)) if isinstance(listed, list) else ()
        error: SynapseError = known(message, hint, candidates=tuple(filter(None, near)))
    else:
        error = known(message, hint)
        error.kind = kind
    error.path = _text(told.get("path")) or None
    error.line, error.column = _number(told.get("line")), _number(told.get("column"))
    return error


def _classes(root: type[SynapseError]) -> Iterator[type[SynapseError]]:
    yield root
    for below in root.__subclasses__():
        yield from _classes(below)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int | None:
    return value if type(value) is int else None
