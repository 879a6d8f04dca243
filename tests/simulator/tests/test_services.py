"""The simulated services answer as documented, refuse what the real ones refuse, and can fail."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from jupyter_ai_shoulders.core.web_services import ServiceId
from tests.simulator.services import ServiceSimulator
from tests.simulator.services.answers import FAULTS, KEY, Fault

Call = tuple[ServiceId, str, str, dict[str, str], Any]


async def call(simulator: ServiceSimulator, made: Call) -> httpx.Response:
    service, method, path, headers, body = made
    content = None if body is None else json.dumps(body).encode()
    kind = {} if body is None else {"Content-Type": "application/json"}
    async with httpx.AsyncClient(trust_env=False, timeout=5) as client:
        return await client.request(
            method, simulator.url(service) + path, headers={**headers, **kind}, content=content
        )


NUMPY = "10.1038/s41586-020-2649-2"
PROPER: Mapping[str, tuple[Call, list[str]]] = {
    "openalex": (
        ("openalex", "GET", "/works?search=x&per_page=2&filter=is_oa:true", {}, None),
        ["meta", "results", "group_by"],
    ),
    "crossref search": (("crossref", "GET", "/works?query=x&rows=1", {}, None), ["message"]),
    "crossref work": (("crossref", "GET", f"/works/{NUMPY}", {}, None), ["message"]),
    "datacite": (("datacite", "GET", "/dois/10.5281/zenodo.3509134", {}, None), ["data"]),
    "openlibrary": (
        (
            "openlibrary",
            "GET",
            "/api/books?bibkeys=ISBN:9780262035613&format=json&jscmd=data",
            {},
            None,
        ),
        ["ISBN:9780262035613"],
    ),
    "exa": (("exa", "POST", "/search", {"x-api-key": KEY}, {"query": "x"}), ["results"]),
    "brave": (
        ("brave", "GET", "/res/v1/web/search?q=x&count=2", {"X-Subscription-Token": KEY}, None),
        ["web"],
    ),
    "tavily": (
        ("tavily", "POST", "/search", {"Authorization": f"Bearer {KEY}"}, {"query": "x"}),
        ["results"],
    ),
    "searxng": (("searxng", "GET", "/search?q=x&format=json", {}, None), ["results"]),
}


@pytest.mark.parametrize(("made", "names"), PROPER.values(), ids=PROPER)
async def test_proper_request_is_answered(made: Call, names: list[str]):
    async with ServiceSimulator() as simulator:
        answer = await call(simulator, made)
    assert answer.status_code == 200
    assert set(names) <= set(answer.json())


REFUSED: Mapping[str, tuple[Call, int]] = {
    "openalex per_page": (("openalex", "GET", "/works?per_page=500", {}, None), 400),
    "openalex filter": (("openalex", "GET", "/works?filter=year:2020", {}, None), 400),
    "openalex parameter": (("openalex", "GET", "/works?q=x", {}, None), 400),
    "openalex key": (("openalex", "GET", "/works?api_key=wrong", {}, None), 401),
    "crossref rows": (("crossref", "GET", "/works?rows=5000", {}, None), 400),
    "crossref unknown": (("crossref", "GET", "/works/10.1/none", {}, None), 404),
    "datacite unknown": (("datacite", "GET", "/dois/10.1/none", {}, None), 404),
    "arxiv malformed": (("arxiv", "GET", "/api/query?id_list=nonsense", {}, None), 400),
    "openlibrary unknown": (("openlibrary", "GET", "/isbn/1.json", {}, None), 404),
    "doi unknown": (("doi", "GET", "/10.5555/no-longer-there", {}, None), 404),
    "exa without key": (("exa", "POST", "/search", {}, {"query": "x"}), 401),
    "exa field": (("exa", "POST", "/search", {"x-api-key": KEY}, {"query": "x", "n": 1}), 400),
    "brave without key": (("brave", "GET", "/res/v1/web/search?q=x", {}, None), 422),
    "brave count": (
        ("brave", "GET", "/res/v1/web/search?q=x&count=50", {"X-Subscription-Token": KEY}, None),
        422,
    ),
    "tavily without key": (("tavily", "POST", "/search", {}, {"query": "x"}), 401),
    "searxng HTML": (("searxng", "GET", "/search?q=x", {}, None), 403),
}


@pytest.mark.parametrize(("made", "status"), REFUSED.values(), ids=REFUSED)
async def test_wrong_request_is_refused_as_by_the_real_service(made: Call, status: int):
    async with ServiceSimulator() as simulator:
        assert (await call(simulator, made)).status_code == status


async def test_doi_leads_to_its_publisher_and_arxiv_answers_with_a_feed():
    async with ServiceSimulator() as simulator:
        moved = await call(simulator, ("doi", "GET", f"/{NUMPY}", {}, None))
        path = "/api/query?id_list=1706.03762"
        feed = await call(simulator, ("arxiv", "GET", path, {}, None))
    assert (moved.status_code, moved.headers["location"]) == (
        302,
        f"https://publisher.example.org/{NUMPY}",
    )
    assert "<title>Attention Is All You Need</title>" in feed.text


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "slow"])
async def test_scripted_failure_comes_once(fault: Fault):
    made = PROPER["openalex"][0]
    async with ServiceSimulator() as simulator:
        simulator.fail("openalex", fault, times=1)
        with pytest.raises((httpx.HTTPError, ValueError, TypeError)):
            (await call(simulator, made)).raise_for_status().json()["results"]
        assert (await call(simulator, made)).status_code == 200
        assert len(simulator.requests["openalex"]) == 2
