"""Linux system calls that Python has no function for; they raise ``OSError``.

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

# The same on all architectures; flags of include/uapi/linux/{mount,fcntl}.h
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442
_OPEN_TREE_CLONE, _AT_RECURSIVE = 1, 0x8000
_FROM_EMPTY_PATH = ctypes.c_uint(4)
_CWD = ctypes.c_int(-100)


def syscall(number: int, *arguments: object) -> int:
    """Make a system call by number."""
    return _checked(_libc().syscall(ctypes.c_long(number), *arguments))


def prctl(option: int, *arguments: object) -> int:
    """Call ``prctl``; missing arguments are 0."""
    rest = [ctypes.c_ulong(0)] * (4 - len(arguments))
    padded = [ctypes.c_ulong(value) if isinstance(value, int) else value for value in arguments]
    return _checked(_libc().prctl(ctypes.c_int(option), *padded, *rest))


def unshare(flags: int) -> None:
    """Leave shared namespaces."""
    _checked(_libc().unshare(ctypes.c_int(flags)))


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None) -> None:
    """Mount a file system, or bind a file or folder over another one."""
    _checked(
        _libc().mount(
            os.fsencode(source),
            os.fsencode(target),
            None if kind is None else kind.encode(),
            ctypes.c_ulong(flags),
            None if options is None else options.encode(),
        )
    )


def clone_mount(path: str) -> int:
    """Return a descriptor of a copy of the mounts at and below a path; open_tree(2)."""
    flags = _OPEN_TREE_CLONE | _AT_RECURSIVE | os.O_CLOEXEC
    return syscall(_OPEN_TREE, _CWD, os.fsencode(path), ctypes.c_uint(flags))


def attach_mount(descriptor: int, path: str) -> None:
    """Mount such a copy at a path; move_mount(2)."""
    target = os.fsencode(path)
    syscall(_MOVE_MOUNT, ctypes.c_int(descriptor), b"", _CWD, target, _FROM_EMPTY_PATH)


def set_mount_attributes(path: str, attributes: int) -> None:
    """Add attributes to the mounts at and below a path; mount_setattr(2)."""
    wanted = (ctypes.c_uint64 * 4)(attributes)  # set, clear, propagation, user namespace
    size = ctypes.c_size_t(ctypes.sizeof(wanted))
    flags = ctypes.c_uint(_AT_RECURSIVE)
    syscall(_MOUNT_SETATTR, _CWD, os.fsencode(path), flags, ctypes.byref(wanted), size)


@functools.cache
def _libc() -> ctypes.CDLL:
    """Return the C library, cached because the look-up is slower than most calls."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
