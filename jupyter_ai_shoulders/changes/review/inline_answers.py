"""Writes the answer of an inline conversation into its cell, as a pending edit.

Used by *Fix & run*: one click permits the change of one cell, and this module changes no other.
Made by ``host.build``; called by the handler of ``sessions/{id}/cell-text``.
"""

from __future__ import annotations

import asyncio

from jupyter_ai_shoulders.changes.recording.actor import Actor
from jupyter_ai_shoulders.changes.recording.recorder import ChangeRecorder
from jupyter_ai_shoulders.changes.recording.recording_wrappers import RecordedNotebooks
from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound
from jupyter_ai_shoulders.core.text_merge import merge_texts
from jupyter_ai_shoulders.notebook.base import Applied, Conflicted, Notebook, Notebooks
from jupyter_ai_shoulders.storage.base import EventLog
from jupyter_ai_shoulders.wire.api.commands import PutCellText
from jupyter_ai_shoulders.wire.edits import CellTextAnswer
from jupyter_ai_shoulders.wire.ids import SessionId, TurnId
from jupyter_ai_shoulders.wire.notebooks import CellSource
from jupyter_ai_shoulders.wire.sessions import Session

TRIES = 3
"""Merge attempts while the user types."""


class InlineAnswerWriter:
    """Writes the answers of inline conversations."""

    def __init__(self, event_log: EventLog, notebooks: Notebooks, recorder: ChangeRecorder) -> None:
        self._log = event_log
        self._notebooks = RecordedNotebooks(notebooks, recorder)
        self._recorder = recorder

    async def put(self, session: Session, command: PutCellText) -> CellTextAnswer:
        """Merge the change into the current cell; return its text.

        Raises ``InvalidRequest`` (not an inline conversation), ``NotFound`` (no such cell),
        ``Conflict`` (the user changed the same lines, the cell is protected) and the errors of
        reading and changing a notebook.
        """
        if session.toolset != "inline":
            raise InvalidRequest("Only an edit in place puts its answer into a cell.")
        turn_id = self._last_turn(session.id)
        self._recorder.set_actor(Actor(session.id, turn_id or session.id, turn_id))
        try:
            text = await self._write(self._notebooks.open(command.document), command)
        finally:
            self._recorder.set_actor(None)
        await self._log.sync()
        return CellTextAnswer(text=text)

    async def _write(self, notebook: Notebook, command: PutCellText) -> str:
        for _ in range(TRIES):
            cell = (await notebook.read()).cell(command.cell_id)
            if cell is None:
                raise NotFound(f"{notebook.path} no longer has this cell.", code="cell_not_found")
            text = await asyncio.to_thread(merge_texts, command.base, cell.source, command.text)
            if text is None:
                break
            if text == cell.source:
                return text
            edit = CellSource(cell_id=cell.id, source=text)
            outcome = await notebook.apply([edit], {cell.id: cell.version})
            if isinstance(outcome, Applied):
                return text
            _refuse_protected(outcome)
        raise Conflict(
            "You changed the same lines; the cell was left as it is.",
            code="stale",
            hint="Run it again, or try again.",
        )

    def _last_turn(self, session_id: SessionId) -> TurnId | None:
        started = self._log.find(["turn-start"], session_id)
        return started[-1].event.turn_id if started else None


def _refuse_protected(outcome: Conflicted) -> None:
    if outcome.conflicts[0].reason == "protected":
        raise Conflict(
            "The cell is locked: its metadata does not allow edits.", code="cell_protected"
        )
