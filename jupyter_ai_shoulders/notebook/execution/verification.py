"""Runs a copy of a notebook from top to bottom in a separate kernel.

The tools' ``Verifier``, made by ``host.documents.notebooks``. Verifies the current text, including
unsaved changes. The user's kernel and notebook are not affected; effects of cells on files are
real, in the notebook's folder.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.notebook.base import (
    CellRun,
    KernelDirectory,
    KernelHandle,
    Notebooks,
    NotebookSnapshot,
    RunProgress,
)
from jupyter_ai_shoulders.notebook.execution.cell_runner import kernel_name
from jupyter_ai_shoulders.notebook.kernels.connection import KernelConnection
from jupyter_ai_shoulders.notebook.outputs.collector import OutputCollector, OutputLimits
from jupyter_ai_shoulders.notebook.outputs.comparison import OutputDifference, output_differences
from jupyter_ai_shoulders.notebook.outputs.run_log import RunLog
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import NotebookCell

if TYPE_CHECKING:
    from jupyter_ai_shoulders.notebook.kernels.execute_request import MessageReader

RAISES = "raises-exception"
"""The tag of cells that are meant to fail, as nbclient and jupyter-book know it."""


@dataclass(frozen=True, slots=True)
class CheckedCell:
    """A cell that ran; ``number`` counts from 1."""

    number: int
    cell_id: CellId
    run: CellRun
    changed: tuple[OutputDifference, ...] = ()
    """Outputs that differ from the stored ones."""
    is_meant_to_fail: bool = False

    @property
    def is_ok(self) -> bool:
        """Whether the following cells can run."""
        return self.run.status == "ok" or (self.run.status == "error" and self.is_meant_to_fail)


@dataclass(frozen=True, slots=True)
class VerificationPlan:
    """The cells to run, in order, and those left out."""

    snapshot: NotebookSnapshot
    kernel_name: str | None
    cells: tuple[tuple[int, NotebookCell], ...]
    skipped: tuple[tuple[int, NotebookCell], ...]


class Verifier(Protocol):
    """Verifies that a notebook runs from top to bottom."""

    async def plan(self, path: str, skip: Callable[[NotebookCell], bool]) -> VerificationPlan:
        """Return the cells to run: code cells except those to ``skip``. Raises like reading."""
        ...

    def verify(self, plan: VerificationPlan) -> AsyncGenerator[RunProgress | CheckedCell]:
        """Run the cells up to the first failure, in a kernel that ends with this.

        Raises ``NotFound`` (no such kernelspec), ``Conflict`` (the kernel does not start).
        """
        ...


class KernelVerifier:
    """The ``Verifier`` over the throw-away kernels of a ``KernelDirectory``."""

    def __init__(
        self,
        *,
        notebooks: Notebooks,
        kernels: KernelDirectory,
        clock: Clock,
        limits: OutputLimits | None = None,
    ) -> None:
        self._notebooks = notebooks
        self._kernels = kernels
        self._clock = clock
        self._limits = limits

    async def plan(self, path: str, skip: Callable[[NotebookCell], bool]) -> VerificationPlan:
        """See ``Verifier.plan``."""
        snapshot = await self._notebooks.open(path).read("all")
        code = [
            (number, cell)
            for number, cell in enumerate(snapshot.cells, start=1)
            if cell.cell_type == "code" and cell.source.strip()
        ]
        skipped = tuple(pair for pair in code if skip(pair[1]))
        cells = tuple(pair for pair in code if pair not in skipped)
        return VerificationPlan(snapshot, await self._kernel_name(snapshot), cells, skipped)

    async def verify(self, plan: VerificationPlan) -> AsyncGenerator[RunProgress | CheckedCell]:
        """See ``Verifier.verify``."""
        yield RunProgress("status", "Starting a fresh kernel.")
        async with self._kernels.throwaway(plan.snapshot.path, plan.kernel_name) as handle:
            connection = KernelConnection(handle)
            try:
                await connection.open(lambda: None)
                async with aclosing(self._run_all(plan, connection)) as items:
                    async for item in items:
                        yield item
            finally:
                await connection.close()

    async def _run_all(
        self, plan: VerificationPlan, connection: KernelConnection
    ) -> AsyncGenerator[RunProgress | CheckedCell]:
        from jupyter_ai_shoulders.notebook.kernels.execute_request import MessageReader

        reader = MessageReader(connection)
        for position, (number, cell) in enumerate(plan.cells, start=1):
            yield RunProgress("status", f"Cell {number} ({position} of {len(plan.cells)})")
            run_log = RunLog()
            run: CellRun | None = None
            async with aclosing(self._run(cell, connection, reader, run_log)) as items:
                async for item in items:
                    if isinstance(item, CellRun):
                        run = item
                    else:
                        yield item
            assert run is not None
            checked = CheckedCell(
                number, cell.id, run, _changed(cell, run), _is_meant_to_fail(cell)
            )
            yield checked
            if not checked.is_ok:
                return

    async def _run(
        self,
        cell: NotebookCell,
        connection: KernelConnection,
        reader: MessageReader,
        run_log: RunLog,
    ) -> AsyncGenerator[RunProgress | CellRun]:
        from jupyter_ai_shoulders.notebook.execution.detached_run import DetachedRun
        from jupyter_ai_shoulders.notebook.kernels.execute_request import CellRequest

        request = CellRequest(reader, OutputCollector(self._limits), run_log)
        request.send(connection, cell.source, cell.id)
        run = DetachedRun(request, connection, self._clock)
        try:
            while not await run.wait():
                for piece in run_log.take():
                    yield piece
        finally:
            request.close()
        for piece in run_log.take():
            yield piece
        yield run.current_result()

    async def _kernel_name(self, snapshot: NotebookSnapshot) -> str | None:
        """Return the kernelspec the notebook names, else that of its current kernel."""
        name = kernel_name(snapshot)
        if name is not None:
            return name
        handle: KernelHandle | None = await self._kernels.find(snapshot.path)
        return None if handle is None else handle.kernel_name


def _changed(cell: NotebookCell, run: CellRun) -> tuple[OutputDifference, ...]:
    """Return the changed outputs; a cell that never ran has nothing to compare."""
    if run.status != "ok" or (cell.execution_count is None and not cell.outputs):
        return ()
    return output_differences(cell.outputs or (), run.outputs)


def _is_meant_to_fail(cell: NotebookCell) -> bool:
    tags = cell.metadata.get("tags")
    return isinstance(tags, list) and RAISES in tags
