"""Drives one session: performs the effects of ``advance`` and feeds results back.

Made by ``engine.session.cache``. ``dispatch`` is synchronous, so inputs are handled one after the
other; slow work runs as the session's single operation and ends with a signal.
"""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections.abc import Callable
from typing import assert_never

from jupyter_ai_shoulders.core.catalogue.external_agents import is_external_agent
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.engine_settings import EngineSettings
from jupyter_ai_shoulders.core.errors import Conflict, NotFound, PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.engine.calls.output_truncation import OutputTruncator
from jupyter_ai_shoulders.engine.loop.accepted_phases import WORKING
from jupyter_ai_shoulders.engine.loop.commands import BeginTurn, RunEnded, TimeUp, TurnPlan
from jupyter_ai_shoulders.engine.loop.effects import (
    AppendEvent,
    ContinueQueue,
    Effect,
    RefuseCommand,
    SetStatus,
    StartOperation,
    StopBackgroundRuns,
    StopOperation,
    SyncLog,
)
from jupyter_ai_shoulders.engine.loop.operations import (
    Operation,
    OperationCrashed,
    OperationEnd,
    OperationStopped,
    Signal,
)
from jupyter_ai_shoulders.engine.loop.state import AwaitingRuns, Idle, Interrupted, SessionState
from jupyter_ai_shoulders.engine.loop.synthetic_results import CANCELLED, internal_error
from jupyter_ai_shoulders.engine.loop.transition import advance
from jupyter_ai_shoulders.engine.request.context import SessionContext
from jupyter_ai_shoulders.engine.request.session_index import SessionIndex
from jupyter_ai_shoulders.engine.session.effect_runner import EffectRunner
from jupyter_ai_shoulders.engine.session.services import EngineServices
from jupyter_ai_shoulders.engine.session.turn_timer import TurnTimer
from jupyter_ai_shoulders.wire.events import (
    ErrorEvent,
    Event,
    RunEnd,
    StdinAnswer,
    StdinRequest,
    ToolResult,
    TurnResume,
    TurnStart,
)
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, ModelId, SessionId, TurnId
from jupyter_ai_shoulders.wire.sessions import Mode, Session, SessionStatus

EXTERNAL_STEP_LIMIT = 1_000_000
"""Steps of a turn that a program of others leads: each of its requests is one."""

_log = logging.getLogger(__name__)


