"""Threads that a document lists in its metadata."""

from pathlib import Path
from typing import Any

import pytest

from tests.server.client import Api, Fetch
from tests.server.conftest import OpenPage
from tests.server.handlers.sessions.test_thread_anchors_api import ANCHOR, new_thread
from tests.simulator import Simulator, ToolUse, reply
from tests.simulator_process import notebook

COPY = {**ANCHOR, "document": "copy.ipynb", "certainty": "approximate"}


@pytest.fixture(autouse=True)
def documents(jp_root_dir: Path) -> None:
    """A notebook and a copy of it."""
    for name in ("n.ipynb", "copy.ipynb"):
        (jp_root_dir / name).write_text(notebook(("c1", "x = 1")), encoding="utf-8")


async def adopt(api: Api, document: str, *threads: str) -> Any:
    """Request the threads of a document's list; return the answer's body."""
    anchor = {**COPY, "document": "whatever.ipynb"}
    body = {
        "document": document,
        "threads": [{"id": thread, "anchor": anchor} for thread in threads],
    }
    answer = await api.post("anchors/adopt", body)
    assert answer.status == 200, answer
    return answer.body


async def test_a_thread_of_the_document_is_itself(api: Api) -> None:
    thread = await new_thread(api)

    answer = await adopt(api, "n.ipynb", thread)

    assert answer == {
        "adopted": [{"from": thread, "to": thread}],
        "unknown": [],
        "refused": [],
    }
    assert len(await api.events(thread)) == 1


async def test_a_thread_follows_a_document_moved_outside_of_the_lab(
    api: Api, jp_root_dir: Path
) -> None:
    thread = await new_thread(api)
    (jp_root_dir / "n.ipynb").unlink()

    answer = await adopt(api, "copy.ipynb", thread)

    assert answer["adopted"] == [{"from": thread, "to": thread}]
    assert (await api.get(f"sessions/{thread}")).body["anchor"] == COPY


async def test_a_copied_document_gets_a_copy_of_the_conversation(
    api: Api, upstream: Simulator
) -> None:
    upstream.script("It prints one.")
    thread = await new_thread(api)
    said = await api.run(thread, "What does it print?")

    answer = await adopt(api, "copy.ipynb", thread)

    ((pair,), (listed,)) = (
        answer["adopted"],
        (await api.get("sessions", kind="task", document="copy.ipynb")).body["sessions"],
    )
    original = (await api.get(f"sessions/{thread}")).body
    assert pair == {"from": thread, "to": listed["id"]}
    assert listed["id"] != thread
    assert (listed["anchor"], original["anchor"]) == (COPY, ANCHOR)
    assert (listed["title"], listed["status"]) == (original["title"], "idle")
    copied = await api.events(listed["id"])
    assert [event["type"] for event in copied[: len(said)]] == [event["type"] for event in said]


async def test_asked_again_it_is_the_same_copy(api: Api) -> None:
    thread = await new_thread(api)
    first = await adopt(api, "copy.ipynb", thread)

    second = await adopt(api, "copy.ipynb", thread, thread)

    assert second == first
    assert len((await api.get("sessions", kind="task")).body["sessions"]) == 2


async def test_a_copy_that_was_deleted_does_not_come_back(api: Api) -> None:
    thread = await new_thread(api)
    (pair,) = (await adopt(api, "copy.ipynb", thread))["adopted"]
    await api.delete(f"sessions/{pair['to']}")

    answer = await adopt(api, "copy.ipynb", thread)

    assert (answer["adopted"], answer["unknown"]) == ([], [thread])
    await api.post(f"sessions/{pair['to']}/undelete")
    assert (await adopt(api, "copy.ipynb", thread))["adopted"] == [pair]


async def test_a_resolved_thread_is_resolved_in_the_copy(api: Api) -> None:
    thread = await new_thread(api)
    await api.patch(f"sessions/{thread}", {"status": "resolved"})

    (pair,) = (await adopt(api, "copy.ipynb", thread))["adopted"]

    assert (await api.get(f"sessions/{pair['to']}")).body["status"] == "resolved"


async def test_what_is_no_thread_here_is_unknown(api: Api) -> None:
    deleted, chat = await new_thread(api), await api.new_session()
    await api.delete(f"sessions/{deleted}")

    answer = await adopt(api, "copy.ipynb", "ses_elsewhere", deleted, chat)

    assert answer == {
        "adopted": [],
        "unknown": ["ses_elsewhere", deleted, chat],
        "refused": [],
    }


async def test_threads_follow_a_renamed_folder(
    api: Api, jp_fetch: Fetch, jp_root_dir: Path, open_page: OpenPage
) -> None:
    (jp_root_dir / "old").mkdir()
    (jp_root_dir / "old" / "n.ipynb").write_text(notebook(("c1", "x = 1")), encoding="utf-8")
    inside = await new_thread(api, document="old/n.ipynb")
    beside = await new_thread(api, document="older/n.ipynb")
    page = await open_page()
    page.hello()
    await page.until("welcome")

    await jp_fetch("api", "contents", "old", method="PATCH", body='{"path": "new"}')

    event = await page.until_event("session-update")
    assert (event["session_id"], event["session"]["anchor"]["document"]) == (inside, "new/n.ipynb")
    assert (await api.get(f"sessions/{beside}")).body["anchor"]["document"] == "older/n.ipynb"


async def test_threads_follow_what_the_agent_renames(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    thread = await new_thread(api)
    renames = ToolUse(name="rename_file", arguments={"path": "n.ipynb", "new_path": "m.ipynb"})
    upstream.script(reply(renames), "Done.")
    chat = await api.new_session(mode="bypass")

    await api.run(chat, "Rename it.")

    assert (jp_root_dir / "m.ipynb").exists()
    assert (await api.get(f"sessions/{thread}")).body["anchor"]["document"] == "m.ipynb"


async def test_a_thread_brought_back_is_in_its_document_though_that_was_renamed(
    api: Api, jp_fetch: Fetch
) -> None:
    thread = await new_thread(api)
    await api.delete(f"sessions/{thread}")
    await jp_fetch("api", "contents", "n.ipynb", method="PATCH", body='{"path": "m.ipynb"}')

    answer = await api.post(f"sessions/{thread}/undelete")

    assert answer.body["anchor"]["document"] == "m.ipynb"
    assert (await api.get(f"sessions/{thread}")).body == answer.body
