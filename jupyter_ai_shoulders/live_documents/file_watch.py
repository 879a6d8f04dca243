"""Detects changes of an open notebook's or text's file by git, another editor or a script.

The pages that have it open are notified and merge it (``notebookFileSync.ts`` and
``textFileSync.ts`` in ``labextension/src/live-documents/file-sync``). Polls open files once a
second: that works on every file system, including network ones, and costs 10 µs per file. Made by
``host.documents.notebooks`` for notebooks and by ``host.documents.files`` for texts.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from jupyter_ai_shoulders.core.clock import Sleep
from jupyter_ai_shoulders.core.errors import InvalidNotebook, NotFound, ShouldersError
from jupyter_ai_shoulders.guard.filesystem.workspace import FileStat, Workspace, WorkspacePath
from jupyter_ai_shoulders.live_documents.page_claims import PageClaim

CLOCK_STEP_SECONDS = 0.002
"""The contents manager's time stamps have microseconds, the file system's nanoseconds."""
_log = logging.getLogger(__name__)

POLL_SECONDS = 1.0
"""A file is read after two equal polls: a writer can finish first."""


class StoredFiles(Protocol):
    """Reads and validates a file; implemented by the back ends on disk."""

    async def read(self, path: WorkspacePath) -> object:
        """Return the file. Raises ``ShouldersError`` when it is invalid."""
        ...


class WatchedDocuments(Protocol):
    """Documents that pages have open; implemented by the live back ends."""

    def open_paths(self) -> Collection[WorkspacePath]:
        """Return the files that connected pages have open."""
        ...

    def is_behind(self, path: str) -> bool:
        """Return whether a page has read or written another version than the file's."""
        ...

    def wrote(self, path: str) -> None:
        """Notify the pages to read the file."""
        ...


class FileWatch:
    """Polls the files that pages have open; a resource: ``start`` and ``aclose`` it."""

    def __init__(
        self,
        workspace: Workspace,
        stored: StoredFiles,
        documents: WatchedDocuments,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._workspace = workspace
        self._stored = stored
        self._documents = documents
        self._sleep = sleep
        self._settled: dict[WorkspacePath, FileStat | None] = {}
        self._last: dict[WorkspacePath, FileStat | None] = {}
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start polling."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="open-file-watch")
            self._task.add_done_callback(_ended)

    async def aclose(self) -> None:
        """Stop polling."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def check_files(self) -> None:
        """Poll each open file once."""
        paths = self._documents.open_paths()
        if not paths:
            self._settled.clear()
            self._last.clear()
            return
        found = await asyncio.to_thread(self._stats, paths)
        self._settled = {path: now for path, now in self._settled.items() if path in found}
        before, self._last = self._last, found
        for path, now in found.items():
            is_steady = path in before and before[path] == now
            if is_steady and (path not in self._settled or self._settled[path] != now):
                self._settled[path] = now
                if now is not None:
                    await self._take_up(path)

    async def _run(self) -> None:
        while True:
            await self._sleep(POLL_SECONDS)
            await self.check_files()

    def _stats(self, paths: Collection[WorkspacePath]) -> dict[WorkspacePath, FileStat | None]:
        return {path: self._stat(path) for path in paths}

    def _stat(self, path: WorkspacePath) -> FileStat | None:
        """Return the file's facts; None when it is missing or unreadable."""
        try:
            return self._workspace.stat(path)
        except ShouldersError:
            return None

    async def _take_up(self, path: WorkspacePath) -> None:
        """Notify the pages, unless they wrote the change or the file is invalid."""
        if not self._documents.is_behind(path):
            return
        try:
            await self._stored.read(path)
        except (InvalidNotebook, NotFound) as error:
            _log.info("The file of an open document is not taken up: %s", error)
        except ShouldersError as error:
            _log.warning("The file of an open document cannot be read: %s", error)
        else:
            self._documents.wrote(path)


def _ended(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("Open files are not looked at any more", exc_info=error)


def file_lag(workspace: Workspace, claim: PageClaim) -> float:
    """Return by how many seconds the file is newer than the version a page read or wrote.

    0.0 when the times agree within ``CLOCK_STEP_SECONDS``, or one of them is not known.
    """
    try:
        read_at = datetime.fromisoformat(claim.saved_at or "").timestamp()
        written_at = workspace.stat(claim.path).mtime_ns / 1e9
    except (ValueError, ShouldersError):
        return 0.0
    lag = written_at - read_at
    return lag if abs(lag) > CLOCK_STEP_SECONDS else 0.0
