"""Whole conversations with the strict Chat Completions servers of the simulator."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec, ServerProfile
from jupyter_ai_shoulders.providers.base import AnyTool, NamedTool, ToolChoice
from jupyter_ai_shoulders.wire.parts import ModelMessage, ReasoningPart, TextPart
from tests.providers.adapter_fixtures import chat_model
from tests.providers.anthropic.test_conversations import HISTORIES
from tests.providers.conversation import Conversation, connected
from tests.simulator import Reasoning, Simulator, ToolUse, reply

EFFORT: dict[str, Any] = {
    "mode": "effort",
    "off": "disabled",
    "efforts": ["low", "medium", "high"],
}
SERVERS: dict[str, tuple[ServerProfile, dict[str, Any]]] = {
    "sim-local": ("auto", {}),
    "sim-lmstudio": ("lmstudio", {}),
    "sim-llamacpp": ("llamacpp", {}),
    "gpt-4.1": ("openai", {"max_output": 32_768, "verbosity": "low"}),
    "gpt-6.1-terra": ("openai", {"thinking": "none", "thinking_support": EFFORT}),
    "mistral-large-latest": ("mistral", {}),
    "deepseek-v4-flash": ("deepseek", {}),
    "openrouter/auto": ("openrouter", {"thinking": "high", "thinking_support": EFFORT}),
}


def model_of(name: str) -> tuple[ServerProfile, ModelSpec]:
    profile, settings = SERVERS[name]
    return profile, chat_model(id=name, model=name, **settings)


@pytest.mark.parametrize("name", SERVERS)
async def test_tool_loop_is_accepted(simulator: Simulator, name: str) -> None:
    simulator.script(
        reply(
            Reasoning(text="First."),
            "I will look.",
            ToolUse(name="read", arguments={"n": 1}),
            ToolUse(name="read", arguments={}),
        ),
        reply(Reasoning(text="Again."), ToolUse(name="read", arguments={"n": 2})),
        reply("There are 2."),
        reply("Bye."),
    )
    profile, model = model_of(name)
    async with connected(simulator, "openai_chat", model=model, profile=profile) as provider:
        talk = Conversation(provider, model)
        await talk.say("How many?")
        await talk.answer_calls()
        last = await talk.answer_calls()
        assert last.parts[-1] == TextPart(text="There are 2.")
        await talk.say("Thanks.")
    assert [record.refusal for record in simulator.requests] == [None] * 4


@pytest.mark.parametrize("choice", [AnyTool(), NamedTool("read"), "none", "auto"])
@pytest.mark.parametrize("name", SERVERS)
async def test_every_tool_choice_is_accepted(
    simulator: Simulator, name: str, choice: ToolChoice
) -> None:
    simulator.script(reply("Hm."))
    profile, model = model_of(name)
    async with connected(simulator, "openai_chat", model=model, profile=profile) as provider:
        await Conversation(provider, model).say("How many?", tool_choice=choice)
    assert simulator.requests[0].refusal is None


@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize("name", SERVERS)
async def test_history_is_accepted(simulator: Simulator, name: str, history: str) -> None:
    simulator.script(reply("Yes."))
    profile, model = model_of(name)
    messages: list[ModelMessage] = list(HISTORIES[history])
    async with connected(simulator, "openai_chat", model=model, profile=profile) as provider:
        await Conversation(provider, model, messages).step()
    assert simulator.requests[0].refusal is None


async def test_server_without_a_key_gets_none(simulator: Simulator) -> None:
    simulator.script(reply("Hm."))
    profile, model = model_of("sim-local")
    async with connected(
        simulator, "openai_chat", model=model, profile=profile, key=None
    ) as provider:
        await Conversation(provider, model).say("Hi")
    assert "authorization" not in simulator.requests[0].headers


async def test_deepseek_gets_its_reasoning_back_with_calls(simulator: Simulator) -> None:
    simulator.script(reply(Reasoning(text="Hm."), ToolUse(name="read", arguments={})), reply("So."))
    profile, model = model_of("deepseek-v4-flash")
    async with connected(simulator, "openai_chat", model=model, profile=profile) as provider:
        talk = Conversation(provider, model)
        answer = await talk.say("Look.")
        assert isinstance(answer.parts[0], ReasoningPart)
        await talk.answer_calls()
    sent = simulator.requests[1].body["messages"]
    assert [m.get("reasoning_content") for m in sent] == [None, None, "Hm.", None]


async def test_image_of_a_result_follows_as_the_users(simulator: Simulator) -> None:
    simulator.script(reply("Yes."))
    model = chat_model(id="gpt-4.1", model="gpt-4.1", images=True)
    messages: list[ModelMessage] = list(HISTORIES["image result"])
    async with connected(simulator, "openai_chat", model=model, profile="openai") as provider:
        await Conversation(provider, model, messages).step()
    sent = simulator.requests[0].body["messages"]
    assert sent[-2:] == [
        {"role": "tool", "tool_call_id": "a", "content": "A plot\n[image below]"},
        {
            "role": "user",
            "content": [
                {
                    "type": "image_url",
                    "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="},
                }
            ],
        },
    ]
