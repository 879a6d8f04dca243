"""Ollama's format: malformed requests are refused, answers come whole and as lines."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from tests.simulator import (
    Delivery,
    Failure,
    Reasoning,
    Simulator,
    ToolUse,
    Usage,
    reply,
)

Json = dict[str, Any]

USER: Json = {"role": "user", "content": "Hi"}
TOOL: Json = {
    "type": "function",
    "function": {"name": "run", "description": "d", "parameters": {"type": "object"}},
}


def said(*call_ids: str) -> Json:
    function: Json = {"name": "run", "arguments": {}}
    calls = [{"id": name, "function": function} for name in call_ids]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def result(call_id: str) -> Json:
    return {"role": "tool", "content": "ok", "tool_name": "run", "tool_call_id": call_id}


def talk(*messages: Json) -> Json:
    return {"messages": list(messages)}


@dataclass(frozen=True)
class Case:
    name: str
    message: str
    body: Json = field(default_factory=dict[str, Any])
    status: int = 400
    raw: bytes | None = None


GO = "json: cannot unmarshal "
CASES = [
    Case("not JSON", "invalid character in JSON body", raw=b"{"),
    Case("no model", "model is required", {"model": ...}),
    Case("not pulled", "model 'mistral' not found", {"model": "mistral"}, 404),
    Case("unknown field", 'json: unknown field "tool_choice"', {"tool_choice": "auto"}),
    Case("unknown option", 'json: unknown field "options.max_tokens"',
         {"options": {"max_tokens": 1}}),
    Case("unknown field in a message", 'json: unknown field "messages.name"',
         talk({**USER, "name": "x"})),
    Case("unknown role", f"{GO}str into Go struct field messages.role: Input should be 'system', "
         "'user', 'assistant' or 'tool'", talk({"role": "developer", "content": "Hi"})),
    Case("content in parts", f"{GO}list into Go struct field messages.content: Input should be a "
         "valid string", talk({"role": "user", "content": []})),
    Case("arguments as text", f"{GO}str into Go struct field messages.tool_calls.function."
         "arguments: Input should be an object", talk(USER, {
             "role": "assistant", "tool_calls": [{"function": {"name": "x", "arguments": "{}"}}]})),
    Case("call without a name", 'json: missing field "messages.tool_calls.function.name"',
         talk(USER, {"role": "assistant", "tool_calls": [{"function": {"arguments": {}}}]})),
    Case("unknown thinking", 'invalid think value: "huge" (must be true, false, "high", "medium", '
         '"low" or "max")', {"model": "gpt-oss:20b", "think": "huge"}),
    Case("thinking without it", '"sim-llama:latest" does not support thinking', {"think": True}),
    Case("thinking at a level that is not there",
         'think value "max" is not supported for "gpt-oss:20b"',
         {"model": "gpt-oss:20b", "think": "max"}),
    Case("tools without them", '"sim-plain:latest" does not support tools',
         {"model": "sim-plain", "tools": [TOOL]}),
    Case("images without eyes", '"sim-llama:latest" does not support vision',
         talk({**USER, "images": ["AAAA"]})),
    Case("image that is no base64", "illegal base64 data at input byte 0",
         {"model": "sim-llava", **talk({**USER, "images": ["A"]})}),
    Case("image in a result", "images are not supported in tool messages",
         {"model": "sim-llava", **talk(USER, said("a"), {**result("a"), "images": ["AAAA"]})}),
    Case("unknown format", 'invalid format: "xml"; expected "json" or a valid JSON Schema object',
         {"format": "xml"}),
    Case("result without call", "messages[1]: tool message does not answer a tool call",
         talk(USER, result("a"))),
    Case("result of another call", "messages[2]: tool message does not answer a tool call",
         talk(USER, said("a"), result("b"))),
    Case("result missing", "messages[3]: tool calls before it have no tool message",
         talk(USER, said("a", "b"), result("a"), USER)),
    Case("call at the end", "the last tool calls have no tool message", talk(USER, said("a"))),
    Case("calls of the user", "messages[0]: tool calls are the assistant's",
         talk({**said("a"), "role": "user"})),
    Case("parameters are no object", "parameters of run must have type object",
         {"tools": [{"type": "function", "function": {"name": "run", "parameters": {}}}]}),
    Case("prompt too long", "the input length exceeds the context length (1030 > 1000)",
         {**talk({"role": "user", "content": "x" * 4000}), "truncate": False,
          "options": {"num_ctx": 1000}}),
]  # fmt: skip


@pytest.mark.malformed_requests
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_request_is_refused(
    case: Case, http: httpx.AsyncClient, simulator: Simulator
) -> None:
    body: Json = {"model": "sim-llama", "messages": [USER], **case.body}
    sent = case.raw or json.dumps({k: v for k, v in body.items() if v is not ...}).encode()
    response = await http.post("/api/chat", content=sent)
    assert (response.status_code, response.json()) == (case.status, {"error": case.message})
    assert simulator.requests[0].refusal == case.message


EVERYTHING = reply(
    Reasoning(text="Look first."),
    "I look.",
    ToolUse(name="run", arguments={"n": 1}, id="a"),
    ToolUse(name="run", id="b"),
    usage=Usage(input=100, output=20),
)


async def test_lines_and_whole_answer_are_the_same(
    http: httpx.AsyncClient, simulator: Simulator
) -> None:
    simulator.script(EVERYTHING, EVERYTHING)
    body = {"model": "sim-qwen", "messages": [USER], "tools": [TOOL]}
    whole = (await http.post("/api/chat", json={**body, "stream": False})).json()
    answer = await http.post("/api/chat", json=body)
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert [line["done"] for line in lines] == [False] * (len(lines) - 1) + [True]
    messages = [line["message"] for line in lines]
    assert "".join(message["content"] for message in messages) == whole["message"]["content"]
    thinking = "".join(message.get("thinking", "") for message in messages)
    assert thinking == whole["message"]["thinking"] == "Look first."
    calls = [call for message in messages for call in message.get("tool_calls", [])]
    assert calls == whole["message"]["tool_calls"]
    assert [call["function"]["index"] for call in calls] == [0, 1]
    ending = ("done_reason", "prompt_eval_count", "eval_count")
    assert [lines[-1][name] for name in ending] == [whole[name] for name in ending]
    assert [whole[name] for name in ending] == ["stop", 100, 20]


async def test_tool_loop_is_accepted(http: httpx.AsyncClient, simulator: Simulator) -> None:
    simulator.script("Done")
    body = {
        "model": "sim-qwen:latest",
        "stream": False,
        "think": False,
        "options": {"num_ctx": 8_192, "num_predict": 100, "temperature": 0.1, "stop": ["x"]},
        "keep_alive": "5m",
        **talk({"role": "system", "content": "x"}, USER, said("a", "b"), result("b"), result("a")),
    }
    response = await http.post("/api/chat", json=body)
    assert response.json()["message"] == {"role": "assistant", "content": "Done"}
    seen = simulator.requests[0].seen
    assert seen is not None
    assert (seen.format, seen.user_text, seen.tool_results) == ("ollama", "Hi", ("ok", "ok"))


async def test_error_inside_an_answer_is_a_line(
    http: httpx.AsyncClient, simulator: Simulator
) -> None:
    simulator.script(
        reply("One two", failure=Failure(status=500, after=1), delivery=Delivery(line_end="\r\n"))
    )
    answer = await http.post("/api/chat", json={"model": "sim-llama", "messages": [USER]})
    lines = [json.loads(line) for line in answer.content.split(b"\r\n") if line]
    assert lines[0]["message"]["content"] == "One "
    assert lines[1] == {"error": "llama runner process has terminated: exit status 2"}


async def test_models_are_listed_and_shown(http: httpx.AsyncClient) -> None:
    names = [model["name"] for model in (await http.get("/api/tags")).json()["models"]]
    assert "sim-qwen:latest" in names
    shown = (await http.post("/api/show", json={"model": "sim-qwen"})).json()
    assert shown["capabilities"] == ["completion", "thinking", "tools"]
    assert shown["model_info"]["qwen3.context_length"] == 262_144
    assert (await http.get("/api/version")).json()["version"]
    missing = await http.post("/api/show", json={"model": "x"})
    assert (missing.status_code, missing.json()) == (404, {"error": "model 'x' not found"})
    assert (await http.get("/api/nothing")).status_code == 404
