"""Shows the agent's runs in the pages that have the notebook open.

Used by ``notebook.backends.live.open_notebooks``. Remembers the outputs shown: once the run ends
they are unsaved in the page, and must reach the file even if the page vanishes. The runner bounds
their size.
"""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_ai_shoulders.live_documents.page_requests import PageTransport
from jupyter_ai_shoulders.notebook.backends.live.notebook_claims import NotebookClaim
from jupyter_ai_shoulders.notebook.base import RunQuestion
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.frames import (
    CellInputAnswer,
    CellInputEnd,
    CellInputRequest,
    CellRunEnd,
    CellRunOutput,
    CellRunStart,
)
from jupyter_ai_shoulders.wire.ids import CellId, RunId


class PageRuns:
    """The current runs in notebooks that pages have open."""

    def __init__(self, transport: PageTransport) -> None:
        self._transport = transport
        self._shown: dict[RunId, tuple[JsonObject, ...]] = {}
        self._taken: set[RunId] = set()
        self._questions: dict[RunId, RunQuestion] = {}

    def take(self, run_id: RunId) -> None:
        """Hand the cell to the user, who runs it now: its outputs are no longer the agent's."""
        self._taken.add(run_id)
        self._shown.pop(run_id, None)

    def is_taken(self, run_id: RunId) -> bool:
        """Return whether the user took the cell over, until the run ends."""
        return run_id in self._taken

    def started(self, pages: Sequence[NotebookClaim], cell_id: CellId, run_id: RunId) -> None:
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
        pages: Sequence[NotebookClaim],
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

    def asks(
        self, pages: Sequence[NotebookClaim], cell_id: CellId, run_id: RunId, question: RunQuestion
    ) -> None:
        """Show an input field for a question of the running code."""
        if run_id in self._taken:
            return
        self._questions[run_id] = question
        for page in pages:
            frame = CellInputRequest(
                run_id=run_id,
                path=page.page_path,
                cell_id=cell_id,
                number=question.number,
                prompt=question.prompt,
                password=question.password,
            )
            self._transport.send(page.client, frame)

    def answer(self, frame: CellInputAnswer) -> None:
        """Pass on the user's input; a late answer is dropped."""
        question = self._questions.get(frame.run_id)
        if question is not None and question.number == frame.number:
            question.answer(frame.text)

    def answered(
        self, pages: Sequence[NotebookClaim], cell_id: CellId, run_id: RunId, number: int
    ) -> None:
        """Remove the input field."""
        self._questions.pop(run_id, None)
        for page in pages:
            frame = CellInputEnd(run_id=run_id, path=page.page_path, cell_id=cell_id, number=number)
            self._transport.send(page.client, frame)

    def ended(
        self,
        pages: Sequence[NotebookClaim],
        cell_id: CellId,
        run_id: RunId,
        execution_count: int | None,
    ) -> tuple[JsonObject, ...] | None:
        """Show the end of a run; return its outputs, None when no page was shown all of them."""
        self._taken.discard(run_id)
        self._questions.pop(run_id, None)
        for page in pages:
            frame = CellRunEnd(
                run_id=run_id,
                path=page.page_path,
                cell_id=cell_id,
                execution_count=execution_count,
            )
            self._transport.send(page.client, frame)
        return self._shown.pop(run_id, None)
