"""Finds the sandbox features of this kernel by trying them in a short-lived process.

Run by ``spawner.main`` for a probe request.
"""

from __future__ import annotations

import binascii
import contextlib
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from jupyter_ai_shoulders.guard.spawner import landlock, seccomp
from jupyter_ai_shoulders.guard.spawner.confinement import AccessPolicy, confine


def probe(filters: Mapping[str, str]) -> dict[str, int | bool]:
    """Return the facts for ``guard.sandbox.capabilities.SandboxCapabilities``.

    ``filters`` holds system call filters for a command with ``own`` namespaces and with ``shared``
    ones; empty where this processor has none.
    """
    if sys.platform != "linux":
        return {"landlock": 0, "seccomp": False, "works": False, "covers": False}
    version = landlock.abi()
    filtered = seccomp.available() and all(filters.values())
    works = version >= landlock.OLDEST_ABI and filtered
    return {
        "landlock": version,
        "seccomp": filtered,
        "works": works and _succeeds(filters["shared"], cover=False),
        "covers": works and _succeeds(filters["own"], cover=True),
    }


def _succeeds(syscall_filter: str, *, cover: bool) -> bool:
    """Return whether a process can be confined and then cannot reach anything outside."""
    with tempfile.TemporaryDirectory(prefix="shoulders-probe-") as folder:
        inside, outside, blank = (Path(folder) / name for name in ("in", "out", "blank"))
        inside.mkdir()
        blank.touch()
        secret = inside / "secret"
        for path in (outside, secret):
            path.write_text("x", encoding="ascii")
        hidden = {str(secret): str(blank)}
        policy = AccessPolicy(
            read=(),
            write=(str(inside),),
            hidden=hidden,
            readable_exceptions=(),
            network=False,
            cover=cover,
            syscall_filter=binascii.a2b_base64(syscall_filter),
        )
        child = os.fork()
        if child == 0:
            os._exit(_try(policy, outside, secret))
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _try(policy: AccessPolicy, outside: Path, secret: Path) -> int:
    try:
        confine(policy)
    except OSError:
        return 1
    if policy.cover and secret.stat().st_size:
        return 2
    with contextlib.suppress(OSError):
        outside.chmod(0o777)
        return 3
    try:
        os.close(os.open(outside, os.O_RDONLY))
    except PermissionError:
        return 0
    return 4
