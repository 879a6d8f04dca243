"""Reads configuration files (settings, rules, catalogues, keys) without blocking and within limits.

Such files can come with a cloned folder, so one may be a named pipe, a device or enormous. Used by
``storage`` and ``providers``; instruction files are read through ``guard.filesystem.workspace``.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from jupyter_ai_shoulders.core.json_limits import json_excess

LARGEST = 4 << 20
"""Maximum size of a configuration file, in bytes."""
MOST_VALUES = 10_000
"""Maximum number of JSON values in a file: about two thousand rules or models."""
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)  # opening a pipe without a writer must not block
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}


class UnusableFile(OSError):
    """The configuration file is not a regular file or too large; the text says which."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(errno.EINVAL, problem, str(path))

    def __str__(self) -> str:
        return f"{self.strerror}; it is not used."


def read_config(path: Path, *, most_bytes: int = LARGEST) -> bytes:
    """Return the content of a regular file. Raises ``UnusableFile`` or another ``OSError``."""
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError as error:
        if error.errno == errno.ENXIO:  # Linux reports this for a socket
            raise UnusableFile(path, f"It is {_kind(path.stat().st_mode)}, not a file") from error
        raise
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise UnusableFile(path, f"It is {_kind(mode)}, not a file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(most_bytes + 1)
    finally:
        os.close(descriptor)
    if len(content) > most_bytes:
        raise UnusableFile(path, f"Larger than {most_bytes >> 20} MB")
    return content


def read_json_config(path: Path) -> bytes:
    """Return the content of a regular JSON file that is small enough to parse quickly.

    Raises ``UnusableFile`` or another ``OSError``. Does not check that the content is valid JSON.
    """
    content = read_config(path)
    excess = json_excess(content, MOST_VALUES)
    if excess is not None:
        raise UnusableFile(path, f"It has {excess}")
    return content


def _kind(mode: int) -> str:
    return _KINDS.get(stat.S_IFMT(mode), "something else")
