"""The official Google SDK, unchanged, in front of a model of each vendor."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import Client, types

from jupyter_ai_shoulders.testing.simulator import (
    Reasoning,
    Simulator,
    ToolUse,
    Usage,
    reply,
)
from tests.server.proxy.conftest import CLAUDE, MODELS, QWEN

# The SDK's own; as in the tests of the simulator.
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class:DeprecationWarning")

READ = types.FunctionDeclaration(
    name="read",
    description="Read a cell.",
    parameters_json_schema={"type": "object", "properties": {"n": {"type": "integer"}}},
)
TOOLS = [types.Tool(function_declarations=[READ])]


async def ask(
    sdk: Client, model: str, contents: Any, *, stream: bool, **config: Any
) -> types.GenerateContentResponse:
    """Ask through the SDK; of a stream the answer is the last chunk, with the parts of all."""
    given = types.GenerateContentConfig(**config)
    if not stream:
        return await sdk.aio.models.generate_content(model=model, contents=contents, config=given)
    parts: list[types.Part] = []
    last = types.GenerateContentResponse()
    chunks = await sdk.aio.models.generate_content_stream(
        model=model, contents=contents, config=given
    )
    async for last in chunks:
        parts += parts_of(last)
    assert last.candidates
    last.candidates[0].content = types.Content(role="model", parts=parts)
    return last


def parts_of(answer: types.GenerateContentResponse) -> list[types.Part]:
    assert answer.candidates
    assert answer.candidates[0].content
    return answer.candidates[0].content.parts or []


def content_of(answer: types.GenerateContentResponse) -> types.Content:
    """The answer as a program sends it back."""
    return types.Content(role="model", parts=parts_of(answer))


def text_of(answer: types.GenerateContentResponse) -> str:
    return "".join(part.text or "" for part in parts_of(answer) if not part.thought)


def thoughts_of(answer: types.GenerateContentResponse) -> str:
    return "".join(part.text or "" for part in parts_of(answer) if part.thought)


def reason_of(answer: types.GenerateContentResponse) -> str | None:
    assert answer.candidates
    return answer.candidates[0].finish_reason


both = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
every_model = pytest.mark.parametrize("model", MODELS)


@both
@every_model
async def test_text(google_sdk: Client, upstream: Simulator, model: str, stream: bool) -> None:
    usage = Usage(input=120, output=7, cache_read=40)
    upstream.script(reply("Hällo, 日本 🙂.", usage=usage))

    answer = await ask(google_sdk, model, "Hi", stream=stream, system_instruction="Be brief.")

    assert text_of(answer) == "Hällo, 日本 🙂."
    assert (reason_of(answer), answer.model_version) == ("STOP", model)
    used = answer.usage_metadata
    assert used is not None
    assert (used.prompt_token_count, used.candidates_token_count) == (120, 7)
    assert used.cached_content_token_count == (0 if model == QWEN else 40)


@both
@every_model
async def test_parallel_calls_and_results_without_ids(
    google_sdk: Client, upstream: Simulator, model: str, stream: bool
) -> None:
    """Results are made as the SDK makes them: with the function's name and no id."""
    upstream.script(
        reply(
            Reasoning(text="Two cells."),
            "I look.",
            ToolUse(name="read", arguments={"n": 1}),
            ToolUse(name="read", arguments={}),
        ),
        reply(Reasoning(text="Once more."), ToolUse(name="read", arguments={"n": 3})),
        reply("Done."),
    )
    contents = [types.Content(role="user", parts=[types.Part.from_text(text="Look")])]
    for _ in range(2):
        answer = await ask(google_sdk, model, contents, stream=stream, tools=TOOLS)
        calls = [part.function_call for part in parts_of(answer) if part.function_call]
        assert reason_of(answer) == "STOP"
        results = [
            types.Part.from_function_response(name="read", response={"result": str(call.args)})
            for call in calls
        ]
        contents += [content_of(answer), types.Content(role="user", parts=results)]
    last = await ask(google_sdk, model, contents, stream=stream, tools=TOOLS)

    assert text_of(last) == "Done."
    assert [record.refusal for record in upstream.requests] == [None] * 3
    seen = upstream.requests[1].seen
    assert seen is not None
    assert ["'n': 1" in text for text in seen.tool_results] == [True, False]
    if model == CLAUDE:
        blocks = upstream.requests[2].body["messages"][1]["content"]
        assert [block["type"] for block in blocks] == ["thinking", "text", "tool_use", "tool_use"]
