"""Pages report the anchors of task threads."""

from typing import Any

import pytest

from tests.server.client import Api
from tests.server.conftest import OpenPage

ANCHOR: dict[str, Any] = {
    "document": "n.ipynb",
    "cell_id": "c1",
    "target": "source",
    "range": {"from": 0, "to": 5},
    "quote": "x = 1",
    "prefix": "",
    "suffix": "\n",
    "version": "0123456789abcdef",
    "certainty": "exact",
    "output": None,
}
MOVED = {**ANCHOR, "range": {"from": 4, "to": 9}, "prefix": "# a\n"}


async def new_thread(api: Api, **anchor: object) -> str:
    """Make a thread; return its id."""
    return await api.new_session(kind="task", anchor={**ANCHOR, **anchor})


async def move(api: Api, session_id: str, anchor: object, **kwargs: Any) -> Any:
    """Report a thread's anchor; return the answer's body."""
    body = {"moved": [{"session_id": session_id, "anchor": anchor}]}
    answer = await api.request("POST", "anchors", body, **kwargs)
    assert answer.status == 200, answer
    return answer.body


async def test_a_thread_is_pinned_where_the_page_says(api: Api) -> None:
    thread = await new_thread(api)

    answer = await move(api, thread, MOVED)

    assert answer == {"moved": [thread], "refused": []}
    assert (await api.get(f"sessions/{thread}")).body["anchor"] == MOVED
    (_, event) = await api.events(thread)
    assert (event["type"], event["quiet"], event["session"]["anchor"]) == (
        "session-update",
        True,
        MOVED,
    )


async def test_the_same_place_again_makes_no_event(api: Api) -> None:
    thread = await new_thread(api)
    await move(api, thread, MOVED)

    answer = await move(api, thread, MOVED)

    assert answer == {"moved": [thread], "refused": []}
    assert len(await api.events(thread)) == 2


async def test_a_moved_thread_keeps_its_time_and_its_place_in_lists(api: Api) -> None:
    older, newer = await new_thread(api), await new_thread(api)
    before = (await api.get(f"sessions/{older}")).body

    await move(api, older, {**MOVED, "document": "other.ipynb"})

    after = (await api.get(f"sessions/{older}")).body
    listed = (await api.get("sessions", kind="task")).body["sessions"]
    assert after["updated_at"] == before["updated_at"]
    assert [session["id"] for session in listed] == [newer, older]


async def test_threads_are_listed_by_the_document_they_are_in_now(api: Api) -> None:
    thread = await new_thread(api)
    await move(api, thread, {**MOVED, "document": "other.ipynb"})

    there = (await api.get("sessions", kind="task", document="other.ipynb")).body["sessions"]
    here = (await api.get("sessions", kind="task", document="n.ipynb")).body["sessions"]

    assert [session["id"] for session in there] == [thread]
    assert here == []


async def test_every_page_hears_of_a_move(api: Api, open_page: OpenPage) -> None:
    thread = await new_thread(api)
    page = await open_page()
    page.hello()
    await page.until("welcome")

    await move(api, thread, MOVED)

    event = await page.until_event("session-update")
    assert (event["session_id"], event["session"]["anchor"]) == (thread, MOVED)


async def test_one_that_cannot_move_keeps_no_other_from_it(api: Api) -> None:
    thread, chat = await new_thread(api), await api.new_session()
    gone = await new_thread(api)
    await api.delete(f"sessions/{gone}")
    body = {
        "moved": [
            {"session_id": session_id, "anchor": MOVED}
            for session_id in (chat, gone, "ses_none", thread)
        ]
    }

    answer = (await api.post("anchors", body)).body

    refused = [(one["session_id"], one["error"]["code"]) for one in answer["refused"]]
    assert answer["moved"] == [thread]
    assert refused == [
        (chat, "invalid_request"),
        (gone, "not_found"),
        ("ses_none", "not_found"),
    ]
    assert len(await api.events(chat)) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"quote": "x" * 20_001},
        {"prefix": "x" * 257},
        {"suffix": "x" * 257},
        {"document": ""},
        {"document": "x" * 4_097},
        {"cell_id": "x" * 257},
        {"range": {"from": 5, "to": 4}},
        {"range": {"from": -1, "to": 4}},
    ],
    ids=str,
)
async def test_anchors_no_page_makes_are_refused(api: Api, wrong: dict[str, object]) -> None:
    thread = await new_thread(api)
    body = {"moved": [{"session_id": thread, "anchor": {**ANCHOR, **wrong}}]}

    moved = await api.post("anchors", body)
    made = await api.post("sessions", {"kind": "task", "anchor": {**ANCHOR, **wrong}})

    assert (moved.status, moved.code) == (400, "invalid_request")
    assert (made.status, made.code) == (400, "invalid_request")
    assert next(iter(wrong)) in made.error["message"]
    assert list(made.error["details"]["fields"]) == ["anchor"]
    assert (await api.get(f"sessions/{thread}")).body["anchor"] == ANCHOR


async def test_the_longest_anchor_is_taken(api: Api) -> None:
    longest = {"quote": "x" * 20_000, "prefix": "x" * 256, "suffix": "x" * 256}

    thread = await new_thread(api, **longest)

    assert (await api.get(f"sessions/{thread}")).body["anchor"] == {**ANCHOR, **longest}
