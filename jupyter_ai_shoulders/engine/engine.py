"""The engine: the only way into the agent loop, for every surface.

Made by ``host``; called by the server's handlers, the command line and tests.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from random import Random

from jupyter_ai_shoulders.changes.restore.restorer import DocumentRestorer, NullDocumentRestorer
from jupyter_ai_shoulders.core.clock import Clock, IdSource
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.engine_settings import EngineSettings
from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound, ShouldersError
from jupyter_ai_shoulders.engine.calls.background_tasks import BackgroundTasks
from jupyter_ai_shoulders.engine.environment.snapshot import EmptyEnvironment
from jupyter_ai_shoulders.engine.loop import commands_and_effects as sig
from jupyter_ai_shoulders.engine.loop.state import AwaitingRuns, Idle, Interrupted, Stopping
from jupyter_ai_shoulders.engine.loop.synthetic_results import CANCELLED, STOPPED
from jupyter_ai_shoulders.engine.null_ports import NullBudgets
from jupyter_ai_shoulders.engine.ports import (
    Budgets,
    Environment,
    InputReceiver,
    Models,
    RecoveryCounter,
    Summarizer,
)
from jupyter_ai_shoulders.engine.request.compaction import NoSummarizer
from jupyter_ai_shoulders.engine.session.background_events import (
    BackgroundEventRouter,
    NullInputReceiver,
)
from jupyter_ai_shoulders.engine.session.cache import SessionCache
from jupyter_ai_shoulders.engine.session.driver import SessionDriver
from jupyter_ai_shoulders.engine.session.effect_runner import EngineServices
from jupyter_ai_shoulders.engine.session.manual_compaction import (
    check_compaction,
    compaction_request_notice,
)
from jupyter_ai_shoulders.engine.session.message_edit import find_edit_start, replaced_messages
from jupyter_ai_shoulders.engine.session.quarantine import NullRecoveryCounter, SessionRecovery
from jupyter_ai_shoulders.engine.session.request_inspector import RequestInspector
from jupyter_ai_shoulders.engine.session.restore_service import RestoreService
from jupyter_ai_shoulders.engine.session.user_responses import UserResponses, dispatch_user_response
from jupyter_ai_shoulders.storage.base import Blobs, EventLog, Sessions
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.tools.permissions.taint import TaintSource
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.wire.api.commands import (
    AnswerApproval,
    AnswerInput,
    AnswerQuestion,
    EditMessage,
    ResumeTurn,
    SendMessage,
    SupplyResult,
)
from jupyter_ai_shoulders.wire.api.responses import MessageAccepted
from jupyter_ai_shoulders.wire.events import ToolResult
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, SessionId

_log = logging.getLogger(__name__)


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
        rules: PermissionStore,
        clock: Clock,
        ids: IdSource,
        settings: EngineSettings,
        surroundings: Environment | None = None,
        budgets: Budgets | None = None,
        recoveries: RecoveryCounter | None = None,
        summarizer: Summarizer | None = None,
        long_calls: BackgroundTasks | None = None,
        inputs: InputReceiver | None = None,
        restorer: DocumentRestorer | None = None,
    ) -> None:
        """Take the ports; nothing is read or started before it is asked for."""
        self._services = EngineServices(
            log=log,
            sessions=sessions,
            blobs=blobs,
            models=models,
            tools=tools,
            rules=rules,
            clock=clock,
            ids=ids,
            settings=settings,
            rng=Random(),  # noqa: S311 spreads retries, guards nothing
            long_calls=long_calls or BackgroundTasks(ids),
            inputs=inputs or NullInputReceiver(),
            surroundings=surroundings or EmptyEnvironment(),
            budgets=budgets or NullBudgets(),
            summarizer=summarizer or NoSummarizer(),
        )
        self._shelf = SessionCache(self._services)
        self._hearing = BackgroundEventRouter(self._shelf)
        self._services.long_calls.subscribe(self._hearing.route)
        self._answers = UserResponses(self._shelf, self._services)
        self._recovery = SessionRecovery(
            self._shelf, self._services, recoveries or NullRecoveryCounter()
        )
        self.requests = RequestInspector(self._services)
        self.restores = RestoreService(
            self._shelf, self._services, restorer or NullDocumentRestorer()
        )

    async def start(self) -> None:
        """Recover: each session with an open turn becomes ``interrupted``, said in words.

        One whose turn ended just before the process did no longer shows as running, and nothing
        is in the mode ``bypass`` any more.

        A session that cannot be read is logged and left alone; it does not block the others. One
        that could not be read at two starts is set aside (``engine.session.quarantine``).
        """
        for session_id in self._services.sessions.unsettled():
            await self._recovery.take_up(session_id)

    async def stop(self) -> None:
        """Stop within five seconds; running turns become interrupted."""
        await self._recovery.stop()
        running = [driver for driver in self._shelf.drivers() if driver.is_running]
        for driver in running:
            if not isinstance(driver.state.phase, Stopping):
                _try(driver, sig.Shutdown())
                crash_point("engine.shutdown.told")
        waits = [asyncio.create_task(driver.wait_until_idle()) for driver in running]
        waits.append(asyncio.create_task(self._services.long_calls.stop(STOPPED)))
        _, late = await asyncio.wait(waits, timeout=self._services.settings.stop_timeout_s)
        for task in late:
            task.cancel()
        await self._hearing.wait_until_delivered()
        try:
            await self._services.log.sync()
        except ShouldersError:
            _log.exception("The log could not be brought to the disk.")

    async def send(self, session_id: SessionId, command: SendMessage) -> MessageAccepted:
        """Accept a user message: start a turn, or queue it as steering while one runs.

        While a question waits, the message is its answer. Idempotent by ``command.id``. Discards
        an interrupted turn first. One that ``replaces`` another begins where that one stood.
        Raises ``NotFound`` (session, message replaced), ``InvalidRequest`` (blank), ``Conflict``
        (the message cannot be replaced now), ``ShouldersError`` (model), ``StateUnavailable``;
        then nothing was recorded.
        """
        driver, found = await self._ready(session_id)
        self._services.senders.record_sender(session_id, command.id, command.client_id)
        if command.id in driver.memory.accepted:
            self._repeat(driver, command)
        elif command.replaces is not None:
            driver = await self._resend(driver, command, command.replaces, found)
        else:
            self._accept(driver, command, found)
        crash_point("engine.message.committed")
        await self._services.log.sync()
        crash_point("engine.message.synced")
        return driver.memory.accepted[command.id]

    async def tell(self, session_id: SessionId, command: SendMessage) -> MessageAccepted:
        """Accept a message about what happened beside the conversation.

        Like ``send``, but it answers no question that waits, and discards no interrupted turn:
        raises ``Conflict`` then.
        """
        driver, _ = await self._ready(session_id)
        if command.id in driver.memory.accepted:
            self._repeat(driver, command)
        elif isinstance(driver.state.phase, Interrupted):
            raise Conflict(
                "The conversation's turn was interrupted and is still open.",
                hint="Resume or discard it first.",
            )
        elif driver.is_running:
            driver.dispatch(sig.SteerTurn(command))
        else:
            driver.dispatch(sig.StartTurn(command, driver.plan_turn(None, None)))
        crash_point("engine.told.committed")
        await self._services.log.sync()
        return driver.memory.accepted[command.id]

    async def edit_message(
        self, session_id: SessionId, message_id: MessageId, command: EditMessage
    ) -> None:
        """Change a queued message. Raises ``NotFound``, ``Conflict`` (no longer queued)."""
        await self._change_queued(session_id, message_id, command.text)

    async def remove_message(self, session_id: SessionId, message_id: MessageId) -> None:
        """Take a queued message back. Raises ``NotFound``, ``Conflict`` (no longer queued)."""
        await self._change_queued(session_id, message_id, None)

    async def send_queued(self, session_id: SessionId, message_id: MessageId) -> None:
        """Begin a turn with a message that an ended turn left queued, and those queued with it.

        Raises ``Conflict`` (no longer queued, a turn is open), ``ShouldersError`` (model).
        """
        driver, _ = await self._ready(session_id)
        driver.begin_queued(message_id)
        await self._services.log.sync()

    async def cancel(self, session_id: SessionId) -> None:
        """Stop the running turn, or end an interrupted one; else do nothing.

        Raises ``NotFound``. The turn ends shortly after, see ``settled``.
        """
        driver = await self._shelf.get_driver(session_id)
        match driver.state.phase:
            case Idle():
                self._services.long_calls.cancel(session_id, CANCELLED)
            case Stopping():
                return
            case Interrupted():
                driver, found = await self._looked(session_id)
                if not isinstance(driver.state.phase, Interrupted):
                    await self.cancel(session_id)  # resumed or ended from another page meanwhile
                    return
                self._go_on(driver, found, sig.DiscardInterrupted())
            case _:
                driver.dispatch(sig.CancelTurn())
                crash_point("engine.cancel.accepted")

    async def resume(self, session_id: SessionId, command: ResumeTurn) -> None:
        """Go on with an interrupted turn, or discard it.

        A higher spending limit may come with it. Raises ``NotFound``, ``Conflict`` (not
        interrupted), ``PolicyRefusal`` (limit), ``StateUnavailable`` (the limit could not be
        stored; the turn waits on), ``ShouldersError`` (model).
        """
        driver = await self._shelf.get_driver(session_id)
        if command.decision == "resume" and command.limit_micro_usd is not None:
            await self._raise_limit(driver, command.limit_micro_usd)
        await self._services.models.refresh_default()
        driver, found = await self._looked(session_id)
        if command.decision == "discard":
            self._go_on(driver, found, sig.DiscardInterrupted())
            crash_point("engine.discard.committed")
        else:
            self._go_on(driver, found, sig.ResumeInterrupted(driver.plan_resumed_turn()))
            crash_point("engine.resume.committed")
        await self._services.log.sync()

    async def compact(self, session_id: SessionId) -> None:
        """Have earlier messages summarised before the next message is answered; idempotent.

        Raises ``NotFound``, ``PolicyRefusal`` (it is off), ``Conflict`` (a turn is open, nothing to
        summarise) and ``StateUnavailable``.
        """
        driver, _ = await self._ready(session_id)
        if driver.memory.compaction_wanted:
            return
        check_compaction(driver, self._services.settings.compaction)
        driver.record(compaction_request_notice())
        await self._services.log.sync()

    async def answer_approval(
        self, session_id: SessionId, call_id: CallId, command: AnswerApproval
    ) -> None:
        """Answer a pending approval; raises as ``UserResponses.approval``."""
        await self._answers.approval(session_id, call_id, command)

    async def answer_question(
        self, session_id: SessionId, call_id: CallId, command: AnswerQuestion
    ) -> None:
        """Answer a question of the agent; raises as ``UserResponses.question``."""
        await self._answers.question(session_id, call_id, command)

    async def answer_input(
        self, session_id: SessionId, call_id: CallId, command: AnswerInput
    ) -> None:
        """Give a running call the text it waits for; raises as ``UserResponses.input``."""
        await self._answers.input(session_id, call_id, command)

    async def supply_result(
        self, session_id: SessionId, call_id: CallId, command: SupplyResult
    ) -> None:
        """Take the result of a call that the user made; raises as ``UserResponses.result``."""
        await self._answers.result(session_id, call_id, command)

    def is_running(self, session_id: SessionId) -> bool:
        """Return whether a turn of the session is open and not interrupted."""
        driver = self._shelf.get_loaded(session_id)
        return driver is not None and driver.is_running

    def sources(self, session_id: SessionId) -> Sequence[TaintSource]:
        """Return where text of a conversation at work came from that may not be the user's."""
        driver = self._shelf.get_loaded(session_id)
        return () if driver is None else driver.state.taint

    async def settled(self, session_id: SessionId) -> None:
        """Return once nothing runs: the turn ended, was interrupted, or waits for the user."""
        while (driver := self._shelf.get_loaded(session_id)) is not None:
            await driver.wait_until_idle()
            if not isinstance(driver.state.phase, AwaitingRuns):
                return
            await self._services.long_calls.ended(session_id)

    async def _ready(self, session_id: SessionId) -> tuple[SessionDriver, tuple[ToolResult, ...]]:
        """Return the session once nothing in it is being stopped, and what became of its calls."""
        await self._services.models.refresh_default()
        while True:
            driver = await self._shelf.get_driver(session_id)
            if isinstance(driver.state.phase, Stopping):
                await driver.wait_until_idle()
                continue
            found = await driver.find_interrupted_outcomes()
            restored = await self.restores.wait_for_restore(session_id)
            if not restored and self._shelf.get_loaded(session_id) is driver:
                return driver, found

    async def _looked(self, session_id: SessionId) -> tuple[SessionDriver, tuple[ToolResult, ...]]:
        """Return what became of the session's calls, and it as it is in memory by then."""
        while True:
            driver = await self._shelf.get_driver(session_id)
            found = await driver.find_interrupted_outcomes()
            if self._shelf.get_loaded(session_id) is driver and not driver.broken:
                return driver, found

    async def _resend(
        self,
        driver: SessionDriver,
        command: SendMessage,
        message_id: MessageId,
        found: tuple[ToolResult, ...],
    ) -> SessionDriver:
        """Go on from an edited message; return the session as it is then."""
        _check_words(command)
        seq = find_edit_start(driver, message_id)
        driver.plan_turn(command.model, command.mode)  # refused before anything is recorded
        if isinstance(driver.state.phase, Interrupted):
            self._go_on(driver, found, sig.DiscardInterrupted())
        try:
            again = await self._shelf.rewind(driver, seq)
        except Conflict:
            now = self._shelf.get_loaded(driver.session_id)
            if now is not None and command.id in now.memory.accepted:
                return now  # the same edit, sent twice at once
            raise
        try:
            plan = again.plan_turn(command.model, command.mode)
            hidden = replaced_messages(message_id, seq, driver.memory, again.memory)
            again.dispatch(sig.StartTurn(command, plan, hidden))
        except BaseException:
            self._shelf.drop(again)
            raise
        return again

    def _accept(
        self, driver: SessionDriver, command: SendMessage, found: tuple[ToolResult, ...]
    ) -> None:
        _check_words(command)
        if driver.question is not None:
            dispatch_user_response(
                driver, sig.QuestionAnswered(driver.question, (), message=command)
            )
            return
        if driver.is_running:
            if command.model is not None:
                self._services.models.resolve(command.model)
            driver.dispatch(sig.SteerTurn(command))
            crash_point("engine.steer.committed")
            return
        plan = driver.plan_turn(command.model, command.mode)
        if isinstance(driver.state.phase, Interrupted):
            self._go_on(driver, found, sig.DiscardInterrupted())
        driver.dispatch(sig.StartTurn(command, plan))

    def _go_on(
        self, driver: SessionDriver, found: tuple[ToolResult, ...], signal: sig.Signal
    ) -> None:
        if found and isinstance(driver.state.phase, Interrupted):
            driver.dispatch(sig.CallOutcomesFound(found))
            crash_point("engine.found.committed")
        driver.dispatch(signal)

    async def _raise_limit(self, driver: SessionDriver, micro_usd: int) -> None:
        turn = driver.state.turn
        if turn is None or turn.paused is None or turn.paused.scope == "window":
            raise Conflict("The conversation is not waiting at a limit that can be raised here.")
        await self._services.budgets.raise_limit(
            turn.paused.scope, micro_usd, driver.session_id, turn.turn_id
        )

    def _repeat(self, driver: SessionDriver, command: SendMessage) -> None:
        """A message sent again: nothing new, unless the server died before its turn began."""
        idle = isinstance(driver.state.phase, Idle)
        if idle and driver.memory.waits_for_turn(command.id):
            driver.begin_unstarted_turn(command.id)

    async def _change_queued(
        self, session_id: SessionId, message_id: MessageId, text: str | None
    ) -> None:
        driver = await self._shelf.get_driver(session_id)
        if message_id not in driver.memory.accepted:
            raise NotFound(f"This conversation has no message {message_id}.")
        driver.dispatch(sig.ChangeQueued(message_id, text))
        crash_point("engine.queue.changed")
        await self._services.log.sync()


def _check_words(command: SendMessage) -> None:
    if not command.text.strip() and not command.attachments:
        raise InvalidRequest("text: a message needs text or an attachment.")


def _try(driver: SessionDriver, signal: sig.Signal) -> None:
    try:
        driver.dispatch(signal)
    except ShouldersError:
        _log.exception("Session %s could not be told that the server stops.", driver.session_id)
