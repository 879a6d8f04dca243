"""What a checkpoint keeps of a notebook, as the contents of blobs (chapter 06, checkpoints).

The texts of all cells are one blob, so that a notebook that did not change is not stored again.
Outputs are kept cell by cell, right before a call touches them: a notebook of 60 MB costs what is
touched of it. Used by ``changes.recording.recorder``, which writes them, and
``changes.restore.plan``.
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
    """A cell with all that deleting it, or running it, would lose."""

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
    """Return a cell that was read with its outputs."""
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
    """Return the same for outputs that are the same to a reader, through whatever they went.

    A page makes whole numbers of floats that are whole; the order of keys may change.
    """
    return hashlib.sha256(
        _encoded([_plain(output) for output in outputs], ordered=True)
    ).hexdigest()


def title_of(source: str) -> str:
    """Return a cell's first line that says something."""
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
