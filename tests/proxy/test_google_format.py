"""Google's format beyond what its SDK sends and shows."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.providers.base import (
    AnyTool,
    ModelRequest,
    NamedTool,
    PartDelta,
    PartEnd,
    PartStart,
    ProviderEvent,
    ResolvedModel,
    Stop,
    ToolCallReady,
    ToolCallStart,
)
from jupyter_ai_shoulders.proxy.google.format import GoogleFormat
from jupyter_ai_shoulders.proxy.relay import ProxyRelay
from jupyter_ai_shoulders.proxy.sealed_state import StateSealer
from jupyter_ai_shoulders.proxy.state_cache import StateCache
from jupyter_ai_shoulders.wire.api.responses import ModelList
from jupyter_ai_shoulders.wire.errors import ErrorCode, ErrorInfo
from jupyter_ai_shoulders.wire.ids import CallId, ModelId, PartId
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    ProviderState,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UserMessage,
)
from tests.providers.adapter_fixtures import FakeClock, SequentialIds, chat_model
from tests.sdk_validation.google_types import response_problems

BOX = StateSealer(b"secret")
STATE = ProviderState(provider="p", model="m", data={"sealed": "Q0FG"})
USER: dict[str, Any] = {"role": "user", "parts": [{"text": "Hi"}]}
READ: dict[str, Any] = {"name": "read"}
TOOLS: list[Any] = [{"functionDeclarations": [READ, {"name": "write"}, {"name": "run"}]}]
FIRST, SECOND = PartId("a"), PartId("b")


def read(method: str = "generateContent", **fields: Any) -> Any:
    body = {"contents": [USER]} | fields
    return GoogleFormat(BOX, "m", method).read(json.dumps(body).encode())


class Replay:
    """A provider that says what it was told to."""

    def __init__(self, *events: ProviderEvent) -> None:
        self.events = events

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent]:
        del request
        for event in self.events:
            yield event

    async def list_models(self) -> list[Any]:
        return []

    async def count_tokens(self, request: ModelRequest) -> int | None:
        del request
        return None

    async def aclose(self) -> None:
        """Nothing to close."""

    def resolve(self, model_id: ModelId | None) -> ResolvedModel:
        del model_id
        return ResolvedModel(chat_model(), self)

    def listing(self) -> ModelList:
        raise NotImplementedError


async def chunks(*events: ProviderEvent, stream: bool, think: bool = True) -> list[Any]:
    """The answer's chunks; one, where it comes whole."""
    method = "streamGenerateContent" if stream else "generateContent"
    caller = GoogleFormat(BOX, "m", method, events=False)
    body = {"contents": [USER], "generationConfig": {"thinkingConfig": {"includeThoughts": think}}}
    relay = ProxyRelay(Replay(*events), StateCache(FakeClock()), SequentialIds())
    exchange = relay.open(caller, json.dumps(body).encode())
    if not stream:
        return [json.loads(await exchange.complete())]
    found = json.loads(b"".join([piece async for piece in exchange.stream()]))
    assert [problem for chunk in found for problem in response_problems(chunk)] == []
    return found


def contents(found: list[Any]) -> list[Any]:
    return [candidate["content"] for chunk in found for candidate in chunk["candidates"]]


def parts(found: list[Any]) -> list[Any]:
    return [part for content in contents(found) for part in content["parts"]]


def call(name: str, arguments: Any, state: ProviderState | None = None) -> ToolCallReady:
    problem = None if arguments is not None else "no object"
    return ToolCallReady(CallId(name), "read", arguments, json.dumps(arguments), problem, state)


both = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])


