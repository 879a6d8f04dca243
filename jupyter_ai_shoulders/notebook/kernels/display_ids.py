"""Outputs of earlier cells that later code updates by their display id, as in the lab.

A notebook does not store display ids, so they are remembered per kernel generation. Filled by
``notebook.execution.cell_runner`` when a run of the agent ends; it and
``notebook.execution.scratch_runner`` write updates back to the cells of earlier runs.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.notebook.base import Notebooks
from jupyter_ai_shoulders.notebook.outputs.collector import (
    OutputCollector,
    output_size,
    plain_output,
)
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import CellOutputs as StoreOutputs

log = logging.getLogger(__name__)

REMEMBERED = 500
"""Displays remembered per kernel, the newest."""
SIZE_LIMIT = 1_000_000
"""Characters; a larger output is not remembered, since its content is needed for comparison."""


@dataclass(eq=False, slots=True)
class _Display:
    """A display in a cell: its stored output, and its new one."""

    path: str
    cell_id: CellId
    display_id: str
    index: int
    output: JsonObject
    fresh: JsonObject | None = None


class DisplayRegistry:
    """The displays of one kernel generation, in the cells that showed them."""

    def __init__(self) -> None:
        self._shown: list[_Display] = []

    def forget(self, path: str, cell_id: CellId) -> None:
        """Remove a cell's displays: it runs again."""
        self._shown = [each for each in self._shown if (each.path, each.cell_id) != (path, cell_id)]

    def note(self, path: str, cell_id: CellId, outputs: OutputCollector) -> None:
        """Record the displays of a finished cell."""
        self._shown += [
            _Display(path, cell_id, display_id, index, output)
            for display_id, index, output in outputs.displays()
            if output_size(output) <= SIZE_LIMIT
        ]
        del self._shown[:-REMEMBERED]

    def update(self, display_id: str, output: Mapping[str, Any]) -> None:
        """Record new data and metadata of a display."""
        for each in self._shown:
            if each.display_id == display_id:
                fresh = plain_output(output)
                each.fresh = {**each.output, **fresh}

    async def write_back(self, notebooks: Notebooks) -> None:
        """Store updated displays in their cells, unless they show another output now."""
        changed = {(each.path, each.cell_id) for each in self._shown if each.fresh is not None}
        for path, cell_id in sorted(changed):
            displays = [
                each
                for each in self._shown
                if (each.path, each.cell_id) == (path, cell_id) and each.fresh is not None
            ]
            try:
                await _store(notebooks, path, cell_id, displays)
            except ShouldersError:
                log.warning("Displays of cell %s were not updated", cell_id, exc_info=True)
            for each in displays:
                each.output, each.fresh = each.fresh or each.output, None


async def _store(
    notebooks: Notebooks, path: str, cell_id: CellId, displays: list[_Display]
) -> None:
    notebook = notebooks.open(path)
    cell = (await notebook.read(outputs=(cell_id,))).cell(cell_id)
    outputs = list(cell.outputs or ()) if cell is not None else []
    known = [
        each
        for each in displays
        if each.index < len(outputs) and _same(outputs[each.index], each.output)
    ]
    if cell is None or not known:
        return
    for each in known:
        outputs[each.index] = each.fresh or each.output
    edit = StoreOutputs(
        cell_id=cell_id, outputs=tuple(outputs), execution_count=cell.execution_count
    )
    await notebook.apply([edit], {})


def _same(stored: JsonObject, known: JsonObject) -> bool:
    return _bundle(stored) == _bundle(known)


def _bundle(output: JsonObject) -> dict[str, Any]:
    """Return the data of an output, lists of lines joined."""
    data = cast("dict[str, Any]", output.get("data") or {})
    return {kind: _text(value) for kind, value in data.items()}


def _text(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    lines = cast("list[Any]", value)
    return "".join(lines) if all(isinstance(line, str) for line in lines) else lines
