"""Opens files below a root without ever leaving it.

Used by ``guard.filesystem.workspace`` only.

Linux has ``openat2``: the kernel resolves the whole path beneath a descriptor, so there is no gap
between check and use. Elsewhere each component is opened without following links. Where files
cannot be opened relative to a directory (Windows), each component is checked first.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import stat
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from jupyter_ai_shoulders.guard.filesystem.directory_handles import (
    DescriptorFolder,
    Folder,
    PathFolder,
)

# include/uapi/linux/openat2.h; the number is the same on every architecture except alpha.
_SYS_OPENAT2 = 437
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_BENEATH = 0x08
_ATTEMPTS = 8

_BINARY = getattr(os, "O_BINARY", 0)
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _CLOEXEC
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_READ = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)  # a FIFO without a writer must not block
    | getattr(os, "O_NOCTTY", 0)
    | _BINARY
)
Opener = Callable[[int, Sequence[str], int], int]
"""Opens the components below a descriptor with flags; returns a descriptor. Raises ``OSError``."""


class Root(Protocol):
    """Access to files below one directory. All methods raise ``OSError``."""

    def open(self, parts: Sequence[str]) -> int:
        """Open a file for reading; return a descriptor."""
        ...

    def folder(self, parts: Sequence[str]) -> AbstractContextManager[Folder]:
        """Open a directory."""
        ...

    def resolve(self, parts: Sequence[str]) -> Sequence[str]:
        """Return the components of an existing entry with links resolved."""
        ...

    def close(self) -> None:
        """Release the root."""
        ...


def open_root(root: Path) -> Root:
    """Return the safest access to ``root`` that this system supports."""
    if os.open in os.supports_dir_fd:
        return DescriptorRoot(root, choose_opener())
    return PathRoot(root)


def choose_opener() -> Opener:
    """Return ``openat2`` where the kernel has it (Linux 5.6), else the component walk."""
    if sys.platform != "linux":
        return open_without_links
    libc = ctypes.CDLL(None, use_errno=True)

    def openat2(directory: int, parts: Sequence[str], flags: int) -> int:
        path = os.fsencode("/".join(parts) or ".")
        how = _OpenHow(flags | os.O_CLOEXEC, 0, _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS)
        pointer, size = ctypes.byref(how), ctypes.sizeof(how)
        for _ in range(_ATTEMPTS):
            result = libc.syscall(_SYS_OPENAT2, directory, path, pointer, size)
            if result >= 0:
                return int(result)
            # EAGAIN: an entry was renamed while ".." was resolved (openat2(2)).
            if ctypes.get_errno() not in {errno.EAGAIN, errno.EINTR}:
                break
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), os.fsdecode(path))

    return openat2 if _is_permitted(openat2) else open_without_links


def open_without_links(directory: int, parts: Sequence[str], flags: int) -> int:
    """Open component by component without following links."""
    reject_escaping_parts(parts)
    if not parts:
        return os.open(".", flags | _CLOEXEC, dir_fd=directory)
    current = directory
    try:
        for part in parts[:-1]:
            following = os.open(part, _DIRECTORY | _NOFOLLOW, dir_fd=current)
            if current != directory:
                os.close(current)
            current = following
        return os.open(parts[-1], flags | _NOFOLLOW | _CLOEXEC, dir_fd=current)
    finally:
        if current != directory:
            os.close(current)


def reject_escaping_parts(parts: Sequence[str]) -> None:
    """Raise ``OSError`` for components that are not names of entries.

    ``Workspace.path`` never returns them, and ``openat2`` refuses them itself. Windows reads a
    colon as a drive or a stream, and a backslash as a separator.
    """
    odd = "/\\:" if sys.platform == "win32" else "/"
    for part in parts:
        if part == ".." or any(character in part for character in odd):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), "/".join(parts))


class DescriptorRoot:
    """A root held open by a descriptor."""

    def __init__(self, root: Path, opener: Opener) -> None:
        self._descriptor = os.open(root, _DIRECTORY)
        self._opener = opener
        self._real = _real_path(self._descriptor)

    def open(self, parts: Sequence[str]) -> int:
        return self._opener(self._descriptor, parts, _READ)

    @contextlib.contextmanager
    def folder(self, parts: Sequence[str]) -> Generator[Folder]:
        descriptor = self._opener(self._descriptor, parts, _DIRECTORY)
        try:
            yield DescriptorFolder(descriptor)
        finally:
            os.close(descriptor)

    def resolve(self, parts: Sequence[str]) -> Sequence[str]:
        """Return the components with links resolved by the kernel."""
        descriptor = self._opener(self._descriptor, parts, getattr(os, "O_PATH", _READ))
        try:
            real = _real_path(descriptor)
        finally:
            os.close(descriptor)
        if real is None or self._real is None:
            return parts
        if real == self._real:
            return ()
        above = self._real.rstrip("/") + "/"
        return real.removeprefix(above).split("/") if real.startswith(above) else parts

    def close(self) -> None:
        os.close(self._descriptor)


@dataclass(frozen=True, slots=True)
class PathRoot:
    """A root by path, for systems that cannot open files relative to a directory."""

    root: Path

    def open(self, parts: Sequence[str]) -> int:
        path = self._walked(parts)
        if not stat.S_ISREG(path.lstat().st_mode):
            raise OSError(errno.ENXIO, "not a regular file", str(path))
        return os.open(path, _READ)

    @contextlib.contextmanager
    def folder(self, parts: Sequence[str]) -> Generator[Folder]:
        yield PathFolder(self._walked(parts))

    def resolve(self, parts: Sequence[str]) -> Sequence[str]:
        """Return the components unchanged: none of them is a link."""
        self._walked(parts).lstat()
        return parts

    def close(self) -> None:
        """Do nothing."""

    def _walked(self, parts: Sequence[str]) -> Path:
        reject_escaping_parts(parts)
        path = self.root
        for part in parts:
            path /= part
            if path.is_symlink() or getattr(path, "is_junction", bool)():
                raise OSError(errno.ELOOP, "a link is not followed", str(path))
        return path


class _OpenHow(ctypes.Structure):
    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


def _is_permitted(opener: Opener) -> bool:
    """Return whether the kernel, and any seccomp filter on this process, permits ``openat2``."""
    root = os.open("/", _DIRECTORY)
    try:
        os.close(opener(root, (), _DIRECTORY))
    except OSError:
        return False
    finally:
        os.close(root)
    return True


def _real_path(descriptor: int) -> str | None:
    """Return the kernel's path of a descriptor; None where it is not available.

    A string, because making a ``Path`` costs several times the system call.
    """
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 see above
    except OSError:
        return None
