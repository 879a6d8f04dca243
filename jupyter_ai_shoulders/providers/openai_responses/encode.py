"""Encodes the common request as a Responses body. Pure; used by ``provider``.

The service stores nothing: every request has the whole conversation, with the encrypted reasoning
items of earlier responses.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any, Literal, assert_never

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec
from jupyter_ai_shoulders.providers.base import AnyTool, ModelRequest, ToolChoice
from jupyter_ai_shoulders.providers.formats.reasoning_effort import effort_for
from jupyter_ai_shoulders.providers.formats.unsupported_content import EMPTY_RESULT, NO_IMAGES
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint, encode_body, encode_json
from jupyter_ai_shoulders.providers.vendor_json import VendorObject, as_object
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    AssistantPart,
    ImagePart,
    ModelMessage,
    ReasoningPart,
    ResultContent,
    TextPart,
    ToolCallPart,
    ToolDefinition,
    ToolResultPart,
    UserMessage,
)

LEAST_OUTPUT = 16
"""Tokens; the API refuses smaller limits."""
MAX_CALL_ID_LENGTH = 64
"""Characters."""

_COUNTED = frozenset(
    {
        "model",
        "instructions",
        "tool_choice",
        "parallel_tool_calls",
        "reasoning",
        "text",
    }
)
"""Counted fields of a request, beside its tools and input."""

Extra = Literal["reasoning_items", "reasoning_summary"]
"""Optional fields that some accounts are refused."""


def encode(
    request: ModelRequest, endpoint: Endpoint, without: frozenset[Extra] = frozenset()
) -> bytes:
    """Return the body of ``POST /responses``, without previously refused extras."""
    head = _head(request, endpoint.model, summary="reasoning_summary" not in without)
    items = _items(request, endpoint, replay="reasoning_items" not in without)
    return encode_body(head, items, "input", endpoint.tools(request.tools, _tool))


def encode_count(request: ModelRequest, endpoint: Endpoint) -> bytes:
    """Return the body of ``POST /responses/input_tokens``, without the options of answers."""
    head = _head(request, endpoint.model, summary=True)
    asked = {name: value for name, value in head.items() if name in _COUNTED}
    items = _items(request, endpoint, replay=True)
    return encode_body(asked, items, "input", endpoint.tools(request.tools, _tool))


def _items(request: ModelRequest, endpoint: Endpoint, *, replay: bool) -> list[bytes]:
    history = _History(endpoint, replay=replay)
    items = [history.encode(message) for message in request.messages]
    return [item for item in items if item]


def _head(request: ModelRequest, model: ModelSpec, *, summary: bool) -> VendorObject:
    """Return all fields but tools and input."""
    max_tokens = min(request.max_output, model.max_output or request.max_output)
    head: VendorObject = {
        "model": request.model,
        "stream": True,
        "stream_options": {"include_obfuscation": False},
        "store": False,
        "max_output_tokens": max(max_tokens, LEAST_OUTPUT),
    }
    if request.system.strip():
        head["instructions"] = request.system
    if request.tools:
        head["parallel_tool_calls"] = request.parallel_calls
        head |= _tool_choice(request.tool_choice, model)
    head |= _reasoning(request, model, summary=summary)
    head |= _text(request, model)
    if model.cache and request.cache_key is not None:
        head["prompt_cache_key"] = request.cache_key
    return head


def _tool(tool: ToolDefinition) -> VendorObject:
    """Return a tool; not strict, as strict schemas cannot have optional arguments."""
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": False,
    }


def _tool_choice(choice: ToolChoice, model: ModelSpec) -> VendorObject:
    if choice == "none":
        return {"tool_choice": "none"}
    if choice == "auto" or model.forced_tool == "no":
        return {}
    if isinstance(choice, AnyTool):
        return {"tool_choice": "required"}
    return {"tool_choice": {"type": "function", "name": choice.name}}


def _reasoning(request: ModelRequest, model: ModelSpec, *, summary: bool) -> VendorObject:
    """Return the effort, and the requests for a summary and for items that can be sent back."""
    if not model.reasoning:
        return {}
    effort = effort_for(model, request.thinking)
    wanted: VendorObject = {} if effort is None else {"effort": effort}
    if summary and effort != "none":
        wanted["summary"] = "auto"
    kept: VendorObject = {"include": ["reasoning.encrypted_content"]}
    return kept | ({"reasoning": wanted} if wanted else {})


def _text(request: ModelRequest, model: ModelSpec) -> VendorObject:
    text: VendorObject = {}
    if request.response_schema is not None and model.structured_output:
        schema = request.response_schema
        text["format"] = {
            "type": "json_schema",
            "name": "answer",
            "schema": schema,
            "strict": False,
        }
    if model.verbosity is not None:
        text["verbosity"] = model.verbosity
    return {"text": text} if text else {}


class _History:
    """Encodes messages as input items, in order.

    ``replay``: this model's own items are sent back unchanged, not as plain text.
    """

    def __init__(self, endpoint: Endpoint, *, replay: bool) -> None:
        self._endpoint = endpoint
        self._replay = replay

    def encode(self, message: ModelMessage) -> bytes:
        """Return the message's items as JSON, separated by commas; possibly none."""
        return self._endpoint.encoded.get(message, self._replay, lambda: self._encode(message))

    def _encode(self, message: ModelMessage) -> bytes:
        made = self._user(message) if isinstance(message, UserMessage) else self._said(message)
        return b",".join(encode_json(item) for item in made)

    def _user(self, message: UserMessage) -> list[VendorObject]:
        """Return one item per result, then the user's parts."""
        results = [part for part in message.parts if isinstance(part, ToolResultPart)]
        said = [part for part in message.parts if not isinstance(part, ToolResultPart)]
        items = [self._result(part) for part in results]
        content = self._content(said)
        if content:
            items.append({"type": "message", "role": "user", "content": content})
        return items

    def _said(self, message: AssistantMessage) -> list[VendorObject]:
        """Return the reply's items; trailing reasoning is left out, as the API refuses it."""
        found = (self._item(part) for part in message.parts)
        items = [item for item in found if item is not None]
        while items and items[-1]["type"] == "reasoning":
            items.pop()
        return items

    def _item(self, part: AssistantPart) -> VendorObject | None:
        match part:
            case TextPart():
                return self._message(part) if part.text.strip() else None
            case ReasoningPart():
                return as_object(self._cached(part).get("item")) or None
            case ToolCallPart():
                return _call(part)
            case _:
                assert_never(part)

    def _message(self, part: TextPart) -> VendorObject:
        """Return a text without its id, as the service would look the id up.

        ``phase`` tells commentary from the answer.
        """
        said: VendorObject = {"type": "message", "role": "assistant", "content": part.text}
        return said | self._cached(part)

    def _cached(self, part: TextPart | ReasoningPart) -> VendorObject:
        """Return the state stored for this model."""
        if part.state is None or not self._replay or not self._endpoint.owns(part.state):
            return {}
        return as_object(part.state.data)

    def _result(self, part: ToolResultPart) -> VendorObject:
        content = self._content(part.content)
        output: Any = content
        if all(item["type"] == "input_text" for item in content):
            output = "\n".join(item["text"] for item in content) or EMPTY_RESULT
        call_id = vendor_call_id(part.call_id)
        return {"type": "function_call_output", "call_id": call_id, "output": output}

    def _content(self, parts: Iterable[ResultContent]) -> list[VendorObject]:
        found = (self._content_part(part) for part in parts)
        return [item for item in found if item is not None]

    def _content_part(self, part: ResultContent) -> VendorObject | None:
        if isinstance(part, ImagePart) and self._endpoint.model.images:
            url = f"data:{part.media_type};base64,{part.data}"
            return {"type": "input_image", "detail": "auto", "image_url": url}
        text = part.text if isinstance(part, TextPart) else NO_IMAGES
        return {"type": "input_text", "text": text} if text.strip() else None


def _call(part: ToolCallPart) -> VendorObject:
    """Return a call without its id, as the service would look the id up."""
    return {
        "type": "function_call",
        "call_id": vendor_call_id(part.call_id),
        "name": part.tool,
        "arguments": json.dumps(part.arguments, ensure_ascii=False, separators=(",", ":")),
    }


def vendor_call_id(call_id: CallId) -> str:
    """Return the id, or a digest where it is too long for the API."""
    if len(call_id) <= MAX_CALL_ID_LENGTH:
        return call_id
    return f"call_{hashlib.sha256(call_id.encode('utf-8', 'replace')).hexdigest()[:24]}"
