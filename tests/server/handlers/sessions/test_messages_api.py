import json
from pathlib import Path

import pytest
from pydantic import JsonValue

from tests.server.client import ENDED, Api
from tests.server.conftest import OpenPage
from tests.simulator import Delivery, Simulator, ToolUse, rate_limited, reply
from tests.simulator_process import notebook

NOTES: dict[str, JsonValue] = {
    "goals": ["Plot the data"],
    "user_said": [],
    "decisions": [],
    "state": [],
    "failed": [],
    "open": [],
}
"""A summary as the model is asked for it."""


def types(events: list[dict[str, object]]) -> list[object]:
    return [event["type"] for event in events]


def text_of(events: list[dict[str, object]]) -> str:
    return "".join(str(event["text"]) for event in events if event["type"] == "text-delta")


async def test_a_message_is_answered_and_every_event_streamed(
    api: Api, upstream: Simulator
) -> None:
    upstream.script("The answer is 42.")
    session_id = await api.new_session()

    async with api.stream(session_id) as stream:
        accepted = await api.send(session_id, "What is the answer?")
        end = await stream.until(ENDED)
        await stream.until("session-update", count=2)

    assert accepted.status == 202
    assert accepted.body["turn_id"] == end["turn_id"]
    assert end["exit"] == "final_response"
    log = await api.events(session_id)
    assert stream.events == log[: len(stream.events)]
    assert stream.ids == [event["seq"] for event in stream.events]
    assert [event["seq"] for event in log] == list(range(1, len(log) + 1))
    assert text_of(log) == "The answer is 42."
    assert log[accepted.body["seq"] - 1]["text"] == "What is the answer?"
    session = (await api.get(f"sessions/{session_id}")).body
    assert (session["status"], session["message_count"]) == ("idle", 1)
    assert session["title"] == "What is the answer?"


async def test_a_message_sent_twice_is_accepted_once(api: Api, upstream: Simulator) -> None:
    upstream.script("Once.")
    session_id = await api.new_session()

    async with api.stream(session_id) as stream:
        first = await api.send(session_id, "hi", "same")
        second = await api.send(session_id, "hi", "same")
        await stream.until(ENDED)
    third = await api.send(session_id, "hi", "same")

    assert first.status == second.status == third.status == 202
    assert first.body == second.body == third.body
    assert types(await api.events(session_id)).count("message-add") == 1
    assert len(upstream.requests) == 1


async def test_the_conversation_goes_on(api: Api, upstream: Simulator) -> None:
    upstream.script("First.", "Second.")
    session_id = await api.new_session()

    await api.run(session_id, "one", "m1")
    async with api.stream(session_id) as stream:
        await api.send(session_id, "two", "m2")
        await stream.until(ENDED, count=2)

    body = upstream.requests[-1].body
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "id"),
        ({"id": "m"}, "text"),
        ({"id": "", "text": "x"}, "id"),
        ({"id": "m", "text": 1}, "text"),
        ({"id": "m", "text": "x", "mode": "yolo"}, "mode"),
        ({"id": "m", "text": "x", "attachments": [{"kind": "file"}]}, "attachments.0"),
        ({"id": "m", "text": "x", "extra": 1}, "extra"),
        ({"id": "m", "text": "  \n "}, "text"),
    ],
    ids=["empty", "no text", "blank id", "number", "mode", "attachment", "extra", "blank"],
)
async def test_a_malformed_message_is_refused_with_the_field_and_changes_nothing(
    api: Api, body: dict[str, object], field: str
) -> None:
    session_id = await api.new_session()

    answer = await api.post(f"sessions/{session_id}/messages", body)

    assert (answer.status, answer.code) == (400, "invalid_request")
    assert answer.error["message"].startswith(field)
    assert types(await api.events(session_id)) == ["session-create"]


async def test_an_unknown_model_is_refused_and_changes_nothing(api: Api) -> None:
    session_id = await api.new_session()

    answer = await api.post(
        f"sessions/{session_id}/messages", {"id": "m", "text": "x", "model": "no-such-model"}
    )

    assert (answer.status, answer.code) == (400, "unknown_model")
    assert types(await api.events(session_id)) == ["session-create"]


