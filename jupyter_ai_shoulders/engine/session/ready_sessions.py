"""Loads sessions after settling their pending stops, restores and interrupted calls.

Used by ``engine.engine`` and ``engine.session.messages``.
"""

from __future__ import annotations

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.engine.loop.commands import (
    CallOutcomesFound,
)
from jupyter_ai_shoulders.engine.loop.operations import Signal
from jupyter_ai_shoulders.engine.loop.state import Interrupted, Stopping
from jupyter_ai_shoulders.engine.session.cache import SessionCache
from jupyter_ai_shoulders.engine.session.driver import SessionDriver
from jupyter_ai_shoulders.engine.session.restore_service import RestoreService
from jupyter_ai_shoulders.engine.session.services import EngineServices
from jupyter_ai_shoulders.wire.events import ToolResult
from jupyter_ai_shoulders.wire.ids import SessionId


class ReadySessions:
    """Loads sessions for a change."""

    def __init__(
        self, cache: SessionCache, services: EngineServices, restores: RestoreService
    ) -> None:
        self._cache = cache
        self._services = services
        self._restores = restores

    async def get_ready(
        self, session_id: SessionId
    ) -> tuple[SessionDriver, tuple[ToolResult, ...]]:
        """Return the session once nothing in it stops, and the outcomes of interrupted calls."""
        if self._services.sessions.get(session_id).model is None:
            await self._services.models.refresh_default()
        while True:
            driver = await self._cache.get_driver(session_id)
            if isinstance(driver.state.phase, Stopping):
                await driver.wait_until_idle()
                continue
            found = await driver.find_interrupted_outcomes()
            restored = await self._restores.wait_for_restore(session_id)
            if not restored and self._cache.get_loaded(session_id) is driver:
                return driver, found

    async def get_with_outcomes(
        self, session_id: SessionId
    ) -> tuple[SessionDriver, tuple[ToolResult, ...]]:
        """Return the session and the outcomes of its interrupted calls."""
        while True:
            driver = await self._cache.get_driver(session_id)
            found = await driver.find_interrupted_outcomes()
            if self._cache.get_loaded(session_id) is driver and not driver.broken:
                return driver, found


def dispatch_with_outcomes(
    driver: SessionDriver, found: tuple[ToolResult, ...], signal: Signal
) -> None:
    """Record the outcomes of an interrupted turn's calls, then dispatch the signal."""
    if found and isinstance(driver.state.phase, Interrupted):
        driver.dispatch(CallOutcomesFound(found))
        crash_point("engine.found.committed")
    driver.dispatch(signal)
