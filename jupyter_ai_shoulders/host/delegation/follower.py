"""Follows the conversation of a sub-agent: how far it is, and what it said last."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping

from jupyter_ai_shoulders.engine.loop.event_reducer import PAUSES
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.wire import events as ev

WAITING = "waiting for you"
_SAID: Mapping[type[ev.Event], str] = {
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
        self.gone = False
        """Whether no more events come."""
        self._limit = 0
        self._text: list[str] = []
        self._before = ""
        """What it said in an earlier step."""
        self._completed: str | None = None
        self._news: deque[str] = deque()
        self._stirred = asyncio.Event()

    @property
    def summary(self) -> str:
        """What it said last, or with ``complete``."""
        return self._completed or "".join(self._text).strip() or self._before

    @property
    def is_over(self) -> bool:
        """Whether there is nothing more to wait for."""
        return self.ended is not None or self.paused is not None or self.gone

    def close(self) -> None:
        """Note that no more events come."""
        self.gone = True
        self._stirred.set()

    async def wait(self, seconds: float) -> None:
        """Wait for something new, at most so long."""
        try:
            async with asyncio.timeout(seconds):
                await self._stirred.wait()
        except TimeoutError:
            return
        self._stirred.clear()

    def take_news(self) -> str | None:
        """Return the newest state that was not reported yet."""
        newest = self._news.pop() if self._news else None
        self._news.clear()
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
                self._say("thinking")
            case ev.UsageUpdate():
                self.tokens += event.usage.input_tokens + event.usage.output_tokens
            case ev.ToolCall():
                target = f" {event.target}" if event.target else ""
                self._say(f"{event.title}{target}")
            case ev.ToolResult(tool="complete", status="ok"):
                self._complete(event)
            case ev.Notice() if event.code in PAUSES:
                self.paused = event.text
            case ev.TurnResume():
                self.paused = None
            case ev.TurnEnd():
                self.ended = event
            case _ if type(event) in _SAID:
                self._say(_SAID[type(event)])
            case _:
                return
        self._stirred.set()

    def _complete(self, event: ev.ToolResult) -> None:
        data = event.result.data
        summary = data.get("summary") if isinstance(data, dict) else None
        self._completed = summary if isinstance(summary, str) else None

    def _say(self, what: str) -> None:
        self._news.append(f"Step {self.steps} of {self._limit} · {what}")
