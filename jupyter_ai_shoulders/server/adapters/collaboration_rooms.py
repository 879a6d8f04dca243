"""The rooms of jupyter-collaboration, an optional extra: the ``Rooms`` of the server extension.

The only module that knows that package (5.x). Rooms are named by format, type and file id; we open
and create none, but join rooms that pages have opened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.notebook.backends.shared.rooms import Room

if TYPE_CHECKING:
    from jupyter_ydoc import YNotebook

COLLABORATION = "jupyter_server_ydoc"
"""Name of jupyter-collaboration's server extension, and its key in the settings."""
FILE_IDS = "file_id_manager"
PREFIX = "json:notebook:"
"""Prefix of the names of notebooks' rooms; the file's id follows."""
SETTLE_SECONDS = 30.0
"""A notebook of many megabytes takes seconds to load, and its pages are empty until then."""


OTHER_EXTENSIONS = {
    "jupyter_server_documents": (
        "jupyter-server-documents keeps the notebooks that are open and stands between a page and "
        "its kernel. The agent does not join its rooms: it edits an open notebook through its "
        "page, and a closed one in its file. Keep the page open while the agent works in it."
    ),
    "jupyter_server_nbmodel": (
        "jupyter-server-nbmodel runs the cells that you run. The agent runs its own itself; a "
        "question that a cell of yours asks is answered where that extension puts it."
    ),
}
"""Limitations beside other extensions, by the extension's name."""


def document_server(settings: Mapping[str, Any]) -> str | None:
    """Return a notice about an extension that stores or runs notebooks itself."""
    return next(
        (note for name, note in OTHER_EXTENSIONS.items() if f"{name}_config" in settings), None
    )


class ServerRooms:
    """The rooms this server has open.

    ``settings`` are those of the web application: extensions add themselves there, some after ours.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings

    @property
    def available(self) -> bool:
        """Return whether pages can open notebooks in rooms."""
        extension = self._extension
        return extension is not None and not extension.disable_rtc

    def all(self) -> Sequence[Room]:
        """Return the rooms that are open now."""
        extension, file_ids = self._extension, self._settings.get(FILE_IDS)
        if extension is None or file_ids is None:
            return ()
        rooms = cast("dict[str, Any]", extension.ywebsocket_server.rooms)
        return [
            ServerRoom(name, room, rooms, file_ids)
            for name, room in rooms.items()
            if name.startswith(PREFIX)
        ]

    @property
    def _extension(self) -> Any:
        """The extension app; jupyter-server-documents replaces it by another object."""
        extension = self._settings.get(COLLABORATION)
        return extension if hasattr(extension, "ywebsocket_server") else None


class ServerRoom:
    """One ``jupyter_server_ydoc.rooms.DocumentRoom``.

    It has no public names for its document, its saving and its loading lock, and the extension's
    ``get_document`` waits for each page that is just opening.
    """

    def __init__(self, name: str, room: Any, rooms: Mapping[str, Any], file_ids: Any) -> None:
        self.id = name
        self._room = room
        self._rooms = rooms
        self._file_ids = file_ids

    @property
    def path(self) -> str | None:
        """See ``Room.path``."""
        return self._file_ids.get_path(self.id.removeprefix(PREFIX))

    @property
    def document(self) -> YNotebook:
        """See ``Room.document``."""
        return self._room._document  # noqa: SLF001 see the class

    @property
    def has_pages(self) -> bool:
        """See ``Room.has_pages``."""
        return bool(self._room.clients)

    @property
    def is_open(self) -> bool:
        """See ``Room.is_open``."""
        return self._rooms.get(self.id) is self._room

    @property
    def is_settled(self) -> bool:
        """See ``Room.is_settled``."""
        return self._room.ready and not self._loading.locked()

    async def settle(self) -> None:
        """See ``Room.settle``."""
        try:
            async with asyncio.timeout(SETTLE_SECONDS):
                await self._room.ready_event.wait()
                while self._loading.locked():
                    async with self._loading:
                        pass
        except TimeoutError as error:
            raise Conflict(
                f"{self.path} is still being loaded after {SETTLE_SECONDS:.0f} s.",
                code="page_not_responding",
                hint="Check that the notebook is open in JupyterLab, then try again.",
                retryable=True,
            ) from error

    async def save(self) -> None:
        """See ``Room.save``."""
        saving = self._room._save_to_disc()  # noqa: SLF001 see the class
        if saving is not None:
            await asyncio.wait([saving])

    @property
    def _loading(self) -> asyncio.Lock:
        return self._room._update_lock  # noqa: SLF001 see the class
