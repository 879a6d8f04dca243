"""Splits the server's event stream into events; called by ``connection``.

The stream has ``id:`` lines, ``data:`` lines with JSON, which has no line breaks, and comments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jupyter_ai_shoulders.wire.events import Event, parse_event

_DATA = b"data:"


def parse_events(pieces: Iterable[bytes]) -> Iterator[Event]:
    """Yield the events of a stream that arrives in pieces; an unfinished last one is dropped."""
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            if line.startswith(_DATA):
                yield parse_event(line.removeprefix(_DATA).strip())
