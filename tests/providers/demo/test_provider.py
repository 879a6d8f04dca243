"""The demo as a provider: its stream keeps the port's contract and can be cancelled anywhere."""

from __future__ import annotations

import asyncio
import time

import pytest

from jupyter_ai_shoulders.providers.base import (
    ListedModel,
    ModelRequest,
    PartDelta,
    PartEnd,
    PartStart,
    ProviderEvent,
    Stop,
    ToolArgumentsDelta,
    ToolCallReady,
    ToolCallStart,
    UsageReport,
)
from jupyter_ai_shoulders.providers.demo.provider import DemoProvider
from jupyter_ai_shoulders.wire.parts import TextPart, ToolDefinition, UserMessage


def asking(text: str) -> ModelRequest:
    workspace = TextPart(text="<workspace>\nactive document: a b.ipynb\n</workspace>")
    tools = (ToolDefinition(name="read_notebook", description="", parameters={}),)
    message = UserMessage(parts=(TextPart(text=text), workspace))
    return ModelRequest("demo", "Be kind", (message,), tools)


async def streamed(text: str) -> list[ProviderEvent]:
    provider = DemoProvider(words_per_second=0)
    return [event async for event in provider.stream(asking(text))]


async def test_answer_is_one_text_part_in_words() -> None:
    events = await streamed("hello")
    assert isinstance(events[0], PartStart)
    deltas = [event.text for event in events if isinstance(event, PartDelta)]
    assert deltas[:3] == ["Hello! ", "I ", "am "]
    assert isinstance(events[-3], PartEnd)
    assert isinstance(events[-2], UsageReport)
    assert events[-2].usage.estimated
    assert events[-1] == Stop("end_turn")


async def test_call_comes_after_its_announcement() -> None:
    events = await streamed("outline the notebook")
    start = next(event for event in events if isinstance(event, ToolCallStart))
    ready = next(event for event in events if isinstance(event, ToolCallReady))
    raw = "".join(event.text for event in events if isinstance(event, ToolArgumentsDelta))
    assert (ready.call_id, ready.tool, ready.raw) == (start.call_id, "read_notebook", raw)
    assert ready.arguments == {"path": "a b.ipynb"}
    assert events[-1] == Stop("tool_use")


async def test_call_ids_do_not_repeat() -> None:
    ids = {
        event.call_id
        for _ in range(3)
        for event in await streamed("outline")
        if isinstance(event, ToolCallStart)
    }
    assert len(ids) == 3


async def test_words_take_time_and_a_cancel_does_not_wait_for_them() -> None:
    provider = DemoProvider(words_per_second=20)
    begun, seen = asyncio.Event(), list[ProviderEvent]()

    async def listen() -> None:
        async for event in provider.stream(asking("hello")):
            seen.append(event)
            if len(seen) == 4:
                begun.set()

    started = time.monotonic()
    task = asyncio.create_task(listen())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert 0.1 < time.monotonic() - started < 60  # the upper bound tells a hang from a slow machine
    assert len(seen) == 4


async def test_one_model_is_listed() -> None:
    provider = DemoProvider()
    assert await provider.list_models() == [ListedModel("demo", capabilities=frozenset({"tools"}))]
    await provider.aclose()
