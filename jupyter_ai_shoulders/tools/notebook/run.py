"""The tools that run cells in the notebook's own kernel."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial

from pydantic import Field

from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound
from jupyter_ai_shoulders.notebook.base import (
    CellRun,
    CellRunner,
    InputRecipient,
    NotebookSnapshot,
    RunInput,
    RunInputEnd,
    RunProgress,
    RunStarted,
)
from jupyter_ai_shoulders.tools.base import (
    BackgroundCall,
    BaseTool,
    CallContext,
    CallSubject,
    Effect,
    InputEnded,
    InputRequested,
    Progress,
    Result,
    Target,
    ToolArguments,
    ToolOutput,
    text_content,
)
from jupyter_ai_shoulders.tools.notebook.access import (
    ASK_BEFORE_RUN,
    NEVER_RUN,
    LocatedCell,
    NotebookAccess,
    failure_result,
    file_name,
    has_tag,
    no_such_cell,
    notebook_language,
)
from jupyter_ai_shoulders.tools.notebook.output_images import OutputImageExtractor
from jupyter_ai_shoulders.tools.notebook.run_durations import RunDurations
from jupyter_ai_shoulders.tools.notebook.run_report import RunReport, run_result
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import NotebookCell

PREVIEW_LIMIT = 100_000
"""Characters of code shown for a run of all cells."""


class RunCellArguments(ToolArguments):
    """Arguments of ``run_cell``."""

    path: str = Field(description="Workspace-relative path of the notebook.")
    cell_id: CellId = Field(description="Id of the code cell, as read_notebook shows it.")


class RunCell(BaseTool[RunCellArguments]):
    """Runs one cell with its current source."""

    name = "run_cell"
    category = "notebook"
    risk = "execute"
    arguments = RunCellArguments

    def __init__(
        self,
        access: NotebookAccess,
        runner: CellRunner,
        pictures: OutputImageExtractor,
        times: RunDurations,
    ) -> None:
        self._access = access
        self._runner = runner
        self._pictures = pictures
        self._times = times

    async def subject(self, args: RunCellArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, with the code that would run."""
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
            always_ask_reason=_ask_tag_reason([(place.number, place.cell)]),
            last_duration_ms=await self._times.last(path, place.cell),
        )

    async def run(self, args: RunCellArguments, context: CallContext) -> AsyncIterator[ToolOutput]:
        place = await self._access.find_cell(args.path, args.cell_id)
        if has_tag(place.cell, NEVER_RUN):
            yield failure_result(_never(place))
            return
        run = self._runner.run(place.snapshot.path, place.cell.id, input_recipient(context))
        async with aclosing(run) as items:
            async for item in items:
                if isinstance(item, CellRun):
                    yield await self._result(place, item)
                elif isinstance(item, RunStarted):
                    yield BackgroundCall(partial(_so_far, place, item))
                else:
                    yield tool_output(item)

    async def _result(self, place: LocatedCell, run: CellRun) -> Result:
        """Return the result, with images for the model."""
        await self._times.record(place.snapshot.path, place.cell.id, run.duration_ms)
        result = run_result(place, run)
        pictures = await self._pictures.extract(place.snapshot.path, place.cell.id, run.outputs)
        notes = text_content("\n".join(pictures.notes)) if pictures.notes else ()
        return replace(result, content=(*result.content, *notes, *pictures.parts))


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
class _CellRange:
    """The code cells to run, with their numbers, and those that are skipped."""

    snapshot: NotebookSnapshot
    cells: tuple[tuple[int, NotebookCell], ...]
    skipped: tuple[tuple[int, NotebookCell], ...]


