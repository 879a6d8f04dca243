"""References as people see them: made from entries, searched, and compared for duplicates. Pure."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.references.bibtex.bibliography import BibEntry
from jupyter_ai_shoulders.references.latex_text import decoded
from jupyter_ai_shoulders.references.names import parse_names
from jupyter_ai_shoulders.wire.api.references import Reference

_VENUES = (
    "journal",
    "journaltitle",
    "booktitle",
    "publisher",
    "school",
    "institution",
    "organization",
    "howpublished",
)
_YEAR = re.compile(r"\d{4}")
_NOT_WORD = re.compile(r"[^\w]+")
_DOI_ADDRESS = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)
_PDF = re.compile(r"[^:;{}]+\.pdf", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ListedReference:
    """A reference with the text it is found by."""

    reference: Reference
    words: str
    """Its folded text."""
    title_key: str
    """Its title as duplicates are compared by."""


def folded(text: str) -> str:
    """Return text without accents, case and punctuation, as searched and compared."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    kept = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return _NOT_WORD.sub(" ", kept).strip()


def normalized_doi(value: str) -> str:
    """Return a DOI in lower case, without the address of its resolver."""
    return _DOI_ADDRESS.sub("", value.strip()).rstrip(".").lower()


def to_reference(path: str, entry: BibEntry, files: Collection[str] = ()) -> Reference:
    """Return an entry of the bibliography ``path``; ``files`` are the paths of PDFs that exist."""
    values = entry.values
    names = parse_names(values.get("author") or values.get("editor") or "")
    return Reference(
        key=entry.key,
        type=entry.type,
        file=path,
        line=entry.line,
        title=decoded(values.get("title", "")),
        authors=tuple(name.shown for name in names),
        year=entry_year(values),
        venue=next((decoded(values[name]) for name in _VENUES if values.get(name)), ""),
        doi=_DOI_ADDRESS.sub("", decoded_address(values.get("doi", ""))),
        url=decoded_address(values.get("url", "")),
        pdf=_pdf(path, values.get("file") or values.get("pdf") or "", files),
        unverified=decoded(values.get("unverified", "")),
        is_duplicate=entry.is_duplicate,
    )


def decoded_address(value: str) -> str:
    r"""Return a DOI or URL; programs write ``\_`` and ``\%`` in them."""
    return re.sub(r"\\([_%#&~{}$])", r"\1", value).strip().strip("{}")


def entry_year(values: Mapping[str, str]) -> str:
    """Return the year of an entry; empty if it has none."""
    year = decoded(values.get("year", ""))
    if year:
        return year
    found = _YEAR.search(decoded(values.get("date", "")))
    return found[0] if found else ""


def listed(reference: Reference) -> ListedReference:
    """Return a reference prepared for search."""
    text = (
        reference.key,
        reference.title,
        *reference.authors,
        reference.year,
        reference.venue,
        reference.doi,
    )
    return ListedReference(reference, folded(" ".join(text)), folded(reference.title))


def search_references(all_of: Sequence[ListedReference], query: str) -> list[Reference]:
    """Return the references that have all words of a query, best first; all by key without one."""
    typed = query.strip().casefold().removeprefix("@")
    words = folded(query).split()
    if not words:
        chosen = sorted(all_of, key=lambda item: item.reference.key.casefold())
        return [item.reference for item in chosen]
    scored: list[tuple[int, str, Reference]] = []
    for item in all_of:
        key = item.reference.key.casefold()
        if key.startswith(typed):
            rank = 0 if key == typed else 1
        elif all(word in item.words for word in words):
            rank = _rank(item, words)
        else:
            continue
        scored.append((rank, key, item.reference))
    scored.sort(key=lambda found: found[:2])
    return [reference for _, _, reference in scored]


def find_duplicate(
    all_of: Iterable[ListedReference], doi: str, title: str, year: str
) -> Reference | None:
    """Return the reference that is the same work: by its DOI, else by title and year."""
    wanted, title_key = normalized_doi(doi), folded(title)
    by_title: Reference | None = None
    for item in all_of:
        reference = item.reference
        their_doi = normalized_doi(reference.doi)
        if wanted and their_doi == wanted:
            return reference
        if by_title is None and not (wanted and their_doi):
            same = bool(title_key) and item.title_key == title_key and reference.year == year
            by_title = reference if same else None
    return by_title


def _rank(item: ListedReference, words: Sequence[str]) -> int:
    whole = item.words.split()
    if all(word in whole for word in words):
        return 2 if all(word in item.title_key for word in words) else 3
    return 4 if any(name.startswith(words[0]) for name in whole) else 5


def _pdf(path: str, value: str, files: Collection[str]) -> str:
    """Return the PDF that a field ``file`` names, if it is one of the workspace's.

    JabRef writes ``:paper.pdf:PDF``, Zotero ``Full Text:files/1/paper.pdf:application/pdf``.
    """
    folder = posixpath.dirname(path)
    for match in _PDF.finditer(decoded_address(value)) if files else ():
        name = match[0].strip().replace("\\", "/")
        for candidate in (posixpath.normpath(posixpath.join(folder, name)), name):
            if candidate in files:
                return candidate
    return ""
