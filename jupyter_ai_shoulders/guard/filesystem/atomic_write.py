"""File metadata, and complete and durable writes; used by ``guard.filesystem.workspace``."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class FileStat:
    """Metadata that identifies a file's content without reading it and that a replacement
    preserves.
    """

    device: int
    inode: int
    size: int
    mtime_ns: int
    mode: int
    links: int
    owner: int
    group: int

    @classmethod
    def of(cls, result: os.stat_result) -> FileStat:
        """Return the metadata of a stat result."""
        return cls(
            result.st_dev,
            result.st_ino,
            result.st_size,
            result.st_mtime_ns,
            stat.S_IMODE(result.st_mode),
            result.st_nlink,
            result.st_uid,
            result.st_gid,
        )


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file's bytes and its metadata when it was read."""

    content: bytes
    stat: FileStat


@dataclass(frozen=True, slots=True)
class Digest:
    """SHA-256 of a file's bytes in hex, and its metadata when they were read."""

    sha256: str
    stat: FileStat


def copy_and_hash(source: int, target: int | None = None) -> str:
    """Read a file to its end, copy it to ``target`` if given, and return its SHA-256 in hex."""
    found = hashlib.sha256()
    while chunk := os.read(source, _CHUNK):
        found.update(chunk)
        if target is not None:
            _write_all(target, chunk)
    return found.hexdigest()


_CHUNK = 1 << 20


def write_replacement(descriptor: int, content: bytes, like: FileStat) -> None:
    _copy_ownership(descriptor, like)
    _write_durably(descriptor, content)


def write_new(descriptor: int, content: bytes) -> None:
    """Write with the default mode of new files of this process."""
    if sys.platform != "win32":
        os.fchmod(descriptor, 0o666 & ~_umask())
    _write_durably(descriptor, content)


def _umask() -> int:
    """Return the process's umask without changing it, as ``os.umask`` would.

    Linux reports it in ``/proc`` (proc_pid_status(5)); elsewhere the default 022 is assumed.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0o022
    found = re.search(r"^Umask:\s+([0-7]+)$", status, re.MULTILINE)
    return int(found[1], 8) if found else 0o022


def copy_file(descriptor: int, source: int, like: FileStat) -> str:
    """Copy a file's bytes, mode and time, durably; return the SHA-256 of the bytes in hex."""
    sha256 = copy_and_hash(source, descriptor)
    if sys.platform != "win32":
        os.fchmod(descriptor, like.mode)
        os.utime(descriptor, ns=(like.mtime_ns, like.mtime_ns))
    os.fsync(descriptor)
    return sha256


def _write_durably(descriptor: int, content: bytes) -> None:
    _write_all(descriptor, content)
    os.fsync(descriptor)


def _write_all(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _copy_ownership(descriptor: int, like: FileStat) -> None:
    if sys.platform == "win32":
        return
    made = os.fstat(descriptor)
    if (made.st_uid, made.st_gid) != (like.owner, like.group):
        # Only a privileged process may change the owner. Otherwise the writer owns the file, as
        # with any save.
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, like.owner, like.group)
    os.fchmod(descriptor, like.mode)
