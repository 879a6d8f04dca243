"""Joins streamed text into fewer events: the first piece at once, later ones on a short timer.

Used by ``engine.model_call`` and ``engine.tool_calls``; one instance per part or call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Coalescer:
    """Calls ``emit`` with the text, in order, at most once per ``interval`` after the first."""

    def __init__(self, interval: float, emit: Callable[[str], None]) -> None:
        self._interval = interval
        self._emit = emit
        self._pieces: list[str] = []
        self._started = False
        self._timer: asyncio.TimerHandle | None = None
        self._failure: Exception | None = None

    def push(self, text: str) -> None:
        """Take more text. Raises what ``emit`` raised, now or on the timer."""
        self._raise()
        if not self._started:
            self._started = True
            self._emit(text)
            return
        self._pieces.append(text)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._interval, self._fire)

    def flush(self) -> None:
        """Emit what is held. Raises like ``push``."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._raise()
        if self._pieces:
            text, self._pieces = "".join(self._pieces), []
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
