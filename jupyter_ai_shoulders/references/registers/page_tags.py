"""Reads the citation tags of a publisher's page. Pure; blocks, and is bounded by its limits.

Tags: https://scholar.google.com/intl/en/scholar/inclusion.html#indexing (``citation_*``), Dublin
Core (``DC.*``) and Open Graph (``og:*``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from html.parser import HTMLParser
from urllib.parse import urlsplit

from jupyter_ai_shoulders.references.names import name_from_text
from jupyter_ai_shoulders.references.registers.work import RegisterWork, clean_text

CHARACTER_LIMIT = 1 << 20
"""Characters of a page that are read; the tags are in its head."""
TAG_LIMIT = 2_000
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_CHARSET = re.compile(rb"charset\s*=\s*[\"']?([\w-]{1,40})", re.IGNORECASE)

Tags = Mapping[str, tuple[str, ...]]


def page_tags(content: bytes, content_type: str = "") -> Tags:
    """Return the values of a page's ``meta`` tags by lower-case name; ``title`` is its title."""
    declared = _CHARSET.search(content_type.encode()) or _CHARSET.search(content[:4_096])
    encoding = declared[1].decode("ascii", "replace") if declared else "utf-8"
    try:
        page = content.decode(encoding, "replace")
    except LookupError:
        page = content.decode("utf-8", "replace")
    parser = _TagParser()
    parser.feed(page[:CHARACTER_LIMIT])
    tags = {name: tuple(values) for name, values in parser.tags.items()}
    title = clean_text("".join(parser.title))
    return tags | ({"title": (title,)} if title else {})


def work_of_tags(tags: Tags, url: str) -> RegisterWork | None:
    """Return what a page says about its work; None without a title."""
    title = _first(tags, "citation_title", "dc.title", "og:title", "title")
    if not title:
        return None
    names = tags.get("citation_author") or tags.get("dc.creator") or ()
    journal = _first(tags, "citation_journal_title")
    conference = _first(tags, "citation_conference_title", "citation_inbook_title")
    kind = "article" if journal else "inproceedings" if conference else "misc"
    date = _first(
        tags, "citation_publication_date", "citation_date", "dc.date", "article:published_time"
    )
    year = _YEAR.search(date)
    first_page = _first(tags, "citation_firstpage")
    last_page = _first(tags, "citation_lastpage")
    fields = {
        "journal": journal,
        "booktitle": conference,
        "volume": _first(tags, "citation_volume"),
        "number": _first(tags, "citation_issue"),
        "pages": "--".join(filter(None, (first_page, last_page))),
        "publisher": _first(tags, "citation_publisher", "dc.publisher"),
        "howpublished": _first(tags, "og:site_name") if kind == "misc" else "",
        "isbn": _first(tags, "citation_isbn"),
        "url": url,
    }
    return RegisterWork(
        source=urlsplit(url).hostname or "the page",
        type=kind,
        title=title,
        authors=tuple(name_from_text(clean_text(name)) for name in names if clean_text(name)),
        year=year[0] if year else "",
        doi=_first(tags, "citation_doi"),
        fields={name: value for name, value in fields.items() if value},
    )


def identifiers_of_tags(tags: Tags) -> tuple[str, str, str]:
    """Return the DOI, arXiv id and ISBN that a page names, each possibly empty."""
    doi = _first(tags, "citation_doi", "dc.identifier.doi", "prism.doi", "bepress_citation_doi")
    if not doi:
        found = [value for value in tags.get("dc.identifier", ()) if "10." in value]
        doi = found[0] if found else ""
    return doi, _first(tags, "citation_arxiv_id"), _first(tags, "citation_isbn")


def _first(tags: Tags, *names: str) -> str:
    for name in names:
        for value in tags.get(name, ()):
            if cleaned := clean_text(value):
                return cleaned
    return ""


class _TagParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: dict[str, list[str]] = defaultdict(list)
        self.title: list[str] = []
        self._in_title = False
        self._count = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title":
            self._in_title = not self.title
        elif tag == "meta" and self._count < TAG_LIMIT:
            values = dict(attrs)
            name = values.get("name") or values.get("property") or ""
            content = values.get("content")
            if name and content:
                self._count += 1
                self.tags[name.strip().lower()].append(content[:4_000])

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False

    def handle_data(self, data: str) -> None:
        if self._in_title and len(self.title) < 20:
            self.title.append(data[:1_000])
