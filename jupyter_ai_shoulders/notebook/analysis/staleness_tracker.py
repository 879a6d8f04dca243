"""Records runs and reports stale cells to the model and to pages.

Made by ``host.documents.notebooks``. ``notebook.page_frames`` passes in announcements of pages,
``notebook.execution.cell_runner`` the agent's runs; ``read_notebook`` and the workspace meta read
reports. ``notebook.analysis.staleness`` judges; sources are analysed a few at a time, so that other
tasks are not delayed.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from jupyter_ai_shoulders.core.clock import Sleep
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.live_documents.page_requests import PageTransport
from jupyter_ai_shoulders.notebook.analysis.run_history import (
    KernelRuns,
    RecordedRun,
    RunHistories,
    SourceCache,
)
from jupyter_ai_shoulders.notebook.analysis.staleness import CodeCell, StaleReport, stale_cells
from jupyter_ai_shoulders.notebook.base import KernelDirectory, NotebookSnapshot
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.frames import (
    AnnouncedCell,
    DocumentChange,
    DocumentClose,
    DocumentMarks,
    DocumentOpen,
    DocumentRename,
    PageFrame,
)
from jupyter_ai_shoulders.wire.ids import CellId, ClientId, Version
from jupyter_ai_shoulders.wire.notebooks import CellMark, NotebookCell

log = logging.getLogger(__name__)

SETTLE_SECONDS = 0.2
"""Seconds after a page's last announcement before its cells are judged."""
READ_AT_ONCE = 20
"""Cells analysed before other tasks run."""
MANY_CELLS = 300
"""Notebooks with more cells are judged in a thread."""
MAX_REPORTS = 50

_Key = tuple[object, ...]


class StaleCells(Protocol):
    """Finds the stale cells of a notebook; the tools' port."""

    async def report(self, snapshot: NotebookSnapshot) -> StaleReport:
        """Return the marks of a notebook snapshot."""
        ...


class RunObserver(Protocol):
    """Receives the agent's runs as they end."""

    def ran(self, kernel_id: str, cell: NotebookCell, count: int | None) -> None:
        """Record that a cell ran with this text; ``count`` is None if the kernel never began."""
        ...


@dataclass(frozen=True, slots=True)
class _Page:
    """A notebook as a page last announced it."""

    cells: tuple[AnnouncedCell, ...]
    kernel_id: str | None
    restarts: int
    shown: Mapping[CellId, CellMark]
    """The marks that the page shows."""


