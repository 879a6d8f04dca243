"""Starts programs that exchange messages with this server (``guard.process.stdio_process``).

Each runs below a spawner of its own (``guard.process.launcher``), which ends it and all its
descendants when it is closed and when this server dies. Used by ``host`` for MCP servers and
agents.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections import deque

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.guard.process.launcher import ProgramStreams, Spawner
from jupyter_ai_shoulders.guard.process.program import Program, ProgramExit
from jupyter_ai_shoulders.guard.process.stdio_process import (
    StdioCommand,
    StdioProcess,
    StdioProcessStarter,
)

LINE_BYTES = 16 * 2**20
"""The longest message; ``readline`` raises ``ValueError`` for a longer one."""
ERROR_LINES = 50
ERROR_LINE_CHARACTERS = 500
EXIT_SECONDS = 2.0
"""How long a program may take to exit after its input was closed."""


class StdioLauncher(StdioProcessStarter):
    """Starts programs without a sandbox, with exactly the given variables."""

    async def start(self, command: StdioCommand) -> StdioProcess:
        """Start it. Raises ``NotFound`` (no program), ``PolicyRefusal``, ``InvalidRequest``."""
        path = command.environ.get("PATH")
        found = await asyncio.to_thread(shutil.which, command.program, path=path)
        if found is None:
            raise NotFound(
                f"The program {command.program} was not found.",
                hint="Install it, or give its full path.",
            )
        spawner = await asyncio.to_thread(Spawner.launch, with_input=True)
        try:
            streams = await spawner.connect(
                Program(
                    words=[found, *command.arguments],
                    folder=command.folder,
                    environment=command.environ,
                    time_limit_s=None,
                    processes=0,
                ),
                LINE_BYTES,
            )
        except BaseException:
            await spawner.aclose()
            raise
        return _Running(spawner, streams)


class _Running(StdioProcess):
    """A running program."""

    def __init__(self, spawner: Spawner, streams: ProgramStreams) -> None:
        self.pid = spawner.pid
        self.stdin = streams.stdin
        self.stdout = streams.stdout
        self._spawner = spawner
        self._errors: deque[str] = deque(maxlen=ERROR_LINES)
        self._reading = asyncio.create_task(self._read_errors(streams.stderr))
        self._exit: asyncio.Task[ProgramExit] = asyncio.create_task(spawner.exit())

    def error_lines(self) -> tuple[str, ...]:
        """Return the last lines of standard error."""
        return tuple(self._errors)

    async def wait(self) -> int | None:
        """Return the exit code when it has ended; None if it is unknown."""
        return (await asyncio.shield(self._exit)).code

    async def aclose(self) -> None:
        """End it: by closing its input, then with its descendants."""
        with contextlib.suppress(OSError):
            self.stdin.close()
        try:
            await asyncio.wait({self._exit}, timeout=EXIT_SECONDS)
            await self._spawner.aclose()
        finally:
            self._exit.cancel()
            self._reading.cancel()
        await asyncio.wait({self._exit, self._reading})

    async def _read_errors(self, stderr: asyncio.StreamReader) -> None:
        """Keep the last lines; a longer line comes in pieces."""
        rest = b""
        while piece := await stderr.read(4096):
            *lines, rest = (rest + piece).split(b"\n")
            for line in (*lines, *((rest,) if len(rest) > ERROR_LINE_CHARACTERS else ())):
                text = line.decode("utf-8", "replace").rstrip()
                if text:
                    self._errors.append(text[:ERROR_LINE_CHARACTERS])
            rest = b"" if len(rest) > ERROR_LINE_CHARACTERS else rest
        if rest:
            self._errors.append(rest.decode("utf-8", "replace").rstrip()[:ERROR_LINE_CHARACTERS])
