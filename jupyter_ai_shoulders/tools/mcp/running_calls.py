"""Calls that run at servers, and the questions that servers ask during them.

A server does not say which call its question is about. So a question goes to the conversation whose
calls alone run at that server; with several conversations, or none, it is not asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.tools.base import CallContext, InputEnded, InputRequested, Progress

Output = Progress | InputRequested | InputEnded
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Time limits of a call in seconds."""

    silent: float = 60.0
    """Without progress."""
    whole: float = 600.0


@dataclass(eq=False)
class RunningCall:
    """A call at a server; ``outputs`` are what its tool yields."""

    server: str
    context: CallContext
    outputs: asyncio.Queue[Output | None] = field(
        default_factory=lambda: asyncio.Queue[Output | None](maxsize=1_000)
    )
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while the user, or a model, is asked: one question at a time."""
    questions: int = 0
    """Questions of the server so far."""
    samples: int = 0
    """Those of them that are for a model."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def while_running(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of work that is cancelled when the call ends, which a server decides.

        Raises ``Conflict`` then.
        """
        working, end = asyncio.create_task(work), asyncio.create_task(self.ended.wait())
        try:
            await asyncio.wait({working, end}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                raise Conflict(f"The call of {self.server} has ended.")
            return working.result()
        finally:
            working.cancel()
            end.cancel()
            await asyncio.gather(working, end, return_exceptions=True)


class RunningCalls:
    """The calls that run, by server."""

    def __init__(self) -> None:
        self._calls: dict[str, list[RunningCall]] = {}

    @contextmanager
    def running(self, server: str, context: CallContext) -> Generator[RunningCall]:
        """Keep a call while it runs."""
        call = RunningCall(server, context)
        calls = self._calls.setdefault(server, [])
        calls.append(call)
        try:
            yield call
        finally:
            calls.remove(call)
            call.ended.set()

    def asker(self, server: str) -> RunningCall | None:
        """Return the call that a question of the server belongs to."""
        calls = self._calls.get(server, [])
        sessions = {call.context.session_id for call in calls}
        return calls[-1] if len(sessions) == 1 else None