class RunAllCells(BaseTool[RunAllCellsArguments]):
    """Runs the code cells in order up to the first failure."""

    name = "run_all_cells"
    category = "notebook"
    risk = "execute"
    arguments = RunAllCellsArguments

    def __init__(self, access: NotebookAccess, runner: CellRunner, times: RunDurations) -> None:
        self._access = access
        self._runner = runner
        self._times = times

    async def subject(self, args: RunAllCellsArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown, with all the code that would run."""
        cells = await self._range(args)
        path = cells.snapshot.path
        count = len(cells.cells)
        lasts = [await self._times.last(path, cell) for _, cell in cells.cells]
        known = [last for last in lasts if last is not None]
        ranged = args.first is not None or args.last is not None
        some = "Run 1 cell" if count == 1 else f"Run {count} cells"
        return CallSubject(
            title=some if ranged else "Run all cells",
            target_label=file_name(path),
            target=Target(path=path),
            preview=_preview(cells),
            language=notebook_language(cells.snapshot),
            in_page=self._access.in_page(path),
            effect=Effect(kernel_id=await self._runner.kernel_of(path)),
            always_ask_reason=_ask_tag_reason(cells.cells),
            last_duration_ms=sum(known) if known else None,
        )

    async def run(
        self, args: RunAllCellsArguments, context: CallContext
    ) -> AsyncIterator[ToolOutput]:
        """Run them in order; a cell deleted during the run is skipped."""
        cells = await self._range(args)
        report = RunReport(cells.snapshot.path, len(cells.cells), cells.skipped)
        yield BackgroundCall(report.result)
        asker = input_recipient(context)
        for position, (number, cell) in enumerate(cells.cells, start=1):
            yield Progress("status", f"Cell {number} ({position} of {len(cells.cells)})")
            async with aclosing(self._run_one(asker, number, cell, report)) as items:
                async for item in items:
                    yield item
            if report.failure is not None:
                break
        yield report.result()

    async def _run_one(
        self, asker: InputRecipient, number: int, cell: NotebookCell, report: RunReport
    ) -> AsyncGenerator[ToolOutput]:
        try:
            async with aclosing(self._runner.run(report.path, cell.id, asker)) as items:
                async for item in items:
                    if isinstance(item, CellRun):
                        await self._times.record(report.path, cell.id, item.duration_ms)
                        report.add(number, cell.id, item)
                    elif isinstance(item, RunStarted):
                        report.begin(number, cell.id, item)
                    else:
                        yield tool_output(item)
        except NotFound as error:
            if error.info.code != "cell_not_found":
                raise
            report.leave_out(number)

    async def _range(self, args: RunAllCellsArguments) -> _CellRange:
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
        return _CellRange(snapshot, runnable, tuple(pair for pair in code if pair not in runnable))


def input_recipient(context: CallContext) -> InputRecipient:
    """Return the recipient of input requests."""
    return InputRecipient(context.session_id, context.call_id, context.interactive)


def tool_output(
    item: RunProgress | RunInput | RunInputEnd,
) -> Progress | InputRequested | InputEnded:
    """Convert an item of a run to tool output."""
    match item:
        case RunProgress():
            return Progress(item.channel, item.text)
        case RunInput():
            return InputRequested(item.prompt, item.password)
        case RunInputEnd():
            return InputEnded(item.answered)


def _ask_tag_reason(cells: Sequence[tuple[int, NotebookCell]]) -> str | None:
    """Return why running these cells always asks; None if no cell has the tag."""
    marked = [str(number) for number, cell in cells if has_tag(cell, ASK_BEFORE_RUN)]
    if not marked:
        return None
    if len(marked) == 1:
        return f"You marked cell {marked[0]} to be asked about before it runs."
    return f"You marked cells {', '.join(marked)} to be asked about before they run."


def _so_far(place: LocatedCell, begun: RunStarted) -> Result:
    return run_result(place, begun.look())


def _never(place: LocatedCell) -> ErrorInfo:
    return ErrorInfo(
        code="denied",
        message=f"{place.label} is marked {NEVER_RUN}; it was not run.",
        hint="Leave it, or ask the user to run it or to remove the mark.",
    )


def _preview(cells: _CellRange) -> str:
    parts = [f"# cell {number}\n{cell.source}" for number, cell in cells.cells]
    text = "\n\n".join(parts)
    if len(text) <= PREVIEW_LIMIT:
        return text
    return f"{text[:PREVIEW_LIMIT]}\n… and more: {len(text)} characters in {len(parts)} cells"
