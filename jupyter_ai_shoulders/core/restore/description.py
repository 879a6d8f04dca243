"""Describes a restore, and what the kernel still holds, in words.

For the model's history, for exports, and for undoing a cell that ran. The page has its own,
translated texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from jupyter_ai_shoulders.wire.event_types.restore import CellName, FileOutcome, UnrestoredCell
from jupyter_ai_shoulders.wire.events import KernelDrift, RestoredDocument, RestorePart

_LISTED = 8
_KEPT: dict[str, str] = {
    "changed": "changed by the user since",
    "run": "run by the user since",
    "protected": "protected by their metadata",
    "unknown": "left as an unfinished run left them",
}
_FILES: dict[FileOutcome, str] = {
    "rewritten": "was given its earlier text",
    "merged": "was given its earlier text; what the user changed since stays",
    "removed": "was moved to the trash",
    "returned": "was brought back",
    "moved": "was given its earlier name",
    "kept": "was not touched, because the user changed it since",
}


class RestoreRecord(Protocol):
    """The common fields of the event and its view."""

    @property
    def what(self) -> tuple[RestorePart, ...]:
        """The requested parts."""
        ...

    @property
    def documents(self) -> tuple[RestoredDocument, ...]:
        """The restored content of each document."""
        ...

    @property
    def drift(self) -> tuple[KernelDrift, ...]:
        """What the kernels still hold."""
        ...


def describe_restore(restored: RestoreRecord) -> str:
    """Describe what was restored, what was not, and what the kernels still hold."""
    said = [describe_restored_document(document) for document in restored.documents]
    if not said:
        went = "conversation" in restored.what
        said = ["The conversation went back." if went else "There was nothing to put back."]
    return " ".join([*said, *filter(None, map(describe_kernel_drift, restored.drift))])


def describe_restored_document(document: RestoredDocument) -> str:
    """Describe the restored content of a document."""
    name = document.document
    if document.error is not None:
        return f"{name} was not put back: {document.error.message}"
    if document.file is not None:
        proposed = " Its earlier text is proposed to them." if document.proposal_id else ""
        return f"{name} {_FILES[document.file]}.{proposed}"
    done = [
        _some(document.removed, "removed"),
        _some(document.returned, "brought back"),
        _some(document.rewritten, "given their earlier text"),
        _some(document.moved, "moved back"),
        _some(document.outputs, "given their earlier outputs"),
    ]
    parts = list(filter(None, done))
    text = f"{name} was put back: {'; '.join(parts)}." if parts else f"{name} needed no change."
    kept = [_kept(document.kept, reason) for reason in _KEPT]
    return " ".join([text, *filter(None, kept)])


def describe_kernel_drift(drift: KernelDrift) -> str:
    """Describe what a kernel still holds of cells that no longer exist as they ran."""
    if not drift.cells or drift.kernel == "gone":
        return ""
    if drift.kernel == "restarted":
        return f"The kernel of {drift.document} was restarted since; it holds none of what ran."
    cells = _listed([f"“{cell.title}”" for cell in drift.cells])
    names = _listed(list(dict.fromkeys(name for cell in drift.cells for name in cell.names)))
    may = "may still hold" if drift.kernel == "unknown" else "still holds"
    defined = f", with {names}" if names else ""
    return (
        f"The kernel of {drift.document} {may} what these cells did: {cells}{defined}. "
        "Restart it, or run the cells that depend on them again."
    )


def _some(cells: Sequence[CellName], done: str) -> str:
    if not cells:
        return ""
    word = "cell" if len(cells) == 1 else "cells"
    return f"{len(cells)} {word} {done}"


def _kept(cells: Sequence[UnrestoredCell], reason: str) -> str:
    titles = [f"“{cell.title}”" for cell in cells if cell.reason == reason]
    return f"Not touched, because {_KEPT[reason]}: {_listed(titles)}." if titles else ""


def _listed(items: Sequence[str]) -> str:
    more = len(items) - _LISTED
    return ", ".join(items[:_LISTED]) + (f" and {more} more" if more > 0 else "")
