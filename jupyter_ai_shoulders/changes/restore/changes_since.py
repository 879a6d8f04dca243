"""Finds the file changes after an event by the order of the log, not by clocks. Pure.

Used by ``changes.restore.restorer``. A row of the operation log names the call and the turn or
restore that made it; their events have an order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.wire.event_types.restore import RestoreRequest
from jupyter_ai_shoulders.wire.events import Checkpoint, Event, ToolStart, TurnEnd, TurnStart
from jupyter_ai_shoulders.wire.ids import CallId, TurnId
from jupyter_ai_shoulders.wire.operations import Operation

POSITION_TYPES = frozenset({"checkpoint", "tool-start", "turn-end", "turn-start"})
"""Types of the events that order rows."""


@dataclass(frozen=True, slots=True)
class LogPosition:
    """A position in a session's log."""

    after: int
    """The number of the event before the position."""
    moment: str
    """The time of the next event; used only where no event orders a row."""
    calls: Mapping[CallId, int]
    """The event number of each call's start."""
    began: Mapping[TurnId, int]
    """The event number of each turn's or restore's start."""
    ended: Mapping[TurnId, int]

    def filter_after(self, rows: Sequence[Operation]) -> list[Operation]:
        """Return the rows of the session after this position, in order."""
        is_after = [self._is_after(row) for row in rows]
        first = is_after.index(True) if True in is_after else len(rows)
        last = max(
            (position for position, behind in enumerate(is_after) if behind is False), default=-1
        )
        return [
            row
            for position, (row, behind) in enumerate(zip(rows, is_after, strict=True))
            if behind
            or (behind is None and (position > first or (position > last and self._is_later(row))))
        ]

    def _is_after(self, row: Operation) -> bool | None:
        """Return whether a row is after this position; None where no event tells."""
        call, turn = row.call_id, row.turn_id
        if call is not None and call in self.calls:
            return self.calls[call] > self.after
        if turn is not None and self.began.get(turn, 0) > self.after:
            return True
        if turn is not None and turn in self.ended and self.ended[turn] <= self.after:
            return False
        return None

    def _is_later(self, row: Operation) -> bool:
        return row.at >= self.moment


def log_position_after(events: Iterable[Event], after: int, moment: str) -> LogPosition:
    """Return the position after an event, from the session's events of ``POSITION_TYPES``."""
    calls: dict[CallId, int] = {}
    began: dict[TurnId, int] = {}
    ended: dict[TurnId, int] = {}
    for event in events:
        match event:
            case ToolStart():
                calls.setdefault(event.call_id, event.seq)
            case TurnStart() if event.turn_id is not None:
                began.setdefault(event.turn_id, event.seq)
            case TurnEnd() if event.turn_id is not None:
                ended[event.turn_id] = event.seq
            case Checkpoint(order=RestoreRequest(restore_id=restore_id)):
                began.setdefault(TurnId(restore_id), event.seq)
            case _:
                pass
    return LogPosition(after, moment, calls, began, ended)
