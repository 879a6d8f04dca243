"""Reads and edits Word documents of the workspace, logged and reviewed like texts.

Made by ``host.documents.files``; used by ``read_file`` and ``edit_document_file``.
"""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.files.base import ChangeOrigin, TextEditApplied, TextEditConflict
from jupyter_ai_shoulders.files.disk_texts import DiskTexts
from jupyter_ai_shoulders.files.path_permissions import permitted_path
from jupyter_ai_shoulders.files.word.editing.edits import ParagraphEdit
from jupyter_ai_shoulders.files.word.rendering.outline import Outline, OutlineRange
from jupyter_ai_shoulders.files.word.word_files import SIZE_LIMIT, WordFiles
from jupyter_ai_shoulders.files.word.word_texts import WordTexts
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.wire.ids import Version


@dataclass(frozen=True, slots=True)
class WordEdited:
    """A document was changed; ``notes`` say what could not be done as asked."""

    applied: TextEditApplied
    notes: tuple[str, ...]


class WordEditor:
    """The Word documents of a workspace."""

    def __init__(
        self, workspace: Workspace, disk: DiskTexts, files: WordFiles, texts: WordTexts
    ) -> None:
        self._workspace = workspace
        self._disk = disk
        self._files = files
        self._texts = texts

    async def outline(self, path: str, wanted: OutlineRange) -> Outline:
        """Return a document's numbered paragraphs.

        Raises ``NotFound``, ``InvalidRequest``, ``PolicyRefusal`` (secret) and ``TooLarge``.
        """

        def read() -> Outline:
            name = permitted_path(self._workspace, path)
            return self._files.outline(self._content(name), name, wanted)

        return await asyncio.to_thread(read)

    async def preview(self, path: str, edits: Sequence[ParagraphEdit]) -> str:
        """Return the text that a document would have. Raises as ``edit``."""

        def tried() -> str:
            name = permitted_path(self._workspace, path)
            made = self._texts.edited(self._content(name), name, edits)
            return self._texts.decode(made.content, name).text

        return await asyncio.to_thread(tried)

    async def edit(
        self, path: str, edits: Sequence[ParagraphEdit], expected: Version, origin: ChangeOrigin
    ) -> WordEdited | TextEditConflict:
        """Make all edits, or none if the document's text is not of the version ``expected``.

        Raises as ``outline``, ``NotFound`` (no such paragraph or text), ``Conflict``
        (``ambiguous``), ``PolicyRefusal`` (protected) and ``StateUnavailable``.
        """
        notes: list[str] = []

        def change(content: bytes) -> bytes:
            made = self._texts.edited(content, path, edits)
            notes.extend(made.notes)
            return made.content

        applied = await self._disk.change_bytes(path, change, expected, origin)
        if isinstance(applied, TextEditConflict):
            return applied
        return WordEdited(applied, tuple(notes))

    async def opened_elsewhere(self, path: str) -> str | None:
        """Return the program that seems to have the document open, by its lock file."""
        return await asyncio.to_thread(self._opened_elsewhere, path)

    def _opened_elsewhere(self, path: str) -> str | None:
        folder, name = posixpath.split(path)
        for program, names in (
            ("LibreOffice", (f".~lock.{name}#",)),
            ("Word", (f"~${name}", f"~${name[1:]}", f"~${name[2:]}")),
        ):
            if any(self._exists(posixpath.join(folder, each)) for each in names):
                return program
        return None

    def _exists(self, path: str) -> bool:
        try:
            self._workspace.kind(WorkspacePath(path))
        except ShouldersError:
            return False
        return True

    def _content(self, path: WorkspacePath) -> bytes:
        return self._workspace.head(path, SIZE_LIMIT + 1).content
