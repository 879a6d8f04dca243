"""JSON Schemas made from the official SDKs' request types, unknown fields refused (reference §9.1).

An independent judge of requests: of those our adapters make, and of the simulator's own schema.
"""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from anthropic.types.message_create_params import MessageCreateParamsStreaming
from jsonschema import Draft202012Validator
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from pydantic import TypeAdapter

FREE = {"InputSchemaTyped"}
"""Objects that are JSON Schemas themselves and may hold anything."""


def anthropic_problems(body: dict[str, Any]) -> list[str]:
    """Return what the Anthropic SDK's types say against a body of ``POST /v1/messages``."""
    return problems(anthropic_validator(), body)


def chat_problems(body: dict[str, Any]) -> list[str]:
    """Return what the OpenAI SDK's types say against a body of ``POST /v1/chat/completions``."""
    return problems(chat_validator(), body)


def responses_problems(body: dict[str, Any]) -> list[str]:
    """Return what the OpenAI SDK's types say against a body of ``POST /v1/responses``."""
    return problems(responses_validator(), body)


def problems(validator: Draft202012Validator, body: dict[str, Any]) -> list[str]:
    """Return the problems, the shortest words for each."""
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(body)]


@cache
def anthropic_validator() -> Draft202012Validator:
    """Return the validator of streamed messages."""
    return strict(TypeAdapter(MessageCreateParamsStreaming).json_schema())


@cache
def chat_validator() -> Draft202012Validator:
    """Return the validator of streamed completions."""
    return strict(TypeAdapter(CompletionCreateParamsStreaming).json_schema())


@cache
def responses_validator() -> Draft202012Validator:
    """Return the validator of streamed responses."""
    return strict(TypeAdapter(ResponseCreateParamsStreaming).json_schema())


def strict(schema: dict[str, Any]) -> Draft202012Validator:
    """Return a validator that refuses unknown fields at every level."""
    close(schema)
    return Draft202012Validator(schema)


def close(node: Any) -> None:
    """Forbid other properties in every object that lists some."""
    if isinstance(node, list):
        for item in cast("list[Any]", node):
            close(item)
    if not isinstance(node, dict):
        return
    found = cast("dict[str, Any]", node)
    if "properties" in found and found.get("title") not in FREE:
        found["additionalProperties"] = False
    for value in found.values():
        close(value)
