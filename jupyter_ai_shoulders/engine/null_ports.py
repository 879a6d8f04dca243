"""The budget where nothing is counted: engines without a host, as in tests of something else."""

from __future__ import annotations

from jupyter_ai_shoulders.core.budget.account import BudgetNotice, LimitScope, UsageAccount
from jupyter_ai_shoulders.wire.ids import SessionId, TurnId


class NullBudgets:
    """``Budgets`` without a ledger."""

    def standing(self, account: UsageAccount | None) -> None:
        """Return nothing: what the month costs is not known."""
        del account

    def notices(self, turn_id: TurnId) -> tuple[BudgetNotice, ...]:
        """Return nothing."""
        del turn_id
        return ()

    async def raise_limit(
        self, scope: LimitScope, micro_usd: int, session_id: SessionId, turn_id: TurnId
    ) -> None:
        """Do nothing: there is no limit."""
