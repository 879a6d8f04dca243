"""A filter of system calls for what Landlock leaves open: UDP, UNIX sockets, the kernel itself.

Landlock speaks of TCP alone. By a UNIX socket one reaches daemons (``docker``, ``systemd --user``)
that would do outside what is forbidden inside, so none can be made; without the network no socket
at all. Pairs of sockets, which multiprocessing uses, stay. Numbers are of the tables in the
kernel's arch folders, the layout of include/uapi/linux/{filter,seccomp,audit}.h. Used by
``spawner.confine``.
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.guard.spawner.system import (
    PR_SET_NO_NEW_PRIVS,
    PR_SET_SECCOMP,
    prctl,
)

_MODE_FILTER = 2
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_AT_NUMBER, _AT_ARCHITECTURE, _AT_FAMILY = 0, 4, 16
"""Of a system call; the family of a socket is the lower half of its first argument."""
_FAMILIES = (2, 10, 16)
"""Internet, and netlink, which tells of interfaces and routes (include/linux/socket.h)."""
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_X32 = 0x40000000
"""The second set of numbers of x86-64 begins here."""


@dataclass(frozen=True, slots=True)
class _Architecture:
    audit: int
    socket: int
    kernel: tuple[int, ...]
    """Calls that change the machine, or open files without a path."""


_ARCHITECTURES = {
    "x86_64": _Architecture(
        0xC000003E,
        41,
        (
            *(155, 161, 163, 164, 165, 166, 167, 168, 169, 170, 171),  # mounts, clock, swap, names
            *(159, 175, 176, 227, 246, 248, 249, 250, 272, 298, 304, 305, 308, 313, 320, 321, 323),
        ),
    ),
    "aarch64": _Architecture(
        0xC00000B7,
        198,
        (
            *(39, 40, 41, 51, 89, 97, 104, 105, 106, 112, 142, 161, 162, 170, 171),
            *(217, 218, 219, 224, 225, 241, 265, 266, 268, 273, 280, 282, 294),
        ),
    ),
}
_SAME_EVERYWHERE = (425, 428, 429, 430, 432, 442)
"""io_uring, which makes sockets of its own, and the newer calls for mounts."""


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("filter", ctypes.POINTER(_Instruction)))


def known() -> bool:
    """Return whether there is a table for this processor."""
    return os.uname().machine in _ARCHITECTURES


def available() -> bool:
    """Return whether the kernel takes filters; asked with one that is none (seccomp(2), EFAULT)."""
    try:
        prctl(PR_SET_SECCOMP, _MODE_FILTER, ctypes.c_void_p(None))
    except OSError as error:
        return error.errno == errno.EFAULT and known()
    return False


def enforce(*, network: bool) -> None:
    """Give up the calls, for this process and all that comes of it. Raises ``OSError``."""
    instructions = (_Instruction * 256)()
    program = filter_of(os.uname().machine, network=network)
    for position, (code, if_true, if_false, value) in enumerate(program):
        instructions[position] = _Instruction(code, if_true, if_false, value)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    packed = _Program(len(program), instructions)
    prctl(PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(packed))


def filter_of(machine: str, *, network: bool) -> Sequence[tuple[int, int, int, int]]:
    """Return the filter as instructions: code, jumps if true and false, value."""
    kind = _ARCHITECTURES[machine]
    denied = [*kind.kernel, *_SAME_EVERYWHERE]
    program = [
        (_LOAD, 0, 0, _AT_ARCHITECTURE),
        (_EQUAL, 1, 0, kind.audit),
        (_RETURN, 0, 0, _KILL),  # 32-bit programs have other numbers
        (_LOAD, 0, 0, _AT_NUMBER),
    ]
    if machine == "x86_64":
        program += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _ERROR | errno.EPERM)]
    for number in denied:
        program += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERROR | errno.EPERM)]
    program += [(_EQUAL, 1, 0, kind.socket), (_RETURN, 0, 0, _ALLOW)]
    if network:
        program.append((_LOAD, 0, 0, _AT_FAMILY))
        for family in _FAMILIES:
            program += [(_EQUAL, 0, 1, family), (_RETURN, 0, 0, _ALLOW)]
    return [*program, (_RETURN, 0, 0, _ERROR | errno.EACCES)]
