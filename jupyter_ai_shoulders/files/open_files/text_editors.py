"""The connected editors that read and change any text file on request.

They do not announce what they have open, so they are asked for every text file below their folder.
Used by ``files.open_files.open_text_files``.
"""

from __future__ import annotations

import posixpath

from jupyter_ai_shoulders.files.open_files.text_claims import TextClaim
from jupyter_ai_shoulders.files.word.file_names import is_word
from jupyter_ai_shoulders.guard.filesystem.workspace import WorkspacePath
from jupyter_ai_shoulders.wire.ids import ClientId, Version


class TextEditors:
    """Editors by client, the one connected last at the end."""

    def __init__(self) -> None:
        self._folders: dict[ClientId, WorkspacePath] = {}

    def add(self, client: ClientId, folder: WorkspacePath) -> None:
        """Register an editor with its folder."""
        self._folders[client] = folder

    def remove(self, client: ClientId) -> None:
        """Forget an editor that disconnected."""
        self._folders.pop(client, None)

    def claim(self, path: WorkspacePath, acting: ClientId | None) -> TextClaim | None:
        """Return the claim of the editor that is asked for a file in work for the client
        ``acting``.

        That is ``acting`` itself, and without a client the editor connected last. Notebooks and
        Word documents are no text, and files outside of the workspace are not the editor's.
        """
        if path.endswith(".ipynb") or is_word(path) or posixpath.isabs(path):
            return None
        for client, folder in reversed(self._folders.items()):
            if acting in {None, client} and (not folder or path.startswith(f"{folder}/")):
                return _claim(client, path)
        return None


def _claim(client: ClientId, path: WorkspacePath) -> TextClaim:
    return TextClaim(
        client=client,
        path=path,
        page_path=path,
        epoch=0,
        dirty=False,
        saved_at=None,
        focus=0,
        in_editor=True,
        version=Version(""),
        writable=True,
    )
