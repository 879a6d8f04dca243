"""Finds where a text file lives at the moment of each call: in a page, or on disk.

The ``TextDocuments`` of the tools, of review and of restore; made by ``host.documents.files``. A
file may be opened or closed between two calls, so the choice is made for each read and each change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from jupyter_ai_shoulders.files.base import (
    ChangeOrigin,
    TextDocuments,
    TextEditApplied,
    TextEditConflict,
    TextSnapshot,
)
from jupyter_ai_shoulders.files.open_files.open_text_files import OpenTextFiles
from jupyter_ai_shoulders.files.open_files.page_texts import PageTexts
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.wire.ids import Version


class TextRouter:
    """The text files of a workspace, wherever they live."""

    def __init__(
        self, workspace: Workspace, live: OpenTextFiles, edits: PageTexts, disk: TextDocuments
    ) -> None:
        self._workspace = workspace
        self._live = live
        self._edits = edits
        self._disk = disk

    async def read(self, path: str) -> TextSnapshot:
        """Return a file's text, as the page has it that was focused last.

        While a page with unsaved text is away it is what the file has, and ``dirty``. Raises like
        ``TextDocuments.read``.
        """
        name = self._workspace.path(path)
        claim = self._live.owner(name)
        if claim is not None:
            return await self._edits.read(claim)
        snapshot = await self._disk.read(name)
        if self._live.absent(name) is not None:
            return replace(snapshot, dirty=True)
        return snapshot

    async def replace(
        self, path: str, text: str, expected: Version, origin: ChangeOrigin
    ) -> TextEditApplied | TextEditConflict:
        """Change a text in its page, or else on disk; never below unsaved text.

        Raises like ``TextDocuments.replace``.
        """
        name = self._workspace.path(path)
        claim = self._live.owner(name)
        if claim is not None:
            return await self._edits.replace(claim, text, expected, origin)
        self._live.check_absent(name)
        outcome = await self._disk.replace(name, text, expected, origin)
        self._live.wrote(name)  # a page may have opened it meanwhile
        return outcome

    def unsaved(self, path: str) -> Sequence[str]:
        """Return the files at or below a path to which a page has unsaved text."""
        return self._live.unsaved(path)

    def in_page(self, path: str) -> bool:
        """Return whether a connected page has it open, so that an edit can be reviewed there."""
        return self._live.owner(self._workspace.path(path)) is not None
