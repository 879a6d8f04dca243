import asyncio
import logging
import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.storage import durability
from jupyter_ai_shoulders.storage.blobs import FileBlobs
from jupyter_ai_shoulders.storage.durability import Durability
from jupyter_ai_shoulders.wire.events import Notice
from tests.storage.store import OpenStore, Store


@dataclass
class Disk:
    """A disk whose syncs the test releases one by one."""

    committed: int = 0
    on_disk: int = 0
    syncs: int = 0
    threads: set[str] = field(default_factory=set[str])
    gate: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    began: asyncio.Event = field(default_factory=asyncio.Event)
    loop: asyncio.AbstractEventLoop | None = None
    error: Exception | None = None
    checkpoints: int = 0

    def flush(self) -> None:
        reached = self.committed
        self.threads.add(threading.current_thread().name)
        assert self.loop is not None
        self.loop.call_soon_threadsafe(self.began.set)
        self.gate.acquire()
        if self.error is not None:
            raise self.error
        self.syncs += 1
        self.on_disk = reached

    def checkpoint(self) -> None:
        self.checkpoints += 1

    def commit(self, on: Durability, size: int = 100) -> None:
        self.committed += 1
        on.note_commit(size)


def started(disk: Disk) -> Durability:
    disk.loop = asyncio.get_running_loop()
    return Durability(disk.flush, disk.checkpoint)


async def test_sync_returns_when_what_was_committed_is_on_the_disk() -> None:
    disk = Disk()
    keeper = started(disk)
    disk.commit(keeper)
    disk.gate.release()

    await keeper.sync()

    assert disk.on_disk == 1
    assert all("MainThread" not in name for name in disk.threads)
    await keeper.aclose()


async def test_sync_with_nothing_new_does_nothing() -> None:
    disk = Disk()
    keeper = started(disk)

    await keeper.sync()

    assert disk.syncs == 0
    await keeper.aclose()


async def test_a_sync_under_way_does_not_count_for_a_later_commit() -> None:
    disk = Disk()
    keeper = started(disk)
    disk.commit(keeper)
    first = asyncio.create_task(keeper.sync())
    await disk.began.wait()
    disk.commit(keeper)
    second = asyncio.create_task(keeper.sync())

    disk.gate.release()
    await first
    assert (disk.on_disk, second.done()) == (1, False)

    disk.gate.release()
    await second
    assert disk.on_disk == 2
    await keeper.aclose()


async def test_many_waiters_share_a_sync() -> None:
    disk = Disk()
    keeper = started(disk)
    for _ in range(10):
        disk.commit(keeper)
    disk.gate.release()

    await asyncio.gather(*(keeper.sync() for _ in range(10)))

    assert disk.syncs == 1
    await keeper.aclose()


async def test_a_cancelled_waiter_leaves_the_sync_to_the_others() -> None:
    disk = Disk()
    keeper = started(disk)
    disk.commit(keeper)
    impatient = asyncio.create_task(keeper.sync())
    patient = asyncio.create_task(keeper.sync())
    await disk.began.wait()
    impatient.cancel()

    disk.gate.release()
    await patient

    assert impatient.cancelled()
    assert disk.on_disk == 1
    await keeper.aclose()


async def test_a_commit_is_synced_unasked_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durability, "LATEST_SYNC_SECONDS", 0.01)
    disk = Disk()
    keeper = started(disk)
    disk.commit(keeper)
    await disk.began.wait()
    disk.commit(keeper)
    disk.began.clear()

    disk.gate.release()
    await disk.began.wait()
    disk.gate.release()
    await keeper.sync()

    assert (disk.on_disk, disk.syncs) == (2, 2)
    await keeper.aclose()


async def test_a_failed_sync_is_raised_logged_and_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    disk = Disk(error=StateUnavailable("The disk is gone."))
    keeper = started(disk)
    disk.commit(keeper)
    disk.gate.release()

    with caplog.at_level(logging.ERROR), pytest.raises(StateUnavailable, match="gone"):
        await keeper.sync()
    assert "The disk is gone." in caplog.text

    disk.error = None
    disk.gate.release()
    await keeper.sync()
    assert disk.on_disk == 1
    await keeper.aclose()


async def test_a_long_log_is_folded_into_the_database() -> None:
    disk = Disk()
    keeper = started(disk)
    disk.commit(keeper, size=durability.CHECKPOINT_BYTES)
    disk.gate.release(2)
    await keeper.sync()
    disk.commit(keeper)
    await keeper.sync()

    await keeper.aclose()

    assert disk.checkpoints == 1


def test_a_commit_without_a_loop_is_synced_at_the_end(store: Store) -> None:
    store.add("a")

    asyncio.run(store.log.aclose())

    store.database.close()
    assert not (store.directory.path / "state.db-wal").exists()


async def test_the_log_syncs_and_checkpoints_a_real_database(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durability, "CHECKPOINT_BYTES", 100_000)
    session_id = store.add("a").id
    for _ in range(10):
        for _ in range(20):
            store.log.append(session_id, Notice(level="info", code="c", text="x" * 1000))
        await store.log.sync()

    await store.log.aclose()

    assert store.directory.database.stat().st_size > 100_000
    assert len(store.log.texts(session_id)) == 201


async def test_blobs_reach_the_disk_before_the_events_that_name_them(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    flush_blobs = FileBlobs.flush

    def flush(blobs: FileBlobs) -> None:
        order.append("blobs")
        flush_blobs(blobs)

    monkeypatch.setattr(FileBlobs, "flush", flush)
    store = open_store()
    monkeypatch.setattr(store.database, "flush", lambda: order.append("events"))
    store.blobs.put(b"x")
    store.add("a")

    await store.log.sync()

    assert order == ["blobs", "events"]
    await store.log.aclose()


async def test_a_sync_that_fails_names_the_directory(store: Store, state_dir: Path) -> None:
    store.add("a")
    (state_dir / "state.db-wal").unlink()

    with pytest.raises(StateUnavailable, match=r"to the disk in .*\.shoulders: no such file"):
        await store.log.sync()
    await store.log.aclose()
