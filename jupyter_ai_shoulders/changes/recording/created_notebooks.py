"""Notebooks that the agent makes, written into the operation log, so that undo can remove them.

Made by ``host``, around what makes notebooks. The cells in them are recorded as in any notebook.
"""

from __future__ import annotations

import asyncio

from jupyter_ai_shoulders.changes.recording.recorder import ChangeRecorder, origin_of
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.operation_journal import (
    ChangeOutcome,
    LoggedChange,
    OperationJournal,
)
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.notebook.base import NewNotebooks
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import BlobHash, Version


class RecordedNewNotebooks:
    """``NewNotebooks`` that are logged where a call makes them."""

    def __init__(
        self,
        new: NewNotebooks,
        recorder: ChangeRecorder,
        journal: OperationJournal,
        workspace: Workspace,
    ) -> None:
        self._new = new
        self._recorder = recorder
        self._journal = journal
        self._workspace = workspace

    async def create(self, path: str, content: JsonObject) -> WorkspacePath:
        """Make a notebook. Raises like ``NewNotebooks.create``, and ``StateUnavailable``."""
        doer = self._recorder.doer
        if doer is None:
            return await self._new.create(path, content)
        name = self._workspace.path(path)
        row = self._journal.begin(LoggedChange("create", name, origin_of(doer)))
        await self._journal.sync()
        crash_point("restore.notebook.begun")
        try:
            made = await self._new.create(path, content)
            digest = await asyncio.to_thread(self._workspace.digest, made)
        except BaseException:
            self._journal.end(row, "failed", ChangeOutcome(cannot_undo="It was not made."))
            raise
        crash_point("restore.notebook.made")
        after = ChangeOutcome(after_version=Version(digest.sha256), after=BlobHash(digest.sha256))
        self._journal.end(row, "done", after)
        return made
