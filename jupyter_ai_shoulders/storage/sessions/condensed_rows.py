"""The events of a log as far as a fold needs them, from fewer objects than there are rows.

Used by ``SqliteEventLog.replay``. Most rows are pieces of streamed text, which only count together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Literal

from pydantic import TypeAdapter

from jupyter_ai_shoulders.storage.schema.event_rows import SEQ_MASK, is_intact
from jupyter_ai_shoulders.wire.base import WireModel
from jupyter_ai_shoulders.wire.events import Event, ReasoningDelta, TextDelta, parse_event

TypedRow = tuple[int, bytes, int | None, str]
"""A row's id, body, checksum and event type."""

_JOINED = frozenset({"text-delta", "reasoning-delta"})
_DROPPED = "tool-progress"


class _Piece(WireModel):
    """What distinguishes the pieces of one part from each other."""

    type: Literal["text-delta", "reasoning-delta"]
    turn_id: str | None
    part_id: str
    text: str


def condensed_events(rows: Sequence[TypedRow], after: int) -> list[Event] | None:
    """Return the events of consecutive rows, without tool progress.

    Adjacent pieces of a part are one event with the ``seq`` of the last piece. Returns None when a
    row after ``after`` is missing or damaged. Raises ``pydantic.ValidationError``.
    """
    for seq, (row_id, body, stored, _) in enumerate(rows, after + 1):
        if row_id & SEQ_MASK != seq or not is_intact((row_id, body, stored)):
            return None
    events: list[Event] = []
    for kind, group in groupby(rows, itemgetter(3)):
        bodies = [row[1] for row in group]
        if kind in _JOINED:
            events += _joined(bodies)
        elif kind != _DROPPED:
            events += map(parse_event, bodies)
    return events


def _joined(bodies: Sequence[bytes]) -> Iterator[Event]:
    """Yield one event for the pieces of each part."""
    pieces = _pieces().validate_json(b"[%b]" % b",".join(bodies))
    end = 0
    for _, group in groupby(pieces, attrgetter("type", "turn_id", "part_id")):
        texts = [piece.text for piece in group]
        end += len(texts)
        last = parse_event(bodies[end - 1])
        assert isinstance(last, TextDelta | ReasoningDelta)
        yield last.model_copy(update={"text": "".join(texts)})


@cache
def _pieces() -> TypeAdapter[list[_Piece]]:
    return TypeAdapter(list[_Piece])
