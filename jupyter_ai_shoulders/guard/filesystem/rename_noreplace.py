"""Renames without replacing anything, atomically where the kernel can.

Linux 3.15 and macOS 10.12 support it; some file systems do not. Used by
``guard.filesystem.directory_handles``.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable

_LINUX_NOREPLACE = 1
"""``RENAME_NOREPLACE`` of renameat2(2)."""
_MACOS_EXCL = 4
"""``RENAME_EXCL`` of renameatx_np(2)."""
_UNKNOWN = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})
"""Errors of kernels and file systems that do not support the call or its flag."""

_Rename = Callable[[int, bytes, int, bytes, int], int]


def rename_without_replacing(source: int, name: str, target: int, new_name: str) -> bool:
    """Rename between two directories by descriptor; return whether the system supports it.

    Raises ``FileExistsError`` when the new name is taken, or another ``OSError``.
    """
    rename = _system_call()
    if rename is None:
        return False
    flag = _MACOS_EXCL if sys.platform == "darwin" else _LINUX_NOREPLACE
    if rename(source, os.fsencode(name), target, os.fsencode(new_name), flag) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNKNOWN:
        return False
    raise OSError(number, os.strerror(number), name)


def _system_call() -> _Rename | None:
    """Return the C library's function, or None if it lacks one."""
    if sys.platform not in {"linux", "darwin"}:
        return None
    name = "renameatx_np" if sys.platform == "darwin" else "renameat2"
    function = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if function is None:
        return None
    function.argtypes = (
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_uint,
    )
    function.restype = ctypes.c_int
    return function
