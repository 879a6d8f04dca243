"""Keys and providers that are shown, tested and found to fail."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_ai_shoulders.core.errors import Conflict, NotFound, ProviderError
from jupyter_ai_shoulders.providers.base import Stop
from jupyter_ai_shoulders.wire.api.responses import ProviderHealth
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId
from tests.providers.adapter_fixtures import ask, collect
from tests.providers.registry_workspace import ANTHROPIC, KEY, LAB, RegistryWorkspace
from tests.simulator import Failure, Simulator, ToolUse, overloaded, reply


async def test_key_is_stored_shown_by_its_end_and_removed(place: RegistryWorkspace) -> None:
    registry = place.registry()
    stored = await registry.providers.set_key(ANTHROPIC, KEY)
    assert stored == ProviderHealth(
        id=ANTHROPIC,
        name="Anthropic",
        kind="anthropic",
        key_set=True,
        key_last4="kkkk",
        key_source="file",
        key_name="ANTHROPIC_API_KEY",
        needs_key=True,
        host="api.anthropic.com",
        local=False,
        state="unknown",
        error=None,
        custom=False,
    )
    assert registry.default_model() == "claude-opus-5-5"
    assert (place.home / ".shoulders" / "keys.env").read_text() == f"ANTHROPIC_API_KEY={KEY}\n"
    removed = await registry.providers.remove_key(ANTHROPIC)
    assert (removed.key_set, removed.state) == (False, "no_key")
    assert registry.default_model() == "demo"


async def test_key_of_the_environment_cannot_be_changed(place: RegistryWorkspace) -> None:
    place.environ["ANTHROPIC_API_KEY"] = KEY
    registry = place.registry()
    with pytest.raises(Conflict):
        await registry.providers.set_key(ANTHROPIC, "another-key-0123")
    with pytest.raises(Conflict):
        await registry.providers.remove_key(ANTHROPIC)
    assert registry.providers.health()[0].key_source == "environment"


async def test_unknown_provider_is_not_found(place: RegistryWorkspace) -> None:
    registry = place.registry()
    nobody = ProviderId("nobody")
    for attempt in (
        registry.providers.set_key(nobody, KEY),
        registry.test(nobody),
        registry.providers.check(nobody),
    ):
        with pytest.raises(NotFound):
            await attempt


def test_redactor_knows_every_secret_in_use(place: RegistryWorkspace) -> None:
    place.environ.update(ANTHROPIC_API_KEY="live-key-one-0123", TEAM_TOKEN="live-token-0123")
    headers = {"Authorization": "Bearer ${TEAM_TOKEN}"}
    lab = {"kind": "openai_chat", "url": "http://lab.test/v1", "headers": headers}
    place.configure({**LAB, "providers": {"lab": lab}}, user=True)
    registry = place.registry()
    text = "live-key-one-0123 live-token-0123"
    assert registry.redactor().redact(text) == "[redacted] [redacted]"
    assert registry.redactor() is registry.redactor()
    place.environ["ANTHROPIC_API_KEY"] = "live-key-two-0123"
    assert registry.redactor().redact("live-key-two-0123") == "[redacted]"


async def test_resolved_provider_speaks_for_its_model(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    simulator.script("Hello")
    async with place.on(simulator) as registry:
        resolved = registry.resolve(ModelId("claude-haiku-5-5"))
        events = await collect(resolved.provider, ask("Hi", model=resolved.spec.model))
        assert events[-1] == Stop("end_turn")
        assert registry.providers.health()[0].state == "ok"


async def test_failing_provider_is_shown_until_its_state_is_old(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    simulator.script(overloaded())
    async with place.on(simulator) as registry:
        resolved = registry.resolve(ModelId("claude-haiku-5-5"))
        with pytest.raises(ProviderError):
            await collect(resolved.provider, ask("Hi", model=resolved.spec.model))
        failing = registry.providers.health()[0]
        assert failing.state == "failing"
        assert failing.error is not None
        assert failing.error.code == "overloaded"
        place.clock.seconds += 301
        assert registry.providers.health()[0].state == "unknown"


async def test_check_asks_once_in_five_minutes(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    async with place.on(simulator) as registry:
        for _ in range(3):
            assert (await registry.providers.check(ANTHROPIC)).state == "ok"
        place.clock.seconds += 301
        await registry.providers.check(ANTHROPIC)
    assert [record.path for record in simulator.requests] == ["/v1/models"] * 2


async def test_check_without_a_key_asks_nobody(place: RegistryWorkspace) -> None:
    assert (await place.registry().providers.check(ANTHROPIC)).state == "no_key"


async def test_provider_test_makes_a_streamed_tool_call(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    simulator.script(reply(ToolUse(name="report_word", arguments={"word": "shoulders"})))
    async with place.on(simulator) as registry:
        outcome = await registry.test(ANTHROPIC)
    assert outcome.ok, outcome
    assert (outcome.model, outcome.stream_ok, outcome.tool_call_ok) == (
        "claude-opus-5-5",
        True,
        True,
    )


@pytest.mark.parametrize(
    ("answer", "stream_ok", "words"),
    [
        pytest.param(reply("shoulders"), True, "did not call the tool", id="no call"),
        pytest.param(
            reply(ToolUse(name="report_word", arguments='{"wor')),
            True,
            "arrived incomplete",
            id="broken call",
        ),
        pytest.param(reply(failure=Failure(status=401)), False, "not accepted", id="wrong key"),
    ],
)
async def test_provider_test_says_what_failed(
    place: RegistryWorkspace, simulator: Simulator, answer: Any, stream_ok: bool, words: str
) -> None:
    simulator.script(answer)
    async with place.on(simulator) as registry:
        outcome = await registry.test(ANTHROPIC)
    assert (outcome.ok, outcome.stream_ok, outcome.tool_call_ok) == (False, stream_ok, False)
    assert outcome.error is not None
    assert words in outcome.error.message
    assert outcome.error.hint


async def test_provider_test_without_key_or_models(place: RegistryWorkspace) -> None:
    place.configure({"providers": {"lab": LAB["providers"]["lab"]}})
    registry = place.registry()
    codes = [
        outcome.error and outcome.error.code
        for outcome in (await registry.test(ANTHROPIC), await registry.test(ProviderId("lab")))
    ]
    assert codes == ["no_key", "no_model"]


async def test_openai_alone_answers_and_passes_its_test(
    place: RegistryWorkspace, simulator: Simulator
) -> None:
    simulator.script(reply(ToolUse(name="report_word", arguments={"word": "shoulders"})))
    place.environ["OPENAI_API_KEY"] = simulator.key
    place.configure({"providers": {"openai": {"url": simulator.openai_url}}})
    registry = place.registry()
    outcome = await registry.test(ProviderId("openai"))
    await registry.aclose()
    assert outcome.ok, outcome
    assert outcome.model == registry.default_model() == "gpt-6.1-sol"


async def test_demo_passes_its_test(place: RegistryWorkspace) -> None:
    outcome = await place.registry().test(ProviderId("demo"))
    assert outcome.ok, outcome
