"""Calling an owner: the asking end of the `ops` protocol, one call at a time, blocking."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Callable, Mapping
from typing import Any

from synapse.bridge.dialling import MOST, dial
from synapse.bridge.discovery import Discovery

Progress = Callable[[int, int], object]
Part = Callable[[str], object]


class CallFailed(Exception):
    """The owner answered with an error: `error` is the object that says which."""

    def __init__(self, error: Mapping[str, object]) -> None:
        super().__init__(str(error.get("message") or "The call failed."))
        self.error = error


class OwnerGone(Exception):
    """The connection ended before the answer: whether what was asked was done is not known."""


class TooLong(Exception):
    """The request is longer than an owner takes; nothing was sent."""


class OpsConnection:
    """A connection to a vault's owner, open until `close`.

    vault: its path as the owner opened it. version, pid, role: of the owner. warnings: what opening
    the vault found amiss.
    """

    def __init__(self, owner: Discovery, timeout: float = 3.0) -> None:
        """Dial; timeout in seconds. Raises OSError where nobody answers, Refused where the owner says no."""
        self._socket, answer = dial(owner, "ops", timeout=timeout)
        self._lines = self._socket.makefile("rb", buffering=256 * 1024)
        self._last = 0
        said = answer.get("warnings")
        self.warnings = tuple(map(str, said)) if isinstance(said, list) else ()
        self.vault = str(answer.get("vault") or owner.vault)
        self.version = str(answer.get("version") or owner.version)
        self.role = str(answer.get("role") or owner.role)
        pid = answer.get("pid")
        self.pid = pid if type(pid) is int else owner.pid

    def call(
        self,
        op: str,
        args: Mapping[str, object],
        progress: Progress | None = None,
        part: Part | None = None,
    ) -> Any:
        """Ask and wait for the answer's `result`.

        progress: told what is done and how much there is in all. part: told each piece of a result
        that is a file's content. Raises CallFailed, OwnerGone and TooLong. Whoever is interrupted
        while it waits must `close`: the owner then cancels what can be cancelled.
        """
        self._last += 1
        self._send({"id": self._last, "op": op, "args": args})
        while True:
            answer = self._receive()
            if answer.get("id") != self._last:
                continue  # of a request that this one follows
            if isinstance(error := answer.get("error"), dict):
                raise CallFailed(error)
            if "result" in answer:
                return answer["result"]
            if progress is not None and isinstance(said := answer.get("progress"), dict):
                progress(int(said["done"]), int(said["total"]))
            if part is not None and isinstance(text := answer.get("part"), str):
                part(text)

    def close(self) -> None:
        """Hang up; a call under way is cancelled. May be called twice."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(OSError):
            self._lines.close()
        self._socket.close()

    def __enter__(self) -> OpsConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _send(self, request: Mapping[str, object]) -> None:
        line = json.dumps(request, ensure_ascii=False).encode() + b"\n"
        if len(line) > MOST:
            raise TooLong(f"The request is longer than the {MOST // 1024 // 1024} MiB that an owner takes.")
        try:
            self._socket.sendall(line)
        except OSError as error:
            raise OwnerGone("the owner hung up") from error

    def _receive(self) -> dict[str, Any]:
        try:
            line = self._lines.readline()
            answer = json.loads(line) if line.endswith(b"\n") else None
        except OSError as error:
            raise OwnerGone("the owner hung up") from error
        except (ValueError, RecursionError) as error:
            raise OwnerGone("the owner's answer makes no sense") from error
        if not isinstance(answer, dict):
            raise OwnerGone("the owner hung up")
        return answer