@both
@pytest.mark.parametrize("think", [True, False], ids=["shown", "hidden"])
async def test_every_part_comes_back_as_it_went(stream: bool, think: bool) -> None:
    """Also one content per chunk, and after a restart: the server remembers nothing here."""
    found = await chunks(
        PartStart("reasoning", FIRST),
        PartDelta(FIRST, "Look at "),
        PartDelta(FIRST, "cell 3."),
        PartEnd(FIRST, STATE),
        PartStart("text", SECOND),
        PartDelta(SECOND, "I "),
        PartDelta(SECOND, "look."),
        PartEnd(SECOND, STATE),
        ToolCallStart(CallId("x"), "read"),
        call("x", {"n": 1}, STATE),
        Stop("tool_use"),
        stream=stream,
        think=think,
    )
    result = {"functionResponse": {"name": "read", "response": {"output": "one"}}}

    asked = read(contents=[USER, *contents(found), {"parts": [result]}])

    assert asked.messages[1] == AssistantMessage(
        parts=(
            ReasoningPart(text="Look at cell 3.", state=STATE),
            TextPart(text="I look.", state=STATE),
            ToolCallPart(call_id=CallId("x"), tool="read", arguments={"n": 1}, state=STATE),
        )
    )
    thoughts = "".join(part["text"] for part in parts(found) if part.get("thought"))
    assert thoughts == ("Look at cell 3." if think else "")


@both
async def test_parallel_calls_are_in_one_chunk_in_the_order_they_began(stream: bool) -> None:
    found = await chunks(
        ToolCallStart(CallId("x"), "read"),
        ToolCallStart(CallId("y"), "read"),
        call("y", {}),
        call("x", {"n": 1}),
        Stop("tool_use"),
        stream=stream,
    )

    assert [part["functionCall"]["id"] for part in contents(found)[0]["parts"]] == ["x", "y"]
    assert found[-1]["candidates"][0]["finishReason"] == "STOP"


@both
async def test_a_call_that_cannot_be_read_is_the_reason_of_the_end(stream: bool) -> None:
    found = await chunks(
        ToolCallStart(CallId("x"), "read"), call("x", None), Stop("tool_use"), stream=stream
    )

    assert parts(found) == [{"text": ""}]
    end = found[-1]["candidates"][0]
    assert end["finishReason"] == "MALFORMED_FUNCTION_CALL"
    assert "no object" in end["finishMessage"]


@both
@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        (Stop("end_turn"), "STOP"),
        (Stop("max_tokens"), "MAX_TOKENS"),
        (Stop("content_filter", "violence"), "SAFETY"),
        (Stop("context_overflow"), "MAX_TOKENS"),
        (Stop("other"), "OTHER"),
    ],
    ids=lambda value: value.reason if isinstance(value, Stop) else "",
)
async def test_why_an_answer_ended_is_said(stop: Stop, reason: str, stream: bool) -> None:
    end = (await chunks(stop, stream=stream))[-1]["candidates"][0]

    assert (end["finishReason"], end.get("finishMessage")) == (reason, stop.detail)


def model_turn(*given: dict[str, Any]) -> dict[str, Any]:
    return {"role": "model", "parts": list(given)}


