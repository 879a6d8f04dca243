"""Cells and edits of a notebook as exchanged by tools, back ends and pages."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.base import JsonObject, WireModel
from jupyter_ai_shoulders.wire.ids import CellId, Version

CellType = Literal["code", "markdown", "raw"]


class OutputSummary(WireModel):
    """An output without its content."""

    kind: Literal["stream", "display_data", "execute_result", "error"]
    mime_types: tuple[str, ...]
    size: int
    """Length of the JSON text in characters."""


class NotebookCell(WireModel):
    """A cell with its identity, version and, on request, its outputs (nbformat dicts)."""

    id: CellId
    cell_type: CellType
    source: str
    version: Version
    metadata: JsonObject
    execution_count: int | None
    output_summary: tuple[OutputSummary, ...]
    outputs: tuple[JsonObject, ...] | None


class CellOrder(WireModel):
    """How the list of cells differs from an earlier one.

    ``ids`` took the place of the ``removed`` cells from position ``start`` on.
    """

    start: int
    removed: int
    ids: tuple[CellId, ...]
    list_version: Version
    """Version of the whole list now, ``wire.versions.list_version``: finds a wrong difference."""


class CellMark(WireModel):
    """Why a cell does not show what running the notebook from the top would."""

    state: Literal["edited", "upstream", "order", "kernel"]
    """Edited since its run; its inputs have changed; run out of order; run in a former kernel."""
    reason: str
    """In words, to follow the cell's name."""


class CellSource(WireModel):
    """Replace a cell's source; the page applies the smallest difference as one undo step."""

    kind: Literal["cell-source"] = "cell-source"
    cell_id: CellId
    source: str


class CellInsert(WireModel):
    """Insert a cell with an id chosen by the server; ``after`` null puts it first."""

    kind: Literal["cell-insert"] = "cell-insert"
    cell_id: CellId
    cell_type: CellType
    source: str
    metadata: JsonObject
    after: CellId | None
    outputs: tuple[JsonObject, ...] = ()
    execution_count: int | None = None
    attachments: JsonObject | None = None
    """For a markdown or raw cell, so that a deleted cell is restored with its pictures."""


class CellDelete(WireModel):
    """Delete a cell."""

    kind: Literal["cell-delete"] = "cell-delete"
    cell_id: CellId


class CellMove(WireModel):
    """Move a cell; ``after`` null puts it first."""

    kind: Literal["cell-move"] = "cell-move"
    cell_id: CellId
    after: CellId | None


class CellOutputs(WireModel):
    """Replace a code cell's outputs and execution count, never its source."""

    kind: Literal["cell-outputs"] = "cell-outputs"
    cell_id: CellId
    outputs: tuple[JsonObject, ...]
    execution_count: int | None


CellEdit = Annotated[
    CellSource | CellInsert | CellDelete | CellMove | CellOutputs,
    Field(discriminator="kind"),
]
