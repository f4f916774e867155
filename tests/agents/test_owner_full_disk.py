"""Case 19: a write that a full disk refuses is an error, has no effect, and the owner goes on."""

from __future__ import annotations

import errno
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="mounts a tmpfs")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """24 MB of memory as a disk."""
    place = tmp_path / "disk"
    place.mkdir()
    try:
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=24m", "synapse-test", str(place)], capture_output=True
        )
    except FileNotFoundError:
        pytest.skip("needs mount")
    if mounted.returncode:
        pytest.skip("mounting a tmpfs needs more rights than this user has")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(disk: Path) -> Path:
    ballast = disk / "ballast"
    with open(ballast, "ab", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError as error:
                assert error.errno == errno.ENOSPC
    return ballast


def known(line: Any) -> set[str]:
    told = line.ask("dossier", entity="a", limit=100_000)
    return {fact["object"]["label"] for fact in told["outgoing"] if fact["predicate"]["label"] == "knows"}


@pytest.mark.parametrize("on_disk", ["vault", "data"])
def test_a_write_on_a_full_disk_is_an_error_and_the_next_works_once_there_is_room(
    owners: Any, small: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch, on_disk: str
) -> None:
    if on_disk == "data":
        monkeypatch.setenv("XDG_DATA_HOME", str(small_disk / "data"))
    vault = small if on_disk == "data" else small_disk / "vault"
    if on_disk == "vault":
        small.rename(small.with_name("moved"))
        vault.mkdir()
        for note in small.with_name("moved").iterdir():
            (vault / note.name).write_bytes(note.read_bytes())
    process = owners.serve(vault)
    line = owners.ops(vault)

    def state(name: object) -> Any:
        fact = {"subject": "a", "predicate": "knows", "object": f"n{name}"}
        return line.answer(line.begin("assert", **fact, source="s", reason="r" * 400))

    assert "result" in state("first")
    ballast = fill(small_disk)
    acknowledged, refused = {"nfirst"}, ""
    for number in range(5000):
        answer = state(number)
        if "error" in answer:
            assert answer["error"]["kind"] == "write-failed", answer
            refused = f"n{number}"
            break
        acknowledged.add(f"n{number}")
    assert refused, "nothing filled the disk"
    assert len(line.ask("attached")) == 1
    ballast.unlink()
    assert "result" in state("after")
    acknowledged.add("nafter")
    assert known(line) == acknowledged
    process.kill()
    process.wait()
    owners.serve(vault)
    assert known(owners.ops(vault)) == acknowledged
