"""A conversation that changes its model after every turn, through all formats and back.

Real engine, registry and adapters; the strict simulator refuses what any vendor would refuse, and
``tests.sdk_validation.request_validator`` also checks every request. Opaque state (signatures,
encrypted reasoning) goes back verbatim to the model that made it and nowhere else.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

from jupyter_ai_shoulders.wire.events import (
    ReasoningEnd,
    StepStart,
    TextDelta,
    TextEnd,
    ToolCall,
    TurnEnd,
    TurnStart,
)
from jupyter_ai_shoulders.wire.messages import ImageAttachment
from jupyter_ai_shoulders.wire.parts import ProviderState
from tests.engine.simulator_harness import MODELS, PIXEL, SimulatorHarness, wired
from tests.simulator import (
    Delivery,
    Failure,
    Reasoning,
    Simulator,
    ToolUse,
    reply,
)

NAMES = [str(model["id"]) for model in MODELS]
VENDOR_NAMES = {
    model["id"]: (model["provider"], model.get("model", model["id"])) for model in MODELS
}
IMAGE = ImageAttachment(kind="image", media_type="image/png", data=PIXEL, blob=None)

OPAQUE = {"signature", "encrypted_content", "data"}
"""Fields of opaque state that a model must get back unchanged."""

ROUND = [
    *("claude-opus-5-5", "gpt-6.1-sol", "gemini-3.8-flash", "qwen", "local"),
    *("qwen", "gemini-3.8-flash", "gpt-6.1-sol", "claude-opus-5-5"),
]
"""Through the five formats and back."""

EVERYONE = [
    *("claude-opus-5-5", "claude-haiku-5-5", "claude-sonnet-4-5", "claude-opus-5-5"),
    *("gpt-6.1-sol", "gpt-6-luna", "gpt-6.1-sol", "gemini-3.8-flash", "gemini-2.5-flash"),
    *("gemini-3.8-flash", "qwen", "llama", "deep", "local", "small", "router", "deep", "router"),
    *("small", "claude-haiku-5-5", "gpt-6-luna"),
]
"""Every model beside its sibling of other thinking, and every profile of chat servers."""


WITH_TOOLS = (
    reply(
        Reasoning(text="First I look, then I plot."),
        "I look.",
        ToolUse(name="look", arguments={"path": "a.ipynb"}),
        ToolUse(name="plot", arguments={"path": "a.ipynb", "word": "1"}),
    ),
    reply(Reasoning(text="I see it now."), "The plot rises."),
)
"""Think, speak and call two tools at once; then think and speak about the results."""


async def answered(talk: SimulatorHarness, model: str) -> None:
    """A whole turn."""
    talk.simulator.script(*WITH_TOOLS)
    end = await talk.say("Plot it.", model, attachments=(IMAGE,))
    assert end.exit == "final_response", f"{model}: {end.error}"
    assert talk.results()[-2:] == [("look", "ok"), ("plot", "ok")]


async def only_text(talk: SimulatorHarness, model: str) -> None:
    talk.simulator.script(reply(Reasoning(text="Easy."), "Yes."))
    assert (await talk.say("Is it so?", model)).exit == "final_response"


async def with_failing_calls(talk: SimulatorHarness, model: str) -> None:
    """A call that fails, one with a wrong type, one without JSON, one of an unknown tool."""
    talk.simulator.script(
        reply(
            Reasoning(text="All at once."),
            ToolUse(name="failing", arguments={"path": "a.ipynb"}),
            ToolUse(name="look", arguments={"path": 3}),
            ToolUse(name="nothing", arguments={"path": "a.ipynb"}),
            ToolUse(name="look", arguments={}),
        ),
        "It all failed.",
    )
    assert (await talk.say("Try.", model)).exit == "final_response"
    assert {status for _, status in talk.results()[-4:]} == {"error"}


async def failing_midway(talk: SimulatorHarness, model: str) -> None:
    talk.simulator.script(reply("One word and another. " * 5, failure=Failure(status=529, after=9)))
    end = await talk.say("Tell.", model)
    assert end.error is not None


async def refused(talk: SimulatorHarness, model: str) -> None:
    talk.simulator.script(reply(failure=Failure(status=401)))
    end = await talk.say("Tell.", model)
    assert end.error is not None
    assert end.error.code == "authentication"


async def cancelled_in_text(talk: SimulatorHarness, model: str) -> None:
    stalled = Delivery(ending="stall", event_delay=0.001)
    talk.simulator.script(reply(Reasoning(text="Hm."), "Half a sentence and", delivery=stalled))
    shown = shows(talk, TextDelta)
    await talk.send("Tell me.", model)
    await soon(shown)
    await talk.cancel()
    assert talk.end().exit == "cancelled"


async def cancelled_in_a_tool(talk: SimulatorHarness, model: str) -> None:
    word = f"held{len(talk.sent)}"
    reached = talk.probe.hold(f"look:a.ipynb{word}")
    talk.simulator.script(
        reply(
            Reasoning(text="Wait."),
            ToolUse(name="plot", arguments={"path": "b.ipynb"}),
            ToolUse(name="look", arguments={"path": "a.ipynb", "word": word}),
        )
    )
    await talk.send("Look long.", model)
    await soon(reached)
    await talk.cancel()
    assert talk.end().exit == "cancelled"


async def interrupted(talk: SimulatorHarness, model: str) -> None:
    """The server stops in the middle of the turn; the next message discards it."""
    stalled = Delivery(ending="stall", event_delay=0.001)
    talk.simulator.script(reply(Reasoning(text="Hm."), "Half a", delivery=stalled))
    shown = shows(talk, TextDelta)
    await talk.send("Tell me.", model)
    await soon(shown)
    await talk.restart()


async def of_thoughts_only(talk: SimulatorHarness, model: str) -> None:
    talk.simulator.script(reply(Reasoning(text="Nothing to say.")), reply("Well."), reply("Well."))
    await talk.say("Say nothing.", model)
    talk.simulator.playing.replies.clear()


Turn = Callable[[SimulatorHarness, str], Awaitable[None]]
TURNS: list[Turn] = [
    answered,
    only_text,
    with_failing_calls,
    failing_midway,
    refused,
    cancelled_in_text,
    cancelled_in_a_tool,
    interrupted,
    of_thoughts_only,
]


def shows(talk: SimulatorHarness, kind: type[Any]) -> asyncio.Event:
    """Return an event that is set when the next event of this kind is logged."""
    arrived = asyncio.Event()

    def look(event: object) -> None:
        if isinstance(event, kind):
            arrived.set()
            talk.store.before_append = None

    talk.store.before_append = look
    return arrived


async def soon(event: asyncio.Event) -> None:
    async with asyncio.timeout(60):
        await event.wait()


async def play(talk: SimulatorHarness, turns: list[tuple[str, Turn]]) -> None:
    """Play the turns, and check all requests."""
    for model, turn in turns:
        before = len(talk.simulator.requests)
        known = states(talk)
        await turn(talk, model)
        accepted(talk)
        for record in talk.simulator.requests[before:]:
            check_states(str(model), json_text(record.body), known)
    talk.check()


def accepted(talk: SimulatorHarness) -> None:
    refusals = [record.refusal for record in talk.simulator.requests if record.refusal]
    assert refusals == []


def states(talk: SimulatorHarness) -> list[ProviderState]:
    """The opaque state of all turns so far, without discarded reasoning."""
    known: list[ProviderState] = []
    pending: list[ProviderState] = []
    for event in talk.events:
        match event:
            case ReasoningEnd() if event.state is not None:
                pending.append(event.state)
            case TextEnd() | ToolCall() | TextDelta():
                own = None if isinstance(event, TextDelta) else event.state
                known += [*pending, *([own] if own else [])]
                pending = []
            case StepStart() | TurnEnd():
                pending = []
            case _:
                pass
    return known


def secrets_of(data: Any) -> Iterator[str]:
    """The opaque strings in a state."""
    if isinstance(data, dict):
        for name, value in cast("dict[str, Any]", data).items():
            if name in OPAQUE and isinstance(value, str) and value:
                yield value
            else:
                yield from secrets_of(value)
    elif isinstance(data, list):
        for item in cast("list[Any]", data):
            yield from secrets_of(item)


def json_text(body: Any) -> str:
    return json.dumps(body, ensure_ascii=False)


def check_states(model: str, body: str, known: list[ProviderState]) -> None:
    """The model's own state comes back verbatim; no other model's state is sent."""
    owner = VENDOR_NAMES[model]
    for state in known:
        own = (state.provider, state.model) == owner
        for secret in secrets_of(state.data):
            assert (secret in body) == own, (
                f"{state.model}'s {secret} in a request to {model}: {not own}"
            )


async def test_every_turn_another_format(simulator: Simulator, tmp_path: Path) -> None:
    async with wired(simulator, tmp_path) as talk:
        await play(talk, [(model, answered) for model in ROUND])
        assert [start.model for start in talk.of(TurnStart)] == ROUND
    assert len(simulator.requests) == 2 * len(ROUND)


async def test_every_model_and_profile_after_its_sibling(
    simulator: Simulator, tmp_path: Path
) -> None:
    async with wired(simulator, tmp_path) as talk:
        await play(talk, [(model, answered) for model in EVERYONE])
    assert len(simulator.requests) == 2 * len(EVERYONE)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("turn", TURNS, ids=lambda turn: turn.__name__)
async def test_turns_that_end_badly_between_formats(
    simulator: Simulator, tmp_path: Path, turn: Turn
) -> None:
    others = itertools.cycle([answered, turn, turn])
    async with wired(simulator, tmp_path) as talk:
        await play(talk, [(model, next(others)) for model in [*ROUND, *ROUND[1:]]])


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(12))
async def test_models_and_ends_of_turns_in_any_order(
    simulator: Simulator, tmp_path: Path, seed: int
) -> None:
    chance = Random(seed)
    turns = [
        (chance.choice(NAMES), chance.choice([*TURNS, answered, only_text])) for _ in range(16)
    ]
    async with wired(simulator, tmp_path) as talk:
        await play(talk, turns)
