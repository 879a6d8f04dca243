import json
import sqlite3
from contextlib import closing
from datetime import timedelta
from typing import get_args

import pytest

from jupyter_ai_shoulders.core.errors import NotFound, StateUnavailable
from jupyter_ai_shoulders.storage.schema.migrations import UNSTREAMED
from jupyter_ai_shoulders.wire.events import (
    Event,
    EventBase,
    MessageAdd,
    Notice,
    SessionCreate,
    TextDelta,
    TextStart,
    parse_event,
)
from jupyter_ai_shoulders.wire.ids import MessageId, PartId, SessionId, TurnId
from tests.storage.store import OpenStore, Store, rewrite_events

PART = PartId("p1")


def delta(text: str) -> TextDelta:
    return TextDelta(turn_id=TurnId("t1"), part_id=PART, text=text)


def notice(text: str) -> Notice:
    return Notice(level="info", code="test", text=text)


def test_append_stamps_and_returns_what_was_logged(store: Store) -> None:
    session = store.add("a")

    logged = store.log.append(session.id, delta("hi"))

    assert logged.event == TextDelta(
        seq=2,
        session_id=session.id,
        turn_id=TurnId("t1"),
        at="2026-11-21T09:00:00.000Z",
        part_id=PART,
        text="hi",
    )
    assert parse_event(logged.text) == logged.event
    assert store.log.read(session.id)[1] == logged


