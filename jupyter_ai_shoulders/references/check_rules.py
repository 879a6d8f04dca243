"""What is wrong with bibliographies and citations, as far as their texts show it. Pure.

Called by ``tools.references.checking``; ``register_check`` asks the registers.
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from jupyter_ai_shoulders.references.bibtex.bibliography import BibEntry
from jupyter_ai_shoulders.references.citation_syntax import Citation, find_citations
from jupyter_ai_shoulders.references.reference_list import (
    ListedReference,
    entry_year,
    normalized_doi,
)
from jupyter_ai_shoulders.wire.api.references import (
    BibliographyProblem,
    ReferenceFinding,
    ReferenceFindingKind,
)
from jupyter_ai_shoulders.wire.ids import CellId

_SERIOUS_FIRST: tuple[ReferenceFindingKind, ...] = (
    "retracted",
    "missing",
    "dead_doi",
    "broken_entry",
    "duplicate",
    "corrected",
    "unverified",
    "missing_field",
    "uncited",
)
assert set(_SERIOUS_FIRST) == set(get_args(ReferenceFindingKind))
_REQUIRED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "article": (("author",), ("title",), ("journal", "journaltitle"), ("year", "date")),
    "book": (("author", "editor"), ("title",), ("publisher",), ("year", "date")),
    "inbook": (("author", "editor"), ("title",), ("publisher", "booktitle"), ("year", "date")),
    "incollection": (("author",), ("title",), ("booktitle",), ("year", "date")),
    "inproceedings": (("author",), ("title",), ("booktitle",), ("year", "date")),
    "conference": (("author",), ("title",), ("booktitle",), ("year", "date")),
    "proceedings": (("title",), ("year", "date")),
    "phdthesis": (("author",), ("title",), ("school", "institution"), ("year", "date")),
    "mastersthesis": (("author",), ("title",), ("school", "institution"), ("year", "date")),
    "thesis": (("author",), ("title",), ("institution", "school"), ("year", "date")),
    "techreport": (("author",), ("title",), ("institution",), ("year", "date")),
    "report": (("author",), ("title",), ("institution",), ("year", "date")),
    "unpublished": (("author",), ("title",), ("note", "howpublished")),
    "online": (("title",), ("url", "doi")),
    "dataset": (("title",), ("year", "date")),
    "software": (("title",),),
    "misc": (("title",),),
}
"""Fields that a type needs, by alternatives: https://ctan.org/pkg/bibtex (btxdoc, 3.1)."""


@dataclass(frozen=True, slots=True)
class CitingText:
    """A document that may cite, or a Markdown cell of a notebook."""

    path: str
    text: str
    cell_id: CellId | None = None
    latex: bool = False


@dataclass(frozen=True, slots=True)
class CitedPlace:
    """A key where it is cited; ``line`` counts from 1 in the document or cell."""

    key: str
    path: str
    cell_id: CellId | None
    line: int


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """An entry with its reference."""

    item: ListedReference
    entry: BibEntry


def cited_places(texts: Iterable[CitingText]) -> list[CitedPlace]:
    """Return every cited key; a bare ``@name`` only in documents that cite in brackets, too."""
    by_document: dict[str, list[tuple[CitingText, tuple[Citation, ...]]]] = defaultdict(list)
    for text in texts:
        found = find_citations(text.text, latex=text.latex)
        if found:
            by_document[text.path].append((text, found))
    places: list[CitedPlace] = []
    for found_texts in by_document.values():
        brackets = any(
            citation.syntax == "pandoc" and not citation.is_bare
            for _, found in found_texts
            for citation in found
        )
        for text, found in found_texts:
            places += _places(text, found, bare=brackets)
    return places


def cites_everything(texts: Iterable[CitingText]) -> bool:
    r"""Return whether a LaTeX document lists all entries, by ``\nocite{*}``."""
    return any("\\nocite{*}" in text.text for text in texts)


def offline_findings(
    entries: Sequence[ListedEntry],
    problems: Iterable[BibliographyProblem],
    places: Sequence[CitedPlace],
    broken_keys: frozenset[str],
    *,
    reports_uncited: bool,
) -> list[ReferenceFinding]:
    """Return the problems that the texts show."""
    found = [
        *_missing(entries, places, broken_keys),
        *_duplicates(entries),
        *(field for listed in entries for field in _of_entry(listed)),
        *(
            _finding("broken_entry", "", problem.message, problem.file, problem.line)
            for problem in problems
        ),
    ]
    if reports_uncited:
        found += _uncited(entries, places)
    return found


