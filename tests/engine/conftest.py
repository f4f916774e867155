"""A vault in a temporary folder, for tests that need the whole engine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from synapse.engine import Engine, open_vault

QUIET = 3600
"""Seconds by which files are made older, so that backlinks may be written at once."""


class Vault:
    """Files under `folder`; the engine's data lie beside it."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "vault"
        self.data = root / "data"
        self.folder.mkdir(parents=True)

    def write(self, path: str, text: str | bytes) -> None:
        """Write a file that has been quiet for an hour."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
        moment = time.time() - QUIET
        os.utime(file, (moment, moment))

    def touch(self, path: str, text: str | bytes) -> None:
        """Change a file so that its time moves too, whatever the clock's grain."""
        before = (self.folder / path).stat().st_mtime
        self.write(path, text)
        os.utime(self.folder / path, (before + 1, before + 1))

    def delete(self, path: str) -> None:
        (self.folder / path).unlink()

    def bytes(self) -> dict[str, bytes]:
        """Every file's content, by path."""
        return {
            file.relative_to(self.folder).as_posix(): file.read_bytes()
            for file in sorted(self.folder.rglob("*"))
            if file.is_file()
        }

    @contextmanager
    def open(self) -> Iterator[Engine]:
        """The engine, closed at the end."""
        engine = open_vault(self.folder, self.data)
        try:
            yield engine
        finally:
            engine.close()


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    """An empty vault."""
    return Vault(tmp_path)


@pytest.fixture
def make_vault(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Vault]:
    """Makes empty vaults, for tests that need several."""
    return lambda: Vault(tmp_path_factory.mktemp("vaults"))
