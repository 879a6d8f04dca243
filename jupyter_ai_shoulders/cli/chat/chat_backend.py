"""Port of the terminal chat to an engine; implemented by ``remote_chat`` and ``in_process_chat``.

Blocking, because a terminal is. Every method raises ``ClientError`` or ``ShouldersError``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
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
from jupyter_ai_shoulders.wire.api.mentions import SkillSummary
from jupyter_ai_shoulders.wire.api.responses import ModelList, ToolInfo
from jupyter_ai_shoulders.wire.edits import EditDecisions, PendingEdit, Proposal
from jupyter_ai_shoulders.wire.events import Event, Restore
from jupyter_ai_shoulders.wire.frames import PageFrame, ServerFrame, TextEditor
from jupyter_ai_shoulders.wire.ids import CallId, ClientId, ProposalId, SessionId
from jupyter_ai_shoulders.wire.sessions import Session
from jupyter_ai_shoulders.wire.usage import Usage


class ChatTurns(Protocol):
    """The turns of conversations."""

    def past(self, session_id: SessionId) -> list[Event]:
        """Return the past events of a conversation."""
        ...

    def events(self, session_id: SessionId, after: int) -> Generator[Event]:
        """Yield the events after one; ends when the engine stops."""
        ...

    def send(self, session_id: SessionId, message: SendMessage) -> None:
        """Send a message and start its turn."""
        ...

    def cancel(self, session_id: SessionId) -> None:
        """Stop the running turn."""
        ...

    def resume(self, session_id: SessionId, command: ResumeTurn) -> None:
        """Continue an interrupted or paused turn, or discard it."""
        ...


class ChatAnswers(Protocol):
    """The user's answers to waiting calls."""

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
        """Create a conversation."""
        ...

    def session(self, session_id: SessionId) -> Session:
        """Return a conversation."""
        ...

    def sessions(self, limit: int) -> tuple[Session, ...]:
        """Return conversations of the kind ``chat``, newest first."""
        ...

    def change(self, session_id: SessionId, command: PatchSession) -> Session:
        """Change a conversation's model or mode."""
        ...

    def compact(self, session_id: SessionId) -> None:
        """Request a summary of earlier messages."""
        ...

    def export(self, session_id: SessionId, form: ExportFormat) -> str:
        """Return a conversation as text."""
        ...


class ChatReview(Protocol):
    """The agent's changes and proposals, for the user's decision."""

    def edits(self) -> tuple[PendingEdit, ...]:
        """Return the pending edits of all conversations."""
        ...

    def decide_edits(self, command: DecideEdits) -> EditDecisions:
        """Keep or undo changes; the answer names those that failed."""
        ...

    def proposals(self) -> tuple[Proposal, ...]:
        """Return the open proposals of all conversations."""
        ...

    def decide_proposal(self, proposal_id: ProposalId, command: DecideProposal) -> Proposal:
        """Apply or dismiss one; return it in its new state."""
        ...

    def undo_turn(self, session_id: SessionId, command: UndoTurn) -> Restore:
        """Undo a turn's changes of documents."""
        ...

    def restore(self, session_id: SessionId, command: RestoreSession) -> Restore:
        """Revert an undo of a turn."""
        ...


class ChatFacts(Protocol):
    """Models, tools and usage."""

    def models(self) -> ModelList:
        """Return the models."""
        ...

    def tools(self) -> tuple[ToolInfo, ...]:
        """Return the tools."""
        ...

    def skills(self) -> tuple[SkillSummary, ...]:
        """Return the skills; a message with ``/name`` includes the text of one."""
        ...

    def usage(self) -> Usage:
        """Return this month's usage, by model."""
        ...


class PageLink(Protocol):
    """A connection of an editor to the engine, as a page has one."""

    def wait(self) -> bool:
        """Return whether there is a connection; wait for one that is being made again."""
        ...

    def send(self, frame: PageFrame) -> None:
        """Send a frame to the engine, without blocking; it is lost without a connection."""
        ...

    def close(self) -> None:
        """Disconnect: requests that were not answered fail."""
        ...


class ChatPages(Protocol):
    """Editors as pages: they answer requests about text files."""

    def connect_editor(
        self, client_id: ClientId, editor: TextEditor, receive: Callable[[ServerFrame], None]
    ) -> PageLink:
        """Connect an editor of text files.

        When this returns, the engine asks it. ``receive`` gets the requests, in another thread.
        """
        ...


class ChatBackend(ChatTurns, ChatAnswers, ChatSessions, ChatReview, ChatFacts, ChatPages, Protocol):
    """The whole port."""

    def close(self) -> None:
        """Release the engine; turns of an engine in this process are interrupted."""
        ...
