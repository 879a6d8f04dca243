from pathlib import Path

import pytest
from traitlets.config import Config

from jupyter_ai_shoulders import __version__
from jupyter_ai_shoulders.guard.process.spawner_pool import SpawnerPool
from jupyter_ai_shoulders.guard.sandbox.capabilities import detect_capabilities
from jupyter_ai_shoulders.storage.process_lock import ProcessLock
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.wire.base import WIRE_VERSION
from tests.server.client import ENDED, Api
from tests.server.conftest import MODEL
from tests.simulator import Simulator


async def test_status_says_what_a_page_needs_to_know(api: Api, jp_root_dir: Path) -> None:
    answer = await api.get("status")

    assert answer.status == 200
    providers = {provider["id"]: provider for provider in answer.body.pop("providers")}
    there = await detect_capabilities(SpawnerPool())
    assert answer.body == {
        "version": __version__,
        "wire_version": WIRE_VERSION,
        "workspace": str(jp_root_dir),
        "models": "ready",
        "default_model": MODEL,
        "demo": False,
        "collaboration": False,
        "document_server": None,
        "sandbox": there.kind,
        "state_directory_error": None,
        "usage_error": None,
        "package_errors": [],
    }
    assert providers["anthropic"]["key_set"] is True


async def test_default_that_lacks_its_key_gives_way_to_no_demo(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")

    body = (await api.get("status")).body
    refused = await api.send(await api.new_session(), "Hi")

    assert (body["models"], body["demo"], body["default_model"]) == ("none", False, MODEL)
    assert (refused.status, refused.code) == (422, "no_key")
    assert "ANTHROPIC_API_KEY" in refused.error["hint"]


async def test_models_never_show_a_key(api: Api, upstream: Simulator) -> None:
    answer = await api.get("models")

    assert answer.status == 200
    assert answer.body["default"] == MODEL
    assert upstream.key not in str(answer.body)
    (anthropic,) = [p for p in answer.body["providers"] if p["id"] == "anthropic"]
    assert anthropic["key_last4"] == upstream.key[-4:]


async def test_a_provider_is_tested_with_a_real_call(api: Api, upstream: Simulator) -> None:
    upstream.default("Hello.")

    answer = await api.post("providers/anthropic/test")
    unknown = await api.post("providers/none-such/test")

    assert answer.status == 200
    assert answer.body["stream_ok"] is True
    assert len(upstream.requests) >= 1
    assert (unknown.status, unknown.code) == (404, "not_found")


async def test_a_key_is_stored_used_and_removed(
    api: Api, upstream: Simulator, monkeypatch: pytest.MonkeyPatch, isolated_home: Path
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    upstream.script("With the stored key.")

    stored = await api.put("providers/anthropic/key", {"key": upstream.key})
    log = await api.run(await api.new_session(model=MODEL), "hi")
    removed = await api.delete("providers/anthropic/key")

    assert (stored.status, stored.body["key_set"]) == (200, True)
    assert (removed.status, removed.body["key_set"]) == (200, False)
    assert [event["exit"] for event in log if event["type"] == ENDED] == ["final_response"]
    assert upstream.key not in str(log) + str(stored.body)


async def test_a_key_of_the_environment_cannot_be_replaced_here(api: Api) -> None:
    answer = await api.put("providers/anthropic/key", {"key": "sk-ant-another-key-0123456789"})

    assert (answer.status, answer.code) == (409, "conflict")
    assert answer.error["hint"]


async def test_a_malformed_key_is_refused_without_being_shown(api: Api) -> None:
    answer = await api.put("providers/anthropic/key", {"key": "two words secret"})
    empty = await api.put("providers/anthropic/key", {"key": ""})

    assert answer.status in {400, 409}
    assert "secret" not in str(answer.body)
    assert empty.error["message"].startswith("key")


class TestUnusableStateDirectory:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config, tmp_path: Path) -> Config:
        (tmp_path / "file").write_text("")
        jp_server_config.Shoulders.state_dir = str(tmp_path / "file" / "state")
        return jp_server_config

    async def test_the_server_starts_and_says_why_nothing_can_be_kept(self, api: Api) -> None:
        status = await api.get("status")
        models = await api.get("models")
        made = await api.post("sessions", {})

        error = status.body["state_directory_error"]
        assert (status.status, models.status) == (200, 200)
        assert error["code"] == "state_unavailable"
        assert "Shoulders.state_dir" in error["hint"]
        assert (made.status, made.code) == (503, "state_unavailable")


class TestStateDirectoryElsewhere:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config) -> Config:
        jp_server_config.Shoulders.state_dir = "elsewhere/state"
        return jp_server_config

    async def test_a_relative_directory_is_below_the_root(
        self, api: Api, jp_root_dir: Path
    ) -> None:
        await api.new_session()

        assert StateDirectory(jp_root_dir / "elsewhere/state").database.stat().st_size > 0


async def test_a_second_server_is_refused_and_takes_over_when_the_first_is_gone(
    api: Api, state_dir: Path
) -> None:
    directory = StateDirectory(state_dir)
    directory.prepare()
    other = ProcessLock(directory.lock)
    other.acquire()

    refused = await api.post("sessions", {})
    status = await api.get("status")
    other.release()
    made = await api.post("sessions", {})

    assert (refused.status, refused.error["retryable"]) == (503, True)
    assert "Another Jupyter server" in refused.error["message"]
    assert status.status == 200
    assert made.status == 201
