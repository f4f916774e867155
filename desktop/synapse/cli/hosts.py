"""Where a command runs: in the process that owns the vault, or here, where nobody owns it.

Both kinds of host take the same calls and give the same results, so that whoever prints them does
not know which it was. Nothing of the engine but the table is imported before a vault is opened here.
"""

from __future__ import annotations

import io
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from synapse.bridge import discovery
from synapse.bridge.calling import CallFailed, OpsConnection, OwnerGone, TooLong
from synapse.bridge.dialling import Refused
from synapse.engine import errors
from synapse.engine.operating import Values
from synapse.engine.operations import Operation, carry_out
from synapse.engine.questions.decoding import Undecodable, from_json
from synapse.engine.questions.results import Entity, Value
from synapse.engine.questions.unnamed import describe_unnamed
from synapse.engine.wire import from_wire, to_arguments

if TYPE_CHECKING:
    from collections.abc import Callable

    from synapse.engine import Engine

    Progress = Callable[[int, int], None]

Term = NamedNode | BlankNode | Literal | Triple

PATIENCE = 10.0
"""Seconds to wait for a vault that another process holds and does not serve: an owner that is just
starting, or another command."""
_PAUSE = 0.05
_AT_ONCE = 2000
"""Terms that are described in one call; names are far shorter than a call may be long."""


class Host(ABC):
    """Who carries operations out; a context that lets go of the vault at its end."""

    @property
    @abstractmethod
    def vault(self) -> str:
        """The vault's path."""

    @property
    @abstractmethod
    def warnings(self) -> tuple[str, ...]:
        """What opening the vault found amiss, for a person."""

    @abstractmethod
    def call(self, operation: Operation, values: Values, progress: Progress | None = None) -> object:
        """Carry an operation out and return its result. values: of its arguments, the defaults included.

        Raises SynapseError. KeyboardInterrupt passes through, with what a person should know of it.
        """

    @abstractmethod
    def describe(self, terms: Iterable[Term | None]) -> list[Entity | Value | None]:
        """Terms of a query's answer with labels; None stays None."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the vault. May be called twice."""

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class LocalHost(Host):
    """The vault opened in this process; `engine` is its engine."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @property
    def vault(self) -> str:
        return str(self.engine.vault)

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.engine.warnings

    def call(self, operation: Operation, values: Values, progress: Progress | None = None) -> object:
        own = {argument.name for argument in operation.arguments if argument.local}
        given = {name: value for name, value in values.items() if name not in own}
        return carry_out(self.engine, operation, given, progress)

    def describe(self, terms: Iterable[Term | None]) -> list[Entity | Value | None]:
        return self.engine.describe(terms)

    def close(self) -> None:
        self.engine.close()


class RemoteHost(Host):
    """The vault's owner, asked over its socket."""

    def __init__(self, connection: OpsConnection) -> None:
        self._connection = connection

    @property
    def vault(self) -> str:
        return self._connection.vault

    @property
    def warnings(self) -> tuple[str, ...]:
        return self._connection.warnings

    def call(self, operation: Operation, values: Values, progress: Progress | None = None) -> object:
        content = io.BytesIO()
        try:
            told = self._call(
                operation.name,
                to_arguments(operation, values),
                progress,
                lambda text: content.write(text.encode()),
            )
        except KeyboardInterrupt:
            self.close()  # which cancels it
            if not operation.writes:
                raise
            raise KeyboardInterrupt(
                f"stopped waiting for {self._name}, which may still do what was asked."
            ) from None
        except OwnerGone as error:
            what = "It may or may not have been done: look first." if operation.writes else "Ask again."
            raise self._gone(what) from error
        if operation.result is bytes:
            return content.getvalue()
        try:
            return from_wire(operation, told)
        except Undecodable as error:
            raise self._mismatch() from error

    def describe(self, terms: Iterable[Term | None]) -> list[Entity | Value | None]:
        given = list(terms)
        named = list(dict.fromkeys(term for term in given if isinstance(term, NamedNode)))
        found: dict[NamedNode, Entity | Value] = {}
        try:
            for start in range(0, len(named), _AT_ONCE):
                asked = named[start : start + _AT_ONCE]
                told = self._call("describe", {"terms": [str(term) for term in asked]})
                found |= zip(asked, from_json(tuple[Entity | Value, ...], told), strict=True)
        except OwnerGone as error:
            raise self._gone("Ask again.") from error
        except ValueError as error:
            raise self._mismatch() from error
        return [
            None if term is None else found[term] if isinstance(term, NamedNode) else describe_unnamed(term)
            for term in given
        ]

    def close(self) -> None:
        self._connection.close()

    def _call(
        self,
        name: str,
        arguments: dict[str, object],
        progress: Progress | None = None,
        part: Callable[[str], object] | None = None,
    ) -> object:
        try:
            return self._connection.call(name, arguments, progress, part)
        except TooLong as error:
            raise errors.UsageError(
                f"This is more than {self._name} takes at once.",
                "Give less at once, or close the vault there first.",
            ) from error
        except CallFailed as failed:
            told = errors.error_from_json(failed.error)
            if told.kind == errors.UsageError.kind and self._connection.version != _own_version():
                # The likeliest reason: it does not know the command or an argument yet.
                told.hint = f"{told.hint} {self._versions}".strip()
            raise told from failed

    @property
    def _name(self) -> str:
        what = "the window" if self._connection.role == "window" else "the server"
        return f"{what} that has the vault open (process {self._connection.pid})"

    def _gone(self, hint: str) -> errors.OwnerGone:
        name = self._name
        return errors.OwnerGone(f"{name[:1].upper()}{name[1:]} ended before it answered.", hint)

    @property
    def _versions(self) -> str:
        return f"The vault is open in Synapse {self._connection.version}, and this is {_own_version()}."

    def _mismatch(self) -> errors.VersionMismatch:
        name = self._name
        return errors.VersionMismatch(
            f"The answer of {name} cannot be read. {self._versions}",
            "End it there and use one version for both.",
        )


def _own_version() -> str:
    from synapse.agents.version import program_version

    return program_version()


def open_host(vault: str | Path) -> Host:
    """The owner of a vault where there is one, else the vault itself, opened here.

    A vault that somebody holds without serving it is waited for, up to `PATIENCE` seconds. Raises
    what `open_vault` raises, and VaultLocked where the owner does not let this process in.
    """
    folder = Path(vault).expanduser()
    deadline = time.monotonic() + PATIENCE
    while True:
        refusal: errors.SynapseError
        try:
            found = _dialled(folder)
            if found is not None:
                return found
            from synapse.engine import open_vault

            return LocalHost(open_vault(folder))
        except Refused as error:
            # An owner that is ending, or one that took the place of the one in the file.
            refusal = errors.VaultLocked(str(error), "Try again.")
        except errors.VaultLocked as error:
            refusal = error
        if time.monotonic() >= deadline:
            raise refusal
        time.sleep(_PAUSE)


def _dialled(folder: Path) -> RemoteHost | None:
    """The owner that is written down, if it answers. Raises Refused."""
    owner = discovery.read(folder)
    if owner is None or not discovery.may_live(owner):
        return None
    try:
        return RemoteHost(OpsConnection(owner))
    except OSError:
        return None  # stale: whoever owns the vault next replaces it
