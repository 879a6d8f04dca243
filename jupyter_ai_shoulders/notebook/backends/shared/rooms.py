"""The port to the collaboration rooms of the Jupyter server.

Used by ``notebook.backends.shared.notebooks``. A room holds one document that several pages and the
server edit together. ``server.adapters.collaboration_rooms`` implements it over
jupyter-collaboration, which is an optional extra.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from jupyter_ydoc import YNotebook


class Room(Protocol):
    """The room of one notebook."""

    @property
    def id(self) -> str:
        """Return the room's id, which a rename of the file does not change."""
        ...

    @property
    def path(self) -> str | None:
        """Return the file's current path, as the server names it; None when it is deleted."""
        ...

    @property
    def document(self) -> YNotebook:
        """Return the document itself, never a copy."""
        ...

    @property
    def has_pages(self) -> bool:
        """Return whether a page is connected; a room without pages is closed after a while."""
        ...

    @property
    def is_open(self) -> bool:
        """Return whether the server still has the room: changes to a closed room are lost."""
        ...

    @property
    def is_settled(self) -> bool:
        """Return whether the document is loaded and not being loaded again."""
        ...

    async def settle(self) -> None:
        """Wait until the room is settled; it stays so until the caller's next await.

        Raises ``Conflict`` when it takes too long.
        """
        ...

    async def save(self) -> None:
        """Write the document to its file now instead of a little later.

        After a failure the document stays dirty.
        """
        ...


class Rooms(Protocol):
    """The rooms of the server's notebooks."""

    @property
    def available(self) -> bool:
        """Return whether pages can open notebooks in rooms."""
        ...

    def all(self) -> Sequence[Room]:
        """Return the rooms that are open now."""
        ...


class NoRooms:
    """A server without collaboration."""

    available = False

    def all(self) -> Sequence[Room]:
        """Return none."""
        return ()
