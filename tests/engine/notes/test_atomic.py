"""After any failure a file is the old one or the new one, and nothing else lies about."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from synapse.engine.errors import FileChanged, SynapseError, WriteFailed
from synapse.engine.notes import atomic
from synapse.engine.notes.atomic import FileStamp, atomic_write, is_temporary

OLD, NEW = b"old \xc2\xa0 bytes\r\n", b"new bytes, and more of them\n"


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "note.md"
    path.write_bytes(OLD)
    return path


def only(path: Path) -> bool:
    return [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_the_file_is_replaced_and_its_stamp_returned(note: Path) -> None:
    stamp = atomic_write(note, NEW, OLD)
    assert note.read_bytes() == NEW
    assert stamp == FileStamp.of(note.stat())
    assert only(note)


def test_a_new_file_is_created_with_the_usual_mode(tmp_path: Path) -> None:
    path = tmp_path / "new.md"
    atomic_write(path, NEW, None)
    reference = tmp_path / "reference"
    reference.touch()
    assert path.read_bytes() == NEW
    assert path.stat().st_mode == reference.stat().st_mode


def test_a_file_that_is_no_longer_the_one_read_is_not_touched(note: Path) -> None:
    note.write_bytes(b"changed elsewhere")
    with pytest.raises(FileChanged, match="changed by another program"):
        atomic_write(note, NEW, OLD)
    assert note.read_bytes() == b"changed elsewhere"
    assert only(note)


def test_a_file_that_vanished_is_not_made_again(note: Path) -> None:
    note.unlink()
    with pytest.raises(FileChanged, match="is gone"):
        atomic_write(note, NEW, OLD)
    assert not list(note.parent.iterdir())


def test_an_existing_file_is_never_taken_for_a_new_one(note: Path) -> None:
    with pytest.raises(FileChanged, match="exists already"):
        atomic_write(note, NEW, None)
    assert note.read_bytes() == OLD


def test_a_file_that_changes_during_the_write_is_not_overwritten(
    note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = os.fsync

    def change_meanwhile(descriptor: int) -> None:
        note.write_bytes(b"changed meanwhile")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", change_meanwhile)
    with pytest.raises(FileChanged):
        atomic_write(note, NEW, OLD)
    assert note.read_bytes() == b"changed meanwhile"
    assert only(note)


def test_a_file_created_during_the_write_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "new.md"
    link = os.link

    def create_meanwhile(source: Path, target: Path) -> None:
        path.write_bytes(b"somebody's")
        link(source, target)

    monkeypatch.setattr(os, "link", create_meanwhile)
    with pytest.raises(FileChanged):
        atomic_write(path, NEW, None)
    assert path.read_bytes() == b"somebody's"
    assert only(path)


def test_mode_owner_attributes_and_link_are_kept(tmp_path: Path) -> None:
    real = tmp_path / "real" / "note.md"
    real.parent.mkdir()
    real.write_bytes(OLD)
    real.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(real, 12345, 23456)
    try:
        os.setxattr(real, "user.synapse.test", b"value")
        attributes = True
    except OSError:
        attributes = False  # tmpfs before Linux 6.6 has none
    link = tmp_path / "link.md"
    link.symlink_to("real/note.md")
    before = real.stat()
    atomic_write(link, NEW, OLD)
    after = real.stat()
    assert link.is_symlink() and os.readlink(link) == "real/note.md"
    assert real.read_bytes() == NEW
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    if attributes:
        assert os.getxattr(real, "user.synapse.test") == b"value"
    assert only(real)


def test_short_writes_are_continued(note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:3]))
    atomic_write(note, NEW, OLD)
    assert note.read_bytes() == NEW


@pytest.mark.parametrize("call", ["write", "fsync", "replace", "fchmod"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EACCES])
def test_any_failing_step_leaves_the_old_file_and_no_other(
    note: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(WriteFailed, match=r"note\.md could not be written"):
        atomic_write(note, NEW, OLD)
    assert note.read_bytes() == OLD
    assert only(note)


def test_a_write_that_takes_nothing_is_a_full_disk(note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "write", lambda *_: 0)
    with pytest.raises(WriteFailed, match="Free some space"):
        atomic_write(note, NEW, OLD)
    assert note.read_bytes() == OLD and only(note)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "synapse-test", str(folder)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting a tmpfs needs more rights than this user has")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_keeps_the_old_bytes(small_disk: Path) -> None:
    path = small_disk / "note.md"
    old = b"x" * 9000
    path.write_bytes(old)
    with pytest.raises(WriteFailed, match="Free some space"):
        atomic_write(path, b"y" * 200_000, old)
    assert path.read_bytes() == old
    assert only(path)
    atomic_write(path, b"y" * 9000, old)
    assert path.read_bytes() == b"y" * 9000


def test_a_folder_that_is_a_file_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WriteFailed, match="not a regular file"):
        atomic_write(tmp_path, NEW, OLD)


WRITER = """
import os, sys
from pathlib import Path
from synapse.engine.notes.atomic import atomic_write
path = Path(sys.argv[1])
contents = [b"a" * 300_000, b"b" * 200_000]
print("ready", flush=True)
turn = 0
while True:
    atomic_write(path, contents[1 - turn], contents[turn])
    turn = 1 - turn
