"""Lists pending edits and carries out the user's decisions (see
docs/design/files-and-review.md#review).

Called by ``server.handlers.documents``; made by ``host.documents.review``. A decision about a
notebook is one undo step in it and is recorded like the agent's changes, so that restores and the
operation log include it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from jupyter_ai_shoulders.changes.remaining_hunks import accept_hunks, hunks_left, revert_hunks
from jupyter_ai_shoulders.changes.review.current_text import CurrentDocumentReader
from jupyter_ai_shoulders.changes.review.deleted_cells import DeletedCell, DeletedCells
from jupyter_ai_shoulders.changes.review.pending_edits import (
    Decision,
    PendingEdits,
    TrackedEdit,
    version_of,
)
from jupyter_ai_shoulders.changes.review.reverting import ChangeReverter, RevertRequest
from jupyter_ai_shoulders.changes.review.views import EditTexts, Settled, build_view
from jupyter_ai_shoulders.core.errors import (
    Conflict,
    InvalidRequest,
    NotFound,
    ShouldersError,
    StateUnavailable,
)
from jupyter_ai_shoulders.storage.base import EventLog
from jupyter_ai_shoulders.wire.api.commands import DecideEdit, DecideEdits, EditChoice
from jupyter_ai_shoulders.wire.edits import (
    EditConflict,
    EditDecision,
    EditDecisions,
    PendingEdit,
    PendingEditList,
)
from jupyter_ai_shoulders.wire.events import KernelDrift
from jupyter_ai_shoulders.wire.ids import CellId, EditId, SessionId

log = logging.getLogger(__name__)

LARGE = 200_000
"""Characters from which texts are compared in a thread."""
MaySee = Callable[[SessionId], bool]
ShowElsewhere = Callable[[str, CellId, str, str], None]
"""Applies the change between two texts of a cell in the other pages that show its notebook."""


class EditOutdated(Conflict):
    """The edit changed since the user saw it, or was decided: nothing was changed."""

    default_code = "stale"

    def __init__(self, message: str, edit: PendingEdit | None) -> None:
        super().__init__(message, hint="Check how it is now, then decide.")
        self.edit = edit


@dataclass(frozen=True, slots=True)
class _VisibleEdit:
    unit: TrackedEdit
    view: PendingEdit
    deleted_cell: DeletedCell | None


@dataclass(frozen=True, slots=True)
class _StoredEdit:
    """The stored texts of an edit."""

    unit: TrackedEdit
    texts: EditTexts
    deleted_cell: DeletedCell | None


class ReviewService:
    """Lists, keeps and undoes pending edits."""

    def __init__(
        self,
        *,
        pending_edits: PendingEdits,
        event_log: EventLog,
        documents: CurrentDocumentReader,
        deleted_cells: DeletedCells,
        reverting: ChangeReverter,
        session_exists: MaySee = lambda _session: True,
        show_elsewhere: ShowElsewhere | None = None,
    ) -> None:
        """``session_exists`` returns whether a session exists and is not deleted."""
        self._show_elsewhere = show_elsewhere
        self._session_exists = session_exists
        self._pending = pending_edits
        self._log = event_log
        self._documents = documents
        self._deleted_cells = deleted_cells
        self._reverting = reverting
        self._deciding = asyncio.Lock()

    async def list(
        self,
        document: str | None = None,
        session_id: SessionId | None = None,
        may_see: MaySee = lambda _session: True,
    ) -> PendingEditList:
        """Return the pending edits of the visible sessions.

        Texts equal to their baseline are left out; nothing is written. Raises ``StateUnavailable``.
        """
        units = [
            unit
            for unit in self._pending.units(document)
            if session_id in {None, unit.session_id} and self._is_visible(unit, may_see)
        ]
        units.sort(key=lambda unit: unit.document)
        edits: list[PendingEdit] = []
        for _, group in groupby(units, key=lambda unit: unit.document):
            shown = await self._visible_edits(list(group), settle=False)
            edits += [each.view for each in sorted(shown, key=_place)]
        return PendingEditList(edits=tuple(edits))

    def get(self, edit_id: EditId) -> TrackedEdit:
        """Return a pending edit. Raises ``NotFound``, also for decided edits."""
        return self._pending.get(edit_id)

    async def decide(self, edit_id: EditId, command: DecideEdit) -> EditDecision:
        """Keep or undo an edit or some of its hunks.

        Raises ``NotFound`` (also when decided already), ``EditOutdated``, ``InvalidRequest`` (no
        such hunk), ``Conflict`` (protected, page not responding) and ``StateUnavailable``.
        """
        async with self._deciding:
            unit = self._pending.get(edit_id)
            seen = EditChoice(
                id=edit_id,
                current_version=command.current_version,
                baseline_version=command.baseline_version,
            )
            if command.baseline is not None and command.decision == "undo":
                await self._undo_in_other_pages(unit, command, command.baseline)
            shown = await self._check_seen(unit, seen)
            drift: tuple[KernelDrift, ...] = ()
            if command.baseline is not None:
                self._apply_page_decision(shown, command.decision, command.baseline)
            elif command.hunks is not None:
                drift = await self._decide_hunks(shown, command.decision, command.hunks)
            else:
                drift = await self._decide_whole([shown], command.decision)
            await self._log.sync()
            left = next((u for u in self._pending.units(unit.document) if u.id == unit.id), None)
            views = [] if left is None else await self._visible_edits([left])
            return EditDecision(
                edit=views[0].view if views else None, drift=drift[0] if drift else None
            )

    async def decide_all(
        self, command: DecideEdits, may_see: MaySee = lambda _session: True
    ) -> EditDecisions:
        """Keep or undo whole edits; report those that cannot be decided. Raises as ``list``."""
        async with self._deciding:
            left: list[EditConflict] = []
            found: list[_VisibleEdit] = []
            for choice in command.edits:
                try:
                    unit = self._pending.get(choice.id)
                    if not self._is_visible(unit, may_see):
                        raise NotFound(f"Edit {choice.id} is no longer pending.")
                    shown = await self._check_seen(unit, choice)
                    if command.decision == "undo" and shown.view.error is not None:
                        left.append(EditConflict(error=shown.view.error, edit=shown.view))
                    else:
                        found.append(shown)
                except ShouldersError as error:
                    left.append(_refused(error))
            drift: list[KernelDrift] = []
            done: list[EditId] = []
            found.sort(key=lambda shown: (shown.unit.document, _place(shown)))
            for _, group in groupby(found, key=lambda shown: shown.unit.document):
                together = list(group)
                try:
                    drift += await self._decide_whole(together, command.decision)
                    done += [shown.unit.id for shown in together]
                except ShouldersError as error:
                    left += [_refused(error, shown.view) for shown in together]
            await self._log.sync()
            return EditDecisions(resolved=tuple(done), left=tuple(left), drift=tuple(drift))

    def _is_visible(self, unit: TrackedEdit, may_see: MaySee) -> bool:
        return self._session_exists(unit.session_id) and may_see(unit.session_id)

    async def _visible_edits(
        self, units: Sequence[TrackedEdit], *, settle: bool = True
    ) -> list[_VisibleEdit]:
        """Return the visible edits of one document; with ``settle``, resolve those without changes
        left.
        """
        if not units:
            return []
        document = await self._documents.read(units[0].document, [unit.cell_id for unit in units])
        known = [self._read_stored(unit) for unit in units]

        def views() -> list[PendingEdit | Settled | None]:
            return [
                build_view(each.unit, each.texts, document, each.deleted_cell) for each in known
            ]

        texts = [each.texts for each in known]
        large = sum(len(text.before or "") + len(text.after or "") for text in texts) > LARGE
        shown: list[_VisibleEdit] = []
        for each, view in zip(
            known, await asyncio.to_thread(views) if large else views(), strict=True
        ):
            if view == "settled":
                if settle and self._pending.is_pending(each.unit):
                    self._pending.resolve(each.unit, "undo", "user")
            elif view is not None:
                shown.append(_VisibleEdit(each.unit, view, each.deleted_cell))
        return shown

    def _read_stored(self, unit: TrackedEdit) -> _StoredEdit:
        """Return the stored texts; missing or damaged ones affect this edit only."""
        try:
            return _StoredEdit(
                unit, EditTexts(*self._pending.texts(unit)), self._find_deleted_cell(unit)
            )
        except (NotFound, StateUnavailable) as error:
            log.warning("What is kept of edit %s cannot be read", unit.id, exc_info=True)
            lost = StateUnavailable(
                f"The record of this change to {unit.document} cannot be read: {error}",
                hint="Keep the change, or undo it by hand.",
            )
            return _StoredEdit(
                unit, EditTexts(None, None, lost.info), self._find_deleted_cell_or_none(unit)
            )

    def _find_deleted_cell_or_none(self, unit: TrackedEdit) -> DeletedCell | None:
        """Return the deleted cell, None when it is not known."""
        try:
            return self._find_deleted_cell(unit)
        except (NotFound, StateUnavailable):
            return None

    def _find_deleted_cell(self, unit: TrackedEdit) -> DeletedCell | None:
        if unit.cell_id is None or unit.after is not None:
            return None
        return self._deleted_cells.find([unit]).get(unit.cell_id)

    async def _check_seen(self, unit: TrackedEdit, seen: EditChoice) -> _VisibleEdit:
        """Return the edit if it is unchanged since the user saw it. Raises ``EditOutdated``."""
        found = await self._visible_edits([unit])
        if not found:
            raise EditOutdated("Nothing of this edit is left to decide.", None)
        view = found[0].view
        if seen.current_version not in {None, view.current_version}:
            raise EditOutdated(f"{_name(view)} has changed since you saw the edit.", view)
        if seen.baseline_version not in {None, view.baseline_version}:
            raise EditOutdated("Part of the edit has been decided since you saw it.", view)
        return found[0]

    def _apply_page_decision(self, shown: _VisibleEdit, decision: Decision, baseline: str) -> None:
        """Record a decision a page made in its editor; the rest is relative to ``baseline``."""
        view = shown.view
        if view.error is not None:
            raise Conflict(view.error.message, hint=view.error.hint, retryable=True)
        if baseline == view.current:
            self._pending.resolve(shown.unit, decision, "user")
            return
        self._pending.record_partial_decision(shown.unit, decision, (), "user")
        self._pending.update_remainder(shown.unit, baseline, view.current)

    async def _undo_in_other_pages(
        self, unit: TrackedEdit, command: DecideEdit, baseline: str
    ) -> None:
        """Repeat in other pages what the user undid in one."""
        texts, cell_id = self._read_stored(unit).texts, unit.cell_id
        if self._show_elsewhere is None or cell_id is None:
            return
        document = await self._documents.read(unit.document, [cell_id])
        now = document.text_of(cell_id)
        if now is None or command.current_version not in {None, version_of(now, cell_id)}:
            return  # the page gets the conflict and asks again
        if texts.before is not None and texts.after is not None:
            left = hunks_left(texts.before, texts.after, baseline, now)
            self._show_elsewhere(unit.document, cell_id, texts.after, left)

    async def _decide_hunks(
        self, shown: _VisibleEdit, decision: Decision, hunks: tuple[int, ...]
    ) -> tuple[KernelDrift, ...]:
        view, chosen = shown.view, set(hunks)
        if view.kind == "word" and len(chosen) < len(view.hunks):
            raise InvalidRequest(
                f"The changes of {view.document} are kept or undone as a whole.",
                hint="Accept or reject single tracked changes in Word or LibreOffice.",
            )
        if not chosen or not chosen <= set(range(len(view.hunks))):
            raise InvalidRequest(
                f"hunks: the edit has {len(view.hunks)} hunks, from 0; {sorted(chosen)} was asked.",
                hint="Name hunks of the list that was shown, or none for the whole edit.",
            )
        assert view.baseline is not None
        assert view.current is not None
        if len(chosen) == len(view.hunks):
            return await self._decide_whole([shown], decision)
        drift: tuple[KernelDrift, ...] = ()
        baseline, current = view.baseline, view.current
        if decision == "keep":
            baseline = accept_hunks(baseline, current, view.hunks, chosen)
        else:
            current = revert_hunks(baseline, current, view.hunks, chosen)
            drift = await self._revert([(shown, current)])
        if self._pending.is_pending(shown.unit):
            self._pending.record_partial_decision(
                shown.unit, decision, tuple(sorted(chosen)), "user"
            )
            self._pending.update_remainder(shown.unit, baseline, current)
        return drift

    async def _decide_whole(
        self, found: Sequence[_VisibleEdit], decision: Decision
    ) -> tuple[KernelDrift, ...]:
        """Decide whole edits of one document."""
        drift: tuple[KernelDrift, ...] = ()
        if decision == "undo":
            drift = await self._revert([(shown, shown.view.baseline) for shown in found])
        for shown in found:
            if self._pending.is_pending(shown.unit):  # unless the change itself settled it
                self._pending.resolve(shown.unit, decision, "user")
        return drift

    async def _revert(
        self, wanted: Sequence[tuple[_VisibleEdit, str | None]]
    ) -> tuple[KernelDrift, ...]:
        """Replace texts of one document in one step. Raises ``EditOutdated`` and errors of changing
        it.
        """
        errors = [shown.view.error for shown, _ in wanted if shown.view.error is not None]
        if errors:
            raise Conflict(errors[0].message, code=errors[0].code, hint=errors[0].hint)
        requests = [
            RevertRequest(shown.unit, shown.view, text, shown.deleted_cell)
            for shown, text in wanted
            if text != shown.view.current
        ]
        if not requests:
            return ()
        done = await self._reverting.revert(requests)
        if done.is_done:
            return done.drift
        views = await self._visible_edits([wanted[0][0].unit])
        raise EditOutdated(
            f"{wanted[0][0].unit.document} was changed at this moment; nothing was undone.",
            views[0].view if views else None,
        )


def _place(shown: _VisibleEdit) -> tuple[int, bool, int, str]:
    """Return the sort key; a deleted cell comes before the cell now at its position."""
    position = -1 if shown.view.position is None else shown.view.position
    depth = 0 if shown.deleted_cell is None else len(shown.deleted_cell.above)
    return position, shown.view.current is not None, depth, shown.unit.id


def _name(view: PendingEdit) -> str:
    return view.document if view.position is None else f"Cell {view.position + 1}"


def _refused(error: ShouldersError, view: PendingEdit | None = None) -> EditConflict:
    edit = error.edit if isinstance(error, EditOutdated) else view
    return EditConflict(error=error.info, edit=edit)
