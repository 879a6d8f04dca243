"""Puts documents back to before a point of a session, but for what the user did since.

Used by ``engine.session.restore_service``. Doing it again does nothing: each plan is made of how
things are, so a restore that a kill cut off is simply done once more.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Protocol

from jupyter_ai_shoulders.changes.recording.change_history import (
    DocumentHistory,
    HistoryRange,
    document_histories,
)
from jupyter_ai_shoulders.changes.recording.recorder import Actor, ChangeRecorder
from jupyter_ai_shoulders.changes.recording.snapshots import (
    NotebookText,
    WholeCell,
    read_cell,
    read_notebook_text,
)
from jupyter_ai_shoulders.changes.restore.changes_since import (
    TYPES,
    LogPosition,
    log_position_after,
)
from jupyter_ai_shoulders.changes.restore.file_restore import (
    FileUndos,
    NullFileUndos,
    restore_files,
)
from jupyter_ai_shoulders.changes.restore.kernel_drift import find_kernel_drift
from jupyter_ai_shoulders.changes.restore.plan import RestoreConflict, RestorePlan, plan_restore
from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import Conflict, ShouldersError, StateUnavailable
from jupyter_ai_shoulders.notebook.base import Conflicted, Notebook, Notebooks, NotebookSnapshot
from jupyter_ai_shoulders.storage.base import Blobs, EventLog
from jupyter_ai_shoulders.wire.edits import Proposal
from jupyter_ai_shoulders.wire.event_types.restore import RestoreOrder
from jupyter_ai_shoulders.wire.events import Checkpoint, Event, KernelDrift, RestoredDocument
from jupyter_ai_shoulders.wire.ids import BlobHash, CellId, ProposalId, SessionId

log = logging.getLogger(__name__)

RECORD = frozenset({"checkpoint", "cells-change"})
"""The types of the events that say what was done to documents."""
_TRIES = 3
"""How often a notebook is read anew when somebody changes it meanwhile."""
_REASON = "You changed the cell after the agent did. This is its text from before."


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """What became of the documents."""

    documents: tuple[RestoredDocument, ...] = ()
    drift: tuple[KernelDrift, ...] = ()
    proposals: tuple[Proposal, ...] = ()


class DocumentRestorer(Protocol):
    """Puts documents back; ``Restorer``, or nothing where there are no documents."""

    def record_of(self, session_id: SessionId) -> list[Event]:
        """Return what was done to documents in a session."""
        ...

    async def put_back(
        self, session_id: SessionId, order: RestoreOrder, after: int
    ) -> RestoreResult:
        """Take back what was done by events behind ``after``, or by the turn of the order alone.

        Raises ``StateUnavailable``.
        """
        ...


class NullDocumentRestorer:
    """``DocumentRestorer`` of engines whose tools change nothing."""

    def record_of(self, session_id: SessionId) -> list[Event]:
        """Return nothing."""
        del session_id
        return []

    async def put_back(
        self, session_id: SessionId, order: RestoreOrder, after: int
    ) -> RestoreResult:
        """Do nothing."""
        del session_id, order, after
        return RestoreResult()


class Restorer:
    """Puts back the documents that a session changed."""

    def __init__(
        self,
        event_log: EventLog,
        blobs: Blobs,
        notebooks: Notebooks,
        recorder: ChangeRecorder,
        ids: IdSource,
        *,
        files: FileUndos | None = None,
    ) -> None:
        self._files = files or NullFileUndos()
        self._log = event_log
        self._blobs = blobs
        self._notebooks = recorder.notebooks(notebooks)
        self._plain = notebooks
        self._recorder = recorder
        self._ids = ids

    def record_of(self, session_id: SessionId) -> list[Event]:
        """Return what was done to documents in a session."""
        return [logged.event for logged in self._log.find(RECORD, session_id)]

    async def put_back(
        self, session_id: SessionId, order: RestoreOrder, after: int
    ) -> RestoreResult:
        """Take back what was done by events behind ``after``, or by the turn of the order alone.

        Notebooks first: one that the agent made is as it made it when it goes with the files. What
        cannot be put back is said in its document's ``error``. Raises ``StateUnavailable`` when
        the state of before cannot be kept; then nothing more is changed.
        """
        done = RestoreResult()
        if "files" in order.what:  # their operations are behind this mark
            begin = Checkpoint(documents=(), cells=(), order=order)
            self._log.append(session_id, begin)
            await self._log.sync()
            crash_point("restore.files.begun")
        if "notebook" in order.what:
            done = await self._notebooks_back(session_id, order, after)
        if "files" in order.what:
            behind = self._since(session_id, after).filter_after
            files = await restore_files(self._files, session_id, order, behind, self._ids)
            done = replace(
                done,
                documents=(*done.documents, *files.documents),
                proposals=(*done.proposals, *files.proposals),
            )
            crash_point("restore.files.done")
            done = await self._returned(session_id, order, after, done)
        return done

    def _since(self, session_id: SessionId, after: int) -> LogPosition:
        """Return the place behind an event of the session."""
        moment = self._log.read(session_id, after, 1)[0].event.at
        events = (logged.event for logged in self._log.find(TYPES, session_id))
        return log_position_after(events, after, moment)

    async def _returned(
        self, session_id: SessionId, order: RestoreOrder, after: int, done: RestoreResult
    ) -> RestoreResult:
        """Put back the cells of notebooks that were not there before the files came back."""
        missing = {
            document.document
            for document in done.documents
            if document.error is not None and document.error.code == "not_found"
        } & {document.document for document in done.documents if document.file == "returned"}
        if not missing:
            return done
        again = await self._notebooks_back(session_id, order, after, missing)
        others = [d for d in done.documents if d.document not in missing or d.error is None]
        return replace(
            done,
            documents=(*others, *again.documents),
            proposals=(*done.proposals, *again.proposals),
        )

    async def _notebooks_back(
        self,
        session_id: SessionId,
        order: RestoreOrder,
        after: int,
        only: Collection[str] | None = None,
    ) -> RestoreResult:
        told = document_histories(self.record_of(session_id), HistoryRange(after, order.turn_id))
        told = {name: told[name] for name in told if only is None or name in only}
        doer = Actor(session_id, order.restore_id, order=order, by="user")
        done = RestoreResult()
        for story in told.values():
            if story.changed:
                document, clashes = await self._tried(doer, story)
                proposals = [self._proposal(session_id, story.document, clash) for clash in clashes]
                done = replace(
                    done,
                    documents=(*done.documents, _named(document, proposals)),
                    proposals=(*done.proposals, *proposals),
                )
            done = replace(done, drift=(*done.drift, *await self._drift(story)))
        return done

    async def _tried(
        self, doer: Actor, story: DocumentHistory
    ) -> tuple[RestoredDocument, list[RestoreConflict]]:
        self._recorder.work_for(doer)
        try:
            made = await self._document(doer, story)
            return made.to_document_report(story.document), made.clashes
        except StateUnavailable:
            raise
        except ShouldersError as error:
            log.info("%s was not put back: %s", story.document, error)
            return RestoredDocument(document=story.document, error=error.info), []
        finally:
            self._recorder.work_for(None)

    async def _document(self, doer: Actor, story: DocumentHistory) -> RestorePlan:
        """Put one notebook back. Raises ``ShouldersError``."""
        before, whole = self._before(story)
        notebook = self._notebooks.open(story.document)
        await self._recorder.keep(doer, self._plain.open(story.document), ())
        for _ in range(_TRIES):
            snapshot = await self._read(notebook, story)
            made = plan_restore(before, whole, story, snapshot.cells, merges=_is_turn(doer))
            if not made.edits:
                return made
            outcome = await notebook.apply(made.edits, made.expected)
            if not isinstance(outcome, Conflicted):
                crash_point("restore.document.applied")
                return made
        raise Conflict(
            f"{story.document} kept changing while it was being restored.",
            hint="Try again when nothing else is changing it.",
            retryable=True,
        )

    async def _read(self, notebook: Notebook, story: DocumentHistory) -> NotebookSnapshot:
        """Read the notebook with the outputs that may have to go back."""
        snapshot = await notebook.read()
        touched = {cell_id for cell_id, cell in story.cells.items() if cell.outputs_touched}
        wanted = _present(snapshot, touched)
        return await notebook.read(wanted) if wanted else snapshot

    def _before(
        self, story: DocumentHistory
    ) -> tuple[NotebookText, dict[CellId, tuple[WholeCell, WholeCell]]]:
        """Return the document as it was. Raises ``Conflict`` when that was not kept."""
        if story.text is None:
            raise Conflict(f"The earlier text of {story.document} is no longer stored.")
        text = read_notebook_text(self._blobs.get(story.text))
        whole = {
            cell_id: (self._cell(cell.first), self._cell(cell.last))
            for cell_id, cell in story.cells.items()
            if cell.first is not None and cell.last is not None
        }
        return text, whole

    def _cell(self, blob: BlobHash) -> WholeCell:
        return read_cell(self._blobs.get(blob))

    async def _drift(self, story: DocumentHistory) -> list[KernelDrift]:
        if not story.runs:
            return []
        kernel = await self._recorder.incarnation(story.document)
        found = find_kernel_drift(story.document, story.runs, kernel)
        return [found] if found else []

    def _proposal(self, session_id: SessionId, document: str, clash: RestoreConflict) -> Proposal:
        return Proposal(
            id=ProposalId(self._ids.new("proposal")),
            session_id=session_id,
            turn_id=None,
            document=document,
            cell_id=clash.cell.id,
            old=clash.ours,
            new=clash.before,
            current=clash.cell.source,
            current_version=clash.cell.version,
            reason=_REASON,
            state="proposed",
        )


def _is_turn(doer: Actor) -> bool:
    return doer.order is not None and doer.order.turn_id is not None


def _present(snapshot: NotebookSnapshot, cells: Collection[CellId]) -> list[CellId]:
    return [cell_id for cell_id in cells if snapshot.position(cell_id) is not None]


def _named(document: RestoredDocument, proposals: list[Proposal]) -> RestoredDocument:
    """Return the document with the proposals its kept cells have."""
    ids = {proposal.cell_id: proposal.id for proposal in proposals}
    kept = tuple(
        cell.model_copy(update={"proposal_id": ids.get(cell.cell_id)}) for cell in document.kept
    )
    return document.model_copy(update={"kept": kept})
