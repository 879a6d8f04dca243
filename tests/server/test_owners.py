"""On a hub sessions have owners, and nobody finds anybody else's (chapter 13)."""

from pathlib import Path
from typing import Any

import pytest
from jupyter_server.auth.identity import IdentityProvider, User
from jupyter_server.serverapp import ServerApp
from traitlets.config import Config

from jupyter_ai_shoulders.testing.simulator import Simulator
from tests.server.client import Api, PageClient
from tests.server.conftest import OpenPage
from tests.server.ghost_client import COMPLETIONS, suggest, suggesting
from tests.server.test_anchors_api import ANCHOR, MOVED, new_thread
from tests.server.test_blobs_api import stored
from tests.server.test_operations_api import creates, made
from tests.server.test_proposals_api import propose


class ByHeader(IdentityProvider):
    """Whoever has the token is who they say they are, as a shared server on a hub would know."""

    async def _get_user(self, handler: Any) -> User | None:
        user = await super()._get_user(handler)
        return user and User(username=handler.request.headers.get("X-User", "ann"))

    def get_user(self, handler: Any) -> Any:
        return self._get_user(handler)


@pytest.fixture
def jp_server_config(jp_server_config: Config, monkeypatch: pytest.MonkeyPatch) -> Config:
    monkeypatch.setenv("JUPYTERHUB_API_URL", "http://127.0.0.1:1/hub/api")
    jp_server_config.ServerApp.identity_provider_class = ByHeader
    return jp_server_config


BOB = {"X-User": "bob"}


async def test_a_session_belongs_to_who_made_it(api: Api) -> None:
    session_id = await api.new_session()

    mine = (await api.get(f"sessions/{session_id}")).body
    listed = (await api.request("GET", "sessions", headers=dict(BOB))).body

    assert mine["owner"] == "ann"
    assert listed["sessions"] == []


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/undelete"),
        ("POST", "/fork"),
        ("GET", "/export"),
        ("GET", "/events"),
        ("POST", "/messages"),
        ("PATCH", "/messages/m"),
        ("DELETE", "/messages/m"),
        ("POST", "/cancel"),
        ("POST", "/resume"),
        ("POST", "/approvals/c"),
    ],
)
async def test_others_get_a_404(api: Api, method: str, path: str) -> None:
    session_id = await api.new_session(title="secret")
    body = {"id": "m", "text": "hi"} if path == "/messages" else {}

    answer = await api.request(method, f"sessions/{session_id}{path}", body, headers=dict(BOB))

    assert (answer.status, answer.code) == (404, "not_found")
    assert (await api.get(f"sessions/{session_id}")).body["title"] == "secret"
    assert len(await api.events(session_id)) == 1


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


async def test_what_models_were_sent_for_suggestions_is_shown_to_who_asked(
    api: Api, upstream: Simulator
) -> None:
    upstream.script(suggesting("1", "2", "3"))
    await suggest(api, "x = ")

    theirs = await api.request("GET", COMPLETIONS, headers=dict(BOB))

    assert theirs.body == {"requests": []}
    assert len((await api.get(COMPLETIONS)).body["requests"]) == 1
