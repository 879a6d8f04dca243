"""The store in process: kills while it writes, damaged files, a full disk, a missing package."""

from __future__ import annotations

import asyncio
import gc
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import NamedTuple

import pytest

from jupyter_ai_shoulders.retrieval.ports import VectorStoreUnavailable
from jupyter_ai_shoulders.retrieval.vectors import edge_collection, edge_store
from jupyter_ai_shoulders.retrieval.vectors.edge_collection import EdgeCollection
from jupyter_ai_shoulders.retrieval.vectors.edge_store import EdgeVectorStore
from tests.retrieval.vectors.sample_vectors import digest, vector, vectors
from tests.support.case_selection import examples

BATCH = 20


async def test_vectors_survive_the_end_of_the_process(tmp_path: Path):
    first = EdgeVectorStore(tmp_path)
    await first.add(vectors(range(30)))
    await first.remove([digest(4)])
    await first.aclose()
    second = EdgeVectorStore(tmp_path)
    assert await second.count() == 29
    assert (await second.nearest(vector(7), 1))[0][0] == digest(7)
    await second.aclose()


def test_kills_lose_nothing_that_was_acknowledged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Processes are killed while they add; each next one continues. Digests show what is lost."""
    monkeypatch.setattr(edge_store, "VECTORS_PER_CALL", 7)  # several before each flush
    chance = random.Random(5)
    acknowledged = 0
    kills = examples(full=100, default=20)
    for number in range(kills):
        moment = Moment(number % 2, chance.uniform(0, 0.03))
        acknowledged += _killed_while_adding(tmp_path, acknowledged, moment)
        asyncio.run(_check(tmp_path, acknowledged, chance))
    assert acknowledged >= kills // 2 * BATCH


class Moment(NamedTuple):
    """When a child is killed: after this many batches, and some time."""

    batches: int
    seconds: float


def _killed_while_adding(folder: Path, start: int, moment: Moment) -> int:
    """Let a child add batches and kill it; return how many vectors it acknowledged."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            asyncio.run(_add_forever(folder, start, writer))
        finally:
            os._exit(1)
    os.close(writer)
    expected = b"s" + b"a" * moment.batches
    assert b"".join(os.read(reader, 1) for _ in expected) == expected
    time.sleep(moment.seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reader, "rb") as pipe:
        return BATCH * (moment.batches + len(pipe.read()))


async def _add_forever(folder: Path, start: int, writer: int) -> None:
    store = EdgeVectorStore(folder)
    os.write(writer, b"s")
    while True:
        await store.add(vectors(range(start, start + BATCH)))
        os.write(writer, b"a")
        start += BATCH


async def _check(folder: Path, acknowledged: int, chance: random.Random) -> None:
    store = EdgeVectorStore(folder)
    expected = {digest(number) for number in range(acknowledged)}
    assert await store.known(expected) == expected
    assert await store.count() >= acknowledged
    for number in chance.sample(range(acknowledged), min(acknowledged, 5)):
        found = await store.nearest(vector(number), 1)
        assert found == [(digest(number), pytest.approx(1, abs=2e-3))]
    await store.aclose()


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _empty(path: Path) -> None:
    os.truncate(path, 0)


