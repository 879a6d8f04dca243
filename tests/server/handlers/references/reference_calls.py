"""Conversations whose scripted model calls tools of references over HTTP."""

from __future__ import annotations

from typing import Any

from tests.server.client import Api
from tests.simulator import Simulator, ToolUse, reply

ASKED = "approval-request"


async def converse(
    api: Api, upstream: Simulator, *calls: ToolUse, mode: str = "ask"
) -> tuple[str, list[dict[str, Any]]]:
    """Run a conversation with these calls, approving what asks; return its id and its log."""
    upstream.script(*(reply(call) for call in calls), "Done.")
    session_id = await api.new_session(mode=mode, toolset="full")
    answered: set[str] = set()
    async with api.stream(session_id) as stream:
        assert (await api.send(session_id, "go")).status == 202
        while not any(event["type"] == "turn-end" for event in stream.events):
            await stream.news()
            for event in [event for event in stream.events if event["type"] == ASKED]:
                if event["call_id"] not in answered:
                    answered.add(event["call_id"])
                    target = f"sessions/{session_id}/approvals/{event['call_id']}"
                    answer = {"decision": "allow", "scope": "once"}
                    assert (await api.post(target, answer)).status == 202
    return session_id, await api.events(session_id)


def results(events: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the status and the text of each result."""
    return [
        (event["status"], "".join(part.get("text", "") for part in event["content"]))
        for event in events
        if event["type"] == "tool-result"
    ]


def asked(events: list[dict[str, Any]]) -> list[str]:
    """Return the tools that asked."""
    return [event["tool"] for event in events if event["type"] == ASKED]
