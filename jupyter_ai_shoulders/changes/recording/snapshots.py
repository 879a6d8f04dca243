"""The blobs of checkpoints (see docs/design/files-and-review.md#recording-of-changes).

The texts of all cells share one blob, so an unchanged notebook is stored once. Outputs are stored
per cell, right before a call changes them, so the cost does not grow with the notebook. Written by
``changes.recording.recorder``, read by ``changes.restore.plan`` and the review.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Literal, cast

from jupyter_ai_shoulders.wire.base import Json, JsonObject, WireModel
from jupyter_ai_shoulders.wire.ids import CellId, Version
from jupyter_ai_shoulders.wire.notebooks import CellType, NotebookCell

TITLE_LIMIT = 60


class StoredCellText(WireModel):
    """A cell without outputs."""

    id: CellId
    cell_type: CellType
    source: str
    version: Version
    metadata: JsonObject


class StoredNotebook(WireModel):
    """A notebook's cells in order, without outputs."""

    format: Literal[1] = 1
    cells: tuple[StoredCellText, ...]


class StoredCell(WireModel):
    """A whole cell, stored before it is deleted or run."""

    format: Literal[1] = 1
    cell_type: CellType
    source: str
    version: Version
    metadata: JsonObject
    execution_count: int | None
    outputs: tuple[JsonObject, ...]
    attachments: JsonObject | None = None


def encode_notebook(cells: Iterable[NotebookCell]) -> bytes:
    """Return the texts of the cells; equal cells give equal bytes."""
    values = [
        {
            "id": cell.id,
            "cell_type": cell.cell_type,
            "source": cell.source,
            "version": cell.version,
            "metadata": cell.metadata,
        }
        for cell in cells
    ]
    return _encoded({"format": 1, "cells": values})


def encode_cell(cell: NotebookCell, attachments: JsonObject | None = None) -> bytes:
    """Return the blob of a cell that was read with its outputs."""
    return _encoded(
        {
            "format": 1,
            "cell_type": cell.cell_type,
            "source": cell.source,
            "version": cell.version,
            "metadata": cell.metadata,
            "execution_count": cell.execution_count,
            "outputs": list(cell.outputs or ()),
            "attachments": attachments,
        }
    )


def outputs_hash(outputs: Sequence[JsonObject]) -> str:
    """Return a hash that is equal for outputs a reader cannot tell apart.

    Pages turn whole floats into integers and may reorder keys.
    """
    return hashlib.sha256(
        _encoded([_plain(output) for output in outputs], ordered=True)
    ).hexdigest()


def title_of(source: str) -> str:
    """Return the cell's first line that is not blank, shortened."""
    line = next((line.strip() for line in source.splitlines() if line.strip()), "(empty cell)")
    return line if len(line) <= TITLE_LIMIT else line[: TITLE_LIMIT - 1].rstrip() + "…"


def _plain(value: Json) -> Json:
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {key: _plain(item) for key, item in value.items() if key != "transient"}
        case list():
            return [_plain(item) for item in value]
        case _:
            return value


def _encoded(value: object, *, ordered: bool = False) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=ordered)
    return text.encode("utf-8", "surrogatepass")


def read_stored_notebook(blob: bytes) -> StoredNotebook:
    """Return what ``encode_notebook`` wrote. Raises ``ValueError``."""
    return StoredNotebook.model_validate(_decoded(blob))


def read_stored_cell(blob: bytes) -> StoredCell:
    """Return what ``encode_cell`` wrote. Raises ``ValueError``."""
    return StoredCell.model_validate(_decoded(blob))


def _decoded(blob: bytes) -> JsonObject:
    return cast("JsonObject", json.loads(blob.decode("utf-8", "surrogatepass")))
