"""The initial workspace of a case, as values; ``write`` puts it on disk for ``case_run``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from jupyter_ai_shoulders.wire.base import JsonObject

KERNEL: JsonObject = {
    "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
    "language_info": {"name": "python"},
}


@dataclass(frozen=True, slots=True)
class CellFixture:
    """A cell of a notebook on the disk."""

    id: str
    source: str
    cell_type: Literal["code", "markdown"] = "code"
    outputs: tuple[JsonObject, ...] = ()
    metadata: JsonObject = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class NotebookFixture:
    """A notebook on the disk."""

    cells: tuple[CellFixture, ...]
    metadata: JsonObject = field(default_factory=lambda: KERNEL)

    def text(self) -> str:
        """Return the file as nbformat writes it."""
        content = {
            "cells": [_nbformat(cell) for cell in self.cells],
            "metadata": self.metadata,
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


@dataclass(frozen=True, slots=True)
class WorkspaceFixture:
    """Files by workspace-relative path."""

    files: Mapping[str, str | NotebookFixture] = field(
        default_factory=dict[str, "str | NotebookFixture"]
    )

    def write(self, root: Path) -> None:
        """Create the files below ``root``."""
        for path, content in self.files.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            text = content if isinstance(content, str) else content.text()
            file.write_text(text, "utf-8", newline="")


def code(cell_id: str, source: str, *outputs: JsonObject, **metadata: Any) -> CellFixture:
    """Return a code cell; ``metadata`` is the cell's."""
    return CellFixture(cell_id, source, "code", outputs, metadata)


def markdown(cell_id: str, source: str) -> CellFixture:
    """Return a text cell."""
    return CellFixture(cell_id, source, "markdown")


def printed(text: str) -> JsonObject:
    """Return a stream output."""
    return {"output_type": "stream", "name": "stdout", "text": text}


def one_notebook(*cells: CellFixture, path: str = "work.ipynb") -> WorkspaceFixture:
    """Return a workspace with one notebook."""
    return WorkspaceFixture({path: NotebookFixture(cells)})


def user_edits(root: Path, path: str, cell_id: str, source: str) -> None:
    """Change a cell on the disk, as another program would."""
    file = root / path
    content = json.loads(file.read_text("utf-8"))
    cell = next(cell for cell in content["cells"] if cell["id"] == cell_id)
    cell["source"] = source
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8", newline="")


def _nbformat(cell: CellFixture) -> JsonObject:
    base: JsonObject = {
        "cell_type": cell.cell_type,
        "id": cell.id,
        "metadata": cell.metadata,
        "source": cell.source,
    }
    if cell.cell_type == "markdown":
        return base
    return {**base, "execution_count": None, "outputs": list(cell.outputs)}
