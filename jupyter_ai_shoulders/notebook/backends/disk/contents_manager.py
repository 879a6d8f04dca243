"""Notebooks through the server's contents manager, for managers that do more than write a file.

Paired notebooks, object stores and save hooks are the contents manager's responsibility: there a
notebook is loaded and saved whole, as a page does it. ``StoredNotebooks`` chooses between this and
``notebook.backends.disk.notebooks`` for each call, since an extension may install another manager
at any time. Made by ``host.documents.notebooks``; ``server.adapters.contents_manager`` implements
the port.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import Conflict, NotFound
from jupyter_ai_shoulders.guard.filesystem.workspace import WorkspacePath
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import (
    DiskNotebooks,
    OutputSelection,
    with_attachments,
)
from jupyter_ai_shoulders.notebook.base import Applied, Conflicted, NotebookSnapshot
from jupyter_ai_shoulders.notebook.cells import joined_output
from jupyter_ai_shoulders.notebook.edits import EditedNotebook, apply_edits, needs_outputs
from jupyter_ai_shoulders.notebook.formats.cell_ids import KnownCells
from jupyter_ai_shoulders.notebook.formats.lazy_cells import CellViews, LazySnapshot
from jupyter_ai_shoulders.notebook.formats.notebook_file import ParsedNotebook, parse_notebook
from jupyter_ai_shoulders.notebook.formats.splice import splice
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CellId, Version
from jupyter_ai_shoulders.wire.notebooks import CellEdit

_ATTEMPTS = 3
_CACHED_FILES = 16


class Contents(Protocol):
    """The contents manager of the Jupyter server."""

    @property
    def is_plain(self) -> bool:
        """Return whether a notebook is a workspace file, and saving writes only that."""
        ...

    async def stamp(self, path: str) -> str:
        """Return a value that changes when the notebook is saved. Raises ``NotFound``."""
        ...

    async def get(self, path: str) -> JsonObject:
        """Return the notebook as Jupyter has it in memory (format 4).

        Raises ``NotFound``, ``InvalidNotebook``, ``StateUnavailable``.
        """
        ...

    async def save(self, path: str, content: JsonObject) -> None:
        """Save the notebook whole. Raises ``PolicyRefusal``, ``StateUnavailable``."""
        ...


@dataclass(frozen=True, slots=True)
class _LoadedNotebook:
    """A loaded notebook; ``trusted`` are the cells whose outputs Jupyter trusts."""

    stamp: str
    notebook: ParsedNotebook
    views: CellViews
    trusted: frozenset[CellId]

    @property
    def is_trusted(self) -> bool:
        """Return whether the whole notebook is trusted, as after the user ran it."""
        return all(cell.id in self.trusted for cell in self.views.raw if cell.cell_type == "code")


class ContentsNotebooks:
    """Notebooks loaded and saved whole (``notebook.base.NotebookStore``)."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._entries: OrderedDict[WorkspacePath, _LoadedNotebook] = OrderedDict()
        self._known: dict[WorkspacePath, KnownCells] = {}
        self._locks: dict[WorkspacePath, asyncio.Lock] = {}

    def check(self, path: WorkspacePath) -> None:
        """Accept every path: only the manager's answer tells."""

    async def read(self, path: WorkspacePath, outputs: OutputSelection = ()) -> NotebookSnapshot:
        """Return the notebook. Raises ``NotFound``, ``InvalidNotebook``, ``StateUnavailable``."""
        entry = await self._load(path)
        wanted = list(entry.views.positions) if outputs == "all" else outputs
        views = entry.views.with_outputs(wanted)
        return LazySnapshot(path, "disk", views, entry.notebook.metadata, dirty=False)

    async def apply(
        self, path: WorkspacePath, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        """Apply all edits, or none; the versions are those after the save hooks.

        Raises like ``read``, and ``Conflict`` when the notebook keeps being saved elsewhere. A
        synchronous manager is read and saved without a gap. With an asynchronous one, as for a
        remote store, a save by others during the last request would be lost, as with a page's own
        save.
        """
        async with self._locks.setdefault(path, asyncio.Lock()):
            for _ in range(_ATTEMPTS):
                entry = await self._load(path)
                outcome = _checked(entry, edits, expected)
                if isinstance(outcome, Conflicted):
                    return outcome
                after = splice(entry.notebook, edits)
                if after.has_text_of(entry.notebook):
                    return outcome
                if await self._contents.stamp(path) == entry.stamp:
                    return await self._save(path, entry, after, outcome)
                self._entries.pop(path, None)
        raise Conflict(
            f"{path} keeps being changed by others; nothing was written.",
            hint="Read it again.",
            retryable=True,
        )

    async def create(self, path: WorkspacePath, content: JsonObject) -> None:
        """Save a new notebook. Raises ``Conflict`` when there is one, and like ``save``."""
        async with self._locks.setdefault(path, asyncio.Lock()):
            try:
                await self._contents.stamp(path)
            except NotFound:
                await self._contents.save(path, content)
                crash_point("contents.created")
                return
        raise Conflict(f"{path} already exists; it was not changed.", hint="Use another name.")

    async def _save(
        self, path: WorkspacePath, entry: _LoadedNotebook, after: ParsedNotebook, outcome: Applied
    ) -> Applied:
        self._entries.pop(path, None)
        content = _content(after, entry, set(outcome.versions))
        crash_point("contents.save.before")
        await self._contents.save(path, content)
        crash_point("contents.saved")
        self._known[path] = after.known()
        saved = await self._load(path)
        found = (saved.views.positions.get(cell_id) for cell_id in outcome.versions)
        cells = [saved.views[position] for position in found if position is not None]
        return Applied({cell.id: cell.version for cell in cells}, outcome.inverse)

    async def _load(self, path: WorkspacePath) -> _LoadedNotebook:
        stamp = await self._contents.stamp(path)
        entry = self._entries.get(path)
        if entry is not None and entry.stamp == stamp:
            return entry
        # A save between the two calls has another stamp; an edit then loads the notebook again.
        content = await self._contents.get(path)
        entry = _entry(path, stamp, content, self._known.get(path, ()))
        self._known[path] = entry.notebook.known()
        self._entries[path] = entry
        self._entries.move_to_end(path)
        while len(self._entries) > _CACHED_FILES:
            self._entries.popitem(last=False)
        return entry


class StoredNotebooks:
    """Chooses for each call how a notebook is stored (``notebook.base.NotebookStore``)."""

    def __init__(self, files: DiskNotebooks, contents: Contents | None = None) -> None:
        self._files = files
        self._contents = contents
        self._managed = ContentsNotebooks(contents) if contents is not None else None

    def check(self, path: WorkspacePath) -> None:
        """Raise ``NotFound`` when the notebook is known not to exist."""
        self._chosen.check(path)

    async def read(self, path: WorkspacePath, outputs: OutputSelection = ()) -> NotebookSnapshot:
        """Return the notebook. Raises ``NotFound``, ``InvalidNotebook``, ``StateUnavailable``."""
        return await self._chosen.read(path, outputs)

    async def apply(
        self, path: WorkspacePath, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        """Apply all edits, or none. Raises like ``read``, and ``Conflict``."""
        return await self._chosen.apply(path, edits, expected)

    async def create(self, path: WorkspacePath, content: JsonObject) -> None:
        """Make a notebook. Raises ``Conflict``, ``NotFound``, ``StateUnavailable``."""
        await self._chosen.create(path, content)

    @property
    def _chosen(self) -> DiskNotebooks | ContentsNotebooks:
        if self._contents is None or self._managed is None or self._contents.is_plain:
            return self._files
        return self._managed


def _checked(
    entry: _LoadedNotebook, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
) -> Applied | Conflicted:
    views = entry.views.with_outputs(needs_outputs(edits))
    outcome = apply_edits(list(views.positions), views.by_id, edits, expected)
    return (
        with_attachments(outcome, entry.views) if isinstance(outcome, EditedNotebook) else outcome
    )


def _entry(
    path: WorkspacePath, stamp: str, content: JsonObject, known: KnownCells
) -> _LoadedNotebook:
    """Parse a notebook as if it were a file; Jupyter's trust marks are kept separately."""
    whole = cast("dict[str, Any]", json.loads(json.dumps(content)))
    metadata = whole.get("metadata")
    # For formats before 4 nbformat generates other ids each time, which identify nothing.
    made_up = isinstance(metadata, dict) and "orig_nbformat" in metadata
    marks: list[bool] = []
    for cell in whole.get("cells", []):
        marks.append(bool(cell.get("metadata", {}).pop("trusted", False)))
        if made_up:
            cell.pop("id", None)
    notebook = parse_notebook(json.dumps(whole).encode(), path, known)
    trusted = (cell.id for cell, mark in zip(notebook.cells, marks, strict=True) if mark)
    return _LoadedNotebook(stamp, notebook, CellViews(notebook.cells), frozenset(trusted))


def _content(after: ParsedNotebook, entry: _LoadedNotebook, touched: set[CellId]) -> JsonObject:
    """Return the notebook for the contents manager: texts joined, trusted cells marked.

    In a notebook trusted as a whole the agent's outputs are trusted like the user's own.
    """
    trusted = entry.trusted | (touched if entry.is_trusted else set[CellId]())
    whole = cast("dict[str, Any]", json.loads(after.text))
    for cell, raw in zip(whole["cells"], after.cells, strict=True):
        cell["source"] = raw.source
        if "outputs" in cell:
            cell["outputs"] = [joined_output(output) for output in cell["outputs"]]
        if after.stores_ids:
            cell["id"] = raw.id
        if raw.id in trusted and raw.cell_type == "code":
            cell.setdefault("metadata", {})["trusted"] = True
    return whole