class SessionDriver:
    """One session in memory."""

    def __init__(
        self,
        session_id: SessionId,
        services: EngineServices,
        state: SessionState,
        context: SessionContext,
        index: SessionIndex,
        *,
        on_broken: Callable[[SessionId], None] = lambda _: None,
    ) -> None:
        """``on_broken`` is called when the log failed, see ``broken``."""
        self.session_id = session_id
        self._on_broken = on_broken
        self.state = state
        self.index = index
        self.broken = False
        """Whether the log failed, so memory may be ahead of it and the session must be read again.
        """
        self._services = services
        self._context = context
        own = weakref.ref(self)  # no circle: an evicted session's memory is free at once

        def driver() -> SessionDriver:
            found = own()
            assert found is not None, "an operation outlived its session"
            return found

        self._operations = EffectRunner(
            session_id,
            services,
            context=context,
            index=index,
            state=lambda: driver().state,
            record=lambda event: driver().record(event),
        )
        self._time = TurnTimer(
            state.policy.time_limit_s,
            services.clock,
            lambda: driver()._time_is_up(),  # noqa: SLF001 its own
        )
        self._operation: asyncio.Task[OperationEnd] | None = None
        self._idle = asyncio.Event()
        self._idle.set()
        self._syncs: set[asyncio.Task[None]] = set()

    @property
    def is_running(self) -> bool:
        """Whether a turn is open and not interrupted."""
        return not self.broken and not isinstance(self.state.phase, Idle | Interrupted)

    @property
    def is_working(self) -> bool:
        """Whether a turn is open and does not wait for the user."""
        return not self.broken and isinstance(self.state.phase, (*WORKING, AwaitingRuns))

    @property
    def truncator(self) -> OutputTruncator:
        """Stores long outputs."""
        return self._operations.truncator

    async def wait_until_idle(self) -> None:
        """Wait until no operation runs; the end of a sync may start another one."""
        await self._idle.wait()
        while self._syncs:
            await asyncio.wait(self._syncs)
            await self._idle.wait()

    def plan_turn(
        self,
        model_id: ModelId | None = None,
        mode: Mode | None = None,
        turn_id: TurnId | None = None,
    ) -> TurnPlan:
        """Choose model, mode and limits of a turn. Raises ``ShouldersError`` (model)."""
        session = self._services.sessions.get(self.session_id)
        mode = session.mode if session.parent else mode or session.mode
        if mode == "bypass" and not self._services.settings.allow_bypass:
            raise bypass_forbidden_error()
        resolved = self._services.models.resolve(model_id or session.model)
        self._operations.model = resolved
        settings = self._services.settings
        return TurnPlan(
            turn_id=turn_id or TurnId(self._services.ids.new("turn")),
            model=resolved.spec.id,
            provider=resolved.spec.provider,
            mode=mode,
            step_limit=turn_step_limit(settings, session, resolved.spec.id),
            is_stand_in=resolved.is_stand_in,
            notice=resolved.notice,
        )

    async def find_interrupted_outcomes(self) -> tuple[ToolResult, ...]:
        """Kill orphaned processes; return the known outcomes of interrupted calls."""
        await self._operations.end_orphans()
        at_rest = isinstance(self.state.phase, Interrupted)
        return await self._operations.find_interrupted_outcomes() if at_rest else ()

    def plan_resumed_turn(self) -> TurnPlan:
        """Plan the resumption of the interrupted turn. Raises ``Conflict``, ``ShouldersError``
        (model).
        """
        turn = self.state.turn
        if turn is None or not isinstance(self.state.phase, Interrupted):
            raise Conflict("The conversation is not interrupted.")
        return self.plan_turn(turn_id=turn.turn_id)

    @property
    def question(self) -> CallId | None:
        """The call whose question waits for an answer."""
        turn = self.state.turn
        return turn.question if turn is not None and not self.broken else None

    def dispatch(self, signal: Signal) -> None:
        """Advance the state and perform the effects.

        Raises ``Conflict`` (refused), ``StateUnavailable`` (the log failed).
        """
        before = self.state
        self.state, effects = advance(before, signal)
        self._time.set_working(working=isinstance(self.state.phase, WORKING))
        performed = 0
        try:
            for effect in effects:
                self._perform(effect)
                performed += 1
        except BaseException:
            if performed:
                self._give_up()
            else:
                self.state = before
                self._time.set_working(working=isinstance(before.phase, WORKING))
            raise

    def record(self, event: Event) -> None:
        """Log an event of an operation. Raises ``StateUnavailable``."""
        turn = self.state.turn
        if event.turn_id is None and turn is not None:
            event = event.model_copy(update={"turn_id": turn.turn_id})
        logged = self._append(event)
        self.state, _ = advance(self.state, logged)
        if isinstance(event, StdinRequest):
            self.set_status("waiting")
        elif isinstance(event, StdinAnswer) and (self.is_working or self.state.runs):
            self.set_status("running")

    @property
    def can_compact(self) -> bool:
        """Whether there are earlier messages to summarise."""
        return self._context.compactable_range() is not None

    def accept_background_event(self, event: Event) -> None:
        """Record an event of a background run. Raises ``StateUnavailable``."""
        if isinstance(event, RunEnd):
            self.dispatch(RunEnded(event))
            crash_point("engine.run.ended")
        else:
            self.record(event)

    def _append(self, event: Event) -> Event:
        logged = self._services.log.append(self.session_id, event).event
        self._context.add(logged)
        self.index.add(logged)
        return logged

    # effects

    def _perform(self, effect: Effect) -> None:
        match effect:
            case AppendEvent():
                self._append(effect.event)
                if isinstance(effect.event, TurnStart | TurnResume):
                    self._time.restart()
            case SetStatus():
                self.set_status(effect.status)
            case StartOperation():
                self._start(effect.operation)
            case StopOperation() | StopBackgroundRuns():
                self._stop(effect)
            case ContinueQueue():
                self._continue_queue()
            case SyncLog():
                self._sync()
            case RefuseCommand():
                raise effect.error()
            case _:
                assert_never(effect)

    def _stop(self, effect: StopOperation | StopBackgroundRuns) -> None:
        if isinstance(effect, StopBackgroundRuns):
            self._services.background_tasks.cancel(self.session_id, CANCELLED)
        elif self._operation is not None:
            self._operation.cancel()

    def set_status(self, status: SessionStatus) -> None:
        """Update status and totals of the session. Raises ``StateUnavailable``."""
        try:
            session = self._services.sessions.get(self.session_id)
        except NotFound:  # deleted while the turn ran
            return
        turn = self.state.turn
        shown = session.model_copy(
            update={
                "status": status,
                "title": session.title or self.index.title,
                "model": turn.model if turn and not turn.is_stand_in else session.model,
                "mode": turn.mode if turn else session.mode,
                "tokens_used": self.index.tokens_used,
                "window": self.index.window,
                "cost_micro_usd": self.index.cost_micro_usd,
            }
        )
        if shown != session:
            self._services.sessions.update(shown)

    def _continue_queue(self) -> None:
        try:
            plan = self._plan_for(self.state.queue[-1].message_id)
        except ShouldersError as error:
            self._append(ErrorEvent(error=error.info))
            self.set_status("error")
            return
        self.dispatch(BeginTurn(plan))

    def begin_queued(self, message_id: MessageId) -> None:
        """Start a turn with a queued message and all others in the queue.

        Raises as ``dispatch``.
        """
        queue = [item.message_id for item in self.state.queue]
        if message_id not in queue:
            raise Conflict("The message is no longer queued.")
        self.dispatch(BeginTurn(self._plan_for(queue[-1])))

    def begin_unstarted_turn(self, message_id: MessageId) -> None:
        """Start the turn of an accepted message that never started. Raises as ``dispatch``."""
        queue = [item.message_id for item in self.state.queue]
        queued = message_id in queue
        turn_id = self.index.accepted[message_id].turn_id
        plan = self._plan_for(queue[-1] if queued else message_id, turn_id)
        self.dispatch(BeginTurn(plan, orphan=None if queued else message_id))
        crash_point("engine.message.begun_again")

    def _plan_for(self, message_id: MessageId, turn_id: TurnId | None = None) -> TurnPlan:
        """Plan a turn with the model and mode of its newest message."""
        model_id, mode = self.index.choices.get(message_id, (None, None))
        return self.plan_turn(model_id, mode, turn_id)

    def _sync(self) -> None:
        task = asyncio.create_task(self._synced())
        self._syncs.add(task)
        task.add_done_callback(self._syncs.discard)

    async def _synced(self) -> None:
        try:
            await self._services.log.sync()
        except ShouldersError:
            _log.exception("The log of %s could not be brought to the disk.", self.session_id)

    # operations

    def _start(self, operation: Operation) -> None:
        self._idle.clear()
        self._operation = asyncio.create_task(self._operations.perform(operation))
        self._operation.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[OperationEnd]) -> None:
        """Dispatch the end of an operation; must not raise."""
        self._operation = None
        try:
            signal = self._signal(task)
            crash_point("engine.operation.ended")
            if not self.broken:
                self.dispatch(signal)
                crash_point("engine.operation.followed")
        except Exception:  # noqa: BLE001 the turn's last resort: logged, then the log is reloaded
            _log.exception("Session %s cannot go on.", self.session_id)
            self._give_up()
        if self._operation is None:
            self._idle.set()

    def _signal(self, task: asyncio.Task[OperationEnd]) -> OperationEnd:
        if task.cancelled():
            return OperationStopped(self._operations.take_partial_usage())
        error = task.exception()
        if error is None:
            return task.result()
        _log.error("An operation of session %s failed.", self.session_id, exc_info=error)
        known = isinstance(error, ShouldersError)
        return OperationCrashed(error.info if known else internal_error("This step"))

    def _time_is_up(self) -> None:
        """Stop the turn; called by a timer, so it must not raise."""
        try:
            self.dispatch(TimeUp())
        except Exception:  # noqa: BLE001 as in _ended
            _log.exception("Session %s could not be stopped in time.", self.session_id)
            self._give_up()

    def _give_up(self) -> None:
        self.broken = True
        self._time.set_working(working=False)
        if self._operation is not None:
            self._operation.cancel()
        self._on_broken(self.session_id)


def turn_step_limit(settings: EngineSettings, session: Session, model: ModelId) -> int:
    if is_external_agent(model):
        return EXTERNAL_STEP_LIMIT
    if session.parent is not None:
        return min(settings.step_limit, settings.sub_agent_step_limit)
    return settings.document_step_limit if session.toolset == "document" else settings.step_limit


def bypass_forbidden_error() -> PolicyRefusal:
    """Return why a turn cannot run in the mode ``bypass``."""
    return PolicyRefusal(
        "The administrator does not allow the mode bypass.",
        hint="Choose another mode; Shoulders.allow_bypass is off.",
    )
