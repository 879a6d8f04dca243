"""Detects the sandbox this system offers: Landlock, bubblewrap or Seatbelt.

Used by ``guard.sandbox.sandbox`` and ``host``.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

from jupyter_ai_shoulders.guard.process.spawner_pool import SpawnerPool
from jupyter_ai_shoulders.guard.spawner import landlock

SandboxKind = Literal["none", "landlock", "bubblewrap", "seatbelt"]
SEATBELT = "/usr/bin/sandbox-exec"
_BWRAP_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class SandboxCapabilities:
    """The sandbox this system offers."""

    kind: SandboxKind
    covers: bool = False
    """Whether single files and folders of a writable folder can be hidden."""
    detail: str = ""
    """Version and missing features, for users."""
    program: str = ""
    """Path of bubblewrap, because a command's PATH may find another program."""
    closes_ports: bool = False
    """Whether single TCP ports can be closed to a command with network access."""


NO_SANDBOX = SandboxCapabilities(
    "none", detail="This system has no sandbox that this program can use."
)
Detect = Callable[[], Awaitable[SandboxCapabilities]]


async def detect_capabilities(spawners: SpawnerPool) -> SandboxCapabilities:
    """Detect the sandbox of this system by trying it."""
    if sys.platform != "linux":
        return _detect_seatbelt()
    facts = await spawners.probe()
    version = cast("int", facts.get("landlock", 0))
    if facts.get("works"):
        return _describe_landlock(version, covers=bool(facts.get("covers")))
    bubblewrap = await asyncio.to_thread(_find_bubblewrap)
    if bubblewrap is not None:
        return SandboxCapabilities(
            "bubblewrap", covers=True, detail="bubblewrap", program=bubblewrap
        )
    older = 0 < version < landlock.OLDEST_ABI
    reason = f" Landlock here has version {version}; 3 (Linux 6.2) is needed." if older else ""
    return replace(NO_SANDBOX, detail=f"{NO_SANDBOX.detail}{reason}")


def _describe_landlock(version: int, *, covers: bool) -> SandboxCapabilities:
    missing = ""
    if not covers:
        missing += (
            "; secret files of the workspace cannot be hidden; commands cannot change permissions,"
            " owners or times of files, so git init, compilers and installers fail"
        )
    if version < landlock.SCOPE_ABI:
        missing += "; commands can send signals to your other processes"
    detail = f"Landlock ABI {version}{missing}"
    return SandboxCapabilities(
        "landlock", covers, detail, closes_ports=version >= landlock.NETWORK_ABI
    )


def _detect_seatbelt() -> SandboxCapabilities:
    usable = sys.platform == "darwin" and Path(SEATBELT).exists()
    found = SandboxCapabilities("seatbelt", covers=True, detail="Seatbelt", closes_ports=True)
    return found if usable else NO_SANDBOX


def _find_bubblewrap() -> str | None:
    """Return the path of bubblewrap if it works."""
    found = shutil.which("bwrap")
    if found is None:
        return None
    program = str(Path(found).absolute())
    try:
        done = subprocess.run(  # noqa: S603 a fixed program with our own arguments
            [program, "--unshare-all", "--ro-bind", "/", "/", "true"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_BWRAP_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return program if done.returncode == 0 else None
