"""Asks registers about the works of bibliographies: dead DOIs, retractions and corrections."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.references.check_rules import ListedEntry, entry_finding
from jupyter_ai_shoulders.references.identifiers import find_doi
from jupyter_ai_shoulders.references.registers.lookup import RegisterLookup
from jupyter_ai_shoulders.wire.api.references import ReferenceFinding

AT_ONCE = 4
DOI_LIMIT = 1_000
"""Works that a check asks about."""


@dataclass(slots=True)
class RegisterFindings:
    """What the registers said."""

    findings: list[ReferenceFinding] = field(default_factory=list[ReferenceFinding])
    not_checked: list[str] = field(default_factory=list[str])
    """Sentences."""


async def check_registers(
    lookup: RegisterLookup, entries: Sequence[ListedEntry], seconds: float
) -> RegisterFindings:
    """Ask about each entry with a DOI, a few at once, for so many seconds at most. Never raises
    ``ShouldersError``.
    """
    by_doi: dict[str, ListedEntry] = {}
    malformed: list[ListedEntry] = []
    without = 0
    for listed in entries:
        doi = listed.item.reference.doi
        if not doi:
            without += 1
        elif found := find_doi(doi):
            by_doi.setdefault(found, listed)
        else:
            malformed.append(listed)
    result = RegisterFindings()
    for listed in malformed:
        message = f"{listed.entry.key} has a DOI that is none: {listed.item.reference.doi}"
        result.findings.append(entry_finding("dead_doi", listed, message))
    await _ask_all(lookup, dict(list(by_doi.items())[:DOI_LIMIT]), seconds, result)
    if len(by_doi) > DOI_LIMIT:
        result.not_checked.append(f"{len(by_doi) - DOI_LIMIT} more DOIs were not looked up.")
    if without:
        result.not_checked.append(
            f"{_count(without, 'reference')} without a DOI {_were(without)} not looked up."
        )
    return result


async def _ask_all(
    lookup: RegisterLookup,
    wanted: dict[str, ListedEntry],
    seconds: float,
    result: RegisterFindings,
) -> None:
    free = asyncio.Semaphore(AT_ONCE)
    failures: list[str] = []
    open_dois = set(wanted)

    async def ask(doi: str, listed: ListedEntry) -> None:
        async with free:
            try:
                result.findings += await _of_doi(lookup, doi, listed)
            except ShouldersError as error:
                failures.append(str(error))
            open_dois.discard(doi)

    try:
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
            for doi, listed in wanted.items():
                group.create_task(ask(doi, listed))
    except TimeoutError:
        left = max(len(open_dois), 1)
        result.not_checked.append(
            f"{_count(left, 'DOI')} {_were(left)} not looked up within {seconds:.0f} s;"
            " check again to go on."
        )
    if failures:
        count = len(failures)
        result.not_checked.append(f"{_count(count, 'DOI')} could not be looked up: {failures[0]}")


async def _of_doi(lookup: RegisterLookup, doi: str, listed: ListedEntry) -> list[ReferenceFinding]:
    work = await lookup.by_doi(doi)
    key = listed.entry.key
    if work is None:
        if await lookup.doi_resolves(doi):
            return []
        message = f"The DOI of {key} does not exist: {doi}. Correct or remove it."
        return [entry_finding("dead_doi", listed, message)]
    return [
        entry_finding(
            notice.kind,
            listed,
            f"{key} was {notice.kind} ({notice.label.lower()}). Read the notice before citing it.",
            f"https://doi.org/{notice.doi}" if notice.doi else "",
        )
        for notice in work.notices
    ]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"
