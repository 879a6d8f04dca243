"""The program of an MCP server on standard input and output. Used by ``mcp_client.connection``."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from mcp.client import Transport

from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.guard.process.stdio_process import StdioCommand, StdioProcess
from jupyter_ai_shoulders.mcp_client.connection_events import (
    PASSED_VARIABLES,
    ConnectionEnvironment,
)
from jupyter_ai_shoulders.mcp_client.process_transport import CLOSED, Streams, process_transport
from jupyter_ai_shoulders.mcp_client.server_entries import ServerEntry
from jupyter_ai_shoulders.wire.hidden_characters import visible


class ServerProgram:
    """Starts the program of an entry whose values are filled in, and keeps its last lines."""

    def __init__(self, entry: ServerEntry, environment: ConnectionEnvironment) -> None:
        self._entry = entry
        self._environment = environment
        self._process: StdioProcess | None = None

    def error_lines(self) -> tuple[str, ...]:
        """Return the last lines of standard error."""
        return () if self._process is None else self._process.error_lines()

    def transport(self, on_end: Callable[[str], None]) -> Transport:
        """Return the transport that starts the program when it is entered."""
        return self._open(on_end)

    def not_started(self, reason: str) -> StateUnavailable:
        """Return the error for a program that ended before it answered."""
        last = next(reversed(self.error_lines()), "") if reason == CLOSED else ""
        return StateUnavailable(
            f"The MCP server {self._entry.name} ended while it started. {visible(last or reason)}",
            hint="See its last lines in the settings under MCP servers, and check its command.",
            retryable=True,
        )

    @asynccontextmanager
    async def _open(self, on_end: Callable[[str], None]) -> AsyncGenerator[Streams]:
        process = await self._environment.starter.start(self._command())
        self._process = process
        try:
            async with process_transport(process, on_end) as streams:
                yield streams
        finally:
            await process.aclose()

    def _command(self) -> StdioCommand:
        entry, environment = self._entry, self._environment
        environ = {
            name: environment.environ[name]
            for name in PASSED_VARIABLES
            if name in environment.environ
        }
        folder = self._folder()
        program = entry.command
        if program.startswith("~/"):
            program = str(environment.home / program[2:])
        elif os.sep in program:
            program = str(folder / program)
        return StdioCommand(program, entry.args, {**environ, **dict(entry.env)}, folder)

    def _folder(self) -> Path:
        named = self._entry.cwd or ""
        if named.startswith("~/"):
            return self._environment.home / named[2:]
        return self._environment.workspace / named
