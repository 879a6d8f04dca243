"""The tools that add and delete cells."""

from __future__ import annotations

import hashlib
import itertools
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

from pydantic import Field, model_validator

from jupyter_ai_shoulders.notebook.base import Applied, NotebookSnapshot
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
from jupyter_ai_shoulders.tools.notebook.access import (
    CellReadTracker,
    LocatedCell,
    NotebookAccess,
    conflict_error,
    failure_result,
    file_name,
    no_such_cell,
    notebook_language,
)
from jupyter_ai_shoulders.tools.notebook.edit_cell import diff_data, unified_diff
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import CellId, SessionId, TurnId
from jupyter_ai_shoulders.wire.notebooks import CellDelete, CellInsert, CellType
from jupyter_ai_shoulders.wire.results import ToolEnvelope
from jupyter_ai_shoulders.wire.versions import ABSENT, cell_version

_REMEMBERED_SESSIONS = 200


class AddCellArguments(ToolArguments):
    """Arguments of ``add_cell``."""

    path: str = Field(description="Workspace-relative path of the notebook.")
    source: str = Field(description="The source of the new cell.")
    cell_type: CellType = Field(default="code", description="Kind of the new cell.")
    after: CellId | None = Field(default=None, description="Id of the cell it goes below.")
    before: CellId | None = Field(default=None, description="Id of the cell it goes above.")

    @model_validator(mode="after")
    def _one_place(self) -> AddCellArguments:
        if self.after is not None and self.before is not None:
            raise ValueError("give after or before, not both; neither appends")
        return self


@dataclass(slots=True)
class _Additions:
    """The cells inserted in one step, by the cell they were to follow."""

    step: tuple[TurnId, int]
    last: dict[tuple[str, CellId], CellId] = field(default_factory=dict[tuple[str, CellId], CellId])


