"""A real server that names a conversation after its first turn."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from traitlets.config import Config

from tests.server.client import Api
from tests.server.conftest import MODEL
from tests.simulator import Reply, Simulator, ToolUse, reply
from tests.simulator.script import SimRequest


@pytest.fixture
def jp_server_config(jp_server_config: Config) -> Config:
    jp_server_config.Shoulders.titles = True
    return jp_server_config


def answer(request: SimRequest) -> Reply:
    """The model's answer: a title if one is requested."""
    if request.tool_names == ("answer",):
        return reply(ToolUse(name="answer", arguments={"title": "Rain in Bergen"}))
    return reply("It faces the sea.")


async def test_conversation_gets_a_title_that_is_booked_to_it(
    api: Api, upstream: Simulator
) -> None:
    upstream.default(answer)
    session = await api.new_session(model=MODEL)
    async with api.stream(session) as stream, asyncio.timeout(60):
        await api.send(session, "Why does it rain so much in Bergen?")
        while not any(titled(event) for event in stream.events):
            await stream.news()
    found = (await api.get(f"sessions/{session}")).body
    rows = (await api.get("usage", by="session")).body["rows"]
    assert (found["title"], found["status"]) == ("Rain in Bergen", "idle")
    asked = [record for record in upstream.requests if record.path == "/v1/messages"]
    assert len(asked) == 2
    assert [row["calls"] for row in rows] == [2]


def titled(event: dict[str, Any]) -> bool:
    """Return whether the event has the title."""
    update = event["type"] == "session-update"
    return update and event["session"]["title"] == "Rain in Bergen"
