"""Notifies a task thread of the result of the cell that was run with its proposal.

Made by ``host.build`` for ``changes.proposals.service``. "Apply and run" ends with a message in the
thread that names the run, with its outputs attached as data; the agent continues from there. The
message is sent once: its id is derived from the proposal's.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import NotFound, ShouldersError, StateUnavailable
from jupyter_ai_shoulders.notebook.base import CellRun, Notebooks
from jupyter_ai_shoulders.storage.base import EventLog, Sessions
from jupyter_ai_shoulders.wire.api.commands import SendMessage
from jupyter_ai_shoulders.wire.api.responses import MessageAccepted
from jupyter_ai_shoulders.wire.edits import Proposal
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import MessageAdd, Notice, ProposalResolve
from jupyter_ai_shoulders.wire.ids import CellId, MessageId, ProposalId, SessionId
from jupyter_ai_shoulders.wire.messages import OutputAttachment

RUN_NOT_REPORTED = "run_untold"
"""Code of the notice that the agent did not learn how a run ended."""
MAX_OUTPUTS = 8
"""Maximum outputs attached; of more, the first and the last."""
_SAYING = frozenset({"message-add", "notice"})
_ENDS = {
    "ok": "It ended well.",
    "error": "It ended with an error.",
    "aborted": "It did not run: a cell before it failed.",
    "died": "The kernel died.",
    "cancelled": "The run was interrupted.",
    "running": "It is running still.",
}

_log = logging.getLogger(__name__)


class MessageSender(Protocol):
    """The part of the engine that is needed here."""

    async def send_notification(
        self, session_id: SessionId, command: SendMessage
    ) -> MessageAccepted:
        """Send a message that answers no question."""
        ...


class RunNotifications:
    """``RunListener`` of the proposals."""

    def __init__(
        self,
        sessions: Sessions,
        log: EventLog,
        notebooks: Notebooks,
        engine: MessageSender,
    ) -> None:
        self._sessions = sessions
        self._log = log
        self._notebooks = notebooks
        self._engine = engine
        self._closed = False

    def close(self) -> None:
        """Start no more turns: the engine stops."""
        self._closed = True

    def is_thread(self, session_id: SessionId) -> bool:
        """Return whether a session is a task thread; others get no notifications."""
        try:
            return self._sessions.get(session_id).kind == "task"
        except ShouldersError:  # deleted or unreadable
            return False

    async def run_ended(self, proposal: Proposal, outcome: CellRun | ErrorInfo) -> None:
        """Notify the thread, or leave a notice in it if that fails. Never raises for that."""
        if self._closed:
            return
        try:
            message = await self._message(proposal, outcome)
            await self._engine.send_notification(proposal.session_id, message)
        except NotFound:
            _log.debug("The thread of proposal %s is gone", proposal.id)
        except ShouldersError as error:
            _log.info("The thread of proposal %s was not told of its run: %s", proposal.id, error)
            self._note(proposal.session_id, proposal.id, f"It could not be told: {error}")

    def take_up(self) -> None:
        """Report runs that the last process did not report. Raises ``StateUnavailable``."""
        runs: dict[SessionId, list[ProposalId]] = {}
        for logged in self._log.find({"proposal-resolve"}):
            event = logged.event
            if isinstance(event, ProposalResolve) and event.run:
                runs.setdefault(event.session_id, []).append(event.proposal_id)
        why = "The server stopped before the run ended, or before the agent was told of it."
        for session_id, proposals in runs.items():
            said = [logged.event for logged in self._log.find(_SAYING, session_id)]
            for proposal_id in proposals:
                if not any(_is_notification(event, proposal_id) for event in said):
                    self._note(session_id, proposal_id, why)

    def _note(self, session_id: SessionId, proposal_id: ProposalId, why: str) -> None:
        text = (
            f"{why} The agent does not know how the run ended; what the cell printed is in the "
            "notebook. Send a message to continue."
        )
        details = {"proposal_id": proposal_id}
        try:
            notice = Notice(
                level="warning", code=RUN_NOT_REPORTED, text=text, details=dict(details)
            )
            self._log.append(session_id, notice)
        except (NotFound, StateUnavailable) as error:
            _log.warning("Thread %s cannot be told: %s %s", session_id, text, error)
        crash_point("runnews.notice.said")

    async def _message(self, proposal: Proposal, outcome: CellRun | ErrorInfo) -> SendMessage:
        assert proposal.cell_id is not None
        where = await self._where(proposal.document, proposal.cell_id)
        own = " with changes of mine" if proposal.state == "edited" else ""
        return SendMessage(
            id=message_id(proposal.id),
            text=f"I applied the proposed change{own} and ran {where}. {_ended(outcome)}",
            attachments=_outputs(proposal.document, proposal.cell_id, outcome),
        )

    async def _where(self, document: str, cell_id: CellId) -> str:
        """Return the cell's number; an empty text if the notebook cannot be read now."""
        try:
            position = (await self._notebooks.open(document).read()).position(cell_id)
        except ShouldersError:
            position = None
        return "the cell" if position is None else f"cell {position + 1}"


def message_id(proposal_id: ProposalId) -> MessageId:
    """Return the id of the message about a proposal's run; a copied thread has the same."""
    return MessageId(f"ran.{proposal_id.split('.')[0]}")


def _is_notification(event: object, proposal_id: ProposalId) -> bool:
    if isinstance(event, MessageAdd):
        return event.message_id == message_id(proposal_id)
    return (
        isinstance(event, Notice)
        and event.code == RUN_NOT_REPORTED
        and (event.details or {}).get("proposal_id") == proposal_id
    )


def _ended(outcome: CellRun | ErrorInfo) -> str:
    if isinstance(outcome, ErrorInfo):
        return f"It could not be run: {outcome.message}"
    printed = "" if outcome.outputs else " It has no output."
    return f"{_ENDS[outcome.status]}{printed}"


def _outputs(
    document: str, cell_id: CellId, outcome: CellRun | ErrorInfo
) -> tuple[OutputAttachment, ...]:
    count = 0 if isinstance(outcome, ErrorInfo) else len(outcome.outputs)
    return tuple(
        OutputAttachment(kind="output", path=document, cell_id=cell_id, index=index)
        for index in _shown(range(count))
    )


def _shown(indices: Sequence[int]) -> Sequence[int]:
    if len(indices) <= MAX_OUTPUTS:
        return indices
    half = MAX_OUTPUTS // 2
    return [*indices[:half], *indices[-half:]]
