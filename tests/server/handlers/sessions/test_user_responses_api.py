"""Questions, supplied results and runs over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from traitlets.config import Config

from jupyter_ai_shoulders.wire.base import JsonObject
from tests.server.client import Api
from tests.simulator import Simulator, ToolUse, reply

ASK: JsonObject = {"question": "Which colour?", "options": ["Blue", "Red"], "allow_multiple": True}


async def settled(api: Api, session_id: str, status: str) -> list[dict[str, Any]]:
    """Return the log once the session has this status."""
    async with api.stream(session_id) as stream:
        while not any(_shows(event, status) for event in stream.events):
            await stream.news()
        return list(stream.events)


def _shows(event: dict[str, Any], status: str) -> bool:
    return event["type"] == "session-update" and event["session"]["status"] == status


async def test_question_is_answered_once_from_anywhere(api: Api, upstream: Simulator) -> None:
    upstream.script(reply(ToolUse(name="clarify", arguments=ASK)), "Both, then.")
    session_id = await api.new_session()
    await api.send(session_id, "Paint it")
    events = await settled(api, session_id, "waiting")
    (request,) = [event for event in events if event["type"] == "clarify-request"]
    target = f"sessions/{session_id}/clarifications/{request['call_id']}"

    first = await api.post(target, {"answer": ["Blue", "Red"]})
    second = await api.post(target, {"answer": "Red"})
    await settled(api, session_id, "idle")

    assert first.status == 202
    assert (second.status, second.code) == (409, "already_answered")
    assert "Blue, Red" in str(upstream.requests[-1].body["messages"][-1])
    wrong: list[JsonObject] = [{}, {"answer": ""}, {"answer": []}, {"answer": [*"abcdefg"]}]
    for answer in wrong:
        assert (await api.post(target, answer)).status == 400
    unknown = f"sessions/{session_id}/clarifications/none"
    assert (await api.post(unknown, {"answer": "Red"})).status == 404


async def test_result_is_supplied_once(api: Api, upstream: Simulator) -> None:
    upstream.script(
        reply(ToolUse(name="read_notebook", arguments={"path": "a.ipynb"})), "It has two cells."
    )
    session_id = await api.new_session(tools="parse_only")
    await api.send(session_id, "Read it")
    events = await settled(api, session_id, "waiting")
    (call,) = [event for event in events if event["type"] == "tool-call"]
    target = f"sessions/{session_id}/tool-results/{call['call_id']}"

    first = await api.post(target, {"content": "two cells"})
    second = await api.post(target, {"content": "three cells"})
    await settled(api, session_id, "idle")

    assert (first.status, second.status, second.code) == (202, 409, "already_answered")
    assert "two cells" in str(upstream.requests[-1].body["messages"][-1])


async def test_resume_with_a_limit_needs_a_pause(api: Api, upstream: Simulator) -> None:
    upstream.script("Hi.")
    session_id = await api.new_session()
    await api.run(session_id, "Hello")
    target = f"sessions/{session_id}/resume"
    assert (await api.post(target, {"decision": "resume", "limit_micro_usd": 5})).status == 409
    assert (await api.post(target, {"decision": "resume", "limit_micro_usd": 0})).status == 400


# runs


async def test_run_is_a_session_that_nobody_is_asked_in(api: Api, upstream: Simulator) -> None:
    upstream.script("Done.")
    answer = await api.post("runs", {"prompt": "Count", "toolset": "document"})
    assert answer.status == 201
    session = answer.body
    assert (session["kind"], session["source"], session["interactive"]) == ("run", "http", False)
    assert session["toolset"] == "document"
    await settled(api, session["id"], "idle")
    events = await api.events(session["id"])
    assert [e["exit"] for e in events if e["type"] == "turn-end"] == ["final_response"]


async def test_same_key_continues_the_session_and_the_same_id_starts_nothing(
    api: Api, upstream: Simulator
) -> None:
    upstream.script("First.", "Second.", "Other.")
    one = {"prompt": "One", "external_key": "nightly", "id": "r1"}
    first = await api.post("runs", one)
    await settled(api, first.body["id"], "idle")
    again = await api.post("runs", one)
    second = await api.post("runs", {**one, "prompt": "Two", "id": "r2"})
    async with api.stream(first.body["id"]) as stream:
        await stream.until("turn-end", count=2)
    other = await api.post("runs", {"prompt": "One", "external_key": "weekly"})

    assert [answer.status for answer in (first, again, second, other)] == [201, 200, 200, 201]
    assert first.body["id"] == again.body["id"] == second.body["id"] != other.body["id"]
    events = await api.events(first.body["id"])
    assert [e["text"] for e in events if e["type"] == "message-add"] == ["One", "Two"]


async def test_key_of_a_deleted_session_begins_another(api: Api, upstream: Simulator) -> None:
    upstream.script("First.", "Second.")
    first = await api.post("runs", {"prompt": "One", "external_key": "k"})
    await settled(api, first.body["id"], "idle")
    await api.delete(f"sessions/{first.body['id']}")
    second = await api.post("runs", {"prompt": "Two", "external_key": "k"})
    assert second.status == 201
    assert second.body["id"] != first.body["id"]


async def test_question_of_an_interactive_run_is_waiting_never_completed(
    api: Api, upstream: Simulator
) -> None:
    upstream.script(
        reply(ToolUse(name="clarify", arguments=ASK)), reply(ToolUse(name="clarify", arguments=ASK))
    )
    asked = await api.post("runs", {"prompt": "Paint it", "interactive": True})
    events = await settled(api, asked.body["id"], "waiting")
    assert not [event for event in events if event["type"] == "turn-end"]

    alone = await api.post("runs", {"prompt": "Paint it"})
    await settled(api, alone.body["id"], "idle")
    (end,) = [e for e in await api.events(alone.body["id"]) if e["type"] == "turn-end"]
    assert (end["exit"], end["summary"]) == ("ended_by_tool", "Which colour? (Blue / Red)")


async def test_run_without_words_or_with_an_unknown_model_is_refused(api: Api) -> None:
    bodies: list[JsonObject] = [{}, {"prompt": " "}, {"prompt": "x", "yes": 1}]
    for body in bodies:
        assert (await api.post("runs", body)).status == 400
    assert (await api.post("runs", {"prompt": "x", "model": "none"})).status in {400, 404}
    assert (await api.get("sessions")).body["sessions"] == []


# artifacts


async def test_shared_file_is_a_download_that_can_do_nothing(api: Api, upstream: Simulator) -> None:
    page: JsonObject = {"content": "<script>1</script>", "filename": "pägé.html"}
    upstream.script(reply(ToolUse(name="share_artifact", arguments=page)), "Shared.")
    session_id = await api.new_session()
    events = await api.run(session_id, "Share it")
    (shared,) = [event for event in events if event["type"] == "artifact-share"]

    answer = await api.download(f"artifacts/{session_id}/p%C3%A4g%C3%A9.html")

    assert shared["name"] == "pägé.html"
    assert (answer.status_code, answer.content) == (200, b"<script>1</script>")
    assert answer.headers["Content-Type"].split(";")[0] == "text/html"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Disposition"].startswith("attachment;")
    assert answer.headers["Content-Security-Policy"].startswith("sandbox;")
    for name in ("none.txt", "..%2Fstate.db", "..", "%2Fetc%2Fpasswd", ".gitignore"):
        assert (await api.download(f"artifacts/{session_id}/{name}")).status_code == 404, name
    assert (await api.download("artifacts/none/a.html")).status_code == 404
    assert (await api.download(f"artifacts/{session_id}/")).status_code == 404


# bypass


async def test_bypass_is_chosen_never_inherited(api: Api, upstream: Simulator) -> None:
    upstream.script("Hi.")
    chosen = await api.new_session(mode="bypass")
    await api.run(chosen, "Hello")
    other = await api.new_session()
    assert (await api.get(f"sessions/{chosen}")).body["mode"] == "bypass"
    assert (await api.get(f"sessions/{other}")).body["mode"] == "ask"
    await api.delete(f"sessions/{chosen}")
    assert (await api.post(f"sessions/{chosen}/undelete")).body["mode"] == "ask"


@pytest.fixture
def no_bypass(jp_server_config: Config) -> None:
    """The administrator has switched bypass off; requested before the server starts."""
    jp_server_config.Shoulders.allow_bypass = False


async def test_administrator_forbids_bypass(no_bypass: None, api: Api, upstream: Simulator) -> None:
    session_id = await api.new_session()
    answers = [
        await api.post("sessions", {"mode": "bypass"}),
        await api.patch(f"sessions/{session_id}", {"mode": "bypass"}),
        await api.post("runs", {"prompt": "x", "mode": "bypass"}),
        await api.post(
            f"sessions/{session_id}/messages", {"id": "m", "text": "x", "mode": "bypass"}
        ),
    ]
    assert [(answer.status, answer.code) for answer in answers] == [(422, "denied")] * 4
    assert upstream.requests == []
