"""Usage in a period: sums over the ledger, and tool statistics over the event log.

Called by ``host.usage.service``. All functions block, use their own connection and may run in any
thread, so that a long query never delays a call.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from jupyter_ai_shoulders.core.budget.account import Purpose
from jupyter_ai_shoulders.storage.ledger.database import query_rows
from jupyter_ai_shoulders.storage.schema.migrations import SEQ_BITS, UNSTREAMED
from jupyter_ai_shoulders.storage.schema.session_projection import OWN_EVENT
from jupyter_ai_shoulders.wire.usage import Steps, ToolUsage, UsageRow

_SUMS = """
    count(*), coalesce(sum(ok), 0), coalesce(sum(estimated), 0),
    coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0),
    coalesce(sum(cache_read_tokens), 0), coalesce(sum(cache_write_tokens), 0),
    coalesce(sum(reasoning_tokens), 0),
    sum(cost_micro_usd), coalesce(sum(cost_micro_usd IS NULL), 0)
    FROM calls WHERE state != 'open' AND day BETWEEN ? AND ?
"""
_GROUPED = {
    "day": f"SELECT day, NULL, {_SUMS} GROUP BY day ORDER BY day",
    "model": f"SELECT model, provider, {_SUMS} GROUP BY model, provider ORDER BY 11 DESC, 1",
    "session": f"SELECT session, NULL, {_SUMS} GROUP BY session ORDER BY max(at) DESC",
}
_TOTAL = f"SELECT NULL, NULL, {_SUMS}"
_OF_PURPOSE = """
    SELECT coalesce(sum(cost_micro_usd), 0) FROM calls
    WHERE state != 'open' AND day >= ? AND purpose = ?
"""
_SEEN = f"""
    (? IS NULL OR EXISTS (
      SELECT 1 FROM sessions WHERE number = events.id >> {SEQ_BITS}
        AND (owner IS NULL OR owner = ?)))
"""  # noqa: S608 constants
"""Condition on ``events``: sessions of this owner, given twice, or without an owner."""
_BETWEEN = """
    iif(json_valid(body), json_extract(body, '$.at') >= ? AND json_extract(body, '$.at') < ?, 0)
"""
_RESULTS = f"""
    SELECT json_extract(body, '$.tool'), json_extract(body, '$.status'),
           json_extract(body, '$.duration_ms')
    FROM events WHERE type = 'tool-result' AND {UNSTREAMED} AND {OWN_EVENT}
    AND {_BETWEEN} AND {_SEEN}
"""  # noqa: S608 constants
_COUNT = f"""
    SELECT count(*) FROM events WHERE type = ? AND {UNSTREAMED} AND {OWN_EVENT}
    AND {_BETWEEN} AND {_SEEN}
"""  # noqa: S608 constants
_DID_NOT_RUN = frozenset({"denied", "skipped", "cancelled"})


def usage_rows(
    ledger: Path, by: Literal["day", "model", "session"], first: str, last: str
) -> tuple[UsageRow, ...]:
    """Return the calls of these days, both included, in groups. Raises ``StateUnavailable``."""
    return tuple(_row(found) for found in query_rows(ledger, _GROUPED[by], first, last))


def usage_total(ledger: Path, first: str, last: str) -> UsageRow:
    """Return the total of these days. Raises ``StateUnavailable``."""
    found = query_rows(ledger, _TOTAL, first, last)
    return _row(found[0] if found else (None, None, *(0,) * 8, None, 0))


def purpose_cost(ledger: Path, purpose: Purpose, first: str) -> int:
    """Return the known cost of calls for a purpose from a day on, in micro-dollars.

    Raises ``StateUnavailable``.
    """
    found = query_rows(ledger, _OF_PURPOSE, first, purpose)
    return found[0][0] if found else 0


def tool_usage(
    database: Path, start: str, end: str, owner: str | None = None
) -> tuple[ToolUsage, ...]:
    """Return statistics of each tool between two times (``end`` excluded), by name.

    Covers the sessions of ``owner`` and those without an owner; None covers all.

    Raises ``StateUnavailable``.
    """
    found: dict[str, _Tool] = defaultdict(_Tool)
    for tool, status, duration in query_rows(database, _RESULTS, start, end, owner, owner):
        found[tool].add(status, duration)
    return tuple(found[tool].usage(tool) for tool in sorted(found))


def step_usage(database: Path, start: str, end: str, owner: str | None = None) -> Steps:
    """Return the number of steps of turns between two times, see ``tool_usage``.

    Raises ``StateUnavailable``.
    """
    turns = _count(database, "turn-start", start, end, owner)
    steps = _count(database, "step-start", start, end, owner)
    return Steps(turns=turns, steps=steps, per_turn=steps / turns if turns else None)


@dataclass(slots=True)
class _Tool:
    ok: int = 0
    not_run: int = 0
    durations: list[int] = field(default_factory=list[int])

    def add(self, status: str, duration: int) -> None:
        if status in _DID_NOT_RUN:
            self.not_run += 1
            return
        self.ok += status == "ok"
        self.durations.append(duration)

    def usage(self, tool: str) -> ToolUsage:
        from statistics import median

        calls = len(self.durations)
        return ToolUsage(
            tool=tool,
            calls=calls,
            ok=self.ok,
            success_rate=self.ok / calls if calls else None,
            not_run=self.not_run,
            median_ms=median(self.durations) if calls else None,
            p95_ms=_p95(self.durations),
        )


def _p95(durations: list[int]) -> float | None:
    if len(durations) < 2:
        return float(durations[0]) if durations else None
    from statistics import quantiles

    return quantiles(durations, n=20, method="inclusive")[-1]


def _count(database: Path, event_type: str, start: str, end: str, owner: str | None) -> int:
    found = query_rows(database, _COUNT, event_type, start, end, owner, owner)
    return found[0][0] if found else 0


def _row(found: tuple[object, ...]) -> UsageRow:
    names = tuple(name for name in UsageRow.model_fields if name != "success_rate")
    values = dict(zip(names, found, strict=True))
    calls, ok = values["calls"], values["ok"]
    assert isinstance(calls, int)
    assert isinstance(ok, int)
    if not calls:
        values["known_cost_micro_usd"] = 0  # no calls cost nothing, which is known
    return UsageRow.model_validate({**values, "success_rate": ok / calls if calls else None})
