"""The tool that reads a page of the public web."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from typing import Protocol
from urllib.parse import urlsplit

from pydantic import Field

from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    Target,
    ToolArguments,
    text_content,
)
from jupyter_ai_shoulders.web.pages.reader import Page
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.parts import ImagePart
from jupyter_ai_shoulders.wire.results import ToolEnvelope

LONGEST_URL = 4_096


class FetchUrlArguments(ToolArguments):
    """Arguments of ``fetch_url``."""

    url: str = Field(
        min_length=1, max_length=LONGEST_URL, description="Address with http:// or https://."
    )


class Pages(Protocol):
    """Pages of the web; implemented by ``web.pages.reader.PageReader``."""

    async def check(self, url: str) -> str:
        """Return the host of an address that may be fetched.

        Raises ``InvalidRequest``, ``PolicyRefusal``.
        """
        ...

    async def read(self, session_id: SessionId, url: str) -> Page:
        """Return a page. Raises what fetching and reading raise."""
        ...


class FetchUrl(BaseTool[FetchUrlArguments]):
    """Shows a page as Markdown, a document or data as text, or a picture."""

    name = "fetch_url"
    category = "web"
    risk = "read"
    external = True
    arguments = FetchUrlArguments

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    async def subject(self, args: FetchUrlArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown. Raises ``InvalidRequest``, ``PolicyRefusal``."""
        host = await self._pages.check(args.url)
        return CallSubject(
            title=f"Fetch a page of {host}",
            target_label=args.url,
            target=Target(domain=host),
            preview=args.url,
            preview_is_complete=True,
            address=args.url,
        )

    async def run(
        self, args: FetchUrlArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Fetch it. Raises what ``Pages.read`` raises."""
        page = await self._pages.read(context.session_id, args.url)
        yield _result(args.url, page)


def _result(url: str, page: Page) -> Result:
    host = urlsplit(page.url).hostname or ""
    heading = [f"{page.url} · {page.media_type}"]
    heading += [f"Title: {page.title}"] if page.title else []
    heading += [f"Date: {page.date}"] if page.date else []
    empty = "" if page.text.strip() or page.picture else "The page has no text."
    texts = text_content("\n".join([*heading, "", page.text or empty]).rstrip())
    picture = page.picture
    parts = () if picture is None else (_image(picture.media_type, picture.content),)
    return Result(
        envelope=ToolEnvelope(
            ok=True,
            kind="page",
            data={
                "url": url,
                "final_url": page.url,
                "host": host,
                "title": page.title,
                "date": page.date,
                "media_type": page.media_type,
                "characters": len(page.text),
                "from_cache": page.from_cache,
            },
        ),
        content=(*texts, *parts),
    )


def _image(media_type: str, content: bytes) -> ImagePart:
    return ImagePart(media_type=media_type, data=base64.b64encode(content).decode("ascii"))
