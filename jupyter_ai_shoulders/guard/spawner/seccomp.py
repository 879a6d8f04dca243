"""Installs a system call filter for what Landlock does not cover.

Landlock covers files and TCP only. Through a UNIX socket a command could have daemons (``docker``,
``systemd --user``) act outside the sandbox, and other calls change file permissions, process limits
and the kernel itself. The server compiles the filter in ``guard.process.syscall_filter``; the
layout is that of include/uapi/linux/filter.h. Used by ``spawner.confinement``.
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
    """Return whether the kernel supports filters; passes an invalid one (seccomp(2), EFAULT)."""
    try:
        prctl(PR_SET_SECCOMP, _MODE_FILTER, ctypes.c_void_p(None))
    except OSError as error:
        return error.errno == errno.EFAULT
    return False


def enforce(program: bytes) -> None:
    """Apply the filter to this process and its descendants. Raises ``OSError``."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    packed = _Program(len(program) // _INSTRUCTION_BYTES, program)
    prctl(PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(packed))
