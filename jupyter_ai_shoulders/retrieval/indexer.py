"""Keeps the index like the documents of the workspace, in the background.

Made by ``retrieval.service``. Documents are compared with the index by size and time when a search
asks for it and every few seconds after one, which works on every file system. What changed is read
in a thread, step by step. A damaged index is built again; without space on the disk the index stays
as it is, and the work is tried again later.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections import deque
from collections.abc import Awaitable, Callable, Mapping

from jupyter_ai_shoulders.core.clock import Clock, Sleep
from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.retrieval.index_file import is_damaged
from jupyter_ai_shoulders.retrieval.index_update import IndexUpdate
from jupyter_ai_shoulders.retrieval.index_writer import IndexWriter
from jupyter_ai_shoulders.retrieval.ports import DocumentSource
from jupyter_ai_shoulders.retrieval.word_index import FileStamp

PAUSE_SECONDS = 0.01
"""Between two steps, in which the event loop gets the interpreter."""
WATCH_SECONDS = 5.0
"""Between two comparisons while search is in use."""
PROGRESS_SECONDS = 0.5
"""Between two reports of progress."""
SHARE = 50
"""A comparison is followed by a pause of this many times its duration, if that is longer."""
WATCHED_SECONDS = 1_800.0
"""How long after the last search documents are compared; then the index is closed."""
REBUILT = "The index was damaged or from another version; it has been built again."
_log = logging.getLogger(__name__)


class Indexer:
    """The background work on one index. Used on the event loop; ``aclose`` it."""

    def __init__(
        self,
        writer: IndexWriter,
        source: DocumentSource,
        clock: Clock,
        *,
        changed: Callable[[], None],
        updated: Callable[[], None],
        idle: Callable[[], Awaitable[None]],
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """``changed`` is called when the state may have changed, ``updated`` when the index is like
        the documents, and ``idle`` before it is closed.
        """
        self._writer = writer
        self._source = source
        self._clock = clock
        self._changed = changed
        self._updated = updated
        self._idle = idle
        self._sleep = sleep
        self._updating: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._closing = False
        self._stopping = False
        self._checked_at = float("-inf")
        self._used_at = float("-inf")
        self._reported_at = float("-inf")
        self._reported: tuple[object, ...] = ()
        self._duration = 0.0
        self._notice: str | None = None
        self.building = False
        """Whether documents are being read into the index."""
        self.behind = 0
        """Documents that are known to differ from the index."""
        self.error: str | None = None
        """Why the index cannot be written, in words."""

    @property
    def notices(self) -> list[str]:
        """What the user should know about the index."""
        found = (self.error, self._writer.other_writer, self._notice)
        return [text for text in found if text]

    async def refresh(self, *, max_age: float, wait: float, is_use: bool = True) -> None:
        """Compare the documents with the index unless that was done ``max_age`` seconds ago.

        Returns when the index is like the documents, or after ``wait`` seconds. Without ``is_use``
        the documents are not compared for longer than after the last search.
        """
        if is_use:
            self._used_at = self._clock.monotonic()
        if self._closing:
            return
        if is_use and self._watching is None:
            self._watching = asyncio.create_task(self._watch(), name="shoulders-search-watch")
        self._begin(max_age)
        if self._updating is not None and wait > 0:
            await asyncio.wait([self._updating], timeout=wait)

    async def set_paused(self, *, paused: bool) -> None:
        """Stop or continue the background work, also after a restart.

        Raises ``StateUnavailable``.
        """
        await self._stop_updating()
        await self._change(self._writer.open)
        if self._writer.other_writer is not None:
            raise StateUnavailable(self._writer.other_writer, hint="Use that server.")
        await self._change(lambda: self._writer.set_paused(paused=paused))
        self._checked_at = float("-inf")
        if not paused:
            self._begin(0.0)
        self._changed()

    async def delete(self) -> None:
        """Delete the index; the next ``refresh`` builds it again. Raises ``StateUnavailable``."""
        await self._stop_updating()
        await self._change(self._writer.delete)
        self.behind, self.error, self._notice = 0, None, None
        self._checked_at = float("-inf")
        self._changed()

    async def report(self, reason: sqlite3.Error) -> None:
        """Handle an error of a reader: a damaged index is built again."""
        if is_damaged(reason) and self._writer.other_writer is None:
            await self._stop_updating()
            await self._failed(reason)
            self._begin(0.0)
        elif self.error is None:
            self.error = f"The index cannot be read: {reason}."

    async def aclose(self) -> None:
        """Stop the work after its step, and close the index."""
        self._closing = True
        await self._stop_updating()
        task = self._watching
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        await self._idle()
        await asyncio.to_thread(self._writer.release)

    # tasks

    def _begin(self, max_age: float) -> None:
        age = self._clock.monotonic() - self._checked_at
        if self._updating is None and not self._stopping and age >= max_age:
            self._updating = asyncio.create_task(self._update(), name="shoulders-search-index")

    async def _watch(self) -> None:
        """Compare regularly as long as search is in use; then give the memory back."""
        try:
            while self._clock.monotonic() - self._used_at < WATCHED_SECONDS:
                await self._sleep(max(WATCH_SECONDS, SHARE * self._duration))
                self._begin(WATCH_SECONDS)
                if self._updating is not None:
                    await asyncio.wait([self._updating])
            self._stopping = True  # nothing begins until it is closed
            await self._idle()
            await asyncio.to_thread(self._writer.release)
        finally:
            self._stopping, self._watching = False, None

    async def _stop_updating(self) -> None:
        """Let the update end after its current step."""
        self._stopping = True
        try:
            if self._updating is not None:
                await asyncio.wait([self._updating])
        finally:
            self._stopping = False

    async def _update(self) -> None:
        try:
            await self._compare_and_index()
            self.error = None
        except (sqlite3.Error, OSError) as error:
            await self._failed(error)
        except Exception as reason:  # noqa: BLE001 the task has no caller to report it to
            _log.exception("The search index cannot be updated")
            self.error = f"The index cannot be updated: {reason}"
            self._checked_at = self._clock.monotonic()
        else:
            self._checked_at = self._clock.monotonic()
        finally:
            self._updating, self.building = None, False
            self._report(self._state())

    async def _compare_and_index(self) -> None:
        self.building = not self._writer.readable
        await asyncio.to_thread(self._writer.open)
        started = self._clock.monotonic()
        files = await asyncio.to_thread(self._source.files)
        unsaved = await self._source.unsaved()
        update = await asyncio.to_thread(self._writer.compare, files, unsaved)
        self._duration = self._clock.monotonic() - started
        self.behind = update.size
        self.building = False
        if self._writer.paused or self._writer.other_writer is not None:
            return
        if update.size:
            self.building = True
            await self._index(update, files)
        if not self._stopping:
            self._updated()

    async def _index(self, update: IndexUpdate, files: Mapping[str, FileStamp]) -> None:
        await asyncio.to_thread(self._writer.apply, update)
        queue, previews = deque(update.read), deque[str]()
        while (queue or previews) and not self._stopping:
            self._report_progress(len(queue) + len(previews))
            if queue:
                previews += await asyncio.to_thread(self._writer.step, queue, files)
            else:
                path = previews.popleft()
                document = await self._source.preview(path)
                await asyncio.to_thread(self._writer.store, document, files[path])
            await self._sleep(PAUSE_SECONDS)
        self.behind = len(queue) + len(previews)

    def _report_progress(self, behind: int) -> None:
        self.behind, now = behind, self._clock.monotonic()
        if now - self._reported_at >= PROGRESS_SECONDS:
            self._reported_at = now
            self._report(self._state())

    def _state(self) -> tuple[object, ...]:
        return self.building, self.behind, self._writer.generation, tuple(self.notices)

    def _report(self, state: tuple[object, ...]) -> None:
        """Report a change of the state."""
        if state != self._reported:
            self._reported = state
            self._changed()

    async def _failed(self, reason: sqlite3.Error | OSError) -> None:
        """Delete a damaged index, to build it again; keep another one as it is."""
        if not is_damaged(reason):
            _log.warning("The search index cannot be written: %s", reason)
            self.error = f"The index cannot be written: {reason}."
            self._checked_at = self._clock.monotonic()
            await asyncio.to_thread(self._writer.close)
            return
        _log.warning("The search index is built again: %s", reason)
        self._notice, self._checked_at = REBUILT, float("-inf")
        try:
            await asyncio.to_thread(self._writer.delete)
        except (StateUnavailable, OSError) as failure:
            self.error = f"The index is damaged and cannot be deleted: {failure}"

    async def _change(self, change: Callable[[], None]) -> None:
        """Run a change of the index in a thread. Raises ``StateUnavailable``."""
        try:
            await asyncio.to_thread(change)
        except (sqlite3.Error, OSError) as error:
            raise StateUnavailable(
                f"The search index cannot be changed: {error}.",
                hint="Check that the state directory can be written and has space.",
                retryable=True,
            ) from error
