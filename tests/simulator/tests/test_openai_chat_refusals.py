"""Malformed Chat Completions requests, each refused with the documented status and words."""

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
FUNCTION: Json = {"name": "run", "parameters": {"type": "object", "properties": {}}}
TOOL: Json = {"type": "function", "function": FUNCTION}


def call(call_id: str, arguments: object = "{}") -> Json:
    return {"id": call_id, "type": "function", "function": {"name": "run", "arguments": arguments}}


def assistant(*calls: Json, **more: Any) -> Json:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


def result(call_id: str) -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": "ok"}


@dataclass(frozen=True)
class Case:
    name: str
    message: str
    param: str | None = None
    code: str | int | None = None
    body: Json = field(default_factory=dict[str, Any])
    status: int = 400
    type: str = "invalid_request_error"
    key: str | None = "right"
    raw: bytes | None = None


def conversation(*messages: Json, **more: Any) -> Json:
    return {"messages": list(messages), "tools": [TOOL], **more}


def strict(**parameters: Any) -> Json:
    function = {"name": "run", "strict": True, "parameters": {"type": "object", **parameters}}
    return {"tools": [{"type": "function", "function": function}]}


MISSING_RESULT = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. The following tool_call_ids did not have response messages: "
)
ORPHAN = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
    "'tool_calls'."
)
NO_TOOLS_HERE = (
    "Function tools with reasoning_effort are not supported for {} in /v1/chat/completions. To use "
    "function tools, use /v1/responses or set reasoning_effort to 'none'."
)
FIRST_SYSTEM = "System message must be at the beginning."

