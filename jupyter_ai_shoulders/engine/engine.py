"""The engine: the only way into the agent loop, for every surface.

Made by ``host``; called by the server's handlers, the command line and tests.
"""

from __future__ import annotations

from jupyter_ai_shoulders.core.clock import Clock, IdSource
from jupyter_ai_shoulders.core.settings import EngineSettings
from jupyter_ai_shoulders.engine.ports import Models
from jupyter_ai_shoulders.storage.base import Blobs, EventLog, Sessions
from jupyter_ai_shoulders.tools.permissions import RuleBook
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.wire.api import MessageAccepted
from jupyter_ai_shoulders.wire.commands import AnswerApproval, EditMessage, ResumeTurn, SendMessage
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, SessionId


class Engine:
    """Runs the turns of all sessions."""

    def __init__(
        self,
        *,
        log: EventLog,
        sessions: Sessions,
        blobs: Blobs,
        models: Models,
        tools: ToolRegistry,
        rules: RuleBook,
        clock: Clock,
        ids: IdSource,
        settings: EngineSettings,
    ) -> None:
        raise NotImplementedError

    async def start(self) -> None:
        """Recover: each session with an open turn becomes ``interrupted``, said in words."""
        raise NotImplementedError

    async def stop(self) -> None:
        """Stop within five seconds; running turns become interrupted."""
        raise NotImplementedError

    async def send(self, session_id: SessionId, command: SendMessage) -> MessageAccepted:
        """Accept a user message: start a turn, or queue it as steering while one runs.

        Idempotent by ``command.id``. Discards an interrupted turn first. Raises ``NotFound``
        (session), ``InvalidRequest`` (blank), ``ShouldersError`` (model), ``StateUnavailable``;
        then nothing was recorded.
        """
        raise NotImplementedError

    async def edit_message(
        self, session_id: SessionId, message_id: MessageId, command: EditMessage
    ) -> None:
        """Change a queued message. Raises ``NotFound``, ``Conflict`` (no longer queued)."""
        raise NotImplementedError

    async def remove_message(self, session_id: SessionId, message_id: MessageId) -> None:
        """Take a queued message back. Raises ``NotFound``, ``Conflict`` (no longer queued)."""
        raise NotImplementedError

    async def cancel(self, session_id: SessionId) -> None:
        """Stop the running turn; nothing happens when none runs. Raises ``NotFound``."""
        raise NotImplementedError

    async def resume(self, session_id: SessionId, command: ResumeTurn) -> None:
        """Go on with an interrupted turn, or discard it.

        Raises ``NotFound``, ``Conflict`` (not interrupted), ``ShouldersError`` (model).
        """
        raise NotImplementedError

    async def answer_approval(
        self, session_id: SessionId, call_id: CallId, command: AnswerApproval
    ) -> None:
        """Answer a pending approval; an interrupted turn goes on with it.

        Raises ``NotFound``, ``Conflict`` (``already_answered``), ``InvalidRequest`` (scope not
        offered).
        """
        raise NotImplementedError

    def is_running(self, session_id: SessionId) -> bool:
        """Return whether a turn of the session is open and not interrupted."""
        raise NotImplementedError

    async def settled(self, session_id: SessionId) -> None:
        """Return once nothing runs: the turn ended, was interrupted, or waits for the user."""
        raise NotImplementedError
