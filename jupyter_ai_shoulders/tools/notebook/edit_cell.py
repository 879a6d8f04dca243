"""The tool that changes the source of a cell."""

from __future__ import annotations

import difflib
from collections.abc import AsyncIterator

from pydantic import Field, model_validator

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.redaction.redactor import MASK
from jupyter_ai_shoulders.notebook.base import Applied
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Effect,
    Progress,
    Result,
    Target,
    ToolArguments,
    text_content,
)
from jupyter_ai_shoulders.tools.editing.text_replacement import (
    AmbiguousMatch,
    NoMatch,
    Replacement,
    replace_once,
)
from jupyter_ai_shoulders.tools.editing.three_way_merge import (
    ATTEMPTS,
    SAME_LINES,
    ConflictingEdit,
    MergedText,
    MergeOutcome,
    MissingBaseText,
    RequestedEdit,
    UnmergedEdit,
    merge_edit,
)
from jupyter_ai_shoulders.tools.notebook.access import (
    CellReadTracker,
    LocatedCell,
    NotebookAccess,
    conflict_error,
    failure_result,
    file_name,
)
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.edits import Proposal
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import CellId, ProposalId
from jupyter_ai_shoulders.wire.notebooks import CellSource
from jupyter_ai_shoulders.wire.results import ToolEnvelope
from jupyter_ai_shoulders.wire.versions import cell_version

HIDDEN_SECRET = ErrorInfo(
    code="invalid_arguments",
    message=f"Not edited: the new text has {MASK} where the cell has a secret you are not shown.",
    hint="Use old_string and new_string for the lines around it; the secret itself stays.",
)


class EditCellArguments(ToolArguments):
    """Arguments of ``edit_cell``: the whole new source, or one exact replacement."""

    path: str = Field(description="Workspace-relative path of the notebook.")
    cell_id: CellId = Field(description="Id of the cell, as read_notebook shows it.")
    source: str | None = Field(default=None, description="The whole new source of the cell.")
    old_string: str | None = Field(
        default=None,
        min_length=1,
        description="Instead of source: text that occurs exactly once in the cell.",
    )
    new_string: str | None = Field(
        default=None, description="With old_string: what takes its place."
    )

    @model_validator(mode="after")
    def _one_form(self) -> EditCellArguments:
        pair = {self.old_string is not None, self.new_string is not None}
        if pair != {self.source is None}:
            raise ValueError("give either source, or both old_string and new_string")
        return self

    def change(self) -> RequestedEdit:
        """Return the requested edit."""
        return RequestedEdit(self._applied_to, whole=self.source is not None)

    def _applied_to(self, text: str) -> Replacement | NoMatch | AmbiguousMatch:
        if self.source is not None:
            return Replacement(self.source)
        assert self.old_string is not None
        assert self.new_string is not None
        return replace_once(text, self.old_string, self.new_string)


