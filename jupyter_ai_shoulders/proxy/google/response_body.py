"""Encodes a reply as ``GenerateContentResponse``, and the parts that its stream shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from jupyter_ai_shoulders.providers.base import StopReason, ToolCallReady
from jupyter_ai_shoulders.proxy.google.signatures import encode_signature
from jupyter_ai_shoulders.proxy.reply_accumulator import ReplyAccumulator
from jupyter_ai_shoulders.proxy.request import ProxyRequest
from jupyter_ai_shoulders.proxy.sealed_state import StateSealer
from jupyter_ai_shoulders.wire.parts import (
    AssistantPart,
    ProviderState,
    ReasoningPart,
    TextPart,
    ToolCallPart,
)
from jupyter_ai_shoulders.wire.usage import TokenUsage

Json = dict[str, Any]

FINISH_REASONS: Mapping[StopReason, str] = {
    "end_turn": "STOP",
    "tool_use": "STOP",
    "max_tokens": "MAX_TOKENS",
    "content_filter": "SAFETY",
    "context_overflow": "MAX_TOKENS",
    "pause": "STOP",
    "other": "OTHER",
}
MALFORMED = "MALFORMED_FUNCTION_CALL"
NOTHING: Sequence[Json] = ({"text": ""},)
"""The parts of an empty content; the SDK rejects a content without parts."""


def response(
    request: ProxyRequest, reply_id: str, answer: ReplyAccumulator, sealer: StateSealer
) -> Json:
    """Return the complete response."""
    found = answer.parts()
    parts = [made for part in found for made in _parts(part, request, sealer)]
    calls = [part for part in found if isinstance(part, ToolCallReady)]
    candidate = {"content": {"role": "model", "parts": parts or NOTHING}, "index": 0}
    end = ending(answer.stop, answer.detail, broken_call(calls))
    return {
        "candidates": [candidate | end],
        "usageMetadata": usage_body(answer.usage),
        **identity(request, reply_id),
    }


def identity(request: ProxyRequest, reply_id: str) -> Json:
    """Return the fields common to all chunks."""
    return {"modelVersion": request.model, "responseId": reply_id}


def ending(reason: StopReason, detail: str | None, broken: ToolCallReady | None) -> Json:
    """Return why the reply ended; a call with invalid arguments has its own reason here."""
    if broken is not None:
        message = f"Malformed function call: {broken.tool}: {broken.problem}"
        return {"finishReason": MALFORMED, "finishMessage": message}
    end = {"finishReason": FINISH_REASONS[reason]}
    return end | ({"finishMessage": detail} if detail else {})


def broken_call(calls: Sequence[ToolCallReady]) -> ToolCallReady | None:
    """Return the first call whose arguments are not an object."""
    return next((call for call in calls if call.arguments is None), None)


def call_parts(calls: Sequence[ToolCallReady], sealer: StateSealer) -> list[Json]:
    """Return the calls whose arguments are valid."""
    return [_call(call, sealer) for call in calls if call.arguments is not None]


def signed(part: Json, state: ProviderState | None, sealer: StateSealer, text: str = "") -> Json:
    """Return the part with its sealed state, if it has any."""
    return (
        part
        if state is None
        else part | {"thoughtSignature": encode_signature(sealer, state, text)}
    )


def usage_body(usage: TokenUsage) -> Json:
    """Return the usage; in this format thoughts are counted separately from the answer."""
    return {
        "promptTokenCount": usage.input_tokens,
        "cachedContentTokenCount": usage.cache_read_tokens,
        "candidatesTokenCount": max(usage.output_tokens - usage.reasoning_tokens, 0),
        "thoughtsTokenCount": usage.reasoning_tokens,
        "totalTokenCount": usage.input_tokens + usage.output_tokens,
    }


def _call(call: ToolCallReady, sealer: StateSealer) -> Json:
    made = {"id": call.call_id, "name": call.tool, "args": call.arguments}
    return signed({"functionCall": made}, call.state, sealer)


def _parts(
    part: AssistantPart | ToolCallReady, request: ProxyRequest, sealer: StateSealer
) -> list[Json]:
    match part:
        case TextPart():
            return [signed({"text": part.text}, part.state, sealer)]
        case ReasoningPart():
            if part.state is None and not request.show_reasoning:
                return []
            shown = part.text if request.show_reasoning else ""
            return [signed({"text": shown, "thought": True}, part.state, sealer, part.text)]
        case ToolCallReady():
            return call_parts([part], sealer)
        case ToolCallPart():
            raise AssertionError("An answer has calls as they came.")
        case _:
            assert_never(part)
