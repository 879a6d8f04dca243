"""Stores the outputs of a long run in the notebook before it ends.

Used by ``notebook.execution.cell_run``. Pages show outputs as they come and keep them. If no page
has the notebook open they are stored from time to time, so that readers of the file see the
progress, and a killed server loses only seconds of output.
"""

from __future__ import annotations

import logging

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.notebook.base import Notebook
from jupyter_ai_shoulders.notebook.execution.run_view import RunView
from jupyter_ai_shoulders.notebook.outputs.collector import OutputCollector
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import CellOutputs as StoreOutputs

log = logging.getLogger(__name__)

STORE_SECONDS = 5.0
"""Minimum seconds between two stores of a run's output."""
STORE_SHARE = 20
"""A store is followed by a pause this many times as long."""


class OutputAutosave:
    """Stores the outputs of one run from time to time."""

    def __init__(self, notebook: Notebook, cell_id: CellId, view: RunView, clock: Clock) -> None:
        self._notebook = notebook
        self._cell_id = cell_id
        self._view = view
        self._clock = clock
        self._next = clock.monotonic() + STORE_SECONDS
        self._stored: tuple[JsonObject, ...] = ()

    async def save_if_due(self, collected: OutputCollector, execution_count: int | None) -> None:
        """Store the outputs if the interval has passed and no page has the notebook."""
        began = self._clock.monotonic()
        if began < self._next or self._view.is_shown or self._notebook.backend != "disk":
            return
        outputs = collected.outputs()
        if not outputs or outputs == self._stored:
            return
        edit = StoreOutputs(cell_id=self._cell_id, outputs=outputs, execution_count=execution_count)
        try:
            await self._notebook.apply([edit], {})
            crash_point("kernel.outputs.kept")
        except ShouldersError:  # reported at the end, if they cannot be stored then either
            log.info("The outputs so far of cell %s were not stored", self._cell_id, exc_info=True)
        self._stored = outputs
        took = self._clock.monotonic() - began
        self._next = self._clock.monotonic() + max(STORE_SECONDS, STORE_SHARE * took)
