"""A notebook and files that an agent and a user change in turn, and their review."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from jupyter_ai_shoulders.changes.recording.actor import Actor
from jupyter_ai_shoulders.changes.recording.recorder import ChangeRecorder
from jupyter_ai_shoulders.changes.recording.recording_wrappers import (
    RecordedNotebooks,
    RecordedRunner,
)
from jupyter_ai_shoulders.changes.restore.restorer import Restorer
from jupyter_ai_shoulders.changes.review.current_text import CurrentDocumentReader
from jupyter_ai_shoulders.changes.review.deleted_cells import DeletedCells
from jupyter_ai_shoulders.changes.review.pending_edits import PendingEdits
from jupyter_ai_shoulders.changes.review.reverting import ChangeReverter
from jupyter_ai_shoulders.changes.review.service import ReviewService
from jupyter_ai_shoulders.files.base import ChangeOrigin, TextEditApplied
from jupyter_ai_shoulders.files.crash_recovery import CrashRecovery
from jupyter_ai_shoulders.files.disk_texts import DiskTexts, PathLocks
from jupyter_ai_shoulders.files.file_changes import DiskChanges
from jupyter_ai_shoulders.files.trash import Trash
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.host.documents.review import TrashBackedFiles
from jupyter_ai_shoulders.notebook.base import Applied
from jupyter_ai_shoulders.testing.memory_file_changes import MemoryJournal, MemoryOpenFiles
from jupyter_ai_shoulders.testing.memory_store import CountingIds, MemoryStore
from jupyter_ai_shoulders.wire.api.commands import DecideEdit
from jupyter_ai_shoulders.wire.edits import EditDecision, PendingEdit
from jupyter_ai_shoulders.wire.event_types.restore import RestoreRequest
from jupyter_ai_shoulders.wire.ids import CellId, RestoreId, SessionId, TurnId
from jupyter_ai_shoulders.wire.notebooks import CellEdit, NotebookCell
from tests.changes.notebook_harness import PATH, Kernel, OneNotebook, RuledNotebook
from tests.engine.engine_harness import SESSION, make_session

OTHER = SessionId("other")


class ReviewWorld:
    """The agent works through recorder and files, the user without them."""

    def __init__(
        self, root: Path, workspace: Workspace, trash: Trash, cells: Sequence[NotebookCell]
    ) -> None:
        self.root = root
        self.store = MemoryStore()
        self.store.add(make_session())
        self.store.add(make_session().model_copy(update={"id": OTHER}))
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
        """Create everything that does not outlive a process."""
        store, locks = self.store, PathLocks()
        self.book = PendingEdits(store, store.blobs, self.ids)
        self.recorder = ChangeRecorder(store, store.blobs, self.kernel, self.book)
        self.texts = DiskTexts(self._workspace, self.journal, store.blobs, self.book, locks)
        self.changes = DiskChanges(
            workspace=self._workspace,
            trash=self._trash,
            journal=self.journal,
            store=store.blobs,
            observer=self.book,
            open_files=MemoryOpenFiles(),
            ids=self.ids,
            locks=locks,
            recovery=CrashRecovery(self._workspace, self._trash),
        )
        self.restorer = Restorer(store, store.blobs, self.notebooks, self.recorder, self.ids)
        self.service = ReviewService(
            pending_edits=self.book,
            event_log=store,
            documents=CurrentDocumentReader(self.notebooks, self.texts),
            deleted_cells=DeletedCells(store, store.blobs),
            reverting=ChangeReverter(
                self.recorder,
                store,
                self.notebooks,
                self.texts,
                TrashBackedFiles(self.changes, self.journal),
            ),
            session_exists=lambda session_id: session_id not in self.deleted,
        )

    async def restart(self) -> None:
        """Restart with the stored state."""
        self._begin()
        await self.book.load()

    # the agent

    async def agent(self, *edits: CellEdit, turn: str = "t1", by: SessionId = SESSION) -> None:
        """Change the notebook as a tool does."""
        self.recorder.set_actor(Actor(by, turn, TurnId(turn)))
        try:
            outcome = (
                await RecordedNotebooks(self.notebooks, self.recorder).open(PATH).apply(edits, {})
            )
        finally:
            self.recorder.set_actor(None)
        assert isinstance(outcome, Applied)

    async def agent_runs(self, cell_id: str, turn: str = "t1") -> None:
        """Run a cell as a tool does."""
        self.recorder.set_actor(Actor(SESSION, turn, TurnId(turn)))
        try:
            runner = RecordedRunner(self.kernel, self.notebooks, self.recorder)
            async for _ in runner.run(PATH, CellId(cell_id)):
                pass
        finally:
            self.recorder.set_actor(None)

    async def agent_writes(self, path: str, text: str, turn: str = "t1") -> None:
        """Change or create a file as a tool does."""
        origin = ChangeOrigin(SESSION, TurnId(turn))
        if not (self.root / path).exists():
            await self.changes.create(path, text, origin)
            return
        version = (await self.texts.read(path)).version
        assert isinstance(await self.texts.replace(path, text, version, origin), TextEditApplied)

    # the user

    async def user(self, *edits: CellEdit) -> None:
        """Change the notebook in the page."""
        assert isinstance(await self.notebook.apply(edits, {}), Applied)

    def user_writes(self, path: str, text: str) -> None:
        """Change or create a file with another program."""
        (self.root / path).write_text(text)

    def text(self, path: str) -> str:
        """Return the text of a file."""
        return (self.root / path).read_text()

    async def restore(self, after: int = 0, turn: str | None = None) -> None:
        """Undo the changes after an event, or of one turn."""
        self._restores += 1
        order = RestoreRequest(
            restore_id=RestoreId(f"r{self._restores}"),
            seq=after + 1,
            what=("notebook",),
            turn_id=None if turn is None else TurnId(turn),
        )
        await self.restorer.restore(SESSION, order, after)

    # review

    async def pending(self) -> list[PendingEdit]:
        """Return the pending edits."""
        return list((await self.service.list()).edits)

    async def only(self) -> PendingEdit:
        """Return the only pending edit."""
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
        return await self.service.decide(edit.id, command)

    def said(self, *types: str) -> list[str]:
        """Return the types of review events, in order."""
        return [logged.event.type for logged in self.store.find(types, SESSION)]


@contextmanager
def review_world(folder: Path, *cells: NotebookCell) -> Generator[ReviewWorld]:
    """Create a ``ReviewWorld`` below ``folder``."""
    root, state = folder / "workspace", folder / "trash"
    root.mkdir(parents=True)
    state.mkdir()
    workspace, trash = Workspace(root), Trash(lambda: state)
    try:
        yield ReviewWorld(root, workspace, trash, cells)
    finally:
        workspace.close()
        trash.close()
