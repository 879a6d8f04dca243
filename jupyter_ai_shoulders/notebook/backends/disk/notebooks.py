"""The disk back end: notebooks that no page has open, edited in place by the bytes of one cell.

Used by ``notebook.router``, and by ``notebook.backends.live.open_notebooks`` when a page that
vanished does not return. ``NotebookFiles`` blocks; ``DiskNotebooks`` keeps it off the event loop.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import InvalidNotebook
from jupyter_ai_shoulders.guard.filesystem.workspace import (
    FileChanged,
    FileStat,
    Workspace,
    WorkspacePath,
)
from jupyter_ai_shoulders.notebook.backends.disk.trust import NotebookTrust
from jupyter_ai_shoulders.notebook.base import Applied, Backend, Conflicted, NotebookSnapshot
from jupyter_ai_shoulders.notebook.edits import EditedNotebook, apply_edits, needs_outputs
from jupyter_ai_shoulders.notebook.formats.cell_ids import KnownCells
from jupyter_ai_shoulders.notebook.formats.lazy_cells import CellViews, LazySnapshot
from jupyter_ai_shoulders.notebook.formats.notebook_file import (
    ParsedNotebook,
    RawCell,
    parse_notebook,
)
from jupyter_ai_shoulders.notebook.formats.splice import splice
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CellId, Version
from jupyter_ai_shoulders.wire.notebooks import CellEdit, CellInsert, CellOutputs, CellSource

OutputSelection = Collection[CellId] | Literal["all"]
T = TypeVar("T")

_INLINE_BYTES = 128 * 1024
"""A file up to this size is read on the event loop: about 1 ms."""
_CACHED_BYTES = 64 * 1024 * 1024
_CACHED_FILES = 64
_SETTLED_NS = 20_000_000
"""Two writes within a tick of the file system's clock may have the same time stamp (4 ms on Linux).
"""
_ATTEMPTS = 3
_SIGN_SECONDS = 0.1
"""Pause of the edits after which the edited notebooks are signed."""
_UNSIGNED_SECONDS = 1.0
"""Longest time that edits without a pause may stay unsigned."""


@dataclass(frozen=True, slots=True)
class _CachedNotebook:
    """A parsed file and the facts of the file it was parsed from."""

    stat: FileStat
    notebook: ParsedNotebook
    views: CellViews
    content: bytes | None
    """The file's bytes; None when it is settled: a later write must have another time stamp."""
    trusted: bool = False


@dataclass(frozen=True, slots=True)
class _UnsignedEdits:
    """Edits in a row that were not signed yet: nobody else changed the file between them."""

    before: ParsedNotebook
    after: ParsedNotebook
    trusted: bool
    """Whether ``before`` is known to be trusted."""


