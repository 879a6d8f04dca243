"""The tool that shows the model a notebook."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection

from pydantic import Field

from jupyter_ai_shoulders.notebook.analysis.staleness import NOTHING_STALE, StaleReport
from jupyter_ai_shoulders.notebook.analysis.staleness_tracker import StaleCells
from jupyter_ai_shoulders.notebook.base import NotebookSnapshot
from jupyter_ai_shoulders.notebook.render import Rendering, render_notebook
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
    CellReadTracker,
    NotebookAccess,
    file_name,
    no_such_cell,
    snapshot_with,
)
from jupyter_ai_shoulders.tools.truncation import truncate
from jupyter_ai_shoulders.wire.base import Json, JsonObject
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import NotebookCell
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope

LISTED_CELLS = 100
"""Most cells listed in the envelope, for the conversation."""
_FIRST_LINE = 120


class ReadNotebookArguments(ToolArguments):
    """Arguments of ``read_notebook``."""

    path: str = Field(description="Workspace-relative path of the notebook.")
    cells: tuple[CellId, ...] | None = Field(
        default=None, description="Ids of cells to show whole, with their outputs; none other."
    )
    outputs: bool | None = Field(
        default=None, description="Also show the outputs of all cells (text, shortened)."
    )


class ReadNotebook(BaseTool[ReadNotebookArguments]):
    """Shows the outline of a notebook, or cells in full."""

    name = "read_notebook"
    category = "notebook"
    risk = "read"
    arguments = ReadNotebookArguments

    def __init__(
        self, access: NotebookAccess, versions: CellReadTracker, stale: StaleCells | None = None
    ) -> None:
        self._stale = stale
        self._access = access
        self._versions = versions

    async def subject(self, args: ReadNotebookArguments, context: CallContext) -> CallSubject:
        path = (await self._access.open(args.path)).path
        count = len(args.cells or ())
        some = "Read 1 cell" if count == 1 else f"Read {count} cells"
        return CallSubject(
            title=some if count else "Read notebook",
            target_label=file_name(path),
            target=Target(path=path),
            in_page=self._access.in_page(path),
        )

    async def run(
        self, args: ReadNotebookArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        notebook = await self._access.open(args.path)
        outputs = "all" if args.outputs and args.cells is None else args.cells or ()
        snapshot = await notebook.read(outputs)
        missing = [cell_id for cell_id in args.cells or () if snapshot.position(cell_id) is None]
        if args.cells and len(missing) == len(args.cells):
            raise no_such_cell(snapshot, missing[0])
        stale = await self._stale.report(snapshot) if self._stale else NOTHING_STALE
        rendering, left_out = render_within_limits(snapshot, args.cells, stale)
        notes = [*(f"There is no cell {cell_id!r}." for cell_id in missing), left_out]
        warning = " ".join(filter(None, notes)) or None
        yield self._result(snapshot, rendering, stale, args.cells, warning)

    def _result(
        self,
        snapshot: NotebookSnapshot,
        rendering: Rendering,
        stale: StaleReport,
        asked: Collection[CellId] | None,
        warning: str | None,
    ) -> Result:
        shown = [cell for _, cell in _selected_cells(snapshot, asked)]
        return Result(
            envelope=ToolEnvelope(
                ok=True,
                kind="cells",
                data=cells_data(snapshot, asked, stale),
                warning=warning,
                meta=ResultMeta(
                    total=len(snapshot.cells), truncated=len(shown) > LISTED_CELLS or None
                ),
            ),
            content=text_content(f"{rendering.text}\n\n{warning}" if warning else rendering.text),
            seen=tuple(
                self._versions.note(snapshot.path, cell)
                for cell in shown
                if cell.id in rendering.whole
            ),
        )


def render_within_limits(
    snapshot: NotebookSnapshot,
    asked: Collection[CellId] | None,
    stale: StaleReport = NOTHING_STALE,
) -> tuple[Rendering, str | None]:
    """Render within the model's limits; also return a warning about omitted text.

    A cell that is still too long is truncated and does not count as read.
    """
    rendering = render_notebook(snapshot, asked, stale)
    if _fits(rendering):
        return rendering, None
    if asked is None:
        bare = render_notebook(_without_outputs(snapshot), None, stale)
        whole = bare if _fits(bare) else Rendering(bare.text, frozenset())
        return whole, "The outputs are too long to show at once; ask for cells by their ids."
    ids = [cell.id for _, cell in _selected_cells(snapshot, asked)]
    for count in range(len(ids) - 1, 0, -1):
        rendering = render_notebook(snapshot, ids[:count], stale)
        if _fits(rendering):
            return rendering, f"Too long to show at once; ask again for {', '.join(ids[count:])}."
    rest = f"Too long to show at once; ask again for {', '.join(ids[1:])}." if ids[1:] else None
    return Rendering(render_notebook(snapshot, ids[:1], stale).text, frozenset()), rest


def _fits(rendering: Rendering) -> bool:
    return truncate(rendering.text) == rendering.text


def cells_data(
    snapshot: NotebookSnapshot,
    asked: Collection[CellId] | None,
    stale: StaleReport = NOTHING_STALE,
) -> JsonObject:
    """Return the shown cells, one row each, for the conversation's detail view."""
    rows: list[Json] = [
        {
            "cell_id": cell.id,
            "index": index,
            "cell_type": cell.cell_type,
            "first_line": cell.source.partition("\n")[0][:_FIRST_LINE],
            "lines": cell.source.count("\n") + 1,
            "execution_count": cell.execution_count,
            "outputs": len(cell.output_summary),
            **({"stale": stale.marks[cell.id].reason} if cell.id in stale.marks else {}),
        }
        for index, cell in _selected_cells(snapshot, asked)[:LISTED_CELLS]
    ]
    return {
        "path": snapshot.path,
        "backend": snapshot.backend,
        "dirty": snapshot.dirty,
        "cells": rows,
    }


def _selected_cells(
    snapshot: NotebookSnapshot, asked: Collection[CellId] | None
) -> list[tuple[int, NotebookCell]]:
    """Return the requested cells, or all, with their positions and in notebook order."""
    if asked is None:
        return list(enumerate(snapshot.cells))
    found = {snapshot.position(cell_id) for cell_id in asked}
    return [(at, snapshot.cells[at]) for at in sorted(at for at in found if at is not None)]


def _without_outputs(snapshot: NotebookSnapshot) -> NotebookSnapshot:
    cells = tuple(cell.model_copy(update={"outputs": None}) for cell in snapshot.cells)
    return snapshot_with(snapshot, cells)
