"""A command to run, its output and its exit, as values.

Used by ``guard.process.launcher``, ``guard.sandbox`` and ``tools.commands``.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.guard.process.port_rules import PortRules
from jupyter_ai_shoulders.wire.base import JsonObject

Channel = Literal["stdout", "stderr"]
EndReason = Literal["time", "stopped", "gone", "processes", "memory", "output", "lost"]
"""Why a command was ended; ``lost``: what watched it died, and the rest was ended for that."""
PROCESS_LIMIT = 512
STOP_TIMEOUT_S = 0.5
"""Between asking a command to end and ending it: a cancel takes less than a second."""
FILE_LIMIT = 32 * 2**30


@dataclass(frozen=True, slots=True)
class Program:
    """What to run: words for the system (``shell_words`` makes them of a line for a shell)."""

    words: Sequence[str]
    folder: Path
    environment: Mapping[str, str]
    time_limit_s: float | None
    policy: JsonObject | None = None
    """``spawner.confine.Policy``.

    Made by ``guard.sandbox.sandbox``; None: all the server's rights.
    """
    processes: int = PROCESS_LIMIT
    memory_bytes: int = 0
    """Of all its processes together; 0 is no limit."""
    file_bytes: int = FILE_LIMIT
    cpu_seconds: int = 0
    """Of each process; 0 is no limit."""
    stop_timeout_s: float = STOP_TIMEOUT_S


@dataclass(frozen=True, slots=True)
class OutputChunk:
    """A piece of what a command printed."""

    channel: Channel
    data: bytes


@dataclass(frozen=True, slots=True)
class ProgramExit:
    """The command is over, and nothing of it runs but what is ``stuck`` in the kernel."""

    code: int | None
    """The exit code; negative: the signal that ended it. None when nobody knows."""
    reason: EndReason | None = None
    """Why it was ended; None when it ended by itself."""
    orphans: int = 0
    """How many processes it had left running, which were ended."""
    stuck: int = 0


def shell_words(line: str) -> list[str]:
    """Return the words that run a line in the shell that models write for; no start-up files."""
    return [shutil.which("bash") or "/bin/sh", "-c", line]


def program_request(program: Program, rules: PortRules | None) -> JsonObject:
    policy = program.policy
    if policy is not None and rules is not None and policy["closed_ports"] == sorted(rules.closed):
        policy = {**policy, "port_rules": rules.descriptor}
    return {
        "argv": list(program.words),
        "cwd": str(program.folder),
        "env": dict(program.environment),
        "sandbox": policy,
        "time_limit_s": program.time_limit_s,
        "processes": program.processes,
        "memory_bytes": program.memory_bytes,
        "file_bytes": program.file_bytes,
        "cpu_seconds": program.cpu_seconds,
        "grace_s": program.stop_timeout_s,
    }


def not_started_error(program: Program, reply: JsonObject | None) -> InvalidRequest:
    """Return the error for a command that did not begin."""
    reason = "the process that starts commands died" if reply is None else str(reply.get("failed"))
    steps = {"cwd": f"its folder {program.folder}", "sandbox": "its sandbox"}
    at = steps.get(str(reply.get("at")) if reply else "", program.words[0])
    return InvalidRequest(
        f"The command was not started: {at}: {reason}.",
        hint="Nothing was run. Check the folder and the program, or ask the user.",
    )
