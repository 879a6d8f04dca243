from datetime import timedelta

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound, StateUnavailable
from jupyter_ai_shoulders.storage.sessions.table import SessionFilter
from jupyter_ai_shoulders.wire.events import (
    MessageAdd,
    MessageUpdate,
    SessionCreate,
    SessionUpdate,
    TurnEnd,
    TurnResume,
    TurnStart,
)
from jupyter_ai_shoulders.wire.ids import MessageId, ModelId, ProviderId, SessionId, TurnId
from jupyter_ai_shoulders.wire.sessions import Anchor
from tests.storage.store import OpenStore, Store, session

ANCHOR = Anchor(
    document="a.ipynb", cell_id=None, target="cell", range=None, quote="", prefix="", suffix=""
)


def message(text: str, name: str = "m") -> MessageAdd:
    return MessageAdd(message_id=MessageId(name), text=text)


def turn_start(turn: str) -> TurnStart:
    return TurnStart(
        turn_id=TurnId(turn),
        message_id=MessageId("m"),
        model=ModelId("demo"),
        provider=ProviderId("demo"),
        mode="ask",
        step_limit=25,
    )


def titles(store: Store, chosen: SessionFilter | None = None) -> list[str]:
    page = store.sessions.page(chosen or SessionFilter(), None, 50)
    return [shown.title for shown in page.sessions]


def test_add_logs_the_session_with_its_own_position(store: Store) -> None:
    added = store.sessions.add(session("a"))

    assert added == session("a").model_copy(
        update={
            "last_seq": 1,
            "created_at": "2026-11-21T09:00:00.000Z",
            "updated_at": "2026-11-21T09:00:00.000Z",
        }
    )
    event = store.published.events[0].event
    assert isinstance(event, SessionCreate)
    assert event.session == added == store.sessions.get(added.id)


def test_update_logs_a_session_update_and_moves_its_time(store: Store) -> None:
    added = store.add("a")
    store.clock.move(timedelta(minutes=1))

    updated = store.sessions.update(added.model_copy(update={"title": "b", "status": "running"}))

    event = store.published.events[-1].event
    assert isinstance(event, SessionUpdate)
    assert event.session == updated == store.sessions.get(added.id)
    assert (updated.title, updated.status, updated.last_seq) == ("b", "running", 2)
    assert (updated.created_at, updated.updated_at) == (
        "2026-11-21T09:00:00.000Z",
        "2026-11-21T09:01:00.000Z",
    )


def test_get_counts_messages_and_events(store: Store) -> None:
    added = store.add("a")
    store.log.append(added.id, message("one", "m1"))
    store.log.append(added.id, message("two", "m2"))
    store.log.append(added.id, MessageUpdate(message_id=MessageId("m2"), status="removed"))

    stored = store.sessions.get(added.id)

    assert (stored.message_count, stored.last_seq) == (1, 4)
    assert store.sessions.update(stored).message_count == 1


@pytest.mark.parametrize("name", ["missing", "'; DROP TABLE sessions; --"])
def test_get_of_an_unknown_session_is_refused(store: Store, name: str) -> None:
    with pytest.raises(NotFound, match="no conversation"):
        store.sessions.get(SessionId(name))


def test_unsettled_are_those_whose_turn_has_no_end(open_store: OpenStore) -> None:
    store = open_store()
    for name in ("never", "running", "ended", "resumed", "deleted"):
        store.add(name)
    for name in ("running", "ended", "resumed", "deleted"):
        store.log.append(SessionId(f"ses_{name}"), turn_start("t1"))
    for name in ("ended", "resumed"):
        store.log.append(
            SessionId(f"ses_{name}"), TurnEnd(turn_id=TurnId("t1"), exit="interrupted")
        )
    store.log.append(
        SessionId("ses_resumed"),
        TurnResume(
            turn_id=TurnId("t1"),
            model=ModelId("demo"),
            provider=ProviderId("demo"),
            mode="ask",
            step_limit=25,
        ),
    )
    store.sessions.delete(SessionId("ses_deleted"))
    store.crash()

    assert open_store().sessions.needing_recovery() == ["ses_running", "ses_resumed"]


def test_unsettled_are_also_those_that_still_show_a_turn(open_store: OpenStore) -> None:
    store = open_store()
    for status in ("idle", "running", "waiting", "error", "resolved", "interrupted"):
        store.add(status, status=status)

    assert store.sessions.needing_recovery() == ["ses_running", "ses_waiting", "ses_interrupted"]


def test_unsettled_before_anything_was_stored_makes_no_directory(store: Store) -> None:
    assert store.sessions.needing_recovery() == []
    assert not store.directory.path.exists()


def test_page_gives_the_newest_update_first_whatever_the_clock_says(store: Store) -> None:
    for name in ("a", "b", "c"):
        store.add(name)
        store.clock.move(timedelta(hours=-1))
    store.sessions.update(store.sessions.get(SessionId("ses_a")))

    assert titles(store) == ["a", "c", "b"]


