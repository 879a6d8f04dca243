"""Requests to Gemini: bodies, schemas, thinking, signatures, names and addresses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec, ThinkingLevel
from jupyter_ai_shoulders.providers.base import AnyTool, ModelRequest, NamedTool, ToolChoice
from jupyter_ai_shoulders.providers.google.encode import encode
from jupyter_ai_shoulders.providers.google.function_names import function_name
from jupyter_ai_shoulders.providers.google.history import NO_SIGNATURE
from jupyter_ai_shoulders.providers.google.json_schema import to_gemini
from jupyter_ai_shoulders.providers.google.provider import api_url, resource
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.parts import (
    ImagePart,
    ModelMessage,
    ProviderState,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolDefinition,
    ToolResultPart,
    UserMessage,
)
from tests.providers.adapter_fixtures import (
    READ,
    ask,
    assistant,
    call,
    gemini,
    make_endpoint,
    result,
    results,
    user,
)
from tests.sdk_validation.google_types import google_problems

PNG = ImagePart(media_type="image/png", data="iVBORw0KGgo=")
GIF = ImagePart(media_type="image/gif", data="R0lGODlh")


def body_of(request: ModelRequest, model: ModelSpec | None = None, **more: Any) -> dict[str, Any]:
    body = json.loads(encode(request, make_endpoint("google", model=model), **more))
    assert google_problems(body) == []
    return body


def contents(*messages: ModelMessage, model: ModelSpec | None = None) -> list[dict[str, Any]]:
    return body_of(ask(*messages), model)["contents"]


def state(data: Any, model: str = "gemini-3.8-flash") -> ProviderState:
    return ProviderState(provider="google", model=model, data=data)


def signed(call_id: str, signature: str, model: str = "gemini-3.8-flash") -> ToolCallPart:
    return call(call_id).model_copy(update={"state": state({"signature": signature}, model)})


def test_whole_body() -> None:
    request = ask(
        user("Fix it"),
        assistant(TextPart(text="I look."), signed("a", "Q0FG"), call("b", n=2)),
        results(result("a", "x=1"), result("b", "no", error=True)),
        tools=(READ,),
        tool_choice=NamedTool("read"),
    )
    assert body_of(request) == {
        "generationConfig": {
            "maxOutputTokens": 16_384,
            "thinkingConfig": {"thinkingLevel": "HIGH", "includeThoughts": True},
        },
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": "read",
                        "description": "Read it.",
                        "parametersJsonSchema": {
                            "type": "object",
                            "properties": {"n": {"type": "integer"}},
                            "required": [],
                        },
                    }
                ]
            }
        ],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["read"]}},
        "contents": [
            {"role": "user", "parts": [{"text": "Fix it"}]},
            {
                "role": "model",
                "parts": [
                    {"text": "I look."},
                    {
                        "functionCall": {"id": "a", "name": "read", "args": {}},
                        "thoughtSignature": "Q0FG",
                    },
                    {"functionCall": {"id": "b", "name": "read", "args": {"n": 2}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {
                        "functionResponse": {
                            "id": "a",
                            "name": "read",
                            "response": {"output": "x=1"},
                        }
                    },
                    {
                        "functionResponse": {
                            "id": "b",
                            "name": "read",
                            "response": {"error": "no"},
                        }
                    },
                ],
            },
        ],
    }


def test_continuation_is_the_same_request_with_the_token() -> None:
    request = ask("Hi")
    assert body_of(request, continuation="t") == body_of(request) | {"continuationToken": "t"}


def test_output_is_capped_at_one_stream() -> None:
    model = gemini(max_output=1_000_000)
    sent = body_of(ask("Hi", max_output=100_000), model)
    assert sent["generationConfig"]["maxOutputTokens"] == 65_536


@pytest.mark.parametrize(
    ("choice", "config"),
    [
        ("auto", None),
        ("none", {"mode": "NONE"}),
        (AnyTool(), {"mode": "ANY"}),
        (NamedTool("read"), {"mode": "ANY", "allowedFunctionNames": ["read"]}),
    ],
)
def test_tool_choice(choice: ToolChoice, config: Any) -> None:
    sent = body_of(ask("Hi", tools=(READ,), tool_choice=choice)).get("toolConfig")
    assert sent == (config and {"functionCallingConfig": config})
    assert "toolConfig" not in body_of(ask("Hi", tool_choice=choice))


THINKING: list[tuple[str, ThinkingLevel, Any]] = [
    ("gemini-4-argon", "default", "HIGH"),
    ("gemini-4-argon", "low", "LOW"),
    ("gemini-4-argon", "medium", "MEDIUM"),
    ("gemini-4-argon", "none", "LOW"),
    ("gemini-3.5-flash-lite", "high", "HIGH"),
    ("gemini-3.5-flash-lite", "none", "MINIMAL"),
    ("gemini-5-later", "low", "LOW"),
    ("gemini-2.5-flash", "default", -1),
    ("gemini-2.5-flash", "low", 1_024),
    ("gemini-2.5-flash", "none", 0),
    ("gemini-2.5-pro", "high", 24_576),
    ("gemini-2.5-pro", "none", 128),
]


@pytest.mark.parametrize(("name", "level", "expected"), THINKING)
def test_thinking_is_asked_for_in_the_models_way(
    name: str, level: ThinkingLevel, expected: Any
) -> None:
    sent = body_of(ask("Hi", thinking=level), gemini(name))["generationConfig"]["thinkingConfig"]
    shown = {} if level == "none" else {"includeThoughts": True}
    key = "thinkingLevel" if isinstance(expected, str) else "thinkingBudget"
    assert sent == {key: expected, **shown}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"thinking_support": {"mode": "none"}}, None),
        ({"thinking_support": {"mode": "effort", "efforts": ["low"]}}, None),
        ({"thinking_support": {"mode": "budget"}, "thinking_budget": 3_000}, 3_000),
    ],
)
def test_only_what_the_entry_says_is_sent(changes: dict[str, Any], expected: Any) -> None:
    sent = body_of(ask("Hi", thinking="high"), gemini(**changes))["generationConfig"]
    found = sent.get("thinkingConfig")
    assert (found and found["thinkingBudget"]) == expected


def test_entries_of_one_model_differ_in_their_level() -> None:
    levels = [
        body_of(ask("Hi"), gemini("gemini-4-argon-" + name))["generationConfig"]["thinkingConfig"]
        for name in ("low", "high")
    ]
    assert [level["thinkingLevel"] for level in levels] == ["LOW", "HIGH"]


def test_schema_goes_as_a_response_format() -> None:
    schema = {"type": "object", "title": "Answer", "properties": {"a": {"const": 1}}}
    sent = body_of(ask("Hi", response_schema=schema))["generationConfig"]
    assert sent["responseMimeType"] == "application/json"
    assert sent["responseJsonSchema"] == {"type": "object", "properties": {"a": {"enum": [1]}}}
    with_tools = body_of(ask("Hi", response_schema=schema, tools=(READ,)))["generationConfig"]
    assert "responseMimeType" not in with_tools


SCHEMAS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("dropped", {"$schema": "x", "title": "T", "examples": [1], "minLength": 1}, {"minLength": 1}),
    ("const", {"const": "a", "type": "string"}, {"type": "string", "enum": ["a"]}),
    (
        "one of",
        {"oneOf": [{"const": 1}, {"type": "null"}], "anyOf": [{"title": "x"}]},
        {"anyOf": [{}, {"enum": [1]}, {"type": "null"}]},
    ),
    (
        "limits are said",
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "description": "A share."},
        {"type": "number", "description": "A share. (more than 0, less than 1)"},
    ),
    (
        "format is said",
        {"type": "string", "format": "date"},
        {"type": "string", "description": "(format date)"},
    ),
    (
        "properties may have the names of keywords",
        {"type": "object", "properties": {"title": {"type": "string", "title": "T"}, "format": {}}},
        {"type": "object", "properties": {"title": {"type": "string"}, "format": {}}},
    ),
    (
        "definitions and items",
        {
            "$defs": {"A": {"title": "A", "$ref": "#/$defs/B"}},
            "items": {"const": 2},
            "prefixItems": [True, {"title": "x"}],
            "enum": [{"title": "kept"}],
            "default": {"const": "kept"},
        },
        {
            "$defs": {"A": {"$ref": "#/$defs/B"}},
            "items": {"enum": [2]},
            "prefixItems": [True, {}],
            "enum": [{"title": "kept"}],
            "default": {"const": "kept"},
        },
    ),
    (
        "open objects",
        {"additionalProperties": {"type": "string"}, "items": {"additionalProperties": False}},
        {"items": {"additionalProperties": False}},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "expected"), [case[1:] for case in SCHEMAS])
def test_schema_keeps_what_gemini_understands(schema: Any, expected: Any) -> None:
    assert to_gemini(schema) == expected


def test_foreign_calls_carry_the_dummy_signature_once_per_step() -> None:
    sent = contents(user("Hi"), assistant(call("a"), call("b")), results(result("a"), result("b")))
    found = [part.get("thoughtSignature") for part in sent[1]["parts"]]
    assert found == [NO_SIGNATURE, None]


def test_signature_of_another_gemini_model_is_replaced() -> None:
    history = (user("Hi"), assistant(signed("a", "QQ==", "gemini-4-argon")), results(result("a")))
    assert contents(*history)[1]["parts"][0]["thoughtSignature"] == NO_SIGNATURE


def test_older_models_need_no_signature() -> None:
    history = (user("Hi"), assistant(call("a")), results(result("a")))
    sent = contents(*history, model=gemini("gemini-2.5-flash"))
    assert "thoughtSignature" not in sent[1]["parts"][0]


def test_signatures_come_back_in_the_part_they_came_with() -> None:
    parts = (
        ReasoningPart(text="Unsigned."),
        ReasoningPart(
            text="Hm, so.", state=state({"signature": "AA==", "tail": 3, "thought": True})
        ),
        ReasoningPart(text="", state=state({"signature": "BA==", "tail": 0})),
        TextPart(text="Hello there", state=state({"signature": "CA==", "tail": 5})),
        TextPart(text="Bye.", state=state({"signature": "DA==", "tail": 0})),
        TextPart(text="No.", state=state({"signature": "EA==", "tail": 3}, "gemini-4-argon")),
    )
    assert contents(user("Hi"), assistant(*parts), user("So?"))[1]["parts"] == [
        {"text": "so.", "thought": True, "thoughtSignature": "AA=="},
        {"text": "", "thoughtSignature": "BA=="},
        {"text": "Hello "},
        {"text": "there", "thoughtSignature": "CA=="},
        {"text": "Bye."},
        {"text": "", "thoughtSignature": "DA=="},
        {"text": "No."},
    ]


def test_results_stand_alone_before_what_was_said() -> None:
    message = UserMessage(parts=(TextPart(text="By the way"), result("a"), PNG))
    sent = contents(user("Hi"), assistant(call("a")), message)
    assert [list(part) for part in sent[2]["parts"]] == [["functionResponse"]]
    blob = {"inlineData": {"mimeType": "image/png", "data": PNG.data}}
    assert sent[3] == {"role": "user", "parts": [{"text": "By the way"}, blob]}


@pytest.mark.parametrize(
    ("model", "inside", "beside"),
    [
        ("gemini-3.8-flash", 1, [{"text": "[An image was here; this model cannot read images.]"}]),
        (
            "gemini-2.5-flash",
            0,
            [
                {"inlineData": {"mimeType": "image/png", "data": PNG.data}},
                {"text": "[An image was here; this model cannot read images.]"},
            ],
        ),
    ],
)
def test_images_of_a_result_go_where_the_model_takes_them(
    model: str, inside: int, beside: list[Any]
) -> None:
    part = ToolResultPart(call_id=CallId("a"), tool="read", content=(PNG, GIF), is_error=False)
    sent = contents(user("Hi"), assistant(call("a")), results(part), model=gemini(model))
    response = sent[2]["parts"][0]["functionResponse"]
    assert response["response"] == {"output": "(no output)"}
    assert len(response.get("parts", [])) == inside
    assert sent[3]["parts"] == beside


@pytest.mark.parametrize("name", ["1st", "run cell", "läuft", "x" * 200, ""])
def test_odd_tool_names_are_sent_in_letters_gemini_takes(name: str) -> None:
    tool = ToolDefinition(name=name, description="d", parameters={"type": "object"})
    sent = body_of(ask("Hi", tools=(tool,), tool_choice=NamedTool(name)))
    declared = sent["tools"][0]["functionDeclarations"][0]["name"]
    allowed = sent["toolConfig"]["functionCallingConfig"]["allowedFunctionNames"]
    assert allowed == [declared] == [function_name(name)]
    assert len(declared) <= 128
    assert function_name(declared) == declared != name


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://g.test", "https://g.test/v1beta/models/m:x"),
        ("https://g.test/v1", "https://g.test/v1/models/m:x"),
        ("https://g.test/v1beta/", "https://g.test/v1beta/models/m:x"),
        ("https://g.test/v1beta/models", "https://g.test/v1beta/models/m:x"),
        ("https://g.test/v1/models/other:generateContent", "https://g.test/v1/models/m:x"),
        ("https://gw.test/google", "https://gw.test/google/v1beta/models/m:x"),
        ("https://gw.test/google/v1alpha?a=b", "https://gw.test/google/v1alpha/models/m:x?a=b"),
    ],
)
def test_address(url: str, expected: str) -> None:
    assert api_url(url, "models/m:x") == expected


@pytest.mark.parametrize("name", ["../files", "a/../../b", "//host", "."])
def test_a_name_cannot_lead_out_of_the_models(name: str) -> None:
    path = api_url("https://example.org/v1beta", f"{resource(name)}:countTokens")
    assert path.startswith("https://example.org/v1beta/models/")
    assert path.count("/") == "https://example.org/v1beta/models/x".count("/")
