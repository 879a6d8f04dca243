"""Encodes the common request as a Chat Completions body. Pure; used by ``provider``.

Sends only fields that every compatible server accepts, and others where the profile or the model's
catalogue entry permits them.
"""

from __future__ import annotations

import hashlib
import json
import string
from collections.abc import Iterable
from typing import Any

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec, ThinkingLevel
from jupyter_ai_shoulders.providers.base import AnyTool, ModelRequest
from jupyter_ai_shoulders.providers.formats.reasoning_effort import effort_for
from jupyter_ai_shoulders.providers.formats.server_profiles import Profile
from jupyter_ai_shoulders.providers.formats.unsupported_content import EMPTY_RESULT, NO_IMAGES
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint, encode_body, encode_json
from jupyter_ai_shoulders.providers.vendor_json import VendorObject, as_list, as_object
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
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

SHORT_ID_LENGTH = 9
_ALPHABET = string.ascii_letters + string.digits


def encode(request: ModelRequest, endpoint: Endpoint, profile: Profile) -> bytes:
    """Return the body of ``POST /chat/completions``."""
    history = _History(endpoint, profile)
    messages = [history.encode(message) for message in request.messages]
    if request.system.strip():
        messages.insert(0, encode_json({"role": "system", "content": request.system}))
    head = _head(request, endpoint, profile)
    tools = endpoint.tools(request.tools, _tool)
    return encode_body(head, [message for message in messages if message], tools=tools)


def _head(request: ModelRequest, endpoint: Endpoint, profile: Profile) -> VendorObject:
    """Return all fields but tools and messages."""
    model = endpoint.model
    max_tokens = min(request.max_output, model.max_output or request.max_output)
    head: VendorObject = {"model": request.model, "stream": True, profile.max_tokens: max_tokens}
    if profile.stream_usage:
        head["stream_options"] = {"include_usage": True}
    if request.tools:
        head |= _tool_choice(request, model, profile)
        if not request.parallel_calls:
            head["parallel_tool_calls"] = False
    head |= _effort(request.thinking, model, profile)
    if request.response_schema is not None and model.structured_output:
        schema = {"name": "answer", "schema": request.response_schema}
        head["response_format"] = {"type": "json_schema", "json_schema": schema}
    if profile.cache_key and model.cache and request.cache_key is not None:
        head["prompt_cache_key"] = request.cache_key
    if model.verbosity is not None:
        head["verbosity"] = model.verbosity
    return head


def _tool(tool: ToolDefinition) -> VendorObject:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    return {"type": "function", "function": function}


def _tool_choice(request: ModelRequest, model: ModelSpec, profile: Profile) -> VendorObject:
    choice = request.tool_choice
    if choice == "none":
        return {"tool_choice": "none"}
    if choice == "auto" or model.forced_tool == "no":
        return {}
    if isinstance(choice, AnyTool) or (not profile.named_choice and len(request.tools) == 1):
        return {"tool_choice": "required"}
    if not profile.named_choice:
        return {}
    return {"tool_choice": {"type": "function", "function": {"name": choice.name}}}


def _effort(level: ThinkingLevel, model: ModelSpec, profile: Profile) -> VendorObject:
    """Return the effort; nothing for models whose entry has none."""
    effort = effort_for(model, level)
    if effort is None:
        return {}
    if profile.effort == "reasoning":
        return {"reasoning": {"effort": effort}}
    return {"reasoning_effort": effort}