def _overwrite(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(random.Random(1).randbytes(min(path.stat().st_size, 4_096)))


DAMAGE = {"cut": _cut, "empty": _empty, "overwritten": _overwrite, "gone": Path.unlink}
MAY_BE_RANDOM = {"chunk_0.mmap", "flags_a.dat", "mutable_id_tracker.versions"}
"""Files in which other bytes are other vectors, so that no check of their form finds it."""


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
async def test_a_damaged_file_is_reported_or_does_no_harm(
    tmp_path: Path, damage: Callable[[Path], None]
):
    """Either an error says so, or what is still known is found, and the rest can be added again."""
    whole = tmp_path / "whole"
    await _fill(whole)
    files = [path.relative_to(whole) for path in sorted(whole.rglob("*")) if path.is_file()]
    assert len(files) > 10
    reported: set[str] = set()
    for name in files:
        folder = tmp_path / "damaged"
        shutil.copytree(whole, folder, copy_function=_copy_without_holes)
        damage(folder / name)
        store = EdgeVectorStore(folder)
        exact = damage is not _overwrite or name.name not in MAY_BE_RANDOM
        error = await _problem(_use(store, exact=exact))
        if error is not None:
            assert (error.is_damaged, error.info.retryable) == (True, False)
            reported.add(name.name)
            await store.clear()
            assert await store.count() == 0
            await store.add(vectors(range(9), 6))
            await _use(store, exact=True)
        await store.aclose()
        shutil.rmtree(folder)
    assert {"format.json", "segment.json"} <= reported


def _copy_without_holes(source: str, target: str) -> None:
    """Copy what was written: the engine makes files of 32 MB for a few bytes."""
    with Path(source).open("rb") as reader, Path(target).open("wb") as writer:
        size = writer.truncate(os.fstat(reader.fileno()).st_size)
        end = 0
        while end < size:
            try:
                start = os.lseek(reader.fileno(), end, os.SEEK_DATA)
            except OSError:  # nothing but a hole is left
                return
            end = os.lseek(reader.fileno(), start, os.SEEK_HOLE)
            os.pwrite(writer.fileno(), os.pread(reader.fileno(), end - start, start), start)


async def _problem(use: Coroutine[None, None, None]) -> VectorStoreUnavailable | None:
    try:
        await use
    except VectorStoreUnavailable as error:
        return error
    return None


async def _fill(folder: Path) -> None:
    store = EdgeVectorStore(folder)
    await store.add(vectors(range(40), 6))
    await store.aclose()


async def _use(store: EdgeVectorStore, *, exact: bool) -> None:
    known = await store.known([digest(number) for number in range(40)])
    for number in range(9):
        if digest(number) in known and exact:
            found = await store.nearest(vector(number, 6), 1)
            assert found == [(digest(number), pytest.approx(1, abs=2e-3))]
    await store.add(vectors(range(40), 6))
    assert await store.known([digest(39)]) == {digest(39)}


async def test_a_collection_of_another_format_is_damaged(tmp_path: Path):
    await _fill(tmp_path)
    (tmp_path / "collection" / "format.json").write_text('{"format": 2, "dimension": 6}')
    store = EdgeVectorStore(tmp_path)
    with pytest.raises(VectorStoreUnavailable, match="damaged") as caught:
        await store.count()
    assert caught.value.is_damaged


async def test_a_collection_left_half_made_is_made_again(tmp_path: Path):
    (tmp_path / "collection.new" / "shard" / "segments").mkdir(parents=True)
    store = EdgeVectorStore(tmp_path)
    assert await store.count() == 0
    await store.add(vectors(range(3)))
    assert await store.count() == 3
    await store.aclose()


async def test_nothing_is_written_to_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The engine would end the process with SIGBUS."""
    store = EdgeVectorStore(tmp_path)
    await store.add(vectors(range(3)))
    full = shutil.disk_usage(tmp_path)._replace(free=63 << 20)

    def usage(_: Path) -> object:
        return full

    monkeypatch.setattr(edge_collection.shutil, "disk_usage", usage)
    for change in (store.add(vectors([4])), store.remove([digest(1)])):
        with pytest.raises(VectorStoreUnavailable, match="the disk has 63 MB") as caught:
            await change
        assert caught.value.info.retryable
        assert not caught.value.is_damaged
    assert await store.count() == 3
    await store.aclose()


async def test_a_folder_that_cannot_be_made_is_unavailable(tmp_path: Path):
    (tmp_path / "file").write_text("")
    store = EdgeVectorStore(tmp_path / "file" / "vectors")
    with pytest.raises(VectorStoreUnavailable) as caught:
        await store.add(vectors([1]))
    assert not caught.value.is_damaged


async def test_a_missing_package_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "qdrant_edge", None)
    store = EdgeVectorStore(tmp_path)
    assert await store.count() == 0
    with pytest.raises(VectorStoreUnavailable, match="qdrant-edge-py") as caught:
        await store.add(vectors([1]))
    assert caught.value.info.code == "state_unavailable"
    assert "jupyter-ai-shoulders[search]" in (caught.value.info.hint or "")


async def test_files_are_opened_again_after_many_additions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(edge_collection, "REOPEN_AFTER", 300)
    store = EdgeVectorStore(tmp_path)
    await store.add(vectors(range(700)))
    assert await store.count() == 700
    assert (await store.nearest(vector(650), 1))[0][0] == digest(650)
    await store.aclose()


async def test_calls_of_several_tasks_do_not_disturb_each_other(tmp_path: Path):
    store = EdgeVectorStore(tmp_path)
    await asyncio.gather(*(store.add(vectors(range(at, at + 50))) for at in range(0, 500, 50)))
    found = await asyncio.gather(*(store.nearest(vector(number), 1) for number in range(20)))
    assert [each[0][0] for each in found] == [digest(number) for number in range(20)]
    assert await store.count() == 500
    await store.aclose()


def test_vectors_that_a_failed_call_dropped_are_not_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A search may fail between ``add`` and ``flush``: what is not on the disk is gone."""
    collection = EdgeCollection(tmp_path)
    losses = collection.losses
    collection.add(vectors(range(20)))

    def broken(*_: object) -> object:
        raise Exception("Service runtime error: broken on purpose")  # noqa: TRY002 as the engine

    with monkeypatch.context() as patch:
        patch.setattr(edge_collection, "_query", broken)
        with pytest.raises(VectorStoreUnavailable, match="broken on purpose"):
            collection.nearest(vector(1), 1)
    with pytest.raises(VectorStoreUnavailable, match="were not stored"):
        collection.flush(losses)
    losses = collection.losses
    collection.add(vectors(range(20)))
    collection.flush(losses)
    assert collection.count() == 20
    collection.close()


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs Linux")
async def test_closing_unmaps_the_files(tmp_path: Path):
    store = EdgeVectorStore(tmp_path / "mapped vectors")
    await store.add(vectors(range(50)))
    assert "mapped vectors" in _maps()
    await store.aclose()
    gc.collect()
    assert "mapped vectors" not in _maps()


def _maps() -> str:
    return Path("/proc/self/maps").read_text()
