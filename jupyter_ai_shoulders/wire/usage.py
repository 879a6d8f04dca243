"""Tokens and cost of one provider call and of a period, and spending limits."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from jupyter_ai_shoulders.wire.base import CommandModel, WireModel
from jupyter_ai_shoulders.wire.errors import ErrorInfo


class TokenUsage(WireModel):
    """Tokens of one provider call as reported by the provider, or estimated."""

    input_tokens: int = 0
    """All prompt tokens, including cached ones."""
    output_tokens: int = 0
    """All billed output tokens, including reasoning."""
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    estimated: bool = False


UsageBy = Literal["day", "model", "session", "tool"]


class UsageQuery(CommandModel):
    """Query of ``GET usage``: days in the user's time zone, both included."""

    from_: date | None = Field(default=None, alias="from")
    """The first of this month when absent."""
    to: date | None = None
    """Today when absent."""
    by: UsageBy = "day"


class UsageRow(WireModel):
    """Totals of the calls of one day, model or session."""

    key: str | None
    """A day (``2026-11-21``), a model's or a session's id; null for calls without a session, or all
    calls.
    """
    provider: str | None
    """For a model; else null."""
    calls: int
    ok: int
    """Number of completely answered calls."""
    success_rate: float | None
    """``ok`` divided by ``calls``, 0 to 1; null without calls."""
    estimated: int
    """Number of calls whose tokens the provider did not report."""
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    known_cost_micro_usd: int | None
    """Sum of the known costs; null, not 0, when none is known."""
    unknown_cost_calls: int
    """Number of calls with unknown cost, which are not in the sum."""


class ToolUsage(WireModel):
    """Usage of one tool in this workspace."""

    tool: str
    calls: int
    """Number of calls that ran, without denied and skipped ones."""
    ok: int
    success_rate: float | None
    not_run: int
    """Number of calls denied, skipped or cancelled before they ran."""
    denied: int
    """Of these, the calls that the user or a rule denied."""
    median_ms: float | None
    p95_ms: float | None


class Steps(WireModel):
    """Number of model calls of turns in this workspace."""

    turns: int
    steps: int
    per_turn: float | None


class ExitCount(WireModel):
    """Number of turns with an exit."""

    exit: str
    """As in ``turn-end``."""
    turns: int


class TurnUsage(WireModel):
    """Turns that ended in this workspace."""

    turns: int
    answered: int
    """Number of turns that ended with an answer, completed their task or asked something."""
    success_rate: float | None
    """``answered`` divided by ``turns`` without cancelled and interrupted ones; null without."""
    exits: tuple[ExitCount, ...]
    """The most frequent first."""


class FirstOutputTimes(WireModel):
    """Milliseconds from the begin of a step to its first output, in this workspace."""

    steps: int
    """Number of steps with an output."""
    p50_ms: float | None
    p95_ms: float | None


class FailureCount(WireModel):
    """Number of failures of one kind in this workspace."""

    code: str
    """Of the error; ``unknown`` if the call failed without one."""
    tool: str | None
    """Null: the turn failed."""
    count: int


class BudgetLimit(WireModel):
    """A limit in micro-dollars; null where there is none."""

    scope: Literal["month", "day", "session", "turn"]
    limit_micro_usd: int | None
    """The effective limit: the lower of the next two."""
    user_micro_usd: int | None
    administrator_micro_usd: int | None
    """Set in Jupyter's configuration; the user's cannot be higher."""
    spent_micro_usd: int | None
    """In this month or day; null for session and turn, and while the ledger cannot be read."""
    held_micro_usd: int | None
    """Maximum cost of calls in flight."""


class BudgetState(WireModel):
    """``PUT budget``, and part of ``GET usage``."""

    limits: tuple[BudgetLimit, ...]
    month: str | None
    """The current month, as stored (``2026-11``)."""
    day: str | None
    revision: str | None
    """Identifies the user's limits, for ``PUT budget``; null while they cannot be read."""
    error: ErrorInfo | None
    """Why usage cannot be recorded, or the limits cannot be read."""


class Usage(WireModel):
    """``GET usage``."""

    first_day: str
    last_day: str
    by: UsageBy
    rows: tuple[UsageRow, ...]
    """By day, model or session; empty for ``tool``, and while the ledger cannot be read."""
    total: UsageRow | None
    """Null, not 0, while the ledger cannot be read."""
    tools: tuple[ToolUsage, ...]
    """For ``tool`` only."""
    steps: Steps | None
    """For ``tool`` only."""
    turns: TurnUsage | None
    """For ``tool`` only."""
    first_output: FirstOutputTimes | None
    """For ``tool`` only."""
    failures: tuple[FailureCount, ...]
    """For ``tool`` only; the most frequent first, at most 20."""
    budget: BudgetState
    error: ErrorInfo | None
    """Why some of it could not be computed; the rest is present."""


_Amount = Annotated[int, Field(ge=0, le=1_000_000_000_000)]


class PutBudget(CommandModel):
    """``PUT budget``: all the user's limits in micro-dollars; absent or null means no limit.

    At least one is required, so that an empty body does not remove them all.
    """

    month_micro_usd: _Amount | None = None
    day_micro_usd: _Amount | None = None
    session_micro_usd: _Amount | None = None
    turn_micro_usd: _Amount | None = None
    revision: str | None = None
    """Revision the change is based on; 409 ``stale`` if another is stored."""

    @model_validator(mode="after")
    def _refuse_nothing(self) -> Self:
        if not self.model_fields_set - {"revision"}:
            raise ValueError("give at least one limit; null removes it")
        return self
