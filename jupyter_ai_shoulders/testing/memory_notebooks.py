"""In-memory notebooks and pages, for tests of tools, runs and proposals."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

from jupyter_ai_shoulders.core.errors import Conflict, NotFound
from jupyter_ai_shoulders.notebook.base import (
    Applied,
    Backend,
    CellRun,
    Conflicted,
    InputRecipient,
    NotebookSnapshot,
    RunItem,
    RunProgress,
    RunQuestion,
)
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.frames import CellConflict
from jupyter_ai_shoulders.wire.ids import CellId, ClientId, RunId, Version
from jupyter_ai_shoulders.wire.notebooks import (
    CellDelete,
    CellEdit,
    CellInsert,
    CellMove,
    CellOutputs,
    CellSource,
    CellType,
    NotebookCell,
    OutputSummary,
)
from jupyter_ai_shoulders.wire.versions import cell_version


def memory_cell(
    cell_id: str,
    source: str,
    cell_type: CellType = "code",
    *,
    tags: Sequence[str] = (),
    outputs: Sequence[JsonObject] = (),
) -> NotebookCell:
    """Return a cell like those of the back ends."""
    return NotebookCell(
        id=CellId(cell_id),
        cell_type=cell_type,
        source=source,
        version=cell_version(source),
        metadata={"tags": list(tags)} if tags else {},
        execution_count=None,
        output_summary=(),
        outputs=tuple(outputs),
    )


class MemoryNotebook:
    """A ``Notebook`` in memory; ``pending`` holds conflicts or errors to raise."""

    def __init__(
        self,
        path: str,
        cells: Iterable[NotebookCell] = (),
        *,
        backend: Backend = "disk",
        metadata: JsonObject | None = None,
    ) -> None:
        self.path = path
        self.backend: Backend = backend
        self.cells = list(cells)
        self.metadata: JsonObject = metadata or {}
        self.applied: list[CellEdit] = []
        self.unresponsive = False

    def cell(self, cell_id: str) -> NotebookCell:
        """Return a cell. Raises ``StopIteration``."""
        return next(cell for cell in self.cells if cell.id == cell_id)

    def type_into(self, cell_id: str, source: str) -> None:
        """Change a source without notice, as the user does."""
        self._replace(CellId(cell_id), source=source, version=cell_version(source))

    async def read(self, outputs: Collection[CellId] | Literal["all"] = ()) -> NotebookSnapshot:
        """See ``Notebook.read``."""
        self._answer()
        cells = tuple(
            cell.model_copy(
                update={
                    "output_summary": tuple(_summary(output) for output in cell.outputs or ()),
                    "outputs": cell.outputs if outputs == "all" or cell.id in outputs else None,
                }
            )
            for cell in self.cells
        )
        return NotebookSnapshot(self.path, self.backend, cells, self.metadata, dirty=False)

    async def apply(
        self, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        """See ``Notebook.apply``; the inverse is left empty."""
        self._answer()
        conflicts = [conflict for edit in edits if (conflict := self._conflict(edit, expected))]
        if conflicts:
            return Conflicted(tuple(conflicts))
        for edit in edits:
            self._apply(edit)
            self.applied.append(edit)
        touched = {edit.cell_id for edit in edits}
        return Applied({cell.id: cell.version for cell in self.cells if cell.id in touched}, ())

    def _answer(self) -> None:
        if self.unresponsive:
            raise Conflict("The page does not answer.", code="page_not_responding")

    def _conflict(self, edit: CellEdit, expected: Mapping[CellId, Version]) -> CellConflict | None:
        cell = next((cell for cell in self.cells if cell.id == edit.cell_id), None)
        if isinstance(edit, CellInsert):
            if cell is None:
                return None
            return _conflict_on(cell, "exists")
        if cell is None:
            return CellConflict(cell_id=edit.cell_id, current=None, version=None, reason="deleted")
        flag = "deletable" if isinstance(edit, CellDelete) else "editable"
        if isinstance(edit, CellDelete | CellSource) and cell.metadata.get(flag) is False:
            return _conflict_on(cell, "protected")
        if expected.get(edit.cell_id, cell.version) != cell.version:
            return _conflict_on(cell, "changed")
        return None

    def _apply(self, edit: CellEdit) -> None:
        match edit:
            case CellSource():
                self.type_into(edit.cell_id, edit.source)
            case CellInsert():
                self._insert(memory_cell(edit.cell_id, edit.source, edit.cell_type), edit.after)
            case CellDelete():
                self.cells.remove(self.cell(edit.cell_id))
            case CellMove():
                cell = self.cell(edit.cell_id)
                self.cells.remove(cell)
                self._insert(cell, edit.after)
            case CellOutputs():
                self._replace(
                    edit.cell_id, outputs=edit.outputs, execution_count=edit.execution_count
                )
            case _:
                assert_never(edit)

    def _insert(self, cell: NotebookCell, after: CellId | None) -> None:
        position = 0 if after is None else self.cells.index(self.cell(after)) + 1
        self.cells.insert(position, cell)

    def _replace(self, cell_id: CellId, **changes: object) -> None:
        cell = self.cell(cell_id)
        self.cells[self.cells.index(cell)] = cell.model_copy(update=changes)


class MemoryNotebooks:
    """``Notebooks`` of a few notebooks; those in ``pages`` are open in a page."""

    def __init__(self, *notebooks: MemoryNotebook) -> None:
        self.notebooks = {notebook.path: notebook for notebook in notebooks}
        self.pages: set[str] = set()

    def open(self, path: str) -> MemoryNotebook:
        """See ``Notebooks.open``."""
        try:
            return self.notebooks[path]
        except KeyError as error:
            raise NotFound(f"There is no notebook {path!r}.") from error

    def in_page(self, path: str) -> bool:
        """See ``Notebooks.in_page``."""
        return path in self.pages


@dataclass(frozen=True, slots=True)
class RunFrame:
    """A notification of a run sent to a page; ``detail`` is the output index or execution count."""

    kind: Literal["start", "output", "ask", "answered", "end"]
    path: str
    cell_id: CellId
    run_id: RunId
    detail: int | None = None


class NotebookNameList:
    """``NotebookIndex`` from a list."""

    def __init__(self, *names: str) -> None:
        self.names = names

    async def near(self, path: str) -> tuple[str, ...]:
        """Return all notebooks, for any path."""
        del path
        return self.names

    async def all(self) -> tuple[str, ...]:
        return self.names


class ScriptedRunner:
    """A ``CellRunner`` that ends each cell as scripted; cells not named succeed."""

    def __init__(self, runs: Mapping[str, CellRun] | None = None) -> None:
        self.runs = dict(runs or {})
        self.progress: list[RunProgress] = []
        self.ran: list[tuple[str, CellId]] = []
        self.gone: set[CellId] = set()
        self.begun = asyncio.Event()
        """Set when the first cell has run."""

    async def run(
        self, path: str, cell_id: CellId, asker: InputRecipient | None = None
    ) -> AsyncGenerator[RunItem]:
        """See ``CellRunner.run``."""
        del asker
        if cell_id in self.gone:
            raise NotFound(f"There is no cell {cell_id!r}.", code="cell_not_found")
        self.ran.append((path, cell_id))
        self.begun.set()
        for progress in self.progress:
            yield progress
        yield self.runs.get(cell_id) or CellRun("ok", (), len(self.ran), 100, "kernel")

    async def kernel_of(self, path: str) -> str | None:
        """See ``CellRunner.kernel_of``."""
        return f"kernel of {path}"


class RecordingPages:
    """``Pages`` that record notifications; ``owners`` maps paths to the page that has them open."""

    def __init__(self) -> None:
        self.owners: dict[str, ClientId] = {}
        self.frames: list[RunFrame] = []
        self.shown: list[JsonObject] = []
        """The running cell's outputs, as a page would show them."""
        self.taken: set[RunId] = set()
        self.question: RunQuestion | None = None

    def owner(self, path: str) -> ClientId | None:
        """See ``Pages.owner``."""
        return self.owners.get(path)

    async def read(
        self, path: str, outputs: Collection[CellId] | Literal["all"]
    ) -> NotebookSnapshot:
        """Fail: these pages only support runs."""
        raise NotImplementedError

    async def apply(
        self, path: str, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        """Fail: these pages only support runs."""
        raise NotImplementedError

    def run_started(self, path: str, cell_id: CellId, run_id: RunId) -> None:
        """See ``Pages.run_started``."""
        self.frames.append(RunFrame("start", path, cell_id, run_id))
        self.shown = []

    def run_output(
        self,
        path: str,
        cell_id: CellId,
        run_id: RunId,
        index: int,
        outputs: Sequence[JsonObject],
    ) -> None:
        """See ``Pages.run_output``."""
        self.frames.append(RunFrame("output", path, cell_id, run_id, index))
        self.shown[index:] = outputs

    def run_ended(
        self, path: str, cell_id: CellId, run_id: RunId, execution_count: int | None
    ) -> None:
        """See ``Pages.run_ended``."""
        self.frames.append(RunFrame("end", path, cell_id, run_id, execution_count))

    def run_taken(self, run_id: RunId) -> bool:
        """See ``Pages.run_taken``."""
        return run_id in self.taken

    def run_asks(self, path: str, cell_id: CellId, run_id: RunId, question: RunQuestion) -> None:
        """See ``Pages.run_asks``."""
        self.frames.append(RunFrame("ask", path, cell_id, run_id, question.number))
        self.question = question

    def run_answered(self, path: str, cell_id: CellId, run_id: RunId, number: int) -> None:
        """See ``Pages.run_answered``."""
        self.frames.append(RunFrame("answered", path, cell_id, run_id, number))
        self.question = None


def _conflict_on(
    cell: NotebookCell, reason: Literal["changed", "protected", "exists"]
) -> CellConflict:
    return CellConflict(cell_id=cell.id, current=cell.source, version=cell.version, reason=reason)


def _summary(output: JsonObject) -> OutputSummary:
    data = output.get("data")
    return OutputSummary.model_validate(
        {
            "kind": output["output_type"],
            "mime_types": tuple(data) if isinstance(data, dict) else (),
            "size": len(str(output)),
        }
    )