class AddCell(BaseTool[AddCellArguments]):
    """Inserts a cell; several below the same cell in one step keep the model's order."""

    name = "add_cell"
    category = "notebook"
    risk = "write"
    arguments = AddCellArguments

    def __init__(self, access: NotebookAccess, versions: CellReadTracker) -> None:
        self._access = access
        self._versions = versions
        self._additions: OrderedDict[SessionId, _Additions] = OrderedDict()

    async def subject(self, args: AddCellArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, and whether its cell already exists."""
        notebook = await self._access.open(args.path)
        snapshot = await notebook.read()
        code = args.cell_type == "code"
        language = notebook_language(snapshot) if code else args.cell_type
        added = cell_version(args.source)
        return CallSubject(
            title=f"Add {args.cell_type} cell",
            target_label=file_name(notebook.path),
            target=Target(path=notebook.path),
            preview=args.source,
            language=language,
            undoable=True,
            in_page=self._access.in_page(notebook.path),
            effect=Effect(
                before_version=added if _has_added(snapshot, args, context) else ABSENT,
                expected_version=added,
            ),
        )

    async def run(
        self, args: AddCellArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        notebook = await self._access.open(args.path)
        snapshot = await notebook.read()
        after = self._predecessor(args, snapshot, context)
        edit = CellInsert(
            cell_id=_new_id(snapshot, context),
            cell_type=args.cell_type,
            source=args.source,
            metadata={},
            after=after,
        )
        outcome = await notebook.apply([edit], {})
        if not isinstance(outcome, Applied):
            yield failure_result(_not_added(snapshot))
            return
        if args.after is not None:
            self._remember(args.after, edit.cell_id, snapshot.path, context)
        seen = self._versions.note_text(snapshot.path, edit.cell_id, args.source)
        number = 1 if after is None else (snapshot.position(after) or 0) + 2
        where = f"below cell {number - 1} (id={after})" if after else "at the top"
        yield Result(
            envelope=ToolEnvelope(
                ok=True,
                kind="diff",
                data={
                    "path": snapshot.path,
                    "cell_id": edit.cell_id,
                    "index": number - 1,
                    "cell_type": args.cell_type,
                    "before": "",
                    "after": args.source,
                },
            ),
            content=text_content(
                f"Added cell {number} (id={edit.cell_id}) · {args.cell_type}, {where}. "
                "The cells below it have moved down by one."
            ),
            seen=(seen,),
            after_version=seen.version,
        )

    def _predecessor(
        self, args: AddCellArguments, snapshot: NotebookSnapshot, context: CallContext
    ) -> CellId | None:
        """Return the cell that the new one follows, None for the top. Raises ``NotFound``."""
        for asked in (args.after, args.before):
            if asked is not None and snapshot.position(asked) is None:
                raise no_such_cell(snapshot, asked)
        if args.after is not None:
            sibling = self._sibling(args.after, snapshot.path, context)
            known = sibling is not None and snapshot.position(sibling) is not None
            return sibling if known else args.after
        above = len(snapshot.cells)
        if args.before is not None:
            above = snapshot.position(args.before) or 0
        return snapshot.cells[above - 1].id if above else None

    def _sibling(self, after: CellId, path: str, context: CallContext) -> CellId | None:
        """Return the last cell added after ``after`` in this step."""
        additions = self._additions.get(context.session_id)
        if additions is None or additions.step != (context.turn_id, context.step):
            return None
        return additions.last.get((path, after))

    def _remember(self, after: CellId, added: CellId, path: str, context: CallContext) -> None:
        step = (context.turn_id, context.step)
        additions = self._additions.pop(context.session_id, None)
        if additions is None or additions.step != step:
            additions = _Additions(step)
        additions.last[path, after] = added
        self._additions[context.session_id] = additions
        if len(self._additions) > _REMEMBERED_SESSIONS:
            self._additions.popitem(last=False)


def _new_ids(context: CallContext) -> Iterator[CellId]:
    """Yield the ids a call may give its cell, in JupyterLab's format: 8 hexadecimal digits.

    They depend only on the call, so that its cell is recognised after a crash.
    """
    for attempt in itertools.count():
        named = f"{context.session_id} {context.turn_id} {context.call_id} {attempt}"
        yield CellId(hashlib.sha256(named.encode()).hexdigest()[:8])


def _new_id(snapshot: NotebookSnapshot, context: CallContext) -> CellId:
    return next(each for each in _new_ids(context) if snapshot.position(each) is None)


def _has_added(snapshot: NotebookSnapshot, args: AddCellArguments, context: CallContext) -> bool:
    """Return whether the notebook contains the call's cell, unchanged."""
    there = iter(map(snapshot.cell, _new_ids(context)).__next__, None)
    return any(cell.source == args.source for cell in there)


class DeleteCellArguments(ToolArguments):
    """Arguments of ``delete_cell``."""

    path: str = Field(description="Workspace-relative path of the notebook.")
    cell_id: CellId = Field(description="Id of the cell, as read_notebook shows it.")


class DeleteCell(BaseTool[DeleteCellArguments]):
    """Deletes a cell that is unchanged since the conversation last read it."""

    name = "delete_cell"
    category = "notebook"
    risk = "write"
    arguments = DeleteCellArguments

    def __init__(self, access: NotebookAccess, versions: CellReadTracker) -> None:
        self._access = access
        self._versions = versions

    async def subject(self, args: DeleteCellArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, with the text to be deleted."""
        place = await self._access.find_cell(args.path, args.cell_id)
        path = place.snapshot.path
        return CallSubject(
            title=f"Delete cell {place.number}",
            target_label=file_name(path),
            target=Target(path=path, cell_id=place.cell.id),
            preview=unified_diff(place.cell.source, ""),
            language="diff",
            undoable=True,
            in_page=self._access.in_page(path),
            effect=Effect(before_version=place.cell.version, expected_version=ABSENT),
        )

    async def run(
        self, args: DeleteCellArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        place = await self._access.find_cell(args.path, args.cell_id)
        seen = self._versions.seen(place, context)
        if seen is None:
            yield self._versions.unread_result(place)
        elif seen != place.cell.version:
            yield self._versions.stale_result(place)
        else:
            yield await self._delete(place)

    async def _delete(self, place: LocatedCell) -> Result:
        expected = {place.cell.id: place.cell.version}
        outcome = await place.notebook.apply([CellDelete(cell_id=place.cell.id)], expected)
        if not isinstance(outcome, Applied):
            conflict = outcome.conflicts[0]
            if conflict.reason == "changed" and conflict.current is not None:
                changes = {"source": conflict.current, "version": conflict.version}
                return self._versions.stale_result(place.with_cell(changes))
            return failure_result(conflict_error(place, conflict))
        return Result(
            envelope=ToolEnvelope(
                ok=True, kind="diff", data=diff_data(place, place.cell.source, "")
            ),
            content=text_content(
                f"{place.label} was deleted. The cells below it have moved up by one."
            ),
        )


def _not_added(snapshot: NotebookSnapshot) -> ErrorInfo:
    return ErrorInfo(
        code="conflict",
        message=f"The cells of {snapshot.path} changed in the meantime; nothing was added.",
        hint="Read the notebook again and name a cell it has now.",
        retryable=True,
    )
