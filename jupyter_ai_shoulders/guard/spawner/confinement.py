"""What a command gives up before it begins: run between fork and exec by ``spawner.main``.

Each step raises ``OSError``; then the command does not begin at all.
"""

from __future__ import annotations

import binascii
import contextlib
import os
import resource
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jupyter_ai_shoulders.guard.spawner import landlock, mounts, seccomp
from jupyter_ai_shoulders.guard.spawner.system import PR_CAPBSET_DROP, prctl

_KEPT_CAPABILITIES = {0, 1, 3, 4, 6, 7}
"""Of root: to own, read and write files of others; no mounts, devices, modules, signals."""
_LAST_CAPABILITY = 63
_MORE_LIKELY_KILLED = b"500"
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_TERMINALS = ("ptmx", "pts")
"""Only where they are the command's own: it would read what the user types into another one."""


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """What a sandboxed command may still reach; absolute paths without links."""

    read: tuple[str, ...]
    write: tuple[str, ...]
    hidden: Mapping[str, str]
    """Below what may be read or written, and out of reach all the same; with what covers it."""
    readable_exceptions: tuple[str, ...]
    """Below what is hidden, and to be read all the same."""
    network: bool
    cover: bool
    """Whether the command has mounts of its own, in which what is hidden is covered by something
    empty and metadata is read-only; else ``read`` leaves out what is hidden."""
    frozen: tuple[str, ...] = ()
    """Below what may be written, and only to be read; needs ``cover``."""
    unmovable: tuple[str, ...] = ()
    """Folders that may be written to and not moved away, outer ones first; needs ``cover``."""
    syscall_filter: bytes | None = None
    """The filter of system calls; None: this processor has none."""
    closed_ports: tuple[int, ...] = ()
    """TCP ports that are out of reach although the network is not."""
    port_rules: int | None = None
    """A descriptor of Landlock rules that close them; None: they are made here, in 0.1 s."""

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> AccessPolicy:
        """Return what ``guard.sandbox.sandbox_policy.SandboxPolicy.to_json`` gave."""
        return cls(
            read=tuple(given["read"]),
            write=tuple(given["write"]),
            hidden=given["hidden"],
            kept=tuple(given["kept"]),
            network=given["network"],
            cover=given["cover"],
            frozen=tuple(given["frozen"]),
            held=tuple(given["held"]),
            syscall_filter=binascii.a2b_base64(given["syscall_filter"]) or None,
            closed_ports=tuple(given["closed_ports"]),
            port_rules=given.get("port_rules"),
        )


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """What one process may use; the watch counts all together. 0 is no limit."""

    file_bytes: int = 0
    cpu_seconds: int = 0


def apply_limits(limits: ProcessLimits) -> None:
    """Bound this process, and have the kernel end it before the server when memory runs out."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _lower(resource.RLIMIT_FSIZE, limits.file_bytes)
    _lower(resource.RLIMIT_CPU, limits.cpu_seconds)
    with contextlib.suppress(OSError):  # no such file outside of Linux
        descriptor = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        os.write(descriptor, _MORE_LIKELY_KILLED)
        os.close(descriptor)


def confine(policy: AccessPolicy) -> None:
    """Give up everything the policy does not name."""
    devices = _DEVICES
    if policy.cover:
        mounts.enter_mounts(_mounts(policy))
        devices += _TERMINALS if mounts.has_terminals() else ()
    _drop_capabilities()
    rules = landlock.Ruleset(landlock.abi(), network=policy.network)
    for name in devices:
        rules.allow(f"/dev/{name}", landlock.DEVICE | landlock.READ_DIR)
    for path in policy.read:
        hidden = () if policy.cover else list(policy.hidden)
        for entry, access in landlock.without(path, hidden):
            rules.allow(entry, access)
    for path in policy.readable_exceptions:
        rules.allow(path, landlock.READ)
    for path in policy.write:
        rules.allow(path, landlock.WRITE)
    if policy.cover:
        rules.allow(mounts.SHARED_MEMORY, landlock.WRITE)
    rules.enforce()
    if policy.network and policy.closed_ports:
        _close_ports(policy)
    if policy.syscall_filter is not None:
        seccomp.enforce(policy.syscall_filter)


def _mounts(policy: AccessPolicy) -> mounts.Mounts:
    return mounts.Mounts(
        write=policy.write,
        hidden=policy.hidden,
        readable_exceptions=policy.readable_exceptions,
        frozen=policy.frozen,
        unmovable=policy.unmovable,
    )


def _close_ports(policy: AccessPolicy) -> None:
    if landlock.abi() < landlock.NETWORK_ABI:
        return  # the server has asked the user
    rules = policy.port_rules
    if rules is None:
        rules = landlock.port_rules(policy.closed_ports)
    landlock.restrict(rules)


def _drop_capabilities() -> None:
    for number in range(_LAST_CAPABILITY + 1):
        if number not in _KEPT_CAPABILITIES:
            with contextlib.suppress(OSError):  # there is no such capability, or we have none
                prctl(PR_CAPBSET_DROP, number)


def _lower(kind: int, value: int) -> None:
    soft, hard = resource.getrlimit(kind)
    if value and (soft == resource.RLIM_INFINITY or value < soft):
        resource.setrlimit(kind, (value, hard))
