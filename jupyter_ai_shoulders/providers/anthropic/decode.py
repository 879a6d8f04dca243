"""Decodes Anthropic's event stream into the common events, one method per event type.

Unknown events, blocks and deltas are ignored. Only ``message_stop`` ends a stream properly.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from jupyter_ai_shoulders.providers.anthropic.errors import read_refusal
from jupyter_ai_shoulders.providers.base import ProviderEvent, Stop, StopReason, UsageReport
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.providers.http.request import StreamErrorEvent
from jupyter_ai_shoulders.providers.streaming.assembler import Assembler
from jupyter_ai_shoulders.providers.vendor_json import VendorObject, as_count, as_object, as_text
from jupyter_ai_shoulders.wire.parts import ProviderState
from jupyter_ai_shoulders.wire.usage import TokenUsage

STOP_REASONS: Mapping[str, StopReason] = {
    "end_turn": "end_turn",
    "stop_sequence": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "pause_turn": "pause",
    "refusal": "content_filter",
    "model_context_window_exceeded": "context_overflow",
}


@dataclass(slots=True)
class _Thinking:
    """An open thinking block."""

    text: str = ""
    signature: str = ""


class AnthropicDecoder:
    """Decodes one stream. ``prefix`` identifies the conversation that new thinking is bound to."""

    def __init__(self, assembler: Assembler, endpoint: Endpoint, prefix: str | None) -> None:
        self._assembler = assembler
        self._endpoint = endpoint
        self._prefix = prefix
        self._blocks: dict[int, str] = {}
        self._thinking = _Thinking()
        self._usage: dict[str, int] = {}
        self._stop: VendorObject = {}
        self._events: Mapping[str, Callable[[VendorObject], Iterable[ProviderEvent]]] = {
            "message_start": self._message_start,
            "content_block_start": self._block_start,
            "content_block_delta": self._block_delta,
            "content_block_stop": self._block_stop,
            "message_delta": self._message_delta,
            "message_stop": self._message_stop,
            "error": self._error,
        }

    def feed(self, data: VendorObject) -> Iterable[ProviderEvent]:
        """Translate one event. Raises ``StreamErrorEvent``."""
        handler = self._events.get(as_text(data.get("type")))
        return handler(data) if handler else ()

    def end_marker(self) -> Iterable[ProviderEvent]:
        """Return nothing: ``[DONE]`` is not part of this format, though some gateways send it."""
        return ()

    def whole(self, answer: VendorObject) -> Iterable[ProviderEvent]:
        """Report the usage of a complete response that came instead of a stream."""
        return self._add_usage(answer.get("usage"))

    def end_of_stream(self) -> Iterable[ProviderEvent]:
        """Return nothing: the stream was cut off."""
        return ()

    def _message_start(self, data: VendorObject) -> Iterator[ProviderEvent]:
        yield from self._add_usage(as_object(data.get("message")).get("usage"))

    def _block_start(self, data: VendorObject) -> Iterator[ProviderEvent]:
        index = as_count(data.get("index")) or 0
        block = as_object(data.get("content_block"))
        kind = as_text(block.get("type"))
        self._blocks[index] = kind
        match kind:
            case "text":
                yield from self._assembler.delta("text", as_text(block.get("text")))
            case "thinking":
                self._thinking = _Thinking(signature=as_text(block.get("signature")))
                yield from self._assembler.start_part("reasoning")
                yield from self._add_thinking(as_text(block.get("thinking")))
            case "redacted_thinking":
                yield from self._assembler.start_part("reasoning")
                yield from self._assembler.end_part(self._state(block))
            case "tool_use":
                yield from self._call_start(index, block)
            case _:
                pass

    def _call_start(self, index: int, block: VendorObject) -> Iterator[ProviderEvent]:
        name = as_text(block.get("name"))
        yield from self._assembler.start_call(index, as_text(block.get("id")), name)
        whole = as_object(block.get("input"))
        if whole:
            yield from self._assembler.arguments(index, json.dumps(whole))

    def _block_delta(self, data: VendorObject) -> Iterator[ProviderEvent]:
        delta = as_object(data.get("delta"))
        match as_text(delta.get("type")):
            case "text_delta":
                yield from self._assembler.delta("text", as_text(delta.get("text")))
            case "input_json_delta":
                index = as_count(data.get("index")) or 0
                yield from self._assembler.arguments(index, as_text(delta.get("partial_json")))
            case "thinking_delta":
                yield from self._add_thinking(as_text(delta.get("thinking")))
            case "signature_delta":
                self._thinking.signature += as_text(delta.get("signature"))
            case _:
                pass

    def _block_stop(self, data: VendorObject) -> Iterator[ProviderEvent]:
        index = as_count(data.get("index")) or 0
        match self._blocks.pop(index, ""):
            case "text":
                yield from self._assembler.end_part()
            case "thinking":
                yield from self._end_thinking()
            case "tool_use":
                yield from self._assembler.end_call(index)
            case _:
                pass

    def _message_delta(self, data: VendorObject) -> Iterator[ProviderEvent]:
        self._stop |= as_object(data.get("delta"))
        yield from self._add_usage(data.get("usage"))

    def _message_stop(self, _: VendorObject) -> Iterator[ProviderEvent]:
        vendor = as_text(self._stop.get("stop_reason"))
        reason = STOP_REASONS.get(vendor, "other")
        yield from self._assembler.finish(reason)
        yield Stop(reason, self._detail(vendor))

    def _error(self, data: VendorObject) -> Iterable[ProviderEvent]:
        raise StreamErrorEvent(read_refusal(None, data))

    def _detail(self, vendor: str) -> str | None:
        """Return details of a stop: why the model refused, or an unknown reason."""
        if vendor == "refusal":
            details = as_object(self._stop.get("stop_details"))
            known = (as_text(details.get(name)) for name in ("category", "explanation"))
            return ": ".join(text for text in known if text) or None
        return vendor if vendor and vendor not in STOP_REASONS else None

    def _add_thinking(self, text: str) -> Iterator[ProviderEvent]:
        self._thinking.text += text
        yield from self._assembler.delta("reasoning", text)

    def _end_thinking(self) -> Iterator[ProviderEvent]:
        block = {
            "type": "thinking",
            "thinking": self._thinking.text,
            "signature": self._thinking.signature,
        }
        yield from self._assembler.end_part(
            self._state(block) if self._thinking.signature else None
        )

    def _state(self, block: VendorObject) -> ProviderState:
        bound = {} if self._prefix is None else {"prefix": self._prefix}
        return self._endpoint.state({"block": block, **bound})

    def _add_usage(self, reported: object) -> Iterator[ProviderEvent]:
        """Report usage so far; counts are cumulative, and missing or null ones keep their value."""
        usage = as_object(reported)
        details = as_object(usage.get("output_tokens_details"))
        counts = {name: as_count(usage.get(name)) for name in _COUNTS}
        counts["thinking_tokens"] = as_count(details.get("thinking_tokens"))
        known = {name: count for name, count in counts.items() if count is not None}
        if known:
            self._usage |= known
            yield UsageReport(_usage(self._usage))


_COUNTS = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
)


def _usage(counts: Mapping[str, int]) -> TokenUsage:
    """Return the common counts; Anthropic's ``input_tokens`` excludes cached tokens."""
    read = counts.get("cache_read_input_tokens", 0)
    written = counts.get("cache_creation_input_tokens", 0)
    return TokenUsage(
        input_tokens=counts.get("input_tokens", 0) + read + written,
        output_tokens=counts.get("output_tokens", 0),
        cache_read_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=counts.get("thinking_tokens", 0),
    )
