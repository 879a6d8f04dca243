"""Names conversations among the documents of an index, apart from all files.

Used by ``retrieval.service`` and ``host.search``. A workspace path never begins with a slash.
"""

from __future__ import annotations

from urllib.parse import quote

from jupyter_ai_shoulders.wire.ids import SessionId

_FOLDER = "/conversations/"
_SHARED = f"{_FOLDER}-/"
"""Conversations without an owner: the server does not distinguish its users."""


def conversation_path(session_id: SessionId, owner: str | None) -> str:
    """Return the path of a conversation in an index."""
    return f"{_SHARED if owner is None else _folder_of(owner)}{session_id}"


def conversation_at(path: str) -> SessionId | None:
    """Return the conversation of a path; None for that of a file."""
    return SessionId(path.rpartition("/")[2]) if path.startswith(_FOLDER) else None


def visible_folders(owner: str) -> tuple[str, str]:
    """Return the beginnings of the paths of conversations that a user may see."""
    return _SHARED, _folder_of(owner)


def _folder_of(owner: str) -> str:
    return f"{_FOLDER}@{quote(owner, safe='')}/"
