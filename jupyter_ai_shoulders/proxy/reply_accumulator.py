"""Accumulates the events of a reply into its parts, in order.

Used by ``relay`` for callers that do not stream, and for the state cache.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from jupyter_ai_shoulders.providers.base import (
    PartDelta,
    PartEnd,
    PartStart,
    ProviderEvent,
    Stop,
    StopReason,
    ToolCallReady,
    ToolCallStart,
    UsageReport,
)
from jupyter_ai_shoulders.wire.ids import CallId, PartId
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    AssistantPart,
    ProviderState,
    ReasoningPart,
    TextPart,
    ToolCallPart,
)
from jupyter_ai_shoulders.wire.usage import TokenUsage


@dataclass(frozen=True, slots=True)
class StoppedAt:
    """The reply ended at one of the caller's stop sequences; replaces ``Stop``."""

    text: str


ReplyEvent = ProviderEvent | StoppedAt


@dataclass(slots=True)
class _Growing:
    start: PartStart
    pieces: list[str] = field(default_factory=list[str])
    state: ProviderState | None = None

    def part(self) -> AssistantPart:
        text = "".join(self.pieces)
        if self.start.kind == "text":
            return TextPart(text=text, state=self.state)
        return ReasoningPart(text=text, state=self.state)


@dataclass(slots=True)
class ReplyAccumulator:
    """A reply so far."""

    usage: TokenUsage = field(default_factory=TokenUsage)
    stop: StopReason = "other"
    detail: str | None = None
    stopped_at: str | None = None
    _order: list[PartId | CallId] = field(default_factory=list["PartId | CallId"])
    _parts: dict[PartId | CallId, _Growing | ToolCallReady] = field(
        default_factory=dict["PartId | CallId", "_Growing | ToolCallReady"]
    )

    def add(self, event: ReplyEvent) -> None:
        """Add an event."""
        match event:
            case PartDelta():
                self._growing(event.part_id).pieces.append(event.text)
            case PartStart():
                self._order.append(event.part_id)
                self._parts[event.part_id] = _Growing(event)
            case PartEnd():
                self._growing(event.part_id).state = event.state
            case ToolCallStart():
                self._order.append(event.call_id)
            case ToolCallReady():
                self._parts[event.call_id] = event
            case UsageReport():
                self.usage = event.usage
            case Stop():
                self.stop, self.detail = event.reason, event.detail
            case StoppedAt():
                self.stop, self.stopped_at = "end_turn", event.text
            case _:
                pass

    def parts(self) -> list[AssistantPart | ToolCallReady]:
        """Return text, reasoning and calls in the order they began."""
        found = (self._parts[key] for key in self._order if key in self._parts)
        return [item.part() if isinstance(item, _Growing) else item for item in found]

    def message(self) -> AssistantMessage:
        """Return the reply as a message of the history."""
        return AssistantMessage(
            parts=tuple(
                _call_part(part) if isinstance(part, ToolCallReady) else part
                for part in self.parts()
            )
        )

    def _growing(self, part_id: PartId) -> _Growing:
        part = self._parts[part_id]
        assert isinstance(part, _Growing)
        return part


def _call_part(call: ToolCallReady) -> ToolCallPart:
    return ToolCallPart(
        call_id=call.call_id, tool=call.tool, arguments=call.arguments or {}, state=call.state
    )
