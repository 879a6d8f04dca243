"""Restores files as part of a restore or the undo of a turn. Used by ``changes.restore.restorer``.

``files.undo.file_undo`` does the work from the operation log; this module turns its report into
that of a restore.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.files.base import ChangeOrigin
from jupyter_ai_shoulders.files.undo.file_undo import (
    Chosen,
    FileUndo,
    KeptChange,
    UndoConflict,
    UndoneChange,
)
from jupyter_ai_shoulders.wire.edits import Proposal
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.event_types.restore import FileOutcome, RestoreRequest
from jupyter_ai_shoulders.wire.events import RestoredDocument
from jupyter_ai_shoulders.wire.ids import ProposalId, SessionId, TurnId
from jupyter_ai_shoulders.wire.operations import Operation

_REASON = "The file was changed after the agent changed it. This is its text from before."
_OUTCOMES: dict[str, FileOutcome] = {
    "edit": "rewritten",
    "create": "removed",
    "copy": "removed",
    "delete": "returned",
    "move": "moved",
    "command": "rewritten",
    "database": "rewritten",
    "memory": "rewritten",
}


@dataclass(frozen=True, slots=True)
class FileRestoreResult:
    """The outcome of restoring files."""

    documents: tuple[RestoredDocument, ...] = ()
    proposals: tuple[Proposal, ...] = ()


async def restore_files(
    undo: FileUndo, session_id: SessionId, order: RestoreRequest, chosen: Chosen, ids: IdSource
) -> FileRestoreResult:
    """Undo the file changes of a turn, or the chosen ones of a session.

    The restore's own changes are logged under a turn with its id, so that it can be undone too.
    Raises ``StateUnavailable``.
    """
    origin = ChangeOrigin(session_id, TurnId(order.restore_id), by="user")
    if order.turn_id is None:
        report = await undo.undo_those(session_id, chosen, origin)
    else:
        report = await undo.undo_turn(session_id, order.turn_id, origin)
    proposals = {
        kept.operation.id: _proposal(kept.clash, session_id, ids)
        for kept in report.kept
        if kept.clash is not None
    }
    documents = {document.document: document for document in _done(report.undone)}
    for kept in report.kept:
        proposal = proposals.get(kept.operation.id)
        name = _name(kept.operation)
        known = documents.get(name)
        if known is None or known.proposal_id is None:
            documents[name] = _kept(kept, name, proposal)
    return FileRestoreResult(tuple(documents.values()), tuple(proposals.values()))


def _done(undone: Iterable[UndoneChange]) -> list[RestoredDocument]:
    """Return the outcome of each file; the earliest change of a file was undone last."""
    found: dict[str, RestoredDocument] = {}
    for each in undone:
        outcome = _OUTCOMES.get(each.operation.kind)
        if outcome is None or each.operation.document.endswith("/"):
            continue  # folders are removed with their files
        name = _name(each.operation)
        before = found.get(name)
        merged = each.merged or (before is not None and before.file == "merged")
        if outcome == "rewritten" and merged:
            outcome = "merged"
        found[name] = RestoredDocument(document=name, file=outcome)
    return list(found.values())


def _kept(kept: KeptChange, name: str, proposal: Proposal | None) -> RestoredDocument:
    if proposal is not None:
        return RestoredDocument(document=name, file="kept", proposal_id=proposal.id)
    return RestoredDocument(
        document=name, error=ErrorInfo(code="conflict", message=kept.reason, hint=None)
    )


def _name(operation: Operation) -> str:
    if operation.kind == "copy" and operation.new_document is not None:
        return operation.new_document
    return operation.document


def _proposal(clash: UndoConflict, session_id: SessionId, ids: IdSource) -> Proposal:
    return Proposal(
        id=ProposalId(ids.new("proposal")),
        session_id=session_id,
        turn_id=None,
        document=clash.document,
        cell_id=None,
        old=clash.ours,
        new=clash.before,
        current=clash.current.text,
        current_version=clash.current.version,
        reason=_REASON,
        state="proposed",
    )
