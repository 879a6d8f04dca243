"""Joins streamed text into fewer events: a piece after a pause at once, others on a short timer.

A key that is cut over several pieces never leaves: what could begin one waits for the rest.
Used by ``engine.calls.model_call`` and ``engine.calls.batch_runner``; one instance per part or
call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from jupyter_ai_shoulders.core.redaction.redactor import Redactor, StreamRedactor


class DeltaBuffer:
    """Calls ``emit`` with the text, in order, at most once per ``interval`` seconds."""

    def __init__(
        self, interval: float, emit: Callable[[str], None], redactor: Redactor | None = None
    ) -> None:
        """Without a ``redactor`` nothing is masked or held back."""
        self._stream = StreamRedactor(redactor) if redactor is not None else None
        self._interval = interval
        self._emit = emit
        self._pieces: list[str] = []
        self._free_at: float | None = None
        """When the next piece may go out; None before the first."""
        self._timer: asyncio.Handle | None = None
        self._failure: Exception | None = None

    def push(self, text: str) -> None:
        """Take more text. Raises what ``emit`` raised, now or on the timer."""
        self._raise()
        self._pieces.append(text)
        if self._free_at is None:
            self.flush()
        elif self._timer is None:
            self._timer = self._scheduled(self._free_at)

    def flush(self) -> None:
        """Emit what is held. Raises like ``push``."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._raise()
        if self._pieces:
            text, self._pieces = "".join(self._pieces), []
            self._send(text if self._stream is None else self._stream.push(text))

    def close(self) -> None:
        """Emit all that is left; nothing more will come. Raises like ``push``."""
        self.flush()
        if self._stream is not None:
            self._send(self._stream.finish())

    def _send(self, text: str) -> None:
        if text:
            self._free_at = asyncio.get_running_loop().time() + self._interval
            self._emit(text)

    def _scheduled(self, free_at: float) -> asyncio.Handle:
        """Wait no longer than for what arrived together with this piece, if the way is free."""
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
