"""The common request as an Anthropic Messages body (reference §1.1, §1.5, §1.7).

Pure: called by ``provider``. System and tool blocks come out byte for byte the same for the same
input, so that the provider's cache holds.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from jupyter_ai_shoulders.providers.anthropic.thinking import (
    Thinking,
    can_be_off,
    thinking_for,
    thinking_off,
    with_unbound_dropped,
)
from jupyter_ai_shoulders.providers.base import AnyTool, ModelRequest, NamedTool, ToolChoice
from jupyter_ai_shoulders.providers.target import Target, encode_body, encode_json
from jupyter_ai_shoulders.providers.vendor_json import as_object, as_text
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

BINDING_BETA = "thinking-binding-controls-2026-08-01"
"""Needed to have blocks that are bound to another prefix dropped by the server (§1.7)."""

EMPTY_RESULT = "(no output)"
_CACHE = {"type": "ephemeral"}
_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9_-]")

Block = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Encoded:
    """A body to post. ``prefix`` names the conversation new thinking will be bound to."""

    body: bytes
    prefix: str | None
    betas: tuple[str, ...] = ()


def encode(request: ModelRequest, target: Target) -> Encoded:
    """Return the body of ``POST /v1/messages``."""
    max_tokens = min(request.max_output, target.model.max_output or request.max_output)
    thinking = _thinking(request, target, max_tokens)
    head = _head(request, target, max_tokens)
    history = _History(target, request)
    messages = history.encode(request.messages)
    if history.stale_in_loop:
        thinking = with_unbound_dropped(thinking)
    parameter = thinking.parameter()
    if parameter is not None:
        head["thinking"] = parameter
    head |= _output_config(request, target, thinking)
    return Encoded(
        body=encode_body(head, messages),
        prefix=history.prefix(),
        betas=(BINDING_BETA,) if thinking.drop_unbound else (),
    )


def _head(request: ModelRequest, target: Target, max_tokens: int) -> dict[str, Any]:
    cache: Block = {"cache_control": _CACHE} if target.model.cache else {}
    head: dict[str, Any] = {"model": request.model, "max_tokens": max_tokens, "stream": True}
    if request.system.strip():
        head["system"] = [{"type": "text", "text": request.system, **cache}]
    tools = _tools(request)
    if tools:
        head["tools"] = tools
        choice = _tool_choice(request.tool_choice if request.tools else "none", target)
        if choice is not None:
            head["tool_choice"] = choice
    return head | cache


def _thinking(request: ModelRequest, target: Target, max_tokens: int) -> Thinking:
    model = target.model
    thinking = thinking_for(model, request.thinking, max_tokens)
    forced = isinstance(request.tool_choice, (AnyTool, NamedTool))
    if not thinking.on or not can_be_off(model):
        return thinking
    if (forced and model.forced_tool == "without_thinking") or _loop_lost_thinking(request, target):
        return thinking_off(model)
    return thinking


def _output_config(request: ModelRequest, target: Target, thinking: Thinking) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if thinking.effort is not None:
        config["effort"] = thinking.effort
    if request.response_schema is not None and target.model.structured_output:
        config["format"] = {"type": "json_schema", "schema": request.response_schema}
    return {"output_config": config} if config else {}


def _tools(request: ModelRequest) -> list[Block]:
    """Return the tools; where there are none, stand-ins for those the history called.

    The API refuses a history with calls in a request without tools.
    """
    called = {
        part.tool
        for message in request.messages
        for part in message.parts
        if isinstance(part, ToolCallPart)
    }
    if request.tools or not called:
        return [_tool(tool) for tool in request.tools]
    return [{"name": name, "input_schema": {"type": "object"}} for name in sorted(called)]


def _tool(tool: ToolDefinition) -> Block:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.parameters,
    }


def _tool_choice(choice: ToolChoice, target: Target) -> Block | None:
    """Return the choice, or None where it is the default or the model refuses to be forced."""
    if choice == "none":
        return {"type": "none"}
    if choice == "auto" or not _may_force(target):
        return None
    return {"type": "any"} if isinstance(choice, AnyTool) else {"type": "tool", "name": choice.name}


def _may_force(target: Target) -> bool:
    model = target.model
    return model.forced_tool == "yes" or (
        model.forced_tool == "without_thinking" and can_be_off(model)
    )


def _loop_lost_thinking(request: ModelRequest, target: Target) -> bool:
    """Return whether the answer that the last results belong to lost its thinking.

    The API then refuses to go on thinking: its blocks may not be missing inside a tool loop.
    """
    start = loop_start(request.messages)
    answers = [m for m in request.messages[start:] if isinstance(m, AssistantMessage)]
    if not answers:
        return False
    reasoning = [part for part in answers[-1].parts if isinstance(part, ReasoningPart)]
    if target.model.thinking_support.mode == "budget" and not reasoning:
        return True
    return any(not target.owns(part.state) for part in reasoning)


def loop_start(messages: Sequence[ModelMessage]) -> int:
    """Return the index after the last user message that is not just results of tools."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, UserMessage) and not any(
            isinstance(part, ToolResultPart) for part in message.parts
        ):
            return index + 1
    return 0


