"""Every stream of a response is one the official SDK's types describe, with nothing besides."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai import omit
from openai._models import BaseModel as SdkModel
from openai.lib.streaming.responses._responses import ResponseStreamState
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.providers.base import (
    AnyTool,
    NamedTool,
    PartDelta,
    PartEnd,
    PartStart,
    ProviderEvent,
    Stop,
    StopReason,
    ToolArgumentsDelta,
    ToolCallReady,
    ToolCallStart,
    UsageReport,
)
from jupyter_ai_shoulders.proxy.openai_responses.format import OpenAIResponsesFormat
from jupyter_ai_shoulders.proxy.reply_accumulator import ReplyAccumulator
from jupyter_ai_shoulders.proxy.request import ProxyRequest
from jupyter_ai_shoulders.proxy.sealed_state import StateSealer
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import CallId, PartId
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    ImagePart,
    ProviderState,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UserMessage,
)
from jupyter_ai_shoulders.wire.usage import TokenUsage
from tests.providers.adapter_fixtures import FakeClock

FORMAT = OpenAIResponsesFormat(StateSealer(b"secret"), FakeClock())
STATE = ProviderState(provider="google", model="g", data={"thoughtSignature": "Q0FG"})
EVENTS: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
TOOL: dict[str, Any] = {
    "type": "function",
    "name": "read",
    "description": "Read.",
    "parameters": {"type": "object", "properties": {}},
    "strict": True,
}


def read(**fields: Any) -> ProxyRequest:
    return FORMAT.read(json.dumps({"model": "m", "input": "Hi", **fields}).encode())


SHOWN = read(reasoning={"summary": "auto", "effort": "low"}, tools=[TOOL], metadata={"a": "b"})
HIDDEN = read(store=False, text={"format": {"type": "json_object"}, "verbosity": "low"})


def only_known_fields(value: Any) -> None:
    """Fail on whatever the SDK's types do not name."""
    if isinstance(value, SdkModel):
        assert not value.model_extra, (type(value).__name__, value.model_extra)
        for name in type(value).model_fields:
            only_known_fields(getattr(value, name))
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            only_known_fields(item)


def streamed(
    asked: ProxyRequest, *events: ProviderEvent, failed: ErrorInfo | None = None
) -> list[Any]:
    """Write the stream; return its events, each as the SDK's type for it."""
    writer = FORMAT.writer(asked, "r1")
    data = writer.begin(TokenUsage()) + b"".join(map(writer.feed, events))
    if failed is not None:
        data += writer.fail(failed)
    return list(parsed(data.decode(), error_last=failed is not None))


def parsed(data: str, *, error_last: bool) -> Iterator[Any]:
    blocks = data.removesuffix("\n\n").split("\n\n")
    for number, block in enumerate(blocks):
        head, _, body = block.partition("\ndata: ")
        raw = json.loads(body)
        assert head == f"event: {raw['type']}"
        assert raw["sequence_number"] == number
        if error_last and number == len(blocks) - 1:
            yield raw
            continue
        event = EVENTS.validate_json(body, strict=True)
        only_known_fields(event)
        yield event


def whole(asked: ProxyRequest, *events: ProviderEvent) -> Response:
    answer = ReplyAccumulator()
    for event in events:
        answer.add(event)
    response = Response.model_validate_json(FORMAT.body(asked, "r1", answer), strict=True)
    only_known_fields(response)
    return response


def text(name: str, *pieces: str, state: ProviderState | None = None) -> list[ProviderEvent]:
    part = PartId(name)
    deltas = [PartDelta(part, piece) for piece in pieces]
    return [PartStart("text", part), *deltas, PartEnd(part, state)]


def reasoning(name: str, *pieces: str, state: ProviderState | None = None) -> list[ProviderEvent]:
    return [PartStart("reasoning", PartId(name)), *text(name, *pieces, state=state)[1:]]


def call(name: str, *pieces: str, state: ProviderState | None = None) -> list[ProviderEvent]:
    call_id, raw = CallId(name), "".join(pieces)
    ready = ToolCallReady(call_id, "read", json.loads(raw or "{}"), raw, None, state)
    deltas = [ToolArgumentsDelta(call_id, piece) for piece in pieces]
    return [ToolCallStart(call_id, "read"), *deltas, ready]


