"""Follows the conversation of a sub-agent: its progress and its last text."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping

from jupyter_ai_shoulders.engine.loop.event_reducer import PAUSES
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.wire import events as ev

WAITING = "waiting for you"
_STATES: Mapping[type[ev.Event], str] = {
    ev.ApprovalRequest: WAITING,
    ev.ClarifyRequest: WAITING,
    ev.StdinRequest: WAITING,
    ev.ApprovalAnswer: "working",
    ev.ClarifyAnswer: "working",
    ev.StdinAnswer: "working",
}


class SubAgentFollower:
    """The state of one sub-agent's turn, from its events."""

    def __init__(self) -> None:
        self.ended: ev.TurnEnd | None = None
        self.paused: str | None = None
        """Why its turn waits at a limit."""
        self.steps = 0
        self.tokens = 0
        self.closed = False
        """Whether no more events come."""
        self._limit = 0
        self._text: list[str] = []
        self._before = ""
        """Text of an earlier step."""
        self._completed: str | None = None
        self._states: deque[str] = deque()
        self._changed = asyncio.Event()

    @property
    def summary(self) -> str:
        """The text of the last step, or the summary given to ``complete``."""
        return self._completed or "".join(self._text).strip() or self._before

    @property
    def is_over(self) -> bool:
        """Whether there is nothing more to wait for."""
        return self.ended is not None or self.paused is not None or self.closed

    def close(self) -> None:
        """Note that no more events come."""
        self.closed = True
        self._changed.set()

    async def wait(self, seconds: float) -> None:
        """Wait for something new, at most so long."""
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return
        self._changed.clear()

    def take_state(self) -> str | None:
        """Return the newest state that was not reported yet."""
        newest = self._states.pop() if self._states else None
        self._states.clear()
        return newest

    def on_event(self, logged: LoggedEvent) -> None:
        """Handle a committed event."""
        event = logged.event
        match event:
            case ev.TextDelta() | ev.TextStart():
                self._text.append(event.text if isinstance(event, ev.TextDelta) else "\n\n")
                return
            case ev.StepStart():
                self.steps, self._limit = event.step, event.limit
                self._before = "".join(self._text).strip() or self._before
                self._text.clear()
                self._report("thinking")
            case ev.UsageUpdate():
                self.tokens += event.usage.input_tokens + event.usage.output_tokens
            case ev.ToolCall():
                target = f" {event.target}" if event.target else ""
                self._report(f"{event.title}{target}")
            case ev.ToolResult(tool="complete", status="ok"):
                self._complete(event)
            case ev.Notice() if event.code in PAUSES:
                self.paused = event.text
            case ev.TurnResume():
                self.paused = None
            case ev.TurnEnd():
                self.ended = event
            case _ if type(event) in _STATES:
                self._report(_STATES[type(event)])
            case _:
                return
        self._changed.set()

    def _complete(self, event: ev.ToolResult) -> None:
        data = event.result.data
        summary = data.get("summary") if isinstance(data, dict) else None
        self._completed = summary if isinstance(summary, str) else None

    def _report(self, what: str) -> None:
        self._states.append(f"Step {self.steps} of {self._limit} · {what}")
