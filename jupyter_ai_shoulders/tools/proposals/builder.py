"""Text lookup and proposal creation, shared by the tools that propose changes.

Used by ``create_proposal`` and ``propose_edit``; proposals are applied by
``changes.proposals.service``.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.tools.base import CallContext, CallSubject, Result, Target, text_content
from jupyter_ai_shoulders.tools.editing.diff import bounded_diff
from jupyter_ai_shoulders.tools.editing.read_cache import ReadTextCache, known_text
from jupyter_ai_shoulders.tools.editing.text_replacement import AmbiguousMatch, NoMatch
from jupyter_ai_shoulders.tools.editing.three_way_merge import (
    SAME_LINES,
    ConflictingEdit,
    MergedText,
    MergeOutcome,
    MissingBaseText,
    RequestedEdit,
    merge_edit,
    user_changes_diff,
    user_changes_text,
)
from jupyter_ai_shoulders.tools.files.access import FileAccess, NothingAtPath
from jupyter_ai_shoulders.tools.files.edit import no_such_file
from jupyter_ai_shoulders.tools.files.read_tracking import HIDDEN_SECRET, no_replacement
from jupyter_ai_shoulders.tools.notebook.access import NotebookAccess, failure_result, file_name
from jupyter_ai_shoulders.wire.edits import Proposal
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import CellId, ProposalId, Version
from jupyter_ai_shoulders.wire.results import ToolEnvelope

LISTED_LINES = 20


@dataclass(frozen=True, slots=True)
class EditableText:
    """The current text that a change is proposed for."""

    path: str
    cell_id: CellId | None
    label: str
    title: str
    text: str
    version: Version


class ProposalBuilder:
    """Finds texts and creates proposals for them."""

    def __init__(
        self, cells: NotebookAccess, files: FileAccess, ids: IdSource, texts: ReadTextCache | None
    ) -> None:
        self._texts = texts or ReadTextCache()
        self._cells = cells
        self._files = files
        self._ids = ids

    async def find(self, path: str, cell_id: CellId | None) -> EditableText:
        """Return the text of a cell or a file. Raises ``ShouldersError``."""
        if cell_id is None:
            there = await self._files.proposable(path)
            if isinstance(there, NothingAtPath):
                raise await no_such_file(self._files, there.path)
            snapshot = there.snapshot
            title = f"Propose a change to {file_name(snapshot.path)}"
            return EditableText(
                snapshot.path, None, snapshot.path, title, snapshot.text, snapshot.version
            )
        place = await self._cells.find_cell(path, cell_id)
        title = f"Propose a change to cell {place.number}"
        cell = place.cell
        return EditableText(
            place.snapshot.path, cell_id, place.label, title, cell.source, cell.version
        )

    def merge(
        self, found: EditableText, change: RequestedEdit, context: CallContext
    ) -> MergeOutcome:
        """Merge a change with the user's changes since the text was read."""
        key = (found.path, found.cell_id)
        known = known_text(self._texts, context, key, found.version, found.text)
        return merge_edit(change, found.text, known)

    async def subject(self, found: EditableText, edit: MergeOutcome) -> CallSubject:
        """Return how the call is shown, with the proposed change."""
        diff = None
        if isinstance(edit, MergedText):
            diff = await asyncio.to_thread(bounded_diff, found.text, edit.text)
        return CallSubject(
            title=found.title,
            target_label=file_name(found.path),
            target=Target(path=found.path, cell_id=found.cell_id),
            preview=diff,
            language="diff",
        )

    def result(
        self, found: EditableText, edit: MergeOutcome, reason: str, context: CallContext
    ) -> Result:
        """Return the proposal, or why there is none."""
        match edit:
            case AmbiguousMatch():
                return failure_result(_ambiguous(found, edit))
            case NoMatch():
                return no_replacement(found.label, edit)
            case MissingBaseText():
                raise AssertionError("whole texts are not proposed")
            case MergedText() | ConflictingEdit():
                if edit.hides_secret:
                    return failure_result(HIDDEN_SECRET)
        if isinstance(edit, ConflictingEdit):
            return self._proposed(found, edit, reason or SAME_LINES, context)
        if edit.text == found.text:
            return failure_result(
                ErrorInfo(
                    code="invalid_arguments",
                    message=f"{found.label} already reads like that; there is nothing to propose.",
                )
            )
        others = user_changes_diff(edit.expected, edit.text) if edit.expected != edit.text else ""
        told = "" if others == "" else f"\n{user_changes_text(others)}"
        return self._proposed(found, ConflictingEdit(found.text, edit.text), reason, context, told)

    def _proposed(
        self,
        found: EditableText,
        edit: ConflictingEdit,
        reason: str,
        context: CallContext,
        told: str = "",
    ) -> Result:
        proposal = Proposal(
            id=ProposalId(self._ids.new("proposal")),
            session_id=context.session_id,
            turn_id=context.turn_id,
            document=found.path,
            cell_id=found.cell_id,
            old=edit.old,
            new=edit.new,
            current=found.text,
            current_version=found.version,
            reason=reason,
            state="proposed",
        )
        return Result(
            envelope=ToolEnvelope(
                ok=True,
                kind="diff",
                data={"path": found.path, "cell_id": found.cell_id, "proposal_id": proposal.id},
            ),
            content=text_content(
                f"The change of {found.label} is proposed; it waits for the user, and nothing was "
                f"changed.{told}"
            ),
            proposal=proposal,
        )


def _ambiguous(found: EditableText, outcome: AmbiguousMatch) -> ErrorInfo:
    lines = ", ".join(map(str, outcome.lines[:LISTED_LINES]))
    return ErrorInfo(
        code="ambiguous",
        message=f"old_string occurs {len(outcome.lines)} times in {found.label}, beginning on "
        f"lines {lines}; nothing was proposed.",
        hint="Give more of the text around the place you mean.",
    )