def test_the_events_of_an_answer_come_in_the_order_of_the_api() -> None:
    events = streamed(
        SHOWN,
        *reasoning("a", "H", "m.", state=STATE),
        *text("b", "So", "."),
        *call("c", '{"n"', ":1}"),
        UsageReport(TokenUsage(input_tokens=9, output_tokens=5)),
        Stop("tool_use"),
    )

    assert [event.type.removeprefix("response.") for event in events] == [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    last = events[-1].response
    assert [item.type for item in last.output] == ["reasoning", "message", "function_call"]
    assert (last.usage.input_tokens, last.usage.output_tokens, last.usage.total_tokens) == (
        9,
        5,
        14,
    )
    assert last.metadata == {"a": "b"}
    assert last.tools[0].name == "read"


def test_a_call_without_arguments_gets_empty_ones() -> None:
    events = streamed(SHOWN, *call("c"), Stop("tool_use"))

    deltas = [event.delta for event in events if event.type.endswith("arguments.delta")]
    assert deltas == ["{}"]
    assert events[-1].response.output[0].arguments == "{}"


def test_a_call_that_was_cut_off_is_incomplete() -> None:
    cut = ToolCallReady(CallId("c"), "read", None, "", "cut off")
    events = streamed(SHOWN, ToolCallStart(CallId("c"), "read"), cut, Stop("max_tokens"))

    (item,) = events[-1].response.output
    assert (item.arguments, item.status) == ("", "incomplete")
    assert events[-2].item == item


def test_broken_arguments_reach_the_caller_as_they_are() -> None:
    broken = ToolCallReady(CallId("c"), "read", None, '{"n": ', "broken")
    delta = ToolArgumentsDelta(CallId("c"), '{"n": ')
    events = [ToolCallStart(CallId("c"), "read"), delta, broken, Stop("tool_use")]

    assert streamed(SHOWN, *events)[-1].response.output == whole(SHOWN, *events).output
    assert cast("Any", whole(SHOWN, *events).output[0]).arguments == '{"n": '


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("overloaded", "server_error"),
        ("stream_truncated", "server_error"),
        ("rate_limited", "rate_limit_exceeded"),
        ("budget_exhausted", "rate_limit_exceeded"),
        ("content_filtered", "invalid_prompt"),
    ],
)
def test_a_failure_ends_the_response_and_then_is_said_as_an_error(code: Any, word: str) -> None:
    info = ErrorInfo(code=code, message="It broke.", hint="Try again.")
    *_, failed, error = streamed(
        SHOWN, *text("a", "One"), PartStart("text", PartId("b")), failed=info
    )

    assert (failed.type, failed.response.status) == ("response.failed", "failed")
    assert (failed.response.error.code, failed.response.error.message) == (
        word,
        "It broke. Try again.",
    )
    assert [text_of(item) for item in failed.response.output] == ["One"]
    assert error["error"]["message"] == "It broke. Try again."


pieces = st.lists(st.text(max_size=6), max_size=4)
states = st.sampled_from([None, STATE])


@st.composite
def answers(draw: st.DrawFn) -> list[ProviderEvent]:
    """Any answer as adapters give it: parts one after the other, calls that may overlap."""
    events: list[ProviderEvent] = []
    for index in range(draw(st.integers(0, 5))):
        name, state = f"p{index}", draw(states)
        match draw(st.sampled_from(["text", "reasoning", "call", "calls"])):
            case "text":
                events += text(name, *draw(pieces), state=state)
            case "reasoning":
                events += reasoning(name, *draw(pieces), state=state)
            case "call":
                events += call(name, *draw(st.sampled_from([(), ('{"n":', "1}"), ("{}",)])))
            case _:
                one = call(f"{name}a", '{"n":', "1}", state=state)
                other = call(f"{name}b", '{"n":', '"ü"}')
                both = [event for pair in zip(one, other, strict=True) for event in pair]
                events += both
    if draw(st.booleans()):
        events.append(UsageReport(TokenUsage(input_tokens=3, output_tokens=2)))
    reasons: list[StopReason] = ["end_turn", "tool_use", "max_tokens", "content_filter", "other"]
    return [*events, Stop(draw(st.sampled_from(reasons)))]


@settings(max_examples=300, deadline=None)
@given(events=answers(), asked=st.sampled_from([SHOWN, HIDDEN]))
def test_any_answer_is_a_valid_stream_and_the_same_as_in_one_piece(
    events: list[ProviderEvent], asked: ProxyRequest
) -> None:
    seen = streamed(asked, *events)
    reader: Any = ResponseStreamState(input_tools=[], text_format=omit)
    for event in seen:
        reader.handle_event(event)  # raises where the SDK would

    expected = whole(asked, *events)
    assert seen[-1].response.model_dump() == expected.model_dump()
    assert seen[-1].type == f"response.{expected.status}"
    done = [event.item for event in seen if event.type == "response.output_item.done"]
    assert [item.model_dump() for item in done] == [item.model_dump() for item in expected.output]
    for index, item in enumerate(expected.output):
        assert text_of_deltas(seen, index) == text_of(item)


