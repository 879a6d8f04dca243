"""Results of the tools that run cells; used by ``tools.notebook.run``."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_ai_shoulders.notebook.base import CellRun, RunStarted
from jupyter_ai_shoulders.notebook.render import run_text
from jupyter_ai_shoulders.tools.base import Result, text_content
from jupyter_ai_shoulders.tools.notebook.access import NEVER_RUN, LocatedCell
from jupyter_ai_shoulders.tools.notebook.output_limits import bounded_outputs
from jupyter_ai_shoulders.wire.base import Json, JsonObject
from jupyter_ai_shoulders.wire.errors import ErrorCode, ErrorInfo
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import NotebookCell
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope

_UNFAILED = frozenset({"ok", "running"})


class RunReport:
    """Collects the results of ``run_all_cells``."""

    def __init__(self, path: str, total: int, skipped: Sequence[tuple[int, NotebookCell]]) -> None:
        self.path = path
        self._total = total
        self._skipped = skipped
        self._ran: list[tuple[int, CellId, CellRun]] = []
        self._deleted: list[int] = []
        self._running: tuple[int, CellId, RunStarted] | None = None

    @property
    def failure(self) -> tuple[int, CellId, CellRun] | None:
        """The cell that ended the run, if one failed."""
        last = self._ran[-1] if self._ran else None
        return last if last is not None and last[2].status not in _UNFAILED else None

    def begin(self, number: int, cell_id: CellId, begun: RunStarted) -> None:
        """Record that a cell has started."""
        self._running = (number, cell_id, begun)

    def add(self, number: int, cell_id: CellId, run: CellRun) -> None:
        """Record the outcome of a cell."""
        self._running = None
        self._ran.append((number, cell_id, run))

    def leave_out(self, number: int) -> None:
        """Record that a cell was deleted."""
        self._running = None
        self._deleted.append(number)

    def result(self) -> Result:
        """Return the tool's result, partial while a cell is running."""
        if self._running is not None:
            number, cell_id, begun = self._running
            so_far = RunReport(self.path, self._total, self._skipped)
            so_far._deleted = self._deleted
            so_far._ran = [*self._ran, (number, cell_id, begun.look())]
            return so_far.result()
        failure = self.failure
        error = run_error(f"Cell {failure[0]} (id={failure[1]})", failure[2]) if failure else None
        return Result(
            envelope=ToolEnvelope(
                ok=error is None,
                kind="outputs",
                data=self._data(),
                warning=self._skipped_text(),
                error=error,
                meta=ResultMeta(
                    total=self._total,
                    duration_ms=sum(run.duration_ms for _, _, run in self._ran),
                ),
            ),
            content=text_content("\n".join(self._lines(error))),
        )

    def _lines(self, error: ErrorInfo | None) -> list[str]:
        good = sum(run.status == "ok" for _, _, run in self._ran)
        first = f"Ran {self.path}: {good} of {self._total} code cells finished ok."
        not_run = self._total - len(self._ran) - len(self._deleted)
        if not_run and self.failure is not None:
            first += f" Stopped at the failing one; {not_run} were not run."
        notes = [first, self._skipped_text()]
        # The reader needs the outputs of the last cell; the notebook has the others.
        texts = [run_text(number, cell_id, run) for number, cell_id, run in self._ran]
        lines = [text.partition("\n")[0] for text in texts[:-1]] + texts[-1:]
        hint = error.hint if error else None
        return [line for line in (*notes, *lines, hint) if line]

    def _skipped_text(self) -> str | None:
        notes = [
            f"Cell {number} (id={cell.id}) is marked {NEVER_RUN} and was skipped."
            for number, cell in self._skipped
        ]
        notes += [f"Cell {number} was deleted meanwhile." for number in self._deleted]
        return " ".join(notes) or None

    def _data(self) -> JsonObject:
        failure = self.failure
        skipped: list[Json] = [
            {"cell_id": cell.id, "index": number - 1} for number, cell in self._skipped
        ]
        return {
            "path": self.path,
            "cells": [_row(number, cell_id, run) for number, cell_id, run in self._ran],
            "skipped": skipped,
            "stopped_at": failure[1] if failure else None,
            "outputs": bounded_outputs(self._ran[-1][2].outputs) if self._ran else [],
        }


def run_result(place: LocatedCell, run: CellRun) -> Result:
    """Return the tool's result for a finished run."""
    error = run_error(place.label, run)
    text = run_text(place.number, place.cell.id, run)
    notes = [run.warning, error.hint if error else None]
    return Result(
        envelope=ToolEnvelope(
            ok=error is None,
            kind="outputs",
            data={
                "path": place.snapshot.path,
                **_row(place.number, place.cell.id, run),
                "outputs": bounded_outputs(run.outputs),
            },
            warning=run.warning,
            error=error,
            meta=ResultMeta(duration_ms=run.duration_ms),
        ),
        content=text_content("\n".join([text, *(note for note in notes if note)])),
    )


def run_error(label: str, run: CellRun) -> ErrorInfo | None:
    """Return the error of a run with a hint; None if it succeeded."""
    codes: dict[str, ErrorCode] = {
        "error": "cell_error",
        "aborted": "aborted",
        "died": "kernel_died",
        "cancelled": "aborted",
    }
    if run.status in _UNFAILED:
        return None
    failure = run.failure or run.status
    return ErrorInfo(
        code=codes[run.status],
        message=f"{label} did not finish: {failure}",
        hint=_hint(run.status, failure),
        retryable=run.status in {"aborted", "died"},
    )


def _hint(status: str, failure: str) -> str | None:
    if failure.startswith("StdinNotImplementedError"):
        return "Nobody could answer input(): put the value into the code."
    if status == "aborted":
        return "Run it again once the cell that failed before it is dealt with."
    if status == "died":
        return "All variables are gone; the next run starts in a fresh kernel."
    return None


def _row(number: int, cell_id: CellId, run: CellRun) -> JsonObject:
    return {
        "cell_id": cell_id,
        "index": number - 1,
        "status": run.status,
        "execution_count": run.execution_count,
        "duration_ms": run.duration_ms,
        "failure": run.failure,
    }
