"""Which text of which cell ran when, for each life of each kernel (chapter 06).

The books behind ``notebook.analysis.staleness``: pages say what the user ran, the runner what the
agent ran. Kernels are asked nothing. Kept in memory: a server that was restarted knows only the
counts.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from jupyter_ai_shoulders.notebook.analysis.name_analysis import UNKNOWN, CellNames, cell_names
from jupyter_ai_shoulders.wire.frames import AnnouncedCell
from jupyter_ai_shoulders.wire.ids import CellId, Version

KEPT_SOURCES = 20_000
KEPT_KERNELS = 100
KEPT_RUNS = 5_000
LONGEST_SOURCE = 200_000
"""Characters; a longer cell is not read."""


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One run of a cell; ``version`` is None when only its count is known."""

    cell_id: CellId
    version: Version | None
    count: int


@dataclass(slots=True)
class KernelRuns:
    """The runs known of one life of a kernel, by execution count."""

    runs: dict[int, RecordedRun] = field(default_factory=dict[int, RecordedRun])
    whole: bool = False
    """Whether it was seen from its beginning: what is not in ``runs`` did not run in it."""
    revision: int = 0
    serial: int = 0
    """Tells lives apart."""

    def add(self, run: RecordedRun) -> bool:
        """Take note of a run; return whether it was new."""
        if self.runs.get(run.count) == run:
            return False
        self.runs[run.count] = run
        self.whole |= run.count == 1
        self.revision += 1
        if len(self.runs) > KEPT_RUNS:
            self._drop_oldest()
        return True

    def last(self) -> Mapping[CellId, RecordedRun]:
        """Return the last run of each cell."""
        return {self.runs[count].cell_id: self.runs[count] for count in sorted(self.runs)}

    def _drop_oldest(self) -> None:
        last = {run.count for run in self.last().values()}
        for count in sorted(self.runs)[: KEPT_RUNS // 2]:
            if count not in last:
                del self.runs[count]


class SourceCache:
    """Sources by version, and what they do with names: each is read once, when it is asked for."""

    def __init__(self, read: Callable[[str], CellNames] = cell_names) -> None:
        self._read = read
        self._sources: OrderedDict[Version, str] = OrderedDict()
        self._names: OrderedDict[Version, CellNames] = OrderedDict()

    def keep(self, version: Version, source: str) -> None:
        """Remember a source that may run."""
        if version not in self._names and len(source) <= LONGEST_SOURCE:
            self._sources[version] = source
            _trim(self._sources)

    def knows(self, version: Version) -> bool:
        """Return whether asking for its names costs nothing."""
        return version in self._names

    def names(self, version: Version | None, source: str | None = None) -> CellNames:
        """Return what a source does with names; ``UNKNOWN`` of one that was never seen."""
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
    """The lives of the kernels of one server."""

    def __init__(self) -> None:
        self._lives: OrderedDict[str, KernelRuns] = OrderedDict()
        self._begun = 0

    def life(self, kernel_id: str | None) -> KernelRuns | None:
        """Return what is known of a kernel's present life."""
        return None if kernel_id is None else self._lives.get(kernel_id)

    def restarted(self, kernel_id: str) -> None:
        """Begin a new life."""
        self._begin(kernel_id).whole = True

    def announced(self, kernel_id: str, cells: Iterable[AnnouncedCell]) -> None:
        """Take note of what a page says its user ran; it may come late."""
        for cell in cells:
            if cell.execution_count is None or cell.executed_version is None:
                continue
            run = RecordedRun(cell.id, cell.executed_version, cell.execution_count)
            known = self._life(kernel_id).runs.get(run.count)
            if known is not None and known.cell_id != run.cell_id:
                self._begin(kernel_id)  # counts began again
            self._life(kernel_id).add(run)

    def ran(self, kernel_id: str, run: RecordedRun) -> None:
        """Take note of a run as it ends: counts that do not grow are of a new life."""
        if run.count <= max(self._life(kernel_id).runs, default=0):
            self._begin(kernel_id)
        self._life(kernel_id).add(run)

    def _life(self, kernel_id: str) -> KernelRuns:
        return self._lives.get(kernel_id) or self._begin(kernel_id)

    def _begin(self, kernel_id: str) -> KernelRuns:
        self._begun += 1
        life = self._lives[kernel_id] = KernelRuns(serial=self._begun)
        self._lives.move_to_end(kernel_id)
        while len(self._lives) > KEPT_KERNELS:
            self._lives.popitem(last=False)
        return life


def _trim(items: OrderedDict[Version, str] | OrderedDict[Version, CellNames]) -> None:
    while len(items) > KEPT_SOURCES:
        items.popitem(last=False)
