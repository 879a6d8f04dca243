"""Which text of which cell ran when, for each generation of each kernel.

The data for ``notebook.analysis.staleness``: pages report the user's runs, the runner the agent's.
Kernels are not asked. Kept in memory: after a restart the server knows only the counts.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from jupyter_ai_shoulders.notebook.analysis.name_analysis import UNKNOWN, CellNames, cell_names
from jupyter_ai_shoulders.wire.frames import AnnouncedCell
from jupyter_ai_shoulders.wire.ids import CellId, Version

MAX_SOURCES = 20_000
MAX_KERNELS = 100
MAX_RUNS = 5_000
LONGEST_SOURCE = 200_000
"""Characters; a longer cell is not analysed."""


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One run of a cell; ``version`` is None when only its count is known."""

    cell_id: CellId
    version: Version | None
    count: int


@dataclass(slots=True)
class KernelRuns:
    """The known runs of one kernel generation, by execution count."""

    runs: dict[int, RecordedRun] = field(default_factory=dict[int, RecordedRun])
    whole: bool = False
    """Whether it was observed from its start: a cell missing in ``runs`` did not run in it."""
    revision: int = 0
    serial: int = 0
    """Distinguishes generations."""

    def add(self, run: RecordedRun) -> bool:
        """Record a run; return whether it was new."""
        if self.runs.get(run.count) == run:
            return False
        self.runs[run.count] = run
        self.whole |= run.count == 1
        self.revision += 1
        if len(self.runs) > MAX_RUNS:
            self._drop_oldest()
        return True

    def last(self) -> Mapping[CellId, RecordedRun]:
        """Return the last run of each cell."""
        return {self.runs[count].cell_id: self.runs[count] for count in sorted(self.runs)}

    def _drop_oldest(self) -> None:
        last = {run.count for run in self.last().values()}
        for count in sorted(self.runs)[: MAX_RUNS // 2]:
            if count not in last:
                del self.runs[count]


class SourceCache:
    """Sources by version, and their names: each is analysed once, on demand."""

    def __init__(self, read: Callable[[str], CellNames] = cell_names) -> None:
        self._read = read
        self._sources: OrderedDict[Version, str] = OrderedDict()
        self._names: OrderedDict[Version, CellNames] = OrderedDict()

    def keep(self, version: Version, source: str) -> None:
        """Store a source that may run."""
        if version not in self._names and len(source) <= LONGEST_SOURCE:
            self._sources[version] = source
            _trim(self._sources)

    def knows(self, version: Version) -> bool:
        """Return whether its names are already analysed."""
        return version in self._names

    def names(self, version: Version | None, source: str | None = None) -> CellNames:
        """Return the names of a source; ``UNKNOWN`` for an unknown version."""
        if version is None:
            return UNKNOWN
        names = self._names.get(version)
        if names is None:
            source = self._sources.pop(version, source) if source is None else source
            if source is None or len(source) > LONGEST_SOURCE:
                return UNKNOWN
            self._sources.pop(version, None)
            names = self._names[version] = self._read(source)
            _trim(self._names)
        return names


class RunHistories:
    """The kernel generations of one server."""

    def __init__(self) -> None:
        self._generations: OrderedDict[str, KernelRuns] = OrderedDict()
        self._serial = 0

    def current(self, kernel_id: str | None) -> KernelRuns | None:
        """Return the known runs of a kernel's current generation."""
        return None if kernel_id is None else self._generations.get(kernel_id)

    def restarted(self, kernel_id: str) -> None:
        """Start a new generation."""
        self._begin(kernel_id).whole = True

    def announced(self, kernel_id: str, cells: Iterable[AnnouncedCell]) -> None:
        """Record the user's runs that a page announced; they may arrive late."""
        for cell in cells:
            if cell.execution_count is None or cell.executed_version is None:
                continue
            run = RecordedRun(cell.id, cell.executed_version, cell.execution_count)
            known = self._generation(kernel_id).runs.get(run.count)
            if known is not None and known.cell_id != run.cell_id:
                self._begin(kernel_id)  # counts started again
            self._generation(kernel_id).add(run)

    def ran(self, kernel_id: str, run: RecordedRun) -> None:
        """Record a run at its end: a count that does not grow starts a new generation."""
        if run.count <= max(self._generation(kernel_id).runs, default=0):
            self._begin(kernel_id)
        self._generation(kernel_id).add(run)

    def _generation(self, kernel_id: str) -> KernelRuns:
        return self._generations.get(kernel_id) or self._begin(kernel_id)

    def _begin(self, kernel_id: str) -> KernelRuns:
        self._serial += 1
        generation = self._generations[kernel_id] = KernelRuns(serial=self._serial)
        self._generations.move_to_end(kernel_id)
        while len(self._generations) > MAX_KERNELS:
            self._generations.popitem(last=False)
        return generation


def _trim(items: OrderedDict[Version, str] | OrderedDict[Version, CellNames]) -> None:
    while len(items) > MAX_SOURCES:
        items.popitem(last=False)
