"""Runs escape attempts inside a sandbox, as the user of the tests or as an ordinary one."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from jupyter_ai_shoulders.guard.process.spawner_pool import SpawnerPool
from jupyter_ai_shoulders.guard.process.syscall_table import Machine, system_call_table
from jupyter_ai_shoulders.guard.sandbox.capabilities import SandboxCapabilities, detect_capabilities
from jupyter_ai_shoulders.guard.sandbox.protected_paths import SandboxLocations
from jupyter_ai_shoulders.guard.sandbox.sandbox import Sandbox
from jupyter_ai_shoulders.guard.sandbox.sandbox_policy import SandboxRequest
from tests.guard.command_runner import PATH, program

ORDINARY = 64_321
"""A user id without a name."""
_ROOT = Path(__file__).parents[3]
_START = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from tests.guard.sandbox.escape_runner import main; main()"
)


@dataclass(frozen=True, slots=True)
class Tried:
    """The results of the attempts."""

    confined: str
    """``yes``, or why confinement failed."""
    reached: Mapping[str, str]
    refused: Mapping[str, str]
    """Error numbers and texts."""
    changed: Sequence[str]
    """Differences outside afterwards."""


@dataclass(frozen=True, slots=True)
class Case:
    """How a command runs."""

    ordinary: bool = False
    """Whether to run as an ordinary user although the tests run as root."""
    cover: bool = True
    network: bool = False
    read_only: bool = False

    @property
    def user(self) -> int:
        """The user, 0 for root."""
        return ORDINARY if self.ordinary and os.getuid() == 0 else os.getuid()


def machine_facts() -> SandboxCapabilities:
    """Return this machine's sandbox; blocks."""
    return asyncio.run(detect_capabilities(SpawnerPool()))


def numbers() -> dict[str, int]:
    """Return the system calls of this processor."""
    machine = cast("Machine", os.uname().machine)
    calls = system_call_table().calls.items()
    return {name: number for name, call in calls if (number := call.number(machine)) is not None}


def tried(
    case: Case, facts: SandboxCapabilities, groups: Sequence[str] = (), unknown: Sequence[int] = ()
) -> Tried:
    """Try groups of attempts, and calls by their numbers; blocks."""
    with _policy(case, facts) as (policy, places):
        request: dict[str, Any] = {
            "numbers": numbers(),
            "places": places,
            "user": case.user,
            "policy": policy,
            "groups": list(groups),
            "unknown": list(unknown),
            "unchanged": [
                path for name, path in places.items() if case.read_only or name != "workspace"
            ],
        }
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _START, str(_ROOT)],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert "error" not in found, (found, done.stderr)
    empty: dict[str, str] = {}
    return Tried(
        found["confined"],
        found.get("reached", empty),
        found.get("refused", empty),
        found["changed"],
    )


@contextmanager
def _policy(case: Case, facts: SandboxCapabilities) -> Generator[tuple[Any, dict[str, str]]]:
    base = Path(os.path.realpath(tempfile.mkdtemp(prefix="shoulders-escapes-")))
    made = {name: base / name for name in ("outside", "home", "workspace")}
    made["programs"] = base / "home/.local/bin"
    for path in (
        made["outside"] / "old",
        made["home"] / ".ssh/id_rsa",
        made["programs"] / "tool",
        made["workspace"] / "inside",
        made["workspace"] / ".env",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("SECRET")
    workspace = made["workspace"]
    environ = {"PATH": f"{made['programs']}{os.pathsep}{PATH}"}
    sandbox_places = SandboxLocations(workspace, workspace / ".shoulders", made["home"], environ)
    held = replace(facts, covers=case.cover)

    async def detected() -> SandboxCapabilities:
        return held

    sandbox = Sandbox(sandbox_places, detected)
    wanted = SandboxRequest(network=case.network, read_only=case.read_only)
    try:
        with sandbox.confined(program("true", workspace), held, wanted) as confined:
            private = Path(confined.environment["HOME"]).parent
            _give(case.user, base, private)
            yield confined.policy, {name: str(path) for name, path in made.items()}
    finally:
        shutil.rmtree(base)


def _give(user: int, *folders: Path) -> None:
    if user == os.getuid():
        return
    for folder in folders:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, user, user)
