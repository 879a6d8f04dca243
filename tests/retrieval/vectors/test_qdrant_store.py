"""The store on a server: tenants that share a collection, faults, and requests that resume."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.retrieval.ports import VectorStoreUnavailable
from jupyter_ai_shoulders.retrieval.vectors import qdrant_store
from jupyter_ai_shoulders.retrieval.vectors.qdrant_connection import QdrantServer
from jupyter_ai_shoulders.retrieval.vectors.qdrant_store import QdrantVectorStore
from tests.retrieval.vectors.qdrant_simulator.server import (
    Body,
    Cut,
    Fault,
    Hang,
    QdrantSimulator,
    Status,
)
from tests.retrieval.vectors.sample_vectors import digest, ranking, vector, vectors
from tests.support.case_selection import examples

SECONDS = 0.3
"""Long enough for the simulator, short enough for the tests that wait for it."""
CALLS = 5


@asynccontextmanager
async def opened(
    tenants: Sequence[str] = ("ada",), seconds: float = 10
) -> AsyncGenerator[tuple[QdrantSimulator, list[QdrantVectorStore]]]:
    """Start a server, and open a store for each tenant; no request may be refused."""
    async with QdrantSimulator() as simulator:
        server = QdrantServer(simulator.url, simulator.key, seconds)
        stores = [QdrantVectorStore(server, "chunks", tenant) for tenant in tenants]
        yield simulator, stores
        for store in stores:
            await store.aclose()
    assert simulator.refusals == []


async def failure(store: QdrantVectorStore, call: int) -> VectorStoreUnavailable:
    """Return the error of one of the five calls."""
    calls = [
        lambda: store.known([digest(1)]),
        lambda: store.add(vectors([1])),
        lambda: store.remove([digest(1)]),
        lambda: store.nearest(vector(1), 3),
        store.count,
    ]
    with pytest.raises(VectorStoreUnavailable) as caught:
        await calls[call]()
    return caught.value


class Step(NamedTuple):
    """A call of one of two tenants."""

    tenant: int
    action: Literal["add", "remove", "nearest", "count", "known"]
    numbers: list[int]


STEPS = st.lists(
    st.builds(
        Step,
        st.integers(0, 1),
        st.sampled_from(["add", "remove", "nearest", "count", "known"]),
        st.lists(st.integers(0, 12), max_size=6, unique=True),
    ),
    max_size=25,
)


@settings(max_examples=examples(full=300, default=40))
@given(STEPS)
def test_tenants_of_one_collection_see_only_their_own(steps: list[Step]):
    async def check() -> None:
        async with opened(("ada", "grace")) as (_, stores):
            expected: list[set[int]] = [set(), set()]
            for step in steps:
                await _take(step, stores[step.tenant], expected[step.tenant])

    asyncio.run(check())


async def _take(step: Step, store: QdrantVectorStore, expected: set[int]) -> None:
    """Make a call and compare with what this tenant has stored."""
    digests = [digest(number) for number in step.numbers]
    match step.action:
        case "add":
            await store.add(vectors(step.numbers))
            expected.update(step.numbers)
        case "remove":
            await store.remove(digests)
            expected.difference_update(step.numbers)
        case "nearest":
            found = await store.nearest(vector(99), 20)
            assert [each for each, _ in found] == ranking(expected, vector(99))
        case "count":
            assert await store.count() == len(expected)
        case "known":
            known = {digest(number) for number in expected.intersection(step.numbers)}
            assert await store.known(digests) == known


async def test_every_request_for_points_carries_the_tenant():
    async with opened() as (simulator, (store,)):
        await store.add(vectors(range(3)))
        await store.known([digest(1)])
        await store.nearest(vector(1), 2)
        await store.count()
        await store.remove([digest(1)])
        bodies = {
            request.path.rpartition("/")[2]: json.loads(request.body)
            for request in simulator.requests
            if "/points" in request.path
        }
        assert set(bodies) == {"points", "scroll", "query", "count", "delete"}
        for point in bodies.pop("points")["points"]:
            assert point["payload"]["tenant"] == "ada"
        tenant = {"key": "tenant", "match": {"value": "ada"}}
        assert all(tenant in body["filter"]["must"] for body in bodies.values())


async def test_the_same_text_of_two_tenants_is_two_points():
    async with opened(("ada", "grace")) as (simulator, (ada, grace)):
        await ada.add({digest(1): vector(1)})
        await grace.add({digest(1): vector(2)})
        assert len(simulator.routes.collections["chunks"].points) == 2
        await ada.remove([digest(1)])
        assert await grace.known([digest(1)]) == {digest(1)}


async def test_the_first_vectors_make_the_collection_and_its_index():
    async with opened() as (simulator, (store,)):
        await store.add(vectors(range(3)))
        await store.add(vectors(range(3, 6)))
        made = [request for request in simulator.requests if request.method == "PUT"][:2]
        assert [request.path for request in made] == [
            "/collections/chunks",
            "/collections/chunks/index",
        ]
        assert [json.loads(request.body) for request in made] == [
            {
                "vectors": {
                    "size": 8,
                    "distance": "Cosine",
                    "on_disk": True,
                    "datatype": "float16",
                },
                "hnsw_config": {"m": 0, "payload_m": 16},
                "on_disk_payload": True,
            },
            {"field_name": "tenant", "field_schema": {"type": "keyword", "is_tenant": True}},
        ]


async def test_a_missing_index_is_made_before_the_first_filter():
    async with opened(("ada", "grace")) as (simulator, (ada, grace)):
        await ada.add(vectors(range(3)))
        simulator.routes.collections["chunks"].indexes.clear()
        assert await grace.count() == 0
        assert set(simulator.routes.collections["chunks"].indexes) == {"tenant"}


async def test_stores_that_make_the_collection_at_once_agree():
    async with opened(("ada", "grace", "alan")) as (_, stores):
        await asyncio.gather(*(store.add(vectors(range(4))) for store in stores))
        assert [await store.count() for store in stores] == [4, 4, 4]


async def test_a_collection_of_another_dimension_refuses_vectors():
    async with opened(("ada", "grace")) as (_, (ada, grace)):
        await ada.add(vectors([1]))
        with pytest.raises(InvalidRequest, match="5 numbers"):
            await grace.add({digest(1): vector(1, 5)})


@pytest.mark.parametrize("vectors_config", [{"text": {"size": 8, "distance": "Cosine"}}, "Dot"])
async def test_a_collection_of_another_program_is_not_used(vectors_config: object):
    async with opened(("ada", "grace")) as (simulator, (ada, grace)):
        await ada.add(vectors([1]))
        settings = simulator.routes.collections["chunks"].settings
        simulator.routes.collections["chunks"].settings = {
            **settings,
            "vectors": {"size": 8, "distance": "Dot"}
            if vectors_config == "Dot"
            else vectors_config,
        }
        assert "another program" in str(await failure(grace, 0))


@pytest.mark.parametrize("call", range(CALLS))
@pytest.mark.parametrize(
    ("fault", "retryable", "words"),
    [
        (Status(500), True, "broken on purpose (HTTP 500)"),
        (Status(503, "overloaded"), True, "overloaded (HTTP 503)"),
        (Status(429, "too many requests"), True, "too many requests (HTTP 429)"),
        (Status(400, "Wrong input: a reason"), False, "Wrong input: a reason (HTTP 400)"),
        (Status(401), False, "refuses the key"),
        (Status(403), False, "refuses the key"),
        (Hang(), True, "did not answer in time"),
        (Hang(after=True), True, "did not answer in time"),
        (Cut(), True, "could not"),
        (Body(b"<html>Welcome</html>"), False, "is not Qdrant's"),
        (Body(b'{"result": null, "status": "ok"}'), False, "is not Qdrant's"),
        (Body(b'{"result": {"points": 3}, "status": "ok"}'), False, "is not Qdrant's"),
    ],
    ids=[
        *("500", "503", "429", "400", "401", "403", "hang", "hang after", "cut"),
        *("not JSON", "no result", "another result"),
    ],
)
async def test_a_fault_is_an_error_that_says_whether_to_retry(
    call: int, fault: Fault, retryable: bool, words: str
):
    """The store works again afterwards."""
    async with opened(seconds=SECONDS if isinstance(fault, Hang) else 10) as (simulator, (store,)):
        await store.add(vectors([0]))
        simulator.fail(fault)
        error = await failure(store, call)
        assert words in str(error)
        assert simulator.url in str(error)
        assert (error.info.code, error.info.retryable) == ("state_unavailable", retryable)
        assert not error.is_damaged
        assert digest(0) in await store.known([digest(0)])


@pytest.mark.parametrize("status", ["acknowledged", "wait_timeout"])
async def test_an_update_that_is_not_applied_is_an_error(status: str):
    async with opened() as (simulator, (store,)):
        await store.add(vectors([0]))
        result = {"operation_id": 3, "status": status}
        simulator.fail(Body(json.dumps({"result": result, "status": "ok"}).encode()))
        error = await failure(store, 1)
        assert status in str(error)
        assert error.info.retryable


async def test_a_server_that_hangs_delays_all_callers_once():
    async with opened(seconds=SECONDS) as (simulator, (store,)):
        with contextlib.suppress(VectorStoreUnavailable):
            await store.count()  # the first call imports the client, which may take too long
        before = len(simulator.requests)
        simulator.fail(Hang())
        calls = (store.known([digest(1)]) for _ in range(10))
        results = await asyncio.gather(*calls, return_exceptions=True)
        errors = [each for each in results if isinstance(each, VectorStoreUnavailable)]
        assert errors  # callers whose time ends a moment later may get an answer
        assert all(error.info.retryable for error in errors)
        assert len(simulator.requests) - before < len(results)  # not a wait for each


@pytest.mark.parametrize("key", [None, "another-key"])
async def test_a_wrong_key_names_the_setting_and_is_not_shown(key: str | None):
    async with QdrantSimulator() as simulator:
        server = QdrantServer(simulator.url, key)
        store = QdrantVectorStore(server, "chunks", "ada")
        error = await failure(store, 0)
        assert "Shoulders.qdrant_api_key" in (error.info.hint or "")
        assert "another-key" not in f"{error} {error.info} {server}"
        assert not error.info.retryable
        await store.aclose()


async def test_a_server_without_a_key_needs_none():
    async with QdrantSimulator(key=None) as simulator:
        store = QdrantVectorStore(QdrantServer(simulator.url), "chunks", "ada")
        await store.add(vectors([1]))
        assert await store.count() == 1
        await store.aclose()


async def test_nothing_listening_is_retryable():
    store = QdrantVectorStore(QdrantServer("http://127.0.0.1:9"), "chunks", "ada")
    error = await failure(store, 3)
    assert error.info.retryable
    assert "Shoulders.qdrant_url" in (error.info.hint or "")
    await store.aclose()


@pytest.mark.parametrize("url", ["ftp://127.0.0.1", "http://[::1"])
async def test_an_address_that_is_none_names_the_setting(url: str):
    error = await failure(QdrantVectorStore(QdrantServer(url), "chunks", "ada"), 0)
    assert "Shoulders.qdrant_url" in (error.info.hint or "")
    assert not error.info.retryable


async def test_adding_resumes_after_a_cut(monkeypatch: pytest.MonkeyPatch):
    """As the index does it: what is known is not added again."""
    monkeypatch.setattr(qdrant_store, "NUMBERS_PER_REQUEST", 10 * 8)
    async with opened() as (simulator, (store,)):
        await store.add(vectors([0]))
        everything = vectors(range(100))
        simulator.fail(Cut(), after=4)
        with pytest.raises(VectorStoreUnavailable):
            await store.add(everything)
        known = await store.known(everything)
        assert len(known) == 50  # four requests, and the one whose answer was cut
        sent = len(simulator.requests)
        await store.add({each: everything[each] for each in everything if each not in known})
        assert len(simulator.requests) - sent == 5
        assert await store.count() == 100


async def test_a_collection_that_is_deleted_on_the_server_is_made_again():
    async with opened() as (simulator, (store,)):
        await store.add(vectors(range(3)))
        del simulator.routes.collections["chunks"]
        await failure(store, 1)
        assert await store.count() == 0
        await store.add(vectors(range(2)))
        assert await store.count() == 2


async def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    store = QdrantVectorStore(QdrantServer("http://127.0.0.1:9"), "chunks", "ada")
    error = await failure(store, 0)
    assert "jupyter-ai-shoulders[qdrant]" in (error.info.hint or "")
    assert not error.info.retryable


def test_the_local_mode_of_the_client_is_not_used():
    """It unpickles what lies in its folder: the client gets a URL, and no location or path."""
    source = Path(qdrant_store.__file__).parent
    trees = [ast.parse(path.read_text("utf-8")) for path in source.glob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    calls = [node for node in nodes if isinstance(node, ast.Call) and "QdrantClient" in _name(node)]
    (call,) = calls
    assert call.args == []
    assert {keyword.arg for keyword in call.keywords} == {
        *("url", "headers", "prefer_grpc", "check_compatibility", "timeout")
    }
    texts = [node.value for node in nodes if isinstance(node, ast.Constant)]
    assert ":memory:" not in texts


def _name(call: ast.Call) -> str:
    return ast.unparse(call.func)
