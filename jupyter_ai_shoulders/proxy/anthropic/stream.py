"""Encodes a reply as Anthropic's event stream: bytes for each event as it arrives."""

from __future__ import annotations

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
from jupyter_ai_shoulders.proxy.anthropic.errors import error_event
from jupyter_ai_shoulders.proxy.anthropic.response_body import ending, envelope, usage_body
from jupyter_ai_shoulders.proxy.event_encoding import sse, text_json
from jupyter_ai_shoulders.proxy.reply_accumulator import ReplyEvent, StoppedAt
from jupyter_ai_shoulders.proxy.request import ProxyRequest
from jupyter_ai_shoulders.proxy.sealed_state import StateSealer
from jupyter_ai_shoulders.proxy.stream_order import BlockEvent, BlockSequencer
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.usage import TokenUsage

NO_INPUT: dict[str, Any] = {}
PING = sse({"type": "ping"}, "ping")
_DELTA = 'event: content_block_delta\ndata: {{"type":"content_block_delta","index":{},"delta":{{'
_DELTAS = {
    "text": '"type":"text_delta","text":',
    "reasoning": '"type":"thinking_delta","thinking":',
    "call": '"type":"input_json_delta","partial_json":',
}


class MessagesWriter:
    """Writes one stream."""

    def __init__(self, request: ProxyRequest, reply_id: str, sealer: StateSealer) -> None:
        self._request = request
        self._reply_id = reply_id
        self._sealer = sealer
        self._turns = BlockSequencer()
        self._index = -1
        self._hidden = False
        self._before_delta = b""
        self._any_arguments = False
        self._any_calls = False
        self._reasoning: list[str] | None = None
        self._usage = TokenUsage()

    def begin(self, usage: TokenUsage) -> bytes:
        """Return ``message_start``."""
        self._usage = usage
        nothing_yet = {"stop_reason": None, "stop_sequence": None}
        message = envelope(self._request, self._reply_id, [], nothing_yet, usage)
        return sse({"type": "message_start", "message": message}, "message_start")

    def feed(self, event: ReplyEvent) -> bytes:
        """Return the event in this format."""
        match event:
            case UsageReport():
                self._usage = event.usage
                return b""
            case RecordEvent():
                return b""
            case Stop() | StoppedAt():
                return self._end(event)
            case _:
                return b"".join(map(self._block_event, self._turns.feed(event)))

    def idle(self) -> bytes:
        """Return a ping."""
        return PING

    def fail(self, info: ErrorInfo) -> bytes:
        """Return the error event."""
        return error_event(info)

    def _block_event(self, event: BlockEvent) -> bytes:
        match event:
            case PartDelta() | ToolArgumentsDelta():
                return self._delta(event.text)
            case PartStart():
                self._reasoning = [] if event.kind == "reasoning" else None
                self._hidden = event.kind == "reasoning" and not self._request.show_reasoning
                return self._start(event.kind, _OPENINGS[event.kind])
            case ToolCallStart():
                self._any_calls = True
                self._hidden, self._reasoning = False, None
                call = {"type": "tool_use", "id": event.call_id, "name": event.tool}
                return self._start("call", {**call, "input": NO_INPUT})
            case PartEnd():
                return self._signature(event) + self._stop()
            case ToolCallReady():
                return (b"" if self._any_arguments else self._delta("")) + self._stop()
            case _:
                assert_never(event)

    def _start(self, kind: str, block: dict[str, Any]) -> bytes:
        self._index += 1
        self._before_delta = (_DELTA.format(self._index) + _DELTAS[kind]).encode()
        self._any_arguments = False
        start = {"type": "content_block_start", "index": self._index, "content_block": block}
        return sse(start, "content_block_start")

    def _delta(self, text: str) -> bytes:
        self._any_arguments = True
        if self._reasoning is not None:
            self._reasoning.append(text)
        if self._hidden:
            return b""
        return self._before_delta + text_json(text) + b"}}\n\n"

    def _signature(self, event: PartEnd) -> bytes:
        """Return the sealed state of reasoning; text blocks cannot carry state."""
        if event.state is None or self._reasoning is None:
            return b""
        sealed = self._sealer.seal(event.state, "".join(self._reasoning))
        delta = {"type": "signature_delta", "signature": sealed}
        data = {"type": "content_block_delta", "index": self._index, "delta": delta}
        return sse(data, "content_block_delta")

    def _stop(self) -> bytes:
        return sse({"type": "content_block_stop", "index": self._index}, "content_block_stop")

    def _end(self, event: Stop | StoppedAt) -> bytes:
        if isinstance(event, StoppedAt):
            delta = ending("end_turn", None, event.text, any_calls=False)
        else:
            delta = ending(event.reason, event.detail, None, any_calls=self._any_calls)
        data = {"type": "message_delta", "delta": delta, "usage": usage_body(self._usage)}
        return sse(data, "message_delta") + sse({"type": "message_stop"}, "message_stop")


_OPENINGS: dict[str, dict[str, Any]] = {
    "text": {"type": "text", "text": ""},
    "reasoning": {"type": "thinking", "thinking": "", "signature": ""},
}
