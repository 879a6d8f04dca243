"""Recovery copies on a disk that refuses writes for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.notebook.backends.live import recovery_copies
from jupyter_ai_shoulders.notebook.backends.live.recovery_copies import NotebookRecoveryCopies

PATIENCE_S = 60


class FullDisk:
    """A ``RecoveryStore`` that refuses a number of writes."""

    def __init__(self, refusals: int) -> None:
        self.kept: dict[str, str] = {}
        self.refused, self.took = asyncio.Event(), asyncio.Event()
        self._refusals = refusals
        self._loop = asyncio.get_running_loop()

    def put(self, name: str, text: str) -> None:
        if self._refusals:
            self._refusals -= 1
            self._loop.call_soon_threadsafe(self.refused.set)
            raise StateUnavailable("The disk is full.", code="disk_full")
        self.kept[name] = text
        self._loop.call_soon_threadsafe(self.took.set)

    def remove(self, name: str) -> None:
        self.kept.pop(name, None)

    def read_all(self) -> Mapping[str, str]:
        return self.kept


async def test_a_copy_that_a_full_disk_refused_is_kept_when_there_is_space(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(recovery_copies, "RETRY_SECONDS", 0.01)
    disk = FullDisk(refusals=3)
    copies = NotebookRecoveryCopies(disk, SystemClock())
    copies.keep_renames({"a.ipynb": "b.ipynb"})
    async with asyncio.timeout(PATIENCE_S):
        await disk.took.wait()
        await copies.aclose()
    assert ["b.ipynb" in text for text in disk.kept.values()] == [True]


async def test_a_newer_copy_takes_the_place_of_one_that_was_refused(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(recovery_copies, "RETRY_SECONDS", 0.01)
    disk = FullDisk(refusals=1)
    copies = NotebookRecoveryCopies(disk, SystemClock())
    copies.keep_renames({"a.ipynb": "old.ipynb"})
    async with asyncio.timeout(PATIENCE_S):
        await disk.refused.wait()
        copies.keep_renames({"a.ipynb": "new.ipynb"})
        await disk.took.wait()
        await asyncio.sleep(0.05)  # the older one's turn would have come
        await copies.aclose()
    assert ["new.ipynb" in text for text in disk.kept.values()] == [True]


async def test_a_disk_that_stays_full_holds_up_no_end():
    disk = FullDisk(refusals=1_000)
    copies = NotebookRecoveryCopies(disk, SystemClock())
    copies.keep_renames({"a.ipynb": "b.ipynb"})
    async with asyncio.timeout(PATIENCE_S):
        await disk.refused.wait()
        await copies.aclose()
    assert disk.kept == {}
