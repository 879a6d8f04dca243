"""Measuring and compacting long conversations does not block the event loop."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Coroutine
from typing import Any

import pytest

from jupyter_ai_shoulders.testing.memory_store import MemoryStore
from jupyter_ai_shoulders.testing.scripted_provider import Say
from jupyter_ai_shoulders.testing.scripted_provider import ScriptedProvider as Provider
from jupyter_ai_shoulders.tools.conversation.todo import Todo
from jupyter_ai_shoulders.wire import events as ev
from tests.engine.engine_harness import SESSION, EngineHarness, make_engine_around, model_spec
from tests.engine.request.compaction_conversations import (
    Writer,
    answer,
    compactions,
    conversation,
    talk,
)

# the event loop


def grown(w: EngineHarness, count: int) -> MemoryStore:
    """Return the store with the second turn repeated until it has that many events."""
    events = w.events
    second = [index for index, event in enumerate(events) if isinstance(event, ev.MessageAdd)][1]
    pattern = [event for event in events[second:] if not isinstance(event, ev.ContextAdd)]
    store = w.store.cut(SESSION, len(events))
    for number in range(1 + (count - len(events)) // len(pattern)):
        for event in pattern:
            ids = {
                name: f"{getattr(event, name)}_{number}"
                for name in ("message_id", "turn_id", "call_id", "part_id")
                if getattr(event, name, None) is not None
            }
            store.append(SESSION, event.model_copy(update=ids))
    return store


async def longest_hold(work: Coroutine[Any, Any, None]) -> float:
    """Run it; return the longest processor time, in seconds, between two iterations of the event
    loop.
    """
    gaps = [0.0]

    async def probe() -> None:
        while True:
            begun = time.thread_time()
            await asyncio.sleep(0)
            gaps.append(time.thread_time() - begun)

    gc.collect()
    gc.disable()  # garbage of earlier tests would distort the measurement
    probing = asyncio.create_task(probe())
    try:
        await work
    finally:
        probing.cancel()
        gc.enable()
    return max(gaps)


@pytest.mark.parametrize(
    ("window", "compacted"), [(2_000_000, 0), (200_000, 1)], ids=["opened", "compacted"]
)
async def test_ten_thousand_events_do_not_hold_up_the_event_loop(window: int, compacted: int):
    w = conversation()
    await talk(w, 2)
    store = grown(w, 10_000)
    model = model_spec(context_window=window)
    after = make_engine_around(
        store,
        w.probe,
        Provider(answer(Say("Yes."))),
        model=model,
        loop=[Todo()],
        summarizer=Writer(None),
    )

    async def opened() -> None:
        await after.engine.start()
        await after.say("Short", message="later")

    assert await longest_hold(opened()) < 0.1
    assert after.exits()[-1] == "final_response"
    assert len(compactions(after)) == compacted
    assert len(after.events) > 10_000
