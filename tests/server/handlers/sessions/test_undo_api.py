"""Undoing turns over HTTP where documents were created, renamed or changed later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.server.client import Api, Fetch
from tests.server.handlers.documents.test_edits_api import BOOK, allowed, contents, pending, use
from tests.simulator import Simulator, reply


async def turn(api: Api, upstream: Simulator, *calls: Any) -> tuple[str, str]:
    """Let the agent make calls in one turn; return the session and the turn."""
    upstream.script(*(reply(call) for call in calls), "Done.")
    session_id = await api.new_session(mode="bypass", toolset="full")
    events = await allowed(api, session_id)
    bad = [e for e in events if e["type"] == "tool-result" and e["status"] != "ok"]
    assert bad == []
    (start,) = [event for event in events if event["type"] == "turn-start"]
    return session_id, start["turn_id"]


async def undo(api: Api, session_id: str, turn_id: str) -> dict[str, Any]:
    answer = await api.post(f"sessions/{session_id}/undo", {"turn_id": turn_id})
    assert answer.status == 202, answer
    return answer.body


async def test_a_notebook_that_the_turn_made_goes_and_comes_again(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    session_id, turn_id = await turn(
        api,
        upstream,
        use("create_notebook", "new.ipynb"),
        use("add_cell", "new.ipynb", source="x = 1"),
    )
    after = contents(jp_root_dir)
    assert [edit["current"] for edit in await pending(api)] == ["x = 1"]

    undone = await undo(api, session_id, turn_id)

    assert contents(jp_root_dir) == {}
    assert await pending(api) == []
    back = {"seq": undone["seq"], "what": ["notebook", "files"]}
    assert (await api.post(f"sessions/{session_id}/restore", back)).status == 202
    assert contents(jp_root_dir) == after


async def test_a_notebook_that_the_user_changed_since_stays(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    session_id, turn_id = await turn(api, upstream, use("create_notebook", "new.ipynb"))
    book = json.loads((jp_root_dir / "new.ipynb").read_text())
    book["metadata"]["mine"] = True
    (jp_root_dir / "new.ipynb").write_text(json.dumps(book))

    undone = await undo(api, session_id, turn_id)

    assert json.loads((jp_root_dir / "new.ipynb").read_text()) == book
    (document,) = undone["documents"]
    assert (document["document"], document["error"]["code"]) == ("new.ipynb", "conflict")


async def test_a_notebook_that_was_renamed_since_is_put_back_under_its_new_name(
    api: Api, upstream: Simulator, jp_root_dir: Path, jp_fetch: Fetch
) -> None:
    (jp_root_dir / "a.ipynb").write_text(BOOK)
    session_id, turn_id = await turn(
        api, upstream, use("read_notebook"), use("edit_cell", cell_id="c1", source="x = 10")
    )
    await jp_fetch("api", "contents", "a.ipynb", method="PATCH", body='{"path": "b.ipynb"}')

    await undo(api, session_id, turn_id)

    assert contents(jp_root_dir) == {"b.ipynb": BOOK.encode()}


async def test_what_a_command_did_to_files_is_undone_with_the_turn(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    (jp_root_dir / "a.txt").write_text("a\n")
    (jp_root_dir / "c.txt").write_text("c\n")
    before = contents(jp_root_dir)
    upstream.script(
        reply(use_command("mv a.txt b.txt && rm c.txt")),
        "Done.",
    )
    session_id = await api.new_session(mode="bypass", toolset="full")
    events = await allowed(api, session_id)
    (start,) = [event for event in events if event["type"] == "turn-start"]
    assert contents(jp_root_dir) == {"b.txt": b"a\n"}

    await undo(api, session_id, start["turn_id"])

    assert contents(jp_root_dir) == before


def use_command(command: str) -> Any:
    call = use("run_command")
    return call.model_copy(update={"arguments": {"command": command}})
