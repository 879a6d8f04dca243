"""The web tools and the web services' settings over HTTP, with scripted models."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from traitlets.config import Config

from jupyter_ai_shoulders.core.web_services import KEY_VARIABLES
from tests.server.client import NO_RULES, Api
from tests.simulator import Simulator
from tests.simulator.script import ToolUse, reply
from tests.simulator.services import ServiceSimulator
from tests.simulator.services.answers import KEY

WEB_TOOLS = ("fetch_url", "search_papers", "web_search")
SECRET = "tvly-0123456789-abcdefghij-not-a-real-key"


@pytest.fixture
def services(jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[ServiceSimulator]:
    simulator = ServiceSimulator()
    jp_asyncio_loop.run_until_complete(simulator.__aenter__())
    yield simulator
    jp_asyncio_loop.run_until_complete(simulator.__aexit__(None, None, None))


@pytest.fixture
def rules(request: pytest.FixtureRequest) -> list[Any]:
    """The administrator's rules."""
    return getattr(request, "param", [])


@pytest.fixture
def jp_server_config(
    jp_server_config: Config,
    services: ServiceSimulator,
    rules: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> Config:
    for variable in KEY_VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    trait = {name: value for name, value in services.trait.items() if name != "searxng"}
    jp_server_config.merge(Config({"Shoulders": {"services": trait, "rules": rules}}))
    return jp_server_config


class Conversation:
    """A conversation whose model is scripted."""

    def __init__(self, api: Api, upstream: Simulator) -> None:
        self.api = api
        self._upstream = upstream

    async def play(
        self,
        *calls: ToolUse | str,
        text: str = "Go",
        mode: str = "ask",
        answer: str = "allow",
        attachments: Sequence[dict[str, Any]] = (),
    ) -> list[dict[str, Any]]:
        """Make the calls, one per step; answer all questions; return the events."""
        self._upstream.script(*[reply(call) for call in calls], "Done.")
        session = (await self.api.post("sessions", {"mode": mode})).body["id"]
        message = {"id": "m1", "text": text, "attachments": list(attachments)}
        await self.api.post(f"sessions/{session}/messages", message)
        after = 0
        seen: list[dict[str, Any]] = []
        async with asyncio.timeout(30):
            while not any(event["type"] == "turn-end" for event in seen):
                page = (await self.api.get(f"sessions/{session}/events", after=after)).body
                for event in page["events"]:
                    after = event["seq"]
                    seen.append(event)
                    if event["type"] == "approval-request":
                        path = f"sessions/{session}/approvals/{event['call_id']}"
                        await self.api.post(path, {"decision": answer})
                    if event["type"] == "stdin-request":
                        path = f"sessions/{session}/stdin/{event['call_id']}"
                        await self.api.post(path, {"text": "yes"})
                await asyncio.sleep(0.02)  # the pace of a script that polls
        return seen


def of_type(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] == kind]


def result_of(events: list[dict[str, Any]]) -> dict[str, Any]:
    [result] = of_type(events, "tool-result")
    return result


@pytest.fixture
def conversation(api: Api, upstream: Simulator) -> Conversation:
    return Conversation(api, upstream)


def use(name: str, **arguments: Any) -> ToolUse:
    return ToolUse(name=name, arguments=arguments)


async def store_key(api: Api, service: str, key: str = KEY) -> None:
    await api.request("PUT", f"services/{service}/key", {"key": key})


async def test_papers_are_found_and_the_model_reads_them(
    conversation: Conversation, services: ServiceSimulator
):
    events = await conversation.play(use("search_papers", query="attention", limit=2))
    [asked] = of_type(events, "approval-request")
    assert asked["reason"]["text"].startswith("This uses the network.")
    assert asked["preview"] == "attention"
    result = result_of(events)
    assert (result["status"], result["result"]["kind"]) == ("ok", "papers")
    assert result["result"]["data"]["works"][1]["title"] == "Attention Is All You Need"
    assert "DOI: 10.48550/arxiv.1706.03762" in result["content"][0]["text"]
    assert len(services.requests["openalex"]) == 1


async def test_web_search_uses_the_service_whose_key_is_stored(
    conversation: Conversation, services: ServiceSimulator
):
    await store_key(conversation.api, "tavily")
    result = result_of(await conversation.play(use("web_search", query="asyncio")))
    assert result["result"]["data"]["source"] == "Tavily"
    assert len(services.requests["tavily"]) == 1


async def test_web_search_without_a_key_is_guidance(
    conversation: Conversation, services: ServiceSimulator
):
    result = result_of(await conversation.play(use("web_search", query="asyncio")))
    error = result["result"]["error"]
    assert error["code"] == "no_key"
    assert "EXA_API_KEY" in error["hint"]
    assert "settings" in error["hint"]
    assert not any(services.requests.values())


