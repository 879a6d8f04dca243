"""Whom a model call is booked to, and how the budget stands.

A call carries its ``UsageAccount`` from the surface that makes it to the meter in front of every
provider, which reserves before sending and books what the provider reports.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jupyter_ai_shoulders.wire.ids import SessionId, TurnId

Purpose = Literal["turn", "summary", "title", "ghost", "proxy", "test", "other"]
"""What a call was made for; ``test`` is the round trip of the settings page, ``other`` a call
whose maker did not say."""

LimitScope = Literal["month", "day", "session", "turn"]


@dataclass(frozen=True, slots=True)
class UsageAccount:
    """Whom a call is booked to."""

    purpose: Purpose
    session_id: SessionId | None = None
    turn_id: TurnId | None = None
    owner: str | None = None
    """Who it is made for, where calls have owners and no session says it."""


@dataclass(frozen=True, slots=True)
class BudgetStatus:
    """How the month's budget stands, in micro-dollars; the limit is None when there is none."""

    month_micro_usd: int
    month_limit_micro_usd: int | None


@dataclass(frozen=True, slots=True)
class BudgetNotice:
    """A remark on the budget, for the log of a turn; ``code`` is the notice event's."""

    code: str
    text: str
