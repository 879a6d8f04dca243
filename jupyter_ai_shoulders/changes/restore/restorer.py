"""Restores documents to a point in a session and keeps what the user changed since.

Used by ``engine.session.restore_service``. Idempotent: each plan starts from the current state, so
a restore that was cut off is simply repeated.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Protocol

from jupyter_ai_shoulders.changes.recording.actor import Actor
from jupyter_ai_shoulders.changes.recording.change_history import (
    DocumentHistory,
    HistoryRange,
    document_histories,
)
from jupyter_ai_shoulders.changes.recording.recorder import ChangeRecorder
from jupyter_ai_shoulders.changes.recording.recording_wrappers import RecordedNotebooks
from jupyter_ai_shoulders.changes.recording.snapshots import (
    StoredCell,
    StoredNotebook,
    read_stored_cell,
    read_stored_notebook,
)
from jupyter_ai_shoulders.changes.restore.changes_since import (
    POSITION_TYPES,
    LogPosition,
    log_position_after,
)
from jupyter_ai_shoulders.changes.restore.file_restore import restore_files
from jupyter_ai_shoulders.changes.restore.kernel_drift import find_kernel_drift
from jupyter_ai_shoulders.changes.restore.plan import RestoreConflict, RestorePlan, plan_restore
from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import Conflict, ShouldersError, StateUnavailable
from jupyter_ai_shoulders.files.undo.file_undo import FileUndo
from jupyter_ai_shoulders.notebook.base import Conflicted, Notebook, Notebooks, NotebookSnapshot
from jupyter_ai_shoulders.storage.base import Blobs, EventLog
from jupyter_ai_shoulders.wire.edits import Proposal
from jupyter_ai_shoulders.wire.event_types.restore import RestoreRequest
from jupyter_ai_shoulders.wire.events import Checkpoint, Event, KernelDrift, RestoredDocument
from jupyter_ai_shoulders.wire.ids import BlobHash, CellId, ProposalId, SessionId

log = logging.getLogger(__name__)

RECORDED_TYPES = frozenset({"checkpoint", "cells-change"})
"""Types of the events that record changes of documents."""
_TRIES = 3
"""Attempts while somebody else changes the notebook."""
_REASON = "You changed the cell after the agent did. This is its text from before."


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """The outcome of restoring documents."""

    documents: tuple[RestoredDocument, ...] = ()
    drift: tuple[KernelDrift, ...] = ()
    proposals: tuple[Proposal, ...] = ()


class DocumentRestorer(Protocol):
    """Restores documents; implemented by ``Restorer`` and ``NullDocumentRestorer``."""

    def recorded_changes(self, session_id: SessionId) -> list[Event]:
        """Return the recorded changes of documents in a session."""
        ...

    async def restore(
        self, session_id: SessionId, order: RestoreRequest, after: int
    ) -> RestoreResult:
        """Undo the changes after event ``after``, or those of the order's turn alone.

        Raises ``StateUnavailable``.
        """
        ...


class NullDocumentRestorer:
    """``DocumentRestorer`` of engines whose tools change nothing."""

    def recorded_changes(self, session_id: SessionId) -> list[Event]:
        del session_id
        return []

    async def restore(
        self, session_id: SessionId, order: RestoreRequest, after: int
    ) -> RestoreResult:
        del session_id, order, after
        return RestoreResult()


class Restorer:
    """Restores the documents that a session changed."""

    def __init__(
        self,
        event_log: EventLog,
        blobs: Blobs,
        notebooks: Notebooks,
        recorder: ChangeRecorder,
        ids: IdSource,
        *,
        files: FileUndo | None = None,
    ) -> None:
        self._files = files
        self._log = event_log
        self._blobs = blobs
        self._notebooks = RecordedNotebooks(notebooks, recorder)
        self._unrecorded = notebooks
        self._recorder = recorder
        self._ids = ids

    def recorded_changes(self, session_id: SessionId) -> list[Event]:
        return [logged.event for logged in self._log.find(RECORDED_TYPES, session_id)]

    async def restore(
        self, session_id: SessionId, order: RestoreRequest, after: int
    ) -> RestoreResult:
        """Undo the changes after event ``after``, or those of the order's turn alone.

        Notebooks come first, so that a notebook the agent created is as it was created when the
        files are undone. A document that cannot be restored has an ``error``. Raises
        ``StateUnavailable`` when a checkpoint cannot be written; then nothing more is changed.
        """
        done = RestoreResult()
        if "files" in order.what:  # marks the start of the file operations
            begin = Checkpoint(documents=(), cells=(), order=order)
            self._log.append(session_id, begin)
            await self._log.sync()
            crash_point("restore.files.begun")
        if "notebook" in order.what:
            done = await self._restore_notebooks(session_id, order, after)
        if "files" in order.what and self._files is not None:
            behind = self._position_after(session_id, after).filter_after
            files = await restore_files(self._files, session_id, order, behind, self._ids)
            done = replace(
                done,
                documents=(*done.documents, *files.documents),
                proposals=(*done.proposals, *files.proposals),
            )
            crash_point("restore.files.done")
            done = await self._restore_returned_notebooks(session_id, order, after, done)
        return done

    def _position_after(self, session_id: SessionId, after: int) -> LogPosition:
        """Return the position after an event of the session."""
        moment = self._log.read(session_id, after, 1)[0].event.at
        events = (logged.event for logged in self._log.find(POSITION_TYPES, session_id))
        return log_position_after(events, after, moment)

    async def _restore_returned_notebooks(
        self, session_id: SessionId, order: RestoreRequest, after: int, done: RestoreResult
    ) -> RestoreResult:
        """Restore the cells of notebooks that only exist again since the files were restored."""
        missing = {
            document.document
            for document in done.documents
            if document.error is not None and document.error.code == "not_found"
        } & {document.document for document in done.documents if document.file == "returned"}
        if not missing:
            return done
        again = await self._restore_notebooks(session_id, order, after, missing)
        others = [d for d in done.documents if d.document not in missing or d.error is None]
        return replace(
            done,
            documents=(*others, *again.documents),
            proposals=(*done.proposals, *again.proposals),
        )

    async def _restore_notebooks(
        self,
        session_id: SessionId,
        order: RestoreRequest,
        after: int,
        only: Collection[str] | None = None,
    ) -> RestoreResult:
        histories = document_histories(
            self.recorded_changes(session_id), HistoryRange(after, order.turn_id)
        )
        histories = {name: histories[name] for name in histories if only is None or name in only}
        actor = Actor(session_id, order.restore_id, order=order, by="user")
        done = RestoreResult()
        for history in histories.values():
            if history.changed:
                document, conflicts = await self._restore_document(actor, history)
                proposals = [
                    self._proposal(session_id, history.document, conflict) for conflict in conflicts
                ]
                done = replace(
                    done,
                    documents=(*done.documents, _with_proposal_ids(document, proposals)),
                    proposals=(*done.proposals, *proposals),
                )
            done = replace(done, drift=(*done.drift, *await self._drift(history)))
        return done

    async def _restore_document(
        self, actor: Actor, history: DocumentHistory
    ) -> tuple[RestoredDocument, list[RestoreConflict]]:
        self._recorder.set_actor(actor)
        try:
            plan = await self._apply_plan(actor, history)
            return plan.to_document_report(history.document), plan.conflicts
        except StateUnavailable:
            raise
        except ShouldersError as error:
            log.info("%s was not put back: %s", history.document, error)
            return RestoredDocument(document=history.document, error=error.info), []
        finally:
            self._recorder.set_actor(None)

    async def _apply_plan(self, actor: Actor, history: DocumentHistory) -> RestorePlan:
        """Restore one notebook. Raises ``ShouldersError``."""
        before, stored = self._read_checkpoint(history)
        notebook = self._notebooks.open(history.document)
        await self._recorder.take_checkpoint(actor, self._unrecorded.open(history.document), ())
        for _ in range(_TRIES):
            snapshot = await self._read(notebook, history)
            plan = plan_restore(before, stored, history, snapshot.cells, merges=_is_turn(actor))
            if not plan.edits:
                return plan
            outcome = await notebook.apply(plan.edits, plan.expected)
            if not isinstance(outcome, Conflicted):
                crash_point("restore.document.applied")
                return plan
        raise Conflict(
            f"{history.document} kept changing while it was being restored.",
            hint="Try again when nothing else is changing it.",
            retryable=True,
        )

    async def _read(self, notebook: Notebook, history: DocumentHistory) -> NotebookSnapshot:
        """Read the notebook with the outputs that may be restored."""
        snapshot = await notebook.read()
        touched = {cell_id for cell_id, cell in history.cells.items() if cell.outputs_touched}
        wanted = _present_cells(snapshot, touched)
        return await notebook.read(wanted) if wanted else snapshot

    def _read_checkpoint(
        self, history: DocumentHistory
    ) -> tuple[StoredNotebook, dict[CellId, tuple[StoredCell, StoredCell]]]:
        """Return the stored state of the document. Raises ``Conflict`` when it is missing."""
        if history.text is None:
            raise Conflict(f"The earlier text of {history.document} is no longer stored.")
        text = read_stored_notebook(self._blobs.get(history.text))
        stored = {
            cell_id: (self._cell(cell.first), self._cell(cell.last))
            for cell_id, cell in history.cells.items()
            if cell.first is not None and cell.last is not None
        }
        return text, stored

    def _cell(self, blob: BlobHash) -> StoredCell:
        return read_stored_cell(self._blobs.get(blob))

    async def _drift(self, history: DocumentHistory) -> list[KernelDrift]:
        if not history.runs:
            return []
        kernel = await self._recorder.kernel_generation(history.document)
        found = find_kernel_drift(history.document, history.runs, kernel)
        return [found] if found else []

    def _proposal(
        self, session_id: SessionId, document: str, conflict: RestoreConflict
    ) -> Proposal:
        return Proposal(
            id=ProposalId(self._ids.new("proposal")),
            session_id=session_id,
            turn_id=None,
            document=document,
            cell_id=conflict.cell.id,
            old=conflict.ours,
            new=conflict.before,
            current=conflict.cell.source,
            current_version=conflict.cell.version,
            reason=_REASON,
            state="proposed",
        )


def _is_turn(actor: Actor) -> bool:
    return actor.order is not None and actor.order.turn_id is not None


def _present_cells(snapshot: NotebookSnapshot, cells: Collection[CellId]) -> list[CellId]:
    return [cell_id for cell_id in cells if snapshot.position(cell_id) is not None]


def _with_proposal_ids(document: RestoredDocument, proposals: list[Proposal]) -> RestoredDocument:
    """Return the report with the ids of the proposals for kept cells."""
    ids = {proposal.cell_id: proposal.id for proposal in proposals}
    kept = tuple(
        cell.model_copy(update={"proposal_id": ids.get(cell.cell_id)}) for cell in document.kept
    )
    return document.model_copy(update={"kept": kept})
