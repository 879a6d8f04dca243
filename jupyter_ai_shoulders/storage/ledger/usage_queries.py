"""Usage in a period: sums over the ledger.

Called by ``host.usage.service``. All functions block, use their own connection and may run in any
thread, so that a long query never delays a call.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from jupyter_ai_shoulders.core.budget.account import Purpose
from jupyter_ai_shoulders.storage.ledger.database import query_rows
from jupyter_ai_shoulders.wire.usage import UsageRow

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


def _row(found: tuple[object, ...]) -> UsageRow:
    names = tuple(name for name in UsageRow.model_fields if name != "success_rate")
    values = dict(zip(names, found, strict=True))
    calls, ok = values["calls"], values["ok"]
    assert isinstance(calls, int)
    assert isinstance(ok, int)
    if not calls:
        values["known_cost_micro_usd"] = 0  # no calls cost nothing, which is known
    return UsageRow.model_validate({**values, "success_rate": ok / calls if calls else None})
