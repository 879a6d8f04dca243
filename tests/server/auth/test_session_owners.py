"""Where users are distinguished, sessions have owners, and nobody finds another user's."""

import json
from pathlib import Path
from typing import Any

import pytest
from jupyter_server.serverapp import ServerApp
from traitlets.config import Config

from jupyter_ai_shoulders.server.auth.user_identity import ANONYMOUS
from jupyter_ai_shoulders.wire.api.commands import CreateSession
from jupyter_ai_shoulders.wire.api.search import SearchQuery
from tests.server.client import Api, Fetch, PageClient
from tests.server.conftest import MODEL, OpenPage
from tests.server.handlers.completions.completion_client import COMPLETIONS, suggest, suggesting
from tests.server.handlers.documents.test_blobs_api import stored
from tests.server.handlers.documents.test_operations_api import creates, made
from tests.server.handlers.documents.test_proposals_api import host_of, propose
from tests.server.handlers.sessions.test_thread_anchors_api import ANCHOR, MOVED, new_thread
from tests.server.multi_user import BOB, NAMELESS, SERVERS, tell_users_apart
from tests.simulator import Simulator


@pytest.fixture(params=SERVERS)
def jp_server_config(
    request: pytest.FixtureRequest, jp_server_config: Config, monkeypatch: pytest.MonkeyPatch
) -> Config:
    return tell_users_apart(jp_server_config, monkeypatch, request.param)


async def test_a_session_belongs_to_who_made_it(api: Api) -> None:
    session_id = await api.new_session()

    mine = (await api.get(f"sessions/{session_id}")).body
    listed = (await api.request("GET", "sessions", headers=dict(BOB))).body

    assert mine["owner"] == "ann"
    assert listed["sessions"] == []


async def test_conversations_of_others_are_not_searched(api: Api, upstream: Simulator) -> None:
    upstream.script("A bird.")
    await api.run(await api.new_session(), "What is a bittern?")

    mine, theirs = [
        (await api.request("GET", "search", params=params, headers=headers)).body["matches"]
        for params, headers in [({"q": "bittern", "wait_s": 20}, {}), ({"q": "bittern"}, dict(BOB))]
    ]

    assert [each["snippet"] for each in mine] == ["What is a bittern?"]
    assert theirs == []


async def test_the_agent_of_a_conversation_without_an_owner_finds_nobodys(
    api: Api, upstream: Simulator, jp_serverapp: ServerApp
) -> None:
    upstream.script("A bird.")
    await api.run(await api.new_session(), "What is a bittern?")
    host = await host_of(jp_serverapp)
    shared = host.session_service.create(CreateSession(kind="chat"), owner=None)
    query = SearchQuery(q="bittern", wait_s=20)

    found = await host.search.search_for_agent(query, shared.id)
    mine = await host.search.search(query, "ann")

    assert found.matches == ()
    assert [each.snippet for each in mine.matches] == ["What is a bittern?"]


async def test_proposals_of_others_are_not_found(
    api: Api, jp_serverapp: ServerApp, jp_root_dir: Path
) -> None:
    proposal_id = await propose(jp_serverapp, await api.new_session(), "x = 1")
    decision = {"decision": "dismiss"}

    listed = (await api.request("GET", "proposals", headers=dict(BOB))).body["proposals"]
    refused = await api.request("POST", f"proposals/{proposal_id}", decision, headers=dict(BOB))
    mine = await api.post(f"proposals/{proposal_id}", decision)

    assert listed == []
    assert (refused.status, refused.code) == (404, "not_found")
    assert mine.body["state"] == "dismissed"


async def test_threads_of_others_are_neither_moved_nor_adopted(api: Api) -> None:
    thread = await new_thread(api)
    moved = {"moved": [{"session_id": thread, "anchor": MOVED}]}
    adopted = {"document": "n.ipynb", "threads": [{"id": thread, "anchor": ANCHOR}]}

    refused = await api.request("POST", "anchors", moved, headers=dict(BOB))
    unknown = await api.request("POST", "anchors/adopt", adopted, headers=dict(BOB))

    assert refused.body["moved"] == []
    assert [one["error"]["code"] for one in refused.body["refused"]] == ["not_found"]
    assert unknown.body == {"adopted": [], "unknown": [thread], "refused": []}
    assert len(await api.events(thread)) == 1


async def test_stored_content_is_given_to_whose_conversation_names_it(
    api: Api, jp_serverapp: ServerApp
) -> None:
    blob = await stored(jp_serverapp, await api.new_session(), b"secret")

    theirs = await api.request("GET", f"blobs/{blob}", headers=dict(BOB))

    assert (theirs.status, theirs.code) == (404, "not_found")
    assert (await api.download(f"blobs/{blob}")).content == b"secret"


async def test_pending_edits_of_others_are_not_found(api: Api, upstream: Simulator) -> None:
    await made(api, upstream, creates("a.txt"))
    (edit,) = (await api.get("edits")).body["edits"]
    choice = {"decision": "undo", "edits": [{"id": edit["id"]}]}

    listed = (await api.request("GET", "edits", headers=dict(BOB))).body["edits"]
    decision = {"decision": "undo"}
    refused = await api.request("POST", f"edits/{edit['id']}", decision, headers=dict(BOB))
    several = await api.request("POST", "edits", choice, headers=dict(BOB))
    mine = await api.post(f"edits/{edit['id']}", decision)

    assert listed == []
    assert (refused.status, refused.code) == (404, "not_found")
    assert (several.body["resolved"], len(several.body["left"])) == ([], 1)
    assert mine.body == {"edit": None, "drift": None}


