"""The few calls of Linux that Python has no function for; they raise ``OSError``.

Used by ``spawner`` only.
"""

from __future__ import annotations

import ctypes
import functools
import os

# include/uapi/linux/prctl.h
PR_SET_NO_NEW_PRIVS = 38
PR_SET_CHILD_SUBREAPER = 36
PR_CAPBSET_DROP = 24
PR_SET_SECCOMP = 22


def syscall(number: int, *arguments: object) -> int:
    """Make a system call by its number."""
    return _checked(_libc().syscall(ctypes.c_long(number), *arguments))


def prctl(option: int, *arguments: object) -> int:
    """Make a ``prctl`` call; arguments not given are 0."""
    rest = [ctypes.c_ulong(0)] * (4 - len(arguments))
    given = [ctypes.c_ulong(value) if isinstance(value, int) else value for value in arguments]
    return _checked(_libc().prctl(ctypes.c_int(option), *given, *rest))


def unshare(flags: int) -> None:
    """Leave namespaces that are shared with others."""
    _checked(_libc().unshare(ctypes.c_int(flags)))


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None) -> None:
    """Mount a file system, or bind a file or folder over another."""
    _checked(
        _libc().mount(
            os.fsencode(source),
            os.fsencode(target),
            None if kind is None else kind.encode(),
            ctypes.c_ulong(flags),
            None if options is None else options.encode(),
        )
    )


@functools.cache
def _libc() -> ctypes.CDLL:
    """Return the C library; to look it up takes longer than most calls."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
