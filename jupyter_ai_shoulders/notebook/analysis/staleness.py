"""Which cells do not show what running the notebook from the top would, and why.

Pure; used by ``notebook.analysis.staleness_tracker``. Combines the order of the cells, the order in
which they ran (execution counts of one generation of the kernel), and the names that each cell
binds, changes and needs. Unknown cases are not marked.
"""

from __future__ import annotations

import builtins
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from jupyter_ai_shoulders.notebook.analysis.name_analysis import CellNames
from jupyter_ai_shoulders.notebook.analysis.run_history import KernelRuns, RecordedRun
from jupyter_ai_shoulders.wire.ids import CellId, Version
from jupyter_ai_shoulders.wire.notebooks import CellMark, CellType

GIVEN = frozenset(dir(builtins)) | {"In", "Out", "display", "get_ipython", "exit", "quit"}
"""Names that exist without any cell; IPython binds the last ones."""
_RESULTS = re.compile(r"_+|_i{0,3}\d*|_i{1,3}|_(?:oh|ih|dh)")
_LONGEST_NAME = 40


class CodeCell(Protocol):
    """A cell of a snapshot or an announcement."""

    @property
    def id(self) -> CellId: ...
    @property
    def cell_type(self) -> CellType: ...
    @property
    def version(self) -> Version: ...
    @property
    def source(self) -> str | None: ...
    @property
    def execution_count(self) -> int | None: ...


NamesOf = Callable[[Version | None, str | None], CellNames]


@dataclass(frozen=True, slots=True)
class StaleReport:
    """The cells to mark; ``note`` says in words what is unknown."""

    marks: Mapping[CellId, CellMark]
    note: str | None = None


NOTHING_STALE = StaleReport({})


def stale_cells(
    cells: Sequence[CodeCell], kernel_runs: KernelRuns | None, names: NamesOf, *, is_python: bool
) -> StaleReport:
    """Return the stale cells; ``kernel_runs`` is the current generation, None when unknown."""
    code = [(number, cell) for number, cell in enumerate(cells, 1) if cell.cell_type == "code"]
    if not any(cell.execution_count is not None for _, cell in code):
        return StaleReport({})
    if kernel_runs is not None and not kernel_runs.runs:
        return StaleReport({}, "nothing ran in this kernel yet" if kernel_runs.whole else None)
    known = kernel_runs.last() if kernel_runs is not None else _by_counts(cell for _, cell in code)
    if kernel_runs is None and not known:
        return StaleReport({}, "cells ran in several kernels")
    at = [_Cell(number, cell, known.get(cell.id), kernel_runs) for number, cell in code]
    marks = _Judge(at, kernel_runs, known, names).marks() if is_python else _marks_without_names(at)
    return StaleReport(marks, _note(at, kernel_runs))


def _by_counts(cells: Iterable[CodeCell]) -> Mapping[CellId, RecordedRun]:
    """Treat the counts of the cells as one generation; not when two cells have the same count."""
    runs = [
        RecordedRun(cell.id, None, cell.execution_count)
        for cell in cells
        if cell.execution_count is not None
    ]
    distinct = len({run.count for run in runs}) == len(runs)
    return {run.cell_id: run for run in runs} if distinct else {}


def _note(cells: Sequence[_Cell], kernel_runs: KernelRuns | None) -> str | None:
    if kernel_runs is None:
        return "staleness judged by execution counts only: edits since the runs are not known"
    unknown = sum(cell.has_run and cell.ran is None and not cell.is_of_old for cell in cells)
    return f"not known of {unknown} cells when they ran" if unknown else None


@dataclass(frozen=True, slots=True)
class _Cell:
    """A code cell, its 1-based number, and its last run if its outputs are of that run."""

    number: int
    cell: CodeCell
    last: RecordedRun | None
    kernel_runs: KernelRuns | None

    @property
    def ran(self) -> RecordedRun | None:
        shown = self.last is not None and self.last.count == self.cell.execution_count
        return self.last if shown else None

    @property
    def has_run(self) -> bool:
        return self.cell.execution_count is not None

    @property
    def is_of_old(self) -> bool:
        """Whether its outputs are of an earlier kernel."""
        whole = self.kernel_runs is not None and self.kernel_runs.whole
        return whole and self.has_run and self.last is None

    @property
    def is_edited(self) -> bool:
        version = self.ran.version if self.ran else None
        return version is not None and version != self.cell.version

    def own_mark(self) -> CellMark | None:
        if self.is_of_old:
            return CellMark(state="kernel", reason="ran in a kernel that is gone")
        if self.is_edited:
            return CellMark(state="edited", reason="edited since it ran")
        return None