async def test_changes_of_files_are_their_owners(api: Api, upstream: Simulator) -> None:
    await made(api, upstream, creates("a.txt"))

    theirs = await api.request("GET", "operations", headers=dict(BOB))

    assert theirs.body == {"operations": [], "next_cursor": None}
    (row,) = (await api.get("operations")).body["operations"]
    undo = f"operations/{row['id']}/undo"
    assert (await api.request("POST", undo, {}, headers=dict(BOB))).status == 404
    assert (await api.post(undo, {})).status == 200


async def test_a_page_of_another_user_hears_nothing(
    api: Api, open_page: OpenPage, jp_ws_fetch: Any
) -> None:
    page = await open_page()
    session_id = await api.new_session()
    page.hello({session_id: 0})
    await page.until_event("session-create")

    other = PageClient(await jp_ws_fetch("shoulders", "api", "v1", "socket", headers=dict(BOB)))
    other.hello({session_id: 0}, "other")
    error = (await other.until("frame-error"))["error"]
    await api.patch(f"sessions/{session_id}", {"title": "secret"})
    made = (await api.request("POST", "sessions", {}, headers=dict(BOB))).body
    event = await other.until_event("session-create")

    assert error["code"] == "not_found"
    assert event["session_id"] == made["id"]
    assert {event["session_id"] for event in other.events} == {made["id"]}
    other.close()


async def test_a_page_cannot_take_the_place_of_another_users(
    api: Api, open_page: OpenPage, jp_ws_fetch: Any
) -> None:
    page = await open_page()
    page.hello(client_id="mine")
    await page.until("welcome")

    other = PageClient(await jp_ws_fetch("shoulders", "api", "v1", "socket", headers=dict(BOB)))
    other.hello(client_id="mine")
    error = (await other.until("frame-error"))["error"]
    session_id = await api.new_session()
    event = await page.until_event("session-create")

    assert error["code"] == "conflict"
    assert event["session_id"] == session_id
    other.close()


async def test_a_page_is_not_told_what_others_have_to_review(
    api: Api, upstream: Simulator, jp_ws_fetch: Any
) -> None:
    other = PageClient(await jp_ws_fetch("shoulders", "api", "v1", "socket", headers=dict(BOB)))
    other.hello()
    await other.until("welcome")
    await made(api, upstream, creates("secret-name.txt"))
    last = (await api.request("POST", "sessions", {}, headers=dict(BOB))).body["id"]
    while (await other.until_event("session-create"))["session_id"] != last:
        pass

    assert "secret-name.txt" not in repr(other.frames)
    other.close()


async def test_users_without_a_name_are_one_person(api: Api) -> None:
    made = await api.request("POST", "sessions", {}, headers=dict(NAMELESS))
    session_id = made.body["id"]

    again = await api.request("GET", f"sessions/{session_id}", headers=dict(NAMELESS))
    anns = await api.get(f"sessions/{session_id}")

    assert (made.body["owner"], again.status, anns.status) == (ANONYMOUS, 200, 404)


async def test_conversations_from_before_belong_to_all(api: Api, jp_serverapp: ServerApp) -> None:
    session = (await host_of(jp_serverapp)).session_service.create(CreateSession(), None)

    for headers in ({}, BOB):
        listed = (await api.request("GET", "sessions", headers=dict(headers))).body["sessions"]
        assert [each["id"] for each in listed] == [session.id]


async def test_calls_of_the_proxy_are_booked_to_their_caller(
    api: Api, upstream: Simulator, jp_fetch: Fetch
) -> None:
    upstream.script("Hello.")
    body = {"model": MODEL, "max_tokens": 50, "messages": [{"role": "user", "content": "hi"}]}
    path = ("shoulders", "proxy", "v1", "messages")

    await jp_fetch(*path, method="POST", body=json.dumps(body), headers=dict(BOB))
    theirs = (await api.request("GET", "usage", headers=dict(BOB))).body
    mine = (await api.get("usage")).body

    assert (theirs["total"]["calls"], mine["total"]["calls"]) == (1, 0)


async def test_usage_and_limits_are_each_persons_own(api: Api, upstream: Simulator) -> None:
    await made(api, upstream, creates("a.txt"))
    upstream.script(suggesting("1", "2", "3"))
    await suggest(api, "x = ")
    limits = {"month_micro_usd": 5_000_000}
    assert (await api.put("budget", limits)).status == 200

    mine = {by: (await api.get("usage", by=by)).body for by in ("session", "tool")}
    theirs = {
        by: (await api.request("GET", "usage", headers=dict(BOB), params={"by": by})).body
        for by in ("session", "tool")
    }

    assert mine["session"]["total"]["calls"] == 3  # two of the turn, one for suggestions
    assert [tool["tool"] for tool in mine["tool"]["tools"]] == ["create_file"]
    assert mine["tool"]["steps"]["turns"] == 1
    assert theirs["session"]["total"]["calls"] == 0
    assert theirs["session"]["rows"] == []
    assert theirs["tool"]["tools"] == []
    assert theirs["tool"]["steps"]["turns"] == 0
    month = {
        name: usage["session"]["budget"]["limits"][0]
        for name, usage in (("a", mine), ("b", theirs))
    }
    assert [month[name]["user_micro_usd"] for name in "ab"] == [5_000_000, None]
    assert month["a"]["spent_micro_usd"] > 0
    assert month["b"]["spent_micro_usd"] == 0


async def test_what_models_were_sent_for_suggestions_is_shown_to_who_asked(
    api: Api, upstream: Simulator
) -> None:
    upstream.script(suggesting("1", "2", "3"))
    await suggest(api, "x = ")

    theirs = await api.request("GET", COMPLETIONS, headers=dict(BOB))

    assert theirs.body == {"requests": []}
    assert len((await api.get(COMPLETIONS)).body["requests"]) == 1
