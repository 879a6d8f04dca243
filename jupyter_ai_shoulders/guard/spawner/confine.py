"""What a command gives up before it begins: run between fork and exec by ``spawner.main``.

Each step raises ``OSError``; then the command does not begin at all.
"""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jupyter_ai_shoulders.guard.spawner import landlock, seccomp
from jupyter_ai_shoulders.guard.spawner.system import PR_CAPBSET_DROP, mount, prctl, unshare

_NEWNS, _NEWUSER = 0x00020000, 0x10000000  # include/uapi/linux/sched.h
_BIND, _REC, _PRIVATE, _READ_ONLY, _REMOUNT = 4096, 16384, 1 << 18, 1, 32
_NOSUID, _NODEV, _NOEXEC = 2, 4, 8
_FROZEN = _READ_ONLY | _NOSUID | _NODEV | _NOEXEC
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 a place of the system, made private
_KEPT_CAPABILITIES = {0, 1, 3, 4, 6, 7}
"""Of root: to own, read and write files of others; no mounts, devices, modules, signals."""
_LAST_CAPABILITY = 63
_MORE_LIKELY_KILLED = b"500"
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_TERMINALS = ("ptmx", "pts")
"""Only where they are the command's own: it would read what the user types into another one."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What a sandboxed command may still reach; absolute paths without links."""

    read: tuple[str, ...]
    write: tuple[str, ...]
    hidden: Mapping[str, str]
    """Below what may be read or written, and out of reach all the same; with what covers it."""
    kept: tuple[str, ...]
    """Below what is hidden, and to be read all the same."""
    network: bool
    cover: bool
    """Whether what is hidden is covered by something empty; else ``read`` leaves it out."""
    frozen: tuple[str, ...] = ()
    """Below what may be written, and only to be read; needs ``cover``."""
    held: tuple[str, ...] = ()
    """Folders that may be written to and not moved away, outer ones first; needs ``cover``."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one process may use; the watch counts all together. 0 is no limit."""

    file_bytes: int = 0
    cpu_seconds: int = 0


def limit(limits: Limits) -> None:
    """Bound this process, and have the kernel end it before the server when memory runs out."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _lower(resource.RLIMIT_FSIZE, limits.file_bytes)
    _lower(resource.RLIMIT_CPU, limits.cpu_seconds)
    with contextlib.suppress(OSError):  # no such file outside of Linux
        descriptor = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        os.write(descriptor, _MORE_LIKELY_KILLED)
        os.close(descriptor)


def confine(policy: Policy) -> None:
    """Give up everything the policy does not name."""
    devices = _DEVICES
    if policy.cover:
        _cover(policy)
        devices += _TERMINALS if _has_terminals() else ()
    _drop_capabilities()
    rules = landlock.Ruleset(landlock.abi(), network=policy.network)
    for name in devices:
        rules.allow(f"/dev/{name}", landlock.DEVICE | landlock.READ_DIR)
    for path in policy.read:
        hidden = () if policy.cover else list(policy.hidden)
        for entry, access in landlock.without(path, hidden):
            rules.allow(entry, access)
    for path in policy.kept:
        rules.allow(path, landlock.READ)
    for path in policy.write:
        rules.allow(path, landlock.WRITE)
    if policy.cover:
        rules.allow(_SHARED_MEMORY, landlock.WRITE)
    rules.enforce()
    if seccomp.known():
        seccomp.enforce(network=policy.network)


def enter_mounts() -> None:
    """Have mounts of our own, with rights over them. Raises ``OSError`` where that is forbidden."""
    try:
        unshare(_NEWNS)
    except PermissionError:
        user, group = os.getuid(), os.getgid()
        unshare(_NEWUSER | _NEWNS)
        _say("/proc/self/setgroups", "deny")
        _say("/proc/self/uid_map", f"{user} {user} 1")
        _say("/proc/self/gid_map", f"{group} {group} 1")
    mount("none", "/", None, _REC | _PRIVATE, None)


def _cover(policy: Policy) -> None:
    enter_mounts()
    if Path(_SHARED_MEMORY).is_dir():
        mount("tmpfs", _SHARED_MEMORY, "tmpfs", _NOSUID | _NODEV, "mode=1777,size=50%")
    kept = [(path, os.open(path, os.O_PATH)) for path in policy.kept if Path(path).is_dir()]
    for path in filter(os.path.exists, policy.held):
        mount(path, path, None, _BIND | _REC, None)
    for path in filter(os.path.exists, policy.frozen):
        mount(path, path, None, _BIND | _REC, None)
        locked = os.statvfs(path).f_flag & _NOEXEC  # may not be taken from it
        flags = _REMOUNT | _BIND | _READ_ONLY | _NOSUID | _NODEV | locked
        mount("none", path, None, flags, None)
    for path, cover in policy.hidden.items():
        if os.path.lexists(path):
            mount(cover, path, None, _BIND, None)
            mount("none", path, None, _REMOUNT | _BIND | _FROZEN, None)
    for path, descriptor in kept:
        mount(f"/proc/self/fd/{descriptor}", path, None, _BIND, None)
        mount("none", path, None, _REMOUNT | _BIND | _READ_ONLY | _NOSUID | _NODEV, None)
        os.close(descriptor)


def _has_terminals() -> bool:
    """Return whether there are terminals of our own now, in the place of those of others."""
    try:
        mount("devpts", "/dev/pts", "devpts", _NOSUID | _NOEXEC, "newinstance,ptmxmode=0666")
        if not Path("/dev/ptmx").is_symlink():
            mount("/dev/pts/ptmx", "/dev/ptmx", None, _BIND, None)
    except OSError:  # this kernel forbids it: then there are none
        return False
    return True


def _drop_capabilities() -> None:
    for number in range(_LAST_CAPABILITY + 1):
        if number not in _KEPT_CAPABILITIES:
            with contextlib.suppress(OSError):  # there is no such capability, or we have none
                prctl(PR_CAPBSET_DROP, number)


def _lower(kind: int, value: int) -> None:
    soft, hard = resource.getrlimit(kind)
    if value and (soft == resource.RLIM_INFINITY or value < soft):
        resource.setrlimit(kind, (value, hard))


def _say(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
