"""Decodes server-sent events from bytes; used by ``http.request`` for each stream.

Common decoders lose events after a byte-order mark and at a missing final blank line, and split
lines at U+2028; this one does not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

MAX_LINE = 8 * 1024 * 1024
"""Bytes of one line, and of the data of one event; far more than any model sends."""

BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n|\n|\r")
_BRACKETS = {b"{": 1, b"[": 1, b"}": -1, b"]": -1}


class LineTooLong(Exception):
    """A line, or the data of one event, is longer than allowed."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"A line of the stream is longer than {limit} bytes.")
        self.limit = limit


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event; ``event`` is empty where the server sent no name."""

    event: str
    data: str


class LineSplitter:
    """Splits bytes into lines at LF, CRLF and CR, and nowhere else."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that ``chunk`` completes. Raises ``LineTooLong``."""
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            self._after_cr = False
        if not chunk:
            return []
        self._after_cr = chunk.endswith(b"\r")
        lines = _LINE_END.split(chunk) if b"\r" in chunk else chunk.split(b"\n")
        rest = lines.pop()
        if lines:
            lines[0] = self._take() + lines[0]
            self._check(max(map(len, lines)))
        self._pieces.append(rest)
        self._size += len(rest)
        self._check(self._size)
        return lines

    def close(self) -> bytes:
        """Return the bytes after the last line end."""
        return self._take()

    def _take(self) -> bytes:
        line = b"".join(self._pieces)
        self._pieces.clear()
        self._size = 0
        return line

    def _check(self, size: int) -> None:
        if size > self._limit:
            raise LineTooLong(self._limit)


class BareJson:
    """Collects JSON without ``data:`` in a stream, as in Google's errors.

    It may span many lines and is complete when its brackets balance.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lines: list[bytes] = []
        self._size = 0
        self._depth = 0

    def takes(self, line: bytes) -> bool:
        """Return whether the line belongs to such JSON."""
        return bool(self._lines) or line.startswith((b"{", b"["))

    def add(self, line: bytes) -> bytes | None:
        """Add a line; return the JSON when it is complete. Raises ``LineTooLong``."""
        self._lines.append(line)
        self._size += len(line) + 1
        if self._size > self._limit:
            raise LineTooLong(self._limit)
        self._depth += sum(line.count(bracket) * step for bracket, step in _BRACKETS.items())
        if self._depth > 0:
            return None
        found = self.take()
        return found if _is_json(found) else None

    def take(self) -> bytes:
        """Return the collected JSON, and reset."""
        text = b"\n".join(self._lines)
        self._lines.clear()
        self._size = self._depth = 0
        return text


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


class SseDecoder:
    """Turns chunks of bytes into events. Comments, ``id`` and ``retry`` are dropped.

    JSON without ``data:`` is an event too.
    """

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._lines = LineSplitter(limit)
        self._bare = BareJson(limit)
        self._limit = limit
        self._first = True
        self._event = b""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """Return the events that ``chunk`` completes. Raises ``LineTooLong``."""
        events: list[ServerSentEvent] = []
        for line in self._lines.feed(chunk):
            if line:
                events += self._field(line)
            elif self._data:
                events.append(self._dispatch())
            else:
                self._event = b""
        return events

    def close(self) -> list[ServerSentEvent]:
        """Return the event without a final blank line, if there is one.

        Its data may be cut off; the caller decides.
        """
        rest = self._lines.close()
        events = [*self._field(rest)] if rest else []
        bare = self._bare.take()
        if bare:
            self._add(bare)
        return [*events, self._dispatch()] if self._data else events

    def _field(self, line: bytes) -> Sequence[ServerSentEvent]:
        """Handle a line; return an event only for JSON without ``data:``."""
        if self._first:
            self._first = False
            line = line.removeprefix(BOM)
        name, _, value = line.partition(b":")
        if name == b"data":
            self._add(value.removeprefix(b" "))
        elif name == b"event":
            self._event = value.removeprefix(b" ")
        elif self._bare.takes(line):
            whole = self._bare.add(line)
            if whole is not None:
                return [ServerSentEvent("", whole.decode("utf-8", "replace"))]
        return ()

    def _add(self, value: bytes) -> None:
        self._size += len(value) + 1
        if self._size > self._limit:
            raise LineTooLong(self._limit)
        self._data.append(value)

    def _dispatch(self) -> ServerSentEvent:
        event = ServerSentEvent(
            self._event.decode("utf-8", "replace"),
            b"\n".join(self._data).decode("utf-8", "replace"),
        )
        self._event = b""
        self._data.clear()
        self._size = 0
        return event
