"""Shows one run in the pages that have the notebook open.

Used by ``notebook.execution.cell_run``.
"""

from __future__ import annotations

from collections.abc import Callable

from jupyter_ai_shoulders.notebook.base import Pages, RunQuestion
from jupyter_ai_shoulders.notebook.outputs.collector import OutputCollector
from jupyter_ai_shoulders.wire.ids import CellId, RunId

FLUSH_SECONDS = 0.03
"""Minimum seconds between two batches of outputs."""
CHARACTERS_PER_SECOND = 4_000_000
"""A growing output is sent whole each time: the larger it is, the less often."""


class RunView:
    """Sends changed outputs; a page that connects during the run gets all of them."""

    def __init__(
        self, pages: Pages, path: str, cell_id: CellId, run_id: RunId, outputs: OutputCollector
    ) -> None:
        self._pages = pages
        self._cell = (path, cell_id, run_id)
        self._outputs = outputs
        self._owner = pages.owner(path)
        self._steady = self._owner is not None
        self._question: RunQuestion | None = None
        self._questions = 0

    def start(self) -> None:
        """Show the cell as running."""
        self._pages.run_started(*self._cell)

    def watch(self) -> None:
        """Detect pages that connected or left; may be called at any time."""
        owner = self._pages.owner(self._cell[0])
        if owner == self._owner:
            return
        self._owner = owner
        self._steady = False
        if owner is not None:
            self._pages.run_started(*self._cell)
            self._pages.run_output(*self._cell, 0, self._outputs.outputs())
            self._outputs.take_change()
            if self._question is not None:
                self._pages.run_asks(*self._cell, self._question)

    @property
    def is_shown(self) -> bool:
        """Whether a page has the notebook open now."""
        return self._pages.owner(self._cell[0]) is not None

    def ask(self, prompt: str, answer: Callable[[str], bool], *, password: bool) -> None:
        """Show an input field below the outputs so far."""
        self.flush()
        self._questions += 1
        self._question = RunQuestion(self._questions, prompt, password, answer)
        self._pages.run_asks(*self._cell, self._question)

    def answered(self) -> None:
        """Remove the input field."""
        question, self._question = self._question, None
        if question is not None:
            self._pages.run_answered(*self._cell, question.number)

    def flush(self) -> float:
        """Send changes; return how many seconds to wait before the next call."""
        self.watch()
        change = self._outputs.take_change() if self._owner is not None else None
        if change is None:
            return FLUSH_SECONDS
        self._pages.run_output(*self._cell, change.index, change.outputs)
        return max(FLUSH_SECONDS, change.size / CHARACTERS_PER_SECOND)

    @property
    def is_taken(self) -> bool:
        """Whether the user runs the cell now: it shows that run, and must not get our outputs."""
        return self._pages.run_taken(self._cell[2])

    def end(self, execution_count: int | None) -> bool:
        """Show the cell as finished; return whether one page was there all the time.

        Then its notebook has the outputs, else they must be stored through the back end.
        """
        self.flush()
        self._pages.run_ended(*self._cell, execution_count)
        return self._steady