@pytest.mark.parametrize("kept", [1, 1_000])
def test_append_numbers_each_session_without_gaps(
    store: Store, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    monkeypatch.setattr("jupyter_ai_shoulders.storage.sessions.event_log.TAILS", kept)
    one, two = store.add("one").id, store.add("two").id

    for number in range(5):
        store.log.append(one, delta(str(number)))
        store.log.append(two, notice(str(number)))

    for session_id in (one, two):
        assert [logged.event.seq for logged in store.log.read(session_id)] == [1, 2, 3, 4, 5, 6]
        assert store.log.last_seq(session_id) == 6


def test_append_publishes_after_the_commit(open_store: OpenStore) -> None:
    store = open_store()
    seen: list[int] = []

    def count() -> None:
        with closing(sqlite3.connect(store.directory.database)) as other:
            seen.extend(other.execute("SELECT count(*) FROM events").fetchone())

    store.published.look = count
    store.add("a")
    store.log.append(SessionId("ses_a"), delta("x"))

    assert seen == [1, 2]


def test_append_to_an_unknown_session_is_refused(store: Store) -> None:
    with pytest.raises(NotFound, match="no conversation ses_x"):
        store.log.append(SessionId("ses_x"), delta("x"))

    assert store.published.events == []


def test_sequence_goes_on_in_the_next_process(open_store: OpenStore) -> None:
    first = open_store()
    session_id = first.add("a").id
    first.log.append(session_id, delta("x"))
    first.crash()

    second = open_store()

    assert second.log.append(session_id, delta("y")).event.seq == 3
    assert [json.loads(text.text)["seq"] for text in second.log.texts(session_id)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("after", "limit", "expected"),
    [
        (0, None, [1, 2, 3, 4]),
        (2, None, [3, 4]),
        (0, 2, [1, 2]),
        (1, 2, [2, 3]),
        (4, None, []),
        (99, None, []),
        (1 << 70, None, []),
        (-5, 1, [1]),
    ],
)
def test_read_gives_a_range(
    store: Store, after: int, limit: int | None, expected: list[int]
) -> None:
    session_id = store.add("a").id
    store.add("b")
    for number in range(3):
        store.log.append(session_id, delta(str(number)))

    assert [text.seq for text in store.log.texts(session_id, after, limit)] == expected
    assert [logged.event.seq for logged in store.log.read(session_id, after, limit)] == expected


@pytest.mark.parametrize(
    ("most", "expected"),
    [(0, [2]), (1_500, [2]), (3_000, [2, 3]), (1_000_000, [2, 3, 4])],
    ids=["one at least", "one", "two", "all"],
)
def test_no_more_is_read_than_fits(store: Store, most: int, expected: list[int]) -> None:
    session_id = store.add("a").id
    for _ in range(3):
        store.log.append(session_id, delta("x" * 1_000))

    assert [text.seq for text in store.log.texts(session_id, 1, None, most)] == expected


def test_read_of_an_unknown_session_is_refused_and_makes_no_directory(store: Store) -> None:
    with pytest.raises(NotFound):
        store.log.read(SessionId("ses_x"))

    assert not store.directory.path.exists()


@pytest.mark.parametrize(
    "text", ["\ud800", "a\udfffb", "\ud83d\ude00"], ids=["high", "low", "pair"]
)
def test_append_takes_lone_surrogates(store: Store, text: str) -> None:
    session_id = store.add("a", title=f"title {text}").id

    logged = store.log.append(
        session_id, MessageAdd(message_id=MessageId("m1"), text=text, queued=False)
    )

    stored = store.log.read(session_id)[-1]
    assert stored == logged
    assert isinstance(stored.event, MessageAdd)
    assert stored.event.text == text.encode("utf-16-le", "surrogatepass").decode(
        "utf-16-le", "replace"
    )
    assert store.sessions.get(session_id).title.startswith("title ")


def test_append_when_the_disk_is_full_logs_and_publishes_nothing(store: Store) -> None:
    session_id = store.add("a").id
    connection = store.database.open()
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    published = len(store.published.events)

    with pytest.raises(StateUnavailable, match="full") as caught:
        store.log.append(session_id, delta("x" * 50_000))
    with pytest.raises(StateUnavailable, match="full"):
        store.log.append(session_id, MessageAdd(message_id=MessageId("m"), text="x" * 50_000))

    assert caught.value.info.code == "disk_full"
    assert caught.value.info.hint is not None
    assert len(store.published.events) == published
    assert store.log.last_seq(session_id) == 1

    connection.execute("PRAGMA max_page_count = 1073741823")
    assert store.log.append(session_id, delta("x" * 50_000)).event.seq == 2
    assert store.sessions.get(session_id).message_count == 0


def test_find_gives_the_types_asked_for_over_sessions_not_deleted(store: Store) -> None:
    one, two, gone = store.add("one").id, store.add("two").id, store.add("gone").id
    store.log.append(two, notice("2"))
    store.log.append(one, notice("1"))
    store.log.append(one, TextStart(part_id=PART))
    store.log.append(gone, notice("0"))
    store.sessions.delete(gone)

    found = store.log.find({"notice", "session-create"})

    assert [(logged.event.session_id, logged.event.type) for logged in found] == [
        (one, "session-create"),
        (one, "notice"),
        (two, "session-create"),
        (two, "notice"),
    ]


def test_find_is_answered_from_the_index(store: Store) -> None:
    store.add("a")
    plan = store.database.rows(
        f"EXPLAIN QUERY PLAN SELECT e.body FROM events e WHERE e.type IN (?, ?) AND e.{UNSTREAMED}",
        "notice",
        "proposal-add",
    )

    assert any("events_by_type" in row[3] for row in plan)


def test_pages_give_what_find_gives_a_few_at_a_time(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = store.add("one").id, store.add("two").id
    for number in range(5):
        store.log.append(one, notice(str(number)))
        store.log.append(two, delta(str(number)))
        store.log.append(two, notice(str(number)))
    store.sessions.delete(store.add("deleted").id)
    monkeypatch.setattr("jupyter_ai_shoulders.storage.sessions.event_log.PAGE", 4)

    pages = list(store.log.pages({"notice", "session-create"}))

    assert [len(page) for page in pages] == [4, 4, 4]
    found = store.log.find({"notice", "session-create"})
    assert [logged for page in pages for logged in page] == found


def test_find_before_anything_was_stored_is_empty(store: Store) -> None:
    assert store.log.find({"notice"}) == []
    assert list(store.log.pages({"notice"})) == []
    assert not store.directory.path.exists()


def test_an_event_of_a_newer_version_spoils_only_its_session(store: Store) -> None:
    bad, good = store.add("bad").id, store.add("good").id
    store.log.append(bad, notice("x"))
    store.log.append(good, notice("y"))
    rewrite_events(store.database.open(), "id = (1 << 32) + 2", '{"type": "from-the-future"}')

    with pytest.raises(StateUnavailable, match=r"Event 2 .* cannot be understood") as caught:
        store.log.read(bad)

    assert caught.value.info.code == "quarantined"
    assert [text.seq for text in store.log.texts(bad)] == [1, 2]
    assert [logged.event.session_id for logged in store.log.find({"notice"})] == [good]
    assert len(store.log.read(good)) == 2


def test_events_carry_the_time_and_order_by_number(store: Store) -> None:
    session_id = store.add("a").id
    store.clock.move(timedelta(hours=-5))

    logged = store.log.append(session_id, notice("back in time"))

    assert (logged.event.seq, logged.event.at) == (2, "2026-11-21T04:00:00.000Z")
    assert isinstance(store.log.read(session_id)[0].event, SessionCreate)


@pytest.mark.parametrize("kind", get_args(get_args(Event)[0]), ids=lambda kind: kind.__name__)
def test_nothing_but_stamps_stands_before_the_type_of_an_event(kind: type[EventBase]) -> None:
    """The log redacts an encoded event from its type on."""
    fields = list(kind.model_fields)

    assert fields[: fields.index("type")] == list(EventBase.model_fields)


def test_what_is_logged_and_published_is_redacted(open_store: OpenStore) -> None:
    def redact(text: str) -> str:
        return text.replace("hunter2", "[redacted]")

    store = open_store(redact=redact)
    session_id = store.add("a", title="hunter2").id

    logged = store.log.append(session_id, delta("my key is hunter2"))

    assert isinstance(logged.event, TextDelta)
    assert logged.event.text == "my key is [redacted]"
    assert store.log.read(session_id)[-1] == logged
    assert store.sessions.get(session_id).title == "[redacted]"
    store.crash()
    assert b"hunter2" not in store.directory.database.read_bytes()
