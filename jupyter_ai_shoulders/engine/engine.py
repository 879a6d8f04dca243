"""The engine: the only entry to the agent loop, for every surface.

Made by ``host``; called by the server's handlers, the command line and tests.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from jupyter_ai_shoulders.changes.restore.restorer import DocumentRestorer, NullDocumentRestorer
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import Conflict, PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.core.summaries import CompactionMode
from jupyter_ai_shoulders.engine.loop.commands import (
    CancelTurn,
    DiscardInterrupted,
    ResumeInterrupted,
    Shutdown,
)
from jupyter_ai_shoulders.engine.loop.operations import Signal
from jupyter_ai_shoulders.engine.loop.state import AwaitingRuns, Idle, Interrupted, Stopping
from jupyter_ai_shoulders.engine.loop.synthetic_results import CANCELLED, STOPPED
from jupyter_ai_shoulders.engine.ports import (
    RecoveryCounter,
)
from jupyter_ai_shoulders.engine.request.session_index import COMPACTION_WANTED
from jupyter_ai_shoulders.engine.session.cache import BackgroundEventRouter, SessionCache
from jupyter_ai_shoulders.engine.session.driver import SessionDriver
from jupyter_ai_shoulders.engine.session.messages import MessageService
from jupyter_ai_shoulders.engine.session.quarantine import NullRecoveryCounter, SessionRecovery
from jupyter_ai_shoulders.engine.session.ready_sessions import ReadySessions, dispatch_with_outcomes
from jupyter_ai_shoulders.engine.session.request_inspector import RequestInspector
from jupyter_ai_shoulders.engine.session.restore_service import RestoreService
from jupyter_ai_shoulders.engine.session.services import EngineServices
from jupyter_ai_shoulders.engine.session.user_responses import UserResponses
from jupyter_ai_shoulders.tools.permissions.taint import TaintSource
from jupyter_ai_shoulders.wire.api.commands import (
    ResumeTurn,
    SendMessage,
)
from jupyter_ai_shoulders.wire.api.responses import MessageAccepted
from jupyter_ai_shoulders.wire.events import Notice
from jupyter_ai_shoulders.wire.ids import SessionId

_log = logging.getLogger(__name__)


class Engine:
    """Runs the turns of all sessions."""

    def __init__(
        self,
        services: EngineServices,
        *,
        recoveries: RecoveryCounter | None = None,
        restorer: DocumentRestorer | None = None,
    ) -> None:
        """Take the ports; reads and starts nothing."""
        self._services = services
        self._cache = SessionCache(services)
        self._background_events = BackgroundEventRouter(self._cache)
        services.background_tasks.subscribe(self._background_events.route)
        self.responses = UserResponses(self._cache, services)
        self._recovery = SessionRecovery(self._cache, services, recoveries or NullRecoveryCounter())
        self.requests = RequestInspector(services)
        self.restores = RestoreService(self._cache, services, restorer or NullDocumentRestorer())
        self._ready = ReadySessions(self._cache, services, self.restores)
        self.messages = MessageService(self._cache, services, self._ready)

    async def start(self) -> None:
        """Recover after a restart: sessions with an open turn become ``interrupted``.

        Sessions whose turn had just ended stop showing as running, and the mode ``bypass`` ends. A
        session that cannot be read is logged and does not block the others; after two failed starts
        it is quarantined (``engine.session.quarantine``).
        """
        for session_id in self._services.sessions.needing_recovery():
            await self._recovery.recover(session_id)

    async def stop(self) -> None:
        """Stop within the time limit; running turns become interrupted."""
        await self._recovery.stop()
        running = [driver for driver in self._cache.drivers() if driver.is_running]
        for driver in running:
            if not isinstance(driver.state.phase, Stopping):
                _try(driver, Shutdown())
                crash_point("engine.shutdown.told")
        waits = [asyncio.create_task(driver.wait_until_idle()) for driver in running]
        waits.append(asyncio.create_task(self._services.background_tasks.stop(STOPPED)))
        _, late = await asyncio.wait(waits, timeout=self._services.settings.stop_timeout_s)
        for task in late:
            task.cancel()
        await self._background_events.wait_until_delivered()
        try:
            await self._services.log.sync()
        except ShouldersError:
            _log.exception("The log could not be brought to the disk.")

    async def send(self, session_id: SessionId, command: SendMessage) -> MessageAccepted:
        """Accept a user message; raises as ``MessageService.send``."""
        return await self.messages.send(session_id, command)

    async def send_notification(
        self, session_id: SessionId, command: SendMessage
    ) -> MessageAccepted:
        """Accept a notification; raises as ``MessageService.send_notification``."""
        return await self.messages.send_notification(session_id, command)

    async def cancel(self, session_id: SessionId) -> None:
        """Stop the running turn or end an interrupted one; otherwise do nothing.

        Raises ``NotFound``. The turn ends shortly after, see ``settled``.
        """
        driver = await self._cache.get_driver(session_id)
        match driver.state.phase:
            case Idle():
                self._services.background_tasks.cancel(session_id, CANCELLED)
            case Stopping():
                return
            case Interrupted():
                driver, found = await self._ready.get_with_outcomes(session_id)
                if not isinstance(driver.state.phase, Interrupted):
                    await self.cancel(session_id)  # another page resumed or ended it
                    return
                dispatch_with_outcomes(driver, found, DiscardInterrupted())
            case _:
                driver.dispatch(CancelTurn())
                crash_point("engine.cancel.accepted")

    async def resume(self, session_id: SessionId, command: ResumeTurn) -> None:
        """Resume an interrupted turn, or discard it.

        The command may raise a spending limit. Raises ``NotFound``, ``Conflict`` (not interrupted),
        ``PolicyRefusal`` (limit), ``StateUnavailable`` (the limit could not be stored; the turn
        stays interrupted), ``ShouldersError`` (model).
        """
        driver = await self._cache.get_driver(session_id)
        if command.decision == "resume" and command.limit_micro_usd is not None:
            await self._raise_limit(driver, command.limit_micro_usd)
        await self._services.models.refresh_default()
        driver, found = await self._ready.get_with_outcomes(session_id)
        if command.decision == "discard":
            dispatch_with_outcomes(driver, found, DiscardInterrupted())
            crash_point("engine.discard.committed")
        else:
            dispatch_with_outcomes(driver, found, ResumeInterrupted(driver.plan_resumed_turn()))
            crash_point("engine.resume.committed")
        await self._services.log.sync()

    async def compact(self, session_id: SessionId) -> None:
        """Request a summary of earlier messages before the next message is answered; idempotent.

        Raises ``NotFound``, ``PolicyRefusal`` (switched off), ``Conflict`` (a turn is open, nothing
        to summarise) and ``StateUnavailable``.
        """
        driver, _ = await self._ready.get_ready(session_id)
        if driver.index.compaction_wanted:
            return
        _check_compaction(driver, self._services.settings.compaction)
        driver.record(_compaction_request())
        await self._services.log.sync()

    def is_running(self, session_id: SessionId) -> bool:
        """Return whether a turn of the session is open and not interrupted."""
        driver = self._cache.get_loaded(session_id)
        return driver is not None and driver.is_running

    def sources(self, session_id: SessionId) -> Sequence[TaintSource]:
        """Return the taint sources of a session in memory."""
        driver = self._cache.get_loaded(session_id)
        return () if driver is None else driver.state.taint

    async def settled(self, session_id: SessionId) -> None:
        """Wait until nothing runs: the turn ended, was interrupted, or waits for the user."""
        while (driver := self._cache.get_loaded(session_id)) is not None:
            await driver.wait_until_idle()
            if not isinstance(driver.state.phase, AwaitingRuns):
                return
            await self._services.background_tasks.ended(session_id)

    async def _raise_limit(self, driver: SessionDriver, micro_usd: int) -> None:
        turn = driver.state.turn
        if turn is None or turn.paused is None or turn.paused.scope == "window":
            raise Conflict("The conversation is not waiting at a limit that can be raised here.")
        await self._services.budgets.raise_limit(
            turn.paused.scope, micro_usd, driver.session_id, turn.turn_id
        )


def _try(driver: SessionDriver, signal: Signal) -> None:
    try:
        driver.dispatch(signal)
    except ShouldersError:
        _log.exception("Session %s could not be told that the server stops.", driver.session_id)


def _check_compaction(driver: SessionDriver, mode: CompactionMode) -> None:
    """Raise ``PolicyRefusal`` or ``Conflict`` when earlier messages cannot be summarised now."""
    if mode == "off":
        raise PolicyRefusal(
            "Summaries of earlier messages are switched off here.",
            code="disabled",
            hint="The administrator can allow them: Shoulders.compaction.",
        )
    if driver.state.turn is not None:
        raise Conflict(
            "A turn is open, so earlier messages cannot be summarised now.",
            code="turn_running",
            hint="Wait for the turn to end, or stop it.",
            retryable=True,
        )
    if not driver.can_compact:
        raise Conflict(
            "There is nothing to summarise yet: the first message and the latest are always kept.",
            hint="Summaries help in longer conversations.",
        )


def _compaction_request() -> Notice:
    """Return the notice that keeps the request across restarts; the next turn carries it out."""
    return Notice(
        level="info",
        code=COMPACTION_WANTED,
        text="Earlier messages are summarised for the model before your next message is answered; "
        "you still see all of them.",
    )
