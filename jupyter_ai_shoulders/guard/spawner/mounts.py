"""Gives a command its own mounts, in which only its writable paths are writable.

Landlock forbids writing files but not changing their permissions, owners, times and attributes; a
read-only mount forbids all of it. Numbers are those of include/uapi/linux/mount.h. Used by
``spawner.confinement``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from jupyter_ai_shoulders.guard.spawner.system import (
    attach_mount,
    clone_mount,
    mount,
    set_mount_attributes,
    unshare,
)

_NEWNS, _NEWIPC, _NEWUSER = 0x00020000, 0x08000000, 0x10000000  # include/uapi/linux/sched.h
_BIND, _REC, _PRIVATE = 4096, 16384, 1 << 18
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 2, 4, 8
_READ_ONLY, _NOSUID, _NODEV, _NOEXEC = 1, 2, 4, 8  # MOUNT_ATTR_…
_FIXED = _READ_ONLY | _NOSUID | _NODEV
SHARED_MEMORY = "/dev/shm"  # noqa: S108 a place of the system, made private


@dataclass(frozen=True, slots=True)
class Mounts:
    """The mounts of a command; see ``spawner.confinement.AccessPolicy``."""

    write: tuple[str, ...]
    hidden: Mapping[str, str]
    readable_exceptions: tuple[str, ...]
    frozen: tuple[str, ...]
    unmovable: tuple[str, ...]


def enter_mounts(mounts: Mounts) -> None:
    """Give this process and its descendants these mounts. Raises ``OSError``."""
    _enter_namespaces()
    kept = [
        (path, os.open(path, os.O_PATH))
        for path in mounts.readable_exceptions
        if Path(path).is_dir()
    ]
    _lock_all_but(mounts.write)
    if Path(SHARED_MEMORY).is_dir():
        mount("tmpfs", SHARED_MEMORY, "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=1777,size=50%")
    for path in filter(os.path.exists, mounts.unmovable):
        mount(path, path, None, _BIND | _REC, None)
    for path in filter(os.path.exists, mounts.frozen):
        mount(path, path, None, _BIND | _REC, None)
        set_mount_attributes(path, _FIXED)
    for path, cover in mounts.hidden.items():
        if os.path.lexists(path):
            mount(cover, path, None, _BIND, None)
            set_mount_attributes(path, _FIXED | _NOEXEC)
    for path, descriptor in kept:
        mount(f"/proc/self/fd/{descriptor}", path, None, _BIND, None)
        set_mount_attributes(path, _FIXED)
        os.close(descriptor)


def has_terminals() -> bool:
    """Return whether private terminals now replace those of others."""
    try:
        mount("devpts", "/dev/pts", "devpts", _MS_NOSUID | _MS_NOEXEC, "newinstance,ptmxmode=0666")
        if not Path("/dev/ptmx").is_symlink():
            mount("/dev/pts/ptmx", "/dev/ptmx", None, _BIND, None)
    except OSError:  # this kernel forbids it, so there are none
        return False
    return True


def _enter_namespaces() -> None:
    """Enter private mount, IPC and user namespaces."""
    try:
        unshare(_NEWNS | _NEWIPC)
    except PermissionError:
        user, group = os.getuid(), os.getgid()
        unshare(_NEWUSER | _NEWNS | _NEWIPC)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
    mount("none", "/", None, _REC | _PRIVATE, None)


def _lock_all_but(write: Iterable[str]) -> None:
    """Make everything read-only except some paths, which stay as they are.

    A path is cloned before and attached over itself afterwards, so that read-only mounts of the
    administrator in it stay read-only. Where all is writable, so is all metadata.
    """
    paths = sorted(filter(os.path.exists, write), key=len)  # outer ones first
    if "/" in paths:
        return
    copies = [(path, clone_mount(path)) for path in paths]
    set_mount_attributes("/", _READ_ONLY)
    for path, descriptor in copies:
        attach_mount(descriptor, path)
        os.close(descriptor)


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
