"""Caches replies with calls for an hour, for callers whose format cannot carry opaque state.

A caller sends a reply back with its calls; the cache finds the original by them. One per server,
used by ``relay``.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.wire.parts import AssistantMessage, AssistantPart, TextPart, ToolCallPart

ENTRY_SECONDS = 3600.0
MAX_CHARACTERS = 64 << 20
"""Characters of all cached replies; the oldest are evicted first."""

Key = bytes


@dataclass(frozen=True, slots=True)
class _Entry:
    message: AssistantMessage
    until: float
    size: int


class StateCache:
    """Replies by the digest of each of their calls."""

    def __init__(self, clock: Clock, most: int = MAX_CHARACTERS) -> None:
        self._clock = clock
        self._most = most
        self._entries: OrderedDict[Key, _Entry] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        """Return the number of cached calls."""
        return len(self._entries)

    def store(self, message: AssistantMessage) -> None:
        """Cache a reply that has calls and state."""
        calls = list(_calls(message.parts))
        if not calls or all(part.state is None for part in message.parts):
            return
        size = len(message.model_dump_json()) // len(calls)
        entry = _Entry(message, self._clock.monotonic() + ENTRY_SECONDS, size)
        for call in calls:
            self._drop(_key(call))
            self._entries[_key(call)] = entry
            self._size += size
        self._make_room()

    def restore(self, message: AssistantMessage) -> AssistantMessage:
        """Return the original reply if its calls and text are unchanged; else the message.

        A changed reply gets only the state of its unchanged calls.
        """
        found = {call.call_id: self._find(call) for call in _calls(message.parts)}
        original = next((entry for entry in found.values() if entry is not None), None)
        if original is None:
            return message
        if _same(original, message):
            return original
        return AssistantMessage(parts=tuple(_with_state(part, original) for part in message.parts))

    def _find(self, call: ToolCallPart) -> AssistantMessage | None:
        entry = self._entries.get(_key(call))
        return entry.message if entry and entry.until > self._clock.monotonic() else None

    def _make_room(self) -> None:
        now = self._clock.monotonic()
        while self._entries:
            key, oldest = next(iter(self._entries.items()))
            if self._size <= self._most and oldest.until > now:
                return
            self._drop(key)

    def _drop(self, key: Key) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._size -= entry.size


def _calls(parts: tuple[AssistantPart, ...]) -> Iterator[ToolCallPart]:
    return (part for part in parts if isinstance(part, ToolCallPart))


def _key(call: ToolCallPart) -> Key:
    """Return a digest of the whole call, as some servers restart ids in each conversation."""
    content = json.dumps([call.call_id, call.tool, call.arguments], sort_keys=True)
    return hashlib.sha256(content.encode()).digest()


def _same(first: AssistantMessage, second: AssistantMessage) -> bool:
    return _text(first) == _text(second) and [_key(call) for call in _calls(first.parts)] == [
        _key(call) for call in _calls(second.parts)
    ]


def _text(message: AssistantMessage) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, TextPart)).strip()


def _with_state(part: AssistantPart, original: AssistantMessage) -> AssistantPart:
    if not isinstance(part, ToolCallPart) or part.state is not None:
        return part
    known = {_key(call): call for call in _calls(original.parts)}
    return known.get(_key(part), part)