class _History:
    """Encodes messages for one server."""

    def __init__(self, endpoint: Endpoint, profile: Profile) -> None:
        self._endpoint = endpoint
        self._profile = profile

    def encode(self, message: ModelMessage) -> bytes:
        """Return the vendor's messages as JSON, separated by commas; possibly none."""
        return self._endpoint.encoded.get(message, None, lambda: self._encode(message))

    def _encode(self, message: ModelMessage) -> bytes:
        made = self.user(message) if isinstance(message, UserMessage) else self.assistant(message)
        return b",".join(encode_json(item) for item in made)

    def user(self, message: UserMessage) -> list[VendorObject]:
        """Return one message per result, then the user's parts.

        Results cannot contain images in this format; images follow in the user's message.
        """
        results = [part for part in message.parts if isinstance(part, ToolResultPart)]
        images = [item for part in results for item in part.content if isinstance(item, ImagePart)]
        said = [part for part in message.parts if not isinstance(part, ToolResultPart)]
        content = self._content([*(images if self._endpoint.model.images else ()), *said])
        encoded = [self._result(part) for part in results]
        return encoded + ([{"role": "user", "content": content}] if content else [])

    def assistant(self, message: AssistantMessage) -> list[VendorObject]:
        """Return the message; nothing where it has neither text nor calls."""
        text = "".join(part.text for part in message.parts if isinstance(part, TextPart))
        calls = [self._call(part) for part in message.parts if isinstance(part, ToolCallPart)]
        if not text.strip() and not calls:
            return []
        encoded: VendorObject = {"role": "assistant", "content": text if text.strip() else None}
        if calls:
            encoded["tool_calls"] = calls
        reasoning = [part for part in message.parts if isinstance(part, ReasoningPart)]
        return [encoded | self._echo(reasoning, calls=bool(calls))]

    def _echo(self, parts: Iterable[ReasoningPart], *, calls: bool) -> VendorObject:
        """Return the reasoning that this server wants back."""
        own = [part for part in parts if self._endpoint.owns(part.state)]
        match self._profile.echo:
            case "reasoning_details":
                states = (as_object(part.state.data) for part in own if part.state is not None)
                details = [item for data in states for item in as_list(data.get("details"))]
                return {"reasoning_details": details} if details else {}
            case "reasoning_content":
                text = "".join(part.text for part in own)
                return {"reasoning_content": text} if calls else {}
            case "nothing":
                return {}

    def _call(self, part: ToolCallPart) -> VendorObject:
        arguments = json.dumps(part.arguments, ensure_ascii=False, separators=(",", ":"))
        call: VendorObject = {
            "id": self._call_id(part.call_id),
            "type": "function",
            "function": {"name": part.tool, "arguments": arguments},
        }
        if part.state is not None and self._endpoint.owns(part.state):
            call |= as_object(part.state.data)
        return call

    def _result(self, part: ToolResultPart) -> VendorObject:
        texts = [
            item.text
            if isinstance(item, TextPart)
            else ("[image below]" if self._endpoint.model.images else NO_IMAGES)
            for item in part.content
        ]
        content = "\n".join(text for text in texts if text.strip()) or EMPTY_RESULT
        return {"role": "tool", "tool_call_id": self._call_id(part.call_id), "content": content}

    def _content(self, parts: list[ResultContent]) -> Any:
        """Return a string for text alone, else a list of parts; empty for nothing."""
        images = self._endpoint.model.images
        if not any(isinstance(part, ImagePart) for part in parts) or not images:
            texts = [part.text if isinstance(part, TextPart) else NO_IMAGES for part in parts]
            return "\n\n".join(text for text in texts if text.strip())
        return [_content_part(part) for part in parts if _worth_sending(part)]

    def _call_id(self, call_id: CallId) -> str:
        if not self._profile.short_call_ids or _is_short_id(call_id):
            return call_id
        return short_id(call_id)


def short_id(call_id: str) -> str:
    """Return nine letters and digits derived from the id."""
    number = int.from_bytes(hashlib.sha256(call_id.encode("utf-8", "replace")).digest()[:8])
    letters: list[str] = []
    for _ in range(SHORT_ID_LENGTH):
        number, index = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[index])
    return "".join(letters)


def _is_short_id(call_id: str) -> bool:
    return len(call_id) == SHORT_ID_LENGTH and call_id.isascii() and call_id.isalnum()


def _worth_sending(part: ResultContent) -> bool:
    return isinstance(part, ImagePart) or bool(part.text.strip())


def _content_part(part: ResultContent) -> VendorObject:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    url = f"data:{part.media_type};base64,{part.data}"
    return {"type": "image_url", "image_url": {"url": url}}
