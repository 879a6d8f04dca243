"""Ports of the engine besides those of ``storage``, ``tools`` and ``providers``."""

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
    MemorySnapshot,
    WorkspaceFact,
    WorkspaceSituation,
)
from jupyter_ai_shoulders.providers.base import ResolvedModel
from jupyter_ai_shoulders.wire.ids import CallId, ModelId, SessionId, TurnId
from jupyter_ai_shoulders.wire.messages import Attachment, MessageContext
from jupyter_ai_shoulders.wire.sessions import Session

__all__ = ["Budgets", "Environment", "Models", "ResolvedModel"]


class Models(Protocol):
    """Resolves models by id; implemented by ``providers.registry``."""

    async def refresh_default(self) -> None:
        """Look for servers on this machine if there is no other default model."""
        ...

    def resolve(self, model_id: ModelId | None) -> ResolvedModel:
        """Return the model, or the default for None; makes no network call.

        Raises ``ShouldersError``: ``no_model``, ``unknown_model``, ``no_key``, ``disabled``.
        """
        ...


class InputReceiver(Protocol):
    """Receives the user's input for running code; implemented by the runner."""

    def answer(self, session_id: SessionId, call_id: CallId, text: str) -> bool:
        """Pass the input on; return False when the call waits for none."""
        ...


class Budgets(Protocol):
    """The budget and the limits a user may raise; implemented over the ledger."""

    def budget_status(self, account: spending.UsageAccount | None) -> spending.BudgetStatus | None:
        """Return the month's spending and limit of the account, None when unknown."""
        ...

    def notices(self, turn_id: TurnId) -> Sequence[BudgetNotice]:
        """Return the budget notices of this turn for the user, each once."""
        ...

    async def raise_limit(
        self, scope: LimitScope, micro_usd: int, session_id: SessionId, turn_id: TurnId
    ) -> None:
        """Raise the limit of this session or turn to so many micro-dollars.

        Raises ``PolicyRefusal`` (the administrator's limit is lower, or the user may not raise this
        scope) and ``StateUnavailable`` (it could not be stored).
        """
        ...


class Environment(Protocol):
    """The context of a conversation that is in no event; implemented by
    ``host.context.environment``.

    Calls do not block the event loop. What was read is logged before it is sent.
    """

    async def load_instructions(self) -> InstructionSet:
        """Return the current instructions and skills of the user."""
        ...

    async def situation(self, context: MessageContext) -> WorkspaceSituation:
        """Return the workspace for a message with this context."""
        ...

    async def place(self, session: Session) -> tuple[WorkspaceFact, ...]:
        """Return the text and facts at a thread's anchor."""
        ...

    async def capture(
        self, attachment: Attachment, session: Session, *, images: bool
    ) -> AttachmentContent | None:
        """Return the content of an attachment; None when it is only named.

        ``images``: whether the model reads images. Raises ``ShouldersError``: outside the
        workspace, secret, missing, not readable.
        """
        ...

    async def memory(self, session: Session) -> MemorySnapshot:
        """Return the statements that are remembered for this conversation's user."""
        ...

    async def skill(self, skill: Skill) -> SkillText | None:
        """Return the text of a skill; None when it cannot be read."""
        ...


class Summarizer(Protocol):
    """Summarises conversations with a model; implemented by ``assist.summaries``."""

    async def summarise(self, order: SummaryRequest) -> Summary | None:
        """Return the summary; None when no model may or can write one.

        Raises ``ShouldersError``: the budget forbids it, or two calls failed.
        """
        ...


class RecoveryCounter(Protocol):
    """Counts failed recoveries of sessions across restarts; called in threads."""

    def begin(self, session_id: SessionId) -> int:
        """Record the start of a recovery; return how many failed before."""
        ...

    def end(self, session_id: SessionId) -> None:
        """Record a successful recovery."""
        ...

    def take_back(self, session_id: SessionId) -> None:
        """Undo the last ``begin``, because the start was cancelled."""
        ...
