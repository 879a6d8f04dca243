"""Describes the undo of a turn, in the side panel's words. Pure.

Used by ``review`` and ``chat_session``.
"""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_ai_shoulders.core.restore.description import describe_kernel_drift
from jupyter_ai_shoulders.wire.event_types.restore import RestoredDocument, UnrestoredCell
from jupyter_ai_shoulders.wire.events import Event, Restore, TurnStart
from jupyter_ai_shoulders.wire.ids import TurnId

_CELLS = (
    ("removed", "cell removed", "cells removed"),
    ("returned", "cell restored", "cells restored"),
    ("rewritten", "cell text restored", "cell texts restored"),
    ("moved", "cell moved back", "cells moved back"),
    ("outputs", "cell with its outputs restored", "cells with their outputs restored"),
)
_FILES = {
    "rewritten": "file text restored",
    "merged": "file text restored; your later changes are kept",
    "removed": "file moved to the trash",
    "returned": "file restored",
    "moved": "file name restored",
    "kept": "file kept: you have changed it since",
}
_PROPOSED = ". Its earlier text is proposed: /review"


def last_turn(events: Sequence[Event]) -> TurnId | None:
    """Return the last turn of a conversation."""
    turns = (event.turn_id for event in reversed(events) if isinstance(event, TurnStart))
    return next(turns, None)


def find_undo(events: Sequence[Event], turn_id: TurnId) -> Restore | None:
    """Return the event that undid a turn, unless it was reverted."""
    restores = [event for event in events if isinstance(event, Restore)]
    back = {event.undone for event in restores if event.undone is not None}
    standing = (event for event in restores if event.restore_id not in back)
    return next((event for event in standing if event.undone_turn == turn_id), None)


def undo_summary_lines(restore: Restore) -> list[str]:
    """Return a line for each restored document."""
    lines = [
        f"{document.document}: {line}"
        for document in restore.documents
        for line in _document_lines(document)
    ]
    drifts = filter(None, map(describe_kernel_drift, restore.drift))
    return [*(lines or ["There was nothing to restore."]), *drifts]


def _document_lines(document: RestoredDocument) -> list[str]:
    if document.error is not None:
        return [f"not restored: {document.error.message}"]
    if document.file is not None:
        return [_FILES[document.file] + (_PROPOSED if document.proposal_id else "")]
    counts = [(len(getattr(document, name)), one, more) for name, one, more in _CELLS]
    lines = [f"{count} {one if count == 1 else more}" for count, one, more in counts if count]
    return [*lines, *map(_kept_line, document.kept)] or ["no changes needed"]


def _kept_line(cell: UnrestoredCell) -> str:
    match cell.reason:
        case "changed":
            proposed = _PROPOSED if cell.proposal_id else ""
            return f"“{cell.title}” was kept: you have changed it since{proposed}"
        case "run":
            return f"“{cell.title}” kept its outputs: you have run it since"
        case "protected":
            return f"“{cell.title}” was kept: it is protected"
        case "unknown":
            return f"“{cell.title}” kept its outputs: their source is unknown"
