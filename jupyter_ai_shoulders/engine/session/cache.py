"""Sessions in memory: read from the log when first needed, evicted when idle for long.

Used by ``engine.engine``.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from weakref import WeakValueDictionary

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.engine_settings import EngineSettings
from jupyter_ai_shoulders.core.errors import Conflict, NotFound, ShouldersError, StateUnavailable
from jupyter_ai_shoulders.core.frozen_values import replace
from jupyter_ai_shoulders.engine.calls.background_tasks import lost_run_event
from jupyter_ai_shoulders.engine.loop.commands import NoteInterruption, RunEnded
from jupyter_ai_shoulders.engine.loop.event_reducer import apply_event, stopped_state
from jupyter_ai_shoulders.engine.loop.state import Interrupted, SessionState, policy_for
from jupyter_ai_shoulders.engine.request.context import SessionContext
from jupyter_ai_shoulders.engine.request.session_index import SessionIndex
from jupyter_ai_shoulders.engine.session.driver import SessionDriver
from jupyter_ai_shoulders.engine.session.services import EngineServices
from jupyter_ai_shoulders.wire.conversation.branches import HIDING, Branches
from jupyter_ai_shoulders.wire.events import Event, ToolResult
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.sessions import Session, SessionStatus

_log = logging.getLogger(__name__)

_OPEN_STATUSES: frozenset[SessionStatus] = frozenset({"running", "waiting", "interrupted"})


class SessionCache:
    """The drivers of the sessions in use."""

    def __init__(self, services: EngineServices) -> None:
        self._services = services
        self._drivers: OrderedDict[SessionId, SessionDriver] = OrderedDict()
        self._quarantined: set[SessionId] = set()
        self.on_broken: Callable[[SessionId], None] = lambda _: None
        """Called when the log of a session failed: the session must be read again, and its state
        recorded, once writing works.
        """
        self._loading: WeakValueDictionary[SessionId, asyncio.Lock] = WeakValueDictionary()

    def quarantine(self, session_id: SessionId) -> None:
        """Run nothing in this session any more."""
        self._quarantined.add(session_id)
        self._drivers.pop(session_id, None)

    def drivers(self) -> list[SessionDriver]:
        """Return the drivers in memory."""
        return list(self._drivers.values())

    def get_loaded(self, session_id: SessionId) -> SessionDriver | None:
        """Return the driver if it is in memory."""
        return self._drivers.get(session_id)

    async def get_driver(self, session_id: SessionId) -> SessionDriver:
        """Return the session's driver, reading its log when needed.

        Raises ``NotFound``, and ``StateUnavailable`` when the log cannot be read, the session is
        quarantined, or the state of its last turn cannot be recorded (disk full).
        """
        if session_id in self._quarantined:
            raise _quarantined()
        found = self._drivers.get(session_id)
        if found is None or found.broken:
            lock = self._loading.setdefault(session_id, asyncio.Lock())
            async with lock:
                found = await self._load(session_id)
        self._drivers.move_to_end(session_id)
        return found

    async def rewind(self, driver: SessionDriver, seq: int) -> SessionDriver:
        """Replace the driver by one without the events from ``seq`` on, and return it.

        The caller must record at once what hides those events, or ``drop`` it. Raises ``Conflict``
        when something else started in the meantime.
        """
        session_id, accepted = driver.session_id, len(driver.index.accepted)
        async with self._loading.setdefault(session_id, asyncio.Lock()):
            again = await self._read(session_id, seq)
            same = self._drivers.get(session_id) is driver
            if not same or driver.is_running or len(driver.index.accepted) > accepted:
                raise Conflict(
                    "Something else was sent to the conversation in the meantime.",
                    code="turn_running",
                    hint="Check what it says now, then try again.",
                )
            self._drivers[session_id] = again
        return again

    def drop(self, driver: SessionDriver) -> None:
        """Remove a session from memory; its log remains."""
        if self._drivers.get(driver.session_id) is driver:
            del self._drivers[driver.session_id]

    async def _load(self, session_id: SessionId) -> SessionDriver:
        old = self._drivers.get(session_id)
        if old is not None and not old.broken:
            return old
        if old is not None:
            await old.wait_until_idle()
        driver = await self._read(session_id)
        found = await driver.find_interrupted_outcomes()
        self._correct_status(driver, found)
        self._drivers[session_id] = driver
        self._evict(session_id)
        return driver

    async def _read(self, session_id: SessionId, until: int | None = None) -> SessionDriver:
        """Fold the log page by page, so that a long one does not block the event loop.

        Skips hidden events, and all from ``until`` on.
        """
        session = self._services.sessions.get(session_id)
        settings = self._services.settings
        policy = policy_for(
            session.kind,
            session.interactive,
            turn_time_limit(settings, session),
            nudges=settings.nudges,
            compaction=settings.compaction,
        )
        state = SessionState(policy)
        context, index = SessionContext(self._services.blobs), SessionIndex()
        said = self._services.log.find(HIDING, session_id)
        branches = Branches(logged.event for logged in said)
        before = 0
        for page in self._services.log.replay(session_id):
            for event in page:
                seq = event.seq
                if branches.hides(seq) or (until is not None and seq >= until):
                    index.add_hidden(event)
                    continue
                state = apply_event(state, event)
                _take(context, event)
                index.add(event)
                if before < index.copied <= seq:
                    state = replace(state, grants=())  # given to the original session
                before = seq
            await asyncio.sleep(0)
        if until is not None:
            state = replace(state, turn=None, queue=())
        return SessionDriver(
            session_id, self._services, stopped_state(state), context, index, on_broken=self._report
        )

    def _report(self, session_id: SessionId) -> None:
        self.on_broken(session_id)

    def _correct_status(self, driver: SessionDriver, found: tuple[ToolResult, ...]) -> None:
        """Record the state of the last turn, once. Raises ``StateUnavailable``."""
        shown = self._services.sessions.get(driver.session_id).status
        turn = driver.state.turn
        interrupted = isinstance(driver.state.phase, Interrupted)
        if turn is not None and turn.paused is not None:
            driver.set_status("waiting")
        elif interrupted and shown != "interrupted":
            driver.dispatch(NoteInterruption(found))
        elif not interrupted and shown in _OPEN_STATUSES:
            driver.set_status("idle")  # the server died between the end of the turn and this status
        self._end_lost_runs(driver)

    def _end_lost_runs(self, driver: SessionDriver) -> None:
        """Record runs that the server's end cut off as lost."""
        for run in driver.state.runs:
            if not self._services.background_tasks.is_running(driver.session_id, run.run):
                driver.dispatch(RunEnded(lost_run_event(run)))
                crash_point("engine.run.lost")

    def _evict(self, needed: SessionId) -> None:
        surplus = len(self._drivers) - self._services.settings.cached_sessions
        if surplus <= 0:
            return
        idle = [
            key for key, driver in self._drivers.items() if key != needed and not driver.is_running
        ]
        for session_id in idle[:surplus]:
            del self._drivers[session_id]