"""


def test_killed_during_a_write_the_file_is_old_or_new(tmp_path: Path) -> None:
    path = tmp_path / "note.md"
    contents = {b"a" * 300_000, b"b" * 200_000}
    for attempt in range(8):
        path.write_bytes(b"a" * 300_000)
        with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            child.stdout.readline()
            time.sleep(0.005 + 0.003 * attempt)
            child.send_signal(signal.SIGKILL)
        assert path.read_bytes() in contents
        for entry in tmp_path.iterdir():
            assert entry == path or is_temporary(entry.name)
            if entry != path:
                entry.unlink()


@pytest.fixture
def as_ordinary_user(ordinary_user: list[str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a call of the module in a child to which permissions apply."""

    def run(call: str, *arguments: Path) -> subprocess.CompletedProcess[str]:
        program = f"""
import sys
from pathlib import Path
from synapse.engine.errors import SynapseError
from synapse.engine.notes.atomic import atomic_write
try:
    {call}
except SynapseError as error:
    print(type(error).__name__, error)
"""
        command = [*ordinary_user, sys.executable, "-c", program, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=True)

    return run


def test_without_permission_to_write_the_message_says_so(
    tmp_path: Path, as_ordinary_user: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    note = folder / "note.md"
    note.write_bytes(OLD)
    folder.chmod(0o555)
    answer = as_ordinary_user(f"atomic_write(Path(sys.argv[1]), b'new', {OLD!r})", note)
    folder.chmod(0o755)
    assert answer.stdout.startswith("WriteFailed") and "Allow writing in its folder" in answer.stdout
    note.chmod(0o444)
    answer = as_ordinary_user(f"atomic_write(Path(sys.argv[1]), b'new', {OLD!r})", note)
    assert "write-protected" in answer.stdout
    assert note.read_bytes() == OLD and only(note)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's file")
def test_a_file_whose_owner_could_not_be_kept_is_not_replaced(
    tmp_path: Path, as_ordinary_user: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    note = tmp_path / "note.md"
    note.write_bytes(OLD)
    note.chmod(0o666)
    os.chown(note, 12345, 23456)
    answer = as_ordinary_user(f"atomic_write(Path(sys.argv[1]), b'new', {OLD!r})", note)
    assert "owner" in answer.stdout
    assert note.read_bytes() == OLD and stat.S_IMODE(note.stat().st_mode) == 0o666 and only(note)


def test_every_error_is_one_of_ours(note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        atomic.tempfile, "mkstemp", lambda *_: (_ for _ in ()).throw(OSError(errno.EROFS, "x"))
    )
    with pytest.raises(SynapseError) as raised:
        atomic_write(note, NEW, OLD)
    assert raised.value.hint == "The disk is mounted read-only."
    assert raised.value.path == str(note)
