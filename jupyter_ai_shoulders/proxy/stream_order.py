"""Orders overlapping blocks of a stream one after another.

Chat servers may continue a call after the next one began; Anthropic's format does not allow that,
and clients of the Responses format do not expect it. The first block passes at once; events of
later blocks wait. Used by the ``stream`` of those formats.
"""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_ai_shoulders.providers.base import (
    PartDelta,
    PartEnd,
    PartStart,
    ToolArgumentsDelta,
    ToolCallReady,
    ToolCallStart,
)
from jupyter_ai_shoulders.providers.streaming.assembler import parse_arguments
from jupyter_ai_shoulders.wire.ids import CallId, PartId

BlockEvent = PartStart | PartDelta | PartEnd | ToolCallStart | ToolArgumentsDelta | ToolCallReady


class BlockSequencer:
    """The events of one reply, block by block."""

    def __init__(self) -> None:
        self._waiting: dict[PartId | CallId, list[BlockEvent]] = {}
        self._open: PartId | CallId | None = None
        self._call: ToolCallStart | None = None
        self._arguments: list[str] = []
        self._early: set[CallId] = set()

    def feed(self, event: BlockEvent) -> Sequence[BlockEvent]:
        """Return the events that can be passed on."""
        key = event.part_id if isinstance(event, (PartStart, PartDelta, PartEnd)) else event.call_id
        if key in self._early:
            return ()
        if self._open is None:
            return self._pass(event, key)
        if key == self._open:
            return self._go_on(event)
        self._waiting.setdefault(key, []).append(event)
        begins = isinstance(event, (PartStart, ToolCallStart))
        return self._end_complete_call() if begins else ()

    def _pass(self, event: BlockEvent, key: PartId | CallId) -> Sequence[BlockEvent]:
        self._open = key
        self._call = event if isinstance(event, ToolCallStart) else None
        self._arguments = []
        return (event,)

    def _go_on(self, event: BlockEvent) -> Sequence[BlockEvent]:
        if isinstance(event, ToolArgumentsDelta):
            self._arguments.append(event.text)
        if not isinstance(event, (PartEnd, ToolCallReady)):
            return (event,)
        self._open = None
        return [event, *self._next()]

    def _next(self) -> Sequence[BlockEvent]:
        """Return the waiting events, up to the first incomplete block."""
        waiting, self._waiting = self._waiting, {}
        events = (event for events in waiting.values() for event in events)
        return [passed for event in events for passed in self.feed(event)]

    def _end_complete_call(self) -> Sequence[BlockEvent]:
        """End the open call if its arguments are complete and another block has begun."""
        raw = "".join(self._arguments)
        if self._call is None or not raw.strip():
            return ()
        arguments, problem = parse_arguments(raw)
        if arguments is None:
            return ()
        call = self._call
        ended = ToolCallReady(call.call_id, call.tool, arguments, raw, problem)
        self._early.add(call.call_id)
        self._open = None
        return [ended, *self._next()]
