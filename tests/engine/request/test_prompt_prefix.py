"""Sent bytes do not change, except where the log records a rebase.

Real adapters against the strict simulators, over a real socket.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, cast

import pytest

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec
from jupyter_ai_shoulders.engine.environment.snapshot import WorkspaceFact, WorkspaceSituation
from jupyter_ai_shoulders.providers.base import Provider
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.ids import ModelId
from jupyter_ai_shoulders.wire.messages import FileAttachment, MessageContext
from tests.engine.engine_harness import CONTEXT, EngineHarness
from tests.engine.environment_harness import FakeEnvironment, ServedModels, engine_in, rebases
from tests.providers.adapter_fixtures import Kind, chat_model, claude, gpt
from tests.providers.conversation import connected
from tests.simulator import Reasoning, Simulator, ToolUse, reply
from tests.simulator.anthropic.signatures import without_breakpoints
from tests.simulator.script import Entry

STEPS = 30
TEXT = "One line of a file that is long enough to count for the cache.\n"
MODELS: dict[Kind, ModelSpec] = {
    "anthropic": claude("claude-sonnet-5-5"),
    "openai_chat": chat_model(model="sim-local", context_window=32_768),
    "openai_responses": gpt(),
}
INPUT = {"anthropic": "messages", "openai_chat": "messages", "openai_responses": "input"}


@asynccontextmanager
async def playing(
    place: FakeEnvironment, *kinds: Kind, script: list[Entry], **limits: Any
) -> AsyncGenerator[tuple[EngineHarness, Simulator]]:
    """An engine in an environment, its models' adapters connected to a simulator."""
    async with AsyncExitStack() as stack:
        simulator = await stack.enter_async_context(Simulator())
        simulator.script(*script)
        providers: dict[ModelSpec, Provider] = {}
        for kind in kinds:
            model = MODELS[kind]
            providers[model] = await stack.enter_async_context(
                connected(simulator, kind, model=model)
            )
        yield engine_in(place, ServedModels(providers), **limits), simulator


def look(number: int) -> Entry:
    """A step that reads something."""
    return reply(
        Reasoning(text=f"Thought {number}."),
        f"Step {number}.",
        ToolUse(name="look", arguments={"path": "a.ipynb", "word": str(number)}),
    )


def bodies(simulator: Simulator) -> list[dict[str, Any]]:
    """The request bodies, without the cache breakpoints, which move."""
    bare = [without_breakpoints(record.body) for record in simulator.requests]
    return cast("list[dict[str, Any]]", bare)


def digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def check_stable(before: dict[str, Any], after: dict[str, Any], kind: Kind) -> None:
    """Check that a request without its last turn is the start of the next one, byte for byte."""
    field = INPUT[kind]
    kept = len(before[field])
    assert digest(after[field][:kept]) == digest(before[field])
    rest = [{k: v for k, v in body.items() if k != field} for body in (before, after)]
    assert digest(rest[0]) == digest(rest[1])


@pytest.mark.parametrize("kind", MODELS)
async def test_bytes_sent_stay_the_same_over_thirty_steps(kind: Kind):
    place = FakeEnvironment(instructions={"_instructions.md": "Use metres. " * 300})
    script = [look(number) for number in range(1, STEPS)]
    async with playing(place, kind, script=[*script, "Done."], step_limit=STEPS + 10) as (w, sim):
        w.probe.contents["a.ipynb"] = TEXT * 40
        await w.say("Go", context=CONTEXT)
        sent = bodies(sim)
        assert w.exits() == ["final_response"]
        assert [record.refusal for record in sim.requests] == [None] * STEPS
    assert len(sent) == STEPS
    for before, after in itertools.pairwise(sent):
        check_stable(before, after, kind)
    assert rebases(w) == []


CHANGES: dict[int, Callable[[EngineHarness, FakeEnvironment], None]] = {
    2: lambda _, place: setattr(
        place, "now", WorkspaceSituation(facts=(WorkspaceFact("git branch", "other"),))
    ),
    3: lambda _, place: place.instructions.update({"_instructions.md": "Use feet."}),
    7: lambda w, _: setattr(w.file, "text", json.dumps({"version": 1, "disabled": ["edit"]})),
}
"""The change before each turn."""
REBASES = {3: "instructions", 5: "attachment", 7: "tools"}


async def test_bytes_change_only_at_logged_rebases_over_turns():
    """Ten turns of three steps, in which everything changeable changes once."""
    place = FakeEnvironment(files={"file: data.csv": "OLD"})
    script: list[Entry] = []
    for number in range(10):
        script += [look(number), look(number + 100), f"Answer {number}."]
    changed: dict[int, str] = {}
    async with playing(place, "anthropic", script=script) as (w, sim):
        for number in range(10):
            if number in CHANGES:
                CHANGES[number](w, place)
            attached = (FileAttachment(kind="file", path="data.csv"),) if number in {1, 5} else ()
            context = MessageContext(active_document="b.ipynb") if number > 7 else CONTEXT
            before = len(rebases(w))
            await w.say(f"Question {number}", context=context, attachments=attached)
            changed |= dict.fromkeys([number], "+".join(rebases(w)[before:]))
        sent = bodies(sim)
        assert [record.refusal for record in sim.requests] == [None] * STEPS
    assert {turn: reason for turn, reason in changed.items() if reason} == REBASES
    for index, (before, after) in enumerate(itertools.pairwise(sent), start=1):
        if index % 3 == 0 and changed[index // 3]:
            with pytest.raises(AssertionError):
                check_stable(before, after, "anthropic")
            assert "thinking" not in str(after["messages"])
        else:
            check_stable(before, after, "anthropic")


async def test_most_of_the_prompt_comes_from_the_cache():
    place = FakeEnvironment(instructions={"_instructions.md": "Use metres. " * 300})
    script = [look(number) for number in range(1, STEPS)]
    async with playing(place, "anthropic", script=[*script, "Done."], step_limit=50) as (w, _):
        await w.say("Go", context=CONTEXT)
    used = [event.usage for event in w.of(ev.UsageUpdate)]
    assert len(used) == STEPS
    share = sum(u.cache_read_tokens for u in used) / sum(u.input_tokens for u in used)
    assert share >= 0.9
    assert used[0].cache_read_tokens == 0
    assert all(u.cache_read_tokens / u.input_tokens > 0.9 for u in used[2:])


async def test_another_model_is_a_rebase_that_both_services_accept():
    script: list[Entry] = [look(1), "One.", look(2), "Two.", look(3), "Three."]
    chat = MODELS["openai_chat"].id
    async with playing(FakeEnvironment(), "anthropic", "openai_chat", script=script) as (w, sim):
        await w.say("First")
        await w.say("Second", model=ModelId(chat))
        await w.say("Third", model=MODELS["anthropic"].id)
        refusals = [record.refusal for record in sim.requests]
        sent = [record.body for record in sim.requests]
    assert refusals == [None] * 6
    assert rebases(w) == ["model", "model"]
    assert "Thought 1." not in str(sent[2])  # from another model; its own comes back in sent[4]
    assert "Thought 2." not in str(sent[4])
    assert w.exits() == ["final_response"] * 3