class NotebookFiles:
    """Parsed notebooks by path, and edits to them; all methods block.

    Any thread may read; one thread edits, signs and closes.
    """

    def __init__(self, workspace: Workspace, trust: NotebookTrust) -> None:
        self._workspace = workspace
        self._trust = trust
        self._lock = threading.Lock()
        self._entries: OrderedDict[WorkspacePath, _CachedNotebook] = OrderedDict()
        self._known: OrderedDict[WorkspacePath, KnownCells] = OrderedDict()
        self._unsigned: dict[WorkspacePath, list[_UnsignedEdits]] = {}

    def quick(self, path: WorkspacePath, outputs: OutputSelection) -> NotebookSnapshot | None:
        """Return the notebook if that takes about a millisecond. Raises like ``snapshot``."""
        stat = self._workspace.stat(path)
        small = stat.size <= _INLINE_BYTES
        entry = self._entries.get(path)
        if entry is not None and entry.stat == stat and entry.content is None:
            return self._shown(path, entry, outputs) if small or not outputs else None
        return self.snapshot(path, outputs) if small else None

    def check(self, path: WorkspacePath) -> None:
        """Raise ``NotFound`` when there is no such file."""
        self._workspace.stat(path)

    def snapshot(self, path: WorkspacePath, outputs: OutputSelection) -> NotebookSnapshot:
        """Return the notebook. Raises ``NotFound``, ``InvalidNotebook``."""
        return self._shown(path, self._load(path), outputs)

    def _shown(
        self, path: WorkspacePath, entry: _CachedNotebook, outputs: OutputSelection
    ) -> NotebookSnapshot:
        wanted = list(entry.views.positions) if outputs == "all" else outputs
        views = entry.views.with_outputs(wanted)
        return LazySnapshot(path, "disk", views, entry.notebook.metadata, dirty=False)

    def edit(
        self,
        path: WorkspacePath,
        edits: Sequence[CellEdit],
        expected: Mapping[CellId, Version],
    ) -> Applied | Conflicted:
        """Apply all edits to the file, or none; ``sign`` renews its signature.

        A file that changed since it was read is read again and its cells are checked again, so that
        no change is lost. Raises ``NotFound``, ``InvalidNotebook``, ``FileChanged``.
        """
        for _ in range(_ATTEMPTS - 1):
            try:
                return self._edit(path, edits, expected)
            except FileChanged:
                self._forget(path)
        return self._edit(path, edits, expected)

    @property
    def has_unsigned(self) -> bool:
        """Whether there are edits that ``sign`` has not looked at."""
        return bool(self._unsigned)

    def sign(self) -> None:
        """Sign the edited notebooks that were trusted before.

        Only what our edits made of a trusted notebook is signed, never what others wrote.
        """
        while self._unsigned:
            path, edited = self._unsigned.popitem()
            for edits in edited:
                self._renew_trust(path, edits)

    def create(self, path: WorkspacePath, content: bytes) -> None:
        """Make the file. Raises ``Conflict``, ``NotFound``, ``StateUnavailable``."""
        self._workspace.create(path, content)
        self._forget(path)

    def close(self) -> None:
        """Sign what is unsigned and close the signature database."""
        try:
            self.sign()
        finally:
            self._trust.close()

    def _edit(
        self,
        path: WorkspacePath,
        edits: Sequence[CellEdit],
        expected: Mapping[CellId, Version],
    ) -> Applied | Conflicted:
        entry = self._load(path)
        _check_writable(entry.notebook, edits, path)
        views = entry.views.with_outputs(needs_outputs(edits))
        outcome = apply_edits(list(views.positions), views.by_id, edits, expected)
        if isinstance(outcome, Conflicted):
            return outcome
        after = splice(entry.notebook, edits)
        applied = with_attachments(outcome, entry.views)
        if after.has_text_of(entry.notebook):
            return applied
        content = after.text.encode()
        stat = self._workspace.replace(path, content, entry.stat)
        views = entry.views.replaced(after.cells, edits)
        self._store(path, _CachedNotebook(stat, after, views, content, entry.trusted))
        self._note_unsigned(path, _UnsignedEdits(entry.notebook, after, entry.trusted))
        return applied

    def _note_unsigned(self, path: WorkspacePath, edit: _UnsignedEdits) -> None:
        """Join an edit with the previous ones if it began with what they left."""
        edited = self._unsigned.setdefault(path, [])
        if edited and edited[-1].after is edit.before:
            edited[-1] = replace(edited[-1], after=edit.after)
        else:
            edited.append(edit)

    def _renew_trust(self, path: WorkspacePath, edits: _UnsignedEdits) -> None:
        if not edits.trusted and not self._trust.is_trusted(edits.before):
            return
        crash_point("disk.trust.before_sign")
        self._trust.sign(edits.after)
        crash_point("disk.trust.signed")
        entry = self._entries.get(path)
        if entry is not None and entry.notebook is edits.after:
            self._store(path, replace(entry, trusted=True))

    def _load(self, path: WorkspacePath) -> _CachedNotebook:
        entry = self._entries.get(path)
        if entry and entry.content is None and entry.stat == self._workspace.stat(path):
            return entry
        now = time.time_ns()
        found = self._workspace.read(path)
        content = None if now - found.stat.mtime_ns > _SETTLED_NS else found.content
        if entry is not None and (entry.stat, entry.content) == (found.stat, found.content):
            entry = replace(entry, content=content)
        else:
            notebook = parse_notebook(found.content, path, self._known.get(path, ()))
            entry = _CachedNotebook(found.stat, notebook, CellViews(notebook.cells), content)
        self._store(path, entry)
        return entry

    def _store(self, path: WorkspacePath, entry: _CachedNotebook) -> None:
        with self._lock:
            self._entries[path] = entry
            self._entries.move_to_end(path)
            while len(self._entries) > 1 and self._is_full():
                self._entries.popitem(last=False)
            if not entry.notebook.own_ids:
                self._known[path] = entry.notebook.known()
                self._known.move_to_end(path)
                if len(self._known) > _CACHED_FILES:
                    self._known.popitem(last=False)

    def _is_full(self) -> bool:
        size = sum(e.stat.size + len(e.content or b"") for e in self._entries.values())
        return size > _CACHED_BYTES or len(self._entries) > _CACHED_FILES

    def _forget(self, path: WorkspacePath) -> None:
        with self._lock:
            self._entries.pop(path, None)


