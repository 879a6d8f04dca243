"""Encodes a reply as chunks, each a whole response with the next parts."""

from __future__ import annotations

from collections.abc import Sequence
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
from jupyter_ai_shoulders.proxy.event_encoding import dump, text_json
from jupyter_ai_shoulders.proxy.google.errors import error_body
from jupyter_ai_shoulders.proxy.google.response_body import (
    NOTHING,
    broken_call,
    call_parts,
    ending,
    identity,
    signed,
    usage_body,
)
from jupyter_ai_shoulders.proxy.reply_accumulator import ReplyEvent, StoppedAt
from jupyter_ai_shoulders.proxy.request import ProxyRequest
from jupyter_ai_shoulders.proxy.sealed_state import StateSealer
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.usage import TokenUsage

_BEFORE_TEXT = b'{"candidates":[{"content":{"role":"model","parts":[{"text":'
_AFTER_TEXT = {"text": b'}]},"index":0}],', "reasoning": b',"thought":true}]},"index":0}],'}


class ContentWriter:
    """Writes one stream: server-sent events or, without ``?alt=sse``, a JSON array of chunks."""

    def __init__(
        self, request: ProxyRequest, reply_id: str, sealer: StateSealer, *, events: bool
    ) -> None:
        self._request = request
        self._sealer = sealer
        self._events = events
        self._any = False
        self._usage = TokenUsage()
        self._identity = identity(request, reply_id)
        self._tail = dump(self._identity)[1:]
        self._hidden = False
        self._after_text = b""
        self._reasoning: list[str] | None = None
        self._order: list[CallId] = []
        self._calls: list[ToolCallReady] = []
        self._broken: ToolCallReady | None = None

    def begin(self, usage: TokenUsage) -> bytes:
        """Return nothing: this format has no opening event."""
        self._usage = usage
        return b""

    def feed(self, event: ReplyEvent) -> bytes:
        """Return the event in this format."""
        match event:
            case PartDelta():
                return self._delta(event.text)
            case PartStart():
                return self._part_start(event)
            case PartEnd():
                return self._part_end(event)
            case ToolCallStart():
                self._order.append(event.call_id)
            case ToolArgumentsDelta() | RecordEvent():
                pass
            case ToolCallReady():
                self._calls.append(event)
            case UsageReport():
                self._usage = event.usage
            case Stop() | StoppedAt():
                return self._end(event)
            case _:
                assert_never(event)
        return b""

    def idle(self) -> bytes:
        """Return an empty line, which both framings ignore; the SDK does not support comments."""
        return b"\r\n"

    def fail(self, info: ErrorInfo) -> bytes:
        """Return the error as a chunk, which the SDK raises."""
        return self._framed(dump(error_body(info))) + self._closing()

    def _delta(self, text: str) -> bytes:
        if self._reasoning is not None:
            self._reasoning.append(text)
        if self._hidden:
            return b""
        return self._framed(_BEFORE_TEXT + text_json(text) + self._after_text + self._tail)

    def _part_start(self, event: PartStart) -> bytes:
        is_reasoning = event.kind == "reasoning"
        self._reasoning = [] if is_reasoning else None
        self._hidden = is_reasoning and not self._request.show_reasoning
        self._after_text = _AFTER_TEXT[event.kind]
        return self._flush_calls()

    def _part_end(self, event: PartEnd) -> bytes:
        """Return the state in an empty part, as Google does."""
        thoughts, self._reasoning = self._reasoning, None
        if event.state is None:
            return b""
        part: dict[str, Any] = {"text": ""} | ({} if thoughts is None else {"thought": True})
        return self._chunk([signed(part, event.state, self._sealer, "".join(thoughts or ()))])

    def _flush_calls(self) -> bytes:
        """Return all calls in one chunk: clients treat the calls of a chunk as parallel."""
        calls = sorted(self._calls, key=lambda call: self._order.index(call.call_id))
        self._calls = []
        self._broken = self._broken or broken_call(calls)
        parts = call_parts(calls, self._sealer)
        return self._chunk(parts) if parts else b""

    def _end(self, event: Stop | StoppedAt) -> bytes:
        calls = self._flush_calls()
        if isinstance(event, Stop):
            end = ending(event.reason, event.detail, self._broken)
        else:
            end = ending("end_turn", None, self._broken)
        usage = {"usageMetadata": usage_body(self._usage)}
        return calls + self._chunk(NOTHING, end, usage) + self._closing()

    def _chunk(
        self,
        parts: Sequence[dict[str, Any]],
        end: dict[str, Any] | None = None,
        more: dict[str, Any] | None = None,
    ) -> bytes:
        candidate = {"content": {"role": "model", "parts": parts}, "index": 0, **(end or {})}
        return self._framed(dump({"candidates": [candidate], **(more or {}), **self._identity}))

    def _framed(self, chunk: bytes) -> bytes:
        if self._events:
            return b"data: " + chunk + b"\r\n\r\n"
        before = b",\r\n" if self._any else b"["
        self._any = True
        return before + chunk

    def _closing(self) -> bytes:
        return b"" if self._events else b"]"
