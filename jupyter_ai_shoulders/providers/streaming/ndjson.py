"""Splits bytes into lines of JSON; the framing of Ollama's streams.

Has the interface of ``sse.SseDecoder``, so that ``http.request`` reads both.
"""

from __future__ import annotations

from jupyter_ai_shoulders.providers.streaming.sse import (
    BOM,
    MAX_LINE,
    LineSplitter,
    ServerSentEvent,
)


class NdjsonDecoder:
    """Turns chunks of bytes into one event per line; empty lines are dropped."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._lines = LineSplitter(limit)
        self._first = True

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """Return the events that ``chunk`` completes. Raises ``LineTooLong``."""
        return [self._event(line) for line in self._lines.feed(chunk) if line]

    def close(self) -> list[ServerSentEvent]:
        """Return the unterminated last line, if there is one; it may be cut off."""
        rest = self._lines.close()
        return [self._event(rest)] if rest else []

    def _event(self, line: bytes) -> ServerSentEvent:
        if self._first:
            self._first = False
            line = line.removeprefix(BOM)
        return ServerSentEvent("", line.decode("utf-8", "replace"))
