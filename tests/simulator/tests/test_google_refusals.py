"""Malformed ``generateContent`` requests, each refused with the documented status and words."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from tests.sdk_validation.google_types import google_problems
from tests.simulator import Simulator

pytestmark = pytest.mark.malformed_requests

Json = dict[str, Any]

DUMMY = base64.b64encode(b"skip_thought_signature_validator").decode()


def user(*parts: Json) -> Json:
    return {"role": "user", "parts": list(parts)}


def model(*parts: Json) -> Json:
    return {"role": "model", "parts": list(parts)}


def call(call_id: str = "a", **more: Any) -> Json:
    return {"functionCall": {"id": call_id, "name": "run", "args": {}}, **more}


def signed(call_id: str = "a") -> Json:
    return call(call_id, thoughtSignature=DUMMY)


def result(call_id: str = "a", **more: Any) -> Json:
    response = {"id": call_id, "name": "run", "response": {"output": "ok"}, **more}
    return {"functionResponse": response}


def tools(**function: Any) -> Json:
    return {"tools": [{"functionDeclarations": [{"name": "run", **function}]}]}


def config(**values: Any) -> Json:
    return {"generationConfig": values}


def thinking(**values: Any) -> Json:
    return config(thinkingConfig=values)


def talk(*contents: Json) -> Json:
    return {"contents": list(contents)}


HI = user({"text": "Hi"})
DATA = {"mimeType": "image/png", "data": "AAAA"}
FIELD = "* GenerateContentRequest."
PAYLOAD = "Invalid JSON payload received. "
COUNT = (
    "Please ensure that the number of function response parts is equal to the number of function "
    "call parts of the function call turn."
)
MISSING = (
    "Function call is missing a thought_signature in functionCall parts. This is required for "
    "tools to work correctly, and missing thought_signature may lead to degraded model "
    "performance. Additional data, function call `default_api:run`, position "
)
CACHED = (
    "CachedContent can not be used with GenerateContent request setting system_instruction, tools "
    "or tool_config."
)
ONE_OF = "required oneof field 'data' "
BAD_SIGNATURE = "Invalid/Corrupted thought signature."
SCHEMA = "tools[0].function_declarations[0].parameters_json_schema"


@dataclass(frozen=True)
class Case:
    name: str
    message: str
    body: Json = field(default_factory=dict[str, Any])
    model: str = "gemini-3.8-flash"
    status: int = 400
    code: str = "INVALID_ARGUMENT"
    key: str | None = "right"
    raw: bytes | None = None
    method: str = "streamGenerateContent"


def schema(name: str, words: str, value: Any, where: str = "") -> Case:
    body = tools(parametersJsonSchema=value)
    return Case(name, f"{FIELD}{SCHEMA}{where}: {words}", body)


CASES = [
    # key, JSON, schema
    Case("no key", "Method doesn't allow unregistered callers (callers without established "
         "identity). Please use API Key or other form of API consumer identity to call this API.",
         status=403, code="PERMISSION_DENIED", key=None),
    Case("wrong key", "API key not valid. Please pass a valid API key.", key="wrong-key"),
    Case("unknown model", "models/gemini-0 is not found for API version v1beta, or is not "
         "supported for generateContent. Call ListModels to see the list of available models and "
         "their supported methods.", model="gemini-0", status=404, code="NOT_FOUND"),
    Case("unknown method", "Not Found", method="dream", status=404, code="NOT_FOUND"),
    Case("not JSON", PAYLOAD + "EOF while parsing an object at line 1 column 1.", raw=b"{"),
    Case("unknown name", PAYLOAD + 'Unknown name "messages": Cannot find field.',
         {"messages": []}),
    Case("unknown name in the options",
         PAYLOAD + "Unknown name \"x\" at 'generation_config': Cannot find field.", config(x=1)),
    Case("unknown name in a part",
         PAYLOAD + "Unknown name \"type\" at 'contents[0].parts[0]': Cannot find field.",
         talk(user({"type": "text", "text": "Hi"}))),
    Case("unknown name in a function",
         PAYLOAD + "Unknown name \"strict\" at 'tools[0].function_declarations[0]': Cannot find "
         "field.", tools(strict=True)),
    Case("unknown name in thinking", PAYLOAD + 'Unknown name "effort" at '
         "'generation_config.thinking_config': Cannot find field.", thinking(effort="LOW")),
    Case("text as number", "Invalid value at 'contents[0].parts[0].text' (TYPE_STRING), 1",
         talk(user({"text": 1}))),
    Case("unknown level", "Invalid value at 'generation_config.thinking_config.thinking_level' "
         '(TYPE_ENUM), "low"', thinking(thinkingLevel="low")),
    Case("unknown mode", "Invalid value at 'tool_config.function_calling_config.mode' (TYPE_ENUM), "
         '"any"', {**tools(), "toolConfig": {"functionCallingConfig": {"mode": "any"}}}),
    Case("no tokens", "Invalid value at 'generation_config.max_output_tokens' (TYPE_RANGE), 0",
         config(maxOutputTokens=0)),
    Case("call without name", FIELD + "contents[0].parts[0].function_call.name: required field is "
         "not set", talk(model({"functionCall": {}}))),
    # contents
    Case("no contents", FIELD + "contents: contents is not specified", {"contents": ...}),
    Case("empty contents", FIELD + "contents: contents is not specified", talk()),
    Case("role of others", "Please use a valid role: user, model.",
         talk({"role": "assistant", "parts": [{"text": "Hi"}]})),
    Case("no parts", FIELD + "contents[0].parts: contents.parts must not be empty.", talk(user())),
    Case("empty system instruction", FIELD + "system_instruction.parts: contents.parts must not be "
         "empty.", {"systemInstruction": {"parts": []}}),
    Case("part without data", FIELD + f"contents[0].parts[0].data: {ONE_OF}must have one "
         "initialized field", talk(user({"thought": True}))),
    Case("part with two data", FIELD + f"contents[0].parts[0].data: {ONE_OF}is already set",
         talk(user({"text": "Hi", "inlineData": DATA}))),
    Case("model speaks first", "Please ensure that the first content is a user turn.",
         talk(model({"text": "Hi"}))),
    Case("thought of the user", "contents[0]: function calls and thoughts can only be in model "
         "turns.", talk(user({"text": "Hm", "thought": True}))),
    Case("result of the model", "contents[1]: function responses can only be in user turns.",
         talk(HI, model(result()))),
    Case("other image", "Unsupported MIME type: image/gif",
         talk(user({"inlineData": {"mimeType": "image/gif", "data": "AAAA"}}))),
    Case("data that is no base64",
         "Invalid value at 'inline_data.data' (TYPE_BYTES), Base64 failed",
         talk(user({"inlineData": {"mimeType": "image/png", "data": "A"}}))),
    # calls and results
    Case("result without call", "Please ensure that function response turn comes immediately after "
         "a function call turn.", talk(HI, user(result()))),
    Case("result later", COUNT, talk(HI, model(signed()), HI, user(result()))),
    Case("one of two results", COUNT,
         talk(HI, model(signed("a"), call("b")), user(result("a")))),
    Case("results in two turns", COUNT,
         talk(HI, model(signed("a"), call("b")), user(result("a")), user(result("b")))),
    Case("call at the end", COUNT, talk(HI, model(signed()))),
    Case("results in another order", "Function response run (b) does not match the function call "
         "run (a) of the function call turn.",
         talk(HI, model(signed("a"), call("b")), user(result("b"), result("a")))),
    Case("reference in a result", "Function response contains a $ref that names no part of the "
         "response.", talk(HI, model(signed()), user(result(response={"a": [{"$ref": "x"}]})))),
    Case("file in a result of an older model", "Multimodal function response is not supported for "
         "this model.", talk(HI, model(call()), user(result(parts=[{"inlineData": DATA}]))),
         "gemini-2.5-pro"),
    # signatures
    Case("no signature", MISSING + "2.", talk(HI, model(call()), user(result()))),
    Case("no signature in the second step", MISSING + "4.",
         talk(HI, model(signed()), user(result()), model(call("b")), user(result("b")))),
    Case("signature of the second call alone", MISSING + "2.",
         talk(HI, model(call("a"), signed("b")), user(result("a"), result("b")))),
    Case("signature of others", BAD_SIGNATURE,
         talk(HI, model(call(thoughtSignature="QUJD")), user(result()))),
    Case("corrupt signature in an old turn", BAD_SIGNATURE,
         talk(HI, model({"text": "x", "thoughtSignature": "QUJD"}), HI)),
    # tools
    Case("function name", FIELD + "tools[0].function_declarations[0].name: [FIELD_INVALID] Invalid "
         "function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, "
         "A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length "
         "of 128.", tools(name="1st")),
    Case("function twice", "Duplicate function declaration found: run",
         {"tools": [{"functionDeclarations": [{"name": "run"}, {"name": "run"}]}]}),
    Case("parameters in both ways", "tools[0].function_declarations[0]: only one of parameters and "
         "parameters_json_schema may be set.",
         tools(parameters={"type": "OBJECT"}, parametersJsonSchema={"type": "object"})),
    schema("parameters are no object", "schema type for parameters should be OBJECT",
           {"type": "string"}),
    schema("title", "unsupported keyword in schema: title", {"type": "object", "title": "T"}),
    schema("oneOf", "unsupported keyword in schema: oneOf",
           {"type": "object", "properties": {"a": {"oneOf": []}}}, ".properties"),
    schema("const", "unsupported keyword in schema: const",
           {"type": "object", "properties": {"a": {"items": {"const": 1}}}}, ".properties.items"),
    schema("typed further properties", "additional_properties must be a boolean",
           {"type": "object", "additionalProperties": {"type": "string"}}),
    Case("choice without functions", "Function calling config is set without "
         "function_declarations.", {"toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}}),
    Case("names with mode AUTO", "allowed_function_names may only be set with mode ANY or "
         "VALIDATED.", {**tools(), "toolConfig": {"functionCallingConfig": {
             "mode": "AUTO", "allowedFunctionNames": ["run"]}}}),
    Case("choice of an unknown function", "Allowed function name is not declared: walk",
         {**tools(), "toolConfig": {"functionCallingConfig": {
             "mode": "ANY", "allowedFunctionNames": ["walk"]}}}),
    Case("schema without its type", FIELD + "generation_config.response_json_schema: only allowed "
         "with mime type application/json", config(responseJsonSchema={"type": "object"})),
    Case("two schemas", "Only one of response_schema and response_json_schema may be set.",
         config(responseSchema={}, responseJsonSchema={}, responseMimeType="application/json")),
    Case("JSON with functions on an older model", "Function calling with a response mime type: "
         "'application/json' is unsupported",
         {**tools(), **config(responseMimeType="application/json")}, "gemini-2.5-flash"),
    Case("tools beside a cache", CACHED, {**tools(), "cachedContent": "cachedContents/a"}),
    # capabilities
    Case("level and budget", "You can only set only one of thinking budget and thinking level.",
         thinking(thinkingLevel="LOW", thinkingBudget=1)),
    Case("level MINIMAL", "Thinking level MINIMAL is not supported for this model.",
         thinking(thinkingLevel="MINIMAL")),
    Case("level XHIGH", "Thinking level XHIGH is not supported for this model.",
         thinking(thinkingLevel="XHIGH"), "gemini-3.5-flash-lite"),
    Case("level for an older model", "Thinking level is not supported for this model.",
         thinking(thinkingLevel="LOW"), "gemini-2.5-flash"),
    Case("budget for Argon", "Thinking budget is not supported for this model. Use thinking_level.",
         thinking(thinkingBudget=100), "gemini-4-argon"),
    Case("budget 0 where it always thinks",
         "Budget 0 is invalid. This model only works in thinking mode.",
         thinking(thinkingBudget=0), "gemini-2.5-pro"),
    Case("budget too small", "The thinking budget 64 is invalid. Please choose a value between 128 "
         "and 32768.", thinking(thinkingBudget=64), "gemini-2.5-pro"),
    Case("too much output", "Unable to submit request because it has a maxOutputTokens value of "
         "70000 but the supported range is from 1 (inclusive) to 65537 (exclusive).",
         config(maxOutputTokens=70_000)),
    Case("much output at once", "maxOutputTokens above 32768 needs streamGenerateContent or a "
         "continuation_token.", config(maxOutputTokens=40_000), "gemini-4-argon",
         method="generateContent"),
    Case("cache on Argon", "Explicit caching is not supported for this model.",
         {"cachedContent": "cachedContents/a"}, "gemini-4-argon"),
    Case("continuation elsewhere", "continuation_token is not supported for this model.",
         {"continuationToken": "x"}),
    Case("unknown continuation", "Invalid continuation token.", {"continuationToken": "x"},
         "gemini-4-argon"),
    Case("prompt too long", "The input token count (1014) exceeds the maximum number of tokens "
         "allowed (400).", talk(user({"text": "x" * 4000})), "gemini-3.7-flash"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_request_is_refused(
    case: Case, http: httpx.AsyncClient, simulator: Simulator
) -> None:
    body: Json = {"contents": [HI], **case.body}
    sent = case.raw or json.dumps({k: v for k, v in body.items() if v is not ...}).encode()
    key = simulator.key if case.key == "right" else case.key
    headers = {"x-goog-api-key": key} if key else {}
    address = f"/v1beta/models/{case.model}:{case.method}"
    response = await http.post(address, content=sent, headers=headers)
    error = response.json()["error"]
    assert (error["message"], error["status"]) == (case.message, case.code)
    assert (response.status_code, error["code"]) == (case.status, case.status)
    assert simulator.requests[0].refusal == case.message


STRUCTURAL = [
    case for case in CASES if case.message.startswith((PAYLOAD + "Unk", "Invalid value at"))
]
NOT_TYPED = {"no tokens", "data that is no base64", "unknown level", "unknown mode"}
"""Ranges are not in the SDK's types, data is padded before it is looked at, and words of
enumerations may be in lower case."""


@pytest.mark.parametrize(
    "case", [case for case in STRUCTURAL if case.name not in NOT_TYPED], ids=lambda case: case.name
)
def test_sdk_types_refuse_what_the_schema_refuses(case: Case) -> None:
    assert google_problems({"contents": [HI], **case.body})


TAKEN: dict[str, Json] = {
    "least": {},
    "snake case": {
        "system_instruction": {"parts": [{"text": "Be kind"}]},
        "generation_config": {"max_output_tokens": 9, "thinking_config": {"thinking_level": "LOW"}},
    },
    "options": {
        **config(temperature=0.5, topP=1, seed=3, stopSequences=["END"], candidateCount=1),
        "labels": {"a": "b"},
        "serviceTier": "flex",
        "store": False,
    },
    "tool loop": {
        **tools(parametersJsonSchema={"type": "object", "properties": {"title": {}}}),
        **talk(
            HI,
            model({"text": "Wait"}, signed("a"), call("b")),
            user(result("a"), result("b", parts=[{"inlineData": DATA}])),
            user({"text": "And?"}, {"inlineData": DATA}),
        ),
        "toolConfig": {"functionCallingConfig": {"mode": "VALIDATED"}},
    },
    "old turn without signatures": talk(HI, model(call()), user(result()), HI),
    "cached": {"cachedContent": "cachedContents/a"},
    "structured": config(
        responseMimeType="application/json", responseJsonSchema={"type": "object"}
    ),
}


@pytest.mark.parametrize("name", TAKEN)
async def test_valid_requests_are_taken_by_both(
    name: str, http: httpx.AsyncClient, simulator: Simulator
) -> None:
    body = {"contents": [HI], **TAKEN[name]}
    response = await http.post(
        "/v1/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
        json=body,
        headers={"x-goog-api-key": simulator.key},
    )
    problems = [] if name == "snake case" else google_problems(body)
    assert (problems, response.status_code) == ([], 200), response.text


async def test_wrong_key_has_its_reason(http: httpx.AsyncClient) -> None:
    response = await http.get("/v1beta/models?key=wrong")
    assert response.json()["error"]["details"][0]["reason"] == "API_KEY_INVALID"
