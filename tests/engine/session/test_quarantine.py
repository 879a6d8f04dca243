"""A session that fails to recover twice is quarantined and does not block others."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.storage.recovery_attempts import RecoveryAttempts
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.storage.state_file import StateFile
from jupyter_ai_shoulders.testing.memory_store import MemoryStore
from jupyter_ai_shoulders.testing.scripted_provider import Call, ScriptedProvider, turn
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import SendMessage
from jupyter_ai_shoulders.wire.ids import MessageId, SessionId
from tests.engine.engine_harness import (
    SESSION,
    EngineHarness,
    make_engine,
    make_engine_around,
    make_session,
)

OTHER = SessionId("s2")


class PoisonedStore(MemoryStore):
    """A store that fails to read one session."""

    poisoned = True
    problem: Exception = ZeroDivisionError()
    cancels = False
    """Whether the start is cancelled while the session is read."""

    def read(
        self, session_id: SessionId, after: int = 0, limit: int | None = None
    ) -> list[LoggedEvent]:
        task = asyncio.current_task()
        if session_id == SESSION and self.cancels and task is not None:
            task.cancel()
            return super().read(session_id, after, limit)
        if session_id == SESSION and self.poisoned:
            raise self.problem
        return super().read(session_id, after, limit)


@pytest.fixture
def counts(tmp_path: Path) -> RecoveryAttempts:
    return RecoveryAttempts(StateFile(StateDirectory(tmp_path / "state"), "recoveries.json"))


async def poisoned() -> PoisonedStore:
    """Return a store with a waiting session that cannot be read, and an intact one."""
    w = make_engine(turn(Call("run_it", {"path": "a"})))
    await w.say()
    store = PoisonedStore()
    store.clock, store.blobs = w.store.clock, w.store.blobs
    store.events[SESSION] = list(w.events)
    store.add(make_session(id=OTHER))
    store.update(store.get(OTHER).model_copy(update={"mode": "bypass"}))
    return store


async def start(store: MemoryStore, counts: RecoveryAttempts) -> EngineHarness:
    after = make_engine_around(
        store, make_engine().probe, ScriptedProvider("Hi."), recoveries=counts
    )
    await after.engine.start()
    return after


async def test_two_failed_recoveries_set_it_aside_and_the_others_go_on(counts: RecoveryAttempts):
    store = await poisoned()
    first = await start(store, counts)
    assert first.session.status == "waiting"
    assert store.get(OTHER).mode == "ask"
    second = await start(store, counts)
    assert (second.session.status, second.session.tools) == ("error", "disabled")
    seen = len(store.events[SESSION])
    store.poisoned = False
    third = await start(store, counts)
    with pytest.raises(StateUnavailable) as caught:
        await third.send()
    assert caught.value.info.code == "quarantined"
    assert len(store.events[SESSION]) == seen
    await third.engine.send(OTHER, SendMessage(id=MessageId("m"), text="Hi"))
    await third.engine.settled(OTHER)
    assert isinstance(store.events[OTHER][-2], ev.TurnEnd)


async def test_unreadable_log_disables_tools_at_once_and_is_tried_anew(counts: RecoveryAttempts):
    store = await poisoned()
    store.problem = StateUnavailable("Event 7 cannot be understood.", code="quarantined")
    for _ in range(3):
        w = await start(store, counts)
        assert (w.session.status, w.session.tools) == ("error", "disabled")
        with pytest.raises(StateUnavailable):
            await w.send()
    assert counts.begin(SESSION) == 0
    assert [logged.event for logged in MemoryStore.read(store, SESSION)] == store.events[SESSION]


async def test_one_failure_and_a_good_start_forget_it(counts: RecoveryAttempts):
    store = await poisoned()
    await start(store, counts)
    store.poisoned = False
    await start(store, counts)
    store.poisoned = True
    after = await start(store, counts)
    assert after.session.status == "interrupted"


async def cancelled_start(store: PoisonedStore, counts: RecoveryAttempts) -> None:
    store.cancels = True
    with pytest.raises(asyncio.CancelledError):
        await asyncio.create_task(start(store, counts))
    store.cancels = False


async def test_a_start_that_the_user_stopped_does_not_count_as_failed(counts: RecoveryAttempts):
    store = await poisoned()
    for _ in range(3):
        await cancelled_start(store, counts)

    store.poisoned = False
    after = await start(store, counts)

    assert after.session.status == "interrupted"
    assert counts.begin(SESSION) == 0


async def test_a_start_that_the_user_stopped_forgets_no_failure(counts: RecoveryAttempts):
    store = await poisoned()
    await start(store, counts)
    await cancelled_start(store, counts)

    after = await start(store, counts)

    assert (after.session.status, after.session.tools) == ("error", "disabled")


class HeldCounts(RecoveryAttempts):
    """A recovery counter that blocks."""

    def hold(self) -> asyncio.Event:
        """Return an event that is set once it counts."""
        self.counting, self.go_on = asyncio.Event(), threading.Event()
        self.counted = threading.Event()
        self.loop = asyncio.get_running_loop()
        return self.counting

    def begin(self, session_id: SessionId) -> int:
        self.loop.call_soon_threadsafe(self.counting.set)
        self.go_on.wait()
        failed = super().begin(session_id)
        self.counted.set()
        return failed


async def test_a_start_stopped_while_it_counts_takes_the_count_back(tmp_path: Path):
    file = StateFile(StateDirectory(tmp_path / "state"), "recoveries.json")
    counts, store = HeldCounts(file), await poisoned()
    counting = counts.hold()
    starting = asyncio.create_task(start(store, counts))
    await counting.wait()

    starting.cancel()
    counts.go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await starting
    await asyncio.to_thread(counts.counted.wait)

    assert counts.begin(SESSION) == 0


def test_counts_survive_what_kills_the_process(counts: RecoveryAttempts, tmp_path: Path):
    assert [counts.begin(SESSION) for _ in range(3)] == [0, 1, 2]
    counts.end(SESSION)
    assert counts.begin(SESSION) == 0
    (tmp_path / "state" / "recoveries.json").write_text("[1")
    assert counts.begin(SESSION) == 0


async def test_a_conversation_whose_stored_content_is_lost_is_set_aside(
    counts: RecoveryAttempts,
) -> None:
    store = await poisoned()
    assert isinstance(store, PoisonedStore)
    store.poisoned = False
    store.blobs = MemoryStore().blobs  # loses the prompt it was sent

    after = await start(store, counts)

    with pytest.raises(StateUnavailable, match="content that is lost") as refused:
        await make_engine_around(store, after.probe, ScriptedProvider()).send()
    assert refused.value.info.code == "quarantined"
    assert store.get(SESSION).tools == "disabled"
    command = SendMessage(id=MessageId("m"), text="Hello")
    await after.engine.send(OTHER, command)
