"""Records what calls do to notebooks: a checkpoint before each first change, and an event per
action (see docs/design/files-and-review.md#recording-of-changes).

Works below the tools, so every tool is covered, and stores only what a call changes. A checkpoint
is on disk before the change; if it cannot be written, nothing is changed. Made by ``host``, which
wraps notebooks, runner and tools with it.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

from jupyter_ai_shoulders.changes.recording.actor import Actor, origin_of
from jupyter_ai_shoulders.changes.recording.cell_operations import CellOperationLog
from jupyter_ai_shoulders.changes.recording.change_history import text_changes
from jupyter_ai_shoulders.changes.recording.snapshots import encode_cell, encode_notebook
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.current_page import CurrentPage
from jupyter_ai_shoulders.core.operation_journal import OperationJournal
from jupyter_ai_shoulders.files.base import ChangeObserver, NullChangeObserver
from jupyter_ai_shoulders.notebook.base import Notebook, NotebookSnapshot
from jupyter_ai_shoulders.storage.base import Blobs, EventLog
from jupyter_ai_shoulders.wire.event_types.restore import CellSnapshot
from jupyter_ai_shoulders.wire.events import (
    CellOperation,
    CellsChange,
    Checkpoint,
    DocumentSnapshot,
)
from jupyter_ai_shoulders.wire.ids import CellId, SessionId
from jupyter_ai_shoulders.wire.notebooks import CellEdit, CellInsert, NotebookCell
from jupyter_ai_shoulders.wire.versions import cell_version

__all__ = ["Actor", "ChangeRecorder", "Kernels", "origin_of"]

REMEMBERED = 200
"""Sessions whose current checkpoint is cached; others get a second one."""
LARGE = 200_000
"""Characters of outputs from which a cell is stored in a thread."""


class Kernels(Protocol):
    """Identifies kernels; a restart changes the identifier."""

    async def kernel_generation(self, path: str) -> str | None:
        """Return the identifier of the notebook's running kernel, None without one."""
        ...


@dataclass(slots=True)
class _CheckpointContents:
    """The contents of a session's current checkpoint."""

    checkpoint: str
    documents: set[str] = field(default_factory=set[str])
    cells: set[tuple[str, CellId]] = field(default_factory=set[tuple[str, CellId]])
    last_texts: dict[tuple[str, CellId], str] = field(default_factory=dict[tuple[str, CellId], str])
    """The text last written to each cell."""