def text_of_deltas(events: list[Any], index: int) -> str:
    return "".join(
        event.delta for event in events if hasattr(event, "delta") and event.output_index == index
    )


def text_of(item: Any) -> str:
    match item.type:
        case "message":
            return "".join(part.text for part in item.content)
        case "reasoning":
            return "".join(part.text for part in item.summary)
        case _:
            return item.arguments


def sent_back(response: Response, *more: Any, **fields: Any) -> ProxyRequest:
    """Read the request of a program that sends the answer's items back as they came."""
    items = [item.model_dump(mode="json", exclude_unset=True) for item in response.output]
    question = {"role": "user", "content": "Hi"}
    return read(input=[question, *items, *more], **fields)


def test_the_state_of_reasoning_messages_and_calls_comes_back() -> None:
    other = ProviderState(provider="openai", model="o", data={"phase": "commentary"})
    response = whole(
        SHOWN,
        *reasoning("a", "Hm.", state=STATE),
        *text("b", "So.", state=other),
        *call("c", '{"n":1}', state=STATE),
        *call("d", '{"n":2}'),
        Stop("tool_use"),
    )
    assert [item.type for item in response.output] == [
        "reasoning",
        "message",
        "function_call",
        "function_call",
        "reasoning",
    ]
    results = [
        {"type": "function_call_output", "call_id": name, "output": "ok"} for name in ("c", "d")
    ]
    _, said, given_back = sent_back(response, *results).messages

    assert said == AssistantMessage(
        parts=(
            ReasoningPart(text="Hm.", state=STATE),
            TextPart(text="So.", state=other),
            ToolCallPart(call_id=CallId("c"), tool="read", arguments={"n": 1}, state=STATE),
            ToolCallPart(call_id=CallId("d"), tool="read", arguments={"n": 2}),
        )
    )
    assert [part.type for part in given_back.parts] == ["tool-result", "tool-result"]


def test_hidden_reasoning_comes_back_whole() -> None:
    asked = read(include=["reasoning.encrypted_content"], store=False)
    response = whole(
        asked, *reasoning("a", "Hm.", state=STATE), *text("b", "So."), Stop("end_turn")
    )

    assert "Hm." not in response.model_dump_json()
    assert sent_back(response, {"role": "user", "content": "And?"}).messages[1].parts[0] == (
        ReasoningPart(text="Hm.", state=STATE)
    )


def test_a_caller_that_stores_nothing_and_includes_nothing_gets_no_state() -> None:
    response = whole(
        HIDDEN, *reasoning("a", "Hm.", state=STATE), *call("c", state=STATE), Stop("tool_use")
    )

    assert [item.type for item in response.output] == ["reasoning", "function_call"]
    assert "shoulders1." not in response.model_dump_json()


@pytest.mark.parametrize("sealed", ["gAAAAABfromOpenAI", "shoulders1.AAAA", ""])
def test_state_that_is_not_ours_is_left_out(sealed: str) -> None:
    item: Any = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": sealed}
    asked = read(input=[{"role": "user", "content": "Hi"}, item])
    assert asked.messages == (UserMessage(parts=(TextPart(text="Hi"),)),)


def test_items_become_messages() -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"}
    summary = {"type": "summary_text", "text": "Hm."}
    asked = read(
        instructions="Be brief.",
        input=[
            {"role": "developer", "content": "Use tools."},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [summary],
            },
            {"role": "assistant", "content": "I look."},
            {"type": "function_call", "call_id": "c", "name": "read", "arguments": '{"n":1}'},
            {"type": "function_call_output", "call_id": "c", "output": [image]},
            {"role": "system", "content": "Go on."},
        ],
    )

    assert asked.system == "Be brief.\n\nUse tools."
    picture = ImagePart(media_type="image/png", data="AAAA")
    assert asked.messages == (
        UserMessage(parts=(TextPart(text="Hi"),)),
        AssistantMessage(
            parts=(
                ReasoningPart(text="Hm."),
                TextPart(text="I look."),
                ToolCallPart(call_id=CallId("c"), tool="read", arguments={"n": 1}),
            )
        ),
        UserMessage(
            parts=(
                ToolResultPart(
                    call_id=CallId("c"), tool="read", content=(picture,), is_error=False
                ),
                TextPart(text="Go on."),
            )
        ),
    )


