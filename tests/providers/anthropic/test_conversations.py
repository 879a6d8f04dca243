"""Whole conversations with the strict simulator over a real socket: every model, every level."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.core.catalogue.specs import ThinkingLevel
from jupyter_ai_shoulders.providers.base import AnyTool, NamedTool, ToolChoice
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.parts import (
    ImagePart,
    ModelMessage,
    ReasoningPart,
    TextPart,
    ToolResultPart,
    UserMessage,
)
from tests.providers.adapter_fixtures import (
    assistant,
    call,
    chat_model,
    claude,
    result,
    results,
    user,
)
from tests.providers.conversation import Conversation, connected
from tests.simulator import Reasoning, Simulator, ToolUse, reply

MODELS = [
    *("claude-fable-5-2", "claude-fable-5-1", "claude-mythos-5-2", "claude-mythos-5-1"),
    *("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5"),
    *("claude-opus-5", "claude-sonnet-5", "claude-opus-4-8", "claude-opus-4-7"),
    *("claude-opus-4-6", "claude-sonnet-4-6", "claude-sonnet-4-5", "claude-haiku-4-5"),
]
LEVELS: list[ThinkingLevel] = ["default", "none", "low", "medium", "high"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", MODELS)
async def test_tool_loop_is_accepted(simulator: Simulator, name: str, level: ThinkingLevel) -> None:
    simulator.script(
        reply(
            Reasoning(text="First."),
            Reasoning(text="", redacted=True),
            "I will look.",
            ToolUse(name="read", arguments={"n": 1}),
            ToolUse(name="read", arguments={}),
        ),
        reply(Reasoning(text="Again."), ToolUse(name="read", arguments={"n": 2})),
        reply(Reasoning(text="Done."), "There are 2."),
        reply("Bye."),
    )
    model = claude(name)
    async with connected(simulator, "anthropic", model=model) as provider:
        talk = Conversation(provider, model)
        await talk.say("How many?", thinking=level)
        await talk.answer_calls(thinking=level)
        last = await talk.answer_calls(thinking=level)
        assert last.parts[-1] == TextPart(text="There are 2.")
        await talk.say("Thanks.", thinking=level)
    assert [record.refusal for record in simulator.requests] == [None] * 4


@pytest.mark.sampled(7)
@pytest.mark.parametrize("choice", [AnyTool(), NamedTool("read"), "none", "auto"])
@pytest.mark.parametrize("name", MODELS)
async def test_every_tool_choice_is_accepted(
    simulator: Simulator, name: str, choice: ToolChoice
) -> None:
    simulator.script(reply("Hm."))
    model = claude(name)
    async with connected(simulator, "anthropic", model=model) as provider:
        await Conversation(provider, model).say("How many?", tool_choice=choice)


async def test_reasoning_is_shown_by_every_model_that_thinks(simulator: Simulator) -> None:
    model = claude("claude-opus-5-5")
    simulator.script(reply(Reasoning(text="Look at cell 3."), "Done."))
    async with connected(simulator, "anthropic", model=model) as provider:
        answer = await Conversation(provider, model).say("Why?")
    assert [part.text for part in answer.parts if isinstance(part, ReasoningPart)] == [
        "Look at cell 3."
    ]


async def test_thinking_comes_back_only_to_the_model_that_made_it(simulator: Simulator) -> None:
    """The simulator refuses a signature of another model."""
    simulator.default(reply(Reasoning(text="Hm."), "So."))
    first, second = claude("claude-opus-5"), claude("claude-sonnet-5")
    async with connected(simulator, "anthropic", model=first) as provider:
        talk = Conversation(provider, first)
        await talk.say("One?")
        await talk.say("Two?")
    async with connected(simulator, "anthropic", model=second) as provider:
        talk = Conversation(provider, second, talk.messages)
        await talk.say("Three?")
    kinds = [
        [block["type"] for message in record.body["messages"] for block in message["content"]]
        for record in simulator.requests
    ]
    assert kinds == [
        ["text"],
        ["text", "thinking", "text", "text"],
        ["text", "text", "text", "text", "text"],
    ]


@pytest.mark.parametrize("level", ["default", "none"])
@pytest.mark.parametrize(
    "name", ["claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5"]
)
async def test_changed_prefix_is_accepted_everywhere(
    simulator: Simulator, name: str, level: ThinkingLevel
) -> None:
    """Thinking bound to a changed prefix is dropped, also in a tool loop."""
    simulator.script(
        reply(Reasoning(text="One."), "Hello."),
        reply(Reasoning(text="Two."), ToolUse(name="read", arguments={})),
        reply(Reasoning(text="Three."), ToolUse(name="read", arguments={})),
        reply("Done."),
        reply("Bye."),
    )
    model = claude(name)
    async with connected(simulator, "anthropic", model=model) as provider:
        talk = Conversation(provider, model)
        await talk.say("Hi", thinking="default")
        talk.system = "Be verbose."
        await talk.say("Look.", thinking="default")
        await talk.answer_calls(thinking="default")
        talk.system = "Be terse."
        await talk.answer_calls(thinking=level)
        await talk.say("Thanks.", thinking=level, tools=())
    assert [record.refusal for record in simulator.requests] == [None] * 5


async def test_unchanged_prefix_keeps_all_thinking(simulator: Simulator) -> None:
    simulator.default(reply(Reasoning(text="Hm."), "So."))
    model = claude("claude-opus-5-5")
    async with connected(simulator, "anthropic", model=model) as provider:
        talk = Conversation(provider, model)
        for _ in range(4):
            await talk.say("And?")
    last = simulator.requests[-1].body["messages"]
    kinds = [block["type"] for message in last for block in message["content"]]
    assert kinds.count("thinking") == 3


HISTORIES: dict[str, list[ModelMessage]] = {
    "empty text": [user("Hi"), assistant(TextPart(text=" ")), user("  "), user("Go on.")],
    "text before results": [
        user("Hi"),
        assistant(call("a"), call("b")),
        UserMessage(parts=(TextPart(text="By the way"), result("a"), result("b"))),
    ],
    "empty result": [user("Hi"), assistant(call("a")), results(result("a", ""))],
    "failed result": [user("Hi"), assistant(call("a")), results(result("a", "No.", error=True))],
    "ids of another vendor": [
        user("Hi"),
        assistant(call("functions.read:0"), call("functions.read:1"), call("日")),
        results(result("functions.read:0"), result("functions.read:1"), result("日")),
    ],
    "reasoning of another vendor": [
        user("Hi"),
        assistant(ReasoningPart(text="Hm."), TextPart(text="So.")),
        user("And?"),
    ],
    "image result": [
        user("Hi"),
        assistant(call("a")),
        results(
            ToolResultPart(
                call_id=CallId("a"),
                tool="read",
                content=(
                    TextPart(text="A plot"),
                    ImagePart(media_type="image/png", data="iVBORw0KGgo="),
                ),
                is_error=False,
            )
        ),
    ],
    "lone surrogate": [user("Look: \ud83d")],
    "two user messages": [user("Hi"), user("Are you there?")],
}


@pytest.mark.parametrize("name", HISTORIES)
@pytest.mark.parametrize("model", ["claude-sonnet-5-5", "claude-haiku-4-5"])
async def test_history_is_accepted(simulator: Simulator, name: str, model: str) -> None:
    simulator.script(reply("Yes."))
    spec = claude(model)
    async with connected(simulator, "anthropic", model=spec) as provider:
        await Conversation(provider, spec, list(HISTORIES[name])).step()
    assert simulator.requests[0].refusal is None


async def test_conversation_moves_between_vendors(simulator: Simulator) -> None:
    """Each vendor accepts ids, reasoning and results of the other."""
    simulator.default(reply(Reasoning(text="Hm."), "I look.", ToolUse(name="read", arguments={})))
    there, here = claude("claude-sonnet-5-5"), chat_model(id="sim-local", model="sim-local")
    messages: list[ModelMessage] = []
    for _ in range(2):
        async with connected(simulator, "anthropic", model=there) as provider:
            await Conversation(provider, there, messages).say("Look.")
        async with connected(simulator, "openai_chat", model=here) as provider:
            await Conversation(provider, here, messages).answer_calls()
        messages.append(results(*(result(part) for part in open_calls(messages))))
    assert [record.refusal for record in simulator.requests] == [None] * 4


def open_calls(messages: list[ModelMessage]) -> list[str]:
    return [part.call_id for part in messages[-1].parts if part.type == "tool-call"]
