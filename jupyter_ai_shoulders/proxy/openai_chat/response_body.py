"""Encodes a reply as a ``chat.completion`` object, and the parts that its stream shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jupyter_ai_shoulders.providers.base import StopReason, ToolCallReady
from jupyter_ai_shoulders.proxy.openai_chat.decode import EXTRA
from jupyter_ai_shoulders.proxy.reply_accumulator import ReplyAccumulator
from jupyter_ai_shoulders.proxy.request import ProxyRequest
from jupyter_ai_shoulders.proxy.sealed_state import StateSealer
from jupyter_ai_shoulders.wire.api.responses import ModelInfo
from jupyter_ai_shoulders.wire.parts import ProviderState, ReasoningPart, TextPart
from jupyter_ai_shoulders.wire.usage import TokenUsage

FINISH_REASONS: Mapping[StopReason, str] = {
    "end_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "content_filter": "content_filter",
    "context_overflow": "length",
    "pause": "stop",
    "other": "stop",
}


def completion(
    request: ProxyRequest,
    reply_id: str,
    created: int,
    answer: ReplyAccumulator,
    sealer: StateSealer,
) -> Any:
    """Return the complete response."""
    message = _message(answer, sealer)
    reason = finish_reason(answer.stop, any_calls="tool_calls" in message)
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}
    return {
        "id": f"chatcmpl-{reply_id}",
        "object": "chat.completion",
        "created": created,
        "model": request.model,
        "choices": [choice],
        "usage": usage_body(answer.usage),
    }


def _message(answer: ReplyAccumulator, sealer: StateSealer) -> dict[str, Any]:
    parts = answer.parts()
    text = "".join(part.text for part in parts if isinstance(part, TextPart))
    message: dict[str, Any] = {"role": "assistant", "content": text or None, "refusal": None}
    calls = [call_body(part, sealer) for part in parts if isinstance(part, ToolCallReady)]
    if calls:
        message["tool_calls"] = calls
    reasoning = [part for part in parts if isinstance(part, ReasoningPart)]
    if reasoning:
        message["reasoning"] = "".join(part.text for part in reasoning)
    details = [
        detail_body(part.state, part.text, index, sealer)
        for index, part in enumerate(reasoning)
        if part.state is not None
    ]
    if details:
        message["reasoning_details"] = details
    return message


def finish_reason(reason: StopReason, *, any_calls: bool) -> str:
    """Return why the reply ended; a normal end with calls waits for their results."""
    if any_calls and reason in {"end_turn", "other"}:
        return "tool_calls"
    return FINISH_REASONS[reason]


def call_body(call: ToolCallReady, sealer: StateSealer) -> dict[str, Any]:
    """Return a call with its arguments as the model wrote them."""
    return {
        "id": call.call_id,
        "type": "function",
        "function": {"name": call.tool, "arguments": call.raw or "{}"},
        **extra_content(call, sealer),
    }


def extra_content(call: ToolCallReady, sealer: StateSealer) -> dict[str, Any]:
    """Return the field that carries a call's sealed state, if it has any."""
    return {} if call.state is None else {"extra_content": {EXTRA: sealer.seal(call.state)}}


def detail_body(state: ProviderState, text: str, index: int, sealer: StateSealer) -> dict[str, Any]:
    """Return the reasoning detail that a caller sends back unchanged."""
    sealed = sealer.seal(state, text)
    return {"type": "reasoning.encrypted", "data": sealed, "index": index, "format": "unknown"}


def usage_body(usage: TokenUsage) -> dict[str, Any]:
    """Return the usage; in this format ``prompt_tokens`` includes cached tokens."""
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }


def model_body(model: ModelInfo) -> dict[str, Any]:
    """Return one model."""
    return {"id": model.id, "object": "model", "created": 0, "owned_by": model.provider}
