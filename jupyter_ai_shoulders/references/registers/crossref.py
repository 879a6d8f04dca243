"""Reads Crossref's works: https://api.crossref.org/swagger-ui/index.html (the model ``Work``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jupyter_ai_shoulders.references.json_reading import items, json_object, mapping, mappings, text
from jupyter_ai_shoulders.references.names import PersonName
from jupyter_ai_shoulders.references.registers.work import RegisterWork, WorkNotice, clean_text

NAME = "Crossref"
_TYPES = {
    "journal-article": "article",
    "proceedings-article": "inproceedings",
    "proceedings": "proceedings",
    "book": "book",
    "monograph": "book",
    "edited-book": "book",
    "reference-book": "book",
    "book-chapter": "incollection",
    "book-section": "incollection",
    "book-part": "incollection",
    "reference-entry": "incollection",
    "dissertation": "phdthesis",
    "report": "techreport",
    "report-component": "techreport",
    "dataset": "dataset",
}
_CONTAINERS = {"article": "journal", "inproceedings": "booktitle", "incollection": "booktitle"}
_PUBLISHERS = {"phdthesis": "school", "techreport": "institution", "misc": "howpublished"}
_RETRACTIONS = frozenset({"retraction", "removal", "withdrawal", "partial_retraction"})
_CORRECTIONS = frozenset(
    {"correction", "corrigendum", "erratum", "expression_of_concern", "addendum", "clarification"}
)


def work_of_answer(content: bytes) -> RegisterWork | None:
    """Return the work of an answer to ``/works/{doi}``; None if it is none."""
    return crossref_work(mapping(json_object(content).get("message")))


def works_of_answer(content: bytes) -> list[RegisterWork]:
    """Return the works of an answer to ``/works?…``, as Crossref orders them."""
    found_items = mappings(mapping(json_object(content).get("message")).get("items"))
    return [found for item in found_items if (found := crossref_work(item)) is not None]


def isbns_of_answer(content: bytes) -> list[tuple[RegisterWork, frozenset[str]]]:
    """Return the works of an answer with their ISBNs."""
    found: list[tuple[RegisterWork, frozenset[str]]] = []
    for item in mappings(mapping(json_object(content).get("message")).get("items")):
        work = crossref_work(item)
        if work is not None:
            isbns = frozenset(str(isbn).replace("-", "") for isbn in items(item.get("ISBN")))
            found.append((work, isbns))
    return found


def crossref_work(work: Mapping[str, Any]) -> RegisterWork | None:
    """Return a work; None without a DOI or a title."""
    doi, title = text(work, "DOI"), clean_text(text(work, "title"))
    if not doi or not title:
        return None
    subtitle = clean_text(text(work, "subtitle"))
    if subtitle and subtitle.lower() not in title.lower():
        title = f"{title}: {subtitle}"
    kind = _TYPES.get(text(work, "type"), "misc")
    year, month = _date(work)
    return RegisterWork(
        source=NAME,
        type=kind,
        title=title,
        authors=_names(work.get("author")),
        editors=_names(work.get("editor")),
        year=year,
        month=month,
        doi=doi,
        fields=_fields(work, kind),
        notices=tuple(_notices(work)),
    )


def _fields(work: Mapping[str, Any], kind: str) -> dict[str, str]:
    publisher = clean_text(text(work, "publisher"))
    container = clean_text(text(work, "container-title"))
    fields = {
        _CONTAINERS.get(kind, "series" if kind == "book" else "howpublished"): container,
        "volume": text(work, "volume"),
        "number": text(work, "issue"),
        "pages": text(work, "page").replace("-", "--") or text(work, "article-number"),
        _PUBLISHERS.get(kind, "publisher"): publisher,
        "isbn": text(work, "ISBN"),
        "edition": text(work, "edition-number"),
    }
    if kind == "misc":
        fields["howpublished"] = container or clean_text(text(work, "group-title")) or publisher
    if kind == "article":
        fields["issn"] = text(work, "ISSN")
        fields.pop("publisher", None)
    return {name: value for name, value in fields.items() if value}


def _names(found: object) -> tuple[PersonName, ...]:
    names: list[PersonName] = []
    for person in mappings(found):
        family = clean_text(text(person, "family"))
        organisation = clean_text(text(person, "name"))
        if family:
            given = clean_text(text(person, "given"))
            names.append(PersonName(family, given, clean_text(text(person, "suffix"))))
        elif organisation:
            names.append(PersonName(organisation, is_organisation=True))
    return tuple(names)


def _date(work: Mapping[str, Any]) -> tuple[str, int | None]:
    """Return the year, and the month of its first date that has a year."""
    for name in ("published-print", "issued", "published", "published-online", "created"):
        parts = items(mapping(work.get(name)).get("date-parts"))
        first = items(parts[0]) if parts else []
        if first and isinstance(first[0], int):
            month = first[1] if len(first) > 1 else None
            return str(first[0]), month if isinstance(month, int) and 1 <= month <= 12 else None
    return "", None


def _notices(work: Mapping[str, Any]) -> list[WorkNotice]:
    """Return what updates a work: ``updated-by`` names the notices about it.

    https://www.crossref.org/documentation/retrieve-metadata/retraction-watch/
    """
    notices: list[WorkNotice] = []
    for update in mappings(work.get("updated-by")):
        kind, doi = text(update, "type"), text(update, "DOI")
        label = clean_text(text(update, "label")) or kind
        if kind in _RETRACTIONS:
            notices.append(WorkNotice("retracted", doi, label))
        elif kind in _CORRECTIONS:
            notices.append(WorkNotice("corrected", doi, label))
    return notices
