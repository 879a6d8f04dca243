"""Entries of a bibliography as items of CSL-JSON. Used by ``references.styles.worker``.

The fields are those of BibTeX and biblatex. Types and variables: the CSL specification, appendices
III and IV, and the mapping that biblatex's manual gives for its types.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jupyter_ai_shoulders.references.styles.bibtex_names import csl_names
from jupyter_ai_shoulders.references.styles.bibtex_text import plain_text, protected_text

CslItem = dict[str, Any]
"""An item of CSL-JSON."""

_TYPES: Mapping[str, str] = {
    "article": "article-journal",
    "book": "book",
    "booklet": "pamphlet",
    "collection": "book",
    "conference": "paper-conference",
    "dataset": "dataset",
    "electronic": "webpage",
    "inbook": "chapter",
    "incollection": "chapter",
    "inproceedings": "paper-conference",
    "inreference": "entry-encyclopedia",
    "manual": "book",
    "mastersthesis": "thesis",
    "mvbook": "book",
    "online": "webpage",
    "patent": "patent",
    "phdthesis": "thesis",
    "proceedings": "book",
    "report": "report",
    "software": "software",
    "techreport": "report",
    "thesis": "thesis",
    "unpublished": "manuscript",
    "webpage": "webpage",
    "www": "webpage",
}
_GENRES: Mapping[str, str] = {
    "phdthesis": "PhD thesis",
    "mastersthesis": "Master’s thesis",
    "phdthesis-type": "PhD thesis",
    "mathesis": "Master’s thesis",
}
_NAMES: Mapping[str, str] = {
    "author": "author",
    "editor": "editor",
    "translator": "translator",
    "bookauthor": "container-author",
}
_TEXTS: Mapping[str, tuple[str, ...]] = {
    "title": ("title",),
    "container-title": ("journaltitle", "journal", "booktitle", "maintitle"),
    "container-title-short": ("shortjournal",),
    "collection-title": ("series",),
    "publisher": ("publisher", "institution", "school", "organization"),
    "publisher-place": ("location", "address"),
    "event-place": ("venue",),
    "version": ("version",),
    "title-short": ("shorttitle",),
}
_PLAIN_VALUES: Mapping[str, tuple[str, ...]] = {
    "volume": ("volume",),
    "edition": ("edition",),
    "DOI": ("doi",),
    "ISBN": ("isbn",),
    "ISSN": ("issn",),
    "PMID": ("pmid",),
    "chapter-number": ("chapter",),
    "number-of-pages": ("pagetotal",),
    "medium": ("howpublished",),
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_ADDRESS = re.compile(r"https?://[^\s{}]+")


def csl_item(identifier: str, entry_type: str, fields: Mapping[str, str]) -> CslItem:
    """Return an entry as an item. Field names are in lower case, values without outer braces."""
    kind = _item_type(entry_type, fields)
    item: CslItem = {"id": identifier, "type": kind, "language": _language(fields)}
    for variable, names in _TEXTS.items():
        value = _first(fields, names)
        if value:
            item[variable] = protected_text(value)
    for variable, names in _PLAIN_VALUES.items():
        value = plain_text(_first(fields, names))
        if value:
            item[variable] = value
    for field, variable in _NAMES.items():
        people = csl_names(fields.get(field, ""))
        if people:
            item[variable] = people
    _add_dates(item, fields)
    _add_numbers(item, kind, fields)
    _add_access(item, entry_type, fields)
    return item


def _item_type(entry_type: str, fields: Mapping[str, str]) -> str:
    if entry_type == "misc":
        if fields.get("eprint") or "arxiv" in fields.get("howpublished", "").lower():
            return "article"
        return "webpage" if _address(fields) and not fields.get("doi") else "document"
    return _TYPES.get(entry_type, "document")


def _language(fields: Mapping[str, str]) -> str:
    """Return the language by two letters; styles change the capitals of English titles only."""
    named = plain_text(fields.get("langid") or fields.get("language") or "english").lower()
    known = {"english": "en", "american": "en", "british": "en", "usenglish": "en"}
    return known.get(named) or named[:2]


def _first(fields: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((fields[name] for name in names if fields.get(name, "").strip()), "")


def _add_dates(item: CslItem, fields: Mapping[str, str]) -> None:
    issued = _date(fields.get("date", "")) or _year_month(fields)
    if issued:
        item["issued"] = issued
    accessed = _date(fields.get("urldate", ""))
    if accessed:
        item["accessed"] = accessed


def _date(text: str) -> CslItem | None:
    """Return an ISO date, or a range of two, such as ``2020-05/2020-06``."""
    parts: list[list[int]] = []
    for day in plain_text(text).split("/"):
        match = re.fullmatch(r"(-?\d{4})(?:-(\d{2}))?(?:-(\d{2}))?(?:T.*)?", day.strip())
        if match:
            parts.append([int(part) for part in match.groups() if part])
    valid = [part for part in parts if len(part) == 1 or 1 <= part[1] <= 12]
    return {"date-parts": valid[:2]} if valid else None


def _year_month(fields: Mapping[str, str]) -> CslItem | None:
    year = plain_text(fields.get("year", ""))
    match = re.search(r"-?\d{1,4}", year)
    if not match:
        return {"literal": year} if year else None
    parts = [int(match[0])]
    month = plain_text(fields.get("month", "")).strip().lower()
    number = _MONTHS.index(month[:3]) + 1 if month[:3] in _MONTHS else _number(month)
    if 1 <= number <= 12:
        parts.append(number)
        day = _number(plain_text(fields.get("day", "")))
        if 1 <= day <= 31:
            parts.append(day)
    return {"date-parts": [parts]}


def _number(text: str) -> int:
    return int(text) if re.fullmatch(r"\d{1,4}", text) else 0


def _add_numbers(item: CslItem, kind: str, fields: Mapping[str, str]) -> None:
    pages = re.sub(r"\s*[-–—]+\s*", "-", plain_text(fields.get("pages", "")))
    if pages:
        item["page"] = pages
    edition = item.get("edition", "").lower()
    if edition in _ORDINALS:
        item["edition"] = str(_ORDINALS.index(edition) + 1)
    elif match := re.fullmatch(r"(\d+)(?:st|nd|rd|th|\.)?(?: (?:edition|ed\.?))?", edition):
        item["edition"] = match[1]
    number = plain_text(fields.get("number") or fields.get("issue") or "")
    if number and kind == "article-journal":
        item["issue"] = number
    elif number and kind in ("book", "chapter", "paper-conference"):
        item["collection-number"] = number
    elif number:
        item["number"] = number
    genre = plain_text(fields.get("type", ""))
    genre = _GENRES.get(f"{genre}-type", _GENRES.get(genre, genre))
    if genre:
        item["genre"] = genre
    elif kind == "thesis":
        item["genre"] = "Thesis"


def _add_access(item: CslItem, entry_type: str, fields: Mapping[str, str]) -> None:
    """Add where the work is found: an address, and the number of a preprint."""
    if entry_type in _GENRES and not fields.get("type"):
        item["genre"] = _GENRES[entry_type]
    if doi := item.get("DOI"):
        item["DOI"] = re.sub(
            r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", "", doi, flags=re.IGNORECASE
        )
    address = _address(fields)
    if address:
        item["URL"] = address
    if "medium" in item and ("://" in item["medium"] or item["type"] == "article"):
        del item["medium"]
    eprint = plain_text(fields.get("eprint", ""))
    register = plain_text(fields.get("eprinttype") or fields.get("archiveprefix") or "")
    if eprint and register.lower() in ("arxiv", "") and item["type"] in ("article", "document"):
        number = eprint.removeprefix("arXiv:")
        item["type"] = "article"
        item["publisher"] = '<span class="nocase">arXiv</span>'
        item["number"] = f'<span class="nocase">arXiv:{number}</span>'
        item.setdefault("URL", f"https://arxiv.org/abs/{number}")


def _address(fields: Mapping[str, str]) -> str:
    """Return the address of a web page, without the commands around it."""
    match = _ADDRESS.search(fields.get("url") or fields.get("howpublished") or "")
    return match[0].replace("\\", "") if match else ""
