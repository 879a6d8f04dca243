"""Finds DOIs, arXiv ids and ISBNs in texts, and tells what a text is. Pure.

DOIs: https://www.crossref.org/blog/dois-and-matching-regular-expressions/; arXiv ids:
https://info.arxiv.org/help/arxiv_identifier.html; ISBN: ISO 2108.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>{}|\\^\[\]`]{1,300}", re.IGNORECASE)
_NEW_ARXIV = r"\d{4}\.\d{4,5}"
_OLD_ARXIV = r"[a-z][a-z-]{1,20}(?:\.[A-Z]{2})?/\d{7}"
_ARXIV = re.compile(
    rf"(?:arxiv\s*[:.]?\s*|arxiv\.org/(?:abs|pdf)/)({_NEW_ARXIV}|{_OLD_ARXIV})(v\d{{1,3}})?",
    re.IGNORECASE,
)
_ARXIV_ONLY = re.compile(rf"({_NEW_ARXIV}|{_OLD_ARXIV})(v\d{{1,3}})?")
_ISBN = re.compile(r"(?:97[89][-\s]?)?(?:\d[-\s]?){9}[\dXx]")
_ISBN_LABELLED = re.compile(rf"ISBN(?:-1[03])?:?\s*({_ISBN.pattern})", re.IGNORECASE)
_URL = re.compile(r"https?://\S+", re.IGNORECASE)

QueryKind = Literal["doi", "arxiv", "isbn", "url", "bibtex", "text", "file"]


@dataclass(frozen=True, slots=True)
class AddQuery:
    """What to add: an identifier, an address, an entry, a text or a file."""

    kind: QueryKind
    value: str


def find_doi(text: str) -> str:
    """Return the first DOI in a text, without punctuation at its end; empty if there is none."""
    match = _DOI.search(text)
    if match is None:
        return ""
    doi = match[0].rstrip(".,;:'”’»")
    while doi.endswith(")") and doi.count(")") > doi.count("("):
        doi = doi[:-1].rstrip(".,;:")
    return doi


def find_dois(text: str, limit: int = 3) -> list[str]:
    """Return the first different DOIs in a text."""
    found: dict[str, str] = {}
    for match in _DOI.finditer(text):
        doi = find_doi(match[0])
        found.setdefault(doi.lower(), doi)
        if len(found) == limit:
            break
    return list(found.values())


def find_arxiv(text: str) -> str:
    """Return the first arXiv id in a text, without its version; empty if there is none."""
    only = _ARXIV_ONLY.fullmatch(text.strip())
    if only is not None:
        return only[1]
    match = _ARXIV.search(text)
    return match[1] if match else ""


def find_isbn(text: str) -> str:
    """Return the first ISBN in a text as 13 digits; empty if there is none that is valid."""
    only = _ISBN.fullmatch(text.strip())
    candidates = [text.strip()] if only else [m[1] for m in _ISBN_LABELLED.finditer(text)]
    return next((isbn for found in candidates if (isbn := isbn13(found))), "")


def isbn13(text: str) -> str:
    """Return an ISBN as 13 digits; empty if it is not valid."""
    digits = re.sub(r"[-\s]", "", text).upper()
    if re.fullmatch(r"97[89]\d{10}", digits):
        total = sum(int(digit) * (3 if n % 2 else 1) for n, digit in enumerate(digits))
        return digits if total % 10 == 0 else ""
    if re.fullmatch(r"\d{9}[\dX]", digits):
        values = [10 if digit == "X" else int(digit) for digit in digits]
        if sum(value * (10 - n) for n, value in enumerate(values)) % 11:
            return ""
        start = f"978{digits[:9]}"
        total = sum(int(digit) * (3 if n % 2 else 1) for n, digit in enumerate(start))
        return f"{start}{-total % 10}"
    return ""


def detect_query(text: str) -> AddQuery:
    """Return what a typed or pasted text is."""
    typed = text.strip()
    if re.match(r"@\w+\s*[{(]", typed):
        return AddQuery("bibtex", typed)
    if " " not in typed and typed.lower().endswith(".pdf") and not _URL.match(typed):
        return AddQuery("file", typed)
    if len(typed.split()) == 1 or typed.lower().startswith(("doi:", "arxiv:", "isbn")):
        return _identifier(typed) or AddQuery("text", typed)
    if find_isbn(typed) and _ISBN.fullmatch(typed):
        return AddQuery("isbn", find_isbn(typed))
    return AddQuery("text", typed)


def url_query(url: str) -> AddQuery:
    """Return what an address names: a DOI, an arXiv id, or itself."""
    plain = unquote(url)
    if re.match(r"https?://(?:dx\.|www\.)?doi\.org/", plain, re.IGNORECASE) and find_doi(plain):
        return AddQuery("doi", find_doi(plain))
    if re.match(r"https?://(?:\w+\.)?arxiv\.org/", plain, re.IGNORECASE) and find_arxiv(plain):
        return AddQuery("arxiv", find_arxiv(plain))
    return AddQuery("url", url)


def _identifier(typed: str) -> AddQuery | None:
    if _URL.fullmatch(typed):
        return url_query(typed)
    if doi := find_doi(unquote(typed)):
        return AddQuery("doi", doi)
    if arxiv := find_arxiv(typed):
        return AddQuery("arxiv", arxiv)
    if isbn := find_isbn(typed):
        return AddQuery("isbn", isbn)
    return None
