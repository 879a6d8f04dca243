"""Finds out from the files how unfinished changes ended.

Run by ``host.documents.files`` after a crash, in a thread, and by ``files.atomic_batch`` for a
change that failed half-way. A file has its old content, its new content, or neither.
"""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_ai_shoulders.core.errors import NotFound, ShouldersError, StateUnavailable
from jupyter_ai_shoulders.files.base import LoggedChange
from jupyter_ai_shoulders.files.trash import Trash
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.wire.ids import OperationId
from jupyter_ai_shoulders.wire.operations import OperationState

NEITHER = "The server stopped in the middle, and the file is neither as before nor as intended."
NOT_MADE = "The server stopped before it was made."


@dataclass(frozen=True, slots=True)
class ChangeVerdict:
    """How a change ended; ``why`` in words when it did not succeed."""

    state: OperationState
    why: str | None = None


_DONE = ChangeVerdict("done")
_FAILED = ChangeVerdict("failed", NOT_MADE)
_NEITHER = ChangeVerdict("failed", NEITHER)


class CrashRecovery:
    """Determines the outcome of changes from the files."""

    def __init__(self, workspace: Workspace, trash: Trash) -> None:
        self._workspace = workspace
        self._trash = trash

    def verdicts(
        self, unfinished: list[tuple[OperationId, LoggedChange]]
    ) -> list[tuple[OperationId, ChangeVerdict]]:
        """Return the outcome of changes, those of cells and the agent's database left out.

        Blocks: for a thread.
        """
        return [
            (operation_id, self.verdict(operation_id, change))
            for operation_id, change in unfinished
            if change.cell_id is None and change.kind != "database"
        ]

    def verdict(self, operation_id: OperationId, change: LoggedChange) -> ChangeVerdict:
        """Return the outcome of one change. Blocks. Raises ``StateUnavailable``."""
        try:
            return self._judged(operation_id, change)
        except StateUnavailable:
            raise
        except ShouldersError:
            return _NEITHER  # the file cannot be read

    def _judged(self, operation_id: OperationId, change: LoggedChange) -> ChangeVerdict:
        folder = change.document.endswith("/")
        verdict = _NEITHER
        match change.kind:
            case "edit":
                verdict = self._edited(change)
            case "create":
                verdict = self._created(change.document, change.after)
            case "copy":
                source = change.after or self._hash(change.document)
                verdict = self._created(change.new_document or "", source)
            case "move":
                verdict = self._moved(change.document, change.new_document or "")
            case "mkdir":
                verdict = _DONE if self._exists(change.document) else _FAILED
            case "delete" if folder:
                verdict = _FAILED if self._exists(change.document) else _DONE
            case "delete":
                verdict = self._deleted(change.kept_as or operation_id, change.document)
            case "memory":
                verdict = _DONE  # recorded once it was made
            case "outputs" | "command" | "database":
                pass  # nothing on disk shows it
        return verdict

    def _edited(self, change: LoggedChange) -> ChangeVerdict:
        now = self._hash(change.document)
        if now is not None and now == change.after:
            return _DONE
        return _FAILED if now is not None and now == change.before else _NEITHER

    def _created(self, path: str, wanted: str | None) -> ChangeVerdict:
        if not self._exists(path):
            return _FAILED
        return _DONE if self._hash(path) == wanted else _NEITHER

    def _moved(self, path: str, new_path: str) -> ChangeVerdict:
        before, after = self._exists(path), self._exists(new_path)
        if before != after:
            return _DONE if after else _FAILED
        return _NEITHER

    def _deleted(self, operation_id: OperationId, path: str) -> ChangeVerdict:
        kept = self._trash.has(operation_id)
        if self._exists(path):
            # A copy, made where the file could not be renamed, stays until the row is removed.
            return _FAILED
        return _DONE if kept else _NEITHER

    def _exists(self, path: str) -> bool:
        try:
            self._workspace.kind(self._workspace.path(path))
        except NotFound:
            return False
        return True

    def _hash(self, path: str) -> str | None:
        try:
            return self._workspace.digest(self._workspace.path(path)).sha256
        except NotFound:
            return None
