"""A notebook and files that an agent and a user change by turns, and the review of it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from jupyter_ai_shoulders.engine.restore.recorder import Doer, Recorder
from jupyter_ai_shoulders.engine.restore.restorer import Restorer
from jupyter_ai_shoulders.engine.review.book import EditBook
from jupyter_ai_shoulders.engine.review.desk import ReviewDesk
from jupyter_ai_shoulders.engine.review.gone import GoneCells
from jupyter_ai_shoulders.engine.review.reverting import Reverting
from jupyter_ai_shoulders.engine.review.standing import Standings
from jupyter_ai_shoulders.files.base import Origin, TextApplied
from jupyter_ai_shoulders.files.changes import DiskChanges
from jupyter_ai_shoulders.files.disk import DiskTexts, PathLocks
from jupyter_ai_shoulders.files.settle import Settling
from jupyter_ai_shoulders.files.trash import Trash
from jupyter_ai_shoulders.guard.paths import Workspace
from jupyter_ai_shoulders.host.review import ReturnedFiles
from jupyter_ai_shoulders.notebook.base import Applied
from jupyter_ai_shoulders.testing.file_changes import MemoryJournal, MemoryOpenFiles
from jupyter_ai_shoulders.testing.memory_store import CountingIds, MemoryStore
from jupyter_ai_shoulders.wire.commands import DecideEdit
from jupyter_ai_shoulders.wire.edits import EditDecision, PendingEdit
from jupyter_ai_shoulders.wire.events_restore import RestoreOrder
from jupyter_ai_shoulders.wire.ids import CellId, RestoreId, SessionId, TurnId
from jupyter_ai_shoulders.wire.notebooks import CellEdit, NotebookCell
from tests.engine.restore.desk import PATH, Kernel, OneNotebook, RuledNotebook
from tests.engine.world import SESSION, session

OTHER = SessionId("other")


class ReviewWorld:
    """The agent works through recorder and files, the user beside them."""

    def __init__(
        self, root: Path, workspace: Workspace, trash: Trash, cells: Sequence[NotebookCell]
    ) -> None:
        self.root = root
        self.store = MemoryStore()
        self.store.add(session())
        self.store.add(session().model_copy(update={"id": OTHER}))
        self.ids = CountingIds()
        self.journal = MemoryJournal()
        self.notebook = RuledNotebook(*cells)
        self.notebooks = OneNotebook(self.notebook)
        self.kernel = Kernel(self.notebook)
        self.deleted: set[SessionId] = set()
        self._workspace = workspace
        self._trash = trash
        self._restores = 0
        self._begin()

    def _begin(self) -> None:
        """Make everything that does not outlive a process."""
        store, locks = self.store, PathLocks()
        self.book = EditBook(store, store.blobs, self.ids)
        self.recorder = Recorder(store, store.blobs, self.kernel, self.book)
        self.texts = DiskTexts(self._workspace, self.journal, store.blobs, self.book, locks)
        self.changes = DiskChanges(
            workspace=self._workspace,
            trash=self._trash,
            journal=self.journal,
            store=store.blobs,
            witness=self.book,
            open_files=MemoryOpenFiles(),
            ids=self.ids,
            locks=locks,
            settling=Settling(self._workspace, self._trash),
        )
        self.restorer = Restorer(store, store.blobs, self.notebooks, self.recorder, self.ids)
        self.desk = ReviewDesk(
            book=self.book,
            event_log=store,
            standings=Standings(self.notebooks, self.texts),
            gone=GoneCells(store, store.blobs),
            reverting=Reverting(
                self.recorder,
                store,
                self.notebooks,
                self.texts,
                ReturnedFiles(self.changes, self.journal),
            ),
            is_there=lambda session_id: session_id not in self.deleted,
        )

    async def restart(self) -> None:
        """Begin anew with what is kept."""
        self._begin()
        await self.book.take_up()

    # the agent

    async def agent(self, *edits: CellEdit, turn: str = "t1", by: SessionId = SESSION) -> None:
        """Change the notebook as a tool does."""
        self.recorder.work_for(Doer(by, turn, TurnId(turn)))
        try:
            outcome = await self.recorder.notebooks(self.notebooks).open(PATH).apply(edits, {})
        finally:
            self.recorder.work_for(None)
        assert isinstance(outcome, Applied)

    async def agent_runs(self, cell_id: str, turn: str = "t1") -> None:
        """Run a cell as a tool does."""
        self.recorder.work_for(Doer(SESSION, turn, TurnId(turn)))
        try:
            runner = self.recorder.runner(self.kernel, self.notebooks)
            async for _ in runner.run(PATH, CellId(cell_id)):
                pass
        finally:
            self.recorder.work_for(None)

    async def agent_writes(self, path: str, text: str, turn: str = "t1") -> None:
        """Change or make a file as a tool does."""
        origin = Origin(SESSION, TurnId(turn))
        if not (self.root / path).exists():
            await self.changes.create(path, text, origin)
            return
        version = (await self.texts.read(path)).version
        assert isinstance(await self.texts.replace(path, text, version, origin), TextApplied)

    # the user

    async def user(self, *edits: CellEdit) -> None:
        """Change the notebook in the page."""
        assert isinstance(await self.notebook.apply(edits, {}), Applied)

    def user_writes(self, path: str, text: str) -> None:
        """Change or make a file with another program."""
        (self.root / path).write_text(text)

    def text(self, path: str) -> str:
        """Return what a file says."""
        return (self.root / path).read_text()

    async def restore(self, after: int = 0, turn: str | None = None) -> None:
        """Take back what was done behind an event, or by one turn."""
        self._restores += 1
        order = RestoreOrder(
            restore_id=RestoreId(f"r{self._restores}"),
            seq=after + 1,
            what=("notebook",),
            turn_id=None if turn is None else TurnId(turn),
        )
        await self.restorer.put_back(SESSION, order, after)

    # review

    async def pending(self) -> list[PendingEdit]:
        """Return what awaits review."""
        return list((await self.desk.list()).edits)

    async def only(self) -> PendingEdit:
        """Return the one edit that awaits review."""
        (edit,) = await self.pending()
        return edit

    async def decide(self, edit: PendingEdit, decision: str, *hunks: int) -> EditDecision:
        """Decide as the page does."""
        command = DecideEdit.model_validate(
            {
                "decision": decision,
                "hunks": hunks or None,
                "current_version": edit.current_version,
                "baseline_version": edit.baseline_version,
            }
        )
        return await self.desk.decide(edit.id, command)

    def said(self, *types: str) -> list[str]:
        """Return the types of review events, in order."""
        return [logged.event.type for logged in self.store.find(types, SESSION)]


@contextmanager
def review_world(folder: Path, *cells: NotebookCell) -> Generator[ReviewWorld]:
    """Make one below ``folder``."""
    root, state = folder / "workspace", folder / "trash"
    root.mkdir(parents=True)
    state.mkdir()
    workspace, trash = Workspace(root), Trash(lambda: state)
    try:
        yield ReviewWorld(root, workspace, trash, cells)
    finally:
        workspace.close()
        trash.close()
