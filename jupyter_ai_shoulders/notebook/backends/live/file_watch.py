"""Sees that others change the file of an open notebook or text: git, another editor, a script.

The pages that have it open are told and take it up (``notebookFileSync.ts`` and
``textFileSync.ts`` in ``labextension/src/live-documents/file-sync``). Looked at by time, once a
second and open files only: that works on every file system, network ones among them, and costs
10 µs for each. Made by ``host.documents.notebooks`` for notebooks and by
``host.documents.files`` for texts.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from typing import Protocol

from jupyter_ai_shoulders.core.errors import InvalidNotebook, NotFound, ShouldersError
from jupyter_ai_shoulders.guard.filesystem.workspace import FileStat, Workspace, WorkspacePath
from jupyter_ai_shoulders.notebook.backends.live.timeouts import Sleep

_log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
"""A file is taken up when it looked the same twice: a writer in the middle of it goes on first."""


class StoredFiles(Protocol):
    """Reads a file as what it should be; implemented by the back ends on the disk."""

    async def read(self, path: WorkspacePath) -> object:
        """Return the file. Raises ``ShouldersError`` when it is not what it should be."""
        ...


class WatchedDocuments(Protocol):
    """What pages have open; implemented by the live back ends."""

    def open_paths(self) -> Collection[WorkspacePath]:
        """Return the files that connected pages have open."""
        ...

    def is_behind(self, path: str) -> bool:
        """Return whether a page has read or written another file than there is now."""
        ...

    def wrote(self, path: str) -> None:
        """Tell the pages to take the file up."""
        ...


class FileWatch:
    """Looks at the files that pages have open; a resource: ``start`` and ``aclose`` it."""

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
        """Begin to look."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="open-file-watch")
            self._task.add_done_callback(_ended)

    async def aclose(self) -> None:
        """Look no more."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def check_files(self) -> None:
        """Look once at each open file."""
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
            await self._sleep(LOOK_SECONDS)
            await self.check_files()

    def _stats(self, paths: Collection[WorkspacePath]) -> dict[WorkspacePath, FileStat | None]:
        return {path: self._stat(path) for path in paths}

    def _stat(self, path: WorkspacePath) -> FileStat | None:
        """Return the file's facts; None when there is none, or none that can be read."""
        try:
            return self._workspace.stat(path)
        except ShouldersError:
            return None

    async def _take_up(self, path: WorkspacePath) -> None:
        """Tell the pages, unless the change was theirs, or what is there is no such file."""
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
