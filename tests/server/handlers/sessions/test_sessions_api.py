import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from jupyter_server.serverapp import ServerApp

from tests.server.client import Api
from tests.server.conftest import MODEL
from tests.storage.store import rewrite_events


async def test_a_new_session_has_the_defaults_of_its_kind(api: Api) -> None:
    answer = await api.post("sessions", {})

    assert answer.status == 201
    session = answer.body
    assert session == {
        "id": session["id"],
        "kind": "chat",
        "source": "chat",
        "title": "",
        "model": None,
        "mode": "ask",
        "tools": "enabled",
        "toolset": "full",
        "interactive": True,
        "status": "idle",
        "anchor": None,
        "owner": None,
        "parent": None,
        "message_count": 0,
        "last_seq": 1,
        "tokens_used": 0,
        "window": None,
        "cost_micro_usd": None,
        "created_at": session["created_at"],
        "updated_at": session["created_at"],
    }
    assert (await api.get(f"sessions/{session['id']}")).body == session


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"kind": "run"}, {"source": "http", "interactive": False}),
        ({"kind": "run", "interactive": True}, {"interactive": True}),
        ({"kind": "scheduled"}, {"source": "schedule", "interactive": False}),
        ({"model": MODEL, "mode": "plan", "title": "T"}, {"model": MODEL, "mode": "plan"}),
        ({"toolset": "document", "tools": "disabled"}, {"toolset": "document"}),
        ({"toolset": "inline", "tools": "enabled"}, {"toolset": "inline", "tools": "disabled"}),
    ],
    ids=["run", "interactive run", "scheduled", "model and mode", "tools", "inline"],
)
async def test_a_new_session_is_as_asked(
    api: Api, body: dict[str, object], expected: dict[str, object]
) -> None:
    session = (await api.post("sessions", body)).body

    assert expected.items() <= session.items()


async def test_an_inline_conversation_gets_no_tools_later(api: Api) -> None:
    session = (await api.post("sessions", {"toolset": "inline"})).body

    changed = await api.patch(f"sessions/{session['id']}", {"tools": "enabled", "title": "T"})

    assert (changed.body["tools"], changed.body["title"]) == ("disabled", "T")


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (b"{", "JSON"),
        (b"[]", ""),
        (b'{"kind": "unknown"}', "kind"),
        (b'{"surprise": 1}', "surprise"),
        (b'{"anchor": {"document": "a"}}', "anchor.cell_id"),
        (b'{"title": NaN}', "NaN"),
        (b"\xff\xfe", "JSON"),
    ],
    ids=["cut", "list", "kind", "extra", "nested", "nan", "not utf-8"],
)
async def test_a_malformed_body_is_refused_with_the_field_and_changes_nothing(
    api: Api, raw: bytes, field: str
) -> None:
    answer = await api.request("POST", "sessions", raw=raw)

    assert (answer.status, answer.code) == (400, "invalid_request")
    assert field in answer.error["message"]
    assert (await api.get("sessions")).body["sessions"] == []


async def test_an_unknown_model_is_refused_when_the_session_is_made_or_changed(api: Api) -> None:
    session_id = await api.new_session()

    made = await api.post("sessions", {"model": "no-such-model"})
    changed = await api.patch(f"sessions/{session_id}", {"model": "no-such-model"})

    assert (made.status, made.code) == (400, "unknown_model")
    assert (changed.status, changed.code) == (400, "unknown_model")
    assert made.error["hint"]
    assert (await api.get("sessions")).body["sessions"][0]["model"] is None


async def test_patch_changes_what_it_names(api: Api) -> None:
    session_id = await api.new_session(title="old")

    answer = await api.patch(f"sessions/{session_id}", {"title": "new", "status": "resolved"})

    assert answer.status == 200
    assert (answer.body["title"], answer.body["status"]) == ("new", "resolved")
    assert (await api.events(session_id))[-1]["session"] == answer.body


async def test_patch_without_a_change_logs_nothing(api: Api) -> None:
    session_id = await api.new_session(title="same")

    await api.patch(f"sessions/{session_id}", {"title": "same"})

    assert len(await api.events(session_id)) == 1


