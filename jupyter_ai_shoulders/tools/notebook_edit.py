"""The tool that changes the source of a cell (chapters 05 and 06)."""

from __future__ import annotations

import difflib
from collections.abc import AsyncIterator
from typing import ClassVar

from pydantic import Field, model_validator

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.redaction import MASK
from jupyter_ai_shoulders.notebook.base import Applied
from jupyter_ai_shoulders.tools.base import (
    CallContext,
    CallSubject,
    Category,
    Effect,
    Progress,
    Result,
    Target,
    ToolArguments,
    text_content,
)
from jupyter_ai_shoulders.tools.notebook_access import (
    NOTEBOOK_TOOLSETS,
    CellPlace,
    NotebookAccess,
    Versions,
    conflict_error,
    failed,
    file_name,
)
from jupyter_ai_shoulders.tools.text_replace import Ambiguous, Missing, Replaced, replace_once
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.edits import Proposal
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import Risk
from jupyter_ai_shoulders.wire.frames import CellConflict
from jupyter_ai_shoulders.wire.ids import CellId, ProposalId
from jupyter_ai_shoulders.wire.notebooks import CellSource
from jupyter_ai_shoulders.wire.results import ToolEnvelope
from jupyter_ai_shoulders.wire.sessions import Toolset
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

    def applied_to(self, text: str) -> Replaced | Missing | Ambiguous:
        """Return the cell's source after this edit."""
        if self.source is not None:
            return Replaced(self.source)
        assert self.old_string is not None
        assert self.new_string is not None
        return replace_once(text, self.old_string, self.new_string)


class EditCell:
    """Replaces a cell's source, or a piece of it, if it is as the conversation last read it."""

    name: ClassVar[str] = "edit_cell"
    category: ClassVar[Category] = "notebook"
    risk: ClassVar[Risk] = "write"
    external: ClassVar[bool] = False
    idempotent: ClassVar[bool] = False
    toolsets: ClassVar[frozenset[Toolset]] = NOTEBOOK_TOOLSETS
    arguments = EditCellArguments

    def __init__(self, access: NotebookAccess, versions: Versions, ids: IdSource) -> None:
        self._access = access
        self._versions = versions
        self._ids = ids

    async def subject(self, args: EditCellArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, with its diff against the cell as it is now."""
        del context
        place = await self._access.find_cell(args.path, args.cell_id)
        edited = args.applied_to(place.cell.source)
        after = edited.text if isinstance(edited, Replaced) else None
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
        """Edit, or say why not."""
        place = await self._access.find_cell(args.path, args.cell_id)
        seen = self._versions.seen(place, context)
        if seen is None:
            yield self._versions.not_read(place)
        elif seen != place.cell.version:
            yield self._stale(args, place, context)
        else:
            yield await self._edit(args, place, context)

    async def _edit(
        self, args: EditCellArguments, place: CellPlace, context: CallContext
    ) -> Result:
        before = place.cell.source
        edited = args.applied_to(before)
        if not isinstance(edited, Replaced):
            return no_replacement(place, edited)
        if edited.text.count(MASK) > before.count(MASK):
            return failed(HIDDEN_SECRET)
        if edited.text == before:
            return self._done(place, before, "already reads so; nothing was changed")
        edit = CellSource(cell_id=place.cell.id, source=edited.text)
        outcome = await place.notebook.apply([edit], {place.cell.id: place.cell.version})
        if isinstance(outcome, Applied):
            return self._done(place, edited.text, "was edited")
        return self._refused(args, place, context, outcome.conflicts[0])

    def _refused(
        self,
        args: EditCellArguments,
        place: CellPlace,
        context: CallContext,
        conflict: CellConflict,
    ) -> Result:
        if conflict.reason != "changed" or conflict.current is None or conflict.version is None:
            return failed(conflict_error(place, conflict))
        changes = {"source": conflict.current, "version": conflict.version}
        return self._stale(args, place.with_cell(changes), context)

    def _stale(self, args: EditCellArguments, place: CellPlace, context: CallContext) -> Result:
        """Overwrite nothing: what the model wanted becomes a proposal beside the user's text."""
        read = self._versions.texts.get(self._versions.seen(place, context))
        base = place.cell.source if read is None else read
        wanted = args.applied_to(base)
        if not isinstance(wanted, Replaced):
            return self._versions.stale(place)
        if wanted.text == place.cell.source:
            return self._done(place, wanted.text, "already reads so; nothing was changed")
        proposal = Proposal(
            id=ProposalId(self._ids.new("proposal")),
            session_id=context.session_id,
            turn_id=context.turn_id,
            document=place.snapshot.path,
            cell_id=place.cell.id,
            old=base,
            new=wanted.text,
            current=place.cell.source,
            current_version=place.cell.version,
            reason="The cell was changed after the agent had read it.",
            state="proposed",
        )
        return self._versions.stale(place, proposal)

    def _done(self, place: CellPlace, after: str, what: str) -> Result:
        unsaved = " It is open in the page and not saved yet." if place.is_live else ""
        seen = self._versions.note_text(place.snapshot.path, place.cell.id, after)
        return Result(
            envelope=ToolEnvelope(
                ok=True, kind="diff", data=diff_data(place, place.cell.source, after)
            ),
            content=text_content(f"{place.label} {what}.{unsaved}"),
            seen=(seen,),
            after_version=seen.version,
        )


def no_replacement(place: CellPlace, outcome: Missing | Ambiguous) -> Result:
    """Refuse a replacement whose text does not occur exactly once."""
    if isinstance(outcome, Ambiguous):
        lines = ", ".join(map(str, outcome.lines))
        return failed(
            ErrorInfo(
                code="ambiguous",
                message=f"old_string occurs {len(outcome.lines)} times in {place.label}, "
                f"beginning on lines {lines}; nothing was changed.",
                hint="Give more of the text around the place you mean.",
            )
        )
    near = "".join(f"\n{match}" for match in outcome.near)
    return failed(
        ErrorInfo(
            code="not_found",
            message=f"old_string does not occur in {place.label}; nothing was changed.",
            hint="It must match exactly, with spaces and line ends.",
        ),
        f"The most similar lines:{near}" if near else None,
        kind="not_found",
    )


def diff_data(place: CellPlace, before: str, after: str) -> JsonObject:
    """Return a change of a cell for the conversation's detail view."""
    return {
        "path": place.snapshot.path,
        "cell_id": place.cell.id,
        "index": place.number - 1,
        "before": before,
        "after": after,
    }


def unified_diff(before: str, after: str) -> str:
    """Return the lines that change with three around them, without file names."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=3)
    return "\n".join(list(lines)[2:])
