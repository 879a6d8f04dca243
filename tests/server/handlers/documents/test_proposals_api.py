import json
from pathlib import Path

import pytest
from jupyter_server.serverapp import ServerApp

from jupyter_ai_shoulders.host.build import Host
from jupyter_ai_shoulders.server.app import ShouldersApp
from jupyter_ai_shoulders.wire.events import ProposalAdd
from jupyter_ai_shoulders.wire.ids import SessionId
from tests.server.client import Api, Fetch
from tests.simulator_process import notebook
from tests.support.proposals import build_proposal


class Notebook:
    """A notebook of one cell on disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.write_text(notebook(("c1", "x = 1")))

    @property
    def source(self) -> str:
        """The source of its cell."""
        return "".join(json.loads(self._path.read_text())["cells"][0]["source"])


async def host_of(app: ServerApp) -> Host:
    (extension,) = app.extension_manager.extension_apps["jupyter_ai_shoulders"]
    assert isinstance(extension, ShouldersApp)
    return await extension.service().host()


async def propose(app: ServerApp, session_id: str, current: str, old: str = "x = 1") -> str:
    """Record a proposal to change a cell's text from ``old``, made when it was ``current``."""
    proposal = build_proposal(
        session_id,
        "a.ipynb",
        "c1",
        old,
        "x = 2",
        current=current,
        reason="The cell was changed.",
    )
    host = await host_of(app)
    host.log.append(SessionId(session_id), ProposalAdd(call_id=None, proposal=proposal))
    return proposal.id


@pytest.fixture
def file(jp_root_dir: Path) -> Notebook:
    return Notebook(jp_root_dir / "a.ipynb")


async def test_a_proposal_is_listed_applied_once_and_stays_decided(
    api: Api, jp_serverapp: ServerApp, file: Notebook
) -> None:
    session_id = await api.new_session()
    proposal_id = await propose(jp_serverapp, session_id, "x = 1")

    listed = (await api.get("proposals", status="proposed")).body["proposals"]
    applied = await api.post(f"proposals/{proposal_id}", {"decision": "apply"})
    again = await api.post(f"proposals/{proposal_id}", {"decision": "dismiss"})

    assert [proposal["id"] for proposal in listed] == [proposal_id]
    assert (applied.status, applied.body["state"]) == (200, "applied")
    assert (again.status, again.code) == (409, "already_answered")
    assert (await api.get("proposals", status="proposed")).body["proposals"] == []
    assert [p["state"] for p in (await api.get("proposals")).body["proposals"]] == ["applied"]
    assert file.source == "x = 2"


async def test_an_edited_text_can_be_applied_instead(
    api: Api, jp_serverapp: ServerApp, file: Notebook
) -> None:
    proposal_id = await propose(jp_serverapp, await api.new_session(), "x = 1")

    answer = await api.post(f"proposals/{proposal_id}", {"decision": "apply", "text": "x = 3"})

    assert answer.body["state"] == "edited"
    assert file.source == "x = 3"


async def test_a_proposal_overtaken_by_the_user_overwrites_nothing(
    api: Api, jp_serverapp: ServerApp, file: Notebook
) -> None:
    proposal_id = await propose(
        jp_serverapp, await api.new_session(), "what stood there before", "x = 0"
    )

    answer = await api.post(f"proposals/{proposal_id}", {"decision": "apply"})

    assert answer.body["state"] == "conflict"
    assert file.source == "x = 1"
    (fresh,) = (await api.get("proposals", status="proposed")).body["proposals"]
    assert fresh["current"] == "x = 1"


async def test_proposals_of_deleted_conversations_are_gone(
    api: Api, jp_serverapp: ServerApp, file: Notebook
) -> None:
    session_id = await api.new_session()
    proposal_id = await propose(jp_serverapp, session_id, "x = 1")

    await api.delete(f"sessions/{session_id}")

    assert (await api.get("proposals")).body["proposals"] == []
    assert (await api.post(f"proposals/{proposal_id}", {"decision": "apply"})).status == 404


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("proposals/prop_x", {"decision": "apply"}, 404),
        ("proposals/p", {"decision": "perhaps"}, 400),
        ("proposals/p", {}, 400),
    ],
)
async def test_a_decision_that_makes_no_sense_is_refused(
    api: Api, jp_serverapp: ServerApp, path: str, body: dict[str, str], status: int
) -> None:
    await propose(jp_serverapp, await api.new_session(), "x = 1")

    assert (await api.post(path, body)).status == status


async def test_proposals_follow_a_file_that_was_renamed(
    api: Api, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    (jp_root_dir / "a.txt").write_text("one\n", encoding="utf-8")
    proposal = build_proposal(await api.new_session(), "a.txt", None, "one\n", "two\n")
    host = await host_of(jp_serverapp)
    host.log.append(proposal.session_id, ProposalAdd(call_id=None, proposal=proposal))
    await jp_fetch("api", "contents", "a.txt", method="PATCH", body='{"path": "b.txt"}')

    applied = await api.post("proposals/p", {"decision": "apply"})

    assert applied.body["state"] == "applied"
    assert (jp_root_dir / "b.txt").read_text(encoding="utf-8") == "two\n"
