"""The tools that move a cell and that clear outputs."""

from __future__ import annotations

from collections.abc import AsyncIterator

from pydantic import Field

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.notebook.base import Applied, NotebookSnapshot
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    Target,
    ToolArguments,
    text_content,
)
from jupyter_ai_shoulders.tools.notebook.access import (
    LocatedCell,
    NotebookAccess,
    conflict_error,
    failure_result,
    file_name,
    no_such_cell,
)
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import CellMove, CellOutputs, NotebookCell
from jupyter_ai_shoulders.wire.results import ToolEnvelope


class MoveCellArguments(ToolArguments):
    """Arguments of ``move_cell``."""

    path: str = Field(description="Workspace-relative path of the notebook.")
    cell_id: CellId = Field(description="Id of the cell to move.")
    after: CellId | None = Field(description="Id of the cell it goes below; null: to the top.")


class MoveCell(BaseTool[MoveCellArguments]):
    """Moves a cell. Its text is unchanged, so it need not have been read."""

    name = "move_cell"
    category = "notebook"
    risk = "write"
    idempotent = True
    arguments = MoveCellArguments

    def __init__(self, access: NotebookAccess) -> None:
        self._access = access

    async def subject(self, args: MoveCellArguments, context: CallContext) -> CallSubject:
        place = await self._access.find_cell(args.path, args.cell_id)
        path = place.snapshot.path
        return CallSubject(
            title=f"Move cell {place.number} {_destination_text(args, place.snapshot)}",
            target_label=file_name(path),
            target=Target(path=path, cell_id=place.cell.id),
            undoable=True,
            in_page=self._access.in_page(path),
        )

    async def run(
        self, args: MoveCellArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        place = await self._access.find_cell(args.path, args.cell_id)
        where = _destination_text(args, place.snapshot)
        edit = CellMove(cell_id=place.cell.id, after=args.after)
        outcome = await place.notebook.apply([edit], {})
        if not isinstance(outcome, Applied):
            yield failure_result(conflict_error(place, outcome.conflicts[0]))
            return
        yield _moved(place, where, _number_after(place, args.after))


def _destination_text(args: MoveCellArguments, snapshot: NotebookSnapshot) -> str:
    """Return the destination in words. Raises ``NotFound``, ``InvalidRequest``."""
    if args.after is None:
        return "to the top"
    if args.after == args.cell_id:
        raise InvalidRequest("A cell cannot go below itself.", hint="Name another cell in after.")
    position = snapshot.position(args.after)
    if position is None:
        raise no_such_cell(snapshot, args.after)
    return f"below cell {position + 1}"


def _number_after(place: LocatedCell, after: CellId | None) -> int:
    """Return the cell's number after the move."""
    if after is None:
        return 1
    below = (place.snapshot.position(after) or 0) + 1
    return below if place.number <= below else below + 1


def _moved(place: LocatedCell, where: str, number: int) -> Result:
    path = place.snapshot.path
    text = f"{place.label} was moved {where}: it is cell {number} now."
    if number == place.number:
        text = f"{place.label} stands there already."
    else:
        text += " The cells between have other numbers; ids stay."
    return Result(
        envelope=ToolEnvelope(
            ok=True,
            kind="text",
            data={
                "path": path,
                "cell_id": place.cell.id,
                "index_before": place.number - 1,
                "index": number - 1,
            },
        ),
        content=text_content(text),
    )


class ClearOutputsArguments(ToolArguments):
    """Arguments of ``clear_outputs``."""

    path: str = Field(description="Workspace-relative path of the notebook.")


class ClearOutputs(BaseTool[ClearOutputsArguments]):
    """Removes the outputs and execution counts of all code cells, in one undoable step."""

    name = "clear_outputs"
    category = "notebook"
    risk = "write"
    idempotent = True
    arguments = ClearOutputsArguments

    def __init__(self, access: NotebookAccess) -> None:
        self._access = access

    async def subject(self, args: ClearOutputsArguments, context: CallContext) -> CallSubject:
        notebook = await self._access.open(args.path)
        count = len(_with_outputs(await notebook.read()))
        return CallSubject(
            title=f"Clear the outputs of {_cells(count)}",
            target_label=file_name(notebook.path),
            target=Target(path=notebook.path),
            undoable=True,
            in_page=self._access.in_page(notebook.path),
        )

    async def run(
        self, args: ClearOutputsArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        notebook = await self._access.open(args.path)
        cells = _with_outputs(await notebook.read())
        edits = [CellOutputs(cell_id=cell.id, outputs=(), execution_count=None) for cell in cells]
        if edits and not isinstance(await notebook.apply(edits, {}), Applied):
            yield failure_result(_changed(notebook.path))
            return
        done = f"The outputs of {_cells(len(cells))} were cleared."
        yield Result(
            envelope=ToolEnvelope(
                ok=True,
                kind="text",
                data={"path": notebook.path, "cell_ids": [cell.id for cell in cells]},
            ),
            content=text_content(
                f"{done} The kernel keeps its variables." if cells else "No cell has outputs."
            ),
        )


def _with_outputs(snapshot: NotebookSnapshot) -> list[NotebookCell]:
    return [
        cell
        for cell in snapshot.cells
        if cell.cell_type == "code" and (cell.output_summary or cell.execution_count is not None)
    ]


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"


def _changed(path: str) -> ErrorInfo:
    return ErrorInfo(
        code="conflict",
        message=f"The cells of {path} changed in the meantime; no output was cleared.",
        hint="Call again.",
        retryable=True,
    )
