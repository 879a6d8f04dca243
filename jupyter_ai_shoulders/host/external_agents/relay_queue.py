"""What a running agent sent and its turn has not shown yet, in order and bounded.

Used by ``agent_conversation``. Text that arrives faster than it is read is joined, and of an
activity that changes only the newest state is kept, so a flood cannot fill the memory.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Literal

from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.base import ToolCallReady
from jupyter_ai_shoulders.wire.events import AgentActivity, AgentState, Notice, TodoUpdate

TEXT_LIMIT = 4_000_000
"""Most characters of one prompt's answer; the rest is left out, with a notice."""
EVENT_LIMIT = 5_000
"""Most events of one prompt."""


@dataclass(slots=True)
class RelayedText:
    """Text of the answer or of the agent's thoughts."""

    kind: Literal["text", "reasoning"]
    text: str


@dataclass(frozen=True, slots=True)
class RelayedEnd:
    """The end of the prompt; ``error`` if it failed."""

    error: ProviderError | None = None


RelayedEvent = AgentActivity | AgentState | TodoUpdate | Notice
Relayed = RelayedText | RelayedEvent | ToolCallReady | RelayedEnd


class RelayQueue:
    """The unshown items of one agent."""

    def __init__(self) -> None:
        self._items: deque[Relayed] = deque()
        self._filled = asyncio.Event()
        self._characters = 0
        self._events = 0

    def begin(self) -> None:
        """Begin to count for a new prompt."""
        self._characters = self._events = 0

    def add_text(self, kind: Literal["text", "reasoning"], text: str) -> None:
        """Add a piece of text, within the limit."""
        left = TEXT_LIMIT - self._characters
        if not text or left < 0:
            return
        self._characters += len(text)
        if len(text) > left:
            text = text[:left]
            self._put(_left_out("text"))
        last = self._items[-1] if self._items else None
        if isinstance(last, RelayedText) and last.kind == kind:
            last.text += text
        else:
            self._put(RelayedText(kind, text))

    def add_event(self, event: RelayedEvent) -> None:
        """Add an event, in place of an unshown one that it replaces."""
        for position, item in enumerate(self._items):
            if _replaces(event, item):
                self._items[position] = event
                return
        self._events += 1
        if self._events == EVENT_LIMIT:
            self._put(_left_out("activities"))
        if self._events < EVENT_LIMIT:
            self._put(event)

    def add(self, item: ToolCallReady | RelayedEnd) -> None:
        """Add a request or the end of the prompt."""
        self._put(item)

    async def take(self) -> Relayed:
        """Wait for the next item and remove it."""
        while not self._items:
            self._filled.clear()
            await self._filled.wait()
        return self._items.popleft()

    def take_request(self) -> ToolCallReady | None:
        """Remove and return the next item if it is a request."""
        if self._items and isinstance(self._items[0], ToolCallReady):
            item = self._items.popleft()
            return item if isinstance(item, ToolCallReady) else None
        return None

    def clear(self) -> None:
        """Remove everything, as after a cancelled prompt."""
        self._items.clear()

    def _put(self, item: Relayed) -> None:
        self._items.append(item)
        self._filled.set()


def _replaces(event: RelayedEvent, item: Relayed) -> bool:
    if isinstance(event, AgentActivity):
        return isinstance(item, AgentActivity) and item.activity_id == event.activity_id
    return not isinstance(event, Notice) and type(item) is type(event)


def _left_out(what: str) -> Notice:
    text = f"The agent sent too much; further {what} of this message are left out."
    return Notice(level="warning", code="output_limit", text=text)
