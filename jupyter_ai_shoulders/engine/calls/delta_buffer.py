"""Joins streamed text into fewer events: at once after a pause, otherwise on a short timer.

All buffers of a process emit at the same points of time, so that fifty replies that stream at once
wake the event loop, and make a frame for the page, 20 times a second and not a thousand times.
A key split over several pieces never leaves the buffer: text that could begin a key waits for the
rest. Used by ``engine.calls.model_call`` and ``engine.calls.execution``; one instance per part or
call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from jupyter_ai_shoulders.core.redaction.redactor import Redactor, StreamRedactor


class DeltaBuffer:
    """Calls ``emit`` with the first text at once, then with what comes in each ``interval`` (s)."""

    def __init__(
        self,
        interval: float,
        emit: Callable[[str], None],
        redactor: Callable[[], Redactor] | None = None,
    ) -> None:
        """Without a ``redactor``, nothing is masked or held back."""
        self._stream = StreamRedactor(redactor) if redactor is not None else None
        self._interval = interval
        self._emit = emit
        self._pieces: list[str] = []
        self._free_at: float | None = None
        """When the next piece may be emitted; None before the first."""
        self._timer: asyncio.Handle | None = None
        self._failure: Exception | None = None

    def push(self, text: str) -> None:
        """Add text. Raises what ``emit`` raised, now or on the timer."""
        self._raise()
        self._pieces.append(text)
        if self._free_at is None:
            self.flush()
        elif self._timer is None:
            self._timer = self._scheduled(self._free_at)

    def flush(self) -> None:
        """Emit the buffered text. Raises as ``push``."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._raise()
        if self._pieces:
            text, self._pieces = "".join(self._pieces), []
            self._send(text if self._stream is None else self._stream.push(text))

    def close(self) -> None:
        """Emit all remaining text; no more follows. Raises as ``push``."""
        self.flush()
        if self._stream is not None:
            self._send(self._stream.finish())

    def _send(self, text: str) -> None:
        if text:
            now, interval = asyncio.get_running_loop().time(), self._interval
            self._free_at = (now // interval + 1) * interval if interval else now
            self._emit(text)

    def _scheduled(self, free_at: float) -> asyncio.Handle:
        """Schedule the next emission, at once when the interval is over."""
        loop = asyncio.get_running_loop()
        if loop.time() >= free_at:
            return loop.call_soon(self._fire)
        return loop.call_at(free_at, self._fire)

    def _fire(self) -> None:
        try:
            self.flush()
        except Exception as error:  # noqa: BLE001 raised again by the next push or flush
            self._failure = error

    def _raise(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