async def test_a_missing_key_is_said_before_anything_happens(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    session_id = await api.new_session(model="claude-haiku-5-5")

    answer = await api.send(session_id, "hi")

    assert (answer.status, answer.code) == (422, "no_key")
    assert "ANTHROPIC_API_KEY" in answer.error["message"] + answer.error["hint"]
    assert types(await api.events(session_id)) == ["session-create"]


async def test_a_wrong_key_ends_the_turn_with_what_to_fix(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-wrong-key-0123456789")
    session_id = await api.new_session()

    log = await api.run(session_id, "hi")

    (end,) = [event for event in log if event["type"] == ENDED]
    assert (end["exit"], end["error"]["code"]) == ("error", "authentication")
    assert end["error"]["hint"]
    assert "wrong-key" not in str(log)


async def test_a_lone_surrogate_does_not_break_a_conversation(
    api: Api, upstream: Simulator
) -> None:
    upstream.script("Fine.")
    session_id = await api.new_session()

    async with api.stream(session_id) as stream:
        answer = await api.request(
            "POST",
            f"sessions/{session_id}/messages",
            raw=b'{"id": "m", "text": "half \\ud83d of a pair"}',
        )
        await stream.until(ENDED)

    assert answer.status == 202
    message = next(e for e in await api.events(session_id) if e["type"] == "message-add")
    assert message["text"] == "half � of a pair"


async def test_cancel_ends_the_turn_and_is_idempotent(api: Api, upstream: Simulator) -> None:
    upstream.script(reply("A long story.", delivery=Delivery(ending="stall")))
    session_id = await api.new_session()

    async with api.stream(session_id) as stream:
        await api.send(session_id, "tell")
        await stream.until("text-delta")
        assert (await api.get(f"sessions/{session_id}")).body["status"] == "running"
        statuses = [(await api.post(f"sessions/{session_id}/cancel")).status for _ in range(2)]
        end = await stream.until(ENDED)

    assert statuses == [202, 202]
    assert end["exit"] == "cancelled"
    assert (await api.post(f"sessions/{session_id}/cancel")).status == 202
    assert (await api.get(f"sessions/{session_id}")).body["status"] == "idle"


async def test_model_and_mode_cannot_change_while_a_turn_runs(
    api: Api, upstream: Simulator
) -> None:
    upstream.script(reply("A long story.", delivery=Delivery(ending="stall")))
    session_id = await api.new_session()

    async with api.stream(session_id) as stream:
        await api.send(session_id, "tell")
        await stream.until("text-delta")
        refused = [
            await api.patch(f"sessions/{session_id}", change)
            for change in ({"mode": "plan"}, {"model": "claude-opus-5-5"}, {"status": "resolved"})
        ]
        renamed = await api.patch(f"sessions/{session_id}", {"title": "Story"})
        await api.post(f"sessions/{session_id}/cancel")
        await stream.until(ENDED)

    assert [(answer.status, answer.code) for answer in refused] == [(409, "turn_running")] * 3
    assert (renamed.status, renamed.body["title"]) == (200, "Story")


async def test_a_message_sent_while_a_turn_runs_waits_and_can_be_changed(
    api: Api, upstream: Simulator
) -> None:
    upstream.script(reply("A long story.", delivery=Delivery(ending="stall")))
    session_id = await api.new_session()
    path = f"sessions/{session_id}/messages"

    async with api.stream(session_id) as stream:
        running = await api.send(session_id, "tell", "m1")
        await stream.until("text-delta")
        queued = await api.send(session_id, "shorter", "m2")
        changed = await api.patch(f"{path}/m2", {"text": "much shorter"})
        removed = await api.delete(f"{path}/m2")
        again = await api.delete(f"{path}/m2")
        not_queued = await api.patch(f"{path}/m1", {"text": "x"})
        unknown = await api.patch(f"{path}/m9", {"text": "x"})
        await api.post(f"sessions/{session_id}/cancel")
        await stream.until(ENDED)

    assert queued.body["turn_id"] == running.body["turn_id"]
    assert (changed.status, removed.status) == (202, 204)
    assert (again.status, not_queued.status) == (409, 409)
    assert (unknown.status, unknown.code) == (404, "not_found")
    updates = [e for e in await api.events(session_id) if e["type"] == "message-update"]
    assert [(e["status"], e["text"]) for e in updates] == [
        ("queued", "much shorter"),
        ("removed", None),
    ]


async def test_resume_is_refused_unless_the_turn_was_interrupted(api: Api) -> None:
    session_id = await api.new_session()

    answer = await api.post(f"sessions/{session_id}/resume", {"decision": "resume"})
    malformed = await api.post(f"sessions/{session_id}/resume", {"decision": "maybe"})

    assert (answer.status, answer.code) == (409, "conflict")
    assert malformed.error["message"].startswith("decision")


async def test_an_approval_is_answered_once(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    (jp_root_dir / "a.ipynb").write_text(notebook(("c1", "1 + 1")))
    upstream.script(
        reply(ToolUse(name="run_cell", arguments={"path": "a.ipynb", "cell_id": "c1"})),
        "Not run.",
    )
    session_id = await api.new_session()

    async with api.stream(session_id) as stream:
        await api.send(session_id, "run it")
        request = await stream.until("approval-request")
        path = f"sessions/{session_id}/approvals/{request['call_id']}"
        unoffered = await api.post(path, {"decision": "allow", "scope": "everything"})
        first = await api.post(path, {"decision": "deny"})
        second = await api.post(path, {"decision": "allow"})
        unknown = await api.post(f"sessions/{session_id}/approvals/c_x", {"decision": "deny"})
        end = await stream.until(ENDED)

    assert (unoffered.status, unoffered.code) == (400, "invalid_request")
    assert first.status == 202
    assert (second.status, second.code) == (409, "already_answered")
    assert (unknown.status, unknown.code) == (404, "not_found")
    assert end["exit"] == "tool_rejected"
    answers = [e for e in await api.events(session_id) if e["type"] == "approval-answer"]
    assert [(e["decision"], e["feedback"], e["by"]) for e in answers] == [("deny", None, "user")]


async def test_a_provider_that_asks_to_wait_is_waited_for(api: Api, upstream: Simulator) -> None:
    upstream.script(rate_limited(retry_after="0"), "Now.")
    session_id = await api.new_session()

    log = await api.run(session_id, "hi")

    assert "retry-wait" in types(log)
    assert text_of(log) == "Now."


async def test_deleting_a_conversation_stops_its_turn_and_tells_nobody_of_it_again(
    api: Api, upstream: Simulator, open_page: OpenPage
) -> None:
    upstream.script(reply("A long story.", delivery=Delivery(ending="stall")))
    session_id = await api.new_session()
    page = await open_page()
    page.hello({session_id: 0})

    await api.send(session_id, "tell")
    await page.until_event("text-delta")
    assert (await api.delete(f"sessions/{session_id}")).status == 204
    await page.until("session-delete")
    ended = [event["exit"] for event in page.events if event["type"] == ENDED]
    other = await api.new_session()
    await page.until_event("session-create")

    assert ended == ["cancelled"]
    assert page.events[-1]["session_id"] == other


async def test_a_key_in_a_message_reaches_neither_log_nor_provider(
    api: Api, upstream: Simulator
) -> None:
    upstream.script("I saw nothing.")
    session_id = await api.new_session()

    log = await api.run(session_id, f"my key is {upstream.key}, keep it safe")

    message = next(event for event in log if event["type"] == "message-add")
    assert message["text"] == "my key is [redacted], keep it safe"
    assert upstream.key not in str(log) + str(upstream.requests[-1].body)


async def test_earlier_messages_are_summarised_when_the_user_wants_it(
    api: Api, upstream: Simulator
) -> None:
    session_id = await api.new_session()
    early = await api.post(f"sessions/{session_id}/compact")
    assert (early.status, early.code) == (409, "conflict")
    async with api.stream(session_id) as stream:
        for number in range(6):
            upstream.script(f"Answer {number}. " + "word " * 200)
            await api.send(session_id, f"Question {number}?", f"m{number}")
            await stream.until(ENDED, count=number + 1)
        assert (await api.post(f"sessions/{session_id}/compact")).status == 202
        upstream.script(reply(ToolUse(name="answer", arguments=NOTES)), "The last answer.")
        await api.send(session_id, "And now?", "last")
        await stream.until(ENDED, count=7)

    events = await api.events(session_id)
    reasons = [event["reason"] for event in events if event["type"] == "context-rebase"]
    assert reasons == ["compaction"]
    codes = [event["code"] for event in events if event["type"] == "notice"]
    assert codes == ["compaction_wanted", "compacted"]
    assert [e for e in events if e["type"] == "turn-end"][-1]["exit"] == "final_response"
    assert "Goals:\\n- Plot the data" in json.dumps(upstream.requests[-1].body)
    assert (await api.post("sessions/unknown/compact")).status == 404
