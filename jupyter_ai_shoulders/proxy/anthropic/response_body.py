"""Encodes a reply as the Messages API's object, and the parts that its stream shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from jupyter_ai_shoulders.providers.base import StopReason, ToolCallReady
from jupyter_ai_shoulders.proxy.reply_accumulator import ReplyAccumulator
from jupyter_ai_shoulders.proxy.request import ProxyRequest
from jupyter_ai_shoulders.proxy.sealed_state import StateSealer
from jupyter_ai_shoulders.wire.parts import (
    AssistantPart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
)
from jupyter_ai_shoulders.wire.usage import TokenUsage

STOP_REASONS: Mapping[StopReason, str] = {
    "end_turn": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "content_filter": "refusal",
    "context_overflow": "model_context_window_exceeded",
    "pause": "pause_turn",
    "other": "end_turn",
}


def message(
    request: ProxyRequest, reply_id: str, answer: ReplyAccumulator, sealer: StateSealer
) -> dict[str, Any]:
    """Return the complete message."""
    parts = answer.parts()
    content = [_block(part, request, sealer) for part in parts]
    any_calls = any(isinstance(part, ToolCallReady) for part in parts)
    end = ending(answer.stop, answer.detail, answer.stopped_at, any_calls=any_calls)
    return envelope(request, reply_id, content, end, answer.usage)


def envelope(
    request: ProxyRequest,
    reply_id: str,
    content: Sequence[dict[str, Any]],
    end: dict[str, Any],
    usage: TokenUsage,
) -> dict[str, Any]:
    """Return a message object."""
    return {
        "id": f"msg_{reply_id}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": content,
        **end,
        "usage": usage_body(usage),
    }


def ending(
    reason: StopReason, detail: str | None, stopped_at: str | None, *, any_calls: bool
) -> dict[str, Any]:
    """Return why the reply ended; a normal end with calls waits for their results."""
    word = STOP_REASONS[reason]
    if stopped_at is not None:
        word = "stop_sequence"
    elif any_calls and reason in {"end_turn", "other"}:
        word = "tool_use"
    end: dict[str, Any] = {"stop_reason": word, "stop_sequence": stopped_at}
    if word == "refusal":
        end["stop_details"] = {"type": "refusal", "category": None, "explanation": detail}
    return end


def usage_body(usage: TokenUsage) -> dict[str, Any]:
    """Return the usage; in this format ``input_tokens`` excludes cached tokens."""
    cached = usage.cache_read_tokens + usage.cache_write_tokens
    return {
        "input_tokens": max(usage.input_tokens - cached, 0),
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"thinking_tokens": usage.reasoning_tokens},
    }


def _block(
    part: AssistantPart | ToolCallReady, request: ProxyRequest, sealer: StateSealer
) -> dict[str, Any]:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case ReasoningPart():
            return {
                "type": "thinking",
                "thinking": part.text if request.show_reasoning else "",
                "signature": "" if part.state is None else sealer.seal(part.state, part.text),
            }
        case ToolCallReady():
            # The API keeps arguments that are not an object under this key.
            given = {"INVALID_JSON": part.raw} if part.arguments is None else part.arguments
            return {"type": "tool_use", "id": part.call_id, "name": part.tool, "input": given}
        case ToolCallPart():
            raise AssertionError("An answer has calls as they came.")
        case _:
            assert_never(part)
