"""A replay gives the same state, messages and tables as the log event by event."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.core.errors import NotFound, StateUnavailable
from jupyter_ai_shoulders.engine.loop.event_reducer import rebuild_state
from jupyter_ai_shoulders.engine.loop.state import SessionPolicy
from jupyter_ai_shoulders.engine.request.session_index import SessionIndex
from jupyter_ai_shoulders.engine.transcript.messages import Transcript
from jupyter_ai_shoulders.storage.sessions import event_log
from jupyter_ai_shoulders.wire.events import Event, TextDelta, ToolProgress, parse_event
from jupyter_ai_shoulders.wire.ids import SessionId
from tests.storage.store import MovableClock, OpenStore, Store, rewrite_events
from tests.storage.test_golden_databases import JOURNALS, SESSIONS, VERSIONS, later_events

SESSION = SessionId("ses_a")
LOGGED = [
    parse_event(line)
    for version in VERSIONS
    for line in (JOURNALS / version / "events.jsonl").read_text(encoding="utf-8").splitlines()
] + [parse_event(line) for line in later_events()]
PIECES = [
    TextDelta.model_validate({"turn_id": turn, "part_id": part, "text": text})
    for turn in ("t1", None)
    for part in ("p1", "p2")
    for text in ("", 'a "b"', "π\n")
]
DAMAGE = {
    "none": "SELECT 1",
    "lost": "DELETE FROM events WHERE id % 5 = 3",
    "changed": "UPDATE events SET body = replace(body, 'seq', 'sea') WHERE id % 7 = 4",
    "unchecked": "UPDATE events SET checksum = NULL",
}


def folded(events: Iterable[Event]) -> tuple[object, ...]:
    """Return everything the engine makes of a log, but for stored contents."""
    found = list(events)
    transcript, index = Transcript(), SessionIndex()
    for event in found:
        transcript.add(event)
        index.add(event)
    return rebuild_state(SessionPolicy(), found), transcript.messages(), vars(index)


def expect_same(store: Store, session_id: SessionId) -> None:
    whole = [logged.event for logged in store.log.read(session_id)]
    replayed = [event for page in store.log.replay(session_id) for event in page]
    assert folded(replayed) == folded(whole)
    assert len(replayed) <= len(whole)


pieces = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8)
others = st.lists(st.sampled_from(LOGGED), min_size=1, max_size=4)


@given(st.lists(st.one_of(pieces, others), max_size=12), st.sampled_from(sorted(DAMAGE)), st.data())
def test_replay_of_any_log_is_folded_to_the_same(
    runs: list[list[Event]], damage: str, data: st.DataObject
) -> None:
    size = data.draw(st.sampled_from([1, 2, 7, 500]))
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.object(event_log, "REPLAYED", size),
    ):
        store = Store(Path(folder, "state"), MovableClock())
        store.add("a")
        for event in (event for run in runs for event in run):
            if event.type != "session-create":
                store.log.append(SESSION, event)
        store.database.open().execute(DAMAGE[damage])
        expect_same(store, SESSION)
        store.crash()


@pytest.mark.parametrize("version", VERSIONS)
def test_replay_of_a_golden_database_is_folded_to_the_same(
    open_store: OpenStore, state_dir: Path, version: str
) -> None:
    state_dir.mkdir(parents=True)
    shutil.copy(JOURNALS / version / "state.db", state_dir)
    store = open_store()

    for session_id in SESSIONS:
        expect_same(store, session_id)


def test_replay_joins_the_pieces_of_a_part_and_leaves_out_progress(store: Store) -> None:
    store.add("a")
    progress: dict[str, Any] = {"call_id": "c1", "channel": "stdout", "text": "x"}
    for event in (*PIECES, ToolProgress.model_validate(progress)):
        store.log.append(SESSION, event)

    (_, *joined), *_ = store.log.replay(SESSION)

    assert [(event.seq, event.text) for event in joined if isinstance(event, TextDelta)] == [
        (seq, 'a "b"π\n') for seq in (4, 7, 10, 13)
    ]
    assert len(joined) == 4


def test_replay_of_an_event_of_a_newer_version_is_refused(store: Store) -> None:
    store.add("a")
    store.log.append(SESSION, PIECES[0])
    rewrite_events(store.database.open(), "type = 'text-delta'", '{"type": "text-delta"}')

    with pytest.raises(StateUnavailable, match="Event 2 of conversation ses_a") as caught:
        list(store.log.replay(SESSION))
    assert caught.value.info.code == "quarantined"
    with pytest.raises(NotFound):
        list(store.log.replay(SessionId("ses_x")))