def test_an_answer_is_whole_whatever_stands_between_its_items() -> None:
    response = whole(
        SHOWN,
        *reasoning("a", "Hm.", state=STATE),
        *call("c", '{"n":1}'),
        *call("d", '{"n":2}', state=STATE),
        Stop("tool_use"),
    )
    items = {item.id or "": item.model_dump(exclude_unset=True) for item in response.output}
    thought, one, two, carried = items.values()
    first, second = (
        {"type": "function_call_output", "call_id": name, "output": name} for name in ("c", "d")
    )
    question = {"role": "user", "content": "Hi"}
    after = {"role": "user", "content": "And?"}
    apart = read(input=[question, thought, one, first, two, second, carried, after])

    assert (
        apart.messages
        == read(input=[question, thought, one, two, carried, first, second, after]).messages
    )
    assert len(apart.messages) == 3
    other = {**two, "id": "fc_another_1"}
    assert len(read(input=[question, thought, one, first, other, second, after]).messages) == 5


OLD = (
    "shoulders1.iAZ-Ow3oJ9g9QkCAZqD1zHgBrYwxCoAwEAT_srWItj5Aa7EUkWCOMxA9uUQb8e-ef7Bbd"
    "oYZkVY5oydN5eJUAykKoLixoLlxqFzBIBqwCEcyuImn-B22vcvu87JFeM1D4N3lU8lwX7Udnsf8xLPWc"
    "_1Pz4KYXqBXO-Y="
)
"""What an answer carried when this format came; programs keep their conversations."""


def test_state_that_was_sealed_long_ago_still_opens() -> None:
    carried: Any = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": OLD}
    call_item = {"type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"}
    said = {"type": "message", "role": "assistant", "id": "msg_r1_1", "content": "So."}
    output = {"type": "function_call_output", "call_id": "c", "output": "ok"}
    question = {"role": "user", "content": "Hi"}

    answer = read(input=[question, said, call_item, carried, output]).messages[1]

    assert isinstance(answer, AssistantMessage)
    assert [part.state for part in answer.parts] == [STATE] * 2


ALLOWED = {"type": "allowed_tools", "tools": [{"type": "function", "name": "read"}]}


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (None, "auto"),
        ("auto", "auto"),
        ("none", "none"),
        ("required", AnyTool()),
        ({"type": "function", "name": "read"}, NamedTool("read")),
        ({**ALLOWED, "mode": "auto"}, "auto"),
        ({**ALLOWED, "mode": "required"}, AnyTool()),
    ],
    ids=["absent", "auto", "none", "required", "named", "allowed", "one of the allowed"],
)
def test_tool_choices(choice: Any, expected: Any) -> None:
    other = {**TOOL, "name": "write"}
    asked = read(tools=[TOOL, other], tool_choice=choice)

    assert asked.tool_choice == expected
    allowed = isinstance(choice, dict) and "mode" in choice
    assert [tool.name for tool in asked.tools] == (["read"] if allowed else ["read", "write"])
    assert whole(asked, Stop("end_turn")).tool_choice is not None


@pytest.mark.parametrize(
    ("effort", "level"),
    [
        (None, "default"),
        ("none", "none"),
        ("minimal", "low"),
        ("medium", "medium"),
        ("xhigh", "high"),
    ],
)
def test_effort_becomes_a_level(effort: str | None, level: str) -> None:
    assert read(reasoning={"effort": effort}).thinking == level


def test_fields_that_only_steer_the_vendor_s_service_have_no_effect() -> None:
    steering = {
        "temperature": 0.2,
        "top_p": 0.5,
        "truncation": "auto",
        "service_tier": "flex",
        "safety_identifier": "me",
        "user": "me",
        "max_tool_calls": 3,
        "prompt_cache_retention": "24h",
        "prompt_cache_options": {"mode": "implicit"},
        "stream_options": {"include_obfuscation": False},
        "background": False,
        "store": False,
        "previous_response_id": None,
    }
    plain, steered = read(store=False), read(**steering)

    assert replace(steered, echo={}) == replace(plain, echo={})
    response = whole(steered, Stop("end_turn"))
    assert (response.temperature, response.truncation, response.user) == (0.2, "auto", "me")


def test_json_that_is_nested_too_deeply_is_refused() -> None:
    deep: Any = {}
    for _ in range(70):
        deep = {"x": deep}
    tool = {**TOOL, "parameters": {"type": "object", "properties": deep}}
    for fields in ({"tools": [tool]}, {"prompt_cache_options": deep}):
        with pytest.raises(InvalidRequest, match="64 levels"):
            read(**fields)


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'"x"', b'{"model": "m"}', b'{"input": 1}'])
def test_a_body_that_makes_no_sense_is_refused(raw: bytes) -> None:
    with pytest.raises(InvalidRequest):
        FORMAT.read(raw)
