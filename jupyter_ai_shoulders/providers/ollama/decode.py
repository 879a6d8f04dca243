"""Decodes lines of ``/api/chat`` into the common events; calls arrive complete.

Only the line with ``done`` ends a reply properly.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from jupyter_ai_shoulders.providers.base import ProviderEvent, Stop, StopReason, UsageReport
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.providers.http.request import StreamErrorEvent
from jupyter_ai_shoulders.providers.ollama.errors import read_refusal
from jupyter_ai_shoulders.providers.streaming.assembler import Assembler
from jupyter_ai_shoulders.providers.vendor_json import (
    VendorObject,
    as_count,
    as_list,
    as_object,
    as_text,
)
from jupyter_ai_shoulders.wire.usage import TokenUsage

STOP_REASONS: Mapping[str, StopReason] = {
    "": "end_turn",
    "stop": "end_turn",
    "length": "max_tokens",
}


class OllamaDecoder:
    """Decodes one stream."""

    def __init__(self, assembler: Assembler, endpoint: Endpoint) -> None:
        self._assembler = assembler
        self._endpoint = endpoint
        self._calls = 0

    def feed(self, data: VendorObject) -> Iterable[ProviderEvent]:
        """Decode one line. Raises ``StreamErrorEvent``."""
        if data.get("error") is not None:
            raise StreamErrorEvent(read_refusal(None, data))
        yield from self._message(as_object(data.get("message")))
        if data.get("done") is True:
            yield from self._done(data)

    def end_marker(self) -> Iterable[ProviderEvent]:
        """Return nothing: ``[DONE]`` is not part of this format."""
        return ()

    def whole(self, answer: VendorObject) -> Iterable[ProviderEvent]:
        """Report the usage of a complete response that came instead of a stream."""
        usage = _usage(answer)
        return () if usage is None else (UsageReport(usage),)

    def end_of_stream(self) -> Iterable[ProviderEvent]:
        """Return nothing: the stream was cut off."""
        return ()

    def _message(self, message: VendorObject) -> Iterator[ProviderEvent]:
        yield from self._assembler.delta("reasoning", as_text(message.get("thinking")))
        content, calls = as_text(message.get("content")), as_list(message.get("tool_calls"))
        if content or calls:
            yield from self._end_thinking()
        yield from self._assembler.delta("text", content)
        for call in calls:
            yield from self._call(as_object(call))

    def _call(self, call: VendorObject) -> Iterator[ProviderEvent]:
        key, function = self._calls, as_object(call.get("function"))
        self._calls += 1
        name = as_text(function.get("name"))
        yield from self._assembler.start_call(key, as_text(call.get("id")), name)
        yield from self._assembler.arguments(key, _argument_text(function.get("arguments")))
        yield from self._assembler.end_call(key)

    def _done(self, data: VendorObject) -> Iterator[ProviderEvent]:
        usage = _usage(data)
        if usage is not None:
            yield UsageReport(usage)
        vendor = as_text(data.get("done_reason"))
        reason = STOP_REASONS.get(vendor, "other")
        if reason == "end_turn" and self._assembler.any_calls:
            reason = "tool_use"
        yield from self._end_thinking()
        yield from self._assembler.finish(reason)
        yield Stop(reason, None if vendor in STOP_REASONS else vendor)

    def _end_thinking(self) -> Iterator[ProviderEvent]:
        """End open thinking; its state marks it as made by this model."""
        if self._assembler.open_kind == "reasoning":
            yield from self._assembler.end_part(self._endpoint.state({}))


def _usage(data: VendorObject) -> TokenUsage | None:
    """Return the counts; None without the prompt's, which may be missing on a cache hit."""
    prompt, output = as_count(data.get("prompt_eval_count")), as_count(data.get("eval_count"))
    if prompt is None:
        return None
    return TokenUsage(input_tokens=prompt, output_tokens=output or 0)


def _argument_text(arguments: object) -> str:
    """Return the arguments as text; missing ones are an empty object. Raises ``ValueError``."""
    if isinstance(arguments, str) and arguments.strip():
        return arguments
    try:
        return json.dumps(arguments or {}, ensure_ascii=False)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
