"""Joins streamed text into fewer events: a piece after a pause at once, others on a short timer.

Used by ``engine.model_call`` and ``engine.tool_calls``; one instance per part or call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import inf


class Coalescer:
    """Calls ``emit`` with the text, in order, at most once per ``interval`` seconds."""

    def __init__(self, interval: float, emit: Callable[[str], None]) -> None:
        self._interval = interval
        self._emit = emit
        self._pieces: list[str] = []
        self._free_at = -inf
        """When the next piece may go out."""
        self._timer: asyncio.TimerHandle | None = None
        self._failure: Exception | None = None

    def push(self, text: str) -> None:
        """Take more text. Raises what ``emit`` raised, now or on the timer."""
        self._raise()
        self._pieces.append(text)
        if self._timer is not None:
            return
        loop = asyncio.get_running_loop()
        if loop.time() >= self._free_at:
            self.flush()
        else:
            self._timer = loop.call_at(self._free_at, self._fire)

    def flush(self) -> None:
        """Emit what is held. Raises like ``push``."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._raise()
        if self._pieces:
            text, self._pieces = "".join(self._pieces), []
            self._free_at = asyncio.get_running_loop().time() + self._interval
            self._emit(text)

    def _fire(self) -> None:
        try:
            self.flush()
        except Exception as error:  # noqa: BLE001 raised again by the next push or flush
            self._failure = error

    def _raise(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