async def test_a_deleted_session_is_gone_until_it_is_brought_back(api: Api) -> None:
    session_id = await api.new_session(title="x")
    path = f"sessions/{session_id}"

    assert (await api.delete(path)).status == 204

    for answer in (
        await api.get(path),
        await api.delete(path),
        await api.patch(path, {"title": "y"}),
        await api.get(f"{path}/events"),
        await api.send(session_id, "hi"),
    ):
        assert (answer.status, answer.code) == (404, "not_found")
    assert (await api.get("sessions")).body["sessions"] == []

    back = await api.post(f"{path}/undelete")

    assert (back.status, back.body["title"]) == (200, "x")
    assert (await api.get("sessions")).body["sessions"] == [back.body]
    assert (await api.post(f"{path}/undelete")).body == back.body


async def test_a_conversation_whose_log_cannot_be_read_can_be_deleted(
    api: Api, state_dir: Path
) -> None:
    session_id = await api.new_session(title="broken")
    with closing(sqlite3.connect(state_dir / "state.db")) as connection, connection:
        rewrite_events(connection, "type = 'session-create'", "{}")
    assert (await api.send(session_id, "hi")).code == "quarantined"

    assert (await api.delete(f"sessions/{session_id}")).status == 204

    assert (await api.get("sessions")).body["sessions"] == []


async def test_the_status_of_an_interrupted_conversation_is_not_set_by_hand(
    api: Api, jp_serverapp: ServerApp
) -> None:
    session_id = await api.new_session()
    (app,) = jp_serverapp.extension_manager.extension_apps["jupyter_ai_shoulders"]
    sessions = (await app.service().host()).sessions
    sessions.update(sessions.get(session_id).model_copy(update={"status": "interrupted"}))

    answer = await api.patch(f"sessions/{session_id}", {"status": "idle"})

    assert (answer.status, answer.code) == (409, "conflict")
    assert "esume" in answer.error["hint"]
    assert (await api.patch(f"sessions/{session_id}", {"title": "x"})).status == 200


async def test_list_pages_and_filters(api: Api) -> None:
    for number in range(5):
        await api.new_session(title=f"chat {number}")
    await api.new_session(kind="task", title="thread")

    first = (await api.get("sessions", kind="chat", limit=3)).body
    second = (await api.get("sessions", kind="chat", limit=3, cursor=first["next_cursor"])).body

    titles = [session["title"] for page in (first, second) for session in page["sessions"]]
    assert titles == [f"chat {number}" for number in (4, 3, 2, 1, 0)]
    assert second["next_cursor"] is None
    found = (await api.get("sessions", text="3")).body["sessions"]
    assert [session["title"] for session in found] == ["chat 3"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("kind", "unknown"), ("limit", "0"), ("limit", "many"), ("cursor", "x")],
)
async def test_list_refuses_arguments_it_does_not_understand(
    api: Api, name: str, value: str
) -> None:
    await api.new_session()

    answer = await api.get("sessions", **{name: value})

    assert (answer.status, answer.code) == (400, "invalid_request")
    assert name in answer.error["message"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "sessions/ses_x"),
        ("PATCH", "sessions/ses_x"),
        ("DELETE", "sessions/ses_x"),
        ("POST", "sessions/ses_x/undelete"),
        ("POST", "sessions/ses_x/fork"),
        ("GET", "sessions/ses_x/export"),
        ("GET", "sessions/ses_x/events"),
        ("POST", "sessions/ses_x/messages"),
        ("PATCH", "sessions/ses_x/messages/m"),
        ("DELETE", "sessions/ses_x/messages/m"),
        ("POST", "sessions/ses_x/cancel"),
        ("POST", "sessions/ses_x/resume"),
        ("POST", "sessions/ses_x/approvals/c"),
    ],
)
async def test_an_unknown_session_is_a_404_everywhere(api: Api, method: str, path: str) -> None:
    answer = await api.request(method, path, {})

    assert (answer.status, answer.code) == (404, "not_found")
    assert "ses_x" in answer.error["message"]
    assert answer.error["hint"]


def test_reading_makes_no_state_directory(
    api: Api, state_dir: Path, jp_asyncio_loop: asyncio.AbstractEventLoop
) -> None:
    for path in ("status", "models", "sessions", "tools", "sessions/ses_x"):
        jp_asyncio_loop.run_until_complete(api.get(path))

    assert not state_dir.exists()
