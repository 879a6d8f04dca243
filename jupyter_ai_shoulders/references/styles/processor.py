"""Renders citations and their bibliography with a CSL style, by citeproc-py.

Called by ``references.styles.worker`` in its own process. Adds what citeproc-py does not do:
letters after years that would be ambiguous, initials of authors with the same family name,
numbers as ranges, points within quotation marks.
"""

# citeproc-py has no types, so most values of this module are unknown to the type checker.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false

from __future__ import annotations

import copy
import warnings
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from citeproc import Citation, CitationItem, CitationStylesBibliography, formatter
from citeproc.source.json import CiteProcJSON

from jupyter_ai_shoulders.references.styles.bibtex_text import restore_characters
from jupyter_ai_shoulders.references.styles.citeproc_elements import CorrectedStyle
from jupyter_ai_shoulders.references.styles.csl_items import CslItem
from jupyter_ai_shoulders.references.styles.typography import (
    polish,
    space_after_number,
    with_year_suffix,
)

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Rendered:
    """Citations in the order of the request, and entries in the order of the style, as HTML."""

    citations: tuple[str, ...]
    entries: tuple[tuple[str, str], ...]
    """Pairs of the item's id and its text."""
    has_bibliography: bool


class Processor:
    """A style with a locale; renders one document at a time. Ids of items are in lower case."""

    def __init__(self, style: bytes, locale: str) -> None:
        """Read the style. Raises ``ValueError`` and lxml's ``XMLSyntaxError``."""
        self._style = CorrectedStyle(style, locale)
        citation = self._style.root.citation
        if citation is None:
            raise ValueError("it has no part for citations")
        self._adds_suffixes = citation.get("disambiguate-add-year-suffix") == "true"
        self._adds_given_names = citation.get("disambiguate-add-givenname") == "true"
        self._shows_suffixes = b'"year-suffix"' in style
        in_quotes = self._style.root.get_locale_option("punctuation-in-quote")
        self._in_quotes = str(in_quotes).lower() == "true"

    def render(self, items: Sequence[CslItem], clusters: Sequence[Sequence[str]]) -> Rendered:
        """Render clusters of ids; ids without an item are left out, and so are empty clusters."""
        known = {item["id"] for item in items}
        cited = [[key for key in cluster if key in known] for cluster in clusters]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of variables that citeproc-py does not know
            numbers = self._order(items, cited)
            suffixes = self._suffixes(items, cited, numbers) if self._adds_suffixes else {}
            marked = [_with_suffix(item, suffixes) for item in items]
            order = self._order(marked, cited) if suffixes else numbers
            bibliography = self._bibliography(marked, order)
            entries = tuple(self._entries(bibliography, suffixes))
            in_text = self._bibliography(self._short_names(marked), order)
            citations = tuple(self._citations(in_text, cited, suffixes))
        return Rendered(
            tuple(restore_characters(text) for text in citations),
            tuple((key, restore_characters(text)) for key, text in entries),
            self._style.has_bibliography(),
        )

    def _bibliography(self, items: Sequence[CslItem], order: Sequence[str]) -> Any:
        """Return a bibliography of the works in this order."""
        source = CiteProcJSON(copy.deepcopy(list(items)))
        bibliography = CitationStylesBibliography(self._style, source, formatter.html)
        bibliography.register(Citation([CitationItem(key) for key in order]))
        return bibliography

    def _order(self, items: Sequence[CslItem], clusters: Sequence[Sequence[str]]) -> list[str]:
        """Return the works in the order of the style: as first cited, or sorted."""
        first = list(dict.fromkeys(key for cluster in clusters for key in cluster))
        bibliography = self._bibliography(items, first)
        if self._style.has_bibliography():
            bibliography.sort()
        return list(bibliography.keys)

    def _entries(self, bibliography: Any, suffixes: Mapping[str, str]) -> list[tuple[str, str]]:
        if not self._style.has_bibliography():
            return []
        rows: list[tuple[str, str]] = []
        layout = self._style.root.bibliography.layout
        aligned = self._style.root.bibliography.get("second-field-align")
        for item in bibliography.items:
            [text] = layout.render_bibliography([item]) or [""]
            html = polish(str(text), punctuation_in_quotes=self._in_quotes)
            html = space_after_number(html) if aligned else html
            rows.append((item.key, self._suffixed(html, item.key, bibliography, suffixes)))
        return rows

    def _citations(
        self, bibliography: Any, clusters: Sequence[Sequence[str]], suffixes: Mapping[str, str]
    ) -> list[str]:
        texts: list[str] = []
        for cluster in clusters:
            citation = Citation([CitationItem(key) for key in dict.fromkeys(cluster)])
            citation.bibliography = bibliography
            text = bibliography.cite(citation, _nothing) if cluster else ""
            html = polish(str(text), punctuation_in_quotes=self._in_quotes)
            for key in cluster:
                html = self._suffixed(html, key, bibliography, suffixes)
            texts.append(html)
        return texts

    def _suffixed(self, html: str, key: str, bibliography: Any, suffixes: Mapping[str, str]) -> str:
        """Add the letter where the style does not say itself where it belongs."""
        if self._shows_suffixes or key not in suffixes:
            return html
        issued = bibliography.source[key].get("issued")
        year = str(issued.get("year", "")) if issued is not None else ""
        return with_year_suffix(html, year, suffixes[key]) if year else html

    def _suffixes(
        self,
        items: Sequence[CslItem],
        clusters: Sequence[Sequence[str]],
        order: Sequence[str],
    ) -> dict[str, str]:
        """Return letters for works whose citations would read the same, in the style's order."""
        bibliography = self._bibliography(self._short_names(items), order)
        cited = {key for cluster in clusters for key in cluster}
        same: dict[str, list[str]] = defaultdict(list)
        for key in order:
            if key in cited:
                [text] = self._citations(bibliography, [[key]], {})
                same[text].append(key)
        return {
            key: _letter(number)
            for keys in same.values()
            if len(keys) > 1
            for number, key in enumerate(keys)
        }

    def _short_names(self, items: Sequence[CslItem]) -> list[CslItem]:
        """Return the works with initials for first authors who share a family name."""
        if not self._adds_given_names:
            return list(items)
        given: dict[str, set[str]] = defaultdict(set)
        for item in items:
            if name := _first_author(item):
                given[name["family"]].add(name.get("given", ""))
        return [
            _with_initials(item)
            if (name := _first_author(item)) and len(given[name["family"]]) > 1
            else item
            for item in items
        ]


def _nothing(_item: object) -> str:
    """Return what a citation shows for an unknown work."""
    return ""


def _letter(number: int) -> str:
    """Return ``a`` to ``z``, then ``aa``, ``ab`` and so on."""
    rest, last = divmod(number, len(_LETTERS))
    return (_letter(rest - 1) if rest else "") + _LETTERS[last]


def _with_suffix(item: CslItem, suffixes: Mapping[str, str]) -> CslItem:
    return {**item, "year-suffix": suffixes[item["id"]]} if item["id"] in suffixes else item


def _first_author(item: CslItem) -> dict[str, str] | None:
    authors: list[dict[str, str]] = item.get("author") or [{}]
    return authors[0] if authors[0].get("family") else None


def _with_initials(item: CslItem) -> CslItem:
    first, *others = item["author"]
    parts = [part[0] + "." for part in first.get("given", "").replace(".", " ").split()]
    family = " ".join([*parts, first.get("non-dropping-particle", ""), first["family"]])
    return {**item, "author": [{"family": " ".join(family.split())}, *others]}
