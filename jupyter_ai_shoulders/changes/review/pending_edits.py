"""The edits that await review: told of by the log, grown by each change (chapter 07).

``PendingEdits`` is the ``ChangeObserver`` of files and notebooks. It costs an edit two blobs and
one event, and no sync. What is pending is a fold of ``edit-pending`` and ``edit-resolve``, taken up
at the start; one edit for each file or cell, in the session that changed it last. Made by
``host.documents.review``; ``changes.review.service`` decides.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from jupyter_ai_shoulders.changes.recording.snapshots import title_of
from jupyter_ai_shoulders.changes.remaining_hunks import (
    accept_foreign_changes,
    remove_agent_changes,
    rough_hunks,
)
from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import NotFound, StateUnavailable
from jupyter_ai_shoulders.files.base import ChangeOrigin
from jupyter_ai_shoulders.storage.base import Blobs, EventLog
from jupyter_ai_shoulders.wire.events import Author, EditPending, EditResolve, Event
from jupyter_ai_shoulders.wire.ids import (
    BlobHash,
    CallId,
    CellId,
    EditId,
    SessionId,
    TurnId,
    Version,
)
from jupyter_ai_shoulders.wire.versions import cell_version, text_version

log = logging.getLogger(__name__)

KINDS = frozenset({"edit-pending", "edit-resolve"})
Decision = Literal["keep", "undo"]
Key = tuple[str, CellId | None]
"""A document and a cell of it, or a file as a whole."""


@dataclass(frozen=True, slots=True)
class TrackedEdit:
    """One pending edit: what the user last had or accepted, and what the agent left."""

    id: EditId
    session_id: SessionId
    turn_id: TurnId | None
    call_id: CallId | None
    document: str
    cell_id: CellId | None
    before: BlobHash | None
    after: BlobHash | None
    at: str = ""

    @property
    def key(self) -> Key:
        """What was changed."""
        return self.document, self.cell_id


class PendingEdits:
    """Knows the pending edits of all sessions. Its calls block for a commit only."""

    def __init__(self, event_log: EventLog, blobs: Blobs, ids: IdSource) -> None:
        self._log = event_log
        self._blobs = blobs
        self._ids = ids
        self._units: dict[Key, TrackedEdit] = {}

    # what there is

    async def load(self) -> None:
        """Learn from the log what is pending. Raises ``StateUnavailable``."""
        units: dict[EditId, TrackedEdit] = {}
        for page in self._log.pages(KINDS):
            apply_events(units, (logged.event for logged in page))
            await asyncio.sleep(0)
        self._units = {}
        for unit in sorted(units.values(), key=lambda unit: unit.at):
            self._add(unit)

    def reload_session(self, session_id: SessionId) -> None:
        """Learn what is pending in a session that was deleted and is not any more."""
        units: dict[EditId, TrackedEdit] = {}
        apply_events(units, (logged.event for logged in self._log.find(KINDS, session_id)))
        for unit in units.values():
            self._units.setdefault(unit.key, unit)

    def units(self, document: str | None = None) -> list[TrackedEdit]:
        """Return what is pending, in one document or in all."""
        return [unit for unit in self._units.values() if document in {None, unit.document}]

    def get(self, edit_id: EditId) -> TrackedEdit:
        """Return a pending edit. Raises ``NotFound``, also for one that was decided."""
        for unit in self._units.values():
            if unit.id == edit_id:
                return unit
        raise NotFound(
            f"Edit {edit_id} is no longer pending.", hint="It was already kept or undone. Refresh."
        )

    def is_pending(self, unit: TrackedEdit) -> bool:
        """Return whether the edit still awaits review just as it is here."""
        return self._units.get(unit.key) == unit

    def texts(self, unit: TrackedEdit) -> tuple[str | None, str | None]:
        """Return the text before and after. Raises ``NotFound``, ``StateUnavailable`` (damaged)."""
        return self._text(unit.before), self._text(unit.after)

    # what happens

    def changed(
        self,
        origin: ChangeOrigin,
        document: str,
        cell_id: str | None,
        before: str | None,
        after: str | None,
    ) -> None:
        """Take note of a change; None before: the text was made, None after: it is gone.

        What the user had done by us (``by``) makes nothing new to review; a batch of it takes
        something back, and what is left then is the agent's. Raises ``StateUnavailable``.
        """
        cell = None if cell_id is None else CellId(cell_id)
        unit = self._units.get((document, cell))
        if origin.session_id is None or (origin.by == "user" and not origin.review):
            if unit is not None:
                self._apply_user_change(unit, origin, before, after)
            return
        if cell is None and document.endswith(".ipynb"):
            return  # notebooks are reviewed cell by cell
        baseline = before if unit is None else self._baseline(unit, before)
        if baseline == after:
            if unit is not None:
                self.resolve(unit, "undo", "agent")
            return
        self._note(unit, origin, document, cell, (baseline, after))

    def renamed(self, old: str, new: str) -> None:
        """Let what is pending follow a file or a folder.

        What awaited review below the new name is of a text that is not there any more: it is kept.
        Raises ``StateUnavailable``; what could not be written down is pending as it was.
        """
        for unit in self.units():
            if unit.document == old or unit.document.startswith(f"{old}/"):
                self._follow(unit, replace(unit, document=new + unit.document[len(old) :]))

    def _follow(self, unit: TrackedEdit, moved: TrackedEdit) -> None:
        replaced = self._units.get(moved.key)
        try:
            self._append(moved, self._texts_if_there(unit) or (None, None))
        except NotFound:
            log.debug(
                "The session of edit %s is deleted; brought back, it has the old name", unit.id
            )
            return
        self._units.pop(unit.key, None)
        crash_point("review.edit.moved")
        if replaced is not None and replaced.id != moved.id:
            self._append_resolve(replaced, "keep", None, "system")

    def update_remainder(
        self, unit: TrackedEdit, baseline: str | None, current: str | None
    ) -> TrackedEdit:
        """Note what is left of an edit once a part of it was decided. Raises as ``changed``."""
        return self._append(
            replace(unit, before=self._blob(baseline), after=self._blob(current)),
            (baseline, current),
        )

    def record_partial_decision(
        self, unit: TrackedEdit, decision: Decision, hunks: tuple[int, ...], by: Author
    ) -> None:
        """Write down that a part of an edit was decided. Raises ``StateUnavailable``."""
        self._append_resolve(unit, decision, hunks, by)

    def resolve(self, unit: TrackedEdit, decision: Decision, by: Author) -> None:
        """Write down that an edit was decided. Raises ``StateUnavailable``."""
        self._append_resolve(unit, decision, None, by)
        crash_point("review.edit.resolved")
        if self._units.get(unit.key, unit).id == unit.id:
            self._units.pop(unit.key, None)

    def _apply_user_change(
        self, unit: TrackedEdit, origin: ChangeOrigin, current: str | None, after: str | None
    ) -> None:
        """Take note of what the user had done to a text that stood as ``current``.

        What they had written in it since the agent's change stays theirs.
        """
        texts = self._texts_if_there(unit)
        if texts is None:
            return
        before, left = texts
        baseline = self._baseline(unit, current)
        if after in {before, baseline}:
            self.resolve(unit, "undo", "user")
        elif (origin.batch or origin.undoes) and after != left:
            written = self._find_written_lines(unit)
            self.update_remainder(unit, accept_foreign_changes(baseline, after, written), after)

    def _find_written_lines(self, unit: TrackedEdit) -> set[str]:
        """Return the lines that the agent ever wrote in a text."""
        lines: set[str] = set()
        for logged in self._log.find({"edit-pending"}, unit.session_id):
            event = logged.event
            if isinstance(event, EditPending) and _unit(event).key == unit.key:
                before, after = self._texts_if_there(_unit(event)) or (None, None)
                lines |= {*(after or "").split("\n")} - {*(before or "").split("\n")}
        return lines

    def _baseline(self, unit: TrackedEdit, current: str | None) -> str | None:
        """Return what the user had, with what he changed since, below the next change."""
        texts = self._texts_if_there(unit)
        if texts is None:
            return current  # it begins anew
        before, after = texts
        if current == after:
            return before
        if after is None or current is None:
            return current  # brought back, or taken away, by the user
        return remove_agent_changes(before, after, current).baseline

    def _note(
        self,
        unit: TrackedEdit | None,
        origin: ChangeOrigin,
        document: str,
        cell_id: CellId | None,
        texts: tuple[str | None, str | None],
    ) -> None:
        assert origin.session_id is not None
        own = unit is not None and unit.session_id == origin.session_id
        self._append(
            TrackedEdit(
                id=unit.id if unit is not None and own else EditId(self._ids.new("edit")),
                session_id=origin.session_id,
                turn_id=origin.turn_id,
                call_id=origin.call_id,
                document=document,
                cell_id=cell_id,
                before=self._blob(texts[0]),
                after=self._blob(texts[1]),
            ),
            texts,
        )
        crash_point("review.edit.noted")
        if unit is not None and not own:  # it goes over to the session that changed it last
            self._append_resolve(unit, "keep", None, "system")

    def _texts_if_there(self, unit: TrackedEdit) -> tuple[str | None, str | None] | None:
        """Return both texts; None where one is lost or damaged."""
        try:
            return self.texts(unit)
        except (NotFound, StateUnavailable):
            log.warning("The texts of edit %s are lost", unit.id, exc_info=True)
            return None

    def _append(self, unit: TrackedEdit, texts: tuple[str | None, str | None]) -> TrackedEdit:
        before, after = texts
        event = EditPending(
            turn_id=unit.turn_id,
            edit_id=unit.id,
            call_id=unit.call_id,
            document=unit.document,
            cell_id=unit.cell_id,
            before_version=version_of(before, unit.cell_id),
            after_version=version_of(after, unit.cell_id),
            hunks=rough_hunks(before, after),
            before=unit.before,
            after=unit.after,
            title=_title(unit, before if after is None else after),
        )
        logged = self._log.append(unit.session_id, event)
        logged_edit = replace(unit, at=logged.event.at)
        self._units[logged_edit.key] = logged_edit
        return logged_edit

    def _append_resolve(
        self, unit: TrackedEdit, decision: Decision, hunks: tuple[int, ...] | None, by: Author
    ) -> None:
        event = EditResolve(
            turn_id=unit.turn_id,
            edit_id=unit.id,
            decision=decision,
            hunks=hunks,
            by=by,
            document=unit.document,
        )
        try:
            self._log.append(unit.session_id, event)
        except NotFound:
            log.debug("The session of edit %s is deleted", unit.id)

    def _add(self, unit: TrackedEdit) -> None:
        """Take up an edit; of two of one text, which a kill can leave, the later one counts."""
        earlier = self._units.get(unit.key)
        if earlier is not None:
            self._append_resolve(earlier, "keep", None, "system")
        self._units[unit.key] = unit

    def _blob(self, text: str | None) -> BlobHash | None:
        return None if text is None else self._blobs.put(text.encode("utf-8", "surrogatepass"))

    def _text(self, blob: BlobHash | None) -> str | None:
        return None if blob is None else self._blobs.get(blob).decode("utf-8", "surrogatepass")


def apply_events(units: dict[EditId, TrackedEdit], events: Iterable[Event]) -> None:
    """Bring ``units`` up to these events, in place; edits in copied conversations are not edits."""
    for event in events:
        match event:
            case EditPending() if not event.edit_id.endswith(f".{event.session_id}"):
                units[event.edit_id] = _unit(event)
            case EditResolve(hunks=None):
                units.pop(event.edit_id, None)
            case _:
                pass


def _unit(event: EditPending) -> TrackedEdit:
    return TrackedEdit(
        id=event.edit_id,
        session_id=event.session_id,
        turn_id=event.turn_id,
        call_id=event.call_id,
        document=event.document,
        cell_id=event.cell_id,
        before=event.before,
        after=event.after,
        at=event.at,
    )


def _title(unit: TrackedEdit, text: str | None) -> str:
    return "" if unit.cell_id is None or text is None else title_of(text)


def version_of(text: str | None, cell_id: CellId | None) -> Version | None:
    """Return the version of a cell's or a file's text, None of what is not there."""
    if text is None:
        return None
    return text_version(text) if cell_id is None else cell_version(text)
