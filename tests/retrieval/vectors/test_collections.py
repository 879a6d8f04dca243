"""Collections are deleted, or it is said why not; those of others stay."""

from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from jupyter_ai_shoulders.retrieval.collection_names import collection_name, is_collection_name
from jupyter_ai_shoulders.retrieval.ports import VectorStoreUnavailable
from jupyter_ai_shoulders.retrieval.vectors.collections import LocalCollections, ServerCollections
from jupyter_ai_shoulders.retrieval.vectors.qdrant_connection import QdrantServer
from jupyter_ai_shoulders.retrieval.vectors.qdrant_store import QdrantVectorStore
from tests.retrieval.vectors.qdrant_simulator.server import Cut, QdrantSimulator, Status
from tests.retrieval.vectors.sample_vectors import vectors

OLD, NEW = collection_name("ollama/old-model"), collection_name("openai/new_model:v2")


@pytest.fixture
def refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    """No folder can be deleted. Rights do not hold up tests that run as root."""

    def rmtree(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(shutil, "rmtree", rmtree)


async def test_a_collection_and_all_are_deleted(tmp_path: Path):
    collections = LocalCollections(tmp_path / "vectors")
    for name in (OLD, NEW):
        store = await collections.open(name)
        await store.add(vectors(range(3)))
        await store.aclose()
    await collections.drop(OLD)
    assert [path.name for path in (tmp_path / "vectors").iterdir()] == [NEW]
    await collections.drop_all()
    assert not (tmp_path / "vectors").exists()


async def test_deleting_what_is_not_there_is_no_error(tmp_path: Path):
    collections = LocalCollections(tmp_path / "vectors")
    await collections.drop(OLD)
    await collections.drop_all()


@pytest.mark.usefixtures("refuse")
async def test_a_collection_that_cannot_be_deleted_is_an_error(tmp_path: Path):
    collections = LocalCollections(tmp_path / "vectors")
    with pytest.raises(VectorStoreUnavailable, match=r"cannot be deleted.*Permission") as one:
        await collections.drop(OLD)
    with pytest.raises(VectorStoreUnavailable, match=r"cannot be deleted.*Permission") as every:
        await collections.drop_all()
    for error, folder in ((one, tmp_path / "vectors" / OLD), (every, tmp_path / "vectors")):
        assert str(folder) in str(error.value)
        assert "delete it yourself" in (error.value.info.hint or "")
        assert error.value.info.retryable


@pytest.mark.parametrize("name", ["", "chunks", "shoulders", "shoulders-notes", f"{OLD}-copy"])
def test_names_of_other_programs_are_told_apart(name: str):
    assert is_collection_name(OLD)
    assert is_collection_name(collection_name("∅"))
    assert is_collection_name(collection_name("openai/" + "long" * 50))
    assert not is_collection_name(name)


# a server


@asynccontextmanager
async def filled() -> AsyncGenerator[tuple[QdrantSimulator, QdrantServer]]:
    """Start a server with points of two tenants in two collections and another program's."""
    async with QdrantSimulator() as simulator:
        server = QdrantServer(simulator.url, simulator.key)
        for name in (OLD, NEW, "another-program"):
            for tenant in ("ada", "grace"):
                store = QdrantVectorStore(server, name, tenant)
                await store.add(vectors(range(3)))
                await store.aclose()
        simulator.requests.clear()
        yield simulator, server
    assert simulator.refusals == []


def counts(simulator: QdrantSimulator, tenant: str) -> dict[str, int]:
    """Return how many points of a tenant each collection has."""
    return {
        name: sum(point.payload["tenant"] == tenant for point in collection.points.values())
        for name, collection in simulator.routes.collections.items()
    }


async def test_clear_deletes_the_points_of_a_tenant_in_all_our_collections():
    """Also in those that an earlier process has opened."""
    async with filled() as (simulator, server):
        await ServerCollections(server, "ada").drop_all()
        assert counts(simulator, "ada") == {OLD: 0, NEW: 0, "another-program": 3}
        assert counts(simulator, "grace") == {OLD: 3, NEW: 3, "another-program": 3}
        assert not any("another-program" in request.path for request in simulator.requests)


async def test_clear_of_an_empty_server_is_no_error():
    async with QdrantSimulator() as simulator:
        await ServerCollections(QdrantServer(simulator.url, simulator.key), "ada").drop_all()
    assert simulator.refusals == []


@pytest.mark.parametrize("after", [0, 1, 2], ids=["list", "describe", "delete"])
@pytest.mark.parametrize("fault", [Status(503), Cut()], ids=["503", "cut"])
async def test_clear_says_what_failed_and_can_be_tried_again(after: int, fault: Status | Cut):
    async with filled() as (simulator, server):
        simulator.fail(fault, after=after)
        with pytest.raises(VectorStoreUnavailable) as caught:
            await ServerCollections(server, "ada").drop_all()
        assert simulator.url in str(caught.value)
        assert caught.value.info.retryable
        await ServerCollections(server, "ada").drop_all()
        assert counts(simulator, "ada") == {OLD: 0, NEW: 0, "another-program": 3}
        assert counts(simulator, "grace") == {OLD: 3, NEW: 3, "another-program": 3}


async def test_clear_of_a_server_that_is_down_names_it_and_the_setting():
    with pytest.raises(VectorStoreUnavailable, match="could not list its collections") as caught:
        await ServerCollections(QdrantServer("http://127.0.0.1:9"), "ada").drop_all()
    assert "Shoulders.qdrant_url" in (caught.value.info.hint or "")
    assert caught.value.info.retryable
