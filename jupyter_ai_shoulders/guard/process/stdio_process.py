"""Programs that exchange messages with this server over standard input and output.

MCP servers and ACP agents. A program gets only the variables it is given, runs in its own process
group, and ends with its descendants when it is closed or this server dies.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class StdioCommand:
    """The exact program to run; ``environ`` is its whole environment."""

    program: str
    arguments: Sequence[str]
    environ: Mapping[str, str]
    folder: Path


class StdioProcess(Protocol):
    """A running program; always call ``aclose``."""

    pid: int
    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader

    def error_lines(self) -> tuple[str, ...]:
        """Return the last lines that it wrote to standard error."""
        ...

    async def wait(self) -> int | None:
        """Return its exit status when it has ended; None if it is unknown."""
        ...

    async def aclose(self) -> None:
        """Close its input, then end it and its descendants if it does not exit in time."""
        ...


class StdioProcessStarter(Protocol):
    """Starts programs; implemented by ``guard.process.stdio_launcher``."""

    async def start(self, command: StdioCommand) -> StdioProcess:
        """Start it. Raises ``PolicyRefusal`` (cannot be started), ``NotFound`` (no program)."""
        ...
