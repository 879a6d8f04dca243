"""An embedder that knows some synonyms, and stores of vectors that outlive a service."""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from jupyter_ai_shoulders.core.embedding import Embedder, EmbedderInfo
from jupyter_ai_shoulders.core.errors import ProviderError, ShouldersError
from jupyter_ai_shoulders.retrieval.ports import VectorStoreUnavailable
from jupyter_ai_shoulders.wire.ids import ProviderId

DIMENSION = 64
SYNONYMS = {"automobile": "car", "vehicle": "car", "purchase": "buy", "bought": "buy"}


def vector_of(text: str, salt: str = "") -> list[float]:
    """Return a vector of length 1 that is the same for synonyms."""
    vector = [0.0] * DIMENSION
    vector[0] = 0.01
    for word in re.findall(r"[a-z]+", text.lower()):
        digest = hashlib.sha256(f"{salt}{SYNONYMS.get(word, word)}".encode()).digest()
        vector[1 + digest[0] % (DIMENSION - 1)] += 1.0
    length = math.hypot(*vector)
    return [value / length for value in vector]


@dataclass
class FakeEmbedder:
    """``Embedder``.

    ``fails`` is raised by the next calls, ``log`` gets the hash of every text that was sent, and a
    text with ``refuses`` is refused.
    """

    name: str = "fake/small"
    is_local: bool = True
    fails: list[Exception] = field(default_factory=list[Exception])
    sent: list[str] = field(default_factory=list[str])
    queries: list[str] = field(default_factory=list[str])
    log: Path | None = None
    refuses: str | None = None
    gate: asyncio.Event | None = None
    """Documents are embedded once it is set."""

    @property
    def info(self) -> EmbedderInfo:
        return EmbedderInfo(
            id=self.name,
            model=self.name.partition("/")[2],
            provider=ProviderId("fake"),
            host="127.0.0.1:9" if self.is_local else "api.example.com",
            is_local=self.is_local,
            price_micro_usd_per_mtok=0 if self.is_local else 20_000,
            max_batch=8,
            max_input_tokens=512,
        )

    async def embed(
        self, texts: Sequence[str], purpose: Literal["document", "query"]
    ) -> Sequence[Sequence[float]]:
        if purpose == "document" and self.gate is not None:
            await self.gate.wait()
        await asyncio.sleep(0)
        if self.fails:
            raise self.fails.pop(0)
        if self.refuses is not None and any(self.refuses in text for text in texts):
            raise ProviderError("The text is refused.", code="bad_request_upstream")
        (self.sent if purpose == "document" else self.queries).extend(texts)
        if self.log is not None and purpose == "document":
            with self.log.open("a") as log:
                log.writelines(f"{hashlib.sha256(text.encode()).hexdigest()}\n" for text in texts)
        return [vector_of(text, self.name) for text in texts]


class FakeEmbedders:
    """``EmbedderSource``; ``chosen`` is what the settings say."""

    def __init__(self, *embedders: FakeEmbedder) -> None:
        self.known = {each.name: each for each in embedders}
        self.chosen: str | None = embedders[0].name if embedders else None
        self.allowed: set[str] = set()
        self.enabled = True

    async def wanted(self, active: str | None) -> Embedder | None:
        return None if self.chosen is None else self.known[self.chosen]

    def by_id(self, embedder_id: str) -> Embedder | None:
        return self.known.get(embedder_id)

    def may_send_to(self, host: str) -> bool:
        return host in self.allowed


class FakeStore:
    """``VectorStore`` in a file for each vector.

    ``down`` and ``is_damaged`` make every call fail.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.down = False
        self.is_damaged = False
        folder.mkdir(parents=True, exist_ok=True)

    def _check(self) -> None:
        if self.down:
            raise ShouldersError("The store of vectors does not answer.", code="state_unavailable")
        if self.is_damaged:
            raise VectorStoreUnavailable("The vectors are damaged.", is_damaged=True)

    async def known(self, digests: Collection[str]) -> set[str]:
        self._check()
        return {digest for digest in digests if (self.folder / digest).exists()}

    async def add(self, vectors: Mapping[str, Sequence[float]]) -> None:
        self._check()
        for digest, vector in vectors.items():
            part = self.folder / f"{digest}.part"
            part.write_text(" ".join(map(str, vector)))
            part.rename(self.folder / digest)

    async def remove(self, digests: Collection[str]) -> None:
        self._check()
        for digest in digests:
            (self.folder / digest).unlink(missing_ok=True)

    async def clear(self) -> None:
        for path in self.folder.iterdir():
            path.unlink()

    async def nearest(self, vector: Sequence[float], limit: int) -> list[tuple[str, float]]:
        self._check()
        scores = {path.name: _cosine(path, vector) for path in self.folder.iterdir()}
        return sorted(scores.items(), key=lambda item: -item[1])[:limit]

    async def count(self) -> int:
        self._check()
        return len(list(self.folder.iterdir()))

    async def aclose(self) -> None:
        pass


def _cosine(path: Path, vector: Sequence[float]) -> float:
    stored = map(float, path.read_text().split())
    return sum(one * other for one, other in zip(stored, vector, strict=True))


class FakeCollections:
    """``VectorCollections`` in a folder."""

    kind: Literal["local", "server"] = "local"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stores: dict[str, FakeStore] = {}
        self.down = False
        self.kept = False
        """Whether nothing can be deleted."""
        self.opened: list[str] = []

    async def open(self, name: str) -> FakeStore:
        self.opened.append(name)
        store = self.stores.setdefault(name, FakeStore(self.folder / name))
        store.down = self.down
        return store

    async def drop(self, name: str) -> None:
        if self.kept:
            raise VectorStoreUnavailable("The vectors cannot be deleted.", retryable=True)
        self.stores.pop(name, None)
        for path in (self.folder / name).glob("*"):
            path.unlink()
        if (self.folder / name).exists():
            (self.folder / name).rmdir()

    async def drop_all(self) -> None:
        for path in list(self.folder.iterdir()):
            await self.drop(path.name)

    @property
    def names(self) -> list[str]:
        """The collections that exist."""
        return sorted(path.name for path in self.folder.iterdir())
