"""Finding the file changes after a position in the log."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.changes.restore.changes_since import LogPosition
from jupyter_ai_shoulders.core.operation_journal import ChangeOrigin, LoggedChange, to_operation
from jupyter_ai_shoulders.wire.ids import CallId, OperationId, SessionId, TurnId
from jupyter_ai_shoulders.wire.operations import Operation

BEFORE, MOMENT, LATER = (f"2026-03-02T09:30:{second}.000Z" for second in ("01", "02", "03"))
MIDDLE = LogPosition(
    after=20,
    moment=MOMENT,
    calls={CallId("c1"): 11, CallId("c2"): 21},
    began={TurnId("t1"): 2, TurnId("t2"): 10, TurnId("t3"): 30, TurnId("restore"): 40},
    ended={TurnId("t1"): 9, TurnId("t2"): 29},
)
"""In the second turn, between its two calls."""


def row(number: int, turn: str | None, call: str | None, at: str) -> Operation:
    origin = ChangeOrigin(
        SessionId("s"),
        None if turn is None else TurnId(turn),
        None if call is None else CallId(call),
    )
    return to_operation(
        OperationId(f"o{number}"), at, LoggedChange("edit", "a.txt", origin), "done"
    )


@pytest.mark.parametrize(
    ("rows", "behind"),
    [
        ([("t1", "c0", LATER), ("t3", "c9", BEFORE)], ["o1"]),
        ([("t2", "c1", LATER), ("t2", "c2", BEFORE)], ["o1"]),
        ([("restore", None, BEFORE)], ["o0"]),
        ([(None, None, BEFORE), (None, None, MOMENT)], ["o1"]),
        ([("t2", None, BEFORE), ("t2", None, LATER)], ["o1"]),
        ([(None, None, LATER), ("t1", None, LATER)], []),
        ([("t3", None, BEFORE), (None, None, BEFORE)], ["o0", "o1"]),
        ([("elsewhere", "c", LATER)], ["o0"]),
        ([], []),
    ],
    ids=[
        *("turns", "calls of one turn", "restore", "the user's, by time", "no call, by time"),
        *("the user's, before a turn", "the user's, after a turn", "unknown, by time", "none"),
    ],
)
def test_the_log_tells_what_is_behind_and_time_only_where_it_does_not(
    rows: list[tuple[str | None, str | None, str]], behind: list[str]
):
    made = [row(number, *given) for number, given in enumerate(rows)]
    assert [each.id for each in MIDDLE.filter_after(made)] == behind
