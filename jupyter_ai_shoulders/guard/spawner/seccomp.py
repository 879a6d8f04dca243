"""Installs a filter of system calls for what Landlock leaves open.

Landlock speaks of files and TCP alone. By a UNIX socket one reaches daemons (``docker``,
``systemd --user``) that would do outside what is forbidden inside, and other calls change
permissions of files, limits of processes and the kernel itself. The server makes the filter, in
``guard.process.syscall_filter``; the layout is of include/uapi/linux/filter.h. Used by
``spawner.confine``.
"""

from __future__ import annotations

import ctypes
import errno

from jupyter_ai_shoulders.guard.spawner.system import (
    PR_SET_NO_NEW_PRIVS,
    PR_SET_SECCOMP,
    prctl,
)

_MODE_FILTER = 2
_INSTRUCTION_BYTES = 8


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("filter", ctypes.c_char_p))


def available() -> bool:
    """Return whether the kernel takes filters; asked with one that is none (seccomp(2), EFAULT)."""
    try:
        prctl(PR_SET_SECCOMP, _MODE_FILTER, ctypes.c_void_p(None))
    except OSError as error:
        return error.errno == errno.EFAULT
    return False


def enforce(program: bytes) -> None:
    """Give up the calls, for this process and all that comes of it. Raises ``OSError``."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    packed = _Program(len(program) // _INSTRUCTION_BYTES, program)
    prctl(PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(packed))