class _History:
    """Encodes messages in order, keeping a digest of what precedes each of them.

    Some models bind thinking to the exact prefix it was made after. What no longer follows its
    prefix is dropped, but inside the running tool loop, where the API wants it, it is kept and
    ``stale_in_loop`` is set, so that the server is asked to drop it.
    """

    def __init__(self, target: Target, request: ModelRequest) -> None:
        self.stale_in_loop = False
        self._target = target
        self._bound = target.model.thinking_support.bound
        self._loop_start = loop_start(request.messages)
        start = encode_json([request.system, _tools(request)]) if self._bound else b""
        self._digest = hashlib.sha256(start)

    def prefix(self) -> str | None:
        """Return the digest of everything encoded so far; None when nothing is bound to it."""
        return self._digest.hexdigest()[:16] if self._bound else None

    def encode(self, messages: Sequence[ModelMessage]) -> list[bytes]:
        encoded: list[bytes] = []
        for index, message in enumerate(messages):
            if isinstance(message, UserMessage):
                blocks = _user_blocks(message)
            else:
                blocks = self._assistant_blocks(message, in_loop=index >= self._loop_start)
            if blocks:
                encoded.append(encode_json({"role": message.role, "content": blocks}))
                if self._bound:
                    self._digest.update(encoded[-1])
        return encoded

    def _assistant_blocks(self, message: AssistantMessage, *, in_loop: bool) -> list[Block]:
        prefix = self.prefix()
        found = (self._assistant_block(part, prefix, in_loop) for part in message.parts)
        blocks = [block for block in found if block is not None]
        visible = any(block["type"] in {"text", "tool_use"} for block in blocks)
        return blocks if visible else []

    def _assistant_block(
        self, part: AssistantPart, prefix: str | None, in_loop: bool
    ) -> Block | None:
        match part:
            case TextPart():
                return {"type": "text", "text": part.text} if part.text.strip() else None
            case ReasoningPart():
                return self._thinking_block(part, prefix, in_loop)
            case ToolCallPart():
                return {
                    "type": "tool_use",
                    "id": vendor_call_id(part.call_id),
                    "name": part.tool,
                    "input": part.arguments,
                }
            case _:
                assert_never(part)

    def _thinking_block(
        self, part: ReasoningPart, prefix: str | None, in_loop: bool
    ) -> Block | None:
        if part.state is None or not self._target.owns(part.state):
            return None
        data = as_object(part.state.data)
        block = as_object(data.get("block"))
        if as_text(data.get("prefix")) != (prefix or ""):
            if not in_loop:
                return None
            self.stale_in_loop = True
        return block or None


def _user_blocks(message: UserMessage) -> list[Block]:
    """Return results first, as the API demands, then what the user said."""
    results = [_result(part) for part in message.parts if isinstance(part, ToolResultPart)]
    said = [part for part in message.parts if not isinstance(part, ToolResultPart)]
    return results + _content(said)


def _result(part: ToolResultPart) -> Block:
    block: Block = {
        "type": "tool_result",
        "tool_use_id": vendor_call_id(part.call_id),
        "content": _content(part.content) or [{"type": "text", "text": EMPTY_RESULT}],
    }
    return block | ({"is_error": True} if part.is_error else {})


def _content(parts: Iterable[ResultContent]) -> list[Block]:
    return [
        _image(part) if isinstance(part, ImagePart) else {"type": "text", "text": part.text}
        for part in parts
        if isinstance(part, ImagePart) or part.text.strip()
    ]


def _image(part: ImagePart) -> Block:
    source = {"type": "base64", "media_type": part.media_type, "data": part.data}
    return {"type": "image", "source": source}


def vendor_call_id(call_id: CallId) -> str:
    """Return the id in the letters the API accepts; ids of other vendors may have others."""
    clean = _NOT_IN_IDS.sub("_", call_id)
    if clean == call_id:
        return clean
    return f"{clean}_{hashlib.sha256(call_id.encode('utf-8', 'replace')).hexdigest()[:8]}"
