"""A connection to a Qdrant server through Qdrant's official client over REST.

Used by ``qdrant_store``, and by ``collections`` to list what a server has. The client's local mode
is never used: it unpickles what lies in its folder.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from jupyter_ai_shoulders.retrieval.ports import VectorStoreUnavailable
from jupyter_ai_shoulders.retrieval.vectors.optional_packages import qdrant_client
from jupyter_ai_shoulders.retrieval.vectors.qdrant_errors import (
    ANSWER_ERRORS,
    URL_SETTING,
    status_of,
    unavailable,
)
from jupyter_ai_shoulders.retrieval.vectors.qdrant_points import UnfinishedUpdate

SECONDS = 10.0
"""For one request, connecting included."""


@dataclass(frozen=True, slots=True)
class QdrantServer:
    """Where a server is. Without a port in the URL, the client uses 6333."""

    url: str
    api_key: str | None = field(default=None, repr=False)
    seconds: float = SECONDS


class QdrantConnection:
    """The client of one server. One caller at a time connects and closes."""

    def __init__(self, server: QdrantServer) -> None:
        self._server = server
        self.client: Any = None
        """An ``AsyncQdrantClient`` after ``connect``."""
        self.models: Any = None
        """The client's models of requests, after ``connect``."""

    async def connect(self) -> None:
        """Import and make the client, unless there is one. Raises ``VectorStoreUnavailable``.

        That may take seconds, which are not the server's, so call it outside of ``request`` first.
        """
        if self.client is not None:
            return
        package = await asyncio.to_thread(qdrant_client)
        if self.client is not None:  # another caller was faster
            return
        # As a header: the client warns of a key over http, which is common inside a cluster.
        headers = {"api-key": self._server.api_key} if self._server.api_key else None
        try:
            self.client = package.AsyncQdrantClient(
                url=self._server.url,
                headers=headers,
                prefer_grpc=False,
                check_compatibility=False,
                timeout=self._server.seconds,
            )
        except ValueError as error:
            raise VectorStoreUnavailable(
                f"{self._server.url!r} is not the address of a Qdrant server: {error}",
                hint=f"Correct {URL_SETTING}, for example to http://localhost:6333.",
            ) from error
        self.models = package.models

    async def aclose(self) -> None:
        """Close the connections; ``connect`` opens them again."""
        client, self.client = self.client, None
        if client is not None:
            await client.close()

    @asynccontextmanager
    async def request(
        self, doing: str, *, missing_ok: bool = False, existing_ok: bool = False
    ) -> AsyncGenerator[None]:
        """Bound a request in time and translate its errors, but for those that are expected.

        Raises ``VectorStoreUnavailable``, with the ``status`` of a refusal among its details.
        """
        try:
            async with asyncio.timeout(self._server.seconds):
                yield
        except VectorStoreUnavailable:
            raise
        except Exception as error:
            status = status_of(error)
            if (missing_ok and status == 404) or (existing_ok and status == 409):
                return
            if not _is_of_the_client(error):
                raise
            raise unavailable(doing, self._server.url, error) from error


async def collection_names(server: QdrantServer) -> list[str]:
    """Return the names of all collections that the server's key may see.

    Raises ``VectorStoreUnavailable``.
    """
    connection = QdrantConnection(server)
    await connection.connect()
    try:
        async with connection.request("list its collections"):
            answer = await connection.client.get_collections()
            return [each.name for each in answer.collections]
    finally:
        await connection.aclose()


def _is_of_the_client(error: Exception) -> bool:
    """Return whether an error is the client's or the network's, not ours."""
    known = (TimeoutError, OSError, UnfinishedUpdate, *ANSWER_ERRORS)
    return isinstance(error, known) or type(error).__module__.startswith("qdrant_client.")
