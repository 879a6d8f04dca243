"""Sends requests to the worker of the agent's database and turns its failures into errors.

Used by ``host.agent_database.service``. One process for each request, so that nothing a statement
does can cost the server memory or stall it, and nothing outlives its time.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Callable, Mapping
from typing import Any

from jupyter_ai_shoulders.core.errors import (
    Conflict,
    InvalidRequest,
    PolicyRefusal,
    ShouldersError,
    StateUnavailable,
    TooLarge,
)
from jupyter_ai_shoulders.guard.process.worker_process import (
    WorkerResult,
    WorkerStop,
    run_worker,
)
from jupyter_ai_shoulders.storage.state_directory import StateDirectory

WORKER = "jupyter_ai_shoulders.storage.agent_database.worker"
SECONDS = 10.0
"""How long a statement may run."""
MORE_SECONDS = 20.0
"""Time for the copies that undo needs, at the size limit on a slow disk."""
AT_ONCE = 2
ERRORS: Mapping[str, type[ShouldersError]] = {
    "statement": InvalidRequest,
    "refused": PolicyRefusal,
    "time": TooLarge,
    "memory": TooLarge,
    "full": TooLarge,
    "busy": Conflict,
    "changed": Conflict,
    "missing": Conflict,
    "damaged": InvalidRequest,
    "unusable": PolicyRefusal,
}

Helper = Callable[[str, tuple[str, ...], bytes, float, WorkerStop | None], WorkerResult]

_log = logging.getLogger(__name__)


class OutcomeUnknown(StateUnavailable):
    """The worker ended without an answer; whether it changed the database must be looked up."""


class DatabaseRequests:
    """The requests to one database."""

    def __init__(
        self, directory: StateDirectory, *, helper: Helper = run_worker, seconds: float = SECONDS
    ) -> None:
        self.path = directory.path / "agent.db"
        self.differences = directory.agent_database_undo
        self._helper = helper
        self._seconds = seconds
        self._free = asyncio.Semaphore(AT_ONCE)

    def facts(self) -> os.stat_result | None:
        """Return the facts of the file, None if there is none. Blocks."""
        try:
            return self.path.lstat()
        except OSError:
            return None

    async def send(self, action: str, limit: int, **request: Any) -> dict[str, Any]:
        """Return the worker's answer to one request.

        Raises the errors of ``ERRORS``, and ``OutcomeUnknown``. A cancelled caller ends it.
        """
        content = json.dumps(
            {
                "action": action,
                "path": str(self.path),
                "differences": str(self.differences),
                "limit": limit,
                "seconds": self._seconds,
                "server": os.getpid(),
                **request,
            }
        ).encode()
        stop = WorkerStop()
        most = self._seconds + MORE_SECONDS
        async with self._free:
            run = asyncio.to_thread(self._helper, WORKER, (), content, most, stop)
            task = asyncio.ensure_future(run)
            try:
                done = await asyncio.shield(task)
            except asyncio.CancelledError:
                stop.stop()
                await asyncio.wait([task])
                raise
        return _answer(done)


def _answer(done: WorkerResult) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = json.loads(done.output)
    except ValueError:
        _log.warning("The agent's database gave no answer (%s): %s", done.status, done.stderr_tail)
        reason = "took too long" if done.status is None else "failed, or needed too much memory"
        raise OutcomeUnknown(f"The statement {reason}, so it was stopped.") from None
    kind = answer.get("failed")
    if kind is None:
        return answer
    raise ERRORS[kind](answer["message"], hint=answer["hint"] or None)
