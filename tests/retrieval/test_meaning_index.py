"""Search by meaning: what is sent and when, what answers, and nothing is sent twice."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import PolicyRefusal, ProviderError
from jupyter_ai_shoulders.retrieval.chunk import Chunk, ChunkedDocument
from jupyter_ai_shoulders.retrieval.collection_names import collection_name
from jupyter_ai_shoulders.retrieval.ports import VectorStoreUnavailable
from jupyter_ai_shoulders.retrieval.service import MeaningPorts, SearchService
from jupyter_ai_shoulders.wire.api.search import EmbeddingConsent, MeaningStatus, SearchQuery
from tests.retrieval.fake_documents import FakeOwnership
from tests.retrieval.fake_vectors import FakeCollections, FakeEmbedder, FakeEmbedders
from tests.retrieval.search_stage import ENOUGH, Stage, ask, word
from tests.support.case_selection import examples


class MeaningStage(Stage):
    """A stage with an embedder on this machine."""

    def __init__(self, folder: Path, *embedders: FakeEmbedder) -> None:
        super().__init__(folder)
        self.embedders = FakeEmbedders(*(embedders or (FakeEmbedder(),)))
        (folder / "vectors").mkdir()
        self.collections = FakeCollections(folder / "vectors")
        self.meaning = MeaningPorts(self.embedders, self.collections)
        self.source.put("shop.py", "def purchase(automobile): ...\n")
        self.source.put("weather.md", "# Rain\n\nIt rains in Spain.\n")

    @property
    def embedder(self) -> FakeEmbedder:
        """The embedder that the settings name."""
        assert self.embedders.chosen is not None
        return self.embedders.known[self.embedders.chosen]


@pytest.fixture
def stage(tmp_path: Path) -> MeaningStage:
    return MeaningStage(tmp_path)


async def embedded(stage: MeaningStage, service: SearchService) -> MeaningStatus:
    """Let the index and the vectors follow the documents; return the state."""
    stage.clock.later()
    await service.search(SearchQuery(q="anything", by="words", wait_s=ENOUGH))
    for task in asyncio.all_tasks():
        if task.get_name() in {"shoulders-search-index", "shoulders-embedding"}:
            await asyncio.wait([task], timeout=20)
    status = (await service.status()).meaning
    assert status is not None
    return status


async def meaning_of(service: SearchService) -> MeaningStatus:
    status = (await service.status()).meaning
    assert status is not None
    return status


async def places(service: SearchService, q: str) -> list[tuple[str, str]]:
    return [(match.path, match.matched_by) for match in (await ask(service, q)).matches]


async def test_texts_are_found_by_meaning_and_by_both(stage: MeaningStage):
    async with stage.open() as service:
        status = await embedded(stage, service)
        assert await places(service, "buy a car") == [
            ("shop.py", "meaning"),
            ("weather.md", "meaning"),
        ]
        assert (await places(service, "automobile"))[0] == ("shop.py", "both")
    assert status == MeaningStatus(
        model="small",
        host="127.0.0.1:9",
        is_local=True,
        store="local",
        dimension=64,
        missing=0,
        consent=None,
        problem=None,
    )


async def test_without_an_embedder_the_state_says_what_to_do(stage: MeaningStage):
    stage.embedders.chosen = None
    async with stage.open() as service:
        status = await embedded(stage, service)
        found = await ask(service, "automobile")
    assert status.problem is not None
    assert "ollama pull nomic-embed-text" in status.problem
    assert (found.matches[0].matched_by, found.warning) == ("words", None)


async def test_nothing_is_sent_to_another_machine_before_it_is_allowed(tmp_path: Path):
    stage = MeaningStage(tmp_path, FakeEmbedder("cloud/big", is_local=False))
    read = stage.source.read

    def with_output(path: str) -> ChunkedDocument | None:
        document = read(path)
        assert document is not None
        output = Chunk(1, "printed output", is_output=True)
        return ChunkedDocument(
            path, document.kind, (*document.chunks, output), document.digest, document.problem
        )

    stage.source.read = with_output
    async with stage.open() as service:
        status = await embedded(stage, service)
        assert status.consent == EmbeddingConsent(
            host="api.example.com", model="big", chunks=2, tokens=22, cost_micro_usd=1
        )
        assert await places(service, "buy a car") == []
        assert (stage.embedder.sent, stage.embedder.queries) == ([], [])
        stage.embedders.allowed.add("api.example.com")
        await embedded(stage, service)
        assert (await places(service, "buy a car"))[0] == ("shop.py", "meaning")
    assert sorted(stage.embedder.sent) == [
        "Rain\n# Rain\n\nIt rains in Spain.",
        "purchase\ndef purchase(automobile): ...",
    ]


async def test_the_same_text_is_embedded_once(stage: MeaningStage):
    stage.source.put("copy.py", "def purchase(automobile): ...\n")
    async with stage.open() as service:
        await embedded(stage, service)
        (stage.source.folder / "shop.py").rename(stage.source.folder / "moved.py")
        await embedded(stage, service)
        await service.rebuild()
        await embedded(stage, service)
    async with stage.open() as service:
        await embedded(stage, service)
        stage.source.put("moved.py", "def purchase(vehicle): ...\n")
        stage.source.put("copy.py", "def purchase(vehicle): ...\n")
        await embedded(stage, service)
    assert len(stage.embedder.sent) == 3
    (store,) = stage.collections.stores.values()
    assert await store.count() == 2


async def test_unsaved_text_is_not_sent(stage: MeaningStage):
    stage.source.in_pages["shop.py"] = "def typed(password): ...\n"
    async with stage.open() as service:
        await embedded(stage, service)
    assert stage.embedder.sent == ["Rain\n# Rain\n\nIt rains in Spain."]


async def test_the_old_collection_answers_until_the_new_one_is_complete(tmp_path: Path):
    old, new = FakeEmbedder("fake/old"), FakeEmbedder("fake/new", gate=asyncio.Event())
    stage = MeaningStage(tmp_path, old, new)
    async with stage.open() as service:
        await embedded(stage, service)
        stage.embedders.chosen = "fake/new"
        stage.clock.later()
        await ask(service, "anything")
        assert (await places(service, "buy a car"))[0] == ("shop.py", "meaning")
        assert (old.queries[-1], new.queries) == ("buy a car", [])
        assert new.gate is not None
        new.gate.set()
        await embedded(stage, service)
        assert (await places(service, "buy a car now"))[0] == ("shop.py", "meaning")
        assert new.queries[-1] == "buy a car now"
    assert stage.collections.names == [collection_name("fake/new")]


@pytest.mark.parametrize(
    "error",
    [
        ProviderError("It is down.", code="provider_unreachable"),
        PolicyRefusal("The budget of this month is spent.", code="budget_exhausted"),
    ],
    ids=["down", "budget"],
)
async def test_words_answer_with_the_reason_when_the_embedder_fails(
    stage: MeaningStage, error: Exception
):
    async with stage.open() as service:
        await embedded(stage, service)
        stage.embedder.fails.append(error)
        found = await ask(service, "automobile")
        assert [match.matched_by for match in found.matches] == ["words"]
        assert found.warning == f"Only words were searched: {error}"
        assert (await places(service, "automobile"))[0] == ("shop.py", "both")
        stage.source.put("new.py", "def another(): ...\n")
        stage.embedder.fails.append(error)
        status = await embedded(stage, service)
        assert status.problem == f"Search by meaning is not up to date: {error}"
        await embedded(stage, service)
    assert "another\ndef another(): ..." in stage.embedder.sent


async def test_words_answer_with_the_reason_when_the_store_is_down(stage: MeaningStage):
    async with stage.open() as service:
        await embedded(stage, service)
        (store,) = stage.collections.stores.values()
        store.down = True
        found = await ask(service, "automobile")
    assert [match.matched_by for match in found.matches] == ["words"]
    assert found.warning == ("Only words were searched: The store of vectors does not answer.")


async def test_a_text_that_the_embedder_refuses_does_not_hold_up_the_others(stage: MeaningStage):
    stage.embedder.refuses = "Spain"
    async with stage.open() as service:
        await embedded(stage, service)
    assert stage.embedder.sent == ["purchase\ndef purchase(automobile): ..."]


async def test_nothing_is_asked_of_the_embedder_once_it_is_switched_off(stage: MeaningStage):
    async with stage.open() as service:
        await embedded(stage, service)
        stage.embedders.enabled = False
        found = await ask(service, "automobile")
        status = await service.status()
    assert [match.matched_by for match in found.matches] == ["words"]
    assert (found.warning, stage.embedder.queries, status.meaning) == (None, [], None)


async def test_a_second_server_leaves_vectors_on_this_machine_alone(stage: MeaningStage):
    async with stage.open() as service:
        await embedded(stage, service)
        stage.ownership = FakeOwnership()
        stage.ownership.other = True
        opened = len(stage.collections.opened)
        async with stage.open() as second:
            found = await ask(second, "automobile")
            assert [match.matched_by for match in found.matches] == ["words"]
            stage.collections.kind = "server"
            assert (await places(second, "automobile"))[0] == ("shop.py", "both")
    assert opened == 1


async def test_a_store_that_cannot_be_used_is_no_warning_before_there_are_vectors(
    stage: MeaningStage,
):
    stage.collections.down = True
    async with stage.open() as service:
        status = await embedded(stage, service)
        found = await ask(service, "automobile")
    assert status.problem == (
        "Search by meaning is not up to date: The store of vectors does not answer."
    )
    assert ([match.matched_by for match in found.matches], found.warning) == (["words"], None)


async def test_pause_and_clear(stage: MeaningStage):
    async with stage.open() as service:
        await embedded(stage, service)
        await service.set_paused(paused=True)
        stage.source.put("late.py", "def late(): ...\n")
        stage.clock.later()
        await ask(service, "late")
        assert len(stage.embedder.sent) == 2
        await service.clear()
        assert stage.collections.names == []
        await embedded(stage, service)
    assert len(stage.embedder.sent) == 5


NOT_DELETED = "Search by meaning is not up to date: The vectors cannot be deleted."


async def test_an_old_collection_that_cannot_be_deleted_is_deleted_later(tmp_path: Path):
    """Also by another process. The new one answers, and new texts are embedded."""
    stage = MeaningStage(tmp_path, FakeEmbedder("fake/old"), FakeEmbedder("fake/new"))
    old, new = collection_name("fake/old"), collection_name("fake/new")
    async with stage.open() as service:
        await embedded(stage, service)
        stage.embedders.chosen, stage.collections.kept = "fake/new", True
        status = await embedded(stage, service)
        assert (status.problem, status.missing) == (NOT_DELETED, 0)
        assert (await places(service, "buy a car"))[0] == ("shop.py", "meaning")
        assert stage.embedder.queries == ["buy a car"]
        stage.source.put("late.py", "def late(): ...\n")
        assert (await embedded(stage, service)).problem == NOT_DELETED
        assert "late\ndef late(): ..." in stage.embedder.sent
        assert stage.collections.names == sorted([old, new])
    stage.collections.kept = False
    async with stage.open() as service:
        assert (await embedded(stage, service)).problem is None
    assert stage.collections.names == [new]


async def test_a_former_embedder_gets_a_new_collection_if_its_own_was_to_be_deleted(
    tmp_path: Path,
):
    """A part of it may be gone."""
    stage = MeaningStage(tmp_path, FakeEmbedder("fake/old"), FakeEmbedder("fake/new"))
    async with stage.open() as service:
        await embedded(stage, service)
        stage.embedders.chosen, stage.collections.kept = "fake/new", True
        await embedded(stage, service)
        stage.embedders.chosen = "fake/old"
        assert (await embedded(stage, service)).problem == NOT_DELETED
        assert (await places(service, "buy a car"))[0] == ("shop.py", "meaning")
        assert len(stage.embedders.known["fake/new"].queries) == 1
        stage.collections.kept = False
        assert (await embedded(stage, service)).problem is None
        assert (await places(service, "buy a car now"))[0] == ("shop.py", "meaning")
    assert len(stage.embedder.sent) == 4
    assert stage.collections.names == [collection_name("fake/old")]


async def test_damaged_vectors_that_cannot_be_deleted_are_made_again_later(stage: MeaningStage):
    async with stage.open() as service:
        await embedded(stage, service)
        (store,) = stage.collections.stores.values()
        store.is_damaged = stage.collections.kept = True
        for _ in range(2):  # the background work survives
            assert (await embedded(stage, service)).problem == NOT_DELETED
        found = await ask(service, "automobile")
        assert [match.matched_by for match in found.matches] == ["words"]
        stage.collections.kept = False
        assert (await embedded(stage, service)).problem is None
        assert (await places(service, "automobile"))[0] == ("shop.py", "both")
    assert len(stage.embedder.sent) == 4


async def test_clear_says_that_vectors_cannot_be_deleted_and_search_goes_on(stage: MeaningStage):
    async with stage.open() as service:
        await embedded(stage, service)
        stage.collections.kept = True
        with pytest.raises(VectorStoreUnavailable, match="cannot be deleted"):
            await service.clear()
        status = await embedded(stage, service)
        assert (status.problem, status.missing) == (None, 0)
        assert (await places(service, "automobile"))[0] == ("shop.py", "both")
        assert len(stage.embedder.sent) == 2  # the store is asked for what is left
        stage.collections.kept = False
        await service.clear()
        assert stage.collections.names == []


async def test_a_store_that_cannot_be_closed_holds_up_nothing(stage: MeaningStage):
    async def refuse() -> None:
        raise VectorStoreUnavailable("The disk is full.")

    async with stage.open() as service:
        await embedded(stage, service)
        (store,) = stage.collections.stores.values()
        store.aclose = refuse
        await service.set_paused(paused=True)
        await service.clear()
    assert stage.collections.names == []


def test_kills_lose_at_most_the_batch_that_was_under_way(tmp_path: Path):
    stage = MeaningStage(tmp_path)
    stage.embedder.log = tmp_path / "sent.log"
    for number in range(200):
        stage.source.put(f"many/{number}.md", f"# Part {word(number)}\n\nunique{word(number)}\n")
    chance, kills = random.Random(7), examples(full=100, default=10)
    for _ in range(kills):
        child = os.fork()
        if child == 0:
            try:
                asyncio.run(_embed_once(stage))
            finally:
                os._exit(0)
        time.sleep(chance.uniform(0.02, 0.15))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    asyncio.run(_embed_once(stage))
    sent = Counter(stage.embedder.log.read_text().split())
    assert len(sent) == 202
    assert sum(sent.values()) - len(sent) <= kills * stage.embedder.info.max_batch


async def _embed_once(stage: MeaningStage) -> None:
    async with stage.open() as service:
        await embedded(stage, service)


async def test_nothing_more_is_sent_once_consent_is_withdrawn(tmp_path: Path):
    embedder = FakeEmbedder(is_local=False, gate=asyncio.Event())
    stage = MeaningStage(tmp_path, embedder)
    stage.embedders.allowed = {embedder.info.host}
    async with stage.open() as service:
        await service.search(SearchQuery(q="anything", by="words", wait_s=ENOUGH))
        async with asyncio.timeout(20):
            while (await meaning_of(service)).model is None:  # noqa: ASYNC110 there is no event
                await asyncio.sleep(0)
        stage.embedders.allowed.clear()
        await service.settings_changed()
        assert embedder.gate is not None
        embedder.gate.set()
        status = await embedded(stage, service)
    assert embedder.sent == []
    assert status.consent is not None