class StalenessTracker:
    """``StaleCells`` and ``RunObserver`` of one server; a resource: ``aclose`` it."""

    def __init__(
        self, kernels: KernelDirectory, transport: PageTransport, sleep: Sleep = asyncio.sleep
    ) -> None:
        self._kernels = kernels
        self._transport = transport
        self._sleep = sleep
        self._histories = RunHistories()
        self._sources = SourceCache()
        self._pages: dict[tuple[ClientId, str], _Page] = {}
        self._reports: OrderedDict[_Key, StaleReport] = OrderedDict()
        self._last_marks: OrderedDict[str, tuple[StaleReport, Sequence[CellId]]] = OrderedDict()
        self._tasks: dict[tuple[ClientId, str], asyncio.Task[None]] = {}

    # input

    def handle_frame(self, client: ClientId, frame: PageFrame) -> None:
        """Handle a page's frame about its notebooks."""
        match frame:
            case DocumentOpen() | DocumentChange():
                self._announced(client, frame)
            case DocumentClose():
                self._pages.pop((client, frame.path), None)
            case DocumentRename():
                page = self._pages.pop((client, frame.path), None)
                if page is not None:
                    self._pages[client, frame.new_path] = page
            case _:
                pass

    def page_disconnected(self, client: ClientId) -> None:
        """Remove a page that disconnected."""
        self._pages = {key: page for key, page in self._pages.items() if key[0] != client}

    def ran(self, kernel_id: str, cell: NotebookCell, count: int | None) -> None:
        """See ``RunObserver.ran``."""
        if count is None:
            return
        self._sources.keep(cell.version, cell.source)
        self._histories.ran(kernel_id, RecordedRun(cell.id, cell.version, count))
        for key, page in self._pages.items():
            if page.kernel_id == kernel_id:
                self._judge_soon(key)

    # reports

    async def report(self, snapshot: NotebookSnapshot) -> StaleReport:
        """See ``StaleCells.report``."""
        kernel_id, language = await self._kernel(snapshot.path)
        runs = self._histories.current(kernel_id)
        language = language or _language(snapshot.metadata)
        report = await self._judged(snapshot.cells, runs, language)
        self._store_marks(snapshot.path, report, snapshot.cells)
        return report

    def last_marks(self, path: str) -> Sequence[tuple[int, CellId, CellMark]]:
        """Return the last marks, with the cells' numbers, without any analysis."""
        report, order = self._last_marks.get(path, (StaleReport({}), ()))
        marked = ((number, cell_id) for number, cell_id in enumerate(order, 1))
        return [
            (n, cell_id, report.marks[cell_id]) for n, cell_id in marked if cell_id in report.marks
        ]

    async def settle(self) -> None:
        """Wait until the pages have their marks."""
        while self._tasks:
            await asyncio.wait([*self._tasks.values()])

    async def aclose(self) -> None:
        """Stop judging."""
        tasks = [*self._tasks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # pages

    def _announced(self, client: ClientId, frame: DocumentOpen | DocumentChange) -> None:
        key = (client, frame.path)
        before = self._pages.get(key)
        for cell in frame.cells:
            if cell.source is not None and cell.cell_type == "code":
                self._sources.keep(cell.version, cell.source)
        if frame.kernel_id is not None:
            if before is not None and frame.kernel_restarts > before.restarts:
                self._restarted(before, frame.kernel_id)
            self._histories.announced(frame.kernel_id, frame.cells)
        shown: Mapping[CellId, CellMark] = {}
        if before is not None and isinstance(frame, DocumentChange):
            shown = before.shown
        self._pages[key] = _Page(frame.cells, frame.kernel_id, frame.kernel_restarts, shown)
        self._judge_soon(key)

    def _restarted(self, before: _Page, kernel_id: str) -> None:
        """Start a generation, unless the page got a kernel that is known already."""
        if before.kernel_id == kernel_id or self._histories.current(kernel_id) is None:
            self._histories.restarted(kernel_id)

    def _judge_soon(self, key: tuple[ClientId, str]) -> None:
        if key not in self._tasks:
            task = self._tasks[key] = asyncio.create_task(self._judge_page(key))
            task.add_done_callback(lambda done: self._judged_page(key, done))

    def _judged_page(self, key: tuple[ClientId, str], task: asyncio.Task[None]) -> None:
        self._tasks.pop(key, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("The stale cells of %s could not be told", key[1], exc_info=error)

    async def _judge_page(self, key: tuple[ClientId, str]) -> None:
        judged: _Page | None = None
        moment: _Key | None = None
        while (page := self._pages.get(key)) is not None:
            runs = self._histories.current(page.kernel_id)
            now = (runs.serial, runs.revision) if runs is not None else ()
            if judged is not None and (page.cells, now) == (judged.cells, moment):
                return
            judged, moment = page, now
            await self._sleep(SETTLE_SECONDS)
            await self._send_marks(key)

    async def _send_marks(self, key: tuple[ClientId, str]) -> None:
        page = self._pages.get(key)
        if page is None:
            return
        report = StaleReport({})
        runs = self._histories.current(page.kernel_id)
        if runs is not None:
            report = await self._judged(page.cells, runs, (await self._kernel(key[1]))[1])
            self._store_marks(key[1], report, page.cells)
        page = self._pages.get(key)
        if page is not None and report.marks != page.shown:
            self._pages[key] = replace(page, shown=report.marks)
            self._transport.send(key[0], DocumentMarks(path=key[1], marks={**report.marks}))

    # judging

    async def _judged(
        self, cells: Sequence[CodeCell], runs: KernelRuns | None, language: str | None
    ) -> StaleReport:
        is_python = language is None or "python" in language.lower()
        key = (
            (runs.serial, runs.revision) if runs is not None else None,
            is_python,
            tuple((cell.id, cell.version, cell.execution_count) for cell in cells),
        )
        report = self._reports.get(key)
        if report is None:
            if is_python:
                await self._read(cells, runs)
            report = await self._compare(cells, runs, is_python=is_python)
            self._reports[key] = report
            if len(self._reports) > MAX_REPORTS:
                self._reports.popitem(last=False)
        return report

    async def _read(self, cells: Sequence[CodeCell], runs: KernelRuns | None) -> None:
        """Analyse new sources in portions."""
        wanted: dict[Version, str | None] = {
            cell.version: cell.source for cell in cells if cell.cell_type == "code"
        }
        if runs is not None:
            ran = (run.version for run in runs.runs.values() if run.version is not None)
            wanted = {**dict.fromkeys(ran), **wanted}
        new = [version for version in wanted if not self._sources.knows(version)]
        for count, version in enumerate(new, 1):
            self._sources.names(version, wanted[version])
            if count % READ_AT_ONCE == 0:
                await asyncio.sleep(0)

    async def _compare(
        self, cells: Sequence[CodeCell], runs: KernelRuns | None, *, is_python: bool
    ) -> StaleReport:
        names = self._sources.names
        if len(cells) <= MANY_CELLS:
            return stale_cells(cells, runs, names, is_python=is_python)
        cells = tuple(cells)
        runs = replace(runs, runs={**runs.runs}) if runs is not None else None
        return await asyncio.to_thread(stale_cells, cells, runs, names, is_python=is_python)

    async def _kernel(self, path: str) -> tuple[str | None, str | None]:
        try:
            handle = await self._kernels.find(path)
        except ShouldersError as error:
            log.info("The kernel of %s is not known: %s", path, error)
            return None, None
        return (None, None) if handle is None else (handle.kernel_id, handle.language)

    def _store_marks(self, path: str, report: StaleReport, cells: Sequence[CodeCell]) -> None:
        self._last_marks[path] = (report, tuple(cell.id for cell in cells))
        self._last_marks.move_to_end(path)
        if len(self._last_marks) > MAX_REPORTS:
            self._last_marks.popitem(last=False)


def _language(metadata: JsonObject) -> str | None:
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        section = metadata.get(key)
        language = section.get(name) if isinstance(section, dict) else None
        if isinstance(language, str):
            return language
    return None
