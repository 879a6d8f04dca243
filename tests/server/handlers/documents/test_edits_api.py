"""The review of the agent's changes over HTTP, on real notebooks and files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.server.client import ENDED, Api, Fetch
from tests.server.conftest import OpenPage
from tests.simulator import Simulator, ToolUse, reply
from tests.simulator_process import notebook

BOOK = notebook(("c1", "x = 1"), ("c2", "y = 2"), ("c3", "z = 3"))
ODD = b"one\r\ntwo\nthree\r\n"
"""A file with two kinds of line ends."""
LATIN = "größe = 1\n".encode("latin-1")


def use(tool: str, path: str = "a.ipynb", **arguments: Any) -> Any:
    return ToolUse(name=tool, arguments={"path": path, **arguments})


def sources(root: Path) -> list[str]:
    cells = json.loads((root / "a.ipynb").read_text())["cells"]
    return ["".join(cell["source"]) for cell in cells]


def put(root: Path) -> dict[str, bytes]:
    """Write the workspace; return its bytes."""
    (root / "a.ipynb").write_text(BOOK)
    (root / "odd.txt").write_bytes(ODD)
    (root / "latin.py").write_bytes(LATIN)
    (root / "gone.txt").write_bytes(b"gone\n")
    return contents(root)


def contents(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".shoulders" not in path.parts
    }


async def worked(api: Api, upstream: Simulator) -> tuple[str, str]:
    """A turn that edits three cells and two files, and creates and deletes one file each."""
    upstream.script(
        reply(use("read_notebook"), *(use("read_file", name) for name in READ)),
        reply(
            use("edit_cell", cell_id="c1", source="x = 10\nmore = 1"),
            use("delete_cell", cell_id="c2"),
            use("add_cell", source="new = 1", after="c3"),
            use("edit_file", "odd.txt", old_string="two", new_string="TWO"),
            use("edit_file", "latin.py", old_string="1", new_string="2"),
            use("create_file", "made/new.txt", content="new\n"),
            use("delete_file", "gone.txt"),
        ),
        "Done.",
    )
    session_id = await api.new_session(mode="bypass", toolset="full")
    events = await allowed(api, session_id)
    failed = [e for e in events if e["type"] == "tool-result" and e["status"] != "ok"]
    assert failed == []
    (start,) = [event for event in events if event["type"] == "turn-start"]
    return session_id, start["turn_id"]


async def allowed(api: Api, session_id: str) -> list[dict[str, Any]]:
    """Send a message and allow every request; return the log."""
    asked = 0
    async with api.stream(session_id) as stream:
        await api.send(session_id, "Please", "m1")
        while (await stream.until(ENDED, ASKED, count=asked + 1))["type"] == ASKED:
            asked += 1
            (*_, last) = [event for event in stream.events if event["type"] == ASKED][:asked]
            await api.post(
                f"sessions/{session_id}/approvals/{last['call_id']}",
                {"decision": "allow", "scope": "once"},
            )
    return await api.events(session_id)


ASKED = "approval-request"
READ = ("odd.txt", "latin.py", "gone.txt")


async def pending(api: Api, **query: object) -> list[dict[str, Any]]:
    answer = await api.get("edits", status="pending", **query)
    assert answer.status == 200, answer
    return answer.body["edits"]


def shown(edits: list[dict[str, Any]]) -> list[tuple[str, str | None, str | None, str | None]]:
    return [(e["document"], e["cell_id"], e["baseline"], e["current"]) for e in edits]


async def test_everything_a_turn_changed_awaits_review_and_each_can_be_undone(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    before = put(jp_root_dir)
    session_id, turn_id = await worked(api, upstream)

    edits = await pending(api)

    made = edits[2]["cell_id"]
    assert shown(edits) == [
        ("a.ipynb", "c1", "x = 1", "x = 10\nmore = 1"),
        ("a.ipynb", "c2", "y = 2", None),
        ("a.ipynb", made, None, "new = 1"),
        ("gone.txt", None, "gone\n", None),
        ("latin.py", None, "größe = 1\n", "größe = 2\n"),
        ("made/new.txt", None, None, "new\n"),
        ("odd.txt", None, "one\ntwo\nthree\n", "one\nTWO\nthree\n"),
    ]
    assert {(e["session_id"], e["turn_id"]) for e in edits} == {(session_id, turn_id)}
    assert await pending(api, document="odd.txt") == edits[-1:]
    assert await pending(api, session="ses_other") == []
    for edit in edits:
        seen = {name: edit[name] for name in ("current_version", "baseline_version")}
        answer = await api.post(f"edits/{edit['id']}", {"decision": "undo", **seen})
        assert (answer.status, answer.body) == (200, {"edit": None, "drift": None})
    assert await pending(api) == []
    assert contents(jp_root_dir) == before


async def test_all_edits_are_undone_at_once_those_of_a_notebook_in_one_step(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    before = put(jp_root_dir)
    await worked(api, upstream)
    edits = await pending(api)
    choices = [{"id": e["id"], "current_version": e["current_version"]} for e in edits]
    choices.append({"id": "edit_unknown"})

    answer = await api.post("edits", {"decision": "undo", "edits": choices})

    assert sorted(answer.body["resolved"]) == sorted(edit["id"] for edit in edits)
    (left,) = answer.body["left"]
    assert (left["error"]["code"], left["edit"]) == ("not_found", None)
    assert contents(jp_root_dir) == before
    assert await pending(api) == []


async def test_what_was_kept_is_not_listed_and_stays(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    put(jp_root_dir)
    await worked(api, upstream)
    after = contents(jp_root_dir)

    for edit in await pending(api):
        await api.post(f"edits/{edit['id']}", {"decision": "keep"})

    assert (await pending(api), contents(jp_root_dir)) == ([], after)


async def test_an_edit_that_changed_since_is_answered_with_how_it_stands(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    put(jp_root_dir)
    await worked(api, upstream)
    (edit,) = await pending(api, document="odd.txt")
    (jp_root_dir / "odd.txt").write_bytes(b"one\r\nTWO\nthree\r\nmine\n")

    body = {"decision": "undo", "current_version": edit["current_version"]}
    answer = await api.post(f"edits/{edit['id']}", body)

    assert (answer.status, answer.body["error"]["code"]) == (409, "stale")
    assert answer.body["edit"]["current"] == "one\nTWO\nthree\nmine\n"
    assert answer.body["edit"]["baseline"] == "one\ntwo\nthree\nmine\n"
    now = {"decision": "undo", "current_version": answer.body["edit"]["current_version"]}
    assert (await api.post(f"edits/{edit['id']}", now)).status == 200
    assert (jp_root_dir / "odd.txt").read_bytes() == b"one\r\ntwo\nthree\r\nmine\n"


async def test_the_turn_is_undone_as_a_whole_byte_for_byte_and_done_again(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    before = put(jp_root_dir)
    session_id, turn_id = await worked(api, upstream)
    after = contents(jp_root_dir)

    answer = await api.post(f"sessions/{session_id}/undo", {"turn_id": turn_id})

    assert (answer.status, answer.body["undone_turn"]) == (202, turn_id)
    assert (contents(jp_root_dir), await pending(api)) == (before, [])
    again = await api.post(f"sessions/{session_id}/undo", {"turn_id": turn_id})
    assert (again.status, again.body) == (202, answer.body)
    redo = {"seq": answer.body["seq"], "what": ["notebook", "files"]}
    redone = await api.post(f"sessions/{session_id}/restore", redo)
    assert redone.status == 202, redone
    assert contents(jp_root_dir) == after
    unknown = await api.post(f"sessions/{session_id}/undo", {"turn_id": "turn_x"})
    assert (unknown.status, unknown.code) == (404, "not_found")


async def test_a_restore_puts_files_and_notebook_back_and_takes_it_back(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    before = put(jp_root_dir)
    session_id, _ = await worked(api, upstream)
    after = contents(jp_root_dir)
    (said,) = [e for e in await api.events(session_id) if e["type"] == "message-add"]

    both = {"seq": said["seq"], "what": ["notebook", "files"]}
    restored = await api.post(f"sessions/{session_id}/restore", both)

    assert restored.status == 202, restored
    assert (contents(jp_root_dir), await pending(api)) == (before, [])
    back = {"seq": restored.body["seq"], "what": ["notebook", "files"]}
    assert (await api.post(f"sessions/{session_id}/restore", back)).status == 202
    assert contents(jp_root_dir) == after


async def test_every_page_hears_that_there_is_something_to_review(
    api: Api, upstream: Simulator, jp_root_dir: Path, open_page: OpenPage
) -> None:
    put(jp_root_dir)
    page = await open_page()
    page.hello()  # it follows no session
    await page.until("welcome")

    await worked(api, upstream)

    assert (await page.until("edits-update"))["document"] in contents(jp_root_dir)


async def test_pending_edits_follow_a_renamed_notebook(
    api: Api, upstream: Simulator, jp_root_dir: Path, jp_fetch: Fetch
) -> None:
    put(jp_root_dir)
    await worked(api, upstream)

    await jp_fetch("api", "contents", "a.ipynb", method="PATCH", body='{"path": "b.ipynb"}')

    edits = await pending(api, document="b.ipynb")
    assert [edit["position"] for edit in edits] == [0, 1, 2]
    for edit in edits:
        await api.post(f"edits/{edit['id']}", {"decision": "undo"})
    assert (jp_root_dir / "b.ipynb").read_text() == BOOK


async def test_edits_of_a_deleted_conversation_are_hidden_until_it_is_back(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    put(jp_root_dir)
    session_id, _ = await worked(api, upstream)

    await api.delete(f"sessions/{session_id}")
    assert await pending(api) == []
    await api.post(f"sessions/{session_id}/undelete")

    assert len(await pending(api)) == 7


async def test_what_only_one_hunk_undoes_is_shown_without_it(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    (jp_root_dir / "lines.txt").write_text("1\n2\n3\n4\n5\n")
    upstream.script(
        reply(use("read_file", "lines.txt")),
        reply(use("write_file", "lines.txt", content="one\n2\n3\n4\nfive\n")),
        "Done.",
    )
    session_id = await api.new_session(mode="bypass", toolset="full")
    await allowed(api, session_id)
    (edit,) = await pending(api)

    answer = await api.post(f"edits/{edit['id']}", {"decision": "undo", "hunks": [1]})

    assert answer.body["edit"]["hunks"] == edit["hunks"][:1]
    assert (jp_root_dir / "lines.txt").read_text() == "one\n2\n3\n4\n5\n"
    bad = await api.post(f"edits/{edit['id']}", {"decision": "undo", "hunks": [1]})
    assert (bad.status, bad.code) == (400, "invalid_request")
