"""What the terminal chat needs of an engine; ``attached`` and ``alone`` are the two.

Blocking, because a terminal is. Everything raises ``ClientError`` or ``ShouldersError``.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Protocol

from jupyter_ai_shoulders.cli.backend import ExportFormat
from jupyter_ai_shoulders.wire.api.commands import (
    AnswerApproval,
    AnswerInput,
    AnswerQuestion,
    CreateSession,
    DecideEdits,
    DecideProposal,
    PatchSession,
    RestoreSession,
    ResumeTurn,
    SendMessage,
    UndoTurn,
)
from jupyter_ai_shoulders.wire.api.responses import ModelList, ToolInfo
from jupyter_ai_shoulders.wire.edits import EditDecisions, PendingEdit, Proposal
from jupyter_ai_shoulders.wire.events import Event, Restore
from jupyter_ai_shoulders.wire.ids import CallId, ProposalId, SessionId
from jupyter_ai_shoulders.wire.sessions import Session
from jupyter_ai_shoulders.wire.usage import Usage


class ChatTurns(Protocol):
    """The turns of conversations."""

    def past(self, session_id: SessionId) -> list[Event]:
        """Return what has happened in a conversation."""
        ...

    def events(self, session_id: SessionId, after: int) -> Generator[Event]:
        """Yield what happens from an event on; it ends when the engine stops."""
        ...

    def send(self, session_id: SessionId, message: SendMessage) -> None:
        """Begin a turn."""
        ...

    def cancel(self, session_id: SessionId) -> None:
        """Stop the turn that runs."""
        ...

    def resume(self, session_id: SessionId, command: ResumeTurn) -> None:
        """Go on with a turn that was interrupted or paused, or discard it."""
        ...


class ChatAnswers(Protocol):
    """What the user says to a call that waits."""

    def approve(self, session_id: SessionId, call_id: CallId, command: AnswerApproval) -> None:
        """Decide on a call."""
        ...

    def answer(self, session_id: SessionId, call_id: CallId, command: AnswerQuestion) -> None:
        """Answer a question."""
        ...

    def type_in(self, session_id: SessionId, call_id: CallId, command: AnswerInput) -> None:
        """Give running code its input."""
        ...


class ChatSessions(Protocol):
    """Conversations as a whole."""

    def create(self, command: CreateSession) -> Session:
        """Begin one."""
        ...

    def session(self, session_id: SessionId) -> Session:
        """Return one."""
        ...

    def sessions(self, limit: int) -> tuple[Session, ...]:
        """Return those of the kind ``chat``, the newest first."""
        ...

    def change(self, session_id: SessionId, command: PatchSession) -> Session:
        """Change the model or the mode of one."""
        ...

    def compact(self, session_id: SessionId) -> None:
        """Have earlier messages summarised."""
        ...

    def export(self, session_id: SessionId, form: ExportFormat) -> str:
        """Return one as text."""
        ...


class ChatReview(Protocol):
    """What the agent changed or proposes, for the user to decide on."""

    def edits(self) -> tuple[PendingEdit, ...]:
        """Return the changes that await review, of all conversations."""
        ...

    def decide_edits(self, command: DecideEdits) -> EditDecisions:
        """Keep changes or take them back; the answer says which could not be."""
        ...

    def proposals(self) -> tuple[Proposal, ...]:
        """Return the proposals that wait, of all conversations."""
        ...

    def decide_proposal(self, proposal_id: ProposalId, command: DecideProposal) -> Proposal:
        """Apply or dismiss one; return it in its new state."""
        ...

    def undo_turn(self, session_id: SessionId, command: UndoTurn) -> Restore:
        """Take back what a turn did to documents."""
        ...

    def restore(self, session_id: SessionId, command: RestoreSession) -> Restore:
        """Take such an undoing back."""
        ...


class ChatFacts(Protocol):
    """What there is to choose from, and what was spent."""

    def models(self) -> ModelList:
        """Return the models."""
        ...

    def tools(self) -> tuple[ToolInfo, ...]:
        """Return the tools."""
        ...

    def usage(self) -> Usage:
        """Return what was used this month, by model."""
        ...


class ChatBackend(ChatTurns, ChatAnswers, ChatSessions, ChatReview, ChatFacts, Protocol):
    """All of it."""

    def close(self) -> None:
        """Let go of the engine; turns of an engine of our own are then interrupted."""
        ...
