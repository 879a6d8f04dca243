"""Papers: what each source gives, and every order in which the sources fail."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from jupyter_ai_shoulders.core.errors import Conflict, PolicyRefusal
from jupyter_ai_shoulders.core.web_services import ServiceId
from jupyter_ai_shoulders.guard.network.service_client import ServiceReply, ServiceRequest
from jupyter_ai_shoulders.testing.memory_services import MemoryServices
from jupyter_ai_shoulders.tools.web.search_papers import SearchPapers
from jupyter_ai_shoulders.web.papers.searcher import PaperSearcher
from jupyter_ai_shoulders.web.papers.sources import (
    PaperQuery,
    plain_doi,
    rebuild_abstract,
    shorten,
)
from jupyter_ai_shoulders.wire.api.web_services import Paper
from tests.simulator.services import ServiceSimulator
from tests.simulator.services.answers import FAULTS, Fault
from tests.tools.direct_calls import call, subject_of, text_of
from tests.web.simulated_client import ALL_KEYS, SteppedClock, client_of

NUMPY = "10.1038/s41586-020-2649-2"
TIERS: tuple[ServiceId, ...] = ("openalex", "exa", "crossref")


def searcher(simulator: ServiceSimulator, keys: Mapping[str, str] | None = None) -> PaperSearcher:
    return PaperSearcher(client_of(simulator, keys))


async def test_work_of_openalex_is_slimmed():
    async with ServiceSimulator() as simulator:
        found = await searcher(simulator).search(PaperQuery("arrays", 1))
    abstract = (
        "Array programming provides a powerful, compact and expressive syntax for accessing, "
        "manipulating and operating on data in vectors, matrices and higher-dimensional arrays."
    )
    assert found.works == (
        Paper(
            title="Array programming with NumPy",
            authors=(
                "Charles R. Harris",
                "K. Jarrod Millman",
                "Stéfan J. van der Walt",
                "Ralf Gommers",
            ),
            year=2020,
            doi=NUMPY,
            url=f"https://doi.org/{NUMPY}",
            citations=17432,
            type="article",
            venue="Nature",
            volume="585",
            issue="7825",
            pages="357–362",
            abstract=abstract,
            open_access_url="https://www.nature.com/articles/s41586-020-2649-2.pdf",
        ),
    )
    assert (found.source, found.total, found.notes) == ("OpenAlex", 3, ())


async def test_work_is_shown_in_15_lines():
    async with ServiceSimulator() as simulator:
        result = await call(SearchPapers(searcher(simulator)), query="attention")
    works = text_of(result).split("\n\n")[1:]
    assert len(works) == 3
    assert all(len(work.splitlines()) <= 15 for work in works)
    assert f"DOI: {NUMPY}" in works[0]
    data = result.envelope.data
    assert isinstance(data, dict)
    assert (result.envelope.kind, data["source"]) == ("papers", "OpenAlex")


@pytest.mark.parametrize(
    ("asked", "years"),
    [
        ({"year_from": 2016}, [2020, 2017]),
        ({"year_to": 2016}, [2015]),
        ({"year_from": 2017, "year_to": 2017}, [2017]),
        ({"open_access": True}, [2020, 2017]),
        ({"year_from": 2018, "open_access": True}, [2020]),
    ],
    ids=str,
)
async def test_filters_reach_openalex(asked: Mapping[str, Any], years: Sequence[int]):
    async with ServiceSimulator() as simulator:
        found = await searcher(simulator).search(PaperQuery("x", 10, **asked))
    assert [work.year for work in found.works] == years


@pytest.mark.parametrize("tier", TIERS)
async def test_years_reach_every_source(tier: ServiceId):
    async with ServiceSimulator() as simulator:
        for other in TIERS[: TIERS.index(tier)]:
            simulator.fail(other, "error_500")
        found = await searcher(simulator).search(PaperQuery("x", 10, 1990, 2026))
    assert found.works


async def test_openalex_needs_no_key_and_gets_one_that_is_there():
    for keys in ({}, ALL_KEYS):
        async with ServiceSimulator() as simulator:
            await searcher(simulator, keys=keys).search(PaperQuery("x", 1))
            [request] = simulator.requests["openalex"]
        assert ("api_key=" in request.query) is bool(keys)


ORDERS = [pair for count in (1, 2) for pair in itertools.combinations(TIERS, count)]
FAILING: Sequence[tuple[tuple[ServiceId, ...], Fault]] = (
    *((failing, fault) for failing in ORDERS for fault in ("error_503", "html")),
    *((("openalex",), fault) for fault in FAULTS if fault not in {"error_503", "html"}),
)


@pytest.mark.parametrize(("failing", "fault"), FAILING, ids=str)
async def test_first_source_that_answers_is_taken_with_notes(
    failing: tuple[ServiceId, ...], fault: Fault
):
    async with ServiceSimulator() as simulator:
        for service in failing:
            simulator.fail(service, fault)
        found = await searcher(simulator).search(PaperQuery("x", 2, open_access=True))
    taken = next(tier for tier in TIERS if tier not in failing)
    named = {"openalex": "OpenAlex", "exa": "Exa", "crossref": "Crossref"}
    before = [named[tier] for tier in TIERS[: TIERS.index(taken)]]
    assert found.source == named[taken]
    assert found.works
    assert all(any(name in note for note in found.notes) for name in before)
    missing = {"openalex": [], "exa": ["citation counts"], "crossref": ["open-access addresses"]}
    text = " ".join(found.notes)
    assert all(words in text for words in missing[taken])
    assert ("open access was not checked" in text) is (taken != "openalex")
    assert (found.notes == ()) is (taken == "openalex")


@pytest.mark.parametrize("fault", ["error_503", "reset", "wrong_shape", "busy_long"])
async def test_all_failed_is_one_error_with_each_reason(fault: Fault):
    async with ServiceSimulator() as simulator:
        for service in TIERS:
            simulator.fail(service, fault)
        with pytest.raises(Conflict) as raised:
            await searcher(simulator).search(PaperQuery("x", 2))
    info = raised.value.info
    assert all(name in info.message for name in ("OpenAlex", "Exa", "Crossref"))
    assert info.hint
    assert len((info.details or {})["failures"]) == 3  # pyright: ignore[reportArgumentType] - a list


async def test_missing_key_of_exa_is_named_among_the_failures():
    async with ServiceSimulator() as simulator:
        simulator.fail("openalex", "error_500")
        found = await searcher(simulator, keys={}).search(PaperQuery("x", 2))
        assert simulator.requests["exa"] == []
    assert found.source == "Crossref"
    assert any("Exa needs a key" in note for note in found.notes)


async def test_refused_connection_falls_back():
    async with ServiceSimulator() as simulator:
        simulator.refuse_connections("openalex")
        found = await searcher(simulator).search(PaperQuery("x", 2))
    assert found.source == "Exa"
    assert "cannot be reached" in found.notes[0]


async def test_answers_are_kept_and_rates_are_respected():
    clock = SteppedClock()
    async with ServiceSimulator() as simulator:
        found = PaperSearcher(client_of(simulator, clock=clock))
        for text in ("a", "a", "b"):
            await found.search(PaperQuery(text, 1))
        assert len(simulator.requests["openalex"]) == 2
    assert clock.slept == [0.1]


async def test_busy_service_is_asked_again_after_its_pause():
    clock = SteppedClock()
    async with ServiceSimulator() as simulator:
        simulator.fail("openalex", "busy", times=1)
        found = await PaperSearcher(client_of(simulator, clock=clock)).search(PaperQuery("x", 1))
    assert (found.source, clock.slept) == ("OpenAlex", [1.0])


async def test_switch_is_not_a_failure_of_one_source():
    services = MemoryServices({"openalex": PolicyRefusal("Off.", code="disabled")})
    with pytest.raises(PolicyRefusal):
        await PaperSearcher(services).search(PaperQuery("x", 1))
    assert [request.service for request in services.requests] == ["openalex"]


async def test_nothing_found_is_said():
    body = json.dumps({"meta": {"count": 0}, "results": []}).encode()

    def answer(_: ServiceRequest) -> ServiceReply:
        return ServiceReply(200, {}, body)

    tool = SearchPapers(PaperSearcher(MemoryServices({"openalex": answer})))
    assert "found no works" in text_of(await call(tool, query="nothing"))


async def test_exchanged_years_are_refused():
    tool = SearchPapers(PaperSearcher(MemoryServices()))
    result = await call(tool, query="x", year_from=2020, year_to=2010)
    assert not result.ok
    shown = await subject_of(tool, query="neural networks")
    assert (shown.title, shown.preview) == (
        'Search papers for "neural networks"',
        "neural networks",
    )


async def test_retracted_work_is_marked():
    async with ServiceSimulator() as simulator:
        simulator.fail("openalex", "error_500")
        simulator.fail("exa", "error_500")
        result = await call(SearchPapers(searcher(simulator)), query="x")
    assert "[RETRACTED]" in text_of(result)
    assert (result.envelope.warning or "").count("500") == 2


def test_abstract_is_rebuilt_from_its_index():
    index = {"on": (1, 4), "Cats": (0,), "sit": (3,), "mats": (2, 5), "never": (200_000,)}
    assert rebuild_abstract(index) == "Cats on mats sit on mats"
    assert rebuild_abstract({}) is None
    assert rebuild_abstract(None) is None


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("<jats:title>Abstract</jats:title><jats:p>A &amp; B</jats:p>", "A & B"),
        ("word " * 100, ("word " * 59).strip() + "…"),
        ("x" * 400, "x" * 299 + "…"),
        (" ", None),
        (None, None),
    ],
)
def test_shortened_text(text: str | None, short: str | None):
    assert shorten(text) == short


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("https://doi.org/10.1038/NATURE14539", "10.1038/nature14539"),
        ("https://example.org/paper?doi=10.1000/182.", "10.1000/182"),
        ("https://arxiv.org/abs/1706.03762", None),
        (None, None),
    ],
)
def test_plain_doi(text: str | None, doi: str | None):
    assert plain_doi(text) == doi
