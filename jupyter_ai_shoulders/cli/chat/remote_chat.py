"""The terminal chat on a running server. Made by ``remote``, whose client it uses."""

from __future__ import annotations

from collections.abc import Callable, Generator

from jupyter_ai_shoulders.cli.backend import ExportFormat
from jupyter_ai_shoulders.cli.chat.chat_backend import PageLink
from jupyter_ai_shoulders.cli.chat.editor_socket import EditorSocket
from jupyter_ai_shoulders.client import Client
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
from jupyter_ai_shoulders.wire.api.mentions import SkillSummaries, SkillSummary
from jupyter_ai_shoulders.wire.api.responses import (
    EventPage,
    MessageAccepted,
    ModelList,
    ProposalList,
    ToolInfo,
    ToolList,
)
from jupyter_ai_shoulders.wire.base import CommandModel
from jupyter_ai_shoulders.wire.edits import EditDecisions, PendingEdit, PendingEditList, Proposal
from jupyter_ai_shoulders.wire.events import Event, Restore
from jupyter_ai_shoulders.wire.frames import ServerFrame, TextEditor
from jupyter_ai_shoulders.wire.ids import CallId, ClientId, ProposalId, SessionId
from jupyter_ai_shoulders.wire.sessions import Session
from jupyter_ai_shoulders.wire.usage import Usage


class RemoteChat:
    """See ``ChatBackend``."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def close(self) -> None:
        """See ``ChatBackend.close``: turns continue in the server."""

    def connect_editor(
        self, client_id: ClientId, editor: TextEditor, receive: Callable[[ServerFrame], None]
    ) -> PageLink:
        """See ``ChatPages.connect_editor``."""
        return EditorSocket(self._client.connection, client_id, editor, receive)

    def past(self, session_id: SessionId) -> list[Event]:
        """See ``ChatTurns.past``."""
        events: list[Event] = []
        while True:
            after = events[-1].seq if events else 0
            page = self._client.connection.get(
                f"sessions/{session_id}/events", EventPage, after=after
            )
            events.extend(page.events)
            if not page.has_more:
                return events

    def events(self, session_id: SessionId, after: int) -> Generator[Event]:
        """See ``ChatTurns.events``."""
        return self._client.connection.events(session_id, after)

    def send(self, session_id: SessionId, message: SendMessage) -> None:
        """See ``ChatTurns.send``."""
        self._client.connection.post(f"sessions/{session_id}/messages", message, MessageAccepted)

    def cancel(self, session_id: SessionId) -> None:
        """See ``ChatTurns.cancel``."""
        self._client.cancel(session_id)

    def resume(self, session_id: SessionId, command: ResumeTurn) -> None:
        """See ``ChatTurns.resume``."""
        self._post(session_id, "resume", command)

    def approve(self, session_id: SessionId, call_id: CallId, command: AnswerApproval) -> None:
        """See ``ChatAnswers.approve``."""
        self._post(session_id, f"approvals/{call_id}", command)

    def answer(self, session_id: SessionId, call_id: CallId, command: AnswerQuestion) -> None:
        """See ``ChatAnswers.answer``."""
        self._post(session_id, f"clarifications/{call_id}", command)

    def type_in(self, session_id: SessionId, call_id: CallId, command: AnswerInput) -> None:
        """See ``ChatAnswers.type_in``."""
        self._post(session_id, f"stdin/{call_id}", command)

    def create(self, command: CreateSession) -> Session:
        """See ``ChatSessions.create``."""
        return self._client.connection.post("sessions", command, Session)

    def session(self, session_id: SessionId) -> Session:
        """See ``ChatSessions.session``."""
        return self._client.session(session_id)

    def sessions(self, limit: int) -> tuple[Session, ...]:
        """See ``ChatSessions.sessions``."""
        return self._client.list(kind="chat", limit=limit)

    def change(self, session_id: SessionId, command: PatchSession) -> Session:
        """See ``ChatSessions.change``."""
        return self._client.change_session(session_id, command)

    def compact(self, session_id: SessionId) -> None:
        """See ``ChatSessions.compact``."""
        self._post(session_id, "compact", None)

    def export(self, session_id: SessionId, form: ExportFormat) -> str:
        """See ``ChatSessions.export``."""
        return self._client.export(session_id, form)

    def edits(self) -> tuple[PendingEdit, ...]:
        """See ``ChatReview.edits``."""
        return self._client.connection.get("edits", PendingEditList).edits

    def decide_edits(self, command: DecideEdits) -> EditDecisions:
        """See ``ChatReview.decide_edits``."""
        return self._client.connection.post("edits", command, EditDecisions)

    def proposals(self) -> tuple[Proposal, ...]:
        """See ``ChatReview.proposals``."""
        found = self._client.connection.get("proposals", ProposalList, status="proposed")
        return found.proposals

    def decide_proposal(self, proposal_id: ProposalId, command: DecideProposal) -> Proposal:
        """See ``ChatReview.decide_proposal``."""
        return self._client.connection.post(f"proposals/{proposal_id}", command, Proposal)

    def undo_turn(self, session_id: SessionId, command: UndoTurn) -> Restore:
        """See ``ChatReview.undo_turn``."""
        return self._client.connection.post(f"sessions/{session_id}/undo", command, Restore)

    def restore(self, session_id: SessionId, command: RestoreSession) -> Restore:
        """See ``ChatReview.restore``."""
        return self._client.connection.post(f"sessions/{session_id}/restore", command, Restore)

    def models(self) -> ModelList:
        """See ``ChatFacts.models``."""
        return self._client.models()

    def tools(self) -> tuple[ToolInfo, ...]:
        """See ``ChatFacts.tools``."""
        return self._client.connection.get("tools", ToolList).tools

    def skills(self) -> tuple[SkillSummary, ...]:
        """See ``ChatFacts.skills``."""
        return self._client.connection.get("skills", SkillSummaries).skills

    def usage(self) -> Usage:
        """See ``ChatFacts.usage``."""
        return self._client.usage("model")

    def _post(self, session_id: SessionId, path: str, command: CommandModel | None) -> None:
        self._client.connection.send("POST", f"sessions/{session_id}/{path}", command)
