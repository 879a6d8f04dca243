"""An applied proposal of a thread is pending until the user keeps or undoes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jupyter_server.serverapp import ServerApp

from tests.server.client import Api
from tests.server.handlers.sessions.test_thread_anchors_api import new_thread
from tests.server.handlers.sessions.test_thread_runs_api import NEW, OLD, propose
from tests.simulator_process import notebook


@pytest.fixture
def file(jp_root_dir: Path) -> Path:
    path = jp_root_dir / "n.ipynb"
    path.write_text(notebook(("c1", OLD)), encoding="utf-8")
    return path


async def pending(api: Api) -> list[dict[str, Any]]:
    return (await api.get("edits", document="n.ipynb")).body["edits"]


async def state(api: Api) -> str:
    """The state of the proposal."""
    (proposal,) = (await api.get("proposals")).body["proposals"]
    return proposal["state"]


def held(file: Path) -> str:
    return file.read_text()


async def test_an_applied_proposal_is_kept_or_undone_in_review(
    api: Api, jp_serverapp: ServerApp, file: Path
) -> None:
    thread = await new_thread(api)
    proposal = await propose(jp_serverapp, thread)

    await api.post(f"proposals/{proposal}", {"decision": "apply"})

    assert NEW in held(file)
    (edit,) = await pending(api)
    assert (edit["session_id"], edit["cell_id"], edit["baseline"], edit["current"]) == (
        thread,
        "c1",
        OLD,
        NEW,
    )
    await api.post(f"edits/{edit['id']}", {"decision": "undo"})
    assert NEW not in held(file)
    assert await pending(api) == []
    assert await state(api) == "undone"


async def test_a_kept_proposal_stays_applied(api: Api, jp_serverapp: ServerApp, file: Path) -> None:
    thread = await new_thread(api)
    proposal = await propose(jp_serverapp, thread)
    await api.post(f"proposals/{proposal}", {"decision": "apply"})
    (edit,) = await pending(api)

    await api.post(f"edits/{edit['id']}", {"decision": "keep"})

    assert await state(api) == "applied"
    assert NEW in held(file)


async def test_what_the_user_wrote_instead_is_theirs(
    api: Api, jp_serverapp: ServerApp, file: Path
) -> None:
    proposal = await propose(jp_serverapp, await new_thread(api))

    await api.post(f"proposals/{proposal}", {"decision": "apply", "text": "print(2)"})

    assert await pending(api) == []
    assert await state(api) == "edited"


async def test_what_a_chat_proposed_and_the_user_applied_is_not_reviewed_again(
    api: Api, jp_serverapp: ServerApp, file: Path
) -> None:
    proposal = await propose(jp_serverapp, await api.new_session())

    await api.post(f"proposals/{proposal}", {"decision": "apply"})

    assert await pending(api) == []
    assert NEW in held(file)
