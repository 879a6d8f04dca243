"""``GET operations``: every change of a document, by any actor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat

from tests.server.client import Api
from tests.server.handlers.documents.test_edits_api import contents
from tests.simulator import Reply, Simulator, ToolUse, reply


def creates(path: str) -> Reply:
    """A reply that makes a file."""
    return reply(ToolUse(name="create_file", arguments={"path": path, "content": "text\n"}))


def adds(source: str) -> Reply:
    """A reply that adds a cell."""
    return reply(ToolUse(name="add_cell", arguments={"path": "a.ipynb", "source": source}))


async def made(api: Api, upstream: Simulator, *replies: Reply) -> str:
    """A conversation in which these calls ran without approval; return its id."""
    upstream.script(*replies, "Done.")
    session_id = await api.new_session(mode="auto_edit", toolset="full")
    events = await api.run(session_id, "go")
    results = [event for event in events if event["type"] == "tool-result"]
    assert [result["status"] for result in results] == ["ok"] * len(replies), results
    return session_id


async def test_changes_of_files_and_cells_are_listed(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    (jp_root_dir / "a.ipynb").write_text(str(nbformat.writes(nbformat.v4.new_notebook())))
    session_id = await made(api, upstream, creates("data/a.txt"), adds("1"))

    answer = await api.get("operations")

    rows: list[dict[str, Any]] = answer.body["operations"]
    shown = [(row["kind"], row["document"], row["state"], row["can_undo"]) for row in rows]
    assert answer.status == 200
    assert shown == [
        ("create", "a.ipynb", "done", True),
        ("create", "data/a.txt", "done", True),
        ("mkdir", "data/", "done", True),
    ]
    assert {row["session_id"] for row in rows} == {session_id}
    assert {row["by"] for row in rows} == {"agent"}
    assert rows[0]["cell_id"] is not None
    assert rows[0]["reason"] is None
    assert rows[1]["batch"] == rows[2]["batch"]


async def test_changes_are_filtered_and_paged(api: Api, upstream: Simulator) -> None:
    first = await made(api, upstream, creates("a.txt"))
    await made(api, upstream, creates("b.txt"))

    async def found(**query: object) -> list[str]:
        answer = await api.request("GET", "operations", params=query)
        assert answer.status == 200, answer
        return [row["document"] for row in answer.body["operations"]]

    assert await found() == ["b.txt", "a.txt"]
    assert await found(session=first) == ["a.txt"]
    assert await found(path="b.txt") == ["b.txt"]
    page = (await api.get("operations", limit=1)).body
    assert [row["document"] for row in page["operations"]] == ["b.txt"]
    assert await found(limit=1, cursor=page["next_cursor"]) == ["a.txt"]
    for wrong in ({"cursor": "x"}, {"limit": "0"}, {"limit": "1001"}):
        assert (await api.get("operations", **wrong)).status == 400


async def test_one_change_is_taken_back_with_what_was_done_in_one_go_with_it(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    await made(api, upstream, creates("data/a.txt"), creates("b.txt"))
    rows = {row["document"]: row for row in (await api.get("operations")).body["operations"]}

    answer = await api.post(f"operations/{rows['data/a.txt']['id']}/undo", {})

    assert answer.status == 200, answer
    assert answer.body["undone"] == [rows["data/a.txt"]["id"], rows["data/"]["id"]]
    assert answer.body["kept"] == []
    assert list(contents(jp_root_dir)) == ["b.txt"]
    again = await api.post(f"operations/{rows['data/a.txt']['id']}/undo", {})
    assert (again.status, again.code) == (409, "conflict")
    assert (await api.post("operations/op_unknown/undo", {})).status == 404


async def test_what_was_changed_since_is_said_and_stays(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    await made(api, upstream, creates("a.txt"))
    (row,) = (await api.get("operations")).body["operations"]
    (jp_root_dir / "a.txt").write_text("the user's own")

    answer = await api.post(f"operations/{row['id']}/undo", {})

    assert answer.status == 409
    assert (jp_root_dir / "a.txt").read_text() == "the user's own"
