"""Forks, edited messages, exports and the audit over HTTP."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.server.client import Api
from tests.simulator import Reply, Simulator, ToolUse, reply
from tests.storage.store import rewrite_events


async def talked(api: Api, upstream: Simulator) -> str:
    """A conversation of two turns."""
    upstream.script(reply("One."), reply("Two."))
    session_id = await api.new_session(title="Talk")
    await api.run(session_id, "first", "m1")
    async with api.stream(session_id) as stream:
        await api.send(session_id, "second", "m2")
        await stream.until("turn-end", count=2)
    return session_id


async def test_fork_is_a_session_of_its_own(api: Api, upstream: Simulator) -> None:
    source = await talked(api, upstream)
    events = await api.events(source)

    answer = await api.post(f"sessions/{source}/fork", {})

    assert answer.status == 201
    assert (answer.body["title"], answer.body["status"]) == ("Talk (fork)", "idle")
    assert (await api.get(f"sessions/{answer.body['id']}")).body == answer.body
    assert await api.events(source) == events
    copies = await api.events(answer.body["id"])
    assert [event["at"] for event in copies[1 : len(events)]] == [e["at"] for e in events[1:]]


async def test_fork_up_to_a_message_sends_the_same_bytes(api: Api, upstream: Simulator) -> None:
    source = await talked(api, upstream)
    (_, second) = [e for e in await api.events(source) if e["type"] == "message-add"]
    fork = (await api.post(f"sessions/{source}/fork", {"seq": second["seq"] - 1})).body["id"]
    upstream.script(reply("Other."))

    await api.run(fork, "something else", "m3")

    before, after = upstream.requests[-2].body, upstream.requests[-1].body
    assert before["system"] == after["system"]
    assert before["tools"] == after["tools"]
    assert [m["role"] for m in after["messages"]] == ["user", "assistant", "user"]
    assert before["messages"][:2] == after["messages"][:2]


@pytest.mark.parametrize("seq", [0, -1, 10_000, "x"])
async def test_fork_of_no_event_is_refused(api: Api, seq: object) -> None:
    session_id = await api.new_session()

    answer = await api.post(f"sessions/{session_id}/fork", {"seq": seq})

    assert (answer.status, answer.code) == (400, "invalid_request")
    assert len((await api.get("sessions")).body["sessions"]) == 1


async def test_edited_message_goes_on_from_where_it_stood(api: Api, upstream: Simulator) -> None:
    session_id = await talked(api, upstream)
    upstream.script(reply("New two."))
    body = {"id": "m3", "text": "better", "replaces": "m2"}

    async with api.stream(session_id) as stream:
        answer = await api.post(f"sessions/{session_id}/messages", body)
        await stream.until("turn-end", count=3)

    assert answer.status == 202
    sent = upstream.requests[-1].body["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    assert "second" not in str(sent)
    assert (await api.get(f"sessions/{session_id}")).body["message_count"] == 2
    again = await api.post(f"sessions/{session_id}/messages", body)
    assert again.body == answer.body
    gone = await api.post(
        f"sessions/{session_id}/messages", {"id": "m4", "text": "x", "replaces": "m2"}
    )
    assert (gone.status, gone.code) == (404, "not_found")


@pytest.mark.parametrize(
    ("form", "media_type"),
    [
        ("md", "text/markdown"),
        ("jsonl", "application/x-ndjson"),
        ("ipynb", "application/x-ipynb+json"),
    ],
)
async def test_export_is_a_download_that_can_do_nothing(
    api: Api, upstream: Simulator, form: str, media_type: str
) -> None:
    session_id = await talked(api, upstream)

    answer = await api.download(f"sessions/{session_id}/export?format={form}")

    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith(media_type)
    assert answer.headers["Content-Disposition"] == f"attachment; filename*=UTF-8''Talk.{form}"
    assert answer.headers["Content-Security-Policy"].startswith("sandbox")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert all(word in answer.text for word in ("first", "One.", "second", "Two."))
    if form == "jsonl":
        assert len(answer.text.splitlines()) == len(await api.events(session_id))
    if form == "ipynb":
        nbformat.validate(nbformat.reads(answer.text, as_version=4))


async def test_export_knows_its_formats(api: Api) -> None:
    session_id = await api.new_session()

    answer = await api.get(f"sessions/{session_id}/export", format="pdf")

    assert (answer.status, answer.code) == (400, "invalid_request")


async def test_conversation_set_aside_is_exported_as_far_as_it_can_be_read(
    api: Api, upstream: Simulator, state_dir: Path
) -> None:
    session_id = await talked(api, upstream)
    with closing(sqlite3.connect(state_dir / "state.db")) as connection, connection:
        rewrite_events(connection, "type = 'turn-start'", "{}")
        connection.execute("UPDATE sessions SET body = '{}'")

    answer = await api.download(f"sessions/{session_id}/export")

    assert answer.status_code == 200
    assert "2 events could not be read" in answer.text
    assert "> second" in answer.text


def adds(source: str) -> Reply:
    """A reply that adds a cell to a notebook that no page has open, which asks."""
    return reply(ToolUse(name="add_cell", arguments={"path": "a.ipynb", "source": source}))


async def decided(
    api: Api, upstream: Simulator, root: Path, decision: str, scope: str = "once"
) -> tuple[str, dict[str, Any]]:
    """A conversation in which one call was decided, and its approval request."""
    (root / "a.ipynb").write_text(
        '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    )
    upstream.script(adds("1"), "Done.")
    session_id = await api.new_session(title="Add")
    async with api.stream(session_id) as stream:
        await api.send(session_id, "go")
        request = await stream.until("approval-request")
        target = f"sessions/{session_id}/approvals/{request['call_id']}"
        answer = {"decision": decision, "scope": scope, "feedback": "so be it"}
        assert (await api.post(target, answer)).status == 202
        await stream.until("turn-end")
    return session_id, request


async def test_audit_says_who_approved_what(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    session_id, request = await decided(api, upstream, jp_root_dir, "allow", "session")

    (entry,) = (await api.get("audit")).body["entries"]

    assert entry == {
        "session_id": session_id,
        "session_title": "Add",
        "owner": None,
        "deleted": False,
        "program": None,
        "turn_id": request["turn_id"],
        "call_id": request["call_id"],
        "seq": entry["seq"],
        "at": entry["at"],
        "tool": "add_cell",
        "arguments_hash": request["arguments_hash"],
        "reason": request["reason"],
        "decision": "allow",
        "scope": "session",
        "feedback": "so be it",
        "by": "user",
    }


async def test_audit_is_filtered_and_paged(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    first, _ = await decided(api, upstream, jp_root_dir, "allow")
    second, request = await decided(api, upstream, jp_root_dir, "deny")

    async def found(**query: object) -> list[str]:
        answer = await api.get("audit", **query)
        assert answer.status == 200, answer
        return [entry["session_id"] for entry in answer.body["entries"]]

    assert await found() == [second, first]
    assert await found(session=first) == [first]
    assert await found(tool="add_cell") == [second, first]
    assert await found(tool="run_cell") == []
    today = request["at"][:10]
    assert await found(**{"from": today, "to": today}) == [second, first]
    assert await found(to="2000-01-01") == []
    page = (await api.get("audit", limit=1)).body
    assert [entry["session_id"] for entry in page["entries"]] == [second]
    assert await found(limit=1, cursor=page["next_cursor"]) == [first]
    for wrong in ({"cursor": "x"}, {"from": "yesterday"}, {"limit": "0"}):
        assert (await api.get("audit", **wrong)).status == 400


async def test_audit_keeps_deleted_conversations_and_counts_copies_once(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    session_id, _ = await decided(api, upstream, jp_root_dir, "allow")
    assert (await api.post(f"sessions/{session_id}/fork", {})).status == 201
    await api.delete(f"sessions/{session_id}")

    (entry,) = (await api.get("audit")).body["entries"]
    tools = (await api.get("usage", by="tool")).body

    assert (entry["session_id"], entry["deleted"]) == (session_id, True)
    assert [(tool["tool"], tool["calls"]) for tool in tools["tools"]] == [("add_cell", 1)]
    assert tools["steps"]["turns"] == 1
