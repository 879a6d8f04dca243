"""Where the vectors of search are kept: in the state directory, or on a Qdrant server.

Implements ``retrieval.ports.VectorCollections``; made by ``host.search.workspace_search``.
"""

from __future__ import annotations

import asyncio
import getpass
import hashlib
import os
from pathlib import Path
from typing import Literal

from jupyter_ai_shoulders.retrieval.collection_names import is_collection_name
from jupyter_ai_shoulders.retrieval.ports import VectorStoreUnavailable
from jupyter_ai_shoulders.retrieval.vectors.edge_store import EdgeVectorStore
from jupyter_ai_shoulders.retrieval.vectors.folder_removal import remove_folder
from jupyter_ai_shoulders.retrieval.vectors.qdrant_connection import QdrantServer, collection_names
from jupyter_ai_shoulders.retrieval.vectors.qdrant_store import QdrantVectorStore


class LocalCollections:
    """Collections in folders below one."""

    kind: Literal["local", "server"] = "local"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def open(self, name: str) -> EdgeVectorStore:
        """See ``VectorCollections.open``."""
        return EdgeVectorStore(self._folder / name)

    async def drop(self, name: str) -> None:
        """See ``VectorCollections.drop``."""
        await asyncio.to_thread(_remove, self._folder / name)

    async def drop_all(self) -> None:
        """See ``VectorCollections.drop_all``."""
        await asyncio.to_thread(_remove, self._folder)


class ServerCollections:
    """Collections of a Qdrant server that this user's workspace shares with others."""

    kind: Literal["local", "server"] = "server"

    def __init__(self, server: QdrantServer, tenant: str) -> None:
        self._server = server
        self._tenant = tenant

    async def open(self, name: str) -> QdrantVectorStore:
        """See ``VectorCollections.open``."""
        return QdrantVectorStore(self._server, name, self._tenant)

    async def drop(self, name: str) -> None:
        """Delete the points of this tenant; the collection is shared."""
        store = QdrantVectorStore(self._server, name, self._tenant)
        try:
            await store.clear()
        finally:
            await store.aclose()

    async def drop_all(self) -> None:
        """Delete the points of this tenant in all collections, those of other embedders too."""
        for name in await collection_names(self._server):
            if is_collection_name(name):
                await self.drop(name)


def _remove(folder: Path) -> None:
    try:
        remove_folder(folder)
    except OSError as error:
        raise VectorStoreUnavailable(
            f"The vectors of the search index in {folder} cannot be deleted: {error}",
            hint=f"Check the rights of {folder}, or delete it yourself.",
            retryable=True,
        ) from error


def tenant_name(workspace: Path) -> str:
    """Return the name of this user and workspace on a shared server; the same after a restart."""
    user = os.environ.get("JUPYTERHUB_USER") or getpass.getuser()
    return f"{user}-{hashlib.sha256(str(workspace).encode()).hexdigest()[:16]}"
