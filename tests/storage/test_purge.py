"""Sessions deleted long ago are purged with everything that only they refer to."""

from __future__ import annotations

import json
import time
from datetime import timedelta
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.storage.artifacts import ArtifactFiles
from jupyter_ai_shoulders.storage.purge import Purge, referenced_hashes
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.events import ContextAdd, Notice
from jupyter_ai_shoulders.wire.ids import SessionId
from tests.storage.store import Store


def purge(store: Store, **more: float) -> list[SessionId]:
    return Purge(store.database, store.clock).run(**more)


def remember(store: Store, session: SessionId, content: bytes) -> Path:
    """Log an event that refers to a stored content; return its file."""
    blob = store.blobs.put(content)
    store.log.append(session, ContextAdd(role="system", source="system", blob=blob))
    return store.blobs.path(blob)


def test_purge_removes_what_was_deleted_30_days_ago(store: Store) -> None:
    old, new = store.add("old").id, store.add("new").id
    store.sessions.delete(old)
    store.clock.move(timedelta(days=20))
    store.sessions.delete(new)

    store.clock.move(timedelta(days=11))

    assert purge(store) == [old]
    with pytest.raises(NotFound):
        store.sessions.undelete(old)
    assert store.sessions.undelete(new).title == "new"
    assert store.database.rows("SELECT count(*) FROM events WHERE id < 2 << 32") == [(0,)]


def test_purge_removes_files_that_no_other_conversation_names(store: Store) -> None:
    old, new = store.add("old").id, store.add("new").id
    own, shared = remember(store, old, b"own"), remember(store, old, b"shared")
    assert remember(store, new, b"shared") == shared
    artifacts = ArtifactFiles(store.directory)
    artifacts.put(old, "a.txt", b"a")
    artifacts.put(new, "b.txt", b"b")
    store.directory.words.parent.mkdir()
    store.directory.words.write_bytes(b"an index of what was said")
    store.sessions.delete(old)
    store.clock.move(timedelta(days=31))

    purge(store)

    assert not store.directory.words.exists()
    assert (own.exists(), shared.exists()) == (False, True)
    assert artifacts.read(new, "b.txt") == b"b"
    with pytest.raises(NotFound):
        artifacts.read(old, "a.txt")


def test_hash_in_a_text_names_no_content(store: Store) -> None:
    old, new = store.add("old").id, store.add("new").id
    own = remember(store, old, b"own")
    shared = remember(store, old, b"shared")
    store.log.append(new, Notice(level="info", code="x", text=f'"{own.parent.name}{own.name}"'))
    details: JsonObject = {"replaced": [None, f"{shared.parent.name}{shared.name}"]}
    store.log.append(new, Notice(level="info", code="x", text="", details=details))
    store.sessions.delete(old)
    store.clock.move(timedelta(days=31))

    purge(store)

    assert (own.exists(), shared.exists()) == (False, True)


def test_purge_looks_through_a_long_log_in_the_time_it_has() -> None:
    body = json.dumps({"type": "tool-result", "content": "all the text of a long result " * 100})
    since = time.thread_time()  # independent of the machine's load
    for _ in range(20_000):  # 60 MB
        assert referenced_hashes(body) == []
    assert time.thread_time() - since < 0.7


def test_purge_stops_when_its_time_is_up_and_goes_on_at_the_next_start(store: Store) -> None:
    old = store.add("old").id
    store.sessions.delete(old)
    store.clock.move(timedelta(days=31))

    assert purge(store, seconds=-1.0) == []
    assert purge(store) == [old]
