"""Loading tools changes sent bytes at the logged rebase only.

Real adapters against the strict simulators, which also refuse a history whose calls differ from the
model's.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec
from jupyter_ai_shoulders.testing.memory_store import MemoryStore
from jupyter_ai_shoulders.wire import events as ev
from tests.engine.engine_harness import make_engine_around, make_session, make_settings
from tests.engine.fake_tools import ToolProbe
from tests.engine.log_invariants import check_contexts, check_log
from tests.engine.plan_tools import Find, GitEdit, GitLook
from tests.providers.adapter_fixtures import Kind, chat_model, claude, gemini, gpt, llama
from tests.providers.conversation import connected
from tests.simulator import Reasoning, Simulator, ToolUse, reply
from tests.simulator.anthropic.signatures import without_breakpoints

MODELS: dict[Kind, ModelSpec] = {
    "anthropic": claude(),
    "openai_chat": chat_model(model="sim-local", context_window=32_768),
    "openai_responses": gpt(),
    "google": gemini(),
    "ollama": llama(context_window=131_072),
}
FIELD: dict[Kind, str] = {
    "anthropic": "messages",
    "openai_chat": "messages",
    "openai_responses": "input",
    "google": "contents",
    "ollama": "messages",
}


def use(tool: str, **arguments: Any) -> Any:
    return reply(Reasoning(text=f"To {tool}."), ToolUse(name=tool, arguments=arguments))


STEPS = [{"tool": "find", "args": {"path": "nb"}, "save_as": "ids.cell"}]
LOOK = {"tool": "look", "args": {"path": {"var": "ids.cell"}}}
SCRIPT: list[Any] = [
    use("load_tools", category="git"),
    use("call_tool", name="git_look", arguments={"word": "x", "path": "a"}),
    use("call_tool", name="git_edit", arguments={"path": "a"}),
    use("run_plan", steps=[*STEPS, LOOK], stop_when=["ids.cell", "ids.none"]),
    use("run_plan", steps=[*STEPS, LOOK]),
    "Loaded and looked.",
    use("git_look", path="b"),
    "Looked again.",
]
REBASED = 6
"""The first request of the second turn."""


@pytest.mark.parametrize("kind", MODELS)
async def test_loading_changes_sent_bytes_only_at_the_rebase_of_the_next_turn(kind: Kind):
    rows: Any = {"nb": [{"cell_id": "b"}]}
    loop = [GitLook(ToolProbe()), GitEdit(ToolProbe()), Find(ToolProbe(), rows)]
    store = MemoryStore()
    store.add(make_session(mode="auto_edit"))
    async with Simulator() as simulator:
        simulator.script(*SCRIPT)
        async with connected(simulator, kind, model=MODELS[kind]) as provider:
            played: Any = provider
            w = make_engine_around(
                store,
                ToolProbe(),
                played,
                model=MODELS[kind],
                limits=make_settings(),
                loop=loop,
                planning=True,
            )
            await w.say()
            await w.say()
        refusals = [record.refusal for record in simulator.requests]
        sent: list[Any] = [without_breakpoints(record.body) for record in simulator.requests]
    assert refusals == [None] * len(SCRIPT)
    assert w.exits() == ["final_response"] * 2
    assert [result.status for result in w.of(ev.ToolResult)] == [
        "ok",
        "ok",
        "ok",
        "error",
        "ok",
        "ok",
    ]
    assert [event.reason for event in w.of(ev.ContextRebase)] == ["tools"]
    for number, (before, after) in enumerate(itertools.pairwise(sent), start=1):
        assert stable(before, after, FIELD[kind]) == (number != REBASED)
    assert ["git_look" in json.dumps(body["tools"]) for body in sent] == [False] * 6 + [True] * 2
    check_log(w.events)
    check_contexts(w.events, w.store.blobs)


def stable(before: dict[str, Any], after: dict[str, Any], field: str) -> bool:
    """Return whether a request contains all but the newest messages of the one before."""
    rest = [
        {name: value for name, value in body.items() if name != field} for body in (before, after)
    ]
    kept = len(before[field])
    return json.dumps(after[field][:kept]) == json.dumps(before[field]) and (
        json.dumps(rest[0]) == json.dumps(rest[1])
    )