CASES = [
    # key, JSON, schema
    Case("no key", "You didn't provide an API key. You need to provide your API key in an "
         "Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
         status=401, key=None),
    Case("wrong key", "Incorrect API key provided: wro********-key. You can find your API key at "
         "https://platform.openai.com/account/api-keys.", code="invalid_api_key", status=401,
         key="wrong-key"),
    Case("not JSON", "We could not parse the JSON body of your request. (HINT: This likely means "
         "you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but "
         "what was sent was not valid JSON.) Invalid JSON: EOF while parsing an object at line 1 "
         "column 1", raw=b"{"),
    Case("no messages", "Missing required parameter: 'messages'.", "messages",
         "missing_required_parameter", {"messages": ...}),
    Case("no model", "Missing required parameter: 'model'.", "model",
         "missing_required_parameter", {"model": ...}),
    Case("empty messages", "Invalid 'messages': empty array. Expected an array with minimum length "
         "1, but got an empty array instead.", "messages", "empty_array", {"messages": []}),
    Case("no role", "Missing required parameter: 'messages[0].role'.", "messages[0].role",
         "missing_required_parameter", {"messages": [{"content": "Hi"}]}),
    Case("unknown role", "Invalid value: 'human'. Supported values are: 'system', 'developer', "
         "'user', 'assistant', 'tool'.", "messages[0].role", "invalid_value",
         {"messages": [{"role": "human", "content": "Hi"}]}),
    Case("content as number", "Invalid type for 'messages[0].content': expected an array of "
         "objects, but got an integer instead.", "messages[0].content", "invalid_type",
         {"messages": [{"role": "user", "content": 1}]}),
    Case("no content parts", "Invalid 'messages[0].content': empty array. Expected an array with "
         "minimum length 1, but got an empty array instead.", "messages[0].content", "empty_array",
         {"messages": [{"role": "user", "content": []}]}),
    Case("unknown field", "Unknown parameter: 'system'.", "system", "unknown_parameter",
         {"system": "Be kind"}),
    Case("unknown field in a message", "Unknown parameter: 'messages[0].id'.", "messages[0].id",
         "unknown_parameter", {"messages": [{**USER, "id": 1}]}),
    Case("unknown field in a part", "Unknown parameter: 'messages[0].content[0].cache_control'.",
         "messages[0].content[0].cache_control", "unknown_parameter",
         {"messages": [{"role": "user", "content": [
             {"type": "text", "text": "Hi", "cache_control": {}}]}]}),
    Case("unknown field in a call", "Unknown parameter: 'messages[1].tool_calls[0].index'.",
         "messages[1].tool_calls[0].index", "unknown_parameter",
         conversation(USER, assistant({**call("a"), "index": 0}), result("a"))),
    Case("unknown field in a tool", "Unknown parameter: 'tools[0].function.input_schema'.",
         "tools[0].function.input_schema", "unknown_parameter",
         {"tools": [{"type": "function", "function": {"name": "run", "input_schema": {}}}]}),
    Case("flat tool", "Missing required parameter: 'tools[0].function'.", "tools[0].function",
         "missing_required_parameter", {"tools": [{"type": "function", "name": "run"}]}),
    Case("unknown field in response_format",
         "Unknown parameter: 'response_format.json_schema.foo'.",
         "response_format.json_schema.foo", "unknown_parameter",
         {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "foo": 1}}}),
    Case("unknown field in stream_options", "Unknown parameter: 'stream_options.foo'.",
         "stream_options.foo", "unknown_parameter",
         {"stream": True, "stream_options": {"foo": True}}),
    Case("arguments as object", "Invalid type for 'messages[1].tool_calls[0].function.arguments': "
         "expected a string, but got an object instead.",
         "messages[1].tool_calls[0].function.arguments", "invalid_type",
         conversation(USER, assistant(call("a", {})), result("a"))),
    Case("empty tools", "Invalid 'tools': empty array. Expected an array with minimum length 1, "
         "but got an empty array instead.", "tools", "empty_array", {"tools": []}),
    Case("bad tool name", "Invalid 'tools[0].function.name': string does not match pattern. "
         "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", "tools[0].function.name",
         "invalid_value", {"tools": [{"type": "function", "function": {"name": "run cell"}}]}),
    Case("long tool name", "Invalid 'tools[0].function.name': string too long. Expected a string "
         "with maximum length 64, but got a string with length 65 instead.",
         "tools[0].function.name", "string_above_max_length",
         {"tools": [{"type": "function", "function": {"name": "r" * 65}}]}),
    Case("no tokens", "Invalid 'max_completion_tokens': integer below minimum value. Expected a "
         "value >= 1, but got 0 instead.", "max_completion_tokens", "integer_below_min_value",
         {"max_completion_tokens": 0}),
    Case("unknown model", "The model `gpt-0` does not exist or you do not have access to it.",
         code="model_not_found", body={"model": "gpt-0"}, status=404),
    # conversation
    Case("call without result", MISSING_RESULT + "a", "messages.[2].role",
         body=conversation(USER, assistant(call("a")), USER)),
    Case("call at the end", MISSING_RESULT + "a", "messages.[2].role",
         body=conversation(USER, assistant(call("a")))),
    Case("one of two results missing", MISSING_RESULT + "b", "messages.[3].role",
         body=conversation(USER, assistant(call("a"), call("b")), result("a"), USER)),
    Case("result without call", ORPHAN, "messages.[1].role", body=conversation(USER, result("a"))),
    Case("result for another call", ORPHAN, "messages.[2].role",
         body=conversation(USER, assistant(call("a")), result("z"))),
    Case("result after the user spoke", MISSING_RESULT + "a", "messages.[2].role",
         body=conversation(USER, assistant(call("a")), USER, result("a"))),
    Case("same id twice", "Duplicate value for 'tool_call_id' of 'a' in message[1]",
         "messages.[1].tool_calls",
         body=conversation(USER, assistant(call("a"), call("a")), result("a"))),
    Case("assistant with neither", "Invalid value for 'content': expected a string, got null.",
         "messages.[1].content", body={"messages": [USER, {"role": "assistant"}, USER]}),
    Case("reasoning echoed to OpenAI", "Unknown parameter: 'messages[1].reasoning_content'.",
         "messages[1].reasoning_content", "unknown_parameter",
         {"messages": [
             USER, {"role": "assistant", "content": "x", "reasoning_content": "y"}, USER]}),
    # options
    Case("stream options without stream",
         "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
         "stream_options", body={"stream_options": {"include_usage": True}}),
    Case("choice without tools", "Invalid value for 'tool_choice': 'tool_choice' is only allowed "
         "when 'tools' are specified.", "tool_choice", body={"tool_choice": "auto"}),
    Case("parallel calls without tools", "Invalid value for 'parallel_tool_calls': "
         "'parallel_tool_calls' is only allowed when 'tools' are specified.", "parallel_tool_calls",
         body={"parallel_tool_calls": False}),
    Case("unknown choice", "Invalid value: 'any'. Supported values are: 'none', 'auto' or "
         "'required'.", "tool_choice", "invalid_value", {"tools": [TOOL], "tool_choice": "any"}),
    Case("choice of an unknown tool", "Tool choice 'function' not found in 'tools' parameter: walk",
         "tool_choice",
         body={"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "walk"}}}),
    Case("parameters are no object", "Invalid schema for function 'run': schema must be a JSON "
         "Schema of 'type: \"object\"', got 'type: 'string''.", "tools[0].function.parameters",
         "invalid_function_parameters",
         {"tools": [{"type": "function", "function": {
             "name": "run", "parameters": {"type": "string"}}}]}),
    Case("open strict schema", "Invalid schema for function 'run': In context=(), "
         "'additionalProperties' is required to be supplied and to be false.",
         "tools[0].function.parameters", "invalid_function_parameters", strict()),
    Case("optional property in a strict schema", "Invalid schema for function 'run': In "
         "context=(), 'required' is required to be supplied and to be an array including every key "
         "in properties. Missing 'path'.", "tools[0].function.parameters",
         "invalid_function_parameters",
         strict(properties={"path": {"type": "string"}}, additionalProperties=False)),
    # capabilities
    Case("tools with reasoning", NO_TOOLS_HERE.format("gpt-5.4"), "reasoning_effort",
         body={"model": "gpt-5.4", "tools": [TOOL], "reasoning_effort": "low"}),
    Case("tools with unsaid effort", NO_TOOLS_HERE.format("gpt-5.6-luna"), "reasoning_effort",
         body={"model": "gpt-5.6-luna", "tools": [TOOL]}),
    Case("tools for a model that always reasons", NO_TOOLS_HERE.format("gpt-6.1-sol"),
         "reasoning_effort", body={"model": "gpt-6.1-sol", "tools": [TOOL]}),
    Case("effort none where there is none", "Unsupported value: 'reasoning_effort' does not "
         "support 'none' with this model. Supported values are: 'low', 'medium', 'high', 'xhigh'.",
         "reasoning_effort", "unsupported_value",
         {"model": "gpt-6.1-sol", "reasoning_effort": "none"}),
    Case("effort max", "Unsupported value: 'reasoning_effort' does not support 'max' with this "
         "model. Supported values are: 'none', 'low', 'medium', 'high', 'xhigh'.",
         "reasoning_effort", "unsupported_value",
         {"model": "gpt-6-luna", "reasoning_effort": "max"}),
    Case("effort for a model that does not reason",
         "Unrecognized request argument supplied: reasoning_effort", "reasoning_effort",
         body={"reasoning_effort": "low"}),
    Case("max_tokens for a reasoning model", "Unsupported parameter: 'max_tokens' is not supported "
         "with this model. Use 'max_completion_tokens' instead.", "max_tokens",
         "unsupported_parameter", {"model": "gpt-6-luna", "max_tokens": 9}),
    Case("output above the limit", "max_completion_tokens is too large: 99999. This model supports "
         "at most 32768 completion tokens, whereas you provided 99999.", "max_completion_tokens",
         "invalid_value", {"max_completion_tokens": 99_999}),
    Case("temperature while reasoning", "Unsupported parameter: 'temperature' is not supported "
         "with this model.", "temperature", "unsupported_parameter",
         {"model": "gpt-6-luna", "temperature": 0.5}),
    # other servers
    Case("late system message on vLLM", FIRST_SYSTEM, code=400, type="BadRequestError",
         body={"model": "sim-local", "messages": [USER, {"role": "system", "content": "x"}]}),
    Case("two system messages on vLLM", FIRST_SYSTEM, code=400, type="BadRequestError",
         body={"model": "sim-local",
               "messages": [{"role": "system", "content": "x"}] * 2 + [USER]}),
    Case("unknown field on vLLM", "Extra inputs are not permitted: prompt_cache_key", code=400,
         type="BadRequestError", body={"model": "sim-local", "prompt_cache_key": "x"}),
    Case("reasoning left out on DeepSeek", "Missing `reasoning_content` field in the assistant "
         "message at message index 1. The `reasoning_content` of a turn with tool calls must be "
         "passed back.", body=conversation(USER, assistant(call("a")), result("a"),
                                    model="deepseek-v4-flash")),
    Case("reasoning changed for OpenRouter", "Reasoning details must be passed back unmodified.",
         "messages[1].reasoning_details", body=conversation(
             USER, {"role": "assistant", "content": "x", "reasoning_details": [
                 {"type": "reasoning.text", "text": "y", "signature": "z"}]}, USER,
             model="openrouter/auto")),
    Case("prompt too long", "This model's maximum context length is 400 tokens. However, your "
         "messages resulted in 1017 tokens. Please reduce the length of the messages.", "messages",
         "context_length_exceeded",
         {"model": "sim-small", "messages": [{"role": "user", "content": "x" * 4000}]}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_chat_request_is_refused(
    case: Case, http: httpx.AsyncClient, simulator: Simulator
) -> None:
    body: Json = {"model": "gpt-4.1", "messages": [USER], **case.body}
    sent = case.raw or json.dumps({k: v for k, v in body.items() if v is not ...}).encode()
    key = simulator.key if case.key == "right" else case.key
    headers = {"authorization": f"Bearer {key}"} if key else {}
    response = await http.post("/v1/chat/completions", content=sent, headers=headers)
    error = {
        "message": case.message,
        "type": case.type,
        "param": case.param,
        "code": case.code,
    }
    assert (response.status_code, response.json()) == (case.status, {"error": error})
    assert simulator.requests[0].refusal == case.message


async def test_mistral_refuses_unknown_fields_in_its_own_form(
    http: httpx.AsyncClient, simulator: Simulator
) -> None:
    response = await http.post(
        "/v1/chat/completions",
        json={"model": "mistral-large-latest", "messages": [USER], "reasoning_effort": "low"},
        headers={"authorization": f"Bearer {simulator.key}"},
    )
    assert response.status_code == 422
    assert response.json()["message"]["detail"] == [
        {
            "type": "extra_forbidden",
            "loc": ["body", "reasoning_effort"],
            "msg": "Extra inputs are not permitted",
        }
    ]


async def test_local_server_needs_no_key(http: httpx.AsyncClient) -> None:
    body = {"model": "sim-local", "messages": [USER]}
    assert (await http.post("/v1/chat/completions", json=body)).status_code == 200