class EditCell(BaseTool[EditCellArguments]):
    """Replaces a cell's source or part of it, and keeps the user's changes since it was read."""

    name = "edit_cell"
    category = "notebook"
    risk = "write"
    arguments = EditCellArguments

    def __init__(self, access: NotebookAccess, versions: CellReadTracker, ids: IdSource) -> None:
        self._access = access
        self._versions = versions
        self._ids = ids

    async def subject(self, args: EditCellArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, with its diff to the current cell."""
        place = await self._access.find_cell(args.path, args.cell_id)
        edit = self._merged(args.change(), place, context)
        after = edit.text if isinstance(edit, MergedText) else None
        diff = None if after is None else unified_diff(place.cell.source, after)
        path = place.snapshot.path
        return CallSubject(
            title=f"Edit cell {place.number}",
            target_label=file_name(path),
            target=Target(path=path, cell_id=place.cell.id),
            preview=diff,
            language="diff",
            undoable=True,
            in_page=self._access.in_page(path),
            effect=Effect(
                before_version=place.cell.version,
                expected_version=None if after is None else cell_version(after),
            ),
        )

    async def run(
        self, args: EditCellArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        yield await self.edit(args.path, args.cell_id, args.change(), context)

    async def edit(
        self, path: str, cell_id: CellId, change: RequestedEdit, context: CallContext
    ) -> Result:
        """Edit a cell that was read; the user's changes since then are kept.

        The edit is merged again if the user types at the same moment. Raises like ``find_cell``.
        """
        place = await self._access.find_cell(path, cell_id)
        if self._versions.seen(place, context) is None:
            return self._versions.unread_result(place)
        for _ in range(ATTEMPTS):
            outcome = await self._try_edit(change, place, context)
            if isinstance(outcome, Result):
                return outcome
            place = outcome
        edit = self._merged(change, place, context)
        if isinstance(edit, MergedText):  # the user types too fast
            edit = ConflictingEdit(place.cell.source, edit.text)
        return self._not_merged(edit, place, context)

    async def _try_edit(
        self, change: RequestedEdit, place: LocatedCell, context: CallContext
    ) -> Result | LocatedCell:
        """Edit the cell; return the current cell if the user changed it first."""
        before = place.cell.source
        edit = self._merged(change, place, context)
        if not isinstance(edit, MergedText):
            return self._not_merged(edit, place, context)
        if edit.hides_secret:
            return failure_result(HIDDEN_SECRET)
        if edit.text == before:
            return self._done(place, edit, "already reads so; nothing was changed", context)
        wanted = CellSource(cell_id=place.cell.id, source=edit.text)
        outcome = await place.notebook.apply([wanted], {place.cell.id: place.cell.version})
        if isinstance(outcome, Applied):
            return self._done(place, edit, "was edited", context)
        conflict = outcome.conflicts[0]
        if conflict.reason != "changed" or conflict.current is None or conflict.version is None:
            return failure_result(conflict_error(place, conflict))
        return place.with_cell({"source": conflict.current, "version": conflict.version})

    def _merged(
        self, change: RequestedEdit, place: LocatedCell, context: CallContext
    ) -> MergeOutcome:
        return merge_edit(change, place.cell.source, self._versions.known_text(place, context))

    def _not_merged(
        self,
        edit: UnmergedEdit,
        place: LocatedCell,
        context: CallContext,
    ) -> Result:
        """Return why nothing was changed; a conflict with the user becomes a proposal."""
        match edit:
            case MissingBaseText():
                return self._versions.stale_result(place)
            case ConflictingEdit():
                if edit.hides_secret:
                    return failure_result(HIDDEN_SECRET)
                return self._versions.stale_result(place, self._proposal(edit, place, context))
            case NoMatch() | AmbiguousMatch():
                refused = no_replacement(place, edit)
                if self._versions.seen(place, context) == place.cell.version:
                    return refused
                assert refused.envelope.error is not None
                return self._versions.refused_result(place, refused.envelope.error)

    def _proposal(
        self, edit: ConflictingEdit, place: LocatedCell, context: CallContext
    ) -> Proposal:
        return Proposal(
            id=ProposalId(self._ids.new("proposal")),
            session_id=context.session_id,
            turn_id=context.turn_id,
            document=place.snapshot.path,
            cell_id=place.cell.id,
            old=edit.old,
            new=edit.new,
            current=place.cell.source,
            current_version=place.cell.version,
            reason=SAME_LINES,
            state="proposed",
        )

    def _done(
        self, place: LocatedCell, edit: MergedText, what: str, context: CallContext
    ) -> Result:
        unsaved = " It is open in the page and not saved yet." if place.is_live else ""
        others, seen = self._versions.describe_user_changes(place, edit, context)
        return Result(
            envelope=ToolEnvelope(
                ok=True, kind="diff", data=diff_data(place, place.cell.source, edit.text)
            ),
            content=text_content(f"{place.label} {what}.{unsaved}{others}"),
            seen=seen,
            after_version=cell_version(edit.text),
        )


def no_replacement(place: LocatedCell, outcome: NoMatch | AmbiguousMatch) -> Result:
    """Refuse a replacement whose text does not occur exactly once."""
    if isinstance(outcome, AmbiguousMatch):
        lines = ", ".join(map(str, outcome.lines))
        return failure_result(
            ErrorInfo(
                code="ambiguous",
                message=f"old_string occurs {len(outcome.lines)} times in {place.label}, "
                f"beginning on lines {lines}; nothing was changed.",
                hint="Give more of the text around the place you mean.",
            )
        )
    near = "".join(f"\n{match}" for match in outcome.near)
    return failure_result(
        ErrorInfo(
            code="not_found",
            message=f"old_string does not occur in {place.label}; nothing was changed.",
            hint="It must match exactly, with spaces and line ends.",
        ),
        f"The most similar lines:{near}" if near else None,
        kind="not_found",
    )


def diff_data(place: LocatedCell, before: str, after: str) -> JsonObject:
    """Return a change of a cell for the conversation's detail view."""
    return {
        "path": place.snapshot.path,
        "cell_id": place.cell.id,
        "index": place.number - 1,
        "before": before,
        "after": after,
    }


def unified_diff(before: str, after: str) -> str:
    """Return the changed lines with three lines of context, without file names."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=3)
    return "\n".join(list(lines)[2:])
