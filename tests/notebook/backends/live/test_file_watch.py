"""Changes of open notebooks' files by others. The tests poll by hand: no time passes."""

import asyncio
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from jupyter_ai_shoulders.live_documents.file_watch import POLL_SECONDS, FileWatch
from jupyter_ai_shoulders.wire.frames import DocumentSaved
from tests.notebook.backends.live.harness import LiveHarness, MakeLiveHarness
from tests.notebook.fake_page import FakePage

TOLD = [DocumentSaved(path="n.ipynb")]
LATER_NS = 5_000_000_000


@dataclass
class Watched:
    """Live documents with a page, and the file watch."""

    bench: LiveHarness
    page: FakePage
    watch: FileWatch

    async def look(self, times: int = 2) -> None:
        for _ in range(times):
            await self.watch.check_files()

    def write(self, old: str, new: str) -> None:
        """Change the file in place, as an editor does."""
        file = self.bench.file
        text = file.read_text().replace(old, new)
        file.write_text(text)
        _later(file)


def _later(file: Path) -> None:
    """Change the file's time, even if the file system's clock is coarse."""
    time = file.stat().st_mtime_ns + LATER_NS
    os.utime(file, ns=(time, time))


@pytest.fixture
def watched(make_bench: MakeLiveHarness, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Watched:
    async def opened() -> Watched:
        bench = make_bench()
        page = await bench.page()
        watch = FileWatch(bench.workspace, bench.disk, bench.live, bench.clock.sleep)
        made = Watched(bench, page, watch)
        await made.look()
        page.frames.clear()
        return made

    return jp_asyncio_loop.run_until_complete(opened())


async def test_change_by_others_is_told_once(watched: Watched) -> None:
    watched.write("a = 1", "a = 2")
    await watched.look(4)
    assert watched.page.frames == TOLD


async def test_nothing_is_told_of_a_file_that_stays(watched: Watched) -> None:
    await watched.look(4)
    assert watched.page.frames == []


async def test_save_of_the_page_is_not_told_to_it(watched: Watched) -> None:
    await watched.page.save()
    await watched.look(4)
    assert watched.page.frames == []


async def test_file_that_is_still_being_written_is_waited_for(watched: Watched) -> None:
    text = watched.bench.file.read_text()
    for size in (100, 200, len(text)):
        watched.bench.file.write_text(text[:size].replace("a = 1", "a = 2"))
        _later(watched.bench.file)
        await watched.look(1)
    assert watched.page.frames == []
    await watched.look(1)
    assert watched.page.frames == TOLD


async def test_file_that_is_no_notebook_is_not_taken_up_until_it_is_one(watched: Watched) -> None:
    text = watched.bench.file.read_text()
    watched.bench.file.write_text(text[:100])
    _later(watched.bench.file)
    await watched.look(4)
    assert watched.page.frames == []
    watched.bench.file.write_text(text.replace("a = 1", "a = 2"))
    _later(watched.bench.file)
    _later(watched.bench.file)
    await watched.look()
    assert watched.page.frames == TOLD


def _replaced(file: Path) -> None:
    beside = file.with_suffix(".new")
    beside.write_text(file.read_text().replace("a = 1", "a = 2"))
    _later(beside)
    beside.replace(file)


def _restored(file: Path) -> None:
    """Replace it by an older file, as ``cp -p`` and archives do."""
    text = file.read_text().replace("a = 1", "a = 0")
    file.write_text(text)
    os.utime(file, ns=(10**18, 10**18))


def _renamed_away_and_another_put_there(file: Path) -> None:
    away = file.with_suffix(".away")
    file.rename(away)
    shutil.copy(away, file)
    _later(file)


@pytest.mark.parametrize("change", [_replaced, _restored, _renamed_away_and_another_put_there])
async def test_other_file_in_its_place_is_told(
    watched: Watched, change: Callable[[Path], None]
) -> None:
    change(watched.bench.file)
    await watched.look()
    assert watched.page.frames == TOLD


async def test_file_that_is_deleted_is_not_told_until_it_is_back(watched: Watched) -> None:
    text = watched.bench.file.read_text()
    watched.bench.file.unlink()
    await watched.look(4)
    assert watched.page.frames == []
    watched.bench.file.write_text(text)
    _later(watched.bench.file)
    await watched.look()
    assert watched.page.frames == TOLD


async def test_all_pages_are_told_and_none_that_closed(watched: Watched) -> None:
    second = await watched.bench.page("second")
    await watched.look()
    for page in (watched.page, second):
        page.frames.clear()
    watched.write("a = 1", "a = 2")
    await watched.look()
    assert (watched.page.frames, second.frames) == (TOLD, TOLD)
    await watched.page.close(discarded=False)
    watched.page.frames.clear()
    second.frames.clear()
    watched.write("a = 2", "a = 3")
    await watched.look()
    assert (watched.page.frames, second.frames) == ([], TOLD)


async def test_watch_looks_by_itself_until_it_is_closed(watched: Watched) -> None:
    watched.write("a = 1", "a = 2")
    watched.watch.start()
    while not watched.page.frames:
        await asyncio.sleep(0)
        await watched.bench.clock.advance(POLL_SECONDS)
    await watched.watch.aclose()
    assert watched.page.frames == TOLD
