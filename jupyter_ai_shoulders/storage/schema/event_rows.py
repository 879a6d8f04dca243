"""Rows of the table of events: checksums, and placeholders for damaged rows.

A damaged row must not make the rest of its conversation unreadable. ``SqliteEventLog`` replaces it
by a notice that says how many events are missing; ``storage.salvage.restoration`` stores such
notices.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pydantic import ValidationError

from jupyter_ai_shoulders.storage.json_encoding import decode_lenient
from jupyter_ai_shoulders.storage.schema.migrations import SEQ_BITS
from jupyter_ai_shoulders.wire.events import EventBase, Notice, event_adapter
from jupyter_ai_shoulders.wire.ids import SessionId

DAMAGED = "event_damaged"
"""Code of the notice in place of unreadable events.

The first of a run states their number. The others have no text and are not shown.
"""

COLUMNS = "id, CAST(body AS BLOB), checksum"
"""The columns of an ``EventRow``; a damaged text may not be valid UTF-8."""

SEQ_MASK = (1 << SEQ_BITS) - 1
"""The bits of a row's id that hold the event's ``seq``."""

LONGEST_GAP = 10_000
"""A longer gap is a damaged row number rather than that many lost events."""


class EventText(NamedTuple):
    """An event as sent to clients, unparsed."""

    seq: int
    text: str
    damaged: str | None = None
    """The stored text when ``text`` is the placeholder of an unreadable event."""


EventRow = tuple[int, bytes, int | None]
"""A row's id, body and checksum; old rows have None as checksum."""


def checksum(row_id: int, body: bytes) -> int:
    """Return the CRC-32 of a row; it covers the id, to detect a row in a wrong place."""
    return zlib.crc32(body, (row_id ^ row_id >> SEQ_BITS) & SEQ_MASK)


def is_intact(row: EventRow) -> bool:
    """Return whether the row is unchanged since it was written."""
    row_id, body, stored = row
    if stored is not None:
        return stored == checksum(row_id, body)
    try:
        event: EventBase = event_adapter().validate_json(body)
    except ValidationError:
        return False
    return event.seq == row_id & SEQ_MASK


def event_texts(
    session_id: SessionId, rows: Iterable[EventRow], after: int, at: str
) -> Iterator[EventText]:
    """Yield the events of a session after ``after``, with placeholders for lost or damaged ones.

    ``at`` is the time of the placeholders.
    """
    run: list[tuple[int, str]] = []
    for row in rows:
        seq = row[0] & SEQ_MASK
        if seq != after + 1:
            end = min(seq, after + 1 + LONGEST_GAP)
            run += ((missing, "") for missing in range(after + 1, end))
        after = seq
        if not is_intact(row):
            run.append((seq, decode_lenient(row[1])))
            continue
        if run:
            yield from placeholders(session_id, run, at)
            run = []
        yield EventText(seq, row[1].decode())
    yield from placeholders(session_id, run, at)


def placeholders(session_id: SessionId, run: list[tuple[int, str]], at: str) -> Iterator[EventText]:
    """Yield notices in place of consecutive events, given by number and remaining text."""
    for index, (seq, stored) in enumerate(run):
        notice = Notice(
            seq=seq,
            session_id=session_id,
            at=at,
            level="warning",
            code=DAMAGED,
            text=_missing(seq, len(run)) if index == 0 else "",
        )
        yield EventText(seq, notice.model_dump_json(), stored)


def is_placeholder(event: EventBase) -> bool:
    """Return whether the event is a placeholder for a damaged or lost one."""
    return isinstance(event, Notice) and event.code == DAMAGED


def _missing(first: int, count: int) -> str:
    which = f"event {first}" if count == 1 else f"events {first} to {first + count - 1}"
    counted = "1 event is" if count == 1 else f"{count} events are"
    return (
        f"This conversation is incomplete: {counted} missing here ({which}), because the stored "
        "data is damaged. Everything else is shown. Check the disk; a backup of the state "
        "directory may have the missing part."
    )
