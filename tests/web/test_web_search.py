"""Search of the web: each service, their order, guidance without keys."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest
from jupyter_ai_shoulders.core.web_services import ServiceId
from jupyter_ai_shoulders.tools.web.web_search import WebSearch
from jupyter_ai_shoulders.web.search.engines import ENGINES, WebQuery
from jupyter_ai_shoulders.web.search.searcher import WebSearcher
from tests.simulator.services import ServiceSimulator
from tests.simulator.services.answers import FAULTS, Fault, ServiceAnswer
from tests.tools.direct_calls import call, rows_of, subject_of, text_of
from tests.web.simulated_client import client_of

IDS: list[ServiceId] = [engine.id for engine in ENGINES]
URLS = [
    "https://docs.python.org/3/library/asyncio.html",
    "https://realpython.com/async-io-python/",
]


def searcher(simulator: ServiceSimulator, *set_up: ServiceId) -> WebSearcher:
    async def is_set_up(service: ServiceId) -> bool:
        return service in set_up

    return WebSearcher(client_of(simulator), is_set_up)


@pytest.mark.parametrize("service", IDS)
async def test_each_service_gives_titles_addresses_and_plain_snippets(service: ServiceId):
    async with ServiceSimulator() as simulator:
        tool = WebSearch(searcher(simulator, service))
        result = await call(tool, query="asyncio")
        assert len(simulator.requests[service]) == 1
    rows = rows_of(result, "results")
    assert [row["url"] for row in rows] == URLS
    assert rows[0]["title"] == "asyncio — Asynchronous I/O"
    assert "concurrent code" in rows[0]["snippet"]
    assert "<" not in rows[0]["snippet"]
    assert result.envelope.kind == "search_results"
    assert URLS[0] in text_of(result)


@pytest.mark.parametrize("service", IDS)
async def test_limit_and_domains_reach_each_service(service: ServiceId):
    async with ServiceSimulator() as simulator:
        found = searcher(simulator, service)
        one = await found.search(WebQuery("asyncio", 1))
        only = await found.search(WebQuery("asyncio", 5, ("realpython.com",)))
    assert [result.url for result in one.results] == URLS[:1]
    assert [result.url for result in only.results] == URLS[1:]


async def test_without_a_service_the_answer_says_how_to_enable_it():
    async with ServiceSimulator() as simulator:
        with pytest.raises(InvalidRequest) as raised:
            await call(WebSearch(searcher(simulator)), query="asyncio")
        assert not any(simulator.requests.values())
    info = raised.value.info
    assert info.code == "no_key"
    assert all(
        name in (info.hint or "")
        for name in ("EXA_API_KEY", "BRAVE_API_KEY", "TAVILY_API_KEY", "SearXNG", "settings")
    )


@pytest.mark.parametrize("fault", FAULTS)
async def test_failing_service_gives_way_to_the_next_with_a_note(fault: Fault):
    async with ServiceSimulator() as simulator:
        simulator.fail("searxng", fault)
        found = await searcher(simulator, "searxng", "brave").search(WebQuery("x", 2))
    assert found.source == "Brave Search"
    assert "SearXNG" in found.notes[0]


async def test_all_failed_is_one_error():
    async with ServiceSimulator() as simulator:
        for service in IDS:
            simulator.fail(service, "error_503")
        with pytest.raises(Conflict, match="No service for web search answered") as raised:
            await searcher(simulator, *IDS).search(WebQuery("x", 2))
    assert raised.value.info.retryable


@pytest.mark.parametrize("service", ["exa", "brave", "tavily"])
async def test_wrong_key_says_which_to_check(service: ServiceId):
    async with ServiceSimulator() as simulator:
        wrong = {"EXA_API_KEY": "w", "BRAVE_API_KEY": "w", "TAVILY_API_KEY": "w"}

        async def is_set_up(each: ServiceId) -> bool:
            return each == service

        found = WebSearcher(client_of(simulator, wrong), is_set_up)
        with pytest.raises(InvalidRequest) as raised:
            await found.search(WebQuery("x", 2))
    assert raised.value.info.code == "authentication"
    assert f"{service.upper()}_API_KEY" in (raised.value.info.hint or "")


async def test_searxng_without_json_says_what_to_change():
    async with ServiceSimulator() as simulator:
        simulator.handlers["searxng"] = lambda _: ServiceAnswer(b"Forbidden", 403)
        with pytest.raises(InvalidRequest) as raised:
            await searcher(simulator, "searxng").search(WebQuery("x", 2))
    assert "settings.yml" in (raised.value.info.hint or "")


async def test_how_a_search_is_shown():
    async with ServiceSimulator() as simulator:
        tool = WebSearch(searcher(simulator))
        shown = await subject_of(tool, query="pandas", domains=("pandas.pydata.org",))
    assert (shown.title, shown.target_label, shown.preview) == (
        'Search the web for "pandas"',
        "pandas.pydata.org",
        "pandas",
    )
