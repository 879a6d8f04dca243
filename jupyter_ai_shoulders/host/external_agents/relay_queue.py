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
"""Most events of one prompt, besides the last state of what was recorded before."""


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


@dataclass(slots=True)
class _Unshown:
    """An item whose event can be replaced until it is shown."""

    item: Relayed


class RelayQueue:
    """The unshown items of one agent."""

    def __init__(self) -> None:
        self._items: deque[_Unshown] = deque()
        self._filled = asyncio.Event()
        self._replaceable: dict[str, _Unshown] = {}
        """Unshown events by what they are the state of."""
        self._characters = 0
        self._events = 0
        self._known: set[str] = set()
        self._last: dict[str, RelayedEvent] = {}
        """Past the limit: the newest state of what was recorded before; shown at the end."""

    def begin(self) -> None:
        """Begin to count for a new prompt."""
        self._characters = self._events = 0
        self._known.clear()
        self._last.clear()

    def add_text(self, kind: Literal["text", "reasoning"], text: str) -> None:
        """Add a piece of text, within the limit."""
        left = TEXT_LIMIT - self._characters
        if not text or left < 0:
            return
        self._characters += len(text)
        if len(text) > left:
            text = text[:left]
            self._put(_left_out("text"))
        if not text:
            return
        last = self._items[-1].item if self._items else None
        if isinstance(last, RelayedText) and last.kind == kind:
            last.text += text
        else:
            self._put(RelayedText(kind, text))

    def add_event(self, event: RelayedEvent) -> None:
        """Add an event, in place of an unshown one that it replaces."""
        key = _state_of(event)
        unshown = None if key is None else self._replaceable.get(key)
        if unshown is not None:
            unshown.item = event
            return
        self._events += 1
        if key is None or self._events < EVENT_LIMIT:
            self._put_event(key, event)
            return
        if self._events == EVENT_LIMIT:
            self._put(_left_out("updates"))
        if key in self._known or not isinstance(event, AgentActivity):
            self._last[key] = event

    def add(self, item: ToolCallReady | RelayedEnd) -> None:
        """Add a request or the end of the prompt."""
        if isinstance(item, RelayedEnd):
            for key, event in self._last.items():
                self._put_event(key, event)
            self._last.clear()
        self._put(item)

    async def take(self) -> Relayed:
        """Wait for the next item and remove it."""
        while not self._items:
            self._filled.clear()
            await self._filled.wait()
        return self._remove_first()

    def take_request(self) -> ToolCallReady | None:
        """Remove and return the next item if it is a request."""
        if self._items and isinstance(self._items[0].item, ToolCallReady):
            item = self._remove_first()
            return item if isinstance(item, ToolCallReady) else None
        return None

    def clear(self) -> None:
        """Remove everything, as after a cancelled prompt."""
        self._items.clear()
        self._replaceable.clear()
        self._last.clear()

    def _put_event(self, key: str | None, event: RelayedEvent) -> None:
        unshown = self._put(event)
        if key is not None:
            self._known.add(key)
            self._replaceable[key] = unshown

    def _put(self, item: Relayed) -> _Unshown:
        unshown = _Unshown(item)
        self._items.append(unshown)
        self._filled.set()
        return unshown

    def _remove_first(self) -> Relayed:
        item = self._items.popleft().item
        key = None if isinstance(item, _NO_STATE) else _state_of(item)
        if key is not None:
            self._replaceable.pop(key, None)
        return item


_NO_STATE = (RelayedText, ToolCallReady, RelayedEnd)


def _state_of(event: RelayedEvent) -> str | None:
    """Return what an event is the whole state of; None if each is shown."""
    if isinstance(event, Notice):
        return None
    return f"activity {event.activity_id}" if isinstance(event, AgentActivity) else event.type


def _left_out(what: str) -> Notice:
    text = f"The agent sent too much; further {what} of this message are left out."
    return Notice(level="warning", code="output_limit", text=text)
