"""What the server and the worker process of citation styles say to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict


@dataclass(frozen=True, slots=True)
class CitedWork:
    """A work of a bibliography."""

    key: str
    type: str
    """The BibTeX type in lower case."""
    fields: dict[str, str]
    """Values as they are in the file, with LaTeX commands but without outer braces."""


class WorkRequest(TypedDict):
    """A work in a request."""

    key: str
    type: str
    fields: dict[str, str]


class FormatRequest(TypedDict):
    """One document to render."""

    style: str
    """The text of the style."""
    locale: str
    works: list[WorkRequest]
    clusters: list[list[str]]
    """Keys; those without a work are left out."""


class EntryAnswer(TypedDict):
    """An entry of the bibliography."""

    key: str
    html: str
    markdown: str
    text: str


class FormatAnswer(TypedDict):
    """The rendered document, or why there is none."""

    citations: list[str]
    entries: list[EntryAnswer]
    error: str
    """Why the style cannot be used; empty if it can."""
