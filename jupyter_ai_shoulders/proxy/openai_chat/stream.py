"""Encodes a reply as Chat Completions chunks: bytes for each event as it arrives."""

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
from jupyter_ai_shoulders.proxy.event_encoding import dump, text_json
from jupyter_ai_shoulders.proxy.openai_chat.errors import error_event
from jupyter_ai_shoulders.proxy.openai_chat.response_body import (
    detail_body,
    extra_content,
    finish_reason,
    usage_body,
)
from jupyter_ai_shoulders.proxy.reply_accumulator import ReplyEvent, StoppedAt
from jupyter_ai_shoulders.proxy.request import ProxyRequest
from jupyter_ai_shoulders.proxy.sealed_state import StateSealer
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.usage import TokenUsage

DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": keep-alive\n\n"
_AFTER = b'},"finish_reason":null}]}\n\n'


class ChunkWriter:
    """Writes one stream."""

    def __init__(
        self, request: ProxyRequest, reply_id: str, created: int, sealer: StateSealer
    ) -> None:
        self._request = request
        self._sealer = sealer
        self._usage = TokenUsage()
        self._calls: dict[CallId, int] = {}
        self._with_arguments: set[CallId] = set()
        self._reasoning: list[str] | None = None
        self._details = 0
        head = {"id": f"chatcmpl-{reply_id}", "object": "chat.completion.chunk"}
        head |= {"created": created, "model": request.model}
        self._head = b"data: " + dump(head)[:-1]
        self._choice = self._head + b',"choices":[{"index":0,"delta":{'
        self._before_delta = b""

    def begin(self, usage: TokenUsage) -> bytes:
        """Return the chunk with the role."""
        self._usage = usage
        return self._delta({"role": "assistant", "content": ""})

    def feed(self, event: ReplyEvent) -> bytes:
        """Return the event in this format."""
        match event:
            case PartDelta():
                if self._reasoning is not None:
                    self._reasoning.append(event.text)
                return self._before_delta + text_json(event.text) + _AFTER
            case PartStart():
                self._part_start(event)
            case PartEnd():
                return self._part_end(event)
            case ToolCallStart() | ToolArgumentsDelta() | ToolCallReady():
                return self._call_event(event)
            case RecordEvent():
                pass
            case UsageReport():
                self._usage = event.usage
            case Stop() | StoppedAt():
                return self._end(event)
            case _:
                assert_never(event)
        return b""

    def idle(self) -> bytes:
        """Return a comment: this format has no ping."""
        return KEEP_ALIVE

    def fail(self, info: ErrorInfo) -> bytes:
        """Return the error; no ``[DONE]`` follows it."""
        return error_event(info)

    def _part_start(self, event: PartStart) -> None:
        self._reasoning = [] if event.kind == "reasoning" else None
        name = b'"reasoning":' if event.kind == "reasoning" else b'"content":'
        self._before_delta = self._choice + name

    def _part_end(self, event: PartEnd) -> bytes:
        text, self._reasoning = self._reasoning, None
        if text is None or event.state is None:
            return b""
        detail = detail_body(event.state, "".join(text), self._details, self._sealer)
        self._details += 1
        return self._delta({"reasoning_details": [detail]})

    def _call_event(self, event: ToolCallStart | ToolArgumentsDelta | ToolCallReady) -> bytes:
        match event:
            case ToolArgumentsDelta():
                self._with_arguments.add(event.call_id)
                return self._call(event.call_id, {"function": {"arguments": event.text}})
            case ToolCallStart():
                self._calls[event.call_id] = len(self._calls)
                function = {"name": event.tool, "arguments": ""}
                call = {"id": event.call_id, "type": "function", "function": function}
                return self._call(event.call_id, call)
            case ToolCallReady():
                return self._call_end(event)
            case _:
                assert_never(event)

    def _call_end(self, event: ToolCallReady) -> bytes:
        extra = extra_content(event, self._sealer)
        missing = event.call_id not in self._with_arguments and event.problem is None
        if not extra and not missing:
            return b""
        # The official SDK rejects a delta of a call without ``function``.
        return self._call(
            event.call_id, {"function": {"arguments": "{}" if missing else ""}, **extra}
        )

    def _call(self, call_id: CallId, fields: dict[str, Any]) -> bytes:
        return self._delta({"tool_calls": [{"index": self._calls[call_id], **fields}]})

    def _delta(self, delta: dict[str, Any]) -> bytes:
        return self._choice + dump(delta)[1:-1] + _AFTER

    def _end(self, event: Stop | StoppedAt) -> bytes:
        reason = "stop"
        if isinstance(event, Stop):
            reason = finish_reason(event.reason, any_calls=bool(self._calls))
        choice: dict[str, Any] = {"index": 0, "delta": {}, "finish_reason": reason}
        end = self._head + b',"choices":' + dump([choice]) + b"}\n\n"
        if self._request.report_usage:
            end += self._head + b',"choices":[],"usage":' + dump(usage_body(self._usage)) + b"}\n\n"
        return end + DONE
