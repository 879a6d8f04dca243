"""Word documents as read-only pages, with their paragraphs, comments and tracked changes."""

from __future__ import annotations

from pydantic import Field

from jupyter_ai_shoulders.wire.base import CommandModel, WireModel
from jupyter_ai_shoulders.wire.ids import Version


class WordPageQuery(CommandModel):
    """Query arguments of ``GET word``."""

    path: str = Field(min_length=1, max_length=4_096)


class WordComment(WireModel):
    """A comment of a document."""

    id: str
    author: str
    date: str
    """As in the document; may be empty."""
    text: str
    paragraph: int
    """The paragraph it begins in, from 1."""


class WordParagraph(WireModel):
    """A paragraph, numbered as ``read_file`` and ``edit_document_file`` number them."""

    number: int
    """From 1, in the order of the document, table cells included."""
    style: str
    text: str
    """As it reads with all tracked changes accepted."""
    original: str
    """As it reads with all tracked changes rejected."""
    has_changes: bool


class WordPage(WireModel):
    """``GET word``: a document as a page."""

    path: str
    version: Version
    """SHA-256 of the file."""
    html: str
    """HTML without scripts, styles, event handlers and links to other hosts: headings, paragraphs,
    lists, tables, ``ins``, ``del``, ``b``, ``i``, ``u``, ``sup``, ``sub``, and ``img`` with
    ``data:`` addresses. A paragraph has ``data-paragraph`` with its number, the range of a comment
    ``data-comment`` with its id, an ``ins`` or ``del`` ``data-author`` and ``data-date``. The page
    sanitises it again.
    """
    paragraphs: tuple[WordParagraph, ...]
    comments: tuple[WordComment, ...]
    tracked_changes: int
    """How many insertions, deletions and moves wait for acceptance."""
    truncated: bool
    """Whether the document is longer than what is shown."""
