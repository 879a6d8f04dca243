import asyncio
import time
from typing import Any

import pytest
from jupyter_server.serverapp import ServerApp
from tornado.httpclient import HTTPClientError

from jupyter_ai_shoulders import __version__
from jupyter_ai_shoulders.server.connections import page_socket as socket_module
from jupyter_ai_shoulders.wire.base import WIRE_VERSION
from tests.server.client import ENDED, NO_RULES, Api
from tests.server.conftest import OpenPage
from tests.simulator import Delivery, Simulator, reply

WELCOME = {"type": "welcome", "wire_version": WIRE_VERSION, "server_version": __version__}


def told(welcome: dict[str, Any] | None) -> dict[str, Any]:
    """The content of a welcome, without the time."""
    assert welcome is not None
    return {name: value for name, value in welcome.items() if name != "now_ms"}


async def test_hello_is_answered_with_welcome_and_what_was_missed(
    api: Api, open_page: OpenPage
) -> None:
    session_id = await api.new_session()
    await api.patch(f"sessions/{session_id}", {"title": "x"})
    page = await open_page()

    page.hello({session_id: 1})

    before = time.time()
    welcome = await page.next()
    assert welcome is not None
    assert abs(welcome["now_ms"] / 1000 - before) < 60
    assert told(welcome) == WELCOME
    events = await page.until("events")
    assert events["events"] == (await api.events(session_id))[1:]


@pytest.mark.parametrize("version", [0, WIRE_VERSION + 1])
async def test_a_page_of_another_version_is_told_ours_and_gets_nothing_else(
    api: Api, open_page: OpenPage, version: int
) -> None:
    session_id = await api.new_session()
    page = await open_page()

    page.hello({session_id: 0}, version=version)
    assert told(await page.next()) == WELCOME
    page.say("subscribe", session_id=session_id, after=0)

    frame = await page.next()
    assert told(frame) == WELCOME
    assert (await page.until("frame-error"))["error"]["code"] == "invalid_request"


@pytest.mark.parametrize(
    "text",
    ['{"type": "hello", "client_id": "p", "greeting": "from the future"}', "not json", "[]"],
    ids=["unknown hello", "not json", "list"],
)
async def test_a_first_frame_that_is_not_understood_is_told_our_version(
    open_page: OpenPage, text: str
) -> None:
    page = await open_page()

    page.say_text(text)

    assert told(await page.next()) == WELCOME
    assert (await page.until("frame-error"))["error"]["code"] == "invalid_request"


async def test_events_stream_to_a_page_without_gap_or_duplicate(
    api: Api, open_page: OpenPage, upstream: Simulator
) -> None:
    words = " ".join(f"word{number}" for number in range(300))
    upstream.script(reply(words, delivery=Delivery(event_delay=0.001)))
    session_id = await api.new_session()
    early, late = await open_page(), await open_page()
    early.hello({session_id: 0}, "early")
    await early.until("welcome")

    await api.send(session_id, "talk")
    await early.until_event("text-delta")
    late.hello({}, "late")
    await late.until("welcome")
    late.say("subscribe", session_id=session_id, after=2)
    await early.until_event(ENDED)
    await late.until_event(ENDED)

    log = await api.events(session_id)
    assert early.events == log[: len(early.events)]
    of_late = [event for event in late.events if event["seq"] > 2]
    assert of_late == log[2 : 2 + len(of_late)]
    batches = [frame for frame in early.frames if frame["type"] == "events"]
    assert len(batches) < len(early.events)


async def test_a_page_reconnects_with_its_cursor(
    api: Api, open_page: OpenPage, upstream: Simulator
) -> None:
    upstream.script(reply("one two three", delivery=Delivery(event_delay=0.005)))
    session_id = await api.new_session()
    first = await open_page()
    first.hello({session_id: 0})
    await api.send(session_id, "talk")
    await first.until_event("text-start")
    first.close()

    second = await open_page()
    second.hello({session_id: first.events[-1]["seq"]})
    await second.until_event(ENDED)

    seen = first.events + second.events
    assert seen == (await api.events(session_id))[: len(seen)]


