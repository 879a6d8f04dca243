"""Shows the agent's runs in the pages that have the notebook open; used by ``notebook.live``.

Remembers the outputs shown, because once the run is over they are unsaved in the page: when it
vanishes they must reach the file all the same. The runner bounds their size.
"""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_ai_shoulders.notebook.claims import Claim
from jupyter_ai_shoulders.notebook.page_requests import PageTransport
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.frames import CellRunEnd, CellRunOutput, CellRunStart
from jupyter_ai_shoulders.wire.ids import CellId, RunId


class PageRuns:
    """The runs going on in notebooks that pages have open."""

    def __init__(self, transport: PageTransport) -> None:
        self._transport = transport
        self._shown: dict[RunId, tuple[JsonObject, ...]] = {}
        self._taken: set[RunId] = set()

    def take(self, run_id: RunId) -> None:
        """Leave the cell to the user, who runs it now: its outputs are not the agent's any more."""
        self._taken.add(run_id)
        self._shown.pop(run_id, None)

    def is_taken(self, run_id: RunId) -> bool:
        """Return whether the user took the cell over, until the run has ended."""
        return run_id in self._taken

    def started(self, pages: Sequence[Claim], cell_id: CellId, run_id: RunId) -> None:
        """Show the cell as running, without outputs."""
        if run_id in self._taken:
            return
        if pages:
            self._shown[run_id] = ()
        for page in pages:
            frame = CellRunStart(run_id=run_id, path=page.page_path, cell_id=cell_id)
            self._transport.send(page.client, frame)

    def output(
        self,
        pages: Sequence[Claim],
        cell_id: CellId,
        run_id: RunId,
        index: int,
        outputs: Sequence[JsonObject],
    ) -> None:
        """Show the outputs from position ``index`` on."""
        before = self._shown.pop(run_id, None)
        if not pages or run_id in self._taken:
            return
        if before is not None:
            self._shown[run_id] = (*before[:index], *outputs)
        for page in pages:
            frame = CellRunOutput(
                run_id=run_id,
                path=page.page_path,
                cell_id=cell_id,
                index=index,
                outputs=tuple(outputs),
            )
            self._transport.send(page.client, frame)

    def ended(
        self, pages: Sequence[Claim], cell_id: CellId, run_id: RunId, execution_count: int | None
    ) -> tuple[JsonObject, ...] | None:
        """Show the end of a run; return its outputs, None when no page was shown all of them."""
        self._taken.discard(run_id)
        for page in pages:
            frame = CellRunEnd(
                run_id=run_id,
                path=page.page_path,
                cell_id=cell_id,
                execution_count=execution_count,
            )
            self._transport.send(page.client, frame)
        return self._shown.pop(run_id, None)
