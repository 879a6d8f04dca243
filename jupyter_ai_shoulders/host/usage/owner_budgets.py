"""Separates budgets by owner: finds the ``UserBudget`` of the user a call is made for.

Used by the meter, the engine and the usage page. Without owners there is one budget, in
``~/.shoulders``; the user for whom a server was started keeps that one, so that earlier spending
counts.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from jupyter_ai_shoulders.core.budget.account import (
    BudgetNotice,
    BudgetStatus,
    LimitScope,
    UsageAccount,
)
from jupyter_ai_shoulders.core.budget.limits import CallSettlement, PlannedCall, SpendingLimits
from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.host.usage.budgets import AdmittedCall, UserBudget
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import SessionId, TurnId
from jupyter_ai_shoulders.wire.sessions import ParentCall

USERS = "users"
"""Folder of the further users' folders, in ``~/.shoulders``."""


class OwnerBudgets:
    """The budgets of all users of this server; each is made on first use."""

    def __init__(
        self,
        folder: Path,
        clock: Clock,
        administrator: SpendingLimits,
        *,
        session_owner: Callable[[SessionId], str | None] = lambda _: None,
        parent_of: Callable[[SessionId], ParentCall | None] = lambda _: None,
        home_owner: str | None = None,
    ) -> None:
        """``folder`` is ``~/.shoulders``; ``home_owner`` the owner of that home directory.

        ``session_owner`` raises ``NotFound`` for a deleted session. ``parent_of`` returns for whose
        turn a sub-agent works: its calls count for the limits of that turn.
        """
        self._folder = folder
        self._clock = clock
        self._administrator = administrator
        self._session_owner = session_owner
        self._parent_of = parent_of
        self._home_owner = home_owner
        self._known: dict[str | None, UserBudget] = {}
        self.on_settled: Callable[[PlannedCall, CallSettlement], None] | None = None
        """Called once for each model call that is booked; must not raise."""
        self.caps: dict[SessionId, int] = {}
        """Limits of running sessions in micro-dollars, which nobody can raise."""

    def of(self, owner: str | None) -> UserBudget:
        """Return the budget of a user; None: of sessions without an owner."""
        owner = None if owner == self._home_owner else owner
        found = self._known.get(owner)
        if found is None:
            folder = self._folder if owner is None else self._folder / USERS / folder_name(owner)
            found = self._known[owner] = UserBudget(folder, self._clock, self._administrator)
        return found

    async def admit(self, planned: PlannedCall) -> AdmittedCall:
        """Reserve the money of a call. Raises ``PolicyRefusal``: nothing may be sent."""
        billed = replace(planned, account=self._billed(planned.account))
        session_id = billed.account.session_id
        cap = None if session_id is None else self.caps.get(session_id)
        if cap is not None:
            billed = replace(billed, session_cap=cap)
        admitted = await self._of_account(billed.account).admit(billed)
        if self.on_settled is None:
            return admitted
        return replace(admitted, on_settled=partial(self.on_settled, planned))

    def budget_status(self, account: UsageAccount | None) -> BudgetStatus | None:
        """Return the month's spending and limit of the user a call is booked to."""
        return self._of_account(account or UsageAccount("other")).standing()

    async def turn_cost(self, owner: str | None, session_id: SessionId, turn_id: TurnId) -> int:
        """Return what a turn cost in micro-dollars, with its sub-agents and the notes for them.

        Raises ``StateUnavailable``.
        """
        account = UsageAccount("other", session_id, turn_id, owner=owner)
        return (await self._of_account(account).ledger.tallies(account))["turn"].booked

    def notices(self, turn_id: TurnId) -> Sequence[BudgetNotice]:
        """Return the notices of a turn, once."""
        return [notice for each in self._known.values() for notice in each.notices(turn_id)]

    async def raise_limit(
        self, scope: LimitScope, micro_usd: int, session_id: SessionId, turn_id: TurnId
    ) -> None:
        """Raise the limit of a session or turn. Raises as ``UserBudget.raise_limit`` does."""
        billed = self._billed(UsageAccount("other", session_id, turn_id))
        budgets = self._of_account(billed)
        await budgets.raise_limit(
            scope, micro_usd, billed.session_id or session_id, billed.turn_id or turn_id
        )

    def problem(self) -> ErrorInfo | None:
        """Return why model usage of some user cannot be counted now; None when it can."""
        problems = (each.problem() for each in self._known.values())
        return next(filter(None, problems), None)

    async def aclose(self) -> None:
        """Write settled calls and close all ledgers."""
        await asyncio.gather(*(each.aclose() for each in self._known.values()))

    def _billed(self, account: UsageAccount) -> UsageAccount:
        """Return the account that pays: a sub-agent spends the money of its parent's turn."""
        parent = None if account.session_id is None else self._parent_of(account.session_id)
        if parent is None:
            return account
        return replace(account, session_id=parent.session_id, turn_id=parent.turn_id)

    def _of_account(self, account: UsageAccount) -> UserBudget:
        if account.owner is not None or account.session_id is None:
            return self.of(account.owner)
        try:
            return self.of(self._session_owner(account.session_id))
        except NotFound:  # deleted while its last call runs
            return self.of(None)


def folder_name(owner: str) -> str:
    """Return a folder name for a user, whose name may contain anything."""
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", owner)[:32]
    return f"{readable}-{hashlib.sha256(owner.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