def _marks_without_names(cells: Sequence[_Cell]) -> dict[CellId, CellMark]:
    """Judge by edits and the order of the runs alone."""
    marks: dict[CellId, CellMark] = {}
    above: _Cell | None = None
    for cell in cells:
        mark = cell.own_mark()
        if mark is None and above is not None and _ran_before(cell, above):
            reason = f"ran before cell {above.number} above it"
            mark = CellMark(state="order", reason=reason)
        if mark is not None:
            marks[cell.cell.id] = mark
        above = cell if cell.ran else above
    return marks


def _ran_before(cell: _Cell, other: _Cell) -> bool:
    return cell.ran is not None and other.ran is not None and cell.ran.count < other.ran.count


class _Judge:
    """Goes down the notebook and checks for each cell where its names were defined."""

    def __init__(
        self,
        cells: Sequence[_Cell],
        kernel_runs: KernelRuns | None,
        known: Mapping[CellId, RecordedRun],
        names: NamesOf,
    ) -> None:
        self._cells = cells
        self._by_id = {cell.cell.id: cell for cell in cells}
        self._kernel_runs = kernel_runs
        self._names = names
        self._now = [names(cell.cell.version, cell.cell.source) for cell in cells]
        self._opaque = any(now.opaque for now in self._now)
        self._lowest: dict[str, int] = {}
        """The last cell of the notebook that defines a name."""
        for position, now in enumerate(self._now):
            self._lowest.update(dict.fromkeys(now.defines, position))
        runs = kernel_runs.runs.values() if kernel_runs is not None else known.values()
        self._runs = _runs_by_name(runs, self._ran_names)
        self._above: dict[str, int] = {}
        """The last cell above that touches a name, in the notebook's current text."""
        self._marks: dict[CellId, CellMark] = {}

    def marks(self) -> dict[CellId, CellMark]:
        """Return all marks."""
        for position, cell in enumerate(self._cells):
            mark = cell.own_mark()
            if mark is None and cell.ran is not None:
                mark = self._judge(position, cell.ran)
            if mark is not None:
                self._marks[cell.cell.id] = mark
            self._above.update(dict.fromkeys(self._now[position].touches, position))
        return self._marks

    def _ran_names(self, run: RecordedRun) -> CellNames:
        """Return the names of the text that ran; of the current text when that is unknown."""
        names = self._names(run.version, None) if run.version is not None else None
        cell = self._by_id.get(run.cell_id)
        if (names is None or not names.known) and cell is not None:
            return self._names(cell.cell.version, cell.cell.source)
        return names or CellNames()

    def _judge(self, position: int, ran: RecordedRun) -> CellMark | None:
        now = self._now[position]
        later: CellMark | None = None
        for name in self._needs(now):
            definer = self._above.get(name)
            if definer is None:
                if name in now.uses and (mark := self._undefined_mark(position, name, ran)):
                    return mark
            elif not self._is_same(definer, name, ran):
                if mark := self._definer_mark(definer, name, ran):
                    return mark
                later = later or self._stale_definer_mark(definer, name)
        return later

    def _needs(self, now: CellNames) -> Iterator[str]:
        """Yield the names a cell reads, then those read by functions it uses from other cells."""
        seen: set[str] = set()
        open_names = sorted(now.uses | now.mentions, reverse=True)
        while open_names:
            name = open_names.pop()
            if name in seen:
                continue
            seen.add(name)
            yield name
            definer = self._above.get(name)
            if definer is not None:
                open_names += self._now[definer].calls_need.get(name, ())

    def _undefined_mark(self, position: int, name: str, ran: RecordedRun) -> CellMark | None:
        """Return the mark for a name that no cell above defines."""
        if name in GIVEN or name in self._now[position].defines or _RESULTS.fullmatch(name):
            return None
        lowest = self._lowest.get(name)
        if lowest is not None:
            below = next(p for p in range(position + 1, lowest + 1) if name in self._now[p].defines)
            reason = f"uses {_quoted(name)}, which only cell {self._number(below)} below defines"
            return CellMark(state="order", reason=reason)
        if self._opaque:
            return None
        reason = f"uses {_quoted(name)}, which no cell defines"
        source = self._source_of(name, ran)
        if source is not None and self._kernel_runs is not None:
            reason += f" any more: the kernel still has it from {self._cell_label(source)}"
        return CellMark(state="upstream", reason=reason)

    def _is_same(self, definer: int, name: str, ran: RecordedRun) -> bool:
        """Return whether the name means the same whenever its import or function runs."""
        fixed = self._now[definer].fixed.get(name)
        source = self._source_of(name, ran)
        if fixed is None or source is None:
            return False
        return self._ran_names(source).fixed.get(name) == fixed

    def _definer_mark(self, position: int, name: str, ran: RecordedRun) -> CellMark | None:
        """Return the mark for a name that a cell above defines."""
        definer = self._cells[position]
        verb = "defines" if name in self._now[position].defines else "changes"
        uses = f"uses {_quoted(name)}"
        if not definer.has_run:
            reason = f"{uses}, which cell {definer.number} {verb} but has not run"
            return CellMark(state="upstream", reason=reason)
        if definer.ran is None:
            return None
        if definer.is_edited:
            reason = f"{uses} of cell {definer.number}, edited since it ran"
            return CellMark(state="upstream", reason=reason)
        if definer.ran.count > ran.count:
            return self._run_since(definer, name, ran, verb)
        source = self._source_of(name, ran)
        if source is None or source.cell_id in {definer.cell.id, ran.cell_id}:
            return None
        reason = f"{uses} as {self._cell_label(source)} left it, not cell {definer.number}"
        return CellMark(state="order", reason=reason)

    def _run_since(self, definer: _Cell, name: str, ran: RecordedRun, verb: str) -> CellMark:
        earlier = (run for _, run in self._runs.get(name, ()) if run.count < ran.count)
        if any(run.cell_id == definer.cell.id for run in earlier):
            done = "redefined" if verb == "defines" else "changed"
            reason = f"uses {_quoted(name)}, which cell {definer.number} {done} since"
            return CellMark(state="upstream", reason=reason)
        reason = f"ran before cell {definer.number} above it, which {verb} {_quoted(name)}"
        return CellMark(state="order", reason=reason)

    def _stale_definer_mark(self, position: int, name: str) -> CellMark | None:
        definer = self._cells[position]
        mark = self._marks.get(definer.cell.id)
        if mark is None:
            return None
        stale = "which is of an earlier kernel" if mark.state == "kernel" else "which is stale"
        reason = f"uses {_quoted(name)} of cell {definer.number}, {stale}"
        return CellMark(state="upstream", reason=reason)

    def _source_of(self, name: str, ran: RecordedRun) -> RecordedRun | None:
        """Return the last run before ``ran`` that touched a name."""
        runs = self._runs.get(name, [])
        before = bisect_left(runs, ran.count, key=lambda item: item[0])
        return runs[before - 1][1] if before else None

    def _cell_label(self, run: RecordedRun) -> str:
        cell = self._by_id.get(run.cell_id)
        if cell is None:
            return "a cell that is deleted"
        is_other = run.version is not None and run.version != cell.cell.version
        return f"cell {cell.number}{' as it was' if is_other else ''}"

    def _number(self, position: int) -> int:
        return self._cells[position].number


def _runs_by_name(
    runs: Iterable[RecordedRun], names: Callable[[RecordedRun], CellNames]
) -> dict[str, list[tuple[int, RecordedRun]]]:
    found: dict[str, list[tuple[int, RecordedRun]]] = {}
    for run in sorted(runs, key=lambda run: run.count):
        for name in names(run).touches:
            found.setdefault(name, []).append((run.count, run))
    return found


def _quoted(name: str) -> str:
    return f"`{name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + '…'}`"
