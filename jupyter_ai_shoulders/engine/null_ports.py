"""Ports without function, for engines without a host, such as in tests."""

from __future__ import annotations

from jupyter_ai_shoulders.core.budget.account import BudgetNotice, LimitScope, UsageAccount
from jupyter_ai_shoulders.wire.ids import CallId, SessionId, TurnId


class NullBudgets:
    """``Budgets`` without a ledger."""

    def budget_status(self, account: UsageAccount | None) -> None:
        del account

    def notices(self, turn_id: TurnId) -> tuple[BudgetNotice, ...]:
        del turn_id
        return ()

    async def raise_limit(
        self, scope: LimitScope, micro_usd: int, session_id: SessionId, turn_id: TurnId
    ) -> None:
        """Do nothing: there is no limit."""


class NullInputReceiver:
    """``InputReceiver`` of engines whose tools run no code."""

    def answer(self, session_id: SessionId, call_id: CallId, text: str) -> bool:
        del session_id, call_id, text
        return False
