"""Landlock restricts files and TCP for a process and its descendants (Linux 5.13).

Numbers and layouts are those of include/uapi/linux/landlock.h;
Documentation/userspace-api/landlock.rst lists the features of each version. Used by
``spawner.confinement``.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Collection, Iterator, Sequence

from jupyter_ai_shoulders.guard.spawner.system import PR_SET_NO_NEW_PRIVS, prctl, syscall

OLDEST_ABI = 3
"""Versions 1 and 2 (before Linux 6.2) cannot prevent truncation of a file."""
NETWORK_ABI = 4
SCOPE_ABI = 6

_CREATE_RULESET = 444
_ADD_RULE = 445
_RESTRICT_SELF = 446
_VERSION = 1
_PATH_BENEATH, _NET_PORT = 1, 2

_EXECUTE, _WRITE_FILE, _READ_FILE, READ_DIR = (1 << bit for bit in range(4))
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_ALL = (1 << 16) - 1

READ = _EXECUTE | _READ_FILE | READ_DIR
WRITE = _ALL & ~(_MAKE_CHAR | _MAKE_BLOCK | _IOCTL_DEV)
DEVICE = _READ_FILE | _WRITE_FILE | _IOCTL_DEV
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
"""Rights that apply to a file that is not a folder."""

_TCP, _CONNECT_TCP = 0b11, 0b10
_PORTS = 1 << 16
_SCOPES = 0b11
"""Confines abstract UNIX sockets and signals to the sandbox."""


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("access", ctypes.c_uint64), ("descriptor", ctypes.c_int32))


class _Port(ctypes.Structure):
    _fields_ = (("access", ctypes.c_uint64), ("port", ctypes.c_uint64))


def abi() -> int:
    """Return the version of the interface; 0 without Landlock."""
    try:
        return syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint(_VERSION))
    except OSError:  # not built in, disabled at boot, or hidden by a container
        return 0


class Ruleset:
    """The rights this process keeps; ``enforce`` is irreversible. Raises ``OSError``."""

    def __init__(self, version: int, *, network: bool) -> None:
        self._handled = _ALL if version >= 5 else _ALL & ~_IOCTL_DEV
        rules = _Ruleset(
            self._handled,
            _TCP if version >= NETWORK_ABI and not network else 0,
            _SCOPES if version >= SCOPE_ABI else 0,
        )
        size = 8 if version < NETWORK_ABI else 16 if version < SCOPE_ABI else 24
        self._descriptor = _create(rules, size)

    def allow(self, path: str, access: int) -> None:
        """Keep a right on a file, or on a folder with all below; missing paths are ignored."""
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return
        try:
            access &= self._handled
            if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
                access &= _OF_FILES
            rule = _Beneath(access, descriptor)
            syscall(
                _ADD_RULE,
                ctypes.c_int(self._descriptor),
                ctypes.c_int(_PATH_BENEATH),
                ctypes.byref(rule),
                ctypes.c_uint(0),
            )
        finally:
            os.close(descriptor)

    def enforce(self) -> None:
        """Give up all other rights."""
        restrict(self._descriptor)


def restrict(ruleset: int) -> None:
    """Apply a ruleset and close its descriptor. Raises ``OSError``."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    syscall(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint(0))
    os.close(ruleset)


def port_rules(closed: Collection[int]) -> int:
    """Return a descriptor of a ruleset that prevents connections to the closed TCP ports.

    A ruleset lists what is allowed, so it lists all other ports. That takes 0.1 s; ``restrict``
    with it is much faster. Needs ``NETWORK_ABI``. Raises ``OSError``.
    """
    ruleset = _create(_Ruleset(0, _CONNECT_TCP, 0), 16)
    rule = _Port(_CONNECT_TCP, 0)
    descriptor, kind, flags = ctypes.c_int(ruleset), ctypes.c_int(_NET_PORT), ctypes.c_uint(0)
    reference = ctypes.byref(rule)
    for port in range(_PORTS):
        if port not in closed:
            rule.port = port
            syscall(_ADD_RULE, descriptor, kind, reference, flags)
    return ruleset


def _create(rules: _Ruleset, size: int) -> int:
    size_of_it, flags = ctypes.c_size_t(size), ctypes.c_uint(0)
    return syscall(_CREATE_RULESET, ctypes.byref(rules), size_of_it, flags)


def without(path: str, hidden: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the read rights that make a folder readable except for the hidden paths in it.

    Rights on a folder apply to everything below and cannot be revoked, so the entries beside hidden
    ones are listed one by one.
    """
    if path in hidden:
        return
    below = [one for one in hidden if one.startswith(path.rstrip("/") + "/")]
    if not below:
        yield path, READ
        return
    yield path, READ_DIR
    try:
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if not entry.is_symlink():
            yield from without(entry.path, below)
