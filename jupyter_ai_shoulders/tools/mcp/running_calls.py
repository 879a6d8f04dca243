"""Calls that run at servers, and the questions that servers ask during them.

A server does not say which call its question is about. So a question goes to the conversation whose
calls alone run at that server; with several conversations, or none, it is not asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from jupyter_ai_shoulders.tools.base import CallContext, InputEnded, InputRequested, Progress

Output = Progress | InputRequested | InputEnded


@dataclass(eq=False)
class RunningCall:
    """A call at a server; ``outputs`` are what its tool yields."""

    server: str
    context: CallContext
    outputs: asyncio.Queue[Output | None] = field(
        default_factory=lambda: asyncio.Queue[Output | None](maxsize=1_000)
    )
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while the user is asked: one question at a time."""
    questions: int = 0
    """Questions of the server so far."""


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

    def asker(self, server: str) -> RunningCall | None:
        """Return the call that a question of the server belongs to."""
        calls = self._calls.get(server, [])
        sessions = {call.context.session_id for call in calls}
        return calls[-1] if len(sessions) == 1 else None
