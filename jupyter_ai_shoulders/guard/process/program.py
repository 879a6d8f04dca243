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
"""Why a command was ended; ``lost``: its spawner died, so its processes were ended."""
PROCESS_LIMIT = 512
STOP_TIMEOUT_S = 0.5
"""Time between SIGTERM and SIGKILL; keeps a cancel below one second."""
FILE_LIMIT = 32 * 2**30


@dataclass(frozen=True, slots=True)
class Program:
    """The program to run; ``shell_words`` makes the words for a shell command line."""

    words: Sequence[str]
    folder: Path
    environment: Mapping[str, str]
    time_limit_s: float | None
    policy: JsonObject | None = None
    """The policy of ``spawner.confinement.AccessPolicy`` as JSON, made by
    ``guard.sandbox.sandbox``; None runs with all rights of the server.
    """
    processes: int = PROCESS_LIMIT
    memory_bytes: int = 0
    """Limit of all processes together; 0 is unlimited."""
    file_bytes: int = FILE_LIMIT
    cpu_seconds: int = 0
    """Limit of each process; 0 is unlimited."""
    stop_timeout_s: float = STOP_TIMEOUT_S


@dataclass(frozen=True, slots=True)
class OutputChunk:
    """A chunk of output."""

    channel: Channel
    data: bytes


@dataclass(frozen=True, slots=True)
class ProgramExit:
    """The exit of a command; none of its processes run any more except ``stuck`` ones in the
    kernel.
    """

    code: int | None
    """The exit code; negative for a signal; None if unknown."""
    reason: EndReason | None = None
    """Why it was ended; None when it exited by itself."""
    orphans: int = 0
    """Number of processes it left running, which were ended."""
    stuck: int = 0


def shell_words(line: str) -> list[str]:
    """Return the words that run a line in bash, or sh, without start-up files."""
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
    """Return the error for a command that did not start."""
    reason = "the process that starts commands died" if reply is None else str(reply.get("failed"))
    steps = {"cwd": f"its folder {program.folder}", "sandbox": "its sandbox"}
    at = steps.get(str(reply.get("at")) if reply else "", program.words[0])
    return InvalidRequest(
        f"The command was not started: {at}: {reason}.",
        hint="Nothing was run. Check the folder and the program, or ask the user.",
    )
