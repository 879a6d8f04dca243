"""The choice of the model over HTTP: never the demo instead of a model, never a remote one when
local.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from traitlets.config import Config

from tests.server.client import ENDED, Api, Fetch
from tests.simulator import Simulator

LAB = {"kind": "openai_chat", "url": "http://127.0.0.1:9/v1"}
FAR = {"kind": "ollama", "url": "http://far.invalid:11434"}
TRAIT: dict[str, Any] = {
    "providers": {"far": FAR},
    "models": [{"id": "far-model", "provider": "far", "model": "m"}],
}


def one(events: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    (found,) = [event for event in events if event["type"] == kind]
    return found


@pytest.mark.usefixtures("quick_retries")
class TestFailing:
    """The only configured model does not answer."""

    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config, monkeypatch: pytest.MonkeyPatch) -> Config:
        monkeypatch.delenv("ANTHROPIC_API_KEY")
        jp_server_config.Shoulders.models = {
            "providers": {"lab": LAB},
            "models": [{"id": "tiny", "provider": "lab"}],
        }
        return jp_server_config

    async def test_every_conversation_and_run_tries_it_and_says_why_it_fails(
        self, api: Api
    ) -> None:
        turns = [await api.run(await api.new_session(), "Hi")]
        run = await api.post("runs", {"prompt": "Hi"})
        assert run.status in {201, 202}, run
        async with api.stream(run.body["id"]) as stream:
            await stream.until(ENDED)
        turns.append(await api.events(run.body["id"]))
        for events in turns:
            assert one(events, "turn-start")["model"] == "tiny"
            end = one(events, ENDED)
            assert (end["exit"], end["error"]["code"]) == ("error", "provider_unreachable")
            assert "127.0.0.1:9" in end["error"]["message"]
            assert end["error"]["hint"]
        status = (await api.get("status")).body
        assert (status["demo"], status["default_model"]) == (False, "tiny")


@pytest.mark.usefixtures("quick_retries")
class TestReplaced:
    """Another configured model answers, because the settings say so."""

    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config) -> Config:
        providers = jp_server_config.Shoulders.models["providers"]
        jp_server_config.Shoulders.models = {
            "providers": {"anthropic": providers["anthropic"], "lab": LAB},
            "models": [{"id": "tiny", "provider": "lab"}],
        }
        return jp_server_config

    async def test_what_replaces_it_is_said_before_the_answer_and_not_kept(
        self, api: Api, upstream: Simulator
    ) -> None:
        upstream.script("Here.")
        failed = await api.run(await api.new_session(model="tiny"), "Hi")
        assert one(failed, ENDED)["exit"] == "error"

        session = await api.new_session()
        events = await api.run(session, "Hi")

        notice = one(events, "notice")
        assert (notice["code"], notice["level"]) == ("model_replaced", "warning")
        assert notice["text"].startswith("tiny is not answering (")
        assert notice["text"].endswith("; using Claude Opus 5.5.")
        start = one(events, "turn-start")
        assert (start["model"], start["is_stand_in"]) == ("claude-opus-5-5", True)
        kinds = [event["type"] for event in events]
        assert kinds.index("turn-start") < kinds.index("notice") < kinds.index("step-start")
        assert (await api.get(f"sessions/{session}")).body["model"] is None
        listing = (await api.get("models")).body
        assert (listing["default"], listing["default_is_stand_in"]) == ("claude-opus-5-5", True)

    async def test_without_a_fallback_it_is_tried_again(self, api: Api) -> None:
        await api.put("settings", {"models": {"mode": "local", "fallback": "none"}})
        for model in ("tiny", None):
            events = await api.run(await api.new_session(model=model), "Hi")
            assert one(events, "turn-start")["model"] == "tiny"
            assert one(events, ENDED)["exit"] == "error"


class TestLocked:
    """The administrator allows only local models."""

    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config) -> Config:
        jp_server_config.Shoulders.models = TRAIT
        jp_server_config.Shoulders.settings = {"models": {"mode": "local"}}
        return jp_server_config

    @pytest.fixture(autouse=True)
    def files(self, jp_home_dir: Path, jp_root_dir: Path) -> None:
        """Files of the user and of the folder cannot change it."""
        for folder in (jp_home_dir, jp_root_dir):
            state = folder / ".shoulders"
            state.mkdir(mode=0o700, exist_ok=True)
            settings = {"mode": "remote", "fallback": "remote", "default": "claude-opus-5-5"}
            (state / "settings.json").write_text(json.dumps({"models": settings}))
            models = {"providers": {"ollama": FAR}, "default": "far-model"}
            (state / "models.json").write_text(json.dumps(models))

    @pytest.mark.parametrize("model", ["claude-opus-5-5", "far-model", "ollama/llama"])
    async def test_no_request_reaches_a_model_elsewhere(
        self, api: Api, jp_fetch: Fetch, model: str
    ) -> None:
        session = await api.new_session()
        message = {"id": "m1", "text": "Hi", "model": model}
        asked = {"model": model, "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
        answers = {
            "session": await api.post("sessions", {"model": model}),
            "change": await api.patch(f"sessions/{session}", {"model": model}),
            "message": await api.post(f"sessions/{session}/messages", message),
            "preview": await api.post(
                f"sessions/{session}/preview", {"text": "Hi", "model": model}
            ),
            "run": await api.post("runs", {"prompt": "Hi", "model": model}),
            "default": await api.send(session, "Hi"),
        }
        codes = {name: (answer.status, answer.code) for name, answer in answers.items()}
        refused = (422, "disabled")
        assert codes == {
            "session": refused,
            "change": refused,
            "message": refused,
            "preview": refused,
            "run": refused,
            "default": (422, "no_model"),
        }
        proxied = await jp_fetch(
            *("shoulders", "proxy", "v1", "chat", "completions"),
            method="POST",
            body=json.dumps(asked),
            raise_error=False,
        )
        assert proxied.code >= 400
        assert "only local models" in proxied.body.decode()
        assert [event for event in await api.events(session) if event["type"] == ENDED] == []


class TestSwitched:
    """The user switches to local models after a conversation began."""

    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config) -> Config:
        jp_server_config.Shoulders.models = TRAIT
        return jp_server_config

    async def test_conversation_with_a_model_elsewhere_is_refused_from_then_on(
        self, api: Api
    ) -> None:
        session = await api.new_session(model="far-model")
        await api.put("settings", {"models": {"mode": "local", "fallback": "remote"}})

        refused = await api.send(session, "Hi")

        assert (refused.status, refused.code) == (422, "disabled")
        assert "models.mode" in refused.error["hint"]
        assert "message-add" not in {event["type"] for event in await api.events(session)}
