"""What a check finds in texts and registers."""

from __future__ import annotations

import asyncio

import pytest

from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.guard.network.service_client import ServiceReply, ServiceRequest
from jupyter_ai_shoulders.references.bibtex.bibliography import parse_bibliography
from jupyter_ai_shoulders.references.check_rules import (
    CitingText,
    ListedEntry,
    cited_places,
    most_serious_first,
    offline_findings,
)
from jupyter_ai_shoulders.references.reference_list import listed, to_reference
from jupyter_ai_shoulders.references.register_check import check_registers
from jupyter_ai_shoulders.references.registers.lookup import RegisterLookup
from jupyter_ai_shoulders.testing.memory_services import MemoryServices, json_reply, text_reply
from tests.simulator.services.fixtures import load

LANCET = "10.1016/s0140-6736(97)11096-0"


def entries(text: str, path: str = "a.bib") -> list[ListedEntry]:
    found = parse_bibliography(text).entries
    return [ListedEntry(listed(to_reference(path, entry)), entry) for entry in found]


def kinds(bibliography: str, document: str, *, latex: bool = False) -> list[tuple[str, str]]:
    places = cited_places([CitingText("a.md", document, latex=latex)])
    found = offline_findings(
        entries(bibliography), [], places, frozenset({"broken"}), reports_uncited=True
    )
    return [(finding.kind, finding.key) for finding in most_serious_first(found)]


CASES: dict[str, tuple[str, str, list[tuple[str, str]]]] = {
    "nothing wrong": ("@misc{a, title = {A}}", "[@a]", []),
    "missing": ("@misc{a, title = {A}}", "[@a; @b]", [("missing", "b")]),
    "missing once": ("", "[@b] and [@b]", [("missing", "b")]),
    "broken, so not missing": ("", "[@broken]", []),
    "uncited": ("@misc{a, title = {A}}", "", [("uncited", "a")]),
    "case does not count for LaTeX": ("@misc{A, title = {A}}", "[@A]", []),
    "duplicate key": (
        "@misc{a, title = {A}}@misc{A, title = {B}}",
        "[@a]",
        [("duplicate", "A")],
    ),
    "duplicate DOI": (
        "@misc{a, title = {A}, doi = {10.1/x}}@misc{b, title = {B}, doi = {https://doi.org/10.1/X}}",
        "[@a; @b]",
        [("duplicate", "b")],
    ),
    "duplicate title and year": (
        "@misc{a, title = {A {Title}}, year = 2000}@misc{b, title = {a title}, date = {2000-01}}",
        "[@a; @b]",
        [("duplicate", "b")],
    ),
    "same title, two DOIs": (
        "@misc{a, title = {A}, doi = {10.1/x}}@misc{b, title = {A}, doi = {10.1/y}}",
        "[@a; @b]",
        [],
    ),
    "missing fields": ("@article{a, title = {A}}", "[@a]", [("missing_field", "a")]),
    "fields of another entry": ("@inproceedings{a, title = {A}, crossref = {b}}", "[@a]", []),
    "unverified": ("@misc{a, title = {A}, unverified = {x}}", "[@a]", [("unverified", "a")]),
    "a name of a person": ("@misc{a, title = {A}}", "{cite}`a`, thanks to @ada", []),
    "a bare key": ("@misc{a, title = {A}}", "[@a], as @bob2020 says", [("missing", "bob2020")]),
}


@pytest.mark.parametrize(("bibliography", "document", "expected"), CASES.values(), ids=CASES)
def test_problems_of_texts_are_found(
    bibliography: str, document: str, expected: list[tuple[str, str]]
) -> None:
    assert kinds(bibliography, document) == expected


def test_a_missing_key_is_placed_and_a_similar_one_offered() -> None:
    places = cited_places([CitingText("a.md", "One\n\nTwo [@smith2021]\n")])
    (found,) = offline_findings(
        entries("@misc{smith2020, title = {A}}"), [], places, frozenset(), reports_uncited=False
    )
    assert (found.path, found.line) == ("a.md", 3)
    assert "Did you mean smith2020?" in found.message


def test_the_key_of_a_latex_document() -> None:
    assert kinds("@misc{a, title = {A}}", "\\cite{a,b} % \\cite{c}", latex=True) == [
        ("missing", "b")
    ]


def registers(*dead: str) -> MemoryServices:
    works = load("crossref")

    def crossref(request: ServiceRequest) -> ServiceReply:
        work = works.get(request.path.removeprefix("/works/").lower())
        answer = json_reply({"message": work}) if work else text_reply("No.", 404)
        assert isinstance(answer, ServiceReply)
        return answer

    def doi(request: ServiceRequest) -> ServiceReply:
        return ServiceReply(404 if request.path.removeprefix("/") in dead else 302, {}, b"")

    return MemoryServices({"crossref": crossref, "datacite": json_reply({}, 404), "doi": doi})


async def test_registers_tell_dead_dois_and_retractions() -> None:
    text = (
        f"@misc{{a, title = {{A}}, doi = {{{LANCET}}}}}"
        "@misc{b, title = {B}, doi = {10.5555/dead}}"
        "@misc{c, title = {C}, doi = {10.5555/elsewhere}}"
        "@misc{d, title = {D}, doi = {not a DOI}}"
        "@misc{e, title = {E}}"
    )
    found = await check_registers(RegisterLookup(registers("10.5555/dead")), entries(text), 5)
    assert [(f.kind, f.key, f.url) for f in most_serious_first(found.findings)] == [
        ("retracted", "a", "https://doi.org/10.1016/s0140-6736(10)60175-4"),
        ("dead_doi", "b", ""),
        ("dead_doi", "d", ""),
    ]
    assert found.not_checked == ["1 reference without a DOI was not looked up."]


async def test_what_could_not_be_looked_up_is_said() -> None:
    services = MemoryServices({"crossref": Conflict("Crossref is busy.")})
    text = "@misc{a, title = {A}, doi = {10.1000/x}}@misc{b, title = {B}, doi = {10.1000/y}}"
    found = await check_registers(RegisterLookup(services), entries(text), 5)
    assert found.findings == []
    assert found.not_checked == ["2 DOIs could not be looked up: Crossref is busy."]


class SilentServices:
    """Services that never answer."""

    async def send(self, request: ServiceRequest) -> ServiceReply:
        await asyncio.Event().wait()
        raise AssertionError(request)


async def test_a_check_ends_in_time() -> None:
    text = "@misc{a, title = {A}, doi = {10.1000/x}}"
    found = await check_registers(RegisterLookup(SilentServices()), entries(text), 0.01)
    assert found.not_checked == ["1 DOI was not looked up within 0 s; check again to go on."]
