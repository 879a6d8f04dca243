"""Shows the agent's edits in the other pages that have a notebook open.

Used by ``notebook.backends.live.edit_delivery``. An edit is made in one page. The others receive it
at once, merged by lines with what was typed there, so that no page shows text that the agent has
replaced. Where both changed the same lines the other page keeps its text and says that the notebook
is open in another window; the next save in either page merges both texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from jupyter_ai_shoulders.core.text_merge import merge_texts
from jupyter_ai_shoulders.live_documents.page_requests import PageAnswer, PageTransport
from jupyter_ai_shoulders.notebook.backends.live.notebook_claims import NotebookClaim
from jupyter_ai_shoulders.notebook.backends.live.notebook_requests import NotebookRequests
from jupyter_ai_shoulders.notebook.backends.live.unsaved_edits import (
    UnsavedEdit,
    nearest_known_cell,
)
from jupyter_ai_shoulders.wire.frames import CellConflict, DocumentConflict, DocumentElsewhere
from jupyter_ai_shoulders.wire.ids import CellId, Version
from jupyter_ai_shoulders.wire.notebooks import (
    CellDelete,
    CellEdit,
    CellInsert,
    CellMove,
    CellSource,
)
from jupyter_ai_shoulders.wire.versions import cell_version

TRIES = 4
"""Attempts to merge an edit while the user keeps typing."""


@dataclass(frozen=True, slots=True)
class AppliedEdits:
    """Edits that a page applied, the texts and versions they were based on, and its cell order."""

    edits: tuple[CellEdit, ...]
    bases: Mapping[CellId, str]
    versions: Mapping[CellId, Version]
    order: tuple[CellId, ...]


@dataclass(frozen=True, slots=True)
class AdaptedEdits:
    """The edits that apply to a page, and the cells where edits do not."""

    edits: tuple[CellEdit, ...]
    expected: Mapping[CellId, Version]
    conflicting: tuple[CellId, ...]


class EditBroadcaster:
    """Sends edits to the pages that do not own a notebook."""

    def __init__(self, requests: NotebookRequests, transport: PageTransport) -> None:
        self._requests = requests
        self._transport = transport

    def show(self, claim: NotebookClaim, shown: AppliedEdits) -> None:
        """Send edits to a page, adapted to its last announced state."""
        self._send(claim, shown, _texts_of(claim), TRIES)

    def _send(
        self,
        claim: NotebookClaim,
        shown: AppliedEdits,
        texts: Mapping[CellId, str | None],
        tries: int,
    ) -> None:
        fitted = adapt_edits(shown, texts)
        if fitted.conflicting:
            self._notify_conflicts(claim, fitted.conflicting)
        if fitted.edits:
            again = partial(self._answered, claim, shown, texts, tries - 1)
            self._requests.apply_copy(claim, fitted.edits, fitted.expected, again)

    def _answered(
        self,
        claim: NotebookClaim,
        shown: AppliedEdits,
        texts: Mapping[CellId, str | None],
        tries: int,
        answer: PageAnswer,
    ) -> None:
        if not isinstance(answer, DocumentConflict):
            return
        if tries <= 0 or any(conflict.reason == "protected" for conflict in answer.conflicts):
            self._notify_conflicts(claim, [conflict.cell_id for conflict in answer.conflicts])
            return
        self._send(claim, shown, _with_conflicts(texts, answer.conflicts), tries)

    def _notify_conflicts(self, claim: NotebookClaim, cells: Sequence[CellId]) -> None:
        frame = DocumentElsewhere(path=claim.page_path, cells=tuple(cells))
        self._transport.send(claim.client, frame)


def adapt_edits(shown: AppliedEdits, texts: Mapping[CellId, str | None]) -> AdaptedEdits:
    """Return the edits adapted to a page whose cells have these texts (None: unknown)."""
    edits: list[CellEdit] = []
    expected: dict[CellId, Version] = {}
    conflicting: list[CellId] = []
    known = set(texts)
    for edit in shown.edits:
        cell_id = edit.cell_id
        made = _fitted(edit, shown, texts, known)
        if made is None:
            if cell_id in texts and not isinstance(edit, CellInsert):
                conflicting.append(cell_id)
            continue
        text = texts.get(cell_id)
        if isinstance(made, CellSource) and made.source == text:
            continue
        edits.append(made)
        if isinstance(made, CellInsert):
            known.add(cell_id)
        if isinstance(made, CellSource | CellDelete) and text is not None:
            expected[cell_id] = cell_version(text)
    return AdaptedEdits(tuple(edits), expected, tuple(dict.fromkeys(conflicting)))


def _fitted(
    edit: CellEdit, shown: AppliedEdits, texts: Mapping[CellId, str | None], known: set[CellId]
) -> CellEdit | None:
    """Return the adapted edit; None where it does not apply."""
    is_there = edit.cell_id in known
    match edit:
        case CellInsert() if is_there:
            return None
        case CellMove() if not is_there:
            return None
        case CellInsert() | CellMove():
            after = nearest_known_cell(edit.after, shown.order, known)
            return edit.model_copy(update={"after": after})
        case CellSource() if edit.cell_id in texts:
            return _merged(edit, texts[edit.cell_id], shown.bases.get(edit.cell_id))
        case CellDelete() if (text := texts.get(edit.cell_id)) is not None:
            fits = cell_version(text) == shown.versions.get(edit.cell_id)
            return edit if fits else None
        case _:
            return edit if is_there else None


def _merged(edit: CellSource, text: str | None, base: str | None) -> CellSource | None:
    if text is None or base is None:
        return None
    merged = merge_texts(base, text, edit.source)
    return None if merged is None else edit.model_copy(update={"source": merged})


def applied_edits(
    edits: Sequence[CellEdit], inverse: Sequence[CellEdit], claim: NotebookClaim
) -> AppliedEdits:
    """Return edits that a page applied, with their inverse."""
    bases = {
        edit.cell_id: edit.source
        for edit in reversed(inverse)
        if isinstance(edit, CellSource | CellInsert)
    }
    versions = {cell_id: Version(cell_version(text)) for cell_id, text in bases.items()}
    return AppliedEdits(tuple(edits), bases, versions, claim.order)


def reapplied_edit(entry: UnsavedEdit, claim: NotebookClaim) -> AppliedEdits:
    """Return an edit that a page applied earlier and has not saved."""
    cell_id = entry.edit.cell_id
    bases = {} if entry.base is None else {cell_id: entry.base}
    versions = {} if entry.before is None else {cell_id: entry.before}
    return AppliedEdits((entry.edit,), bases, versions, claim.order)


def _texts_of(claim: NotebookClaim) -> dict[CellId, str | None]:
    return {cell.id: cell.source for cell in claim.cells}


def _with_conflicts(
    texts: Mapping[CellId, str | None], conflicts: Sequence[CellConflict]
) -> dict[CellId, str | None]:
    """Return the texts with those that a page reported in conflicts."""
    now = dict(texts)
    for conflict in conflicts:
        if conflict.reason == "deleted":
            now.pop(conflict.cell_id, None)
        else:
            now[conflict.cell_id] = conflict.current
    return now
