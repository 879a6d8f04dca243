"""Recovers sessions after a restart, and quarantines those that fail twice.

Used by ``engine.engine`` at start and when the log of a session failed during a turn: the session
is retried until its state is recorded, so none stays ``running``. A quarantined session can be read
and exported, runs no turns and tools, and does not block others.
"""

from __future__ import annotations

import asyncio
import logging

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import NotFound, ShouldersError, StateUnavailable
from jupyter_ai_shoulders.engine.ports import RecoveryCounter
from jupyter_ai_shoulders.engine.session.cache import SessionCache
from jupyter_ai_shoulders.engine.session.services import EngineServices
from jupyter_ai_shoulders.wire.ids import SessionId

_log = logging.getLogger(__name__)

FAILURES = 2
"""Failed recoveries after which a session is quarantined."""


class NullRecoveryCounter:
    """``RecoveryCounter`` without storage, for engines without a host."""

    def begin(self, session_id: SessionId) -> int:
        del session_id
        return 0

    def end(self, session_id: SessionId) -> None:
        """Do nothing."""

    def take_back(self, session_id: SessionId) -> None:
        """Do nothing."""


class SessionRecovery:
    """Recovers sessions at start and after failures of the log."""

    def __init__(
        self, cache: SessionCache, services: EngineServices, counts: RecoveryCounter
    ) -> None:
        self._cache = cache
        self._sessions = services.sessions
        self._counts = counts
        self._retry_s = services.settings.storage_retry_s
        self._retries: dict[SessionId, asyncio.Task[None]] = {}
        self._stopped = False
        cache.on_broken = self.retry

    def retry(self, session_id: SessionId) -> None:
        """Read the session until that works and the state of its turn is recorded."""
        if session_id not in self._retries and not self._stopped:
            task = asyncio.create_task(self._retry(session_id))
            self._retries[session_id] = task
            task.add_done_callback(lambda _: self._retries.pop(session_id, None))

    async def stop(self) -> None:
        """Stop retrying; the next start tries again."""
        self._stopped = True
        tasks = list(self._retries.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _retry(self, session_id: SessionId) -> None:
        taken_up = await self._is_recovered(session_id)
        while not taken_up:
            await asyncio.sleep(self._retry_s)
            taken_up = await self._is_recovered(session_id)

    async def _is_recovered(self, session_id: SessionId) -> bool:
        """Read the session; return whether it needs no further retry."""
        try:
            await self._cache.get_driver(session_id)
            self._end_bypass(session_id)
            await asyncio.to_thread(self._counts.end, session_id)
        except StateUnavailable as error:
            if not _is_unreadable(error):
                _log.warning("Session %s waits for the disk: %s", session_id, error)
                return False
        except NotFound:
            return True  # deleted: nothing is left to retry
        return True

    async def recover(self, session_id: SessionId) -> None:
        """Read the session and record the state of its turn; raises nothing.

        A cancelled start counts as neither failed nor successful.
        """
        try:
            failed, problem = await self._try(session_id)
            if failed >= FAILURES:
                self._quarantine(session_id)
                return
            crash_point("recovery.session.read")
            if problem is None:
                self._end_bypass(session_id)
                await asyncio.to_thread(self._counts.end, session_id)
            elif isinstance(problem, StateUnavailable) and not _is_unreadable(problem):
                await asyncio.to_thread(self._counts.take_back, session_id)
                self.retry(session_id)
            elif _is_unreadable(problem):
                self._quarantine(session_id)
                # A newer version may understand it, so failures are not counted.
                await asyncio.to_thread(self._counts.end, session_id)
            elif failed + 1 >= FAILURES:
                self._quarantine(session_id)
        except StateUnavailable as error:
            _log.warning("Session %s waits for the disk: %s", session_id, error)
            self.retry(session_id)
        except ShouldersError:
            _log.exception("Session %s could not be recovered.", session_id)

    async def _try(self, session_id: SessionId) -> tuple[int, Exception | None]:
        """Read the session; return the number of earlier failures, and this one's error."""
        counting = asyncio.create_task(asyncio.to_thread(self._counts.begin, session_id))
        try:
            failed = await asyncio.shield(counting)
            return failed, await self._read(session_id) if failed < FAILURES else None
        except asyncio.CancelledError:
            await self._take_back(session_id, counting)
            raise

    async def _take_back(self, session_id: SessionId, counting: asyncio.Task[int]) -> None:
        """Undo the count once its thread is done, since that is not cancelled."""
        await asyncio.wait({counting})
        if counting.cancelled() or counting.exception() is not None:
            return
        try:
            await asyncio.to_thread(self._counts.take_back, session_id)
        except ShouldersError:
            _log.exception("The cancelled recovery of session %s counts as failed.", session_id)

    async def _read(self, session_id: SessionId) -> Exception | None:
        try:
            await self._cache.get_driver(session_id)
        except Exception as error:  # noqa: BLE001 whatever a log holds, the others are taken up
            _log.exception("Session %s could not be recovered.", session_id)
            return error
        return None

    def _end_bypass(self, session_id: SessionId) -> None:
        session = self._sessions.get(session_id)
        if session.mode == "bypass":
            self._sessions.update(session.model_copy(update={"mode": "ask"}))
            crash_point("recovery.bypass.ended")

    def _quarantine(self, session_id: SessionId) -> None:
        self._cache.quarantine(session_id)
        session = self._sessions.get(session_id)
        changes = {"status": "error", "tools": "disabled", "mode": "ask"}
        aside = session.model_copy(update=changes)
        if aside != session:
            self._sessions.update(aside)
            crash_point("recovery.session.set_aside")


def _is_unreadable(problem: Exception) -> bool:
    """Return whether this version cannot understand the log."""
    return isinstance(problem, StateUnavailable) and problem.info.code == "quarantined"
