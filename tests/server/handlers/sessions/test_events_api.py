import asyncio
import re
import socket

import pytest
from jupyter_server.serverapp import ServerApp

from jupyter_ai_shoulders.host.state.event_bus import EventBus
from jupyter_ai_shoulders.server.handlers import events as events_module
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.wire.events import TextDelta
from jupyter_ai_shoulders.wire.ids import PartId, SessionId
from tests.server.client import ENDED, Api
from tests.simulator import Delivery, Simulator, reply


async def test_pages_cover_the_log_once(api: Api) -> None:
    session_id = await api.new_session()
    for number in range(6):
        await api.patch(f"sessions/{session_id}", {"title": str(number)})
    path = f"sessions/{session_id}/events"

    pages = [(await api.get(path, after=after, limit=3)).body for after in (0, 3, 6, 7)]

    assert [[event["seq"] for event in page["events"]] for page in pages] == [
        [1, 2, 3],
        [4, 5, 6],
        [7],
        [],
    ]
    assert [page["has_more"] for page in pages] == [True, True, False, False]
    assert {page["last_seq"] for page in pages} == {7}


async def test_a_cursor_from_the_future_finds_nothing_and_says_where_the_log_ends(api: Api) -> None:
    session_id = await api.new_session()

    page = (await api.get(f"sessions/{session_id}/events", after=1000)).body

    assert page == {"events": [], "last_seq": 1, "has_more": False}


@pytest.mark.parametrize(
    ("name", "value"), [("after", "-1"), ("after", "x"), ("limit", "0"), ("limit", "5001")]
)
async def test_arguments_that_make_no_sense_are_refused(api: Api, name: str, value: str) -> None:
    session_id = await api.new_session()

    answer = await api.get(f"sessions/{session_id}/events", **{name: value})

    assert (answer.status, answer.code) == (400, "invalid_request")
    assert answer.error["message"].startswith(name)


async def test_a_stream_begins_where_the_client_stopped(api: Api) -> None:
    session_id = await api.new_session()
    for number in range(5):
        await api.patch(f"sessions/{session_id}", {"title": str(number)})

    async with (
        api.stream(session_id, after=2) as by_argument,
        api.stream(session_id, after=1, **{"Last-Event-ID": "4"}) as by_header,
    ):
        await by_argument.until("session-update", count=4)
        await by_header.until("session-update", count=2)
        await api.patch(f"sessions/{session_id}", {"title": "live"})
        await by_argument.until("session-update", count=5)
        await by_header.until("session-update", count=3)

    assert by_argument.ids == [3, 4, 5, 6, 7]
    assert by_header.ids == [5, 6, 7]


@pytest.mark.parametrize("given", ["abc", "²", "9" * 5000])
async def test_a_bad_last_event_id_is_refused(api: Api, given: str) -> None:
    session_id = await api.new_session()

    answer = await api.request(
        "GET",
        f"sessions/{session_id}/events",
        headers={"Accept": "text/event-stream", "Last-Event-ID": given},
    )

    assert (answer.status, answer.code) == (400, "invalid_request")


async def test_a_stream_from_the_future_is_refused_and_not_silent(api: Api) -> None:
    session_id = await api.new_session()

    answer = await api.request(
        "GET",
        f"sessions/{session_id}/events",
        headers={"Accept": "text/event-stream", "Last-Event-ID": "1000"},
    )

    assert (answer.status, answer.code) == (409, "stale")
    assert answer.error["details"]["last_seq"] == 1


async def test_a_silent_stream_sends_heartbeats(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events_module, "HEARTBEAT_SECONDS", 0.02)
    session_id = await api.new_session()

    async with api.stream(session_id) as stream, asyncio.timeout(60):
        while len(stream.comments) < 3:
            await stream.news()
        await api.patch(f"sessions/{session_id}", {"title": "still here"})
        await stream.until("session-update")

    assert stream.ids == [1, 2]


async def test_a_stream_forgets_a_client_that_left(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events_module, "HEARTBEAT_SECONDS", 0.02)
    ended: list[str] = []
    end = events_module.EventStreamBuffer.end

    def noted(news: events_module.EventStreamBuffer) -> None:
        ended.append("left")
        end(news)

    monkeypatch.setattr(events_module.EventStreamBuffer, "end", noted)
    session_id = await api.new_session()

    async with api.stream(session_id) as stream:
        await stream.until("session-create")

    async with asyncio.timeout(60):
        while not ended:
            await api.get("status")


async def test_reading_again_in_the_middle_of_a_stream_gives_the_same_log(
    api: Api, upstream: Simulator
) -> None:
    words = " ".join(f"word{number}" for number in range(200))
    upstream.script(reply(words, delivery=Delivery(event_delay=0.001)))
    session_id = await api.new_session()

    async with api.stream(session_id) as first:
        await api.send(session_id, "talk")
        await first.until("text-delta", count=3)
    async with api.stream(session_id, after=first.ids[-1]) as second:
        await second.until("text-delta", count=3)
    async with api.stream(session_id, after=second.ids[-1]) as third:
        await third.until(ENDED)

    seen = first.events + second.events + third.events
    assert [event["seq"] for event in seen] == list(range(1, len(seen) + 1))
    assert seen == (await api.events(session_id))[: len(seen)]
    assert "".join(e["text"] for e in seen if e["type"] == "text-delta") == words


