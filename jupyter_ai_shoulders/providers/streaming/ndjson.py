"""Lines of JSON from bytes, cut anywhere (reference §5); the framing of ``ollama``'s streams.

Has the shape of ``sse.SseDecoder`` so that ``exchange`` reads both.
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
        """Return the line that lacked its end, if there is one; it may be cut."""
        rest = self._lines.close()
        return [self._event(rest)] if rest else []

    def _event(self, line: bytes) -> ServerSentEvent:
        if self._first:
            self._first = False
            line = line.removeprefix(BOM)
        return ServerSentEvent("", line.decode("utf-8", "replace"))
