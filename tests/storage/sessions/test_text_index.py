"""A search with the index finds what a search through all messages finds, and keeps nothing."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.storage.purge import Purge
from jupyter_ai_shoulders.storage.sessions import text_index
from jupyter_ai_shoulders.storage.sessions.table import SessionFilter, SqliteSessions
from jupyter_ai_shoulders.storage.sessions.text_index import TextIndex, has_full_text_search
from jupyter_ai_shoulders.wire.events import MessageAdd, TextDelta
from jupyter_ai_shoulders.wire.ids import MessageId, PartId, SessionId
from tests.storage.store import MovableClock, OpenStore, Store

pytestmark = pytest.mark.skipif(not has_full_text_search(), reason="SQLite without FTS5")

LETTERS = st.sampled_from([*"abAB %_\\\"'*\n", "ß", "İ", "i", "É", "é", "🦓", "\0", "-", "NEAR"])
TEXTS = st.lists(LETTERS, max_size=12).map("".join)


@contextmanager
def indexed(store: Store) -> Generator[tuple[TextIndex, SqliteSessions]]:
    """The sessions of a store with a complete index."""
    index = TextIndex(store.database)
    sessions = SqliteSessions(store.database, store.log, store.clock, index)
    try:
        found(sessions, "the first search starts it")
        index.wait_until_complete()
        yield index, sessions
    finally:
        index.close()


def found(sessions: SqliteSessions, text: str, **fields: str) -> list[str]:
    page = sessions.page(SessionFilter(text=text, **fields), None, 50)  # pyright: ignore[reportArgumentType]
    return [session.title for session in page.sessions]


def say(store: Store, name: str, *texts: str) -> SessionId:
    session_id = store.add(name).id
    for number, text in enumerate(texts):
        store.log.append(session_id, MessageAdd(message_id=MessageId(f"m{number}"), text=text))
        store.log.append(session_id, TextDelta(part_id=PartId("p"), text="a reply"))
    return session_id


@given(st.lists(TEXTS, max_size=8), st.lists(TEXTS, min_size=1, max_size=6), st.integers(0, 8))
def test_searches_with_and_without_the_index_find_the_same(
    texts: list[str], wanted: list[str], later: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder, "state"), MovableClock())
        store.add("titled", title="AbA %_ bab")
        for number, text in enumerate(texts[later:]):
            say(store, f"early {number}", text)
        with indexed(store) as (index, sessions):
            for number, text in enumerate(texts[:later]):
                say(store, f"late {number}", text)
            parts = [text[start : start + 4] for text in texts for start in (0, 2)]
            for text in (*wanted, *parts):
                assert found(sessions, text) == found(store.sessions, text)
            index.wait_until_complete()
            for text in (*wanted, *parts):
                assert found(sessions, text) == found(store.sessions, text)
        store.crash()


def test_index_names_few_messages_also_of_new_ones_and_none_of_deleted_sessions(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_index, "STEP", 2)
    for number in range(7):
        say(store, f"{number}", "a horse", f"zebra {number}")
    with indexed(store) as (index, sessions):
        assert len(index.candidates("zebra 3") or ()) == 1
        say(store, "new", "zebra 3 again")
        assert found(sessions, "ZEBRA 3") == ["new", "3"]
        index.wait_until_complete()
        assert len(index.candidates("zebra 3") or ()) == 2
        store.sessions.delete(SessionId("ses_3"))
        assert found(sessions, "zebra 3") == ["new"]
        assert index.candidates("zz") is None


def test_frequent_texts_are_searched_without_the_index(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_index, "MOST", 3)
    for number in range(5):
        say(store, f"{number}", "a horse")
    with indexed(store) as (index, sessions):
        assert index.candidates("horse") is None
        assert found(sessions, "horse") == ["4", "3", "2", "1", "0"]


def test_purge_removes_the_index(store: Store) -> None:
    old = say(store, "old", "xylophone")
    say(store, "kept", "marimba")
    with indexed(store):
        assert b"xyl" in store.directory.search.read_bytes()  # in the order of the alphabet
    store.sessions.delete(old)
    store.clock.move(timedelta(days=31))

    assert Purge(store.database, store.clock).run() == [old]

    assert not list(store.directory.path.glob("search.db*"))
    with indexed(store) as (index, sessions):
        assert index.candidates("xylophone") == []
        assert found(sessions, "marimba") == ["kept"]
    assert b"xyl" not in store.directory.search.read_bytes()


def test_index_of_another_database_is_built_again(open_store: OpenStore, tmp_path: Path) -> None:
    store, other = open_store(), open_store(tmp_path / "other")
    say(store, "here", "giraffe")
    say(other, "there", "gorilla")
    with indexed(other):
        pass
    shutil.copy(other.directory.search, store.directory.search)

    with indexed(store) as (index, sessions):
        assert index.candidates("gorilla") == []
        assert found(sessions, "giraffe") == ["here"]


@pytest.mark.parametrize("damage", ["header", "pages", "version"])
def test_damaged_index_changes_no_result_and_is_built_again(store: Store, damage: str) -> None:
    for number in range(20):
        say(store, f"{number}", f"zebra {number:05}")
    with indexed(store):
        pass
    content = bytearray(store.directory.search.read_bytes())
    match damage:
        case "header":
            content[:16] = b"x" * 16
        case "pages":
            content[4096:] = b"\xff" * (len(content) - 4096)
        case _:
            content[60:64] = (99).to_bytes(4, "big")
    store.directory.search.write_bytes(content)

    for _ in range(2):
        with indexed(store) as (index, sessions):
            assert found(sessions, "zebra 00007") == ["7"]
    with indexed(store) as (index, sessions):
        assert len(index.candidates("zebra 00007") or ()) == 1


def test_without_full_text_search_all_messages_are_searched(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_index, "has_full_text_search", lambda: False)
    say(store, "a", "zebra")
    with indexed(store) as (index, sessions):
        assert index.candidates("zebra") is None
        assert found(sessions, "zebra") == ["a"]
    assert not store.directory.search.exists()