async def test_an_event_stream_is_not_buffered_by_proxies(api: Api) -> None:
    session_id = await api.new_session()

    async with api.stream(session_id) as stream:
        await stream.until("session-create")

    headers = stream.response.headers
    assert headers["Content-Type"] == "text/event-stream"
    assert headers["Cache-Control"] == "no-cache"
    assert headers["X-Accel-Buffering"] == "no"


async def test_a_follower_that_falls_behind_reads_the_log_and_misses_nothing() -> None:
    news = events_module.EventStreamBuffer()
    news.on_event(_logged(1))
    first = (news.is_behind, news.take())
    news.catch_up()
    for seq in range(2, 502):
        news.on_event(_logged(seq))
    kept = (news.is_behind, len(news.take()))
    for seq in range(502, 1100):
        news.on_event(_logged(seq))

    assert first == (True, [])
    assert kept == (False, 500)
    assert (news.is_behind, news.take()) == (True, [])
    news.catch_up()
    news.on_event(_logged(1100))
    assert await news.wait(60)
    assert [event.seq for event in news.take()] == [1100]


async def test_a_silent_session_is_told_from_one_with_news_by_one_timer() -> None:
    news = events_module.EventStreamBuffer()
    news.catch_up()

    heard: list[bool] = []
    for seq in range(1, 4):
        asyncio.get_running_loop().call_soon(news.on_event, _logged(seq))
        heard.append(await news.wait(0.5))
        news.take()
    heard.append(await news.wait(0.5))
    news.close()

    assert heard == [True, True, True, False]


async def test_only_followers_of_a_session_hear_of_it() -> None:
    hub = EventBus()
    mine, others = events_module.EventStreamBuffer(), events_module.EventStreamBuffer()
    for news in (mine, others):
        news.catch_up()
    hub.follow(SessionId("s1"), mine)
    hub.follow(SessionId("s2"), others)

    hub.publish(_logged(1))
    hub.unfollow(SessionId("s1"), mine)
    hub.publish(_logged(2))

    assert [event.seq for event in mine.take()] == [1]
    assert others.take() == []


def _logged(seq: int) -> LoggedEvent:
    event = TextDelta(seq=seq, session_id=SessionId("s1"), part_id=PartId("p1"), text="x")
    return LoggedEvent(event, event.model_dump_json())


async def test_a_stream_ends_with_the_server_and_tells_how_the_turn_was_left(
    api: Api, jp_serverapp: ServerApp, upstream: Simulator
) -> None:
    upstream.script(reply("One two three.", delivery=Delivery(ending="stall", ending_after=4)))
    session_id = await api.new_session()
    (app,) = jp_serverapp.extension_manager.extension_apps["jupyter_ai_shoulders"]

    async with api.stream(session_id) as stream, asyncio.timeout(60):
        await api.send(session_id, "Hello")
        await stream.until("text-delta")
        await app.stop_extension()
        assert stream.reading is not None
        await stream.reading

    shown = [event["session"] for event in stream.events if event["type"] == "session-update"]
    assert shown[-1]["status"] == "interrupted"


async def test_a_page_of_large_events_is_shorter_and_the_next_one_goes_on(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events_module, "_PAGE_CHARACTERS", 50_000)
    session_id = await api.new_session()
    for number in range(5):
        await api.patch(f"sessions/{session_id}", {"title": f"{number}" * 20_000})

    seqs: list[int] = []
    pages = 0
    has_more = True
    while has_more:
        after = seqs[-1] if seqs else 0
        body = (await api.get(f"sessions/{session_id}/events", after=after)).body
        seqs += [event["seq"] for event in body["events"]]
        has_more, pages = body["has_more"], pages + 1

    assert seqs == [1, 2, 3, 4, 5, 6]
    assert pages == 3


async def test_a_client_that_does_not_read_is_disconnected_and_goes_on_when_it_returns(
    api: Api, jp_http_port: int, jp_base_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events_module.EventsHandler, "stalled_seconds", 0.2)
    monkeypatch.setattr(events_module, "_CHARACTERS_AT_ONCE", 1 << 20)
    session_id = await api.new_session()
    for number in range(20):
        await api.patch(f"sessions/{session_id}", {"title": f"{number % 10}" * 900_000})
    ended = asyncio.Event()
    end = events_module.EventsHandler.on_finish

    def noted(handler: events_module.EventsHandler) -> None:
        end(handler)
        if "text/event-stream" in handler.request.headers.get("Accept", ""):
            ended.set()

    monkeypatch.setattr(events_module.EventsHandler, "on_finish", noted)
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 12)
    plain.connect(("127.0.0.1", jp_http_port))
    reader, writer = await asyncio.open_connection(sock=plain, limit=1 << 12)
    writer.write(
        f"GET {jp_base_url}shoulders/api/v1/sessions/{session_id}/events?after=0 HTTP/1.1\r\n"
        f"Host: 127.0.0.1:{jp_http_port}\r\nAuthorization: {api.token}\r\n"
        "Accept: text/event-stream\r\nConnection: close\r\n\r\n".encode()
    )

    async with asyncio.timeout(60):
        await ended.wait()
        got = await reader.read(-1)
    writer.close()

    assert b"reconnect with Last-Event-ID" in got
    last = int(re.findall(rb"^id: (\d+)$", got, re.MULTILINE)[-1])
    async with (
        api.stream(session_id, last) as stream,
        asyncio.timeout(60),
    ):
        while not stream.ids or stream.ids[-1] < 21:
            await stream.news()
    assert stream.ids == list(range(last + 1, 22))
