"""Encodes a reply as the events of a response: bytes for each event as it arrives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, assert_never

from jupyter_ai_shoulders.providers.base import (
    PartDelta,
    PartEnd,
    PartStart,
    RecordEvent,
    Stop,
    ToolArgumentsDelta,
    ToolCallReady,
    ToolCallStart,
    UsageReport,
)
from jupyter_ai_shoulders.proxy.event_encoding import dump, sse, text_json
from jupyter_ai_shoulders.proxy.openai_chat.errors import error_body
from jupyter_ai_shoulders.proxy.openai_responses.errors import response_error
from jupyter_ai_shoulders.proxy.openai_responses.reasoning_state import ReasoningStateCarrier
from jupyter_ai_shoulders.proxy.openai_responses.response_body import (
    JsonItem,
    carrier_items,
    closed,
    ending,
    envelope,
    item_id,
    usage_body,
)
from jupyter_ai_shoulders.proxy.openai_responses.stream_items import (
    StreamedCall,
    StreamedItem,
    StreamedMessage,
    StreamedReasoning,
)
from jupyter_ai_shoulders.proxy.reply_accumulator import ReplyEvent, StoppedAt
from jupyter_ai_shoulders.proxy.request import ProxyRequest
from jupyter_ai_shoulders.proxy.sealed_state import StateSealer
from jupyter_ai_shoulders.proxy.stream_order import BlockEvent, BlockSequencer
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.usage import TokenUsage

KEEP_ALIVE = b": keep-alive\n\n"
"""A comment: this format has no ping."""


class ResponseWriter:
    """Writes one stream."""

    def __init__(
        self, request: ProxyRequest, reply_id: str, created: int, sealer: StateSealer
    ) -> None:
        self._request = request
        self._reply_id = reply_id
        self._created = created
        self._sealer = sealer
        self._turns = BlockSequencer()
        self._carrier = ReasoningStateCarrier()
        self._number = 0
        self._usage = TokenUsage()
        self._output: list[JsonItem] = []
        self._open_item: StreamedItem | None = None
        self._before_delta = b""
        self._ended: JsonItem | None = None

    def begin(self, usage: TokenUsage) -> bytes:
        """Return ``response.created`` and ``response.in_progress``."""
        self._usage = usage
        begun = self._response(status="in_progress")
        return self._event("response.created", response=begun) + self._event(
            "response.in_progress", response=begun
        )

    def feed(self, event: ReplyEvent) -> bytes:
        """Return the event in this format."""
        match event:
            case UsageReport():
                self._usage = event.usage
                return b""
            case RecordEvent():
                return b""
            case Stop():
                return self._end(ending(event.reason))
            case StoppedAt():
                return self._end(ending("end_turn"))
            case _:
                return b"".join(map(self._block_event, self._turns.feed(event)))

    def idle(self) -> bytes:
        """Return a comment."""
        return KEEP_ALIVE

    def fail(self, info: ErrorInfo) -> bytes:
        """Return the failed response, and the error event that the official SDK raises."""
        last = self._item_done()
        failed = self._response(status="failed", error=response_error(info))
        return (
            last
            + self._event("response.failed", response=failed)
            + self._event("error", error=error_body(info))
        )

    def _block_event(self, event: BlockEvent) -> bytes:
        match event:
            case PartDelta() | ToolArgumentsDelta():
                return self._delta(event.text)
            case PartStart() | ToolCallStart():
                return self._item_done() + self._start(event)
            case PartEnd() | ToolCallReady():
                return self._finish(event)
            case _:
                assert_never(event)

    def _start(self, event: PartStart | ToolCallStart) -> bytes:
        index = len(self._output)
        kind = event.kind if isinstance(event, PartStart) else "call"
        identity = item_id(kind, self._reply_id, index)
        self._before_delta = b""
        match event:
            case ToolCallStart():
                self._open_item = StreamedCall(identity, event)
            case PartStart(kind="text"):
                self._open_item = StreamedMessage(identity)
            case _:
                self._open_item = StreamedReasoning(identity, self._request, self._sealer)
        opening = self._open_item.opening()
        return self._event("response.output_item.added", output_index=index, item=opening)

    def _delta(self, text: str) -> bytes:
        """Return a delta; most of its bytes are cached per item."""
        item = self._open_item
        assert item is not None
        first = b"" if item.pieces else self._events(item.opening_events())
        item.pieces.append(text)
        kind = item.delta_event
        if kind is None:
            return first
        if not self._before_delta:
            head = {"type": kind, "output_index": len(self._output), **item.position()}
            self._before_delta = f"event: {kind}\ndata: ".encode() + dump(head)[:-1] + b',"delta":'
        return first + self._before_delta + text_json(text) + self._numbered_end()

    def _numbered_end(self) -> bytes:
        number = self._number
        self._number += 1
        return b',"sequence_number":%d}\n\n' % number

    def _finish(self, event: PartEnd | ToolCallReady) -> bytes:
        """End an item; ``output_item.done`` is delayed until its status is known."""
        item, self._open_item = self._open_item, None
        assert item is not None
        missing = b""
        if isinstance(event, ToolCallReady) and not item.pieces and event.problem is None:
            self._open_item = item
            missing = self._delta("{}")
            self._open_item = None
        self._ended, key = item.finish(event)
        if key is not None:
            self._carrier.add(key, event.state)
        return missing + self._events(item.closing_events())

    def _item_done(self, end: dict[str, Any] | None = None) -> bytes:
        item, self._ended = self._ended, None
        if item is None:
            return b""
        item = item if end is None else closed(item, end)
        self._output.append(item)
        place = {"output_index": len(self._output) - 1}
        return self._event("response.output_item.done", **place, item=item)

    def _end(self, end: dict[str, Any]) -> bytes:
        last = self._item_done(end)
        carriers = carrier_items(
            self._carrier, self._reply_id, len(self._output), self._request, self._sealer
        )
        for item in carriers:
            place = {"output_index": len(self._output)}
            last += self._event("response.output_item.added", **place, item=item)
            self._ended = item
            last += self._item_done()
        whole = self._response(**end, usage=usage_body(self._usage))
        return last + self._event(f"response.{end['status']}", response=whole)

    def _events(self, events: Iterator[JsonItem]) -> bytes:
        """Return events of the open item."""
        place = {"output_index": len(self._output)}
        return b"".join(self._event(event.pop("type"), **place, **event) for event in events)

    def _event(self, kind: str, **fields: Any) -> bytes:
        number = self._number
        self._number += 1
        return sse({"type": kind, "sequence_number": number, **fields}, kind)

    def _response(self, **state: Any) -> JsonItem:
        return envelope(self._request, self._reply_id, self._created, self._output, **state)
