"""One notebook that an agent and a user change in turn, with the real rules of edits."""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from typing import Literal

from jupyter_ai_shoulders.changes.proposals.service import ProposalService
from jupyter_ai_shoulders.changes.recording.actor import Actor
from jupyter_ai_shoulders.changes.recording.recorder import ChangeRecorder
from jupyter_ai_shoulders.changes.recording.recording_wrappers import (
    RecordedNotebooks,
    RecordedRunner,
    RecordedScratch,
)
from jupyter_ai_shoulders.changes.restore.restorer import Restorer, RestoreResult
from jupyter_ai_shoulders.core.errors import Conflict, NotFound
from jupyter_ai_shoulders.notebook.base import (
    Applied,
    Backend,
    CellRun,
    Conflicted,
    InputRecipient,
    NotebookSnapshot,
    RunItem,
    RunStarted,
)
from jupyter_ai_shoulders.notebook.edits import apply_edits, inserted_cell
from jupyter_ai_shoulders.testing.memory_store import CountingIds, MemoryStore
from jupyter_ai_shoulders.wire.api.commands import DecideProposal
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.event_types.restore import RestoreRequest
from jupyter_ai_shoulders.wire.events import ProposalAdd
from jupyter_ai_shoulders.wire.ids import CellId, ProposalId, RestoreId, TurnId, Version
from jupyter_ai_shoulders.wire.notebooks import (
    CellDelete,
    CellEdit,
    CellInsert,
    CellMove,
    CellOutputs,
    CellSource,
    NotebookCell,
)
from tests.engine.engine_harness import SESSION, make_session
from tests.support.proposals import build_proposal

PATH = "a.ipynb"


def cell(cell_id: str, source: str) -> NotebookCell:
    return inserted_cell(
        CellInsert(
            cell_id=CellId(cell_id), cell_type="code", source=source, metadata={}, after=None
        )
    )


def printed(text: str) -> JsonObject:
    return {"output_type": "stream", "name": "stdout", "text": text}


