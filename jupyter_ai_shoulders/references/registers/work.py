"""A work as a register describes it, in plain text, and the cleaning of what registers send. Pure.

Registers send HTML, JATS and entities in titles; a work here has none.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from jupyter_ai_shoulders.references.names import PersonName
from jupyter_ai_shoulders.references.reference_list import folded

_TAG = re.compile(r"<(/?)([a-zA-Z][\w:-]{0,40})(?:\s[^<>]{0,500})?/?>")
_DROPPED = re.compile(
    r"<(mml:annotation|annotation|script|style)\b[^>]{0,500}>.*?</\1>", re.DOTALL | re.IGNORECASE
)
_BLOCKS = frozenset({"p", "jats:p", "br", "jats:title", "title", "jats:sec", "div", "li"})
TEXT_LIMIT = 4_000
"""Longest text of a field in characters."""
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@dataclass(frozen=True, slots=True)
class WorkNotice:
    """A retraction or correction of a work."""

    kind: Literal["retracted", "corrected"]
    doi: str
    label: str


@dataclass(frozen=True, slots=True)
class RegisterWork:
    """What is known about a work; empty fields are not known."""

    source: str
    """The register, such as ``Crossref``."""
    type: str
    """A type of BibTeX."""
    title: str
    authors: tuple[PersonName, ...] = ()
    editors: tuple[PersonName, ...] = ()
    year: str = ""
    month: int | None = None
    doi: str = ""
    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    """Other fields of BibTeX, in plain text."""
    notices: tuple[WorkNotice, ...] = ()


def clean_text(text: object) -> str:
    """Return a register's text without tags and entities, on one line."""
    if not isinstance(text, str):
        return ""
    text = _DROPPED.sub("", text[: 4 * TEXT_LIMIT])
    text = _TAG.sub(lambda tag: " " if tag[2].lower() in _BLOCKS else "", text)
    for _ in range(2):  # some registers escape twice
        text = html.unescape(text)
    text = _TAG.sub("", text)
    return " ".join("".join(sign for sign in text if sign.isprintable() or sign.isspace()).split())[
        :TEXT_LIMIT
    ]


def same_title(one: str, other: str) -> bool:
    """Return whether two titles are of the same work: equal, or one is the other with a subtitle.

    Case, accents and punctuation do not count.
    """
    first, second = folded(clean_text(one)), folded(clean_text(other))
    if not first or not second:
        return False
    if first == second:
        return True
    short, long = sorted((first, second), key=len)
    return len(short.split()) >= 3 and long.startswith(f"{short} ")


def title_is_in(title: str, text: str) -> bool:
    """Return whether a text has a title, hyphens and line ends aside."""
    wanted = folded(clean_text(title)).replace(" ", "")
    return len(wanted) >= 8 and wanted in folded(text).replace(" ", "")


def names_match(family: str, text: str) -> bool:
    """Return whether a family name is among the words of a text."""
    words = folded(family).split()
    return bool(words) and f" {' '.join(words)} " in f" {folded(text)} "
