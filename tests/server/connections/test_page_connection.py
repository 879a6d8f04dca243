import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from jupyter_ai_shoulders.server.connections import page_connection as page_module
from jupyter_ai_shoulders.server.connections.connection_registry import PageConnectionRegistry
from jupyter_ai_shoulders.server.connections.page_connection import PageConnection
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.storage.schema.event_rows import EventText
from jupyter_ai_shoulders.wire.events import Event, Notice, SessionUpdate
from jupyter_ai_shoulders.wire.frames import DocumentRead, Welcome
from jupyter_ai_shoulders.wire.ids import ClientId, OperationId, SessionId
from tests.storage.store import session

A, B = SessionId("ses_a"), SessionId("ses_b")


@dataclass
class FakeConnection:
    """A page that takes a frame when the test allows it."""

    frames: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    closed: tuple[int, str] | None = None
    open: asyncio.Event = field(default_factory=asyncio.Event)
    got: asyncio.Event = field(default_factory=asyncio.Event)

    async def send(self, text: str) -> None:
        await self.open.wait()
        self.frames.append(json.loads(text))
        self.got.set()

    def close(self, code: int, reason: str) -> None:
        self.closed = (code, reason)

    async def received(self, count: int) -> list[dict[str, Any]]:
        """Wait for ``count`` frames."""
        async with asyncio.timeout(60):
            while len(self.frames) < count:
                self.got.clear()
                await self.got.wait()
        return self.frames


def logged(event: Event, session_id: SessionId, seq: int) -> LoggedEvent:
    stamped = event.model_copy(update={"session_id": session_id, "seq": seq})
    return LoggedEvent(stamped, stamped.model_dump_json())


def notice(session_id: SessionId, seq: int, text: str = "x") -> LoggedEvent:
    return logged(Notice(level="info", code="c", text=text), session_id, seq)


def update(session_id: SessionId, seq: int, owner: str | None = None) -> LoggedEvent:
    value = session(session_id.removeprefix("ses_")).model_copy(update={"owner": owner})
    return logged(SessionUpdate(session=value), session_id, seq)


def seqs(frame: dict[str, Any]) -> list[tuple[str, int]]:
    assert frame["type"] == "events"
    return [(event["session_id"], event["seq"]) for event in frame["events"]]


def connected(
    *, reading: bool = True, user: str | None = None
) -> tuple[PageConnection, FakeConnection]:
    connection = FakeConnection()
    if reading:
        connection.open.set()
    return PageConnection(connection, ClientId("page"), user), connection


async def test_events_of_all_sessions_share_a_frame() -> None:
    page, connection = connected()
    page.follow(A, 3, [])
    page.follow(B, 0, [])

    for number in range(1, 4):
        page.offer(notice(A, 3 + number))
        page.offer(notice(B, number))

    (frame,) = await connection.received(1)
    assert seqs(frame) == [(A, 4), (B, 1), (A, 5), (B, 2), (A, 6), (B, 3)]
    page.disconnected()


async def test_some_frames_go_out_at_once_and_the_next_events_wait_for_a_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_module, "BATCH_SECONDS", 0.25)
    monkeypatch.setattr(page_module, "BURST_FRAMES", 2)
    page, connection = connected()
    page.follow(A, 0, [])
    loop = asyncio.get_running_loop()
    began = loop.time()

    page.offer(notice(A, 1))
    await connection.received(1)
    page.offer(notice(A, 2))
    await connection.received(2)
    burst = loop.time() - began
    page.offer(notice(A, 3))
    await asyncio.sleep(0)
    page.offer(notice(A, 4))
    await connection.received(3)

    assert [seqs(frame) for frame in connection.frames] == [[(A, 1)], [(A, 2)], [(A, 3), (A, 4)]]
    assert burst < 0.2 < loop.time() - began
    page.disconnected()


async def test_catch_up_and_live_events_leave_no_gap_and_no_duplicate() -> None:
    page, connection = connected()
    events = [notice(A, seq) for seq in range(1, 6)]

    page.follow(A, 4, [EventText(item.event.seq, item.text) for item in events[2:4]])
    page.offer(events[3])
    page.offer(events[4])

    (frame,) = await connection.received(1)
    assert seqs(frame) == [(A, 3), (A, 4), (A, 5)]
    page.disconnected()


async def test_session_updates_of_all_sessions_reach_a_page_but_no_other_events() -> None:
    page, connection = connected()
    page.follow(A, 0, [])

    page.offer(notice(B, 1))
    page.offer(update(B, 2))
    page.offer(update(A, 1))
    page.unfollow(A)
    page.offer(notice(A, 2))
    page.offer(update(A, 3))

    (frame,) = await connection.received(1)
    assert seqs(frame) == [(B, 2), (A, 1), (A, 3)]
    page.disconnected()


async def test_a_page_sees_only_its_users_sessions_on_a_hub() -> None:
    page, connection = connected(user="ann")

    page.offer(update(A, 1, owner="bob"))
    page.offer(update(B, 1, owner="ann"))
    page.offer(update(B, 2, owner=None))

    (frame,) = await connection.received(1)
    assert seqs(frame) == [(B, 1), (B, 2)]
    page.disconnected()


