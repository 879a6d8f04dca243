"""Confines a command; ``spawner.main`` runs it between fork and exec.

Each step raises ``OSError``; then the command does not start.
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
"""Capabilities root keeps: to own, read and write others' files; no mounts, devices, modules,
signals.
"""
_LAST_CAPABILITY = 63
_MORE_LIKELY_KILLED = b"500"
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_TERMINALS = ("ptmx", "pts")
"""Only available as the command's own: it could read what the user types into another terminal."""


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """The resources a sandboxed command may reach; absolute paths without links."""

    read: tuple[str, ...]
    write: tuple[str, ...]
    hidden: Mapping[str, str]
    """Paths below readable or writable ones that are out of reach, with the path that covers each.
    """
    readable_exceptions: tuple[str, ...]
    """Readable paths below hidden ones."""
    network: bool
    cover: bool
    """Whether the command has its own mounts, in which hidden paths are covered and metadata is
    read-only; else ``read`` leaves out hidden paths.
    """
    frozen: tuple[str, ...] = ()
    """Read-only paths below writable ones; needs ``cover``."""
    unmovable: tuple[str, ...] = ()
    """Writable folders that must not be moved, outer ones first; needs ``cover``."""
    syscall_filter: bytes | None = None
    """The system call filter; None if there is none for this processor."""
    closed_ports: tuple[int, ...] = ()
    """TCP ports that are closed although the network is open."""
    port_rules: int | None = None
    """A descriptor of Landlock rules that close them; None: they are made here, in 0.1 s."""

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> AccessPolicy:
        """Return the policy from ``guard.sandbox.sandbox_policy.SandboxPolicy.to_json``."""
        return cls(
            read=tuple(given["read"]),
            write=tuple(given["write"]),
            hidden=given["hidden"],
            readable_exceptions=tuple(given["kept"]),
            network=given["network"],
            cover=given["cover"],
            frozen=tuple(given["frozen"]),
            unmovable=tuple(given["held"]),
            syscall_filter=binascii.a2b_base64(given["syscall_filter"]) or None,
            closed_ports=tuple(given["closed_ports"]),
            port_rules=given.get("port_rules"),
        )


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """Limits of one process; 0 is unlimited. The watch counts all processes together."""

    file_bytes: int = 0
    cpu_seconds: int = 0


def apply_limits(limits: ProcessLimits) -> None:
    """Limit this process, and let the kernel end it before the server when memory runs out."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _lower(resource.RLIMIT_FSIZE, limits.file_bytes)
    _lower(resource.RLIMIT_CPU, limits.cpu_seconds)
    with contextlib.suppress(OSError):  # no such file outside Linux
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
        return  # the user has approved running without a sandbox
    rules = policy.port_rules
    if rules is None:
        rules = landlock.port_rules(policy.closed_ports)
    landlock.restrict(rules)


def _drop_capabilities() -> None:
    for number in range(_LAST_CAPABILITY + 1):
        if number not in _KEPT_CAPABILITIES:
            with contextlib.suppress(OSError):  # the capability is unknown or not held
                prctl(PR_CAPBSET_DROP, number)


def _lower(kind: int, value: int) -> None:
    soft, hard = resource.getrlimit(kind)
    if value and (soft == resource.RLIM_INFINITY or value < soft):
        resource.setrlimit(kind, (value, hard))
