"""Malformed Messages requests, each refused with the documented status and words."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from tests.simulator import Simulator

pytestmark = pytest.mark.malformed_requests

Json = dict[str, Any]

USER: Json = {"role": "user", "content": "Hi"}
TOOL: Json = {"name": "run", "input_schema": {"type": "object", "properties": {}}}
BREAKPOINT: Json = {"cache_control": {"type": "ephemeral"}}
HOUR: Json = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}


def text(words: str, **more: Any) -> Json:
    return {"type": "text", "text": words, **more}


def use(call: str, **more: Any) -> Json:
    return {"type": "tool_use", "id": call, "name": "run", "input": {}, **more}


def result(call: str, **more: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": call, "content": "ok", **more}


def user(*blocks: Json) -> Json:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Json) -> Json:
    return {"role": "assistant", "content": list(blocks)}


@dataclass(frozen=True)
class Case:
    name: str
    message: str
    body: Json = field(default_factory=dict[str, Any])
    status: int = 400
    type: str = "invalid_request_error"
    headers: Json = field(default_factory=dict[str, Any])
    raw: bytes | None = None


def conversation(*messages: Json, **more: Any) -> Json:
    return {"messages": list(messages), "tools": [TOOL], **more}


THINKING: Json = {"type": "thinking", "thinking": "Hm", "signature": "made up"}
MISSING_RESULT = (
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. "
    "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
)
FOREIGN_RESULT = (
    "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a. Each "
    "`tool_result` block must have a corresponding `tool_use` block in the previous message."
)
ADAPTIVE_ADVICE = (
    'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
)

CASES = [
    # headers
    Case("wrong key", "invalid x-api-key", status=401, type="authentication_error",
         headers={"x-api-key": "wrong"}),
    Case("wrong bearer", "Invalid bearer token", status=401, type="authentication_error",
         headers={"x-api-key": "", "authorization": "Bearer wrong"}),
    Case("no key", "x-api-key header is required", status=401, type="authentication_error",
         headers={"x-api-key": ""}),
    Case("bad version", 'anthropic-version: "2020-01-01" is not a valid version',
         headers={"anthropic-version": "2020-01-01"}),
    Case("unknown beta", "Unexpected value(s) `nope` for the `anthropic-beta` header.",
         headers={"anthropic-beta": "nope"}),
    # JSON and schema
    Case("not JSON", "The request body is not valid JSON: EOF while parsing an object at line 1 "
         "column 1", raw=b"{"),
    Case("no max_tokens", "max_tokens: Field required", {"max_tokens": ...}),
    Case("no model", "model: Field required", {"model": ...}),
    Case("no messages", "messages: Field required", {"messages": ...}),
    Case("max_tokens as text", "max_tokens: Input should be a valid integer", {"max_tokens": "9"}),
    Case("unknown field", "foo: Extra inputs are not permitted", {"foo": 1}),
    Case("unknown field in a message", "messages.0.id: Extra inputs are not permitted",
         {"messages": [{**USER, "id": "m1"}]}),
    Case("unknown field in a block", "messages.0.content.0.text.id: Extra inputs are not permitted",
         {"messages": [user(text("Hi", id=1))]}),
    Case("unknown field in a tool", "tools.0.custom.parameters: Extra inputs are not permitted",
         {"tools": [{**TOOL, "parameters": {}}]}),
    Case("unknown field in thinking", "thinking.adaptive.budget_tokens: Extra inputs are not "
         "permitted", {"thinking": {"type": "adaptive", "budget_tokens": 2000}}),
    Case("unknown field in cache_control",
         "messages.0.content.0.text.cache_control.scope: Extra inputs are not permitted",
         {"messages": [user(text("Hi", cache_control={"type": "ephemeral", "scope": "x"}))]}),
    Case("unknown field in system", "system.0.foo: Extra inputs are not permitted",
         {"system": [text("Be kind", foo=1)]}),
    Case("breakpoint on thinking",
         "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted",
         {"messages": [USER, assistant({**THINKING, **BREAKPOINT}), USER]}),
    Case("unknown role", "messages.0.role: Input should be 'user', 'assistant' or 'system'",
         {"messages": [{"role": "tool", "content": "x"}]}),
    Case("unknown block type",
         "messages.0.content.0: Input tag 'image_url' found using 'type' does not match any of the "
         "expected tags: 'text', 'image', 'document', 'thinking', 'redacted_thinking', 'tool_use', "
         "'tool_result'",
         {"messages": [user({"type": "image_url", "image_url": {"url": "x"}})]}),
    Case("content as number", "messages.0.content: Input should be a valid list",
         {"messages": [{"role": "user", "content": 1}]}),
    Case("bad tool name", "tools.0.custom.name: String should match pattern "
         "'^[a-zA-Z0-9_-]{1,128}$'", {"tools": [{**TOOL, "name": "run cell"}]}),
    Case("schema is no object", "tools.0.custom.input_schema.type: Input should be 'object'",
         {"tools": [{"name": "run", "input_schema": {"type": "string"}}]}),
    Case("small budget", "thinking.enabled.budget_tokens: Input should be greater than or equal to "
         "1024",
         {"model": "claude-haiku-4-5", "thinking": {"type": "enabled", "budget_tokens": 9}}),
    # model
    Case("unknown model", "model: claude-1", {"model": "claude-1"}, 404, "not_found_error"),
    # conversation
    Case("empty messages", "messages: at least one message is required", {"messages": []}),
    Case("assistant first", 'messages: first message must use the "user" role',
         {"messages": [assistant(text("Hi")), USER]}),
    Case("empty content", "messages.0: all messages must have non-empty content except for the "
         "optional final assistant message", {"messages": [user(), USER]}),
    Case("empty text", "messages: text content blocks must be non-empty",
         {"messages": [user(text(""))]}),
    Case("blank text", "messages: text content blocks must contain non-whitespace text",
         {"messages": [user(text(" \n"))]}),
    Case("empty system text", "system: text content blocks must be non-empty",
         {"system": [text("")]}),
    Case("breakpoint on nothing",
         "messages.0.content.0.text: cache_control cannot be set for empty text blocks",
         {"messages": [user(text("", **BREAKPOINT))]}),
    Case("call by the user", "messages.0: `tool_use` blocks can only be in `assistant` messages",
         conversation(user(use("a")))),
    Case("result by the assistant",
         "messages.1: `tool_result` blocks can only be in `user` messages",
         conversation(USER, assistant(result("a")))),
    Case("document by the assistant",
         "messages.1: `document` blocks can only be in `user` messages",
         conversation(USER, assistant({"type": "document", "source": {
             "type": "text", "media_type": "text/plain", "data": "x"}}))),
    Case("bad image data", "messages.0.content.0.image.source.base64: invalid base64 data",
         {"messages": [user({"type": "image", "source": {
             "type": "base64", "media_type": "image/png", "data": "***"}})]}),
    Case("call without result", MISSING_RESULT, conversation(USER, assistant(use("a")), USER)),
    Case("result one message late", MISSING_RESULT,
         conversation(USER, assistant(use("a")), USER, assistant(text("Hm")), user(result("a")))),
    Case("one of two results missing", MISSING_RESULT.replace("after: a", "after: b"),
         conversation(USER, assistant(use("a"), use("b")), user(result("a")))),
    Case("result without call", FOREIGN_RESULT, conversation(user(result("a")))),
    Case("two results for a call", "messages.2.content.1: each tool_use must have a single result. "
         "Found multiple `tool_result` blocks with id: a",
         conversation(USER, assistant(use("a")), user(result("a"), result("a")))),
    Case("same id twice", "messages.1.content.1: `tool_use` ids must be unique",
         conversation(USER, assistant(use("a"), use("a")), user(result("a")))),
    Case("text before result", "messages.2: Did not find 1 `tool_result` block(s) at the beginning "
         "of this message. Messages following `tool_use` blocks must begin with a matching number "
         "of `tool_result` blocks.",
         conversation(USER, assistant(use("a")), user(text("Done"), result("a")))),
    # tools
    Case("same tool twice", "tools: Tool names must be unique.", {"tools": [TOOL, TOOL]}),
    Case("all tools deferred", "tools: At least one tool must have defer_loading=false.",
         {"tools": [{**TOOL, "defer_loading": True}]}),
    Case("open strict schema", "tools.0.custom: For 'object' type, 'additionalProperties' must be "
         "explicitly set to false", {"tools": [{**TOOL, "strict": True}]}),
    Case("calls but no tools",
         "Requests which include `tool_use` or `tool_result` blocks must define tools",
         {"messages": [USER, assistant(use("a")), user(result("a"))]}),
    Case("choice without tools", "tool_choice may only be specified while providing tools",
         {"tool_choice": {"type": "auto"}}),
    Case("choice of an unknown tool", "Tool 'walk' not found in provided tools",
         {"model": "claude-opus-5", "tools": [TOOL],
          "tool_choice": {"type": "tool", "name": "walk"}}),
    Case("open output schema", "output_config.format.schema: For 'object' type, "
         "'additionalProperties' must be explicitly set to false",
         {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}}),
    # cache
    Case("five breakpoints",
         "A maximum of 4 blocks with cache_control may be provided. Found 5.",
         {"messages": [user(*(text(f"{n}", **BREAKPOINT) for n in range(5)))]}),
    Case("four and the automatic one",
         "A maximum of 4 blocks with cache_control may be provided. Found 5.",
         {"messages": [user(*(text(f"{n}", **BREAKPOINT) for n in range(4)))], **BREAKPOINT}),
    Case("long-lived breakpoint after a short one",
         "messages.0.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come "
         "after a ttl='5m' cache_control block. Note that blocks are processed in the following "
         "order: `tools`, `system`, `messages`.",
         {"system": [text("Be kind", **BREAKPOINT)], "messages": [user(text("Hi", **HOUR))]}),
    # capabilities
    Case("prefill", "This model does not support assistant message prefill. The conversation must "
         "end with a user message.", {"messages": [USER, assistant(text("The"))]}),
    Case("prefill with a space", "messages: final assistant content cannot end with trailing "
         "whitespace", {"model": "claude-haiku-4-5", "messages": [USER, assistant(text("The "))]}),
    Case("fixed budget on a new model",
         f'"thinking.type.enabled" is not supported for this model. {ADAPTIVE_ADVICE}',
         {"thinking": {"type": "enabled", "budget_tokens": 2000}}),
    Case("thinking off where it is always on",
         f'"thinking.type.disabled" is not supported for this model. {ADAPTIVE_ADVICE}',
         {"thinking": {"type": "disabled"}}),
    Case("adaptive on an old model",
         '"thinking.type.adaptive" is not supported for this model. Use '
         '"thinking.type.enabled" with "thinking.budget_tokens".',
         {"model": "claude-haiku-4-5", "thinking": {"type": "adaptive"}}),
    Case("effort on an old model", "This model does not support the effort parameter.",
         {"model": "claude-haiku-4-5", "output_config": {"effort": "low"}}),
    Case("unknown effort for the model", "output_config.effort: 'xhigh' is not supported for this "
         "model. Supported values: low, medium, high, max.",
         {"model": "claude-opus-4-6", "output_config": {"effort": "xhigh"}}),
    Case("effort without thinking", "output_config.effort: 'max' requires thinking. Use 'high' or "
         'lower, or "thinking.type.adaptive".',
         {"model": "claude-haiku-5-5", "thinking": {"type": "disabled"},
          "output_config": {"effort": "max"}}),
    Case("budget above the output", "`max_tokens` must be greater than `thinking.budget_tokens`.",
         {"model": "claude-haiku-4-5", "thinking": {"type": "enabled", "budget_tokens": 2000}}),
    Case("output above the limit", "max_tokens: 128001 > 128000, which is the maximum allowed "
         "number of output tokens for claude-opus-5-5", {"max_tokens": 128_001}),
    Case("forced tool", 'tool_choice.type "any" is not supported for this model. Use "auto".',
         {"tools": [TOOL], "tool_choice": {"type": "any"}}),
    Case("forced tool while thinking",
         "Thinking may not be enabled when tool_choice forces tool use.",
         {"model": "claude-opus-4-8", "thinking": {"type": "adaptive"}, "tools": [TOOL],
          "tool_choice": {"type": "tool", "name": "run"}}),
    Case("temperature", "`temperature` is deprecated for this model.", {"temperature": 1.0}),
    Case("top_p", "`top_p` is deprecated for this model.", {"top_p": 1.0}),
    Case("system message for an old model", "messages.1.role: 'system' messages are not supported "
         "for this model. Use the top-level `system` parameter.",
         {"model": "claude-haiku-4-5",
          "messages": [USER, {"role": "system", "content": "Hm"}, USER]}),
    Case("prompt too long", "prompt is too long: 1031 tokens > 400 maximum",
         {"model": "claude-sonnet-4-6", "messages": [user(text("x" * 4000))]}),
    # thinking
    Case("made-up signature", "messages.1.content.0: Invalid `signature` in `thinking` block",
         {"messages": [USER, assistant(THINKING, text("Hm")), USER]}),
    Case("made-up redacted thinking",
         "messages.1.content.0: Invalid `data` in `redacted_thinking` block",
         {"messages": [
             USER, assistant({"type": "redacted_thinking", "data": "x"}, text("Hm")), USER]}),
    Case("call without its thinking",
         "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
         "`tool_use`. When `thinking` is enabled, a final `assistant` message must start with a "
         "thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We "
         "recommend you include thinking blocks from previous turns. To avoid this requirement, "
         "disable `thinking`.",
         conversation(USER, assistant(use("a")), user(result("a")), model="claude-haiku-4-5",
                      max_tokens=4000, thinking={"type": "enabled", "budget_tokens": 2000})),
    Case("binding control without its beta",
         "thinking.adaptive.block_binding: Extra inputs are not permitted",
         {"thinking": {"type": "adaptive", "block_binding": {
             "prefix_mismatch_behavior": "drop_block"}}}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_messages_request_is_refused(
    case: Case, http: httpx.AsyncClient, simulator: Simulator
) -> None:
    body: Json = {"model": "claude-opus-5-5", "max_tokens": 1000, "messages": [USER], **case.body}
    sent = case.raw or json.dumps({k: v for k, v in body.items() if v is not ...}).encode()
    headers = {"x-api-key": simulator.key, "anthropic-version": "2026-10-21", **case.headers}
    response = await http.post("/v1/messages", content=sent, headers=headers)
    assert (response.status_code, response.json()) == (
        case.status,
        {
            "type": "error",
            "error": {"type": case.type, "message": case.message},
            "request_id": response.headers["request-id"],
        },
    )
    assert simulator.requests[0].refusal == case.message


async def test_version_header_is_required(http: httpx.AsyncClient, simulator: Simulator) -> None:
    response = await http.post("/v1/messages", json={}, headers={"x-api-key": simulator.key})
    assert response.status_code == 400
    assert response.json()["error"]["message"] == "anthropic-version: header is required"


@pytest.mark.parametrize(("name", "value"), [("max_tokens", 9), ("stream", True), ("metadata", {})])
async def test_token_count_refuses_what_only_messages_take(
    name: str, value: object, http: httpx.AsyncClient, simulator: Simulator
) -> None:
    response = await http.post(
        "/v1/messages/count_tokens",
        json={"model": "claude-opus-5-5", "messages": [USER], name: value},
        headers={"x-api-key": simulator.key, "anthropic-version": "2026-10-21"},
    )
    assert response.status_code == 400
    assert response.json()["error"]["message"] == f"{name}: Extra inputs are not permitted"


async def test_unknown_route_is_not_found(http: httpx.AsyncClient, simulator: Simulator) -> None:
    response = await http.post(
        "/v1/messages/batches", json={}, headers={"x-api-key": simulator.key}
    )
    assert response.status_code == 404
    assert response.json()["error"] == {"type": "not_found_error", "message": "Not found"}
