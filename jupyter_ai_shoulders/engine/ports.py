"""Ports the engine needs beside those of ``storage``, ``tools`` and ``providers``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from jupyter_ai_shoulders.core.budget import account as spending
from jupyter_ai_shoulders.core.budget.account import BudgetNotice, LimitScope
from jupyter_ai_shoulders.core.summaries import Summary, SummaryRequest
from jupyter_ai_shoulders.engine.environment.attachments import AttachmentContent
from jupyter_ai_shoulders.engine.environment.skills import Skill, SkillText
from jupyter_ai_shoulders.engine.environment.snapshot import (
    InstructionSet,
    WorkspaceFact,
    WorkspaceSituation,
)
from jupyter_ai_shoulders.providers.base import ResolvedModel
from jupyter_ai_shoulders.wire.ids import CallId, ModelId, SessionId, TurnId
from jupyter_ai_shoulders.wire.messages import Attachment, MessageContext
from jupyter_ai_shoulders.wire.sessions import Session

__all__ = ["Budgets", "Environment", "Models", "ResolvedModel"]


class Models(Protocol):
    """Finds models by id; implemented by ``providers.registry``."""

    async def refresh_default(self) -> None:
        """Look for servers on this machine, if only a stand-in could answer without them."""
        ...

    def resolve(self, model_id: ModelId | None) -> ResolvedModel:
        """Return the model, or the default for None; makes no network call.

        Raises ``ShouldersError``: ``no_model``, ``unknown_model``, ``no_key``, ``disabled``.
        """
        ...


class InputReceiver(Protocol):
    """Where what a user types goes to the code that waits for it; implemented by the runner."""

    def answer(self, session_id: SessionId, call_id: CallId, text: str) -> bool:
        """Pass the text on; false when nothing of this call waits (any more)."""
        ...


class Budgets(Protocol):
    """How the budget stands, and the limits a user may raise; implemented over the ledger."""

    def budget_status(self, account: spending.UsageAccount | None) -> spending.BudgetStatus | None:
        """Return the month's spending and limit of whom a call is booked to, None when unknown."""
        ...

    def notices(self, turn_id: TurnId) -> Sequence[BudgetNotice]:
        """Return what the user is to be told of the budget in this turn; each is told once."""
        ...

    async def raise_limit(
        self, scope: LimitScope, micro_usd: int, session_id: SessionId, turn_id: TurnId
    ) -> None:
        """Raise the limit of this session or turn to so many micro-dollars.

        Raises ``PolicyRefusal``: the administrator's limit is lower, or the scope is not the
        user's to raise here. Raises ``StateUnavailable``: it could not be stored.
        """
        ...


class Environment(Protocol):
    """What is around a conversation and in no event of it.

    Implemented by ``host.context.environment``.

    Nothing here blocks the event loop. What was read is logged before it is sent.
    """

    async def load_instructions(self) -> InstructionSet:
        """Return the user's instructions and skills as they are now."""
        ...

    async def situation(self, context: MessageContext) -> WorkspaceSituation:
        """Return what the workspace is like, for a message sent with this context."""
        ...

    async def place(self, session: Session) -> tuple[WorkspaceFact, ...]:
        """Return what the place holds that a thread is about; nothing of other sessions."""
        ...

    async def capture(
        self, attachment: Attachment, session: Session, *, images: bool
    ) -> AttachmentContent | None:
        """Return what an attachment of this session holds; None when it is only named.

        ``images``: whether the model reads them. Raises ``ShouldersError``: outside the workspace,
        secret, gone, not readable.
        """
        ...

    async def skill(self, skill: Skill) -> SkillText | None:
        """Return the text of a skill; None when it cannot be read."""
        ...


class Summarizer(Protocol):
    """Summarises conversations by a model; implemented by ``assist.summaries``."""

    async def summarise(self, order: SummaryRequest) -> Summary | None:
        """Return the summary; None when no model may or can write one.

        Raises ``ShouldersError``: the budget forbids it, or calls failed twice.
        """
        ...


class RecoveryCounter(Protocol):
    """Remembers over restarts which conversations could not be taken up; called in threads."""

    def begin(self, session_id: SessionId) -> int:
        """Note that one is being taken up; return how often that failed before."""
        ...

    def end(self, session_id: SessionId) -> None:
        """Note that it was taken up."""
        ...

    def take_back(self, session_id: SessionId) -> None:
        """Note that the start was cancelled: the last ``begin`` says nothing."""
        ...
