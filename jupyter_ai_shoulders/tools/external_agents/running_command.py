"""A command that runs for an agent: its output so far, its end, and how to stop it.

Made by ``agent_run_command``; read by the agent's ``terminal/output`` and ``wait_for_exit``.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

OUTPUT_LIMIT = 1 << 20
"""Most characters of output that an agent can ask for."""


@dataclass(frozen=True, slots=True)
class OutputTail:
    """The newest output."""

    text: str
    truncated: bool


class RunningCommand:
    """A command of an agent (an ACP terminal)."""

    def __init__(self, output_limit: int | None = None) -> None:
        """``output_limit`` is in bytes of UTF-8."""
        self._limit = min(output_limit if output_limit is not None else OUTPUT_LIMIT, OUTPUT_LIMIT)
        self._text = ""
        self._truncated = False
        self._ended = asyncio.Event()
        self.stop_requested = asyncio.Event()
        self.exit_code: int | None = None
        """None while it runs, and if it was ended from outside."""

    @property
    def has_ended(self) -> bool:
        """Return whether it no longer runs."""
        return self._ended.is_set()

    def add_output(self, text: str) -> None:
        """Add a piece of output; only the newest is kept."""
        self._text += text
        if len(self._text) > 2 * self._limit:
            self._cut()

    def output(self) -> OutputTail:
        """Return the newest output within the limit."""
        self._cut()
        return OutputTail(self._text, self._truncated)

    def end(self, exit_code: int | None) -> None:
        """Record its end; the first one counts."""
        if not self.has_ended:
            self.exit_code = exit_code
            self._ended.set()

    def stop(self) -> None:
        """Ask for its end."""
        self.stop_requested.set()

    async def wait(self) -> int | None:
        """Return its exit code when it has ended."""
        await self._ended.wait()
        return self.exit_code

    def _cut(self) -> None:
        data = self._text.encode()
        if len(data) > self._limit:
            self._text = data[len(data) - self._limit :].decode("utf-8", "ignore")
            self._truncated = True
