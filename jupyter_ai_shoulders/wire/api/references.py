"""References: bibliography files, adding and citing works, formatting them, and checking them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.base import CommandModel, WireModel
from jupyter_ai_shoulders.wire.ids import CellId

REFERENCE_QUERY_LIMIT = 500
"""Maximum characters of a query."""
REFERENCE_RESULT_LIMIT = 200
"""Maximum number of references in an answer."""

CitationSyntax = Literal["myst", "pandoc", "latex"]
CitationKey = Annotated[str, Field(min_length=1, max_length=256)]


class Reference(WireModel):
    """A work in a bibliography."""

    key: str
    type: str
    """The BibTeX type in lower case, such as ``article``."""
    file: str
    """The path of the bibliography; empty for Zotero."""
    line: int | None
    """The first line of its entry, from 1."""
    title: str
    authors: tuple[str, ...]
    """Names as people read them: ``Ada Lovelace``."""
    year: str
    venue: str
    """Journal, book, conference, publisher or school."""
    doi: str
    url: str
    pdf: str
    """Path of a PDF in the workspace; empty if there is none."""
    unverified: str
    """Why no register confirms it; empty for entries that are not marked."""
    is_duplicate: bool
    """Whether an earlier entry has the same key."""


class BibliographyFile(WireModel):
    """A ``.bib`` file of the workspace."""

    path: str
    is_main: bool
    """Whether new references are added to it."""
    entries: int


class BibliographyProblem(WireModel):
    """A broken entry; it is kept as it is."""

    file: str
    line: int
    message: str


class ZoteroStatus(WireModel):
    """The Zotero of this machine."""

    running: bool
    items: int
    problem: str
    """Why its library is not listed; empty if it is, or if Zotero does not run."""


class ReferenceQuery(CommandModel):
    """Query arguments of ``GET references``."""

    q: str = Field(default="", max_length=REFERENCE_QUERY_LIMIT)
    """Words or the beginning of a key; empty lists everything."""
    limit: int = Field(default=50, ge=1, le=REFERENCE_RESULT_LIMIT)
    offset: int = Field(default=0, ge=0)


class ReferenceList(WireModel):
    """``GET references``: best first, or by key where nothing is searched for."""

    references: tuple[Reference, ...]
    total: int
    files: tuple[BibliographyFile, ...]
    problems: tuple[BibliographyProblem, ...]
    zotero: ZoteroStatus
    add_to: str
    """The file that new references go to; it may not exist yet."""
    syntax: CitationSyntax
    """How documents without citations cite, by the settings."""


class ReferenceKeyQuery(CommandModel):
    """Query arguments of ``GET references/entry``."""

    key: CitationKey


class ReferenceEntry(WireModel):
    """``GET references/entry``: a reference with its fields."""

    reference: Reference
    fields: dict[str, str]
    """Plain values by lower-case name, without braces and LaTeX commands."""
    bibtex: str
    """The entry as it is in the file."""


class PostReference(CommandModel):
    """``POST references``: add a work by exactly one of these."""

    doi: str | None = Field(default=None, min_length=1, max_length=1_000)
    arxiv: str | None = Field(default=None, min_length=1, max_length=200)
    isbn: str | None = Field(default=None, min_length=1, max_length=200)
    url: str | None = Field(default=None, min_length=1, max_length=4_000)
    bibtex: str | None = Field(default=None, min_length=1, max_length=100_000)
    text: str | None = Field(default=None, min_length=1, max_length=10_000)
    """An entry of a reference list, in words."""
    file: str | None = Field(default=None, min_length=1, max_length=4_096)
    """A PDF of the workspace."""
    query: str | None = Field(default=None, min_length=1, max_length=4_000)
    """Any of the above, as typed or pasted; the server tells which it is."""


class AddedReference(WireModel):
    """``POST references``: what was added or found."""

    reference: Reference | None
    """None: nothing was added, ``reason`` says why."""
    status: Literal["added", "duplicate", "not_added"]
    reason: str
    """Why nothing was added, why the entry is unverified, or what is missing; may be empty."""
    source: str
    """The register or file the data are from, such as ``Crossref``."""


class PutReferenceFields(CommandModel):
    """``POST references/edit``: change fields of an entry; null removes a field."""

    key: CitationKey
    file: str | None = Field(default=None, max_length=4_096)
    """Which bibliography, where several have the key; none: the first."""
    fields: dict[Annotated[str, Field(min_length=1, max_length=64)], str | None] = Field(
        max_length=100
    )


class DeleteReference(CommandModel):
    """``POST references/delete``: remove an entry."""

    key: CitationKey
    file: str = Field(max_length=4_096)


class PostCitation(CommandModel):
    """``POST references/citation``: the text that cites works in a document."""

    keys: tuple[CitationKey, ...] = Field(min_length=1, max_length=50)
    text: str = Field(default="", max_length=2_000_000)
    """The document's Markdown, which shows the syntax it uses."""


class CitationText(WireModel):
    """``POST references/citation``."""

    text: str
    syntax: CitationSyntax


class CitationStyle(WireModel):
    """A style of the Citation Style Language."""

    id: str
    """Name of a shipped style, or the path of a ``.csl`` file of the workspace."""
    title: str
    kind: Literal["author-date", "numeric", "note", "other"]


class CitationStyleList(WireModel):
    """``GET references/styles``."""

    styles: tuple[CitationStyle, ...]
    default: str


class PostFormat(CommandModel):
    """``POST references/format``: render citations and their bibliography.

    ``clusters`` are the citations of a document in order; each has the keys it names together.
    """

    clusters: tuple[Annotated[tuple[CitationKey, ...], Field(max_length=50)], ...] = Field(
        max_length=2_000
    )
    style: str = Field(default="", max_length=4_096)
    """Empty: the default."""
    locale: str = Field(default="en-US", max_length=35)


class FormattedEntry(WireModel):
    """An entry of a formatted bibliography."""

    key: str
    html: str
    """With ``i``, ``b``, ``sup``, ``sub``, ``span`` and ``a`` only."""
    markdown: str
    text: str


class FormattedCitations(WireModel):
    """``POST references/format``."""

    citations: tuple[str, ...]
    """Plain text of each cluster, in the order of the request."""
    entries: tuple[FormattedEntry, ...]
    """The bibliography, in the order of the style."""
    unknown: tuple[str, ...]
    """Keys that no bibliography has."""
    markdown: str
    """The whole bibliography as the text of a Markdown cell."""
    problem: str
    """What the style needs that could not be shown; may be empty."""


class PostReferenceCheck(CommandModel):
    """``POST references/check``."""

    path: str | None = Field(default=None, max_length=4_096)
    """A document; none: all documents of the workspace that cite."""
    online: bool = True
    """Whether registers are asked for dead DOIs and retractions."""


ReferenceFindingKind = Literal[
    "missing",
    "uncited",
    "duplicate",
    "missing_field",
    "dead_doi",
    "retracted",
    "corrected",
    "unverified",
    "broken_entry",
]


class ReferenceFinding(WireModel):
    """A problem that a check found."""

    kind: ReferenceFindingKind
    key: str
    message: str
    """What is wrong and what to do."""
    path: str
    """The document or bibliography it is in."""
    cell_id: CellId | None
    line: int | None
    url: str
    """Where a retraction or correction is published; may be empty."""


class ReferenceCheck(WireModel):
    """``POST references/check``: problems, the most serious first."""

    findings: tuple[ReferenceFinding, ...]
    documents: int
    references: int
    not_checked: str
    """What could not be checked and why; empty if everything was."""