async def test_unsubscribe_leaves_only_session_updates(api: Api, open_page: OpenPage) -> None:
    session_id = await api.new_session()
    page = await open_page()
    page.hello({session_id: 1})
    await page.until("welcome")
    page.say("unsubscribe", session_id=session_id)
    page.say("unsubscribe", session_id="ses_never")

    other = await api.new_session(title="other")
    await api.patch(f"sessions/{session_id}", {"title": "x"})
    await page.until_event("session-update")

    assert [(event["session_id"], event["type"]) for event in page.events] == [
        (other, "session-create"),
        (session_id, "session-update"),
    ]


async def test_a_page_far_behind_is_told_to_fetch(
    api: Api, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket_module, "CATCH_UP_EVENTS", 3)
    session_id = await api.new_session()
    for number in range(5):
        await api.patch(f"sessions/{session_id}", {"title": str(number)})
    page = await open_page()

    page.hello({session_id: 1})
    assert await page.until("resync") == {"type": "resync", "session_id": session_id, "after": 1}

    page.say("subscribe", session_id=session_id, after=5)
    await page.until_event("session-update")
    assert [event["seq"] for event in page.events] == [6]


@pytest.mark.parametrize(("cursor", "known", "code"), [(5, True, "stale"), (0, False, "not_found")])
async def test_a_cursor_that_fits_no_log_is_refused_and_the_socket_goes_on(
    api: Api, open_page: OpenPage, cursor: int, known: bool, code: str
) -> None:
    session_id = await api.new_session()
    asked = session_id if known else "ses_x"
    page = await open_page()

    page.hello({asked: cursor})
    await page.until("welcome")
    error = (await page.until("frame-error"))["error"]
    page.say("subscribe", session_id=session_id, after=0)

    assert (error["code"], error["details"]["session_id"]) == (code, asked)
    assert (await page.until_event("session-create"))["session_id"] == session_id


@pytest.mark.parametrize(
    ("frame", "where"),
    [
        ({"type": "unheard-of"}, "unheard-of"),
        ({"type": "subscribe", "session_id": "s"}, "subscribe.after"),
        ({"type": "subscribe", "session_id": "s", "after": "x"}, "subscribe.after"),
        ({"type": "hello", "client_id": "p", "wire_version": WIRE_VERSION, "cursors": {}}, "hello"),
    ],
    ids=["type", "missing", "number", "twice"],
)
async def test_a_frame_that_makes_no_sense_is_refused_and_the_socket_goes_on(
    api: Api, open_page: OpenPage, frame: dict[str, object], where: str
) -> None:
    session_id = await api.new_session()
    page = await open_page()
    page.hello()
    await page.until("welcome")

    page.say(str(frame["type"]), **{k: v for k, v in frame.items() if k != "type"})
    error = (await page.until("frame-error"))["error"]
    page.say("subscribe", session_id=session_id, after=0)

    assert error["code"] == "invalid_request"
    assert where in error["message"]
    await page.until_event("session-create")


async def test_a_message_over_the_socket_is_one_over_http(
    api: Api, open_page: OpenPage, upstream: Simulator
) -> None:
    upstream.script("Hello.")
    session_id = await api.new_session()
    page = await open_page()
    page.hello({session_id: 0})

    for _ in range(2):  # a repeated id is accepted once
        page.say("message-send", session_id=session_id, message={"id": "m", "text": "Hi"})
    answers = [await page.until("message-sent") for _ in range(2)]
    while (await page.until_event("turn-end"))["session_id"] != session_id:
        pass

    [added] = [e for e in await api.events(session_id) if e["type"] == "message-add"]
    assert (added["message_id"], added["text"]) == ("m", "Hi")
    assert [a["accepted"] for a in answers] == [
        {"turn_id": added["turn_id"], "seq": added["seq"]}
    ] * 2