async def test_frames_keep_their_place_between_events() -> None:
    page, connection = connected()
    page.follow(A, 0, [])
    read = DocumentRead(operation_id=OperationId("o"), claim_epoch=1, path="a.ipynb", outputs=())

    page.offer(notice(A, 1))
    page.send(read)
    page.offer(notice(A, 2))

    frames = await connection.received(3)
    assert [frame["type"] for frame in frames] == ["events", "document-read", "events"]
    page.disconnected()


async def test_a_slow_page_is_told_to_resync_and_costs_no_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_module, "MAX_EVENT_BYTES", 10_000)
    page, connection = connected(reading=False)
    page.follow(A, 0, [])
    page.follow(B, 0, [])
    page.send(Welcome(wire_version=1, server_version="1", now_ms=0))
    await asyncio.sleep(0)

    page.offer(notice(B, 1))
    for seq in range(1, 100):
        page.offer(notice(A, seq, "x" * 1000))
    page.send(Welcome(wire_version=1, server_version="2", now_ms=0))
    connection.open.set()

    frames = await connection.received(4)
    assert [frame["type"] for frame in frames] == ["welcome", "resync", "resync", "welcome"]
    assert [(frame["session_id"], frame["after"]) for frame in frames[1:3]] == [(B, 0), (A, 0)]
    assert not page.follows(A)

    page.follow(A, 99, [])
    page.offer(notice(A, 100))
    assert seqs((await connection.received(5))[4]) == [(A, 100)]
    page.disconnected()


async def test_a_slow_page_keeps_the_newest_state_of_sessions_it_does_not_follow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_module, "MAX_EVENT_BYTES", 10_000)
    page, connection = connected(reading=False)
    page.follow(A, 0, [])
    page.send(Welcome(wire_version=1, server_version="1", now_ms=0))
    await asyncio.sleep(0)

    for seq in (1, 2):
        page.offer(update(B, seq))
    for seq in range(1, 50):
        page.offer(notice(A, seq, "x" * 1000))
    connection.open.set()

    frames = await connection.received(3)
    assert [frame["type"] for frame in frames] == ["welcome", "resync", "events"]
    assert seqs(frames[2]) == [(B, 2)]
    page.disconnected()


async def test_catch_up_that_is_too_large_ends_with_the_resync(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_module, "MAX_EVENT_BYTES", 10_000)
    page, connection = connected(reading=False)
    missed = [notice(A, seq, "x" * 1000) for seq in range(3, 50)]

    page.follow(A, 49, [EventText(item.event.seq, item.text) for item in missed])
    page.send(Welcome(wire_version=1, server_version="1", now_ms=0))
    connection.open.set()

    frames = await connection.received(2)
    assert [frame["type"] for frame in frames] == ["resync", "welcome"]
    assert frames[0]["after"] == 2
    assert not page.follows(A)
    page.disconnected()


async def test_a_page_that_reads_nothing_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "MAX_FRAME_BYTES", 1000)
    page, connection = connected(reading=False)

    for _ in range(30):
        page.send(Welcome(wire_version=1, server_version="x" * 100, now_ms=0))

    assert connection.closed == (
        1013,
        "the page does not read what it is sent: connect again",
    )


async def test_one_frame_always_fits_and_a_disconnected_page_keeps_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_module, "MAX_FRAME_BYTES", 1000)
    page, connection = connected(reading=False)
    frame = Welcome(wire_version=1, server_version="x" * 2000, now_ms=0)

    page.send(frame)
    assert connection.closed is None
    page.send(frame)

    assert connection.closed is not None
    page.send(frame)
    page.offer(update(A, 1))
    assert page.waiting_bytes == 0


async def test_events_that_wait_go_out_in_frames_of_bounded_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_module, "BATCH_BYTES", 4_000)
    page, connection = connected(reading=False)
    page.follow(A, 0, [])
    for seq in range(1, 11):
        page.offer(notice(A, seq, "x" * 1500))
    connection.open.set()

    frames = await connection.received(4)
    assert [len(seqs(frame)) for frame in frames] == [3, 3, 3, 1]
    page.disconnected()


async def test_one_event_reaches_a_page_however_large_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_module, "MAX_EVENT_BYTES", 1_000)
    page, connection = connected()
    page.follow(A, 0, [])

    page.offer(notice(A, 1, "x" * 5_000))

    (frame,) = await connection.received(1)
    assert seqs(frame) == [(A, 1)]
    page.disconnected()


async def test_the_newer_connection_of_a_page_replaces_the_older() -> None:
    connections = PageConnectionRegistry()
    old, old_connection = connected()
    new, new_connection = connected()
    connections.add(old)
    connections.add(new)

    connections.send(ClientId("page"), Welcome(wire_version=1, server_version="1", now_ms=0))
    await new_connection.received(1)

    assert old_connection.closed is not None
    assert old_connection.frames == []
    assert connections.remove(old) is False
    assert connections.remove(new) is True
    connections.send(ClientId("page"), Welcome(wire_version=1, server_version="1", now_ms=0))


async def test_every_page_that_may_see_a_deleted_session_is_told() -> None:
    connections = PageConnectionRegistry()
    page, connection = connected()
    connections.add(page)
    page.follow(A, 1, [])

    connections.deleted(session("b"))
    connections.deleted(session("a"))
    connections.on_event(notice(A, 2))

    frames = await connection.received(2)
    assert [(frame["type"], frame["session_id"]) for frame in frames] == [
        ("session-delete", B),
        ("session-delete", A),
    ]
    assert not page.follows(A)
    connections.close()
    assert connection.closed is not None
