"""Open notebooks and their cells as MCP resources, ``notebook:///path#cell-id``.

Used by ``host.mcp_server.protocol``. A list has names only; reading one is a call of
``read_notebook`` in the client's conversation, so that it is recorded like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from mcp_types import Resource, ResourceTemplate

from jupyter_ai_shoulders.core.errors import InvalidRequest, ShouldersError
from jupyter_ai_shoulders.notebook.base import Notebooks, NotebookSnapshot
from jupyter_ai_shoulders.wire.base import JsonObject

SCHEME = "notebook"
MIME_TYPE = "text/markdown"
READS = "read_notebook"
"""The tool that reads a resource."""
MAX_NOTEBOOKS = 50
MAX_CELLS = 200
"""Listed cells of all notebooks together."""
MAX_TITLE = 80
TEMPLATE = ResourceTemplate(
    name="notebook",
    uri_template="notebook:///{+path}",
    description="A notebook of the workspace; add #cell-id for one cell with its outputs.",
    mime_type=MIME_TYPE,
)


@dataclass(frozen=True, slots=True)
class NotebookResources:
    """Lists the notebooks that pages have open."""

    open_paths: Callable[[], Collection[str]]
    notebooks: Notebooks
    redact: Callable[[str], str]
    """Removes provider keys from text that is shown."""

    async def listed(self) -> list[Resource]:
        """Return the open notebooks, each followed by its cells."""
        found: list[Resource] = []
        for path in sorted(self.open_paths())[:MAX_NOTEBOOKS]:
            if not path.endswith(".ipynb"):
                continue
            try:
                snapshot = await self.notebooks.open(path).read(())
            except ShouldersError:  # closed or damaged since; it is not offered
                continue
            found.append(Resource(name=path, uri=uri_of(path), mime_type=MIME_TYPE))
            left = MAX_CELLS - len(found)
            found += [self._cell(snapshot, index) for index in range(len(snapshot.cells))][:left]
        return found

    def _cell(self, snapshot: NotebookSnapshot, index: int) -> Resource:
        cell = snapshot.cells[index]
        first_line = self.redact(cell.source.strip().partition("\n")[0])[:MAX_TITLE]
        return Resource(
            name=f"{snapshot.path}#{cell.id}",
            title=f"Cell {index + 1}: {first_line}",
            uri=uri_of(snapshot.path, cell.id),
            mime_type=MIME_TYPE,
        )


def uri_of(path: str, cell_id: str | None = None) -> str:
    """Return the address of a notebook or cell."""
    address = f"{SCHEME}:///{quote(path)}"
    return address if cell_id is None else f"{address}#{quote(cell_id, safe='')}"


def read_arguments(uri: str) -> JsonObject:
    """Return the arguments of ``read_notebook`` that read a resource. Raises ``InvalidRequest``."""
    parts = urlsplit(uri)
    path = unquote(parts.path).removeprefix("/")
    if parts.scheme != SCHEME or parts.netloc or not path:
        raise InvalidRequest(
            f"{uri[:200]!r} is no resource of this server.",
            hint="Use an address such as notebook:///analysis.ipynb#cell-id.",
        )
    if parts.fragment:
        return {"path": path, "cells": [unquote(parts.fragment)]}
    return {"path": path, "outputs": True}
