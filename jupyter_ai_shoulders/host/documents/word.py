"""Shows Word documents of the workspace as pages, for ``GET word``."""

from __future__ import annotations

import asyncio

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.files.path_permissions import permitted_path
from jupyter_ai_shoulders.files.word.file_names import is_word
from jupyter_ai_shoulders.files.word.word_files import SIZE_LIMIT, WordFiles
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.wire.api.word import WordPage


class WordPages:
    """Reads documents for the page."""

    def __init__(self, workspace: Workspace, files: WordFiles) -> None:
        self._workspace = workspace
        self._files = files

    async def page(self, path: str) -> WordPage:
        """Return a document as a page.

        Raises ``NotFound``, ``InvalidRequest`` (not a Word document, damaged, hostile),
        ``PolicyRefusal`` (secret) and ``TooLarge``.
        """
        return await asyncio.to_thread(self._page, path)

    def _page(self, given: str) -> WordPage:
        path = permitted_path(self._workspace, given)
        if not is_word(path):
            raise InvalidRequest(
                f"{path} is not a Word document.", hint="Only .docx and .docm files can be shown."
            )
        content = self._workspace.head(path, SIZE_LIMIT + 1).content
        return self._files.page(content, path)
