"""Conversations that outgrow a small model, for tests of compaction."""

from __future__ import annotations

from typing import Any

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec
from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.core.summaries import Summary, SummaryRequest
from jupyter_ai_shoulders.engine.request.summary_text import HEADER
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.testing.memory_store import MemoryStore
from jupyter_ai_shoulders.testing.scripted_provider import (
    Call,
    Gate,
    Say,
    ScriptedTurn,
    ScriptEntry,
    Think,
    turn,
)
from jupyter_ai_shoulders.testing.scripted_provider import ScriptedProvider as Provider
from jupyter_ai_shoulders.tools.conversation.todo import Todo
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.ids import ModelId
from jupyter_ai_shoulders.wire.parts import AssistantMessage, ModelMessage, TextPart
from tests.engine.engine_harness import (
    CONTEXT,
    EngineHarness,
    make_engine_around,
    make_session,
    make_settings,
    model_spec,
)
from tests.engine.fake_tools import ToolProbe
from tests.engine.log_invariants import check_contexts, check_log, check_requests

SMALL = model_spec(context_window=8_500)
"""Leaves room for 5 100 tokens: prompt and tools (1 900) and three turns of ``talk`` (850 each)."""
LONG = "x" * 2_500
"""About 715 tokens, in one delta."""
BUSY = ProviderError("Busy.", code="overloaded", retryable=True)
TOO_LONG = ProviderError("Prompt is too long.", code="context_overflow")


class Writer:
    """A scripted summariser; ``None`` leaves the summary to the engine."""

    def __init__(self, *said: str | Exception | Gate | None) -> None:
        self.said = list(said)
        self.orders: list[SummaryRequest] = []

    async def summarise(self, order: SummaryRequest) -> Summary | None:
        self.orders.append(order)
        said = self.said.pop(0) if self.said else f"Summary {len(self.orders)}."
        if isinstance(said, Gate):
            said.reached.set()
            await said.open.wait()
            said = "Summary after a wait."
        if isinstance(said, Exception):
            raise said
        return None if said is None else Summary(said, ModelId("cheap"))


def conversation(
    *script: ScriptEntry, writer: Writer | None = None, model: ModelSpec = SMALL, **limits: Any
) -> EngineHarness:
    store = MemoryStore()
    store.add(make_session(mode="auto_edit"))
    return make_engine_around(
        store,
        ToolProbe(),
        Provider(*script),
        model=model,
        limits=make_settings(**limits),
        loop=[Todo()],
        summarizer=writer or Writer(),
    )


def answer(*items: Any) -> ScriptedTurn:
    """A reply without reported usage, so that estimates stay unchanged."""
    return turn(*items, usage=None)


async def talk(w: EngineHarness, turns: int, first: int = 0) -> None:
    """Turns of four messages each: a question, a call, its result, an answer."""
    for number in range(first, first + turns):
        w.provider.extend(
            answer(Think("Hm."), Say("Look."), Call("look", {"path": "a", "word": str(number)})),
            answer(Say(f"Answer {number}. {LONG}")),
        )
        await w.say(f"Question {number}.", context=CONTEXT)


def check(w: EngineHarness) -> None:
    check_log(w.events)
    check_requests(w.provider.requests)
    check_contexts(w.events, w.store.blobs)


def text_of(message: ModelMessage) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, TextPart))


def summary_of(request: ModelRequest) -> str:
    """The summary in a request, right after the first message."""
    said = request.messages[1]
    assert isinstance(said, AssistantMessage)
    text = text_of(said)
    assert text.startswith(HEADER)
    return text.removeprefix(HEADER)


def compactions(w: EngineHarness) -> list[ev.ContextRebase]:
    return [event for event in w.of(ev.ContextRebase) if event.reason == "compaction"]
