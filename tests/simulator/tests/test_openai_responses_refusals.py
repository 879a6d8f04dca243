"""Malformed Responses requests, each refused with the documented status and words."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.simulator import Reasoning, Simulator, ToolUse, reply
from tests.simulator.openai_responses.issued_items import encrypt
from tests.simulator.tests.test_openai_chat_refusals import Case

pytestmark = pytest.mark.malformed_requests

Json = dict[str, Any]

MODEL = "gpt-6.1-sol"
TOOL: Json = {
    "type": "function",
    "name": "run",
    "parameters": {"type": "object", "properties": {}},
    "strict": False,
}
USER: Json = {"role": "user", "content": "Hi"}
PNG = "data:image/png;base64,iVBORw0KGgo="


def call(call_id: str, **more: Any) -> Json:
    return {"type": "function_call", "call_id": call_id, "name": "run", "arguments": "{}", **more}


def output(call_id: str, content: Any = "ok", **more: Any) -> Json:
    return {"type": "function_call_output", "call_id": call_id, "output": content, **more}


def thought(item_id: str = "rs_1", *, model: str = MODEL, **more: Any) -> Json:
    encrypted = encrypt(item_id, model)
    return {
        "type": "reasoning",
        "id": item_id,
        "summary": [],
        "encrypted_content": encrypted,
        **more,
    }


def said(*parts: Json) -> Json:
    return {"input": [{"role": "user", "content": list(parts)}]}


def image(**more: Any) -> Json:
    return said({"type": "input_image", **more})


def history(*items: Json, **more: Any) -> Json:
    return {"input": [USER, *items], **more}


def strict(**parameters: Any) -> Json:
    schema = {"type": "object", "additionalProperties": False, **parameters}
    return {"tools": [{**TOOL, "strict": True, "parameters": schema}]}


def one_property(**schema: Any) -> Json:
    return strict(properties={"p": schema}, required=["p"])


def not_strict(words: str, context: str = "()") -> str:
    return f"Invalid schema for function 'run': In context={context}, {words}"


AT_P = "('properties', 'p')"
STRICT_AT = ("tools[0].parameters", "invalid_function_parameters")
NOT_FOUND = (
    "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try "
    "again with `store` set to true, or remove this item from your input."
)
NOT_VERIFIED = (
    "The encrypted content for item rs_1 could not be verified. Reason: Encrypted content could "
    "not be decrypted or parsed."
)
NOT_FOLLOWED = "Item 'rs_1' of type 'reasoning' was provided without its required following item."
BAD_IMAGE = (
    "The image data you provided does not represent a valid image. Please check your input and "
    "try again with one of the supported image formats: ['image/jpeg', 'image/png', 'image/gif', "
    "'image/webp']."
)


def missing(where: str, body: Json, name: str) -> Case:
    words = f"Missing required parameter: '{where}'."
    return Case(name, words, where, "missing_required_parameter", body)


def unknown(where: str, body: Json, name: str) -> Case:
    return Case(name, f"Unknown parameter: '{where}'.", where, "unknown_parameter", body)


def unsupported(where: str, body: Json, name: str) -> Case:
    words = f"Unsupported parameter: '{where}' is not supported with this model."
    return Case(name, words, where, "unsupported_parameter", body)


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
    missing("model", {"model": ...}, "no model"),
    missing("input", {"input": ...}, "no input"),
    missing("input[0].role", {"input": [{"type": "message", "content": "Hi"}]}, "no role"),
    missing("input[0].type", {"input": [{"content": "Hi"}]}, "no type"),
    missing("input[0].content[0].type", said({"text": "Hi"}), "no type of a part"),
    missing("input[1].summary", history({"type": "reasoning", "id": "rs_1"}), "no summary"),
    missing("input[1].call_id", history({"type": "function_call_output", "output": "x"}),
            "output of no call"),
    missing("input[1].arguments", history({"type": "function_call", "call_id": "a", "name": "run"}),
            "call without arguments"),
    missing("tools[0].strict", {"tools": [{"type": "function", "name": "run", "parameters": {}}]},
            "tool that does not say whether it is strict"),
    missing("text.format.schema", {"text": {"format": {"type": "json_schema", "name": "a"}}},
            "format without a schema"),
    Case("empty input", "Invalid 'input': empty array. Expected an array with minimum length 1, "
         "but got an empty array instead.", "input", "empty_array", {"input": []}),
    Case("no content parts", "Invalid 'input[0].content': empty array. Expected an array with "
         "minimum length 1, but got an empty array instead.", "input[0].content", "empty_array",
         said()),
    Case("unknown role", "Invalid value: 'tool'. Supported values are: 'system', 'developer', "
         "'user', 'assistant'.", "input[0].role", "invalid_value",
         {"input": [{"role": "tool", "content": "Hi"}]}),
    Case("unknown item", "Invalid value: 'tool_result'. Supported values are: 'message', "
         "'function_call', 'function_call_output', 'reasoning', 'item_reference'.",
         "input[1].type", "invalid_value", history({"type": "tool_result"})),
    Case("part of the other format", "Invalid value: 'text'. Supported values are: 'input_text', "
         "'input_image', 'input_file'.", "input[0].content[0].type", "invalid_value",
         said({"type": "text", "text": "Hi"})),
    Case("user's part from the model", "Invalid value: 'input_text'. Supported values are: "
         "'output_text', 'refusal'.", "input[0].content[0].type", "invalid_value",
         {"input": [{"role": "assistant", "content": [{"type": "input_text", "text": "Hi"}]}]}),
    Case("arguments as an object", "Invalid type for 'input[1].arguments': expected a string, but "
         "got ? instead.".replace("?", "an object"), "input[1].arguments", "invalid_type",
         history(call("a", arguments={}), output("a"))),
    Case("hosted tool", "Invalid value: 'file_search'. Supported values are: 'function', "
         "'namespace', 'web_search'.",
         "tools[0].type", "invalid_value", {"tools": [{**TOOL, "type": "file_search"}]}),
    unknown("messages", {"messages": [USER]}, "messages"),
    unknown("max_tokens", {"max_tokens": 100}, "limit of the other format"),
    unknown("input[0].name", {"input": [{**USER, "name": "x"}]}, "unknown field in a message"),
    unknown("input[0].content[0].cache_control",
            said({"type": "input_text", "text": "Hi", "cache_control": {}}),
            "unknown field in a part"),
    unknown("input[1].function", history(call("a", function={}), output("a")),
            "unknown field in a call"),
    unknown("input[2].is_error", history(call("a"), output("a", is_error=True)),
            "unknown field in an output"),
    unknown("input[1].signature", history(thought(signature="x")), "unknown field in reasoning"),
    unknown("input[1].output[0].annotations", history(output("a", [
        {"type": "input_text", "text": "x", "annotations": None}])),
        "unknown field in a part of an output"),
    unknown("reasoning.budget_tokens", {"reasoning": {"budget_tokens": 9}}, "budget"),
    unknown("text.format.json_schema", {"text": {"format": {
        "type": "json_schema", "name": "a", "schema": {}, "json_schema": {}}}}, "nested schema"),
    unknown("tool_choice.function", {"tools": [TOOL], "tool_choice": {
        "type": "function", "name": "run", "function": {"name": "run"}}}, "nested choice"),
    unknown("stream_options.include_usage",
            {"stream": True, "stream_options": {"include_usage": True}},
            "stream option of the other format"),
    Case("nested tool", "Missing required parameter: 'tools[0].name'.", "tools[0].name",
         "missing_required_parameter",
         {"tools": [{"type": "function", "function": {"name": "run"}}]}),
    Case("bad tool name", "Invalid 'tools[0].name': string does not match pattern. Expected a "
         "string that matches the pattern '^[a-zA-Z0-9_-]+$'.", "tools[0].name", "invalid_value",
         {"tools": [{**TOOL, "name": "run cell"}]}),
    Case("long call id", "Invalid 'input[1].call_id': string too long. Expected a string with "
         "maximum length 64, but got a string with length 65 instead.", "input[1].call_id",
         "string_above_max_length", history(call("x" * 65))),
    Case("unknown effort", "Invalid value: 'extreme'. Supported values are: 'none', 'minimal', "
         "'low', 'medium', 'high', 'xhigh' or 'max'.", "reasoning.effort", "invalid_value",
         {"reasoning": {"effort": "extreme"}}),
    Case("unknown include", "Invalid value: 'everything'. Supported values are: "
         "'reasoning.encrypted_content', 'message.output_text.logprobs' or "
         "'message.input_image.image_url'.", "include[0]", "invalid_value",
         {"include": ["everything"]}),
    Case("small output limit", "Invalid 'max_output_tokens': integer below minimum value. Expected "
         "a value >= 16, but got 5 instead.", "max_output_tokens", "integer_below_min_value",
         {"max_output_tokens": 5}),
    Case("much metadata", "Invalid 'metadata': too many properties. Expected an object with at "
         "most 16 properties, but got an object with 17 properties instead.", "metadata",
         "object_above_max_properties", {"metadata": {f"k{n}": "v" for n in range(17)}}),
    Case("unknown model", "The requested model 'gpt-0' does not exist.", "model",
         "model_not_found", {"model": "gpt-0"}, status=404),
    # calls and outputs
    Case("call without output", "No tool output found for function call a.", "input",
         body=history(call("a"))),
    Case("one of two outputs missing", "No tool output found for function call b.", "input",
         body=history(call("a"), call("b"), output("a"), USER)),
    Case("output without call", "No tool call found for function call output with call_id a.",
         "input", body=history(output("a"))),
    Case("output before its call", "No tool call found for function call output with call_id a.",
         "input", body=history(output("a"), call("a"))),
    Case("two outputs of a call", "No tool call found for function call output with call_id a.",
         "input", body=history(call("a"), output("a"), output("a"))),
    # reasoning
    Case("reasoning that was not stored", NOT_FOUND, "input", status=404,
         body=history({"type": "reasoning", "id": "rs_1", "summary": []}, call("a"), output("a"))),
    Case("reasoning without its encrypted content", NOT_FOUND, "input", status=404,
         body=history(thought(encrypted_content=None), call("a"), output("a"))),
    Case("reference to nothing", NOT_FOUND, "input", status=404,
         body=history({"type": "item_reference", "id": "rs_1"})),
    Case("foreign encrypted content", NOT_VERIFIED, code="invalid_encrypted_content",
         body=history(thought(encrypted_content="gAAAforeign"), call("a"), output("a"))),
    Case("another model's encrypted content", NOT_VERIFIED, code="invalid_encrypted_content",
         body=history(thought(model="gpt-6-luna"), call("a"), output("a"))),
    Case("another item's encrypted content",
         "The encrypted content for item rs_1 could not be verified. Reason: Encrypted content "
         "item_id did not match the target item id.", code="invalid_encrypted_content",
         body=history(thought(encrypted_content=encrypt("rs_2", MODEL)), call("a"), output("a"))),
    Case("plain reasoning", "Invalid 'input[1].content': array too long. Expected an array with "
         "maximum length 0, but got an array with length 1 instead.", "input[1].content",
         "array_above_max_length",
         history(thought(content=[{"type": "reasoning_text", "text": "Hm"}]))),
    Case("reasoning at the end", NOT_FOLLOWED, "input", body=history(thought())),
    Case("reasoning before the user", NOT_FOLLOWED, "input", body=history(thought(), USER)),
    Case("reasoning after its call", NOT_FOLLOWED, "input",
         body=history(call("a"), thought(), output("a"))),
    Case("same item twice", "Duplicate item found with id rs_1. Remove duplicate items from your "
         "input and try again.", "input",
         body=history(thought(), call("a"), output("a"), thought(), call("b"), output("b"))),
    Case("id of another kind", "Invalid 'input[1].id': 'call_1'. Expected an ID that begins with "
         "'fc'.", "input[1].id", "invalid_value", history(call("a", id="call_1"), output("a"))),
    # images
    Case("image of nothing", "Invalid value for 'input[0].content[0]': one of 'image_url' and "
         "'file_id' must be given.", "input[0].content[0]", "invalid_value", image()),
    Case("image that is no URL", "Invalid 'input[0].content[0].image_url'. Expected a valid URL, "
         "but got a value with an invalid format.", "input[0].content[0].image_url",
         "invalid_value", image(image_url="iVBORw0KGgo=")),
    Case("image that is not base64", BAD_IMAGE, "input", "invalid_base64_image",
         image(image_url="data:image/png;base64,%%%")),
    Case("image of an unknown kind", BAD_IMAGE, "input", "invalid_image_format",
         image(image_url="data:image/svg+xml;base64,AAAA")),
    Case("broken image in an output", BAD_IMAGE, "input", "invalid_base64_image",
         history(call("a"), output("a", [
             {"type": "input_image", "image_url": "data:image/png;base64,"}]))),
    Case("five breakpoints", "Too many prompt cache breakpoints: at most 4 are allowed, but 5 were "
         "given.", "input", body=said(*[
             {"type": "input_text", "text": "x",
              "prompt_cache_breakpoint": {"mode": "explicit"}}] * 5)),
    # options
    Case("stored response", "Previous response with id 'resp_1' not found.",
         "previous_response_id", "previous_response_not_found", {"previous_response_id": "resp_1"}),
    Case("stored conversation", "Conversation with id 'conv_1' not found.", "conversation",
         status=404, body={"conversation": "conv_1"}),
    Case("stream options without stream",
         "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
         "stream_options", body={"stream_options": {"include_obfuscation": False}}),
    Case("background without storing", "Background mode requires 'store' to be true.",
         "background", body={"background": True, "store": False}),
    Case("choice without tools", "Tool choice 'required' must be specified with 'tools' parameter.",
         "tool_choice", body={"tool_choice": "required"}),
    Case("choice of an unknown tool", "Tool choice 'function' not found in 'tools' parameter: walk",
         "tool_choice",
         body={"tools": [TOOL], "tool_choice": {"type": "function", "name": "walk"}}),
    Case("allowing an unknown tool", "Tool choice 'function' not found in 'tools' parameter: walk",
         "tool_choice", body={"tools": [TOOL], "tool_choice": {
             "type": "allowed_tools", "mode": "auto",
             "tools": [{"type": "function", "name": "walk"}]}}),
    Case("same tool twice", "Duplicate tool name 'run' in 'tools'.", "tools[1].name",
         "invalid_value", {"tools": [TOOL, TOOL]}),
    Case("JSON nobody asked for", "Response input messages must contain the word 'json' in some "
         "form to use 'text.format' of type 'json_object'.", "input",
         body={"text": {"format": {"type": "json_object"}}}),
    # strict schemas
    Case("parameters are no object", "Invalid schema for function 'run': schema must be a JSON "
         "Schema of 'type: \"object\"', got 'type: 'string''.", *STRICT_AT,
         {"tools": [{**TOOL, "parameters": {"type": "string"}}]}),
    Case("open strict schema", not_strict("'additionalProperties' is required to be supplied and "
         "to be false."), *STRICT_AT, {"tools": [{**TOOL, "strict": True}]}),
    Case("open object inside", not_strict("'additionalProperties' is required to be supplied and "
         "to be false.", AT_P), *STRICT_AT, one_property(type="object")),
    Case("optional property", not_strict("'required' is required to be supplied and to be an array "
         "including every key in properties. Missing 'p'."), *STRICT_AT,
         strict(properties={"p": {"type": "string"}})),
    Case("required without property", not_strict("'required' is required to include only keys of "
         "properties. Extra 'q'."), *STRICT_AT, strict(required=["q"])),
    Case("choice at the top", not_strict("'anyOf' is not permitted at the top level."), *STRICT_AT,
         strict(anyOf=[])),
    Case("array of anything", not_strict("array schema missing items.", AT_P), *STRICT_AT,
         one_property(type="array")),
    Case("untyped schema", not_strict("schema must have a 'type' key.", AT_P), *STRICT_AT,
         one_property(description="x")),
    *[Case(f"{word} in a strict schema", not_strict(f"'{word}' is not permitted.", AT_P),
           *STRICT_AT, one_property(type="string", **{word: 1}))
      for word in ("oneOf", "allOf", "not", "if", "default", "minLength", "patternProperties",
                   "uniqueItems", "propertyNames", "maxContains")],
    Case("unknown format", not_strict("'uri' is not a valid format.", AT_P), *STRICT_AT,
         one_property(type="string", format="uri")),
    Case("look-around", not_strict("'pattern' may not use look-around.", AT_P), *STRICT_AT,
         one_property(type="string", pattern="^(?!x)")),
    Case("reference with company", not_strict("$ref cannot have keywords ['description'].", AT_P),
         *STRICT_AT, one_property(**{"$ref": "#", "description": "x"})),
    Case("reference to nothing in a schema", not_strict(
        "reference to component '#/$defs/x' which was not found.", AT_P), *STRICT_AT,
        one_property(**{"$ref": "#/$defs/x"})),
    Case("strict answer that is open", "Invalid schema for response_format 'a': In context=(), "
         "'additionalProperties' is required to be supplied and to be false.",
         "text.format.schema", "invalid_json_schema",
         {"text": {"format": {"type": "json_schema", "name": "a", "strict": True,
                              "schema": {"type": "object", "properties": {}}}}}),
    # capabilities
    Case("effort none where there is none", "Unsupported value: 'none' is not supported with this "
         "model. Supported values are: 'low', 'medium', 'high', 'xhigh', 'max'.",
         "reasoning.effort", "unsupported_value", {"reasoning": {"effort": "none"}}),
    Case("effort minimal", "Unsupported value: 'minimal' is not supported with this model. "
         "Supported values are: 'none', 'low', 'medium', 'high', 'xhigh', 'max'.",
         "reasoning.effort", "unsupported_value",
         {"model": "gpt-6-luna", "reasoning": {"effort": "minimal"}}),
    Case("effort max", "Unsupported value: 'max' is not supported with this model. Supported "
         "values are: 'none', 'low', 'medium', 'high', 'xhigh'.", "reasoning.effort",
         "unsupported_value", {"model": "gpt-5.5", "reasoning": {"effort": "max"}}),
    unsupported("reasoning.effort", {"model": "gpt-4.1", "reasoning": {"effort": "low"}},
                "effort for a model that does not reason"),
    unsupported("temperature", {"temperature": 0.5}, "temperature while reasoning"),
    unsupported("top_p", {"model": "gpt-6-luna", "top_p": 1.0}, "top_p while reasoning"),
    unsupported("text.verbosity", {"model": "gpt-4.1", "text": {"verbosity": "low"}},
                "verbosity of an older model"),
    unsupported("prompt_cache_options", {"model": "gpt-5.5", "prompt_cache_options": {}},
                "cache options of an older model"),
    Case("encrypted content of a model that does not reason",
         "Encrypted content is not supported with this model.", "include",
         body={"model": "gpt-4.1", "include": ["reasoning.encrypted_content"]}),
    Case("output above the limit", "Invalid 'max_output_tokens': integer above maximum value. "
         "Expected a value <= 128000, but got 128001 instead.", "max_output_tokens",
         "integer_above_max_value", {"max_output_tokens": 128_001}),
    Case("prompt too long", "Your input exceeds the context window of this model. Please adjust "
         "your input and try again.", "input", "context_length_exceeded",
         {"model": "gpt-small", "input": "x" * 4000}),
]  # fmt: skip


async def post(
    http: httpx.AsyncClient, simulator: Simulator, body: Json, path: str = "/v1/responses"
) -> httpx.Response:
    headers = {"authorization": f"Bearer {simulator.key}"}
    return await http.post(path, json=body, headers=headers)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_responses_request_is_refused(
    case: Case, http: httpx.AsyncClient, simulator: Simulator
) -> None:
    body: Json = {"model": MODEL, "input": "Hi", **case.body}
    sent = case.raw or json.dumps({k: v for k, v in body.items() if v is not ...}).encode()
    key = simulator.key if case.key == "right" else case.key
    headers = {"authorization": f"Bearer {key}"} if key else {}
    response = await http.post("/v1/responses", content=sent, headers=headers)
    error = {"message": case.message, "type": case.type, "param": case.param, "code": case.code}
    assert (response.status_code, response.json()) == (case.status, {"error": error})
    assert simulator.requests[0].refusal == case.message


ASKED: Json = {"model": MODEL, "store": False, "include": ["reasoning.encrypted_content"]}


async def test_items_with_ids_bring_their_reasoning(
    http: httpx.AsyncClient, simulator: Simulator
) -> None:
    simulator.script(reply(Reasoning(text="Hm."), ToolUse(name="run")))
    first = (await post(http, simulator, {**ASKED, "input": [USER]})).json()
    reasoning, made = first["output"]
    result = output(made["call_id"])
    whole = await post(http, simulator, {**ASKED, "input": [USER, reasoning, made, result]})
    assert whole.status_code == 200
    bare = await post(http, simulator, {**ASKED, "input": [USER, made, result]})
    assert bare.json()["error"]["message"] == (
        f"Item '{made['id']}' of type 'function_call' was provided without its required "
        f"'reasoning' item: '{reasoning['id']}'."
    )
    del made["id"]
    assert (
        await post(http, simulator, {**ASKED, "input": [USER, made, result]})
    ).status_code == 200


async def test_stored_reasoning_needs_no_encrypted_content(
    http: httpx.AsyncClient, simulator: Simulator
) -> None:
    simulator.script(reply(Reasoning(text="Hm."), ToolUse(name="run")))
    first = (await post(http, simulator, {"model": MODEL, "input": "Hi"})).json()
    items = [*first["output"], output(first["output"][1]["call_id"])]
    assert (await post(http, simulator, {"model": MODEL, "input": items})).status_code == 200
    references = [{"type": "item_reference", "id": item["id"]} for item in first["output"][:1]]
    items = [*references, *items[1:]]
    assert (await post(http, simulator, {"model": MODEL, "input": items})).status_code == 200


async def test_tokens_are_counted_after_the_same_checks(
    http: httpx.AsyncClient, simulator: Simulator
) -> None:
    path = "/v1/responses/input_tokens"
    counted = await post(http, simulator, {"model": MODEL, "input": "x" * 400}, path)
    assert counted.json() == {"object": "response.input_tokens", "input_tokens": 108}
    unknown_field = await post(
        http, simulator, {"model": MODEL, "input": "Hi", "store": False}, path
    )
    assert unknown_field.json()["error"]["message"] == "Unknown parameter: 'store'."
    orphan = await post(http, simulator, {"model": MODEL, "input": [output("a")]}, path)
    assert orphan.status_code == 400
