"""Every route where users are distinguished: other users find nothing, by id or in lists."""

from typing import Any

import pytest
from jupyter_server.serverapp import ServerApp
from traitlets.config import Config

from jupyter_ai_shoulders.wire.ids import SessionId
from tests.server.auth.test_route_authorization import CASES
from tests.server.client import Answer, Api
from tests.server.handlers.documents.test_blobs_api import stored
from tests.server.handlers.documents.test_operations_api import creates, made
from tests.server.handlers.documents.test_proposals_api import host_of, propose
from tests.server.multi_user import BOB, SERVERS, tell_users_apart
from tests.simulator import Simulator

MARKER = "of-ann-alone"
SHARED = {"files", "variables", "skills", "instructions", "tools", "kernels", "providers", "models"}
"""Prefixes of routes whose data belongs to the server and its folder, not to a user."""
BODIES: dict[str, Any] = {
    "sessions/x/messages": {"id": "m", "text": "hi"},
    "sessions/x/restore": {"seq": 1, "what": ["files"]},
    "sessions/x/undo": {"turn_id": "t"},
    "sessions/x/fork": {"seq": 1},
    "edits/x": {"decision": "undo"},
    "proposals/x": {"decision": "dismiss"},
}


@pytest.fixture(params=SERVERS)
def jp_server_config(
    request: pytest.FixtureRequest, jp_server_config: Config, monkeypatch: pytest.MonkeyPatch
) -> Config:
    return tell_users_apart(jp_server_config, monkeypatch, request.param)


async def things_of_ann(api: Api, upstream: Simulator, app: ServerApp) -> dict[str, str]:
    """Make one of everything that has an id; return their paths by pattern."""
    session_id = await made(api, upstream, creates(f"{MARKER}.txt"))
    await api.patch(f"sessions/{session_id}", {"title": MARKER})
    host = await host_of(app)
    host.artifacts.put(SessionId(session_id), f"{MARKER}.txt", b"secret")
    proposal = await propose(app, session_id, "x = 1")
    blob = await stored(app, session_id, MARKER.encode())
    (edit,) = (await api.get("edits")).body["edits"]
    (row,) = (await api.get("operations")).body["operations"]
    return {
        "sessions/x": f"sessions/{session_id}",
        "artifacts/x/x": f"artifacts/{session_id}/{MARKER}.txt",
        "blobs/x": f"blobs/{blob}",
        "edits/x": f"edits/{edit['id']}",
        "proposals/x": f"proposals/{proposal}",
        "operations/x": f"operations/{row['id']}",
    }


async def test_another_person_finds_nothing_on_any_route(
    api: Api, upstream: Simulator, jp_serverapp: ServerApp
) -> None:
    paths = await things_of_ann(api, upstream, jp_serverapp)
    session = paths["sessions/x"]
    before = (await api.get(f"{session}/events")).body
    answers: dict[tuple[str, str], Answer] = {}
    by_id: dict[tuple[str, str], tuple[int, str]] = {}
    for method, pattern in CASES:
        known = next((key for key in paths if f"{pattern}/".startswith(f"{key}/")), None)
        path = pattern if known is None else paths[known] + pattern.removeprefix(known)
        path = path.replace("requests/x", "requests/1")
        answer = await api.request(method, path, BODIES.get(pattern, {}), headers=dict(BOB))
        answers[method, pattern] = answer
        if known is not None:
            by_id[method, pattern] = (answer.status, answer.code)

    assert len(answers) == len(CASES)
    assert by_id == dict.fromkeys(by_id, (404, "not_found"))
    leaks = [
        case
        for case, answer in answers.items()
        if MARKER in repr(answer.body) and case[1].partition("/")[0] not in SHARED
    ]
    assert leaks == []
    assert (await api.get(f"{session}/events")).body == before
