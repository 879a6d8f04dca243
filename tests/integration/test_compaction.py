"""A compaction in every format: the strict simulators accept the following requests.

The provider finds the prompt too long in the middle of a tool loop, with thinking on: the hardest
case, because the reasoning before the calls is removed then.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import JsonValue

from jupyter_ai_shoulders.wire.events import ContextRebase, StepStart
from tests.engine.simulator_harness import MODELS, PIXEL, SimulatorHarness, wired
from tests.integration.test_model_switching import WITH_TOOLS
from tests.integration.test_upstream_faults import OVERFLOWS, refusal
from tests.simulator import Reasoning, Simulator, ToolUse, reply

KINDS = {
    "anthropic": "anthropic",
    "openai": "openai_responses",
    "google": "google",
    "ollama": "ollama",
}
"""Formats by provider; all others are compatible chat servers."""
NAMES = {str(model["id"]): KINDS.get(str(model["provider"]), "openai_chat") for model in MODELS}


async def talked(talk: SimulatorHarness, model: str, turns: int) -> None:
    for number in range(turns):
        talk.simulator.script(*WITH_TOOLS)
        end = await talk.say(f"Plot {number}.", model)
        assert end.exit == "final_response", end.error


@pytest.mark.parametrize(("model", "kind"), NAMES.items(), ids=list(NAMES))
async def test_tool_loop_goes_on_after_a_compaction(
    simulator: Simulator, tmp_path: Path, model: str, kind: str
):
    async with wired(simulator, tmp_path) as talk:
        await talked(talk, model, 5)
        look = ToolUse(name="look", arguments={"path": "a.ipynb", "word": "again"})
        simulator.script(
            reply(Reasoning(text="Once more."), "I look.", look),
            refusal(400, OVERFLOWS[kind]),
            reply(Reasoning(text="There it is."), "Found.", look),
            reply("Done."),
        )
        end = await talk.say("And now?", model)
        assert end.exit == "final_response", end.error
        assert [event.reason for event in talk.of(ContextRebase)] == ["compaction"]
        assert [event.step for event in talk.of(StepStart)][-4:] == [1, 2, 2, 3]
        bodies = talk.bodies()
        assert "Plot 0." in bodies[-1]
        assert "Plot 1." not in bodies[-1].replace("- Plot 1.", "")
        assert "Summary of what was said and done" in bodies[-1]
        await talked(talk, model, 1)
        talk.check()
    assert talk.refusals() == []


async def test_model_may_change_after_a_compaction(simulator: Simulator, tmp_path: Path):
    async with wired(simulator, tmp_path) as talk:
        await talked(talk, "claude-opus-5-5", 5)
        simulator.script(refusal(400, OVERFLOWS["anthropic"]), *WITH_TOOLS)
        assert (await talk.say("More", "claude-opus-5-5")).exit == "final_response"
        for model in ("gpt-6.1-sol", "gemini-3.8-flash", "qwen", "local", "claude-opus-5-5"):
            await talked(talk, model, 1)
        talk.check()
    assert talk.refusals() == []


NOTES: dict[str, JsonValue] = {
    "goals": ["Plot the data"],
    "user_said": [],
    "decisions": [],
    "state": ["a.ipynb has a plot"],
    "failed": [],
    "open": [],
}


async def test_model_writes_the_summary(simulator: Simulator, tmp_path: Path):
    async with wired(simulator, tmp_path, summaries=True) as talk:
        await talked(talk, "claude-opus-5-5", 5)
        simulator.script(
            refusal(400, OVERFLOWS["anthropic"]),
            reply(ToolUse(name="answer", arguments=NOTES)),
            reply("Done."),
        )
        assert (await talk.say("More", "claude-opus-5-5")).exit == "final_response"
        (event,) = talk.of(ContextRebase)
        assert isinstance(event.replaced, dict)
        # The simulator is on this machine, so the conversation stays with its own model.
        assert event.replaced["model"] == "claude-opus-5-5"
        assert "Goals:\\n- Plot the data" in talk.bodies()[-1]
        asked = talk.bodies()[-2]
        assert "User: Plot 0." not in asked  # the first message stays
        assert "User: Plot 1." in asked
        assert PIXEL not in asked
        talk.check()
    assert talk.refusals() == []


async def test_summary_that_fails_twice_is_a_plain_list(simulator: Simulator, tmp_path: Path):
    async with wired(simulator, tmp_path, summaries=True) as talk:
        await talked(talk, "claude-opus-5-5", 5)
        simulator.script(
            refusal(400, OVERFLOWS["anthropic"]), refusal(529), refusal(529), reply("Done.")
        )
        assert (await talk.say("More", "claude-opus-5-5")).exit == "final_response"
        (event,) = talk.of(ContextRebase)
        assert isinstance(event.replaced, dict)
        assert event.replaced["model"] is None
        assert "No model wrote this" in talk.bodies()[-1]
        talk.check()
