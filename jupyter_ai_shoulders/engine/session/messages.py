"""Accepts messages: starts turns with them, steers running turns, and changes queued messages.

Made by ``engine.engine``.
"""

from __future__ import annotations

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound
from jupyter_ai_shoulders.engine.loop.commands import (
    ChangeQueued,
    DiscardInterrupted,
    QuestionAnswered,
    StartTurn,
    SteerTurn,
)
from jupyter_ai_shoulders.engine.loop.state import Idle, Interrupted
from jupyter_ai_shoulders.engine.session.cache import SessionCache
from jupyter_ai_shoulders.engine.session.driver import SessionDriver
from jupyter_ai_shoulders.engine.session.message_edit import find_edit_start, replaced_messages
from jupyter_ai_shoulders.engine.session.ready_sessions import ReadySessions, dispatch_with_outcomes
from jupyter_ai_shoulders.engine.session.services import EngineServices
from jupyter_ai_shoulders.engine.session.user_responses import dispatch_user_response
from jupyter_ai_shoulders.wire.api.commands import EditMessage, SendMessage
from jupyter_ai_shoulders.wire.api.responses import MessageAccepted
from jupyter_ai_shoulders.wire.events import ToolResult
from jupyter_ai_shoulders.wire.ids import MessageId, SessionId


class MessageService:
    """Accepts and changes the messages of all sessions."""

    def __init__(self, cache: SessionCache, services: EngineServices, ready: ReadySessions) -> None:
        self._cache = cache
        self._services = services
        self._ready = ready

    async def send(self, session_id: SessionId, command: SendMessage) -> MessageAccepted:
        """Accept a user message: start a turn, or queue it while one runs.

        While a question is open, the message answers it. Idempotent by ``command.id``. Discards an
        interrupted turn first. With ``replaces``, the turn starts at the replaced message. Raises
        ``NotFound`` (session, replaced message), ``InvalidRequest`` (blank), ``Conflict`` (the
        message cannot be replaced now), ``ShouldersError`` (model), ``StateUnavailable``; then
        nothing was recorded.
        """
        driver, found = await self._ready.get_ready(session_id)
        self._services.senders.record_sender(session_id, command.id, command.client_id)
        if command.id in driver.index.accepted:
            self._send_repeated(driver, command)
        elif command.replaces is not None:
            driver = await self._send_edited(driver, command, command.replaces, found)
        else:
            self._accept(driver, command, found)
        crash_point("engine.message.committed")
        await self._services.log.sync()
        crash_point("engine.message.synced")
        return driver.index.accepted[command.id]

    async def send_notification(
        self, session_id: SessionId, command: SendMessage
    ) -> MessageAccepted:
        """Accept a notification about events outside of the conversation.

        Like ``send``, but answers no question and discards no interrupted turn: raises ``Conflict``
        then.
        """
        driver, _ = await self._ready.get_ready(session_id)
        if command.id in driver.index.accepted:
            self._send_repeated(driver, command)
        elif isinstance(driver.state.phase, Interrupted):
            raise Conflict(
                "The conversation's turn was interrupted and is still open.",
                hint="Resume or discard it first.",
            )
        elif driver.is_running:
            driver.dispatch(SteerTurn(command))
        else:
            driver.dispatch(StartTurn(command, driver.plan_turn(None, None)))
        crash_point("engine.told.committed")
        await self._services.log.sync()
        return driver.index.accepted[command.id]

    async def edit_queued(
        self, session_id: SessionId, message_id: MessageId, command: EditMessage
    ) -> None:
        """Change a queued message. Raises ``NotFound``, ``Conflict`` (no longer queued)."""
        await self._change_queued(session_id, message_id, command.text)

    async def remove_queued(self, session_id: SessionId, message_id: MessageId) -> None:
        """Remove a queued message. Raises as ``edit_queued``."""
        await self._change_queued(session_id, message_id, None)

    async def send_queued(self, session_id: SessionId, message_id: MessageId) -> None:
        """Start a turn with a message that an ended turn left queued, and the others in the queue.

        Raises ``Conflict`` (no longer queued, a turn is open), ``ShouldersError`` (model).
        """
        driver, _ = await self._ready.get_ready(session_id)
        driver.begin_queued(message_id)
        await self._services.log.sync()

    async def _send_edited(
        self,
        driver: SessionDriver,
        command: SendMessage,
        message_id: MessageId,
        found: tuple[ToolResult, ...],
    ) -> SessionDriver:
        """Continue from an edited message; return the rewound session."""
        _check_not_blank(command)
        seq = find_edit_start(driver, message_id)
        driver.plan_turn(command.model, command.mode)  # may refuse, before anything is recorded
        if isinstance(driver.state.phase, Interrupted):
            dispatch_with_outcomes(driver, found, DiscardInterrupted())
        try:
            again = await self._cache.rewind(driver, seq)
        except Conflict:
            now = self._cache.get_loaded(driver.session_id)
            if now is not None and command.id in now.index.accepted:
                return now  # the same edit was sent twice at once
            raise
        try:
            plan = again.plan_turn(command.model, command.mode)
            hidden = replaced_messages(message_id, seq, driver.index, again.index)
            again.dispatch(StartTurn(command, plan, hidden))
        except BaseException:
            self._cache.drop(again)
            raise
        return again

    def _accept(
        self, driver: SessionDriver, command: SendMessage, found: tuple[ToolResult, ...]
    ) -> None:
        _check_not_blank(command)
        if driver.question is not None:
            dispatch_user_response(driver, QuestionAnswered(driver.question, (), message=command))
            return
        if driver.is_running:
            if command.model is not None:
                self._services.models.resolve(command.model)
            driver.dispatch(SteerTurn(command))
            crash_point("engine.steer.committed")
            return
        plan = driver.plan_turn(command.model, command.mode)
        if isinstance(driver.state.phase, Interrupted):
            dispatch_with_outcomes(driver, found, DiscardInterrupted())
        driver.dispatch(StartTurn(command, plan))

    def _send_repeated(self, driver: SessionDriver, command: SendMessage) -> None:
        """Handle a message sent again: start its turn if the server died before it started."""
        idle = isinstance(driver.state.phase, Idle)
        if idle and driver.index.waits_for_turn(command.id):
            driver.begin_unstarted_turn(command.id)

    async def _change_queued(
        self, session_id: SessionId, message_id: MessageId, text: str | None
    ) -> None:
        driver = await self._cache.get_driver(session_id)
        if message_id not in driver.index.accepted:
            raise NotFound(f"This conversation has no message {message_id}.")
        driver.dispatch(ChangeQueued(message_id, text))
        crash_point("engine.queue.changed")
        await self._services.log.sync()


def _check_not_blank(command: SendMessage) -> None:
    if not command.text.strip() and not command.attachments:
        raise InvalidRequest("text: a message needs text or an attachment.")
