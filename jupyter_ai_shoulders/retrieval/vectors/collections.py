"""Where the vectors of search are kept: in the state directory, or on a Qdrant server.

Implements ``retrieval.ports.VectorCollections``; made by ``host.search.workspace_search``.
"""

from __future__ import annotations

import asyncio
import getpass
import hashlib
import os
import shutil
from pathlib import Path
from typing import Literal

from jupyter_ai_shoulders.retrieval.vectors.edge_store import EdgeVectorStore
from jupyter_ai_shoulders.retrieval.vectors.qdrant_store import QdrantServer, QdrantVectorStore


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
        await asyncio.to_thread(shutil.rmtree, self._folder / name, ignore_errors=True)

    async def drop_all(self) -> None:
        """See ``VectorCollections.drop_all``."""
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)


class ServerCollections:
    """Collections of a Qdrant server that this user's workspace shares with others."""

    kind: Literal["local", "server"] = "server"

    def __init__(self, server: QdrantServer, tenant: str) -> None:
        self._server = server
        self._tenant = tenant
        self._opened: set[str] = set()

    async def open(self, name: str) -> QdrantVectorStore:
        """See ``VectorCollections.open``."""
        self._opened.add(name)
        return QdrantVectorStore(self._server, name, self._tenant)

    async def drop(self, name: str) -> None:
        """Delete the points of this tenant; the collection is shared."""
        store = QdrantVectorStore(self._server, name, self._tenant)
        await store.clear()
        await store.aclose()
        self._opened.discard(name)

    async def drop_all(self) -> None:
        """See ``VectorCollections.drop_all``: those that were opened."""
        for name in list(self._opened):
            await self.drop(name)


def tenant_name(workspace: Path) -> str:
    """Return the name of this user and workspace on a shared server; the same after a restart."""
    user = os.environ.get("JUPYTERHUB_USER") or getpass.getuser()
    return f"{user}-{hashlib.sha256(str(workspace).encode()).hexdigest()[:16]}"
