"""Keeps vectors of the indexed texts in a store, and finds the texts nearest to a query.

Made by ``retrieval.service`` where search by meaning is possible. Each embedder has a collection of
its own. After a change of the embedder the old collection answers until the new one is complete.
Texts are embedded once: equal ones share a vector, and before a batch is sent the store is asked
which of it it has. Nothing is sent to another machine without the user's consent to its host.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

from jupyter_ai_shoulders.core.clock import Sleep
from jupyter_ai_shoulders.core.embedding import NO_EMBEDDER_HINT, Embedder, EmbedderInfo
from jupyter_ai_shoulders.core.errors import InvalidRequest, ProviderError, ShouldersError
from jupyter_ai_shoulders.retrieval.collection_names import collection_name
from jupyter_ai_shoulders.retrieval.ports import (
    EmbedderSource,
    VectorCollections,
    VectorStore,
    VectorStoreUnavailable,
)
from jupyter_ai_shoulders.retrieval.vector_records import MissingText, VectorRecords
from jupyter_ai_shoulders.wire.api.search import EmbeddingConsent, MeaningStatus

BATCH = 64
"""Texts per call, if the embedder takes as many."""
QUERY_SECONDS = 3.0
"""Time for the vector of a query; after it, words alone answer."""
FIRST_RETRY_SECONDS = 2.0
LAST_RETRY_SECONDS = 60.0
KEPT_QUERIES = 64
REFUSALS = frozenset({"invalid_request", "bad_request_upstream", "context_overflow"})
"""Error codes of a text that an embedder does not take."""
CHARACTERS_PER_TOKEN = 3
"""For estimates: source code has fewer characters per token than prose."""
_log = logging.getLogger(__name__)


class MeaningUnavailable(Exception):
    """Only words can be searched now; the message says why."""


class MeaningIndex:
    """The vectors of one index. Used on the event loop; ``aclose`` it."""

    def __init__(
        self,
        records: VectorRecords,
        embedders: EmbedderSource,
        collections: VectorCollections,
        *,
        changed: Callable[[], None],
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """``changed`` is called when the state may have changed."""
        self._records = records
        self._embedders = embedders
        self._collections = collections
        self._changed = changed
        self._sleep = sleep
        self._stores: dict[str, VectorStore] = {}
        self._queries: OrderedDict[tuple[str, str], Sequence[float]] = OrderedDict()
        self._updating: asyncio.Task[None] | None = None
        self._deleting = False
        self._refused: set[str] = set()
        self._unstored: dict[tuple[str, str], Sequence[float]] = {}
        """Vectors by embedder and digest, until they are stored: a store that fails does not make
        their texts be embedded again. Some batches at most."""
        self._active: EmbedderInfo | None = None
        self._reported: MeaningStatus | None = None
        self._has_none = False
        self.embedder: EmbedderInfo | None = None
        """The embedder that is used, or would be with consent."""
        self.dimension: int | None = None
        self.missing = 0
        """Texts without a vector."""
        self.consent: EmbeddingConsent | None = None
        """What the user has to allow first."""
        self.error: str | None = None

    def refresh(self) -> None:
        """Embed what is missing, in the background; the index has just been updated."""
        if self._updating is None and not self._deleting:
            self._updating = asyncio.create_task(self._update(), name="shoulders-embedding")

    def status(self) -> MeaningStatus | None:
        """Return the state for the user; None where search by meaning is switched off."""
        if not self._embedders.enabled:
            return None
        info = self.embedder
        return MeaningStatus(
            model=None if info is None else info.model,
            host=None if info is None else info.host,
            is_local=info is not None and info.is_local,
            store=self._collections.kind,
            dimension=self.dimension,
            missing=self.missing,
            consent=self.consent,
            problem=self.error or (NO_EMBEDDER_HINT if self._has_none else None),
        )

    @property
    def is_shared(self) -> bool:
        """Whether several processes may use the vectors at once."""
        return self._collections.kind == "server"

    async def stop(self) -> None:
        """Stop the background work and close the stores; ``refresh`` continues it."""
        task, self._updating = self._updating, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        stores, self._stores = self._stores, {}
        for store in stores.values():
            await _close(store)
        self._queries.clear()

    async def delete(self) -> None:
        """Delete all vectors, after the index. Raises ``VectorStoreUnavailable``.

        After an error some may be there: the next update asks the store which, or deletes them.
        """
        self._deleting = True
        try:
            await self.stop()
            self._active, self._refused, self._unstored = None, set(), {}
            self.dimension, self.missing, self.error = None, 0, None
            await self._collections.drop_all()
        finally:
            self._deleting = False

    async def nearest(self, query: str, limit: int) -> list[str]:
        """Return the digests of the texts nearest to a query, best first.

        Raises ``MeaningUnavailable``, without a message where there are no vectors to search.
        """
        info = await self._active_embedder() if self._embedders.enabled else None
        if info is None:
            raise MeaningUnavailable
        try:
            async with asyncio.timeout(QUERY_SECONDS):
                vector = await self._query_vector(info, query)
            store = await self._store(info)
            return [digest for digest, _ in await store.nearest(vector, limit)]
        except TimeoutError as error:
            text = f"{info.model} did not answer within {QUERY_SECONDS:g} seconds"
            raise MeaningUnavailable(f"Only words were searched: {text}.") from error
        except ShouldersError as error:
            reason = str(error).rstrip(".")
            raise MeaningUnavailable(f"Only words were searched: {reason}.") from error

    # queries

    async def _active_embedder(self) -> EmbedderInfo | None:
        """Return the embedder whose collection answers."""
        if self._active is None:
            name = await asyncio.to_thread(self._records.active)
            embedder = None if name is None else self._embedders.by_id(name)
            self._active = None if embedder is None else embedder.info
        return self._active

    async def _query_vector(self, info: EmbedderInfo, query: str) -> Sequence[float]:
        key = (info.id, query)
        known = self._queries.get(key)
        if known is None:
            embedder = self._embedders.by_id(info.id)
            if embedder is None or not self._may_send(embedder.info):
                raise MeaningUnavailable(
                    f"Only words were searched: {info.model} is not available."
                )
            (known,) = await embedder.embed([query], "query")
            self._queries[key] = known
            while len(self._queries) > KEPT_QUERIES:
                self._queries.popitem(last=False)
        self._queries.move_to_end(key)
        return known

    # background

    async def _update(self) -> None:
        try:
            await self._embed_all_or_drop()
            self.error = None
        except (ShouldersError, sqlite3.Error, OSError) as reason:
            self.error = f"Search by meaning is not up to date: {reason}"
            _log.info("Texts are not embedded: %s", reason)
        except Exception as reason:  # noqa: BLE001 the task has no caller to report it to
            _log.exception("Texts cannot be embedded")
            self.error = f"Search by meaning is not up to date: {reason}"
        finally:
            self._updating = None
            self._report()

    async def _embed_all_or_drop(self) -> None:
        """Embed what is missing; delete damaged vectors, which the next update makes again."""
        try:
            await self._embed_all()
        except VectorStoreUnavailable as reason:
            if reason.is_damaged:
                _log.warning("Vectors are made again: %s", reason)
                for name in list(self._stores):
                    await self._drop(name)
            raise

    async def _embed_all(self) -> None:
        active = await asyncio.to_thread(self._records.active)
        embedder = await self._embedders.wanted(active)
        self._has_none = embedder is None
        if embedder is None:
            self.embedder, self.consent, self.missing = None, None, 0
            return
        info, name = embedder.info, embedder.info.id
        if name in await asyncio.to_thread(self._records.dropped):
            await self._drop(name)
        store = await self._store(info)
        await store.count()  # nothing is asked of the user before vectors can be stored
        missing, characters = await asyncio.to_thread(self._records.count_missing, name)
        self.embedder, self.missing, self.consent = info, missing, None
        if not self._may_send(info):
            self.consent = _consent_request(info, missing, characters)
            return
        if active is None:
            await asyncio.to_thread(self._records.set_active, name)
        await self._embed_missing(embedder, store)
        await self._finish(info, store)

    async def _embed_missing(self, embedder: Embedder, store: VectorStore) -> None:
        name, row = embedder.info.id, 0
        size = min(BATCH, embedder.info.max_batch)
        while texts := await asyncio.to_thread(self._records.missing, name, row, size):
            row = texts[-1].row
            wanted = {each.digest: each for each in texts if each.digest not in self._refused}
            known = await store.known(wanted.keys())
            new = [each for digest, each in wanted.items() if digest not in known]
            vectors = await self._new_vectors(embedder, new)
            if vectors:
                self.dimension = len(next(iter(vectors.values())))
                await store.add(vectors)
            for digest in vectors:
                self._unstored.pop((name, digest), None)
            await asyncio.to_thread(self._records.add, name, {*known, *vectors})
            self.missing = max(self.missing - len(wanted), 0)
            self._report()
        self._unstored = {}

    async def _new_vectors(
        self, embedder: Embedder, texts: Sequence[MissingText]
    ) -> Mapping[str, Sequence[float]]:
        """Return the vectors of texts, of which some may have been embedded and not stored."""
        name, digests = embedder.info.id, [each.digest for each in texts]
        kept = {
            each: self._unstored[name, each] for each in digests if (name, each) in self._unstored
        }
        new = await self._embedded(embedder, [each for each in texts if each.digest not in kept])
        self._unstored |= {(name, digest): vector for digest, vector in new.items()}
        return {**kept, **new}

    async def _embedded(
        self, embedder: Embedder, texts: Sequence[MissingText]
    ) -> Mapping[str, Sequence[float]]:
        """Return the vectors of texts, without those that the embedder refuses.

        Raises the refusal if none is accepted: then it is not about single texts.
        """
        if not texts:
            return {}
        try:
            vectors = await self._with_retries(embedder, [each.text for each in texts])
        except (InvalidRequest, ProviderError) as reason:
            if reason.info.code not in REFUSALS:
                raise
            return await self._one_by_one(embedder, texts, reason)
        return {each.digest: vector for each, vector in zip(texts, vectors, strict=True)}

    async def _one_by_one(
        self, embedder: Embedder, texts: Sequence[MissingText], refusal: ShouldersError
    ) -> Mapping[str, Sequence[float]]:
        found: dict[str, Sequence[float]] = {}
        for each in texts if len(texts) > 1 else ():
            try:
                (found[each.digest],) = await self._with_retries(embedder, [each.text])
            except (InvalidRequest, ProviderError) as reason:
                if reason.info.code not in REFUSALS:
                    raise
        if not found and self.dimension is None:
            raise refusal
        self._refused.update(each.digest for each in texts if each.digest not in found)
        return found

    async def _with_retries(
        self, embedder: Embedder, texts: Sequence[str]
    ) -> Sequence[Sequence[float]]:
        wait = FIRST_RETRY_SECONDS
        while True:
            try:
                return await embedder.embed(texts, "document")
            except ProviderError as reason:
                if not reason.info.retryable or wait > LAST_RETRY_SECONDS:
                    raise
                text = str(reason).rstrip(".")
                self.error = f"Search by meaning is interrupted and is tried again: {text}."
                self._report()
                await self._sleep(max(wait, (reason.retry_after_ms or 0) / 1000))
                wait *= 2

    def _report(self) -> None:
        """Report a change of the state."""
        status = self.status()
        if status != self._reported:
            self._reported = status
            self._changed()

    async def _finish(self, info: EmbedderInfo, store: VectorStore) -> None:
        """Let a complete collection answer, and delete what is not needed any more."""
        active = await asyncio.to_thread(self._records.active)
        if active != info.id:
            await asyncio.to_thread(self._records.set_active, info.id)
        self._active = info
        while unneeded := await asyncio.to_thread(self._records.unneeded, info.id, BATCH):
            await store.remove(unneeded)
            await asyncio.to_thread(self._records.remove, info.id, unneeded)
        for name in await asyncio.to_thread(self._records.dropped):
            await self._drop(name)

    async def _drop(self, name: str) -> None:
        """Delete a collection. If that fails, the next update tries it again."""
        await asyncio.to_thread(self._records.begin_drop, name)
        store = self._stores.pop(name, None)
        if store is not None:
            await _close(store)
        await self._collections.drop(collection_name(name))
        await asyncio.to_thread(self._records.end_drop, name)

    async def _store(self, info: EmbedderInfo) -> VectorStore:
        store = self._stores.get(info.id)
        if store is None:
            store = self._stores[info.id] = await self._collections.open(collection_name(info.id))
        return store

    def _may_send(self, info: EmbedderInfo) -> bool:
        return info.is_local or self._embedders.may_send_to(info.host)


async def _close(store: VectorStore) -> None:
    """Close a store. All vectors that count are on the disk before, so an error loses nothing."""
    try:
        await store.aclose()
    except ShouldersError as reason:
        _log.info("Vectors were not closed in order: %s", reason)


def _consent_request(info: EmbedderInfo, chunks: int, characters: int) -> EmbeddingConsent:
    tokens = characters // CHARACTERS_PER_TOKEN
    price = info.price_micro_usd_per_mtok
    cost = None if price is None else -(-tokens * price // 1_000_000)
    return EmbeddingConsent(
        host=info.host, model=info.model, chunks=chunks, tokens=tokens, cost_micro_usd=cost
    )
