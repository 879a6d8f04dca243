"""Finds at each call where a text file is open: in a page, or on disk.

The ``TextDocuments`` of tools, review and restore; made by ``host.documents.files``. A file may be
opened or closed between two calls, so the choice is made for each read and each change.
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
    """The text files of a workspace, on disk or in pages."""

    def __init__(
        self, workspace: Workspace, live: OpenTextFiles, edits: PageTexts, disk: TextDocuments
    ) -> None:
        self._workspace = workspace
        self._live = live
        self._edits = edits
        self._disk = disk

    async def read(self, path: str) -> TextSnapshot:
        """Return a file's text from the page that focused it last, or from disk.

        While a page with unsaved text is absent, returns the file's text as ``dirty``. Raises like
        ``TextDocuments.read``.
        """
        opened = await self.open_text(path)
        if opened is not None:
            return opened
        name = self._workspace.path(path)
        snapshot = await self._disk.read(name)
        if self._live.absent(name) is not None:
            return replace(snapshot, dirty=True)
        return snapshot

    async def open_text(self, path: str) -> TextSnapshot | None:
        """Return the text of the page or editor that has a file open, None if there is none.

        Raises like ``TextDocuments.read``.
        """
        claim = self._live.owner(self._workspace.path(path))
        return None if claim is None else await self._edits.read(claim)

    async def replace(
        self, path: str, text: str, expected: Version, origin: ChangeOrigin
    ) -> TextEditApplied | TextEditConflict:
        """Change a text in its page, or else on disk; never while an absent page has unsaved text.

        Raises like ``TextDocuments.replace``.
        """
        name = self._workspace.path(path)
        claim = self._live.owner(name)
        if claim is not None:
            return await self._edits.replace(claim, text, expected, origin)
        self._live.check_absent(name)
        outcome = await self._disk.replace(name, text, expected, origin)
        self._live.wrote(name)  # a page may have opened it in between
        return outcome

    def unsaved(self, path: str) -> Sequence[str]:
        """Return the files at or below a path with unsaved text in a page."""
        return self._live.unsaved(path)

    def in_page(self, path: str) -> bool:
        """Return whether a connected page has the file open: an edit is reviewed there.

        False for an editor, which does not show what the agent changed.
        """
        claim = self._live.owner(self._workspace.path(path))
        return claim is not None and not claim.in_editor
