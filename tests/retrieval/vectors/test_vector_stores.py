"""What every vector store does, over the engine in process and the simulated server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.retrieval.ports import VectorStore
from jupyter_ai_shoulders.retrieval.vectors import edge_store, qdrant_store
from jupyter_ai_shoulders.retrieval.vectors.edge_store import EdgeVectorStore
from jupyter_ai_shoulders.retrieval.vectors.qdrant_connection import QdrantServer
from jupyter_ai_shoulders.retrieval.vectors.qdrant_store import QdrantVectorStore
from tests.retrieval.vectors.qdrant_simulator.server import QdrantSimulator
from tests.retrieval.vectors.sample_vectors import cosine, digest, ranking, vector, vectors

Open = Callable[[], AbstractAsyncContextManager[VectorStore]]


@pytest.fixture(params=["edge", "qdrant"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Open a store; a second call opens the same collection again where that is on the disk."""

    @asynccontextmanager
    async def edge() -> AsyncGenerator[VectorStore]:
        store = EdgeVectorStore(tmp_path / "vectors")
        yield store
        await store.aclose()

    @asynccontextmanager
    async def qdrant() -> AsyncGenerator[VectorStore]:
        async with QdrantSimulator() as simulator:
            server = QdrantServer(simulator.url, simulator.key)
            store = QdrantVectorStore(server, "chunks", "ada")
            yield store
            await store.aclose()
        assert simulator.refusals == []

    return {"edge": edge, "qdrant": qdrant}[request.param]


async def test_a_new_collection_is_empty(opened: Open):
    async with opened() as store:
        assert await store.count() == 0
        assert await store.known([digest(1)]) == set()
        assert await store.nearest(vector(1), 5) == []
        await store.remove([digest(1)])
        assert await store.count() == 0


async def test_added_vectors_are_known_and_counted(opened: Open):
    async with opened() as store:
        await store.add(vectors(range(5)))
        assert await store.known([digest(3), digest(4), digest(5)]) == {digest(3), digest(4)}
        assert await store.count() == 5


async def test_all_vectors_are_removed(opened: Open):
    async with opened() as store:
        await store.clear()
        await store.add(vectors(range(5)))
        await store.clear()
        assert await store.count() == 0
        await store.add(vectors(range(2)))
        assert await store.count() == 2


async def test_nearest_vectors_come_in_the_order_of_the_cosine(opened: Open):
    async with opened() as store:
        await store.add(vectors(range(60)))
        query = vector(1_000)
        found = await store.nearest(query, 10)
        assert [each for each, _ in found] == ranking(range(60), query)[:10]
        scores = {digest(number): cosine(number, query) for number in range(60)}
        assert [score for _, score in found] == pytest.approx(
            [scores[each] for each, _ in found], abs=2e-3
        )


async def test_a_limit_above_the_count_returns_all(opened: Open):
    async with opened() as store:
        await store.add(vectors(range(3)))
        assert len(await store.nearest(vector(1), 100)) == 3
        assert await store.nearest(vector(1), 0) == []


async def test_removed_vectors_are_not_found(opened: Open):
    async with opened() as store:
        await store.add(vectors(range(4)))
        await store.remove([digest(1), digest(2), digest(77)])
        assert await store.known(map_digests(4)) == {digest(0), digest(3)}
        assert {each for each, _ in await store.nearest(vector(1), 9)} == {digest(0), digest(3)}
        assert await store.count() == 2


async def test_the_same_digest_twice_is_one_vector_the_later_one(opened: Open):
    async with opened() as store:
        await store.add({digest(1): vector(1), digest(2): vector(2)})
        await store.add({digest(1): vector(3)})
        assert await store.count() == 2
        assert (await store.nearest(vector(3), 1))[0] == (digest(1), pytest.approx(1, abs=2e-3))


async def test_a_removed_vector_can_be_added_again(opened: Open):
    async with opened() as store:
        await store.add(vectors(range(3)))
        await store.remove([digest(1)])
        await store.add(vectors([1]))
        assert await store.known([digest(1)]) == {digest(1)}
        assert await store.count() == 3


async def test_empty_inputs_do_nothing(opened: Open):
    async with opened() as store:
        for _ in range(2):
            await store.add({})
            await store.remove([])
            assert await store.known([]) == set()
            await store.add(vectors([1]))
        assert await store.count() == 1


@pytest.mark.parametrize(
    "refused",
    [
        [1.0] * 7,
        [],
        [0.0] * 8,
        [float("nan"), *[1.0] * 7],
        [float("inf"), *[1.0] * 7],
        [1e30] * 8,
    ],
    ids=["dimension", "empty", "zero", "nan", "infinite", "huge"],
)
async def test_a_vector_that_no_store_can_hold_is_refused(opened: Open, refused: list[float]):
    async with opened() as store:
        await store.add(vectors(range(3)))
        with pytest.raises(InvalidRequest):
            await store.add({digest(9): refused})
        with pytest.raises(InvalidRequest):
            await store.nearest(refused, 3)
        assert await store.count() == 3


async def test_vectors_of_two_dimensions_are_refused_in_a_new_collection(opened: Open):
    async with opened() as store:
        with pytest.raises(InvalidRequest):
            await store.add({digest(1): vector(1), digest(2): vector(2, 5)})
        assert await store.count() == 0


@pytest.mark.parametrize("wrong", ["", "abc", "A" * 64, f"{'a' * 64}\n", "../" + "a" * 61])
async def test_a_key_that_is_no_digest_is_refused(opened: Open, wrong: str):
    async with opened() as store:
        for call in (store.known([wrong]), store.remove([wrong]), store.add({wrong: vector(1)})):
            with pytest.raises(InvalidRequest):
                await call


async def test_a_closed_store_opens_again(opened: Open):
    async with opened() as store:
        await store.add(vectors(range(3)))
        await store.aclose()
        await store.aclose()
        assert await store.count() == 3
        assert await store.known(map_digests(3)) == {*map_digests(3)}


async def test_large_inputs_are_divided(opened: Open, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(edge_store, "VECTORS_PER_CALL", 7)
    monkeypatch.setattr(edge_store, "DIGESTS_PER_CALL", 7)
    monkeypatch.setattr(qdrant_store, "NUMBERS_PER_REQUEST", 7 * 8)
    monkeypatch.setattr(qdrant_store, "DIGESTS_PER_REQUEST", 7)
    async with opened() as store:
        await store.add(vectors(range(50)))
        assert await store.known(map_digests(52)) == {*map_digests(50)}
        await store.remove(map_digests(20))
        assert await store.count() == 30


def map_digests(count: int) -> list[str]:
    return [digest(number) for number in range(count)]
