"""Replacing a file as a whole: after any failure it is the old one or the new one, never a mix.

The new content goes into a temporary file in the same folder, is synced, takes over
the old file's mode, owner and extended attributes, and replaces it by one rename
(POSIX rename(2)), after a last look whether the file is still the one that was read.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from synapse.engine.errors import FileChanged, WriteFailed

TEMPORARY_PREFIX = ".synapse-"
TEMPORARY_SUFFIX = ".tmp"

# The new file gets these from the system's own policy; not everyone may set them.
_SYSTEM_ATTRIBUTES = ("security.", "trusted.", "system.nfs4_acl")
_CANNOT_SYNC_FOLDER = (errno.EINVAL, errno.EBADF, errno.ENOTSUP, errno.EACCES, errno.EPERM)


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What tells one state of a file from another: bytes, modification time (ns), inode."""

    size: int
    mtime_ns: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> FileStamp:
        return cls(status.st_size, status.st_mtime_ns, status.st_ino)


def is_temporary(name: str) -> bool:
    """Whether a file name is one of our temporary files'."""
    return name.startswith(TEMPORARY_PREFIX) and name.endswith(TEMPORARY_SUFFIX)


def atomic_write(path: Path, data: bytes, expected: bytes | None) -> FileStamp:
    """Replaces the content of `path` by `data`; returns the stamp of the file now there.

    expected: the bytes the file held when it was read, or None for a file that must not
    exist yet. A symbolic link stays and its target is written. Raises FileChanged when the
    file is another one by now, WriteFailed when the disk or the permissions refuse; in both
    cases the file is untouched and no temporary file is left.
    """
    target = Path(os.path.realpath(path))
    before = _checked(target, path, expected)
    if before is not None and not os.access(target, os.W_OK):
        raise WriteFailed(f"{path.name} is write-protected.", "Allow writing to it.", path=str(path))
    try:
        descriptor, name = tempfile.mkstemp(TEMPORARY_SUFFIX, TEMPORARY_PREFIX, target.parent)
    except OSError as error:
        raise _failed(path, error) from error
    temporary = Path(name)
    try:
        try:
            write_all(descriptor, data)
            _take_over(descriptor, target, before)
            os.fsync(descriptor)
            stamp = FileStamp.of(os.fstat(descriptor))
        finally:
            os.close(descriptor)
        if stamp.size != len(data):
            raise OSError(errno.EIO, "the disk took only a part of it")
        _checked(target, path, expected)
        if before is None:
            _create(temporary, target, path)
        else:
            os.replace(temporary, target)
    except OSError as error:
        raise _failed(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(target.parent)
    return stamp


def _checked(target: Path, path: Path, expected: bytes | None) -> os.stat_result | None:
    """The target's status, None if it is to be created; FileChanged if it is not as expected."""
    try:
        status = os.lstat(target)
        if not stat.S_ISREG(status.st_mode):
            raise WriteFailed(f"{path.name} is not a regular file.", "Choose another name.", path=str(path))
        found = target.read_bytes() if expected is not None else None
    except FileNotFoundError:
        if expected is None:
            return None
        raise FileChanged(f"{path.name} is gone.", "Save it under a new name.", path=str(path)) from None
    except OSError as error:
        raise _failed(path, error) from error
    if expected is None:
        raise FileChanged(f"{path.name} exists already.", "Choose another name.", path=str(path))
    if found != expected:
        raise FileChanged(f"{path.name} was changed by another program.", "Read it again.", path=str(path))
    return status


def write_all(descriptor: int, data: bytes) -> None:
    """Writes every byte, also where the system takes only a part at a time. Raises OSError."""
    rest = memoryview(data)
    while rest:
        taken = os.write(descriptor, rest)
        if taken <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        rest = rest[taken:]


def _take_over(descriptor: int, target: Path, before: os.stat_result | None) -> None:
    """Gives the temporary file what the old file has beside its content."""
    if os.name != "posix":
        return
    if before is None:
        os.fchmod(descriptor, 0o666 & ~_umask())
        return
    made = os.fstat(descriptor)
    if (made.st_uid, made.st_gid) != (before.st_uid, before.st_gid):
        os.fchown(descriptor, before.st_uid, before.st_gid)
    if sys.platform == "linux":
        _copy_attributes(descriptor, target)
    # After the owner, because a change of owner clears set-user-id bits.
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def _copy_attributes(descriptor: int, target: Path) -> None:
    if sys.platform != "linux":  # pragma: no cover - tells the type checker what the caller knows
        return
    try:
        names = os.listxattr(target)
    except OSError as error:
        if error.errno == errno.ENOTSUP:
            return
        raise
    for name in names:
        try:
            os.setxattr(descriptor, name, os.getxattr(target, name))
        except OSError:
            if not name.startswith(_SYSTEM_ATTRIBUTES):
                raise


def _umask() -> int:
    """The process's umask, which POSIX only tells while setting it; Linux also in /proc."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    except OSError:
        return 0o022  # no /proc here, and setting it to ask would race with other threads
    return 0o022


def _create(temporary: Path, target: Path, path: Path) -> None:
    """Gives a new file its name without ever overwriting one that came up meanwhile."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise FileChanged(f"{path.name} exists already.", "Choose another name.", path=str(path)) from None
    except OSError:
        # File systems without hard links: the check just made is the best there is.
        os.rename(temporary, target)


def _sync_folder(folder: Path) -> None:
    """Makes the rename durable where the system can; the content is safe without it."""
    if os.name != "posix":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:
        return  # a folder that may be written but not read
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC_FOLDER:
            raise WriteFailed(
                f"{folder.name} was written, but the disk did not confirm it ({error.strerror}).",
                "Check the disk.",
                path=str(folder),
            ) from error
    finally:
        os.close(descriptor)


def _failed(path: Path, error: OSError) -> WriteFailed:
    hints = {
        errno.ENOSPC: "Free some space and save again.",
        errno.EDQUOT: "Free some space and save again.",
        errno.EROFS: "The disk is mounted read-only.",
        errno.EACCES: "Allow writing in its folder.",
        errno.EPERM: "Its owner or attributes could not be kept; save it under a new name.",
        errno.ENOENT: "Its folder is gone.",
    }
    reason = error.strerror or str(error)
    return WriteFailed(
        f"{path.name} could not be written: {reason}.", hints.get(error.errno or 0, ""), path=str(path)
    )