class RuledNotebook:
    """A ``Notebook`` in memory that follows ``notebook.edits``."""

    path = PATH
    backend: Backend = "disk"

    def __init__(self, *cells: NotebookCell) -> None:
        self.cells = {item.id: item for item in cells}
        self.order = list(self.cells)
        self.writes = 0

    @property
    def texts(self) -> list[tuple[str, str]]:
        return [(cell_id, self.cells[cell_id].source) for cell_id in self.order]

    async def read(self, outputs: Collection[CellId] | Literal["all"] = ()) -> NotebookSnapshot:
        shown = self.order if outputs == "all" else outputs
        cells = [
            item if cell_id in shown else item.model_copy(update={"outputs": None})
            for cell_id, item in ((cell_id, self.cells[cell_id]) for cell_id in self.order)
        ]
        return NotebookSnapshot(PATH, "disk", cells, {}, dirty=False)

    async def apply(
        self, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        outcome = apply_edits(self.order, self.cells.__getitem__, edits, expected)
        if isinstance(outcome, Conflicted):
            return outcome
        self.writes += 1
        self.order = list(outcome.order)
        merged = {**self.cells, **outcome.changed}
        self.cells = {cell_id: merged[cell_id] for cell_id in self.order}
        return outcome.applied


class OneNotebook:
    """``Notebooks`` with a single notebook."""

    def __init__(self, notebook: RuledNotebook) -> None:
        self.notebook = notebook

    def open(self, path: str) -> RuledNotebook:
        assert path == PATH
        return self.notebook

    def in_page(self, path: str) -> bool:
        del path
        return False


class Kernel:
    """``Kernels`` and ``CellRunner``: prints what it runs; ``name`` changes with a restart."""

    def __init__(self, notebook: RuledNotebook) -> None:
        self.name: str | None = "k 1"
        self.count = 0
        self.fails: Literal["no", "before", "midway"] = "no"
        self._notebook = notebook

    async def kernel_generation(self, path: str) -> str | None:
        del path
        return self.name

    async def kernel_of(self, path: str) -> str | None:
        del path
        return "k"

    async def run(
        self, path: str, cell_id: CellId, asker: InputRecipient | None = None
    ) -> AsyncGenerator[RunItem]:
        del path, asker
        if self.fails == "before":
            raise NotFound("There is no kernel.", code="no_kernel")
        self.count += 1
        begun = CellRun("running", (), None, 1, "k")
        yield RunStarted(lambda: begun)
        outputs = (printed(f"{self.count}: {self._notebook.cells[cell_id].source}"),)
        edit = CellOutputs(cell_id=cell_id, outputs=outputs, execution_count=self.count)
        await self._notebook.apply([edit], {})
        if self.fails == "midway":
            raise Conflict("The page does not answer.", code="page_not_responding")
        yield CellRun("ok", outputs, self.count, 1, "k")

    async def run_code(self, path: str, code: str) -> AsyncGenerator[RunItem]:
        del path, code
        yield CellRun("ok", (), None, 1, "k")


class NotebookHarness:
    """The agent works through the recorder, the user without it."""

    def __init__(self, *cells: NotebookCell) -> None:
        self.notebook = RuledNotebook(*cells)
        self.store = MemoryStore()
        self.store.add(make_session())
        self.kernel = Kernel(self.notebook)
        notebooks = OneNotebook(self.notebook)
        self.recorder = ChangeRecorder(self.store, self.store.blobs, self.kernel)
        ids = CountingIds()
        self.restorer = Restorer(self.store, self.store.blobs, notebooks, self.recorder, ids)
        self.proposals = ProposalService(self.store, notebooks, self.kernel, ids, self.recorder)
        self._notebooks = RecordedNotebooks(notebooks, self.recorder)
        self._runner = RecordedRunner(self.kernel, notebooks, self.recorder)
        self._numbers = itertools.count(1)

    @property
    def seq(self) -> int:
        return self.store.last_seq(SESSION)

    async def agent(self, *edits: CellEdit, turn: str = "t1") -> Applied | Conflicted:
        self.recorder.set_actor(self._actor(turn))
        try:
            return await self._notebooks.open(PATH).apply(edits, {})
        finally:
            self.recorder.set_actor(None)

    async def agent_runs(self, cell_id: str, turn: str = "t1") -> None:
        self.recorder.set_actor(self._actor(turn))
        try:
            async for _ in self._runner.run(PATH, CellId(cell_id)):
                pass
        finally:
            self.recorder.set_actor(None)

    async def agent_tries(self, code: str, turn: str = "t1") -> None:
        self.recorder.set_actor(self._actor(turn))
        try:
            async for _ in RecordedScratch(self.kernel, self.recorder).run_code(PATH, code):
                pass
        finally:
            self.recorder.set_actor(None)

    def propose(self, cell_id: str, text: str) -> None:
        shown = self.notebook.cells[CellId(cell_id)]
        proposal = build_proposal(SESSION, PATH, cell_id, shown.source, text, name=cell_id)
        self.store.append(SESSION, ProposalAdd(call_id=None, proposal=proposal))

    async def decide(self, cell_id: str, text: str | None) -> None:
        await self.proposals.decide(
            ProposalId(cell_id), DecideProposal(decision="apply", text=text)
        )

    async def user(self, *edits: CellEdit) -> None:
        assert isinstance(await self.notebook.apply(edits, {}), Applied)

    async def user_runs(self, cell_id: str) -> None:
        async for _ in self.kernel.run(PATH, CellId(cell_id)):
            pass

    async def restore(self, after: int = 0) -> RestoreResult:
        restore_id = RestoreId(f"r{next(self._numbers)}")
        order = RestoreRequest(restore_id=restore_id, seq=after + 1, what=("notebook",))
        return await self.restorer.restore(SESSION, order, after)

    def _actor(self, turn: str) -> Actor:
        return Actor(SESSION, turn, TurnId(turn))


def write(cell_id: str, source: str) -> CellSource:
    return CellSource(cell_id=CellId(cell_id), source=source)


def add(cell_id: str, source: str, after: str | None = None) -> CellInsert:
    below = None if after is None else CellId(after)
    return CellInsert(
        cell_id=CellId(cell_id), cell_type="code", source=source, metadata={}, after=below
    )


def delete(cell_id: str) -> CellDelete:
    return CellDelete(cell_id=CellId(cell_id))


def move(cell_id: str, after: str | None) -> CellMove:
    return CellMove(cell_id=CellId(cell_id), after=None if after is None else CellId(after))