def result_of(**fields: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": "read", "response": {"output": "ok"}} | fields}


def test_results_find_their_calls_by_id_else_by_name_and_order() -> None:
    made = model_turn(
        {"functionCall": {"name": "read", "args": {"n": 1}}},
        {"functionCall": {"name": "read", "id": "given"}},
        {"functionCall": {"name": "write"}, "thoughtSignature": "Q0FG"},
    )
    write = {"functionResponse": {"name": "write", "response": {"error": "no"}}}
    said = {"parts": [{"text": "Go on."}, result_of(id="given"), write, result_of()]}

    asked = read(contents=[USER, made, said])

    calls = asked.messages[1].parts
    assert [part.call_id for part in calls] == ["call_1", "given", "call_3"]
    assert [part.state for part in calls] == [None] * 3
    *results, text = asked.messages[2].parts
    found = [(part.call_id, part.tool, part.is_error) for part in results]
    assert found == [("given", "read", False), ("call_3", "write", True), ("call_1", "read", False)]
    assert text == TextPart(text="Go on.")


@pytest.mark.parametrize(
    ("response", "text", "is_error"),
    [
        ({"output": "x"}, "x", False),
        ({"result": {"a": 1}}, '{"a": 1}', False),
        ({"error": "no"}, "no", True),
        ({"a": 1, "error": "part"}, '{"a": 1, "error": "part"}', False),
        ({}, "{}", False),
    ],
)
def test_a_result_is_text(response: Any, text: str, is_error: bool) -> None:
    made = model_turn({"functionCall": {"name": "read", "id": "x"}})

    asked = read(contents=[USER, made, {"parts": [result_of(response=response)]}])

    assert asked.messages[2].parts == (
        ToolResultPart(
            call_id=CallId("x"), tool="read", content=(TextPart(text=text),), is_error=is_error
        ),
    )


UNFIT: list[tuple[dict[str, Any], str]] = [
    ({"contents": [model_turn({"text": "Hi"})]}, "first content is a user turn"),
    ({"contents": [USER, {"parts": [result_of()]}]}, "does not come immediately after"),
    (
        {"contents": [USER, model_turn({"functionCall": READ}), USER]},
        "must be followed by their results",
    ),
    ({"contents": [{"parts": [{}]}]}, "must have one initialized field"),
    ({"contents": [{"parts": [{"text": "a", "functionCall": READ}]}]}, "is already set"),
    ({"contents": [{"parts": [{"functionCall": READ}]}]}, "only be in model turns"),
    ({"contents": [USER | {"role": "assistant"}]}, "contents\\[0\\].role"),
    (
        {"contents": [{"parts": [{"inlineData": {"mimeType": "audio/wav", "data": ""}}]}]},
        "Unsupported MIME type: audio/wav",
    ),
    (
        {"contents": [{"parts": [{"inlineData": {"mimeType": "image/png", "data": "x"}}]}]},
        "Base64 decoding failed",
    ),
    ({"tools": [{"functionDeclarations": [READ, READ]}]}, "Duplicate"),
    (
        {
            "tools": [
                {"functionDeclarations": [READ | {"parameters": {}, "parametersJsonSchema": {}}]}
            ]
        },
        "only one of parameters",
    ),
    ({"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}, "without function_decl"),
    (
        {
            "tools": TOOLS,
            "toolConfig": {
                "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["walk"]}
            },
        },
        "not declared: walk",
    ),
    (
        {"generationConfig": {"thinkingConfig": {"thinkingBudget": 1, "thinkingLevel": "LOW"}}},
        "only one of thinking budget",
    ),
    ({"generationConfig": {"responseSchema": {}}}, "needs response_mime_type"),
    ({"cachedContent": "cachedContents/x"}, "'cached_content' is not supported"),
    ({"generationConfig": {"candidateCount": 2}}, "candidate_count"),
    (
        {
            "tools": [
                {
                    "functionDeclarations": [
                        READ | {"parameters": {"type": "ARRAY", "minItems": "x"}}
                    ]
                }
            ]
        },
        "min_items",
    ),
]


@pytest.mark.parametrize(("fields", "words"), UNFIT, ids=[words for _, words in UNFIT])
def test_what_does_not_fit_together_is_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        read(**fields)


@pytest.mark.parametrize(
    ("config", "level"),
    [
        ({}, "default"),
        ({"includeThoughts": True}, "default"),
        ({"thinkingLevel": "MINIMAL"}, "low"),
        ({"thinking_level": "MEDIUM"}, "medium"),
        ({"thinkingLevel": "XHIGH"}, "high"),
        ({"thinkingBudget": 0}, "none"),
        ({"thinkingBudget": -1}, "default"),
        ({"thinking_budget": 1024}, "low"),
        ({"thinkingBudget": 8192}, "medium"),
        ({"thinkingBudget": 24576}, "high"),
    ],
    ids=str,
)
def test_thinking_is_asked_for_by_level_or_budget(config: dict[str, Any], level: str) -> None:
    asked = read(generation_config={"thinkingConfig": config})

    assert asked.thinking == level
    assert asked.show_reasoning is bool(config.get("includeThoughts"))


@pytest.mark.parametrize(
    ("config", "choice", "names"),
    [
        (None, "auto", ["read", "write", "run"]),
        ({"mode": "AUTO"}, "auto", ["read", "write", "run"]),
        ({"mode": "VALIDATED"}, "auto", ["read", "write", "run"]),
        ({"mode": "NONE"}, "none", ["read", "write", "run"]),
        ({"mode": "ANY"}, AnyTool(), ["read", "write", "run"]),
        ({"mode": "ANY", "allowedFunctionNames": ["run"]}, NamedTool("run"), ["run"]),
        ({"mode": "ANY", "allowed_function_names": ["run", "read"]}, AnyTool(), ["read", "run"]),
        ({"mode": "VALIDATED", "allowedFunctionNames": ["run"]}, "auto", ["run"]),
    ],
    ids=str,
)
def test_functions_are_chosen(config: Any, choice: Any, names: list[str]) -> None:
    asked = read(tools=TOOLS, tool_config={"functionCallingConfig": config})

    assert asked.tool_choice == choice
    assert [tool.name for tool in asked.tools] == names


def test_googles_schemas_become_json_schemas() -> None:
    said = {
        "type": "OBJECT",
        "propertyOrdering": ["b", "a"],
        "required": ["a"],
        "properties": {
            "a": {"type": "string", "nullable": True, "enum": ["x"], "example": "x"},
            "b": {"type": "ARRAY", "min_items": "1", "items": {"ref": "#/defs/c"}},
            "d": {
                "anyOf": [{"type": "INTEGER"}, {"type": "NUMBER", "minimum": 0}],
                "nullable": True,
            },
        },
        "defs": {"c": {"type": "BOOLEAN", "description": "Whether."}},
    }

    asked = read(tools=[{"functionDeclarations": [READ | {"parameters": said}]}])

    assert asked.tools[0].parameters == {
        "type": "object",
        "required": ["a"],
        "properties": {
            "a": {"type": ["string", "null"], "enum": ["x", None]},
            "b": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/c"}},
            "d": {
                "anyOf": [{"type": "integer"}, {"type": "number", "minimum": 0}, {"type": "null"}]
            },
        },
        "$defs": {"c": {"type": "boolean", "description": "Whether."}},
    }


def test_options_of_googles_own_are_read_and_have_no_effect() -> None:
    category = {"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}
    config = {"temperature": 0.5, "topK": 40, "seed": 1, "responseModalities": ["TEXT"]}

    asked = read(
        safetySettings=[category], labels={"a": "b"}, serviceTier="flex", generationConfig=config
    )

    assert asked == read()


def test_text_data_becomes_text() -> None:
    data = {"mimeType": "text/csv", "data": "YSxi"}

    asked = read(contents=[{"parts": [{"text": "What?"}, {"inlineData": data}]}])

    assert asked.messages == (UserMessage(parts=(TextPart(text="What?"), TextPart(text="a,b"))),)


def test_a_whole_request_can_be_counted() -> None:
    whole = {"model": "models/m", "contents": [USER], "systemInstruction": USER}
    body = json.dumps({"generateContentRequest": whole}).encode()

    asked = GoogleFormat(BOX, "m", "countTokens").read(body)

    assert (asked.system, asked.messages) == ("Hi", read().messages)
    with pytest.raises(InvalidRequest, match="Set one of"):
        GoogleFormat(BOX, "m", "countTokens").read(b"{}")
    with pytest.raises(InvalidRequest, match="'contents'"):
        GoogleFormat(BOX, "m", "countTokens").read(b'{"contents": []}')


@pytest.mark.parametrize(
    ("code", "status", "name"),
    [
        ("budget_exhausted", 429, "RESOURCE_EXHAUSTED"),
        ("rate_limited", 429, "RESOURCE_EXHAUSTED"),
        ("unknown_model", 404, "NOT_FOUND"),
        ("too_large", 413, "INVALID_ARGUMENT"),
        ("provider_timeout", 504, "DEADLINE_EXCEEDED"),
        ("internal", 500, "INTERNAL"),
    ],
)
def test_errors_have_googles_shape(code: ErrorCode, status: int, name: str) -> None:
    refused = GoogleFormat(BOX).refused(ErrorInfo(code=code, message="No.", hint="Try."), "r")

    error = json.loads(refused.body)["error"]
    assert refused.status == status
    assert (error["code"], error["status"], error["message"]) == (status, name, "No. Try.")
    assert error["details"][0]["reason"] == code.upper()
    assert ("PerDay" in str(error)) is (code == "budget_exhausted")


def test_an_overflow_is_said_in_the_words_clients_look_for() -> None:
    refused = GoogleFormat(BOX).refused(ErrorInfo(code="context_overflow", message="No."), "r")

    assert b"exceeds the maximum number of tokens" in refused.body
