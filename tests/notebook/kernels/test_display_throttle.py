"""Display updates: only the newest of a moment is delivered, in order with other messages."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from jupyter_client.session import Session

from jupyter_ai_shoulders.notebook.kernel_channels import CONTENT, Frames
from jupyter_ai_shoulders.notebook.kernels.display_throttle import HELD_BYTES, DisplayThrottle

SESSION = Session(key=b"")
Got = list[tuple[str, Any]]


def frames(kind: str, content: dict[str, Any]) -> Frames:
    return SESSION.serialize(SESSION.msg(kind, content))[1:6]


def update(display: str, value: str, **more: Any) -> Frames:
    data = {"text/plain": value, **more}
    transient = {"display_id": display}
    content = {"data": data, "metadata": {}, "transient": transient}
    return frames("update_display_data", content)


def printed(text: str) -> Frames:
    return frames("stream", {"name": "stdout", "text": text})


def deliver_all(held: DisplayThrottle[str], got: Got, *messages: Frames) -> None:
    for parts in messages:
        if not held.hold("request", parts):
            got.append(("request", said(parts)))


def said(parts: Frames) -> str:
    content = json.loads(parts[CONTENT])
    return content["text"] if "text" in content else content["data"]["text/plain"]


def holding() -> tuple[DisplayThrottle[str], Got]:
    got: Got = []
    return DisplayThrottle[str](lambda request, parts: got.append((request, said(parts)))), got


async def test_only_the_newest_update_of_a_display_comes_in_time():
    got: asyncio.Queue[str] = asyncio.Queue()
    held = DisplayThrottle[str](lambda _, parts: got.put_nowait(said(parts)))
    for parts in [*(update("a", str(n)) for n in range(100)), update("b", "other")]:
        assert held.hold("request", parts)
    assert got.empty()
    async with asyncio.timeout(20):
        assert [await got.get(), await got.get()] == ["99", "other"]


async def test_what_else_comes_finds_the_updates_before_it_done():
    held, got = holding()
    deliver_all(held, got, update("a", "1"), update("a", "2"), printed("x"), update("a", "3"))
    held.release()
    assert [text for _, text in got] == ["2", "x", "3"]


async def test_other_requests_keep_their_own_updates():
    held, got = holding()
    assert held.hold("first", update("a", "1"))
    assert held.hold("second", update("a", "2"))
    held.forget("first")
    held.release()
    assert got == [("second", "2")]


@pytest.mark.parametrize(
    "parts",
    [
        update("a", "z" * HELD_BYTES),
        frames("display_data", {"data": {"text/plain": "x"}, "transient": {"display_id": "a"}}),
        frames(
            "update_display_data",
            {
                "transient": {"display_id": "a"},
                "data": {"text/plain": "x", "application/json": {"transient": {"display_id": "b"}}},
            },
        ),
    ],
    ids=["large", "a new display", "an id that is data"],
)
async def test_what_cannot_be_told_is_passed_on_at_once(parts: Frames):
    held, got = holding()
    deliver_all(held, got, update("a", "before"), parts)
    assert got[0] == ("request", "before")
    assert len(got) == 2