class BackgroundEventRouter:
    """Routes background events to their session, reloading it if it was evicted."""

    def __init__(self, sessions: SessionCache) -> None:
        self._sessions = sessions
        self._tasks: set[asyncio.Task[None]] = set()

    def route(self, session_id: SessionId, event: Event) -> None:
        """Record an event of a session. Raises ``StateUnavailable``."""
        driver = self._sessions.get_loaded(session_id)
        if driver is not None and not driver.broken:
            driver.accept_background_event(event)
            return
        task = asyncio.create_task(self._route_unloaded(session_id, event))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def wait_until_delivered(self) -> None:
        """Wait until all events are in their sessions."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _route_unloaded(self, session_id: SessionId, event: Event) -> None:
        try:
            (await self._sessions.get_driver(session_id)).accept_background_event(event)
        except ShouldersError:  # deleted or not readable; the outputs are in the notebook
            _log.exception("What a run of %s said is not in its log.", session_id)


def turn_time_limit(settings: EngineSettings, session: Session) -> float | None:
    """Return the working time of a turn in seconds; a sub-agent always has a limit."""
    if session.parent is None:
        return settings.turn_time_limit_s
    limits = (settings.turn_time_limit_s, settings.sub_agent_time_limit_s)
    return min(limit for limit in limits if limit is not None)


def _take(context: SessionContext, event: Event) -> None:
    """Add an event to the context. Raises ``StateUnavailable`` when its content is lost."""
    try:
        context.add(event)
    except NotFound as error:
        raise StateUnavailable(
            f"Event {event.seq} of this conversation refers to content that is lost: {error}",
            code="quarantined",
            hint="Read or export the conversation, and continue in a new one.",
        ) from error


def _quarantined() -> StateUnavailable:
    return StateUnavailable(
        "This conversation could not be resumed twice after a restart. It is now read-only.",
        code="quarantined",
        hint="Read or export it, and continue in a new conversation. The server's log says more.",
    )