WRONG: Mapping[str, ToolUse] = {
    "no address": use("fetch_url", url="ftp://example.org/"),
    "inner address": use("fetch_url", url="http://169.254.169.254/latest/"),
    "missing argument": use("fetch_url"),
    "unknown argument": use("web_search", query="x", page=2),
    "empty query": use("search_papers", query=""),
    "limit": use("search_papers", query="x", limit=500),
    "domain": use("web_search", query="x", domains=["http://x.org/"]),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
async def test_wrong_call_is_an_error_and_asks_nobody(conversation: Conversation, call: ToolUse):
    events = await conversation.play(call)
    assert result_of(events)["status"] == "error"
    assert of_type(events, "approval-request") == []


async def test_address_that_nobody_named_asks_in_every_mode_and_taints(
    conversation: Conversation,
):
    call = use("fetch_url", url="https://docs.nobody-named-this.org/x")
    events = await conversation.play(call, mode="bypass", answer="deny")
    [asked] = of_type(events, "approval-request")
    assert (asked["reason"]["kind"], asked["scopes"]) == ("taint", ["once"])
    assert result_of(events)["status"] == "denied"


async def test_failing_services_are_one_error_with_each_reason(
    conversation: Conversation, services: ServiceSimulator
):
    for service in ("openalex", "crossref"):
        services.fail(service, "error_503")
    error = result_of(await conversation.play(use("search_papers", query="x")))["result"]["error"]
    assert "OpenAlex answered with status 503" in error["message"]
    assert "Exa needs a key" in error["message"]
    assert "Crossref answered with status 503" in error["message"]


@pytest.mark.parametrize("name", WEB_TOOLS)
async def test_switch_for_external_tools_disables_them(
    conversation: Conversation, services: ServiceSimulator, name: str
):
    put: dict[str, Any] = NO_RULES | {"disable_external": True}
    await conversation.api.request("PUT", "tools/permissions", put)
    argument = {"url": "https://x.org/"} if name == "fetch_url" else {"query": "x"}
    events = await conversation.play(use(name, **argument), mode="bypass")
    assert result_of(events)["result"]["error"]["code"] == "disabled"
    assert not any(services.requests.values())
    test = await conversation.api.post("services/openalex/test", {})
    assert (test.status, test.body["error"]["code"]) == (422, "disabled")
    assert (await conversation.api.get("services")).body["disabled"].startswith("Tools that send")


async def test_rule_denies_a_tool_and_a_domain(conversation: Conversation):
    denied = [
        {"action": "deny", "tool": "search_papers"},
        {"action": "deny", "tool": "fetch_url", "match": {"domain": "bad.org"}},
    ]
    put: dict[str, Any] = NO_RULES | {"rules": denied}
    await conversation.api.request("PUT", "tools/permissions", put)
    for call in (use("search_papers", query="x"), use("fetch_url", url="https://a.bad.org/")):
        events = await conversation.play(call, mode="bypass")
        assert result_of(events)["status"] == "denied"
        assert of_type(events, "approval-request") == []


@pytest.mark.parametrize("rules", [[{"action": "deny", "tool": "*_*"}]], indirect=True)
async def test_rule_of_the_administrator_disables_them(
    conversation: Conversation, services: ServiceSimulator
):
    events = await conversation.play(use("search_papers", query="x"), mode="bypass")
    assert result_of(events)["status"] == "denied"
    assert not any(services.requests.values())


# The settings


async def test_key_is_stored_tested_shown_by_its_end_and_removed(
    api: Api, services: ServiceSimulator
):
    listed = {each["id"]: each for each in (await api.get("services")).body["services"]}
    assert listed["tavily"]["key_source"] is None
    assert (await api.post("services/tavily/test", {})).body["ok"] is False
    stored = await api.request("PUT", "services/tavily/key", {"key": SECRET})
    assert (stored.body["key_source"], stored.body["key_last4"]) == ("file", SECRET[-4:])
    refused = (await api.post("services/tavily/test", {})).body
    assert (refused["ok"], refused["message"]) == (False, "Tavily refused the key.")
    await store_key(api, "tavily")
    assert (await api.post("services/tavily/test", {})).body == {
        "ok": True,
        "message": "Tavily answers.",
        "hint": None,
    }
    removed = await api.request("PUT", "services/tavily/key", {"key": None})
    assert removed.body["key_source"] is None
    assert SECRET not in str((await api.get("services")).body)
    assert len(services.requests["tavily"]) == 2


@pytest.mark.parametrize(
    "service", ["openalex", "crossref", "datacite", "arxiv", "openlibrary", "doi"]
)
async def test_services_without_a_key_can_be_tested(api: Api, service: str):
    assert (await api.post(f"services/{service}/test", {})).body["ok"] is True


async def test_address_of_an_own_server(api: Api, services: ServiceSimulator):
    url = services.url("searxng")
    assert (await api.post("services/searxng/test", {})).body["ok"] is False
    stored = await api.request("PUT", "services/searxng/address", {"address": f"{url}/"})
    assert stored.body["address"] == url
    assert (await api.post("services/searxng/test", {})).body["ok"] is True
    wrong = await api.request("PUT", "services/searxng/address", {"address": "nonsense"})
    assert wrong.status == 400
    fixed = await api.request("PUT", "services/crossref/address", {"address": url})
    assert fixed.status == 400
    locked = await api.request("PUT", "services/zotero/address", {"address": None})
    assert locked.status in {200, 422}


async def test_unknown_service_is_not_found(api: Api):
    assert (await api.post("services/none/test", {})).status == 404
    assert (await api.request("PUT", "services/crossref/key", {"key": "x"})).status == 400


async def test_key_never_reaches_the_log(conversation: Conversation):
    await store_key(conversation.api, "tavily", SECRET)
    events = await conversation.play(use("web_search", query=f"what is {SECRET}"))
    assert SECRET not in str(of_type(events, "tool-result"))
