"""The tools that run cells in the notebook's own kernel (chapters 05 and 06)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import ClassVar

from pydantic import Field

from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound
from jupyter_ai_shoulders.notebook.base import CellRun, CellRunner, NotebookSnapshot
from jupyter_ai_shoulders.notebook.render import run_text
from jupyter_ai_shoulders.tools.base import (
    CallContext,
    CallSubject,
    Category,
    Effect,
    Progress,
    Result,
    Target,
    ToolArguments,
    text_content,
)
from jupyter_ai_shoulders.tools.notebook_access import (
    NEVER_RUN,
    NOTEBOOK_TOOLSETS,
    CellPlace,
    NotebookAccess,
    failed,
    file_name,
    has_tag,
    no_such_cell,
    notebook_language,
)
from jupyter_ai_shoulders.tools.run_outputs import shown_outputs
from jupyter_ai_shoulders.wire.base import Json, JsonObject
from jupyter_ai_shoulders.wire.errors import ErrorCode, ErrorInfo
from jupyter_ai_shoulders.wire.events import Risk
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import NotebookCell
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope
from jupyter_ai_shoulders.wire.sessions import Toolset

PREVIEW_LIMIT = 100_000
"""Characters of code shown for a run of all cells."""


class RunCellArguments(ToolArguments):
    """Arguments of ``run_cell``."""

    path: str = Field(description="Workspace-relative path of the notebook.")
    cell_id: CellId = Field(description="Id of the code cell, as read_notebook shows it.")


class RunCell:
    """Runs one cell as it stands in the notebook."""

    name: ClassVar[str] = "run_cell"
    category: ClassVar[Category] = "notebook"
    risk: ClassVar[Risk] = "execute"
    external: ClassVar[bool] = False
    idempotent: ClassVar[bool] = False
    toolsets: ClassVar[frozenset[Toolset]] = NOTEBOOK_TOOLSETS
    arguments = RunCellArguments

    def __init__(self, access: NotebookAccess, runner: CellRunner) -> None:
        self._access = access
        self._runner = runner

    async def subject(self, args: RunCellArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, with the code that would run."""
        del context
        place = await self._access.find_cell(args.path, args.cell_id)
        path = place.snapshot.path
        return CallSubject(
            title=f"Run cell {place.number}",
            target_label=file_name(path),
            target=Target(path=path, cell_id=place.cell.id),
            preview=place.cell.source,
            language=place.language,
            in_page=self._access.in_page(path),
            effect=Effect(
                before_version=place.cell.version, kernel_id=await self._runner.kernel_of(path)
            ),
        )

    async def run(
        self, args: RunCellArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Run it and wait for its end."""
        del context
        place = await self._access.find_cell(args.path, args.cell_id)
        if has_tag(place.cell, NEVER_RUN):
            yield failed(_never(place))
            return
        async with aclosing(self._runner.run(place.snapshot.path, place.cell.id)) as items:
            async for item in items:
                if isinstance(item, CellRun):
                    yield run_result(place, item)
                else:
                    yield Progress(item.channel, item.text)


class RunAllCellsArguments(ToolArguments):
    """Arguments of ``run_all_cells``."""

    path: str = Field(description="Workspace-relative path of the notebook.")
    first: CellId | None = Field(
        default=None, alias="from", description="Id of the first cell to run; none: the top."
    )
    last: CellId | None = Field(
        default=None, alias="to", description="Id of the last cell to run; none: the end."
    )


@dataclass(frozen=True, slots=True)
class _Range:
    """The code cells to run, with their numbers, and those that are skipped."""

    snapshot: NotebookSnapshot
    cells: tuple[tuple[int, NotebookCell], ...]
    skipped: tuple[tuple[int, NotebookCell], ...]


class RunAllCells:
    """Runs the code cells in order up to the first failure."""

    name: ClassVar[str] = "run_all_cells"
    category: ClassVar[Category] = "notebook"
    risk: ClassVar[Risk] = "execute"
    external: ClassVar[bool] = False
    idempotent: ClassVar[bool] = False
    toolsets: ClassVar[frozenset[Toolset]] = NOTEBOOK_TOOLSETS
    arguments = RunAllCellsArguments

    def __init__(self, access: NotebookAccess, runner: CellRunner) -> None:
        self._access = access
        self._runner = runner

    async def subject(self, args: RunAllCellsArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, with all the code that would run."""
        del context
        cells = await self._range(args)
        path = cells.snapshot.path
        count = len(cells.cells)
        ranged = args.first is not None or args.last is not None
        return CallSubject(
            title=f"Run {count} cell{'s' * (count != 1)}" if ranged else "Run all cells",
            target_label=file_name(path),
            target=Target(path=path),
            preview=_preview(cells),
            language=notebook_language(cells.snapshot),
            in_page=self._access.in_page(path),
            effect=Effect(kernel_id=await self._runner.kernel_of(path)),
        )

    async def run(
        self, args: RunAllCellsArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Run them one by one; a cell the user deletes meanwhile is left out."""
        del context
        cells = await self._range(args)
        report = RunReport(cells.snapshot.path, len(cells.cells), cells.skipped)
        for position, (number, cell) in enumerate(cells.cells, start=1):
            yield Progress("status", f"Cell {number} ({position} of {len(cells.cells)})")
            async with aclosing(self._run_one(cells.snapshot.path, number, cell, report)) as items:
                async for progress in items:
                    yield progress
            if report.failure is not None:
                break
        yield report.result()

    async def _run_one(
        self, path: str, number: int, cell: NotebookCell, report: RunReport
    ) -> AsyncGenerator[Progress]:
        try:
            async with aclosing(self._runner.run(path, cell.id)) as items:
                async for item in items:
                    if isinstance(item, CellRun):
                        report.add(number, cell.id, item)
                    else:
                        yield Progress(item.channel, item.text)
        except NotFound as error:
            if error.info.code != "cell_not_found":
                raise
            report.gone.append(number)

    async def _range(self, args: RunAllCellsArguments) -> _Range:
        snapshot = await (await self._access.open(args.path)).read()
        ids = [cell.id for cell in snapshot.cells]
        for asked in (args.first, args.last):
            if asked is not None and asked not in ids:
                raise no_such_cell(snapshot, asked)
        first = ids.index(args.first) if args.first is not None else 0
        last = ids.index(args.last) if args.last is not None else len(ids) - 1
        if first > last and ids:
            raise InvalidRequest(f"Cell {args.first!r} comes after cell {args.last!r}.")
        code = [
            (number, cell)
            for number, cell in enumerate(snapshot.cells, start=1)
            if first < number <= last + 1 and cell.cell_type == "code" and cell.source.strip()
        ]
        runnable = tuple(pair for pair in code if not has_tag(pair[1], NEVER_RUN))
        return _Range(snapshot, runnable, tuple(pair for pair in code if pair not in runnable))


class RunReport:
    """What became of the cells of ``run_all_cells``."""

    def __init__(self, path: str, total: int, skipped: Sequence[tuple[int, NotebookCell]]) -> None:
        self._path = path
        self._total = total
        self._skipped = skipped
        self._ran: list[tuple[int, CellId, CellRun]] = []
        self.gone: list[int] = []

    @property
    def failure(self) -> tuple[int, CellId, CellRun] | None:
        """The cell that ended the run, if one failed."""
        last = self._ran[-1] if self._ran else None
        return last if last is not None and last[2].status != "ok" else None

    def add(self, number: int, cell_id: CellId, run: CellRun) -> None:
        """Note how a cell ended."""
        self._ran.append((number, cell_id, run))

    def result(self) -> Result:
        """Return the whole as the tool's result."""
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
        first = f"Ran {self._path}: {good} of {self._total} code cells finished ok."
        not_run = self._total - len(self._ran) - len(self.gone)
        if not_run:
            first += f" Stopped at the failing one; {not_run} were not run."
        notes = [first, self._skipped_text()]
        # The outputs of the last cell are what a reader needs; the others' are in the notebook.
        texts = [run_text(number, cell_id, run) for number, cell_id, run in self._ran]
        lines = [text.partition("\n")[0] for text in texts[:-1]] + texts[-1:]
        hint = error.hint if error else None
        return [line for line in (*notes, *lines, hint) if line]

    def _skipped_text(self) -> str | None:
        notes = [
            f"Cell {number} (id={cell.id}) is marked {NEVER_RUN} and was skipped."
            for number, cell in self._skipped
        ]
        notes += [f"Cell {number} was deleted meanwhile." for number in self.gone]
        return " ".join(notes) or None

    def _data(self) -> JsonObject:
        failure = self.failure
        skipped: list[Json] = [
            {"cell_id": cell.id, "index": number - 1} for number, cell in self._skipped
        ]
        return {
            "path": self._path,
            "cells": [_row(number, cell_id, run) for number, cell_id, run in self._ran],
            "skipped": skipped,
            "stopped_at": failure[1] if failure else None,
            "outputs": shown_outputs(self._ran[-1][2].outputs) if self._ran else [],
        }


def run_result(place: CellPlace, run: CellRun) -> Result:
    """Return a finished run as the tool's result."""
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
                "outputs": shown_outputs(run.outputs),
            },
            warning=run.warning,
            error=error,
            meta=ResultMeta(duration_ms=run.duration_ms),
        ),
        content=text_content("\n".join([text, *(note for note in notes if note)])),
    )


def run_error(label: str, run: CellRun) -> ErrorInfo | None:
    """Return why a run did not end well, with what to do about it; None when it did."""
    codes: dict[str, ErrorCode] = {
        "error": "cell_error",
        "aborted": "aborted",
        "died": "kernel_died",
        "cancelled": "aborted",
    }
    if run.status == "ok":
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
        return "Cells run for the agent cannot ask for input: put the value into the code."
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


def _never(place: CellPlace) -> ErrorInfo:
    return ErrorInfo(
        code="denied",
        message=f"{place.label} is marked {NEVER_RUN}; it was not run.",
        hint="Leave it, or ask the user to run it or to take the mark away.",
    )


def _preview(cells: _Range) -> str:
    parts = [f"# cell {number}\n{cell.source}" for number, cell in cells.cells]
    text = "\n\n".join(parts)
    if len(text) <= PREVIEW_LIMIT:
        return text
    return f"{text[:PREVIEW_LIMIT]}\n… and more: {len(text)} characters in {len(parts)} cells"
