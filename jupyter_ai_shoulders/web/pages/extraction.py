"""Turns HTML into Markdown and PDF into text, with the readers of the extra ``docs``.

Run by ``web.pages.worker`` in a process with limits. Raises ``InvalidRequest``, ``PolicyRefusal``
(``disabled``: the reader is not installed); the worker translates a reader's own errors.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal

PAGES = 200
"""Pages of a PDF that are read."""
MOST_CHARACTERS = 2_000_000
LONGEST_ARTICLE = 1_500_000
"""Bytes of HTML from which Markdown is made; the search for the article takes seconds above."""
_LARGE = "[The page is very large, so it is shown as text without formatting.]"
_UNREAD = ("script", "style", "noscript", "template", "svg", "head")


@dataclass(frozen=True, slots=True)
class ExtractedText:
    """The text of a page, with what it says about itself."""

    text: str
    title: str | None = None
    date: str | None = None
    """ISO 8601, as the page states it."""


def extract_html(content: bytes, charset: str | None) -> ExtractedText:
    """Return the main text of a page as Markdown: headings, links, code and tables kept.

    ``charset`` is that of the answer's header; without one the page's own statement is used.
    """
    try:
        import trafilatura
    except ImportError as error:
        raise _missing("trafilatura") from error
    page = _decoded(content, charset)
    if len(content) > LONGEST_ARTICLE:
        return ExtractedText(f"{_LARGE}\n\n{_plain(page)}"[:MOST_CHARACTERS])
    tree = trafilatura.load_html(page)
    if tree is None:
        return _fragment(page)
    meta = trafilatura.extract_metadata(tree)
    text = trafilatura.extract(
        tree,
        output_format="markdown",
        include_tables=True,
        include_links=True,
        include_formatting=True,
        include_comments=False,
        favor_recall=True,
    )
    if not text or len(text) < 80:
        text = _plain(page) or text or ""
    return ExtractedText(
        text=text[:MOST_CHARACTERS],
        title=(meta.title or None) if meta else None,
        date=(meta.date or None) if meta else None,
    )


def _decoded(content: bytes, charset: str | None) -> str | bytes:
    """Return the text in the stated charset; the bytes where there is none or it is wrong."""
    try:
        return content if charset is None else content.decode(charset)
    except (LookupError, UnicodeError):
        return content


def extract_pdf(content: bytes, charset: str | None = None) -> ExtractedText:
    """Return the text of a PDF, page by page."""
    del charset
    try:
        import pypdf
    except ImportError as error:
        raise _missing("pypdf") from error
    reader = pypdf.PdfReader(io.BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(""):
        raise InvalidRequest("it is protected by a password")
    count = len(reader.pages)
    parts: list[str] = []
    length = 0
    for number in range(1, min(count, PAGES) + 1):
        text = reader.pages[number - 1].extract_text().strip()
        parts.append(f"[page {number} of {count}]\n{text}")
        length += len(text)
        if length > MOST_CHARACTERS:
            break
    if count > len(parts):
        parts.append(f"[{count - len(parts)} more pages are not shown]")
    if length == 0:
        return ExtractedText(f"{count} pages without any text; they may be scanned pictures.")
    title = reader.metadata.title if reader.metadata else None
    return ExtractedText("\n\n".join(parts)[:MOST_CHARACTERS], title=title or None)


def _fragment(page: str | bytes) -> ExtractedText:
    """Return the text of HTML that is no whole document. Raises ``InvalidRequest``."""
    is_text = "\0" not in page if isinstance(page, str) else b"\0" not in page
    text = _plain(page) if is_text and page.strip() else ""
    if not text:
        raise InvalidRequest("it has no readable HTML")
    return ExtractedText(text[:MOST_CHARACTERS])


def _plain(page: str | bytes) -> str:
    """Return all text of a page that has no article, such as a list of links."""
    import lxml.etree
    import lxml.html

    # lxml comes without types
    etree, html = cast("Any", lxml.etree), cast("Any", lxml.html)
    tree = html.fromstring(page)
    etree.strip_elements(tree, *_UNREAD, with_tail=False)
    texts = cast("Iterator[str]", tree.itertext())
    lines = (" ".join(text.split()) for text in texts)
    return "\n".join(line for line in lines if line)


def _missing(package: str) -> PolicyRefusal:
    return PolicyRefusal(
        f"reading it needs the package {package}, which is not installed",
        code="disabled",
        hint="Ask the user to install it: pip install 'jupyter-ai-shoulders[docs]'.",
    )
