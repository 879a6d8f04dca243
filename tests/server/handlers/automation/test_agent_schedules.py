"""The agent schedules its own next runs: only where that is on, and never beyond the limits."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.client import Api
from tests.simulator import Simulator, ToolUse, reply


async def turn(api: Api, session: str, text: str, message: str = "m") -> list[dict[str, Any]]:
    async with api.stream(session) as stream:
        await api.post(f"sessions/{session}/messages", {"id": message, "text": text})
        await stream.until("turn-end")
    return await api.events(session)


async def new_session(api: Api, **fields: Any) -> str:
    return (await api.post("sessions", {"kind": "run", **fields})).body["id"]


def results(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] == "tool-result"]


async def switch_on(api: Api) -> None:
    assert (await api.put("settings", {"schedules": {"agent": True}})).status == 200
    rule = {"action": "allow", "tool": "schedule_next_run"}
    permissions = {"disabled": [], "rules": [rule], "disable_external": False}
    assert (await api.put("tools/permissions", permissions)).status == 200


def call(**arguments: Any) -> ToolUse:
    given = {"prompt": "Look again.", "reason": "It takes long."} | arguments
    return ToolUse(name="schedule_next_run", arguments=given)


async def test_it_is_off_by_default(api: Api, upstream: Simulator) -> None:
    upstream.script(reply(call(**{"in": "1h"})), "No.")
    events = await turn(api, await new_session(api), "Look again later.")

    (refused,) = results(events)
    assert refused["status"] == "error"
    assert refused["result"]["error"]["code"] == "disabled"
    assert "schedule_next_run" not in str(upstream.requests[0].body["tools"])
    assert (await api.get("schedules")).body["schedules"] == []


async def test_a_run_continues_its_conversation_and_can_be_cancelled_there_only(
    api: Api, upstream: Simulator
) -> None:
    await switch_on(api)
    session = await new_session(api)
    upstream.script(reply(call(**{"in": "2h"})), "I look again in two hours.")
    events = await turn(api, session, "Wait for it.")

    made = results(events)[0]["result"]["data"]["id"]
    ((found,)) = (await api.get("schedules")).body["schedules"]
    schedule = found["schedule"]
    assert (schedule["id"], schedule["created_by"], schedule["made_in"]) == (made, "agent", session)
    assert schedule["options"]["session_id"] == session
    assert schedule["reason"] == "It takes long."
    assert schedule["options"]["expires_at"] is not None

    cancel = ToolUse(name="cancel_next_run", arguments={"id": made})
    upstream.script(reply(cancel), "I cannot.", "Later.", reply(cancel), "It is cancelled.")
    other = await turn(api, await new_session(api), "Cancel it.")
    assert results(other)[0]["result"]["error"]["code"] == "not_found"
    run = await api.post(f"schedules/{made}/run")
    assert run.body["session_id"] == session
    async with api.stream(session) as stream:
        await stream.until("turn-end")
    await turn(api, session, "Cancel it.", "m2")
    assert (await api.get("schedules")).body["schedules"] == []


@pytest.mark.parametrize(
    ("arguments", "limit", "value"),
    [
        ({"in": "5min"}, "schedules.shortest_interval_s", 900),
        ({"in": "30d"}, "schedules.longest_agent_days", 7),
    ],
)
async def test_what_exceeds_a_limit_is_refused_with_its_name_and_value(
    api: Api, upstream: Simulator, arguments: dict[str, str], limit: str, value: int
) -> None:
    await switch_on(api)
    upstream.script(reply(call(**arguments)), "Then not.")
    events = await turn(api, await new_session(api), "Look again.")

    error = results(events)[0]["result"]["error"]
    assert error["details"] == {"limit": limit, "value": value}
    assert "the agent cannot" in error["hint"]
    assert (await api.get("schedules")).body["schedules"] == []


async def test_it_asks_unless_a_rule_allows_it(api: Api, upstream: Simulator) -> None:
    await api.put("settings", {"schedules": {"agent": True}})
    upstream.script(reply(call(**{"in": "1h"})), "I may not.")
    events = await turn(api, await new_session(api, mode="auto_edit"), "Look again.")

    assert results(events)[0]["status"] == "denied"
