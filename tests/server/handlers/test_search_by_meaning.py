"""Search by meaning over HTTP: embedders on this machine and elsewhere, and both stores."""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jupyter_server.serverapp import ServerApp
from traitlets.config import Config

from jupyter_ai_shoulders.providers import embedder_selector
from tests.retrieval.vectors.qdrant_simulator.server import QdrantSimulator
from tests.server.client import Api
from tests.server.test_app import extension
from tests.simulator import Failure, Simulator
from tests.simulator_process import notebook

CAR = "def drive(car, road): ...\n"
RAIN = "def measure(rain, river): ...\n"


@pytest.fixture(autouse=True)
def no_ollama(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")


@pytest.fixture
def jp_server_config(jp_server_config: Config, upstream: Simulator) -> Config:
    """OpenAI at the simulator."""
    providers = jp_server_config["Shoulders"]["models"]["providers"]
    providers["openai"] = {"url": f"{upstream.url}/v1"}
    return jp_server_config


@pytest.fixture
def elsewhere(upstream: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key for OpenAI, whose simulator counts as another machine."""
    monkeypatch.setenv("OPENAI_API_KEY", upstream.key)

    def is_elsewhere(_: str) -> bool:
        return False

    monkeypatch.setattr(embedder_selector, "is_loopback", is_elsewhere)


def fill(root: Path) -> None:
    (root / "car.py").write_text(CAR)
    (root / "rain.py").write_text(RAIN)
    cells = json.loads(notebook(("c1", "plot = 1"), ("c2", "hidden = 'never sent'")))
    cells["cells"][0]["outputs"] = [
        {"output_type": "stream", "name": "stdout", "text": ["printed, never sent"]}
    ]
    cells["cells"][1]["metadata"]["tags"] = ["private"]
    (root / "a.ipynb").write_text(json.dumps(cells))
    (root / ".env").write_text("SECRET=never sent\n")


async def search(api: Api, q: str, **query: object) -> dict[str, Any]:
    answer = await api.request("GET", "search", params={"q": q, "wait_s": 20, **query})
    assert answer.status == 200, answer
    return answer.body


async def meaning(api: Api, *, is_allowed: bool = False) -> dict[str, Any]:
    """Search until the vectors are there or something is in their way; return the state."""
    async with asyncio.timeout(20):
        while True:
            await search(api, "anything", by="words")
            status = (await api.get("search/index")).body["meaning"]
            is_complete = status["model"] and not status["missing"] and not status["consent"]
            if is_complete or status["problem"] or (status["consent"] and not is_allowed):
                return status
            await asyncio.sleep(0.02)


def sent(upstream: Simulator) -> str:
    """Return all texts that were sent for embedding."""
    return json.dumps([each.body for each in upstream.requests if "embed" in each.path])


@pytest.mark.usefixtures("elsewhere")
async def test_openai_embeds_once_it_is_allowed(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    fill(jp_root_dir)
    (jp_root_dir / "rain.py").write_text(RAIN + "# It rains.\n" * 80)  # costs micro-dollars
    upstream.script("It has never sent one.")
    await api.run(await api.new_session(), "Has a conversation never sent a road?")
    asked = await meaning(api)
    before = sent(upstream)
    words = await search(api, "road")
    host = asked["consent"]["host"]
    put = await api.put("settings", {"search": {"send_to": host}})
    ready = await meaning(api, is_allowed=True)
    found = await search(api, "road for a car")

    assert (asked["model"], asked["is_local"]) == ("text-embedding-3-small", False)
    assert asked["consent"]["chunks"] == 3
    assert asked["consent"]["tokens"] > 0
    assert asked["consent"]["cost_micro_usd"] == 7
    assert before == "[]"
    kinds = {match["kind"]: match["matched_by"] for match in words["matches"]}
    assert kinds == {"code": "words", "conversation": "words"}
    assert put.status == 200, put
    assert (ready["missing"], ready["problem"], ready["dimension"]) == (0, None, 64)
    assert [asked["cost_micro_usd"], ready["cost_micro_usd"]] == [0, 5]
    assert (found["matches"][0]["path"], found["matches"][0]["matched_by"]) == ("car.py", "both")
    assert "rain" in sent(upstream)
    assert "never sent" not in sent(upstream)


@pytest.mark.usefixtures("elsewhere")
async def test_words_answer_while_the_embedder_is_down(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    fill(jp_root_dir)
    host = (await meaning(api))["consent"]["host"]
    await api.put("settings", {"search": {"send_to": host}})
    await meaning(api, is_allowed=True)
    upstream.embedding_faults = [Failure(status=500, message="broken")]
    down = await search(api, "car road")
    again = await search(api, "car road")
    assert [match["matched_by"] for match in down["matches"]] == ["words"]
    assert down["warning"].startswith("Only words were searched: ")
    assert (again["matches"][0]["matched_by"], again["warning"]) == ("both", None)


@pytest.mark.usefixtures("elsewhere")
async def test_an_embedder_that_fails_is_kept_where_none_is_chosen(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    fill(jp_root_dir)
    host = (await meaning(api))["consent"]["host"]
    await api.put("settings", {"search": {"send_to": host}})
    await meaning(api, is_allowed=True)
    upstream.embedding_faults = [Failure(status=401, message="broken")]
    down = await search(api, "car road")
    (jp_root_dir / "new.py").write_text("def swim(lake): ...\n")
    async with asyncio.timeout(20):
        while "lake" not in sent(upstream):
            await search(api, "anything", by="words")
    status = (await api.get("search/index")).body["meaning"]
    assert down["warning"].startswith("Only words were searched: ")
    assert status["model"] == "text-embedding-3-small"


async def test_ollama_on_this_machine_needs_no_consent(
    api: Api, upstream: Simulator, jp_root_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", upstream.url)
    fill(jp_root_dir)
    ready = await meaning(api)
    found = await search(api, "river")
    assert (ready["model"], ready["is_local"], ready["consent"]) == (
        "nomic-embed-text:latest",
        True,
        None,
    )
    assert (found["matches"][0]["path"], found["matches"][0]["matched_by"]) == ("rain.py", "both")


@pytest.mark.usefixtures("elsewhere")
async def test_the_models_to_choose_from_are_listed(
    api: Api, upstream: Simulator, jp_root_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_ollama(url: str) -> bool:
        return not url.endswith("/v1")

    monkeypatch.setattr(embedder_selector, "is_loopback", is_ollama)
    monkeypatch.setenv("OLLAMA_HOST", upstream.url)
    fill(jp_root_dir)

    async def listed() -> list[tuple[str, bool, bool]]:
        models = (await api.get("search/index")).body["meaning"]["models"]
        return [(each["id"], each["is_local"], each["is_chosen"]) for each in models]

    automatic = await listed()
    await api.put("settings", {"search": {"embedder": "text-embedding-3-large"}})
    named = await listed()
    await api.put("settings", {"search": {"embedder": "acme/none"}})
    unknown = await listed()

    assert ("ollama/nomic-embed-text", True, False) in automatic
    assert ("openai/text-embedding-3-large", False, False) in automatic
    assert [each for each, _, is_chosen in named if is_chosen] == ["openai/text-embedding-3-large"]
    assert not any(is_chosen for _, _, is_chosen in unknown)


async def test_without_an_embedder_words_are_searched_and_the_state_says_why(
    api: Api, jp_root_dir: Path
) -> None:
    fill(jp_root_dir)
    state = await meaning(api)
    found = await search(api, "river")
    assert "ollama pull nomic-embed-text" in state["problem"]
    assert ([match["path"] for match in found["matches"]], found["warning"]) == (["rain.py"], None)


async def test_clear_says_which_vectors_cannot_be_deleted(
    api: Api, upstream: Simulator, jp_root_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", upstream.url)
    fill(jp_root_dir)
    await meaning(api)

    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", refuse)
        refused = await api.post("search/index", {"action": "clear"})
    ready = await meaning(api)
    found = await search(api, "river")
    cleared = await api.post("search/index", {"action": "clear"})

    folder = jp_root_dir / ".shoulders" / "index" / "vectors"
    error = refused.body["error"]
    assert (refused.status, error["code"], error["retryable"]) == (503, "state_unavailable", True)
    assert f"{folder} cannot be deleted" in error["message"]
    assert "delete it yourself" in error["hint"]
    assert (ready["problem"], ready["missing"]) == (None, 0)
    assert found["matches"][0]["matched_by"] == "both"
    assert (cleared.status, cleared.body["state"]) == (200, "empty")
    assert not folder.exists()


async def test_a_qdrant_server_keeps_the_vectors(
    api: Api,
    upstream: Simulator,
    jp_root_dir: Path,
    jp_serverapp: ServerApp,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", upstream.url)
    fill(jp_root_dir)
    async with QdrantSimulator() as simulator:
        host = await extension(jp_serverapp).service().host()
        settings = replace(host.settings, qdrant_url=simulator.url, qdrant_api_key=simulator.key)
        monkeypatch.setattr(host.services, "settings", settings)
        ready = await meaning(api)
        found = await search(api, "river")
        cleared = (await api.post("search/index", {"action": "clear"})).body
        await host.search.aclose()
        refused = simulator.refusals
    assert (ready["store"], ready["problem"]) == ("server", None)
    assert found["matches"][0]["matched_by"] == "both"
    assert cleared["state"] == "empty"
    assert refused == []
    assert not (jp_root_dir / ".shoulders" / "index" / "vectors").exists()
