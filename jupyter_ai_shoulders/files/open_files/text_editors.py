"""The connected editors that read and change any text file on request.

They do not announce what they have open, so they are asked for every text file below their folder.
Used by ``files.open_files.open_text_files``.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from jupyter_ai_shoulders.files.open_files.text_claims import TextClaim
from jupyter_ai_shoulders.files.word.file_names import is_word
from jupyter_ai_shoulders.guard.filesystem.workspace import WorkspacePath
from jupyter_ai_shoulders.wire.ids import ClientId, Version


@dataclass(frozen=True, slots=True)
class _Editor:
    folder: WorkspacePath
    answering: bool


class TextEditors:
    """Editors by client, the one announced last at the end."""

    def __init__(self) -> None:
        self._editors: dict[ClientId, _Editor] = {}

    def add(self, client: ClientId, folder: WorkspacePath, *, answering: bool) -> None:
        """Register an editor with its folder, and whether a message of its is being answered."""
        self._editors.pop(client, None)
        self._editors[client] = _Editor(folder, answering)

    def remove(self, client: ClientId) -> None:
        """Forget an editor that disconnected."""
        self._editors.pop(client, None)

    def claim(self, path: WorkspacePath, acting: ClientId | None) -> TextClaim | None:
        """Return the claim of the editor that is asked for a file in work for the client
        ``acting``.

        That is ``acting`` itself, and without a client the editor whose message came last, while it
        is being answered. Notebooks and Word documents are no text, and files outside of the
        workspace are not the editor's.
        """
        if path.endswith(".ipynb") or is_word(path) or posixpath.isabs(path):
            return None
        for client, editor in reversed(self._editors.items()):
            asked = editor.answering if acting is None else acting == client
            if asked and (not editor.folder or path.startswith(f"{editor.folder}/")):
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