class DiskNotebooks:
    """``NotebookFiles`` for coroutines; a resource: ``close`` it.

    One thread does all writing: it serves as the lock of each document, and the event loop never
    syncs.
    """

    def __init__(self, workspace: Workspace, trust: NotebookTrust | None = None) -> None:
        self._files = NotebookFiles(workspace, trust or NotebookTrust())
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="notebook-writer")
        self._timer: asyncio.TimerHandle | None = None
        self._sign_by = 0.0

    def open(self, path: WorkspacePath) -> DiskNotebook:
        """Return the notebook at ``path``, which need not exist yet."""
        return DiskNotebook(path, self)

    def check(self, path: WorkspacePath) -> None:
        """Raise ``NotFound`` when there is no such file."""
        self._files.check(path)

    async def read(self, path: WorkspacePath, outputs: OutputSelection = ()) -> NotebookSnapshot:
        """Return the notebook. Raises ``NotFound``, ``InvalidNotebook``."""
        found = self._files.quick(path, outputs)
        if found is not None:
            return found
        return await asyncio.to_thread(self._files.snapshot, path, outputs)

    async def apply(
        self,
        path: WorkspacePath,
        edits: Sequence[CellEdit],
        expected: Mapping[CellId, Version],
    ) -> Applied | Conflicted:
        """Apply all edits, or none. Raises ``NotFound``, ``InvalidNotebook``, ``Conflict``."""
        return await self._write(lambda: self._files.edit(path, edits, expected))

    async def create(self, path: WorkspacePath, content: JsonObject) -> None:
        """Make the file. Raises ``Conflict``, ``NotFound`` (its folder), ``StateUnavailable``."""
        text = json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
        await self._write(lambda: self._files.create(path, text.encode()))

    async def close(self) -> None:
        """Wait for the last write and its signature, and end the thread."""
        await self._write(self._files.close)
        if self._timer is not None:
            self._timer.cancel()
        self._writer.shutdown()

    def _sign_later(self) -> None:
        """Sign when the edits pause: a signature takes as long as several edits."""
        now = asyncio.get_running_loop().time()
        if self._timer is None:
            self._sign_by = now + _UNSIGNED_SECONDS
        else:
            self._timer.cancel()
        at = min(now + _SIGN_SECONDS, self._sign_by)
        self._timer = asyncio.get_running_loop().call_at(at, self._sign)

    def _sign(self) -> None:
        self._timer = None
        asyncio.get_running_loop().run_in_executor(self._writer, self._files.sign)

    async def _write(self, work: Callable[[], T]) -> T:
        """Run in the writer's thread; a cancelled caller leaves only when the work is done.

        The thread wakes the caller itself: ``run_in_executor`` below a shield takes three rounds of
        the event loop, which is noticeable for an edit of half a millisecond.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        working = self._writer.submit(work)
        working.add_done_callback(lambda _: loop.call_soon_threadsafe(self._written, done))
        try:
            await done
        except asyncio.CancelledError:
            await asyncio.wait([asyncio.wrap_future(working)])
            raise
        return working.result()

    def _written(self, done: asyncio.Future[None]) -> None:
        if self._files.has_unsigned:
            self._sign_later()
        if not done.done():  # its caller may have been cancelled
            done.set_result(None)


class DiskNotebook:
    """A notebook file (``notebook.base.Notebook``)."""

    def __init__(self, path: WorkspacePath, notebooks: DiskNotebooks) -> None:
        self._path = path
        self._notebooks = notebooks

    @property
    def path(self) -> str:
        """Return the workspace-relative path."""
        return self._path

    @property
    def backend(self) -> Backend:
        """Return its back end."""
        return "disk"

    async def read(self, outputs: OutputSelection = ()) -> NotebookSnapshot:
        """Return the notebook now, with the outputs of the cells named."""
        return await self._notebooks.read(self._path, outputs)

    async def apply(
        self, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        """Apply all edits, or none."""
        return await self._notebooks.apply(self._path, edits, expected)


def with_attachments(outcome: EditedNotebook, before: CellViews) -> Applied:
    """Add the attachments of deleted cells to the inverse edits."""

    def complete(edit: CellEdit) -> CellEdit:
        raw = _raw(before, edit.cell_id) if isinstance(edit, CellInsert) else None
        attachments = raw.attachments() if raw is not None else None
        return edit.model_copy(update={"attachments": attachments}) if attachments else edit

    applied = outcome.applied
    return replace(applied, inverse=tuple(map(complete, applied.inverse)))


def _raw(views: CellViews, cell_id: CellId) -> RawCell | None:
    position = views.positions.get(cell_id)
    return None if position is None else views.raw[position]


def _check_writable(notebook: ParsedNotebook, edits: Sequence[CellEdit], path: str) -> None:
    """Raise ``InvalidNotebook`` for the two kinds of old files that can only be read."""
    if notebook.major < 3:
        raise InvalidNotebook(
            f"{path} is in notebook format {notebook.major} (before 2013), which can be read but "
            "not edited here.",
            hint="Open it in JupyterLab and save it once: that converts it.",
        )
    if notebook.sheets > 1 and not all(isinstance(e, CellSource | CellOutputs) for e in edits):
        raise InvalidNotebook(
            f"{path} is in notebook format 3 and has {notebook.sheets} worksheets: its cells can "
            "be changed, but not inserted, deleted or moved.",
            hint="Open it in JupyterLab and save it once: that converts it.",
        )
