"""What this kernel lets a sandbox do, found out by doing it in a process that then ends.

Run by ``spawner.main`` when it is asked to look instead of starting a command.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from jupyter_ai_shoulders.guard.spawner import landlock, seccomp
from jupyter_ai_shoulders.guard.spawner.confine import Policy, confine


def probe() -> dict[str, int | bool]:
    """Return the facts ``guard.sandbox.Facts`` is made of."""
    if sys.platform != "linux":
        return {"landlock": 0, "seccomp": False, "works": False, "covers": False}
    version = landlock.abi()
    filters = seccomp.available()
    works = version >= landlock.OLDEST_ABI and (version >= landlock.NETWORK_ABI or filters)
    return {
        "landlock": version,
        "seccomp": filters,
        "works": works and _succeeds(cover=False),
        "covers": works and _succeeds(cover=True),
    }


def _succeeds(*, cover: bool) -> bool:
    """Return whether a process can be confined: it must then not read what it was not allowed."""
    with tempfile.TemporaryDirectory(prefix="shoulders-probe-") as folder:
        inside, outside, blank = (Path(folder) / name for name in ("in", "out", "blank"))
        inside.mkdir()
        blank.touch()
        secret = inside / "secret"
        for path in (outside, secret):
            path.write_text("x", encoding="ascii")
        hidden = {str(secret): str(blank)}
        policy = Policy((), (str(inside),), hidden, (), network=False, cover=cover)
        child = os.fork()
        if child == 0:
            os._exit(_try(policy, outside, secret))
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _try(policy: Policy, outside: Path, secret: Path) -> int:
    try:
        confine(policy)
    except OSError:
        return 1
    if policy.cover and secret.stat().st_size:
        return 2
    try:
        os.close(os.open(outside, os.O_RDONLY))
    except PermissionError:
        return 0
    return 3