@pytest.mark.parametrize(
    ("session_id", "text", "status", "code"),
    [
        ("ses_x", "Hi", 404, "not_found"),
        (None, " ", 400, "invalid_request"),
        (None, "x" * 2000, 413, "too_large"),
    ],
    ids=["unknown", "blank", "large"],
)
async def test_a_message_that_is_not_accepted_says_why(
    api: Api,
    open_page: OpenPage,
    monkeypatch: pytest.MonkeyPatch,
    *,
    session_id: str | None,
    text: str,
    status: int,
    code: str,
) -> None:
    monkeypatch.setattr(socket_module, "MESSAGE_BYTES", 1000)
    session_id = session_id or await api.new_session()
    page = await open_page()
    page.hello()

    page.say("message-send", session_id=session_id, message={"id": "m", "text": text})
    answer = await page.until("message-refused")

    assert (answer["session_id"], answer["message_id"]) == (session_id, "m")
    assert (answer["status"], answer["error"]["code"]) == (status, code)


async def test_a_page_that_connects_again_takes_its_own_place(
    api: Api, open_page: OpenPage
) -> None:
    old, new = await open_page(), await open_page()
    old.hello({}, "same")
    await old.until("welcome")
    new.hello({}, "same")
    await new.until("welcome")

    assert await old.next() is None
    await api.new_session()
    await new.until_event("session-create")


async def test_pages_learn_of_a_deleted_conversation(api: Api, open_page: OpenPage) -> None:
    session_id = await api.new_session()
    follower, other = await open_page(), await open_page()
    follower.hello({session_id: 1})
    other.hello(client_id="other")
    for page in (follower, other):
        await page.until("welcome")

    await api.delete(f"sessions/{session_id}")
    for page in (follower, other):
        assert (await page.until("session-delete"))["session_id"] == session_id

    await api.post(f"sessions/{session_id}/undelete")
    for page in (follower, other):
        assert (await page.until_event("session-update"))["session_id"] == session_id


async def test_every_page_learns_of_other_permissions(api: Api, open_page: OpenPage) -> None:
    page = await open_page()
    page.hello()
    await page.until("welcome")

    await api.put("tools/permissions", NO_RULES | {"disabled": ["todo"]})

    assert await page.until("tools-update") == {"type": "tools-update"}


async def test_a_slow_page_costs_no_memory_and_finds_everything_again(
    api: Api, open_page: OpenPage, upstream: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "jupyter_ai_shoulders.server.connections.page_connection.MAX_EVENT_BYTES", 3_000
    )
    monkeypatch.setattr(
        "jupyter_ai_shoulders.server.connections.page_connection.BATCH_SECONDS", 0.3
    )
    monkeypatch.setattr("jupyter_ai_shoulders.server.connections.page_connection.BURST_FRAMES", 1)
    upstream.script(reply("word " * 200, delivery=Delivery(event_delay=0.0005)))
    session_id = await api.new_session()
    page = await open_page()
    page.hello({session_id: 0})
    await page.until("welcome")

    await api.run(session_id, "talk")
    resync = await page.until("resync")
    missed = await api.events(session_id, after=resync["after"])
    page.say("subscribe", session_id=session_id, after=missed[-1]["seq"])
    await api.patch(f"sessions/{session_id}", {"title": "after"})
    async with asyncio.timeout(60):
        while not any(e.get("session", {}).get("title") == "after" for e in page.events):
            await page.until("events")

    of_session = [event for event in page.events if event["seq"] <= resync["after"]]
    log = await api.events(session_id)
    assert of_session + missed + page.events[-1:] == log


async def test_no_page_connects_while_the_server_stops(
    open_page: OpenPage, api: Api, jp_serverapp: ServerApp
) -> None:
    await api.get("status")
    (app,) = jp_serverapp.extension_manager.extension_apps["jupyter_ai_shoulders"]
    await app.stop_extension()

    with pytest.raises(HTTPClientError) as refused:
        await open_page()

    assert refused.value.code == 503
