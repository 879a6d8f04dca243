"""The port to the collaboration rooms of the Jupyter server.

Used by ``notebook.backends.shared.notebooks``.

A room holds one document that several pages and the server edit together.
``server.adapters.collaboration_rooms`` implements it over jupyter-collaboration, which is an
optional extra.
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
        """Return its name, which a rename of the file does not change."""
        ...

    @property
    def path(self) -> str | None:
        """Return where the file is now, as the server names it; None when it is deleted."""
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
        """Return whether the server still has it: what is put into a closed room is lost."""
        ...

    @property
    def is_settled(self) -> bool:
        """Return whether the document is loaded and not being loaded again."""
        ...

    async def settle(self) -> None:
        """Wait until it is settled, as it then is until the caller's next await.

        Raises ``Conflict`` when it takes too long.
        """
        ...

    async def save(self) -> None:
        """Write the document to its file now instead of a little later.

        What went wrong shows in the document, which stays dirty.
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
