"""Encodes a reply as a ``response`` object, and the parts that its stream shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from jupyter_ai_shoulders.providers.base import StopReason, ToolCallReady
from jupyter_ai_shoulders.proxy.openai_responses.reasoning_state import ReasoningStateCarrier
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

INCOMPLETE: Mapping[StopReason, str] = {
    "max_tokens": "max_output_tokens",
    "context_overflow": "max_output_tokens",
    "content_filter": "content_filter",
}
"""Stop reasons that leave a response incomplete."""

PREFIXES = {"text": "msg", "reasoning": "rs", "call": "fc"}

JsonItem = dict[str, Any]


def response(
    request: ProxyRequest,
    reply_id: str,
    created: int,
    answer: ReplyAccumulator,
    sealer: StateSealer,
) -> Any:
    """Return the complete response."""
    carrier = ReasoningStateCarrier()
    output = [
        _item(part, reply_id, index, request, sealer=sealer, carrier=carrier)
        for index, part in enumerate(answer.parts())
    ]
    end = ending(answer.stop)
    if output:
        output[-1] = closed(output[-1], end)
    output += carrier_items(carrier, reply_id, len(output), request, sealer)
    return envelope(request, reply_id, created, output, **end, usage=usage_body(answer.usage))


def envelope(
    request: ProxyRequest, reply_id: str, created: int, output: Sequence[JsonItem], **state: Any
) -> dict[str, Any]:
    """Return a response object; ``state`` holds its status and the fields that go with it."""
    return {
        "id": f"resp_{reply_id}",
        "object": "response",
        "created_at": created,
        "error": None,
        "incomplete_details": None,
        "model": request.model,
        **request.echo,
        "output": output,
        "usage": None,
        **state,
    }


def ending(reason: StopReason) -> dict[str, Any]:
    """Return the status of a response that ended for this reason."""
    why = INCOMPLETE.get(reason)
    if why is None:
        return {"status": "completed"}
    return {"status": "incomplete", "incomplete_details": {"reason": why}}


def closed(item: JsonItem, end: Mapping[str, Any]) -> JsonItem:
    """Return the last item of a response, incomplete if the response is."""
    return {**item, "status": end["status"]} if "status" in item else item


def item_id(kind: str, reply_id: str, index: int) -> str:
    """Return the id of the item at this index of the output."""
    return f"{PREFIXES[kind]}_{reply_id}_{index}"


def _item(
    part: AssistantPart | ToolCallReady,
    reply_id: str,
    index: int,
    request: ProxyRequest,
    *,
    sealer: StateSealer,
    carrier: ReasoningStateCarrier,
) -> JsonItem:
    match part:
        case TextPart():
            identity = item_id("text", reply_id, index)
            carrier.add(identity, part.state)
            return message_item(identity, part.text)
        case ReasoningPart():
            identity = item_id("reasoning", reply_id, index)
            return reasoning_item(identity, part.text, part.state, request, sealer)
        case ToolCallReady():
            carrier.add(part.call_id, part.state)
            return call_item(item_id("call", reply_id, index), part)
        case ToolCallPart():
            raise AssertionError("An answer has calls as they came.")
        case _:
            assert_never(part)


def message_item(identity: str, text: str) -> JsonItem:
    """Return a message."""
    return {
        "id": identity,
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [text_part(text)],
    }


def text_part(text: str) -> JsonItem:
    """Return the content of a message."""
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def reasoning_item(
    identity: str,
    text: str,
    state: ProviderState | None,
    request: ProxyRequest,
    sealer: StateSealer,
) -> JsonItem:
    """Return reasoning, with its sealed state where the caller may carry it."""
    shown = [summary_part(text)] if text and request.show_reasoning else []
    item: JsonItem = {"id": identity, "type": "reasoning", "summary": shown}
    if state is not None and request.carry_state:
        item["encrypted_content"] = sealer.seal(state, text)
    return item


def summary_part(text: str) -> JsonItem:
    """Return a part of a summary."""
    return {"type": "summary_text", "text": text}


def call_item(identity: str, call: ToolCallReady) -> JsonItem:
    """Return a call with its arguments as the model wrote them."""
    return {
        "id": identity,
        "type": "function_call",
        "status": "completed",
        "call_id": call.call_id,
        "name": call.tool,
        "arguments": call_arguments(call),
    }


def call_arguments(call: ToolCallReady) -> str:
    """Return the arguments of a call as text; missing ones are ``{}`` unless they were cut off."""
    return call.raw or ("{}" if call.problem is None else "")


def carrier_items(
    carrier: ReasoningStateCarrier,
    reply_id: str,
    index: int,
    request: ProxyRequest,
    sealer: StateSealer,
) -> list[JsonItem]:
    """Return the item that carries the states of the others, if there are any."""
    packed = carrier.packed()
    if packed is None or not request.carry_state:
        return []
    return [reasoning_item(item_id("reasoning", reply_id, index), "", packed, request, sealer)]


def usage_body(usage: TokenUsage) -> dict[str, Any]:
    """Return the usage; in this format ``input_tokens`` includes cached tokens."""
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }
