"""JSON Schemas made from the official SDKs' request types, unknown fields refused.

An independent judge of requests: of those our adapters make, and of the simulator's own schema.
Used by ``tests.sdk_validation.request_validator`` for every request of the suite.
"""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import jsonschema_rs
from anthropic.types.message_count_tokens_params import MessageCountTokensParams
from anthropic.types.message_create_params import (
    MessageCreateParamsNonStreaming,
    MessageCreateParamsStreaming,
)
from jsonschema import Draft202012Validator, ValidationError
from ollama._types import (
    ChatRequest,
    EmbedRequest,
)  # their only home; the package does not export it
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)
from openai.types.embedding_create_params import EmbeddingCreateParams
from openai.types.responses.input_token_count_params import InputTokenCountParams
from openai.types.responses.response_create_params import (
    ResponseCreateParamsNonStreaming,
    ResponseCreateParamsStreaming,
)
from pydantic import TypeAdapter

FREE = ("InputSchemaTyped", "Parameters", "Property")
"""Objects that are JSON Schemas themselves and may hold anything."""

NEWER_THAN_THE_SDK: dict[str, dict[str, Any]] = {
    "Message": {"tool_call_id": {"type": "string"}},
    "ToolCall": {"id": {"type": "string"}},
    "ollama___types__Message__ToolCall__Function": {"index": {"type": "integer"}},
    "ChatRequest": {"truncate": {"type": "boolean"}, "shift": {"type": "boolean"}},
}
"""What Ollama's server knows and its SDK does not yet, by type."""


def anthropic_problems(body: dict[str, Any]) -> list[str]:
    """Return what the Anthropic SDK's types say against a body of ``POST /v1/messages``."""
    return _by_mode(MessageCreateParamsStreaming, MessageCreateParamsNonStreaming, body)


def anthropic_count_problems(body: dict[str, Any]) -> list[str]:
    """Return the same of ``POST /v1/messages/count_tokens``."""
    return _schema_of(MessageCountTokensParams).problems(body)


def chat_problems(body: dict[str, Any]) -> list[str]:
    """Return what the OpenAI SDK's types say against a body of ``POST /v1/chat/completions``."""
    return _by_mode(CompletionCreateParamsStreaming, CompletionCreateParamsNonStreaming, body)


def responses_problems(body: dict[str, Any]) -> list[str]:
    """Return what the OpenAI SDK's types say against a body of ``POST /v1/responses``."""
    return _by_mode(ResponseCreateParamsStreaming, ResponseCreateParamsNonStreaming, body)


def responses_count_problems(body: dict[str, Any]) -> list[str]:
    """Return the same of ``POST /v1/responses/input_tokens``."""
    return _schema_of(InputTokenCountParams).problems(body)


def ollama_problems(body: dict[str, Any]) -> list[str]:
    """Return what the Ollama SDK's types say against a body of ``POST /api/chat``."""
    return _ollama_schema().problems(body)


def embedding_problems(body: dict[str, Any]) -> list[str]:
    """Return what the OpenAI SDK's types say against a body of ``POST /v1/embeddings``."""
    return _schema_of(EmbeddingCreateParams).problems(body)


def ollama_embedding_problems(body: dict[str, Any]) -> list[str]:
    """Return what the Ollama SDK's types say against a body of ``POST /api/embed``."""
    return _schema_of(EmbedRequest).problems(body)


class StrictSchema:
    """A schema that refuses unknown fields at every level."""

    def __init__(self, schema: dict[str, Any]) -> None:
        """Close the schema. Its bodies are judged in Rust, a hundred times as fast."""
        close(schema)
        self._quick = jsonschema_rs.Draft202012Validator(schema)
        self._explaining = Draft202012Validator(schema)

    def problems(self, body: dict[str, Any]) -> list[str]:
        """Return the problems, the deepest place and the shortest words for each."""
        if self._quick.is_valid(body):
            return []
        errors = [deepest(error) for error in self._explaining.iter_errors(body)]
        found = [f"{error.json_path}: {error.message[:200]}" for error in errors]
        return found or [str(error) for error in self._quick.iter_errors(body)]


def deepest(error: ValidationError) -> ValidationError:
    """Return what is wrong inside, where a value fits none of several schemas."""
    while error.context:
        error = min(error.context, key=lambda inner: (-len(inner.path), inner.message))
    return error


def _by_mode(streaming: Any, whole: Any, body: dict[str, Any]) -> list[str]:
    return _schema_of(streaming if body.get("stream") is True else whole).problems(body)


@cache
def _schema_of(kind: Any) -> StrictSchema:
    """Return the schema of a type of an SDK."""
    return StrictSchema(TypeAdapter(kind).json_schema())


@cache
def _ollama_schema() -> StrictSchema:
    """Return the schema of Ollama's chats; images are text on the wire."""
    schema = ChatRequest.model_json_schema()
    fields = schema["properties"]
    fields["messages"] = {"type": "array", "items": {"$ref": "#/$defs/Message"}}  # not "any object"
    fields["options"] = {"$ref": "#/$defs/Options"}
    for name, more in NEWER_THAN_THE_SDK.items():
        (schema if name == schema["title"] else schema["$defs"][name])["properties"] |= more
    schema["$defs"]["Image"] = {"type": "string"}
    return StrictSchema(schema)


def close(node: Any) -> None:
    """Forbid other properties in every object that lists some."""
    if isinstance(node, list):
        for item in cast("list[Any]", node):
            close(item)
    if not isinstance(node, dict):
        return
    found = cast("dict[str, Any]", node)
    title = found.get("title")  # among properties one may be called so
    if isinstance(title, str) and title in FREE:
        return
    if "properties" in found:
        found["additionalProperties"] = False
    for value in found.values():
        close(value)
