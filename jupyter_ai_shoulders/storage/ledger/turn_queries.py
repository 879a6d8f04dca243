"""Statistics of turns, steps and tools in a period, from the event log of a workspace.

Called by ``host.usage.service``. All functions block, use their own connection and may run in any
thread. They cover the events between two times (``end`` excluded) in the sessions of ``owner`` and
those without an owner; None covers all. Copies in forks do not count. They raise
``StateUnavailable``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from jupyter_ai_shoulders.storage.ledger.database import query_rows
from jupyter_ai_shoulders.storage.schema.migrations import SEQ_BITS, UNSTREAMED
from jupyter_ai_shoulders.storage.schema.session_projection import OWN_EVENT
from jupyter_ai_shoulders.wire.usage import (
    ExitCount,
    FailureCount,
    FirstOutputTimes,
    Steps,
    ToolUsage,
    TurnUsage,
)

_SEEN = f"""
    (? IS NULL OR EXISTS (
      SELECT 1 FROM sessions WHERE number = events.id >> {SEQ_BITS}
        AND (owner IS NULL OR owner = ?)))
"""  # noqa: S608 constants
"""Condition on ``events``: sessions of this owner, given twice, or without an owner."""
_BETWEEN = """
    iif(json_valid(body), json_extract(body, '$.at') >= ? AND json_extract(body, '$.at') < ?, 0)
"""
_COUNTED = f"{UNSTREAMED} AND {OWN_EVENT} AND {_BETWEEN} AND {_SEEN}"
_RESULTS = f"""
    SELECT json_extract(body, '$.tool'), json_extract(body, '$.status'),
           json_extract(body, '$.duration_ms')
    FROM events WHERE type = 'tool-result' AND {_COUNTED}
"""  # noqa: S608 constants
_COUNT = f"SELECT count(*) FROM events WHERE type = ? AND {_COUNTED}"  # noqa: S608 constants
_EXITS = f"""
    SELECT json_extract(body, '$.exit'), json_extract(body, '$.error.code')
    FROM events WHERE type = 'turn-end' AND {_COUNTED}
"""  # noqa: S608 constants
_TOOL_ERRORS = f"""
    SELECT json_extract(body, '$.tool'), json_extract(body, '$.result.error.code')
    FROM events WHERE type IN ('tool-result', 'run-end') AND {_COUNTED}
    AND json_extract(body, '$.status') = 'error'
"""  # noqa: S608 constants
_OUTPUTS = f"""
    SELECT type, json_extract(body, '$.turn_id'), json_extract(body, '$.at') FROM events
    WHERE type IN ('step-start', 'text-start', 'reasoning-start', 'tool-call') AND {_COUNTED}
    ORDER BY id
"""  # noqa: S608 constants
_DID_NOT_RUN = frozenset({"denied", "skipped", "cancelled"})

_STOPPED = frozenset({"cancelled", "interrupted"})
_ANSWERED = frozenset({"final_response", "ended_by_tool"})
MOST_FAILURES = 20


def tool_usage(
    database: Path, start: str, end: str, owner: str | None = None
) -> tuple[ToolUsage, ...]:
    """Return statistics of each tool, by name."""
    found: dict[str, _Tool] = defaultdict(_Tool)
    for tool, status, duration in query_rows(database, _RESULTS, start, end, owner, owner):
        found[tool].add(status, duration)
    return tuple(found[tool].usage(tool) for tool in sorted(found))


def step_usage(database: Path, start: str, end: str, owner: str | None = None) -> Steps:
    """Return the number of steps of turns."""
    turns = _count(database, "turn-start", start, end, owner)
    steps = _count(database, "step-start", start, end, owner)
    return Steps(turns=turns, steps=steps, per_turn=steps / turns if turns else None)


def turn_usage(database: Path, start: str, end: str, owner: str | None = None) -> TurnUsage:
    """Return how turns ended."""
    exits = Counter(row[0] for row in query_rows(database, _EXITS, start, end, owner, owner))
    answered = sum(exits[each] for each in _ANSWERED)
    judged = exits.total() - sum(exits[each] for each in _STOPPED)
    return TurnUsage(
        turns=exits.total(),
        answered=answered,
        success_rate=answered / judged if judged else None,
        exits=tuple(ExitCount(exit=name, turns=turns) for name, turns in exits.most_common()),
    )


def first_output_times(
    database: Path, start: str, end: str, owner: str | None = None
) -> FirstOutputTimes:
    """Return how long steps took to their first text, reasoning or tool call."""
    began: dict[str, datetime] = {}
    times: list[int] = []
    for kind, turn_id, at in query_rows(database, _OUTPUTS, start, end, owner, owner):
        moment = datetime.fromisoformat(at)
        if kind == "step-start":
            began[turn_id] = moment
        elif (step := began.pop(turn_id, None)) is not None:
            times.append(max(round((moment - step).total_seconds() * 1000), 0))
    return FirstOutputTimes(steps=len(times), p50_ms=_p50(times), p95_ms=_p95(times))


def most_frequent_failures(
    database: Path, start: str, end: str, owner: str | None = None
) -> tuple[FailureCount, ...]:
    """Return the errors of turns and of calls, by code and tool."""
    found: Counter[tuple[str, str | None]] = Counter()
    for tool, code in query_rows(database, _TOOL_ERRORS, start, end, owner, owner):
        found[code or "unknown", tool] += 1
    for _, code in query_rows(database, _EXITS, start, end, owner, owner):
        if code is not None:
            found[code, None] += 1
    ordered = sorted(found.items(), key=lambda item: (-item[1], item[0][0], item[0][1] or ""))
    return tuple(
        FailureCount(code=code, tool=tool, count=count)
        for (code, tool), count in ordered[:MOST_FAILURES]
    )


@dataclass(slots=True)
class _Tool:
    ok: int = 0
    not_run: int = 0
    denied: int = 0
    durations: list[int] = field(default_factory=list[int])

    def add(self, status: str, duration: int) -> None:
        if status in _DID_NOT_RUN:
            self.not_run += 1
            self.denied += status == "denied"
            return
        self.ok += status == "ok"
        self.durations.append(duration)

    def usage(self, tool: str) -> ToolUsage:
        calls = len(self.durations)
        return ToolUsage(
            tool=tool,
            calls=calls,
            ok=self.ok,
            success_rate=self.ok / calls if calls else None,
            not_run=self.not_run,
            denied=self.denied,
            median_ms=_p50(self.durations),
            p95_ms=_p95(self.durations),
        )


def _p50(durations: list[int]) -> float | None:
    from statistics import median  # late: it imports a lot that a start does not need

    return median(durations) if durations else None


def _p95(durations: list[int]) -> float | None:
    if len(durations) < 2:
        return float(durations[0]) if durations else None
    from statistics import quantiles

    return quantiles(durations, n=20, method="inclusive")[-1]


def _count(database: Path, event_type: str, start: str, end: str, owner: str | None) -> int:
    found = query_rows(database, _COUNT, event_type, start, end, owner, owner)
    return found[0][0] if found else 0
