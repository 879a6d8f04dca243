"""Encodes the common request as an Anthropic Messages body. Pure; used by ``provider``.

Equal input gives byte-for-byte equal system and tool blocks, so that the prompt cache hits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jupyter_ai_shoulders.providers.anthropic.history import AnthropicHistory, Block, loop_start
from jupyter_ai_shoulders.providers.anthropic.thinking import (
    Thinking,
    can_be_off,
    thinking_for,
    thinking_off,
    with_unbound_dropped,
)
from jupyter_ai_shoulders.providers.base import AnyTool, ModelRequest, NamedTool, ToolChoice
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint, encode_body, encode_json
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    ReasoningPart,
    ToolCallPart,
    ToolDefinition,
)

BINDING_BETA = "thinking-binding-controls-2026-08-01"
"""Required to make the server drop blocks that are bound to another prefix."""

_CACHE = {"type": "ephemeral"}
_ABOUT_ANSWERS = frozenset({"max_tokens", "stream"})


@dataclass(frozen=True, slots=True)
class Encoded:
    """A request body. ``prefix`` identifies the conversation that new thinking will be bound to."""

    body: bytes
    prefix: str | None
    betas: tuple[str, ...] = ()


def encode(request: ModelRequest, endpoint: Endpoint) -> Encoded:
    """Return the body of ``POST /v1/messages``."""
    return _encode(request, endpoint, frozenset())


def encode_count(request: ModelRequest, endpoint: Endpoint) -> Encoded:
    """Return the body of ``POST /v1/messages/count_tokens``, without the options of answers."""
    return _encode(request, endpoint, _ABOUT_ANSWERS)


def _encode(request: ModelRequest, endpoint: Endpoint, without: frozenset[str]) -> Encoded:
    max_tokens = min(request.max_output, endpoint.model.max_output or request.max_output)
    thinking = _thinking(request, endpoint, max_tokens)
    tools = _tools(request, endpoint)
    head = _head(request, endpoint, max_tokens, has_tools=bool(tools))
    start = b"[" + encode_json(request.system) + b",[" + b",".join(tools) + b"]]"
    history = AnthropicHistory(endpoint, start, keep_stale=thinking.can_drop_unbound)
    messages = history.encode(request.messages)
    if history.stale_in_loop:
        thinking = with_unbound_dropped(thinking)
    parameter = thinking.parameter()
    if parameter is not None:
        head["thinking"] = parameter
    head |= _output_config(request, endpoint, thinking)
    head = {name: value for name, value in head.items() if name not in without}
    return Encoded(
        body=encode_body(head, messages, tools=tools),
        prefix=history.prefix(),
        betas=(BINDING_BETA,) if thinking.drop_unbound else (),
    )


def _head(
    request: ModelRequest, endpoint: Endpoint, max_tokens: int, *, has_tools: bool
) -> dict[str, Any]:
    """Return all fields but tools and messages."""
    cache: Block = {"cache_control": _CACHE} if endpoint.model.cache else {}
    head: dict[str, Any] = {"model": request.model, "max_tokens": max_tokens, "stream": True}
    if request.system.strip():
        head["system"] = [{"type": "text", "text": request.system, **cache}]
    if has_tools:
        choice = _tool_choice(request.tool_choice if request.tools else "none", endpoint)
        if not request.parallel_calls and (choice is None or choice["type"] != "none"):
            choice = {**(choice or {"type": "auto"}), "disable_parallel_tool_use": True}
        if choice is not None:
            head["tool_choice"] = choice
    return head | cache


def _thinking(request: ModelRequest, endpoint: Endpoint, max_tokens: int) -> Thinking:
    model = endpoint.model
    thinking = thinking_for(model, request.thinking, max_tokens)
    forced = isinstance(request.tool_choice, (AnyTool, NamedTool))
    if not thinking.on or not can_be_off(model):
        return thinking
    if (forced and model.forced_tool == "without_thinking") or _loop_lost_thinking(
        request, endpoint
    ):
        return thinking_off(model)
    return thinking


def _output_config(request: ModelRequest, endpoint: Endpoint, thinking: Thinking) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if thinking.effort is not None:
        config["effort"] = thinking.effort
    if request.response_schema is not None and endpoint.model.structured_output:
        config["format"] = {"type": "json_schema", "schema": request.response_schema}
    return {"output_config": config} if config else {}


def _tools(request: ModelRequest, endpoint: Endpoint) -> list[bytes]:
    """Return the tools as JSON; without tools, placeholders for those that the history called.

    The API refuses a history with calls in a request without tools.
    """
    called = {
        part.tool
        for message in request.messages
        for part in message.parts
        if isinstance(part, ToolCallPart)
    }
    if request.tools or not called:
        return endpoint.tools(request.tools, _tool)
    stand_ins = ({"name": name, "input_schema": {"type": "object"}} for name in sorted(called))
    return list(map(encode_json, stand_ins))


def _tool(tool: ToolDefinition) -> Block:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.parameters,
    }


def _tool_choice(choice: ToolChoice, endpoint: Endpoint) -> Block | None:
    """Return the tool choice; None where it is the default or the model cannot be forced."""
    if choice == "none":
        return {"type": "none"}
    if choice == "auto" or not _may_force(endpoint):
        return None
    return {"type": "any"} if isinstance(choice, AnyTool) else {"type": "tool", "name": choice.name}


def _may_force(endpoint: Endpoint) -> bool:
    model = endpoint.model
    return model.forced_tool == "yes" or (
        model.forced_tool == "without_thinking" and can_be_off(model)
    )


def _loop_lost_thinking(request: ModelRequest, endpoint: Endpoint) -> bool:
    """Return whether the answer that the last results belong to has lost its thinking.

    The API then refuses further thinking: blocks must not be missing inside a tool loop.
    """
    start = loop_start(request.messages)
    answers = [m for m in request.messages[start:] if isinstance(m, AssistantMessage)]
    if not answers:
        return False
    reasoning = [part for part in answers[-1].parts if isinstance(part, ReasoningPart)]
    if endpoint.model.thinking_support.mode == "budget" and not reasoning:
        return True
    return any(not endpoint.owns(part.state) for part in reasoning)
