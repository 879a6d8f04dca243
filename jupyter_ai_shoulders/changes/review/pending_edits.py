"""The pending edits of all sessions, folded from the logs (see
docs/design/files-and-review.md#review).

``PendingEdits`` is the ``ChangeObserver`` of files and notebooks. A change costs two blobs and one
event, and no sync. The fold of ``edit-pending`` and ``edit-resolve`` events is loaded at start;
each file or cell has one edit, in the session that changed it last. Made by
``host.shared_services``; ``changes.review.service`` decides.
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
"""A document and a cell id, None for a whole file."""


@dataclass(frozen=True, slots=True)
class TrackedEdit:
    """A pending edit: the text the user last had or accepted, and the agent's text."""

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
        """The document and cell it changes."""
        return self.document, self.cell_id


class PendingEdits:
    """Holds the pending edits of all sessions. Calls block only for a commit."""

    def __init__(self, event_log: EventLog, blobs: Blobs, ids: IdSource) -> None:
        self._log = event_log
        self._blobs = blobs
        self._ids = ids
        self._units: dict[Key, TrackedEdit] = {}

    # queries

    async def load(self) -> None:
        """Load the pending edits from the log. Raises ``StateUnavailable``."""
        units: dict[EditId, TrackedEdit] = {}
        for page in self._log.pages(KINDS):
            apply_events(units, (logged.event for logged in page))
            await asyncio.sleep(0)
        self._units = {}
        for unit in sorted(units.values(), key=lambda unit: unit.at):
            self._add(unit)

    def reload_session(self, session_id: SessionId) -> None:
        """Load the pending edits of a session whose deletion was undone."""
        units: dict[EditId, TrackedEdit] = {}
        apply_events(units, (logged.event for logged in self._log.find(KINDS, session_id)))
        for unit in units.values():
            self._units.setdefault(unit.key, unit)

    def units(self, document: str | None = None) -> list[TrackedEdit]:
        """Return the pending edits of one document or of all."""
        return [unit for unit in self._units.values() if document in {None, unit.document}]

    def get(self, edit_id: EditId) -> TrackedEdit:
        """Return a pending edit. Raises ``NotFound``, also for decided edits."""
        for unit in self._units.values():
            if unit.id == edit_id:
                return unit
        raise NotFound(
            f"Edit {edit_id} is no longer pending.", hint="It was already kept or undone. Refresh."
        )

    def is_pending(self, unit: TrackedEdit) -> bool:
        """Return whether exactly this edit is still pending."""
        return self._units.get(unit.key) == unit

    def texts(self, unit: TrackedEdit) -> tuple[str | None, str | None]:
        """Return the text before and after. Raises ``NotFound``, ``StateUnavailable`` (damaged)."""
        return self._text(unit.before), self._text(unit.after)

    # changes

    def changed(
        self,
        origin: ChangeOrigin,
        document: str,
        cell_id: str | None,
        before: str | None,
        after: str | None,
    ) -> None:
        """Record a change. None for ``before`` means created, None for ``after`` deleted.

        A change by the user (``origin.by``) adds nothing to review. In a batch or an undo it
        reverts something, and what remains is the agent's. Raises ``StateUnavailable``.
        """
        cell = None if cell_id is None else CellId(cell_id)
        unit = self._units.get((document, cell))
        if origin.session_id is None or (origin.by == "user" and not origin.review):
            if unit is not None:
                self._apply_user_change(unit, origin, before, after)
            return
        if cell is None and document.endswith(".ipynb"):
            return  # reviewed per cell
        baseline = before if unit is None else self._baseline(unit, before)
        if baseline == after:
            if unit is not None:
                self.resolve(unit, "undo", "agent")
            return
        self._note(unit, origin, document, cell, (baseline, after))

    def renamed(self, old: str, new: str) -> None:
        """Move pending edits with a renamed file or folder.

        Pending edits of a replaced document are resolved as kept. Raises ``StateUnavailable``;
        edits that could not be logged keep their old path.
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
        """Record what remains of an edit after a partial decision. Raises as ``changed``."""
        return self._append(
            replace(unit, before=self._blob(baseline), after=self._blob(current)),
            (baseline, current),
        )

    def record_partial_decision(
        self, unit: TrackedEdit, decision: Decision, hunks: tuple[int, ...], by: Author
    ) -> None:
        """Record a decision on some hunks. Raises ``StateUnavailable``."""
        self._append_resolve(unit, decision, hunks, by)

    def resolve(self, unit: TrackedEdit, decision: Decision, by: Author) -> None:
        """Record a decision on the whole edit. Raises ``StateUnavailable``."""
        self._append_resolve(unit, decision, None, by)
        crash_point("review.edit.resolved")
        if self._units.get(unit.key, unit).id == unit.id:
            self._units.pop(unit.key, None)

    def _apply_user_change(
        self, unit: TrackedEdit, origin: ChangeOrigin, current: str | None, after: str | None
    ) -> None:
        """Record a change the user made to the text ``current``.

        Lines the user wrote since the agent's change stay theirs.
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
        """Return all lines the agent ever wrote in this text."""
        lines: set[str] = set()
        for logged in self._log.find({"edit-pending"}, unit.session_id):
            event = logged.event
            if isinstance(event, EditPending) and _unit(event).key == unit.key:
                before, after = self._texts_if_there(_unit(event)) or (None, None)
                lines |= {*(after or "").split("\n")} - {*(before or "").split("\n")}
        return lines

    def _baseline(self, unit: TrackedEdit, current: str | None) -> str | None:
        """Return the user's text, including later changes, as baseline of the next change."""
        texts = self._texts_if_there(unit)
        if texts is None:
            return current  # start again from the current text
        before, after = texts
        if current == after:
            return before
        if after is None or current is None:
            return current  # restored or deleted by the user
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
        if unit is not None and not own:  # the edit moves to the session that changed the text last
            self._append_resolve(unit, "keep", None, "system")

    def _texts_if_there(self, unit: TrackedEdit) -> tuple[str | None, str | None] | None:
        """Return both texts; None where one is missing or damaged."""
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
        """Add an edit. Of two for one text, which a crash can leave, the later wins."""
        earlier = self._units.get(unit.key)
        if earlier is not None:
            self._append_resolve(earlier, "keep", None, "system")
        self._units[unit.key] = unit

    def _blob(self, text: str | None) -> BlobHash | None:
        return None if text is None else self._blobs.put(text.encode("utf-8", "surrogatepass"))

    def _text(self, blob: BlobHash | None) -> str | None:
        return None if blob is None else self._blobs.get(blob).decode("utf-8", "surrogatepass")


def apply_events(units: dict[EditId, TrackedEdit], events: Iterable[Event]) -> None:
    """Apply events to ``units`` in place, ignoring edits in copied conversations."""
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
    """Return the version of a cell's or file's text, None for a missing one."""
    if text is None:
        return None
    return text_version(text) if cell_id is None else cell_version(text)