def test_page_cursors_cover_every_session_once(store: Store) -> None:
    for number in range(7):
        store.add(str(number))

    seen: list[str] = []
    cursor: str | None = None
    sizes: list[int] = []
    while True:
        page = store.sessions.page(SessionFilter(), cursor, 3)
        seen += [shown.title for shown in page.sessions]
        sizes.append(len(page.sessions))
        cursor = page.next_cursor
        if cursor is None:
            break

    assert seen == ["6", "5", "4", "3", "2", "1", "0"]
    assert sizes == [3, 3, 1]


@pytest.mark.parametrize("cursor", ["", "x", "-1", "1 OR 1", "²", "9" * 19, "9" * 5000])
def test_page_refuses_a_cursor_of_another_list(store: Store, cursor: str) -> None:
    with pytest.raises(InvalidRequest, match="cursor"):
        store.sessions.page(SessionFilter(), cursor, 3)


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (SessionFilter(kind="task"), ["thread"]),
        (SessionFilter(source="cli"), ["100% sure"]),
        (SessionFilter(document="a.ipynb"), ["thread"]),
        (SessionFilter(owner="ann"), ["plain", "of ann"]),
        (SessionFilter(text="%"), ["100% sure"]),
        (SessionFilter(text="PLAIN"), ["plain"]),
        (SessionFilter(text='penguin\'s "beak"'), ["thread"]),
        (SessionFilter(text="message_id"), []),
        (SessionFilter(kind="task", text="plain"), []),
        (SessionFilter(text=""), ["plain", "of ann", "thread", "100% sure"]),
    ],
    ids=[
        "kind",
        "source",
        "document",
        "owner",
        "percent",
        "case",
        "message",
        "json",
        "both",
        "none",
    ],
)
def test_page_filters(store: Store, chosen: SessionFilter, expected: list[str]) -> None:
    store.add("1", title="100% sure", source="cli", owner="bob")
    store.add("2", title="thread", kind="task", anchor=ANCHOR, owner="bob")
    store.add("3", title="of ann", owner="ann")
    store.add("4", title="plain")
    store.log.append(SessionId("ses_2"), message('The penguin\'s "beak" length'))

    assert titles(store, chosen) == expected


def test_delete_hides_and_undelete_brings_back(store: Store) -> None:
    session_id = store.add("a").id
    store.add("b")

    store.sessions.delete(session_id)

    assert titles(store) == ["b"]
    with pytest.raises(NotFound):
        store.sessions.get(session_id)
    with pytest.raises(NotFound):
        store.sessions.delete(session_id)

    restored = store.sessions.undelete(session_id)

    assert titles(store) == ["a", "b"]
    assert isinstance(store.published.events[-1].event, SessionUpdate)
    assert store.sessions.get(session_id) == restored


def test_undelete_of_an_unknown_session_is_refused(store: Store) -> None:
    with pytest.raises(NotFound):
        store.sessions.undelete(SessionId("ses_x"))


def test_a_session_that_cannot_be_understood_does_not_hide_the_others(store: Store) -> None:
    for name in ("a", "b", "c"):
        store.add(name)
    with store.database.transaction("damage a row") as connection:
        connection.execute("UPDATE sessions SET body = '{\"id\":' WHERE id = 'ses_b'")
        connection.execute("DELETE FROM events WHERE id = (2 << 32) + 1")

    first = store.sessions.page(SessionFilter(), None, 2)
    second = store.sessions.page(SessionFilter(), first.next_cursor, 2)

    assert [shown.title for page in (first, second) for shown in page.sessions] == ["c", "a"]
    assert store.sessions.needing_recovery() == []
    assert store.sessions.last_model() is None
    with pytest.raises(StateUnavailable, match="ses_b cannot be understood"):
        store.sessions.get(SessionId("ses_b"))


def test_threads_without_a_message_are_found_once_they_are_a_day_old(store: Store) -> None:
    store.add("old", kind="task")
    store.add("chat")
    store.log.append(store.add("said", kind="task").id, message("Hi."))
    store.clock.move(timedelta(days=2))
    store.add("new", kind="task")

    assert [found.id for found in store.sessions.empty_threads()] == ["ses_old"]


def test_a_moved_session_keeps_its_place_and_time_in_a_database_that_is_made_again(
    store: Store, open_store: OpenStore
) -> None:
    first, second = store.add("first", anchor=ANCHOR), store.add("second")
    store.clock.move(timedelta(minutes=5))

    moved = store.sessions.move(first, ANCHOR.model_copy(update={"document": "b.ipynb"}))

    assert moved.updated_at == first.updated_at
    listed = store.sessions.page(SessionFilter(), None, 50).sessions
    assert [shown.id for shown in listed] == [second.id, first.id]
    assert listed[1] == moved
    store.crash()
    (store.directory.path / "state.damaged").touch()  # the table is rebuilt from the events
    again = open_store().sessions.page(SessionFilter(), None, 50).sessions
    assert [shown.id for shown in again] == [second.id, first.id]
    assert again[1].anchor == moved.anchor
