"""A compaction in every format: the strict simulators accept what is sent afterwards.

The provider finds the prompt too long in the middle of a tool loop, with thinking on: the hardest
place, because what was thought before the calls is gone then.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_ai_shoulders.testing.simulator import Reasoning, Simulator, ToolUse, reply
from jupyter_ai_shoulders.wire.events import ContextRebase, StepStart
from tests.engine.wired import MODELS, Wired, wired
from tests.integration.test_switching import WITH_TOOLS
from tests.integration.test_upstream_faults import OVERFLOWS, refusal

KINDS = {
    "anthropic": "anthropic",
    "openai": "openai_responses",
    "google": "google",
    "ollama": "ollama",
}
"""Formats by provider; all others are compatible chat servers."""
NAMES = {str(model["id"]): KINDS.get(str(model["provider"]), "openai_chat") for model in MODELS}


async def talked(talk: Wired, model: str, turns: int) -> None:
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
