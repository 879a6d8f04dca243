"""The account of a model call, and the status of the budget.

Every surface attaches a ``UsageAccount`` to its calls. The meter in front of every provider
reserves money on it before sending and books the reported usage.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jupyter_ai_shoulders.wire.ids import SessionId, TurnId

Purpose = Literal["turn", "summary", "title", "ghost", "proxy", "test", "embedding", "other"]
"""The purpose of a call; ``test`` is the round trip of the settings page, ``embedding`` a call for
search by meaning, ``other`` an unspecified purpose.
"""

LimitScope = Literal["month", "day", "session", "turn"]


@dataclass(frozen=True, slots=True)
class UsageAccount:
    """The account a call is booked to."""

    purpose: Purpose
    session_id: SessionId | None = None
    turn_id: TurnId | None = None
    owner: str | None = None
    """The user the call is made for, where calls have owners and no session determines it."""


@dataclass(frozen=True, slots=True)
class BudgetStatus:
    """The month's budget in micro-dollars; the limit is None when there is none."""

    month_micro_usd: int
    month_limit_micro_usd: int | None


@dataclass(frozen=True, slots=True)
class BudgetNotice:
    """A notice about the budget, for the log of a turn; ``code`` is that of the notice event."""

    code: str
    text: str