class ChangeRecorder:
    """Takes checkpoints and records actions. Changes without an actor are not recorded."""

    def __init__(
        self,
        event_log: EventLog,
        blobs: Blobs,
        kernels: Kernels,
        observer: ChangeObserver | None = None,
        journal: OperationJournal | None = None,
        *,
        current_page: CurrentPage | None = None,
    ) -> None:
        """``observer`` is notified of each changed text, for review."""
        self.current_page = current_page or CurrentPage()
        self.operations = CellOperationLog(journal)
        self._observer = observer or NullChangeObserver()
        self._log = event_log
        self._blobs = blobs
        self._kernels = kernels
        self._actor: ContextVar[Actor | None] = ContextVar("actor", default=None)
        self._contents: OrderedDict[SessionId, _CheckpointContents] = OrderedDict()

    @property
    def actor(self) -> Actor | None:
        """The actor of the current task."""
        return self._actor.get()

    def set_actor(self, actor: Actor | None) -> None:
        """Set the actor of the current task."""
        self._actor.set(actor)

    async def take_checkpoint(
        self,
        actor: Actor,
        notebook: Notebook,
        touched: Collection[CellId],
        *,
        refresh: bool = False,
    ) -> NotebookSnapshot | None:
        """Write a checkpoint of the notebook, with the cells ``touched`` whole, to disk.

        ``refresh`` stores these cells again even if they were stored before. Returns the snapshot
        read, None when everything was stored already. Raises ``StateUnavailable`` and the errors
        of reading a notebook; then nothing may be changed.
        """
        contents = self._checkpoint_contents(actor)
        path = notebook.path
        new = [cell_id for cell_id in touched if refresh or (path, cell_id) not in contents.cells]
        if path in contents.documents and not new:
            return None
        snapshot = await notebook.read(new)
        documents: tuple[DocumentSnapshot, ...] = ()
        if path not in contents.documents:
            blob = self._blobs.put(encode_notebook(snapshot.cells))
            documents = (DocumentSnapshot(document=path, blob=blob),)
        cells = [await self._store_cell(path, snapshot.cell(cell_id)) for cell_id in new]
        await self.append_checkpoint(
            actor,
            Checkpoint(documents=documents, cells=tuple(filter(None, cells)), order=actor.order),
        )
        contents.documents.add(path)
        contents.cells |= {(path, cell_id) for cell_id in new}
        return snapshot

    async def append_checkpoint(self, actor: Actor, event: Checkpoint) -> None:
        """Write a checkpoint and sync it to disk. Raises ``StateUnavailable``."""
        if not event.documents and not event.cells:
            return
        self._log.append(actor.session_id, event.model_copy(update={"turn_id": actor.turn_id}))
        crash_point("restore.checkpoint.recorded")
        await self._log.sync()
        crash_point("restore.checkpoint.synced")

    async def checkpoint_attachments(
        self, actor: Actor, path: str, inverse: Sequence[CellEdit]
    ) -> None:
        """Store deleted cells with their attachments, held only by the inverse."""
        cells = [
            self._store_deleted_cell(path, edit)
            for edit in inverse
            if isinstance(edit, CellInsert) and edit.attachments
        ]
        await self.append_checkpoint(actor, Checkpoint(documents=(), cells=tuple(cells)))

    def record_actions(self, actor: Actor, path: str, actions: Iterable[CellOperation]) -> None:
        """Log actions. Raises ``StateUnavailable``."""
        cells = tuple(self._without_known_base(actor, path, action) for action in actions)
        if cells:
            event = CellsChange(
                turn_id=actor.turn_id,
                call_id=actor.call_id,
                document=path,
                cells=cells,
                restore_id=None if actor.order is None else actor.order.restore_id,
            )
            self._log.append(actor.session_id, event)
            crash_point("restore.deed.recorded")

    def _without_known_base(self, actor: Actor, path: str, action: CellOperation) -> CellOperation:
        """Return the action without its base where that is the text written last."""
        if action.what not in {"made", "edited"} or action.source is None:
            return action
        last_texts, key = self._checkpoint_contents(actor).last_texts, (path, action.cell_id)
        known, last_texts[key] = last_texts.get(key), action.source
        return action if action.base != known else action.model_copy(update={"base": None})

    def notify_observer(
        self, actor: Actor, path: str, edits: Sequence[CellEdit], inverse: Sequence[CellEdit]
    ) -> None:
        """Notify the review of changed texts. Raises ``StateUnavailable``."""
        origin = origin_of(actor)
        for cell_id, before, after in text_changes(edits, inverse):
            self._observer.changed(origin, path, cell_id, before, after)

    async def kernel_generation(self, path: str) -> str | None:
        """Return the identifier of the notebook's running kernel."""
        return await self._kernels.kernel_generation(path)

    def _store_deleted_cell(self, path: str, edit: CellInsert) -> CellSnapshot:
        cell = NotebookCell(
            id=edit.cell_id,
            cell_type=edit.cell_type,
            source=edit.source,
            version=cell_version(edit.source),
            metadata=edit.metadata,
            execution_count=edit.execution_count,
            output_summary=(),
            outputs=edit.outputs,
        )
        blob = self._blobs.put(encode_cell(cell, edit.attachments))
        return CellSnapshot(document=path, cell_id=edit.cell_id, blob=blob)

    async def _store_cell(self, path: str, cell: NotebookCell | None) -> CellSnapshot | None:
        if cell is None:
            return None
        large = sum(output.size for output in cell.output_summary) > LARGE
        blob = await asyncio.to_thread(self._put_blob, cell) if large else self._put_blob(cell)
        return CellSnapshot(document=path, cell_id=cell.id, blob=blob)

    def _put_blob(self, cell: NotebookCell) -> Any:
        return self._blobs.put(encode_cell(cell))

    def _checkpoint_contents(self, actor: Actor) -> _CheckpointContents:
        contents = self._contents.pop(actor.session_id, None)
        if contents is None or contents.checkpoint != actor.checkpoint:
            contents = _CheckpointContents(actor.checkpoint)
        self._contents[actor.session_id] = contents
        if len(self._contents) > REMEMBERED:
            self._contents.popitem(last=False)
        return contents
