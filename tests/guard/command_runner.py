"""Runs commands as the tool does, and finds their remaining processes."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_ai_shoulders.guard.process.launcher import Spawner
from jupyter_ai_shoulders.guard.process.program import (
    OutputChunk,
    Program,
    ProgramExit,
    shell_words,
)
from jupyter_ai_shoulders.guard.process.spawner_pool import SpawnerPool
from jupyter_ai_shoulders.guard.spawner.process_tree import process_info

PATH = "/usr/local/bin:/usr/bin:/bin"
TIMEOUT_S = 60.0
"""Timeout for events on a machine of any speed."""


@dataclass(slots=True)
class CommandResult:
    """The result of a command."""

    ended: ProgramExit
    printed: dict[str, bytearray] = field(default_factory=dict[str, bytearray])

    @property
    def out(self) -> str:
        return self.printed.get("stdout", bytearray()).decode("utf-8", "replace")

    @property
    def all(self) -> str:
        return "".join(text.decode("utf-8", "replace") for text in self.printed.values())


def program(line: str, folder: Path, **overrides: Any) -> Program:
    """Return a shell line as a program, without a sandbox and with little environment."""
    values: dict[str, Any] = {"environment": {"PATH": PATH}, "time_limit_s": TIMEOUT_S, **overrides}
    return Program(shell_words(line), folder, **values)


@asynccontextmanager
async def spawned() -> AsyncGenerator[Spawner]:
    """Yield a spawner, and end it afterwards."""
    spawner = await SpawnerPool().acquire()
    try:
        yield spawner
    finally:
        await spawner.aclose()


async def run_command(command: Program) -> CommandResult:
    """Run a program to its end."""
    printed: dict[str, bytearray] = {}
    ended: ProgramExit | None = None
    async with spawned() as spawner, aclosing(spawner.run(command)) as items:
        async for item in items:
            if isinstance(item, OutputChunk):
                printed.setdefault(item.channel, bytearray()).extend(item.data)
            else:
                ended = item
    assert ended is not None
    return CommandResult(ended, printed)


def is_running(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    seen = process_info(pid)
    return seen is not None and not seen.ended


def pids(folder: Path) -> list[int]:
    """Return the process ids that a command's processes have written, one per file."""
    return [int(path.read_text()) for path in sorted(folder.glob("*.pid"))]


def wait_for(path: Path) -> None:
    """Wait until a command has written a file; blocks."""
    wait_until(lambda: path.exists() and bool(path.read_text().strip()))


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until a condition is true; blocks."""
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline, "it never came to be"
        time.sleep(0.01)
