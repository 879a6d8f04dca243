"""Encodes the common request as a body of ``/api/chat``. Pure; used by ``provider``.

Every request sets the context window, because Ollama's default is small, and always to the
catalogue's value, because Ollama reloads the model when it changes.
"""

from __future__ import annotations

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec, ThinkingLevel
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.providers.formats.reasoning_effort import effort_for
from jupyter_ai_shoulders.providers.formats.unsupported_content import EMPTY_RESULT, NO_IMAGES
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint, encode_body, encode_json
from jupyter_ai_shoulders.providers.vendor_json import VendorObject
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


def encode(request: ModelRequest, endpoint: Endpoint) -> bytes:
    """Return the body of ``POST /api/chat``."""
    history = _History(endpoint)
    messages = [history.encode(message) for message in request.messages]
    if request.system.strip():
        messages.insert(0, encode_json({"role": "system", "content": request.system}))
    # the format has no tool choice, so tools are left out instead
    offered = () if request.tool_choice == "none" else request.tools
    head = _head(request, endpoint.model, has_tools=bool(offered))
    tools = endpoint.tools(offered, _tool)
    return encode_body(head, [message for message in messages if message], tools=tools)


def _head(request: ModelRequest, model: ModelSpec, *, has_tools: bool) -> VendorObject:
    """Return all fields but tools and messages.

    The request asks Ollama to refuse prompts that are too long, instead of truncating them.
    """
    max_output = min(request.max_output, model.max_output or request.max_output, model.window)
    head: VendorObject = {
        "model": request.model,
        "stream": True,
        "truncate": False,
        "shift": False,
        "options": {"num_ctx": model.window, "num_predict": max_output},
    }
    if not has_tools and request.response_schema is not None and model.structured_output:
        head["format"] = request.response_schema
    think = _think(request.thinking, model)
    return head if think is None else head | {"think": think}


def _tool(tool: ToolDefinition) -> VendorObject:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    return {"type": "function", "function": function}


def _think(level: ThinkingLevel, model: ModelSpec) -> bool | str | None:
    """Return ``think``: an effort where the model has several, else whether it thinks.

    None sends nothing, since models that cannot think refuse the field.
    """
    support = model.thinking_support
    if support.mode != "effort":
        return None
    effort = effort_for(model, level)
    if effort == "none":
        return False
    if effort is not None and support.efforts:
        return effort
    wanted = model.thinking if level == "default" else level
    return None if wanted == "none" else True


class _History:
    """Encodes messages for one model."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._images = endpoint.model.images

    def encode(self, message: ModelMessage) -> bytes:
        """Return Ollama's messages as JSON, separated by commas; possibly none."""
        return self._endpoint.encoded.get(message, None, lambda: self._encode(message))

    def _encode(self, message: ModelMessage) -> bytes:
        made = self._user(message) if isinstance(message, UserMessage) else self._said(message)
        return b",".join(encode_json(item) for item in made)

    def _user(self, message: UserMessage) -> list[VendorObject]:
        """Return one message per result, then the user's parts with all images."""
        results = [part for part in message.parts if isinstance(part, ToolResultPart)]
        shown = [item for part in results for item in part.content if self._shows(item)]
        said = [part for part in message.parts if not isinstance(part, ToolResultPart)]
        spoken = self._spoken([*shown, *said])
        return [_result(part, images=self._images) for part in results] + spoken

    def _spoken(self, parts: list[ResultContent]) -> list[VendorObject]:
        images = [part.data for part in parts if isinstance(part, ImagePart) and self._images]
        texts = [
            NO_IMAGES if isinstance(part, ImagePart) else part.text
            for part in parts
            if not self._shows(part)
        ]
        content = "\n\n".join(text for text in texts if text.strip())
        if not content and not images:
            return []
        message: VendorObject = {"role": "user", "content": content}
        return [message | ({"images": images} if images else {})]

    def _said(self, message: AssistantMessage) -> list[VendorObject]:
        """Return the message; nothing where it has neither text nor calls.

        The model's own thinking is sent back with calls, as models continue from it.
        """
        text = "".join(part.text for part in message.parts if isinstance(part, TextPart))
        calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
        if not text.strip() and not calls:
            return []
        encoded: VendorObject = {"role": "assistant", "content": text if text.strip() else ""}
        thinking = "".join(
            part.text
            for part in message.parts
            if isinstance(part, ReasoningPart) and self._endpoint.owns(part.state)
        )
        if thinking and calls:
            encoded["thinking"] = thinking
        if calls:
            encoded["tool_calls"] = [_call(part, index) for index, part in enumerate(calls)]
        return [encoded]

    def _shows(self, item: ResultContent) -> bool:
        return isinstance(item, ImagePart) and self._images


def _call(part: ToolCallPart, index: int) -> VendorObject:
    function = {"index": index, "name": part.tool, "arguments": part.arguments}
    return {"id": part.call_id, "function": function}


def _result(part: ToolResultPart, *, images: bool) -> VendorObject:
    image = "[image below]" if images else NO_IMAGES
    texts = [item.text if isinstance(item, TextPart) else image for item in part.content]
    return {
        "role": "tool",
        "content": "\n".join(text for text in texts if text.strip()) or EMPTY_RESULT,
        "tool_name": part.tool,
        "tool_call_id": part.call_id,
    }
