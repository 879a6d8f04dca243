"""A folder with its index, one service over it, and questions to it."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.retrieval.index_file import IndexFile
from jupyter_ai_shoulders.retrieval.service import MeaningPorts, SearchService
from jupyter_ai_shoulders.wire.api.search import DocumentKind, SearchQuery, SearchResults
from tests.retrieval.fake_documents import FakeOwnership, FolderDocuments

ENOUGH = 30.0
"""Seconds to wait for an index."""


class LaterClock(SystemClock):
    """The machine's clock, moved on by tests, so that documents are compared again."""

    def __init__(self) -> None:
        self.moved = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.moved

    def later(self) -> None:
        """Let more time pass than a comparison is good for."""
        self.moved += 2.0


class BoundedFile(IndexFile):
    """An index file that cannot have more than ``pages``, as on a full disk."""

    pages: int | None = None

    def open_writer(self) -> sqlite3.Connection:
        connection = super().open_writer()
        if self.pages is not None:
            connection.execute(f"PRAGMA max_page_count = {self.pages}")
        return connection


class Stage:
    """A folder, its index, and one service at a time."""

    def __init__(self, folder: Path) -> None:
        self.source = FolderDocuments(folder / "documents")
        self.file = BoundedFile(folder / "index" / "words.db")
        self.ownership = FakeOwnership()
        self.clock = LaterClock()
        self.meaning: MeaningPorts | None = None
        self.reports: list[str] = []

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[SearchService]:
        """Run a service."""
        service = SearchService(
            self.file,
            self.source,
            self.ownership,
            self.clock,
            changed=lambda: self.reports.append(""),
            meaning=self.meaning,
        )
        try:
            yield service
        finally:
            await service.aclose()


async def ask(
    service: SearchService, q: str, path: str = "", kind: DocumentKind | None = None
) -> SearchResults:
    return await service.search(SearchQuery(q=q, path=path, kind=kind, wait_s=ENOUGH))


async def paths(service: SearchService, q: str) -> list[str]:
    return [match.path for match in (await ask(service, q)).matches]


def word(number: int) -> str:
    """Return a word of its own for a number, without parts."""
    return "w" + "".join(chr(ord("a") + int(digit)) for digit in f"{number:03}")
