"""Tokens and money: of one provider call, of a period, and what may be spent."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from jupyter_ai_shoulders.wire.base import CommandModel, WireModel
from jupyter_ai_shoulders.wire.errors import ErrorInfo


class TokenUsage(WireModel):
    """Tokens of one provider call, as the provider reported them (estimated where it did not)."""

    input_tokens: int = 0
    """All prompt tokens, cached ones included."""
    output_tokens: int = 0
    """All billed output tokens, reasoning included."""
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    estimated: bool = False


class Cost(WireModel):
    """A price in integer micro-dollars; null means unknown and is never shown as zero."""

    micro_usd: int | None


UsageBy = Literal["day", "model", "session", "tool"]


class UsageQuery(CommandModel):
    """Query of ``GET usage``: days of the user's time zone, both included."""

    from_: date | None = Field(default=None, alias="from")
    """The first of this month when absent."""
    to: date | None = None
    """Today when absent."""
    by: UsageBy = "day"


class UsageRow(WireModel):
    """What the calls of one day, model or session came to."""

    key: str | None
    """A day (``2026-11-21``), a model's or a session's id; null: calls without a session, or all
    calls."""
    provider: str | None
    """Of a model; else null."""
    calls: int
    ok: int
    """Calls that were answered completely."""
    success_rate: float | None
    """``ok`` of ``calls``, 0 to 1; null without calls."""
    estimated: int
    """Calls whose tokens the provider did not report."""
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    known_cost_micro_usd: int | None
    """The sum of the known costs; null when none is known, never 0 for that."""
    unknown_cost_calls: int
    """Calls whose price is not known: they are not in the sum."""


class ToolUsage(WireModel):
    """How one tool did in this workspace."""

    tool: str
    calls: int
    """Calls that ran; denied and skipped ones did not."""
    ok: int
    success_rate: float | None
    not_run: int
    """Calls that were denied, skipped or cancelled before they ran."""
    median_ms: float | None
    p95_ms: float | None


class Steps(WireModel):
    """How many model calls turns took in this workspace."""

    turns: int
    steps: int
    per_turn: float | None


class BudgetLimit(WireModel):
    """A limit, in micro-dollars; null where there is none."""

    scope: Literal["month", "day", "session", "turn"]
    limit_micro_usd: int | None
    """What holds: the lower of the two below."""
    user_micro_usd: int | None
    administrator_micro_usd: int | None
    """Set in Jupyter's configuration; the user's cannot be higher."""
    spent_micro_usd: int | None
    """Of this month or day; null for session and turn, and while the ledger cannot be read."""
    held_micro_usd: int | None
    """What calls that are being answered may cost at the most."""


class BudgetState(WireModel):
    """``PUT budget``, and part of ``GET usage``."""

    limits: tuple[BudgetLimit, ...]
    month: str | None
    """The month that counts now, as stored (``2026-11``)."""
    day: str | None
    revision: str | None
    """Names the user's limits, for ``PUT budget``; null while they cannot be read."""
    error: ErrorInfo | None
    """Why nothing can be counted, or the limits cannot be read."""


class Usage(WireModel):
    """``GET usage``."""

    first_day: str
    last_day: str
    by: UsageBy
    rows: tuple[UsageRow, ...]
    """By day, model or session; empty for ``tool``, and while the ledger cannot be read."""
    total: UsageRow | None
    """Null while the ledger cannot be read, never 0 for that."""
    tools: tuple[ToolUsage, ...]
    """For ``tool`` only."""
    steps: Steps | None
    """For ``tool`` only."""
    budget: BudgetState
    error: ErrorInfo | None
    """Why something could not be summed up; what could be is here all the same."""


_Amount = Annotated[int, Field(ge=0, le=1_000_000_000_000)]


class PutBudget(CommandModel):
    """``PUT budget``: all the user's limits in micro-dollars; what is absent or null is none.

    One at least must be given, so that an empty body does not remove them all.
    """

    month_micro_usd: _Amount | None = None
    day_micro_usd: _Amount | None = None
    session_micro_usd: _Amount | None = None
    turn_micro_usd: _Amount | None = None
    revision: str | None = None
    """Of the limits that were seen: when others are stored by now, 409 ``stale``."""

    @model_validator(mode="after")
    def _refuse_nothing(self) -> Self:
        if not self.model_fields_set - {"revision"}:
            raise ValueError("give at least one limit; null removes it")
        return self