def most_serious_first(findings: Iterable[ReferenceFinding]) -> tuple[ReferenceFinding, ...]:
    """Return findings in the order of an answer."""
    rank = {kind: place for place, kind in enumerate(_SERIOUS_FIRST)}
    return tuple(
        sorted(findings, key=lambda item: (rank[item.kind], item.path, item.line or 0, item.key))
    )


def entry_finding(
    kind: ReferenceFindingKind, listed: ListedEntry, message: str, url: str = ""
) -> ReferenceFinding:
    """Return a problem of an entry."""
    reference = listed.item.reference
    finding = _finding(kind, reference.key, message, reference.file, reference.line)
    return finding.model_copy(update={"url": url})


def _places(text: CitingText, found: Sequence[Citation], *, bare: bool) -> Iterator[CitedPlace]:
    line, position = 1, 0
    for citation in found:
        line += text.text.count("\n", position, citation.start)
        position = citation.start
        if citation.is_bare and not bare:
            continue
        for key in citation.keys:
            yield CitedPlace(key, text.path, text.cell_id, line)


def _missing(
    entries: Sequence[ListedEntry], places: Sequence[CitedPlace], broken: frozenset[str]
) -> Iterator[ReferenceFinding]:
    keys = {listed.entry.key for listed in entries}
    seen: set[tuple[str, str, CellId | None]] = set()
    for place in places:
        where = (place.key, place.path, place.cell_id)
        if place.key in keys or place.key.casefold() in broken or where in seen:
            continue
        seen.add(where)
        near = difflib.get_close_matches(place.key, keys, n=1, cutoff=0.7)
        hint = f" Did you mean {near[0]}?" if near else " Add the reference, or correct the key."
        message = f"{place.key} is cited, but no bibliography has it.{hint}"
        yield ReferenceFinding(
            kind="missing",
            key=place.key,
            message=message,
            path=place.path,
            cell_id=place.cell_id,
            line=place.line,
            url="",
        )


def _uncited(
    entries: Sequence[ListedEntry], places: Sequence[CitedPlace]
) -> Iterator[ReferenceFinding]:
    cited = {place.key.casefold() for place in places}
    for listed in entries:
        if listed.entry.key.casefold() not in cited and not listed.entry.is_duplicate:
            message = f"{listed.entry.key} is listed, but not cited in what was checked."
            yield entry_finding("uncited", listed, message)


def _duplicates(entries: Sequence[ListedEntry]) -> Iterator[ReferenceFinding]:
    """Yield each entry that repeats an earlier one: its key, its DOI, or its title and year."""
    keys: dict[str, ListedEntry] = {}
    works: dict[tuple[str, str], ListedEntry] = {}
    for listed in entries:
        reference = listed.item.reference
        first = keys.setdefault(reference.key.casefold(), listed)
        if first is not listed:
            message = f"{reference.key} is also the key of the entry in {_place(first)}."
            yield entry_finding("duplicate", listed, message)
            continue
        doi = normalized_doi(reference.doi)
        same = [("doi", doi)] if doi else []
        if listed.item.title_key:
            same.append((listed.item.title_key, entry_year(listed.entry.values)))
        earlier = next((works[key] for key in same if key in works), None)
        if earlier is not None and _may_be_same(earlier, doi):
            message = (
                f"{reference.key} is the same work as {earlier.entry.key} in {_place(earlier)}."
                " Keep one of them."
            )
            yield entry_finding("duplicate", listed, message)
        for key in same:
            works.setdefault(key, listed)


def _may_be_same(earlier: ListedEntry, doi: str) -> bool:
    """Return whether two entries can be one work: not with two DOIs."""
    other = normalized_doi(earlier.item.reference.doi)
    return not doi or not other or doi == other


def _of_entry(listed: ListedEntry) -> Iterator[ReferenceFinding]:
    values = listed.entry.values
    absent = [
        " or ".join(names)
        for names in _REQUIRED.get(listed.entry.type, ())
        if not any(values.get(name, "").strip() for name in names)
    ]
    if absent and "crossref" not in values and "xdata" not in values:
        message = f"{listed.entry.key} has no {', no '.join(absent)}."
        yield entry_finding("missing_field", listed, message)
    if listed.item.reference.unverified:
        message = (
            f"{listed.entry.key} is marked as unverified: {listed.item.reference.unverified}"
            " Check it, then remove the field unverified."
        )
        yield entry_finding("unverified", listed, message)


def _place(listed: ListedEntry) -> str:
    reference = listed.item.reference
    return f"{reference.file}, line {reference.line}"


def _finding(
    kind: ReferenceFindingKind, key: str, message: str, path: str, line: int | None
) -> ReferenceFinding:
    return ReferenceFinding(
        kind=kind, key=key, message=message, path=path, cell_id=None, line=line, url=""
    )
