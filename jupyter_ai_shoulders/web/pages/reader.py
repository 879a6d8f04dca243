"""Fetches pages for the agent and turns them into text or a picture.

Made by ``host``, used by the tool ``fetch_url``. Whatever parses foreign bytes runs in a process
with limits. Pages are kept for the conversation, so that a second look does not connect again.
"""

from __future__ import annotations

import asyncio
import codecs
import json
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from pydantic import BaseModel, ValidationError

from jupyter_ai_shoulders.core.errors import (
    Conflict,
    InvalidRequest,
    NotFound,
    PolicyRefusal,
    ShouldersError,
    TooLarge,
)
from jupyter_ai_shoulders.guard.images import EncodedImage, fit_image
from jupyter_ai_shoulders.guard.process.worker_process import WorkerResult, run_worker
from jupyter_ai_shoulders.wire.errors import ErrorCode
from jupyter_ai_shoulders.wire.ids import SessionId

SECONDS = 20.0
AT_ONCE = 2
WORKER = "jupyter_ai_shoulders.web.pages.worker"
MOST_PAGES = 200
MOST_CHARACTERS = 20_000_000
"""Of all pages that are kept."""
_TITLE_LENGTH = 300
_log = logging.getLogger(__name__)

Helper = Callable[[str, tuple[str, ...], bytes, float], WorkerResult]


class Fetched(Protocol):
    """The answer of a page; header names in lower case."""

    @property
    def url(self) -> str: ...
    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def content(self) -> bytes: ...


class PageSource(Protocol):
    """Gets public pages; implemented by ``guard.network.fetch.FetchGuard``."""

    async def check(self, url: str) -> str:
        """Return the host of a URL that may be fetched. Raises what ``fetch`` raises."""
        ...

    async def fetch(self, url: str) -> Fetched:
        """Get a page.

        Raises ``InvalidRequest``, ``PolicyRefusal``, ``TooLarge``, ``NotFound``, ``Conflict``.
        """
        ...


@dataclass(frozen=True, slots=True)
class Page:
    """A page as the agent reads it: text, or a picture."""

    url: str
    """After redirects."""
    media_type: str
    text: str = ""
    title: str | None = None
    date: str | None = None
    picture: EncodedImage | None = None
    from_cache: bool = False


class _WorkerAnswer(BaseModel):
    text: str | None = None
    title: str | None = None
    date: str | None = None
    code: ErrorCode = "invalid_request"
    message: str = ""
    hint: str | None = None


class PageReader:
    """Reads pages; each conversation has its own copies."""

    def __init__(
        self, source: PageSource, helper: Helper = run_worker, seconds: float = SECONDS
    ) -> None:
        self._source = source
        self._helper = helper
        self._seconds = seconds
        self._free = asyncio.Semaphore(AT_ONCE)
        self._kept: OrderedDict[tuple[SessionId, str], Page] = OrderedDict()

    async def check(self, url: str) -> str:
        """Return the host of a URL that may be fetched. Raises what ``PageSource.check`` raises."""
        return await self._source.check(url)

    async def read(self, session_id: SessionId, url: str) -> Page:
        """Return a page.

        Raises what ``PageSource.fetch`` raises, ``NotFound`` and ``Conflict`` for an answer that is
        an error, ``InvalidRequest`` for what cannot be read.
        """
        key = (session_id, url.partition("#")[0])
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
            return replace(kept, from_cache=True)
        fetched = await self._source.fetch(url)
        _check_status(fetched)
        page = await self._page(fetched)
        self._keep(key, page)
        return page

    def _keep(self, key: tuple[SessionId, str], page: Page) -> None:
        self._kept[key] = page
        size = sum(_size(each) for each in self._kept.values())
        while len(self._kept) > MOST_PAGES or (size > MOST_CHARACTERS and len(self._kept) > 1):
            _, dropped = self._kept.popitem(last=False)
            size -= _size(dropped)

    async def _page(self, fetched: Fetched) -> Page:
        media_type = media_type_of(fetched)
        page = Page(url=fetched.url, media_type=media_type)
        if media_type.startswith("image/") and media_type != "image/svg+xml":
            try:
                picture = await asyncio.to_thread(fit_image, fetched.content)
            except ShouldersError as error:
                raise _unreadable(fetched, type(error), f"{error}") from error
            return replace(page, picture=picture)
        if media_type in {"text/html", "application/xhtml+xml"}:
            return await self._extracted(page, fetched, "html")
        if media_type == "application/pdf":
            return await self._extracted(page, fetched, "pdf")
        text = await asyncio.to_thread(decode_text, fetched.content, charset_of(fetched))
        if text is None:
            raise _unreadable(fetched, InvalidRequest, f"it is {media_type}, not text")
        return replace(page, text=text)

    async def _extracted(self, page: Page, fetched: Fetched, kind: str) -> Page:
        arguments = (kind, charset_of(fetched) or "")
        async with self._free:
            done = await asyncio.to_thread(
                self._helper, WORKER, arguments, fetched.content, self._seconds
            )
        answer = _answer(fetched, done)
        title = " ".join((answer.title or "").split())[:_TITLE_LENGTH] or None
        return replace(page, text=answer.text or "", title=title, date=answer.date)


def media_type_of(fetched: Fetched) -> str:
    """Return the media type, found in the content where the header has none or a vague one."""
    stated = fetched.headers.get("content-type", "").partition(";")[0].strip().lower()
    start = fetched.content[:1024].lstrip().lower()
    if start.startswith(b"%pdf-"):
        return "application/pdf"
    if stated in {"", "application/octet-stream", "binary/octet-stream"}:
        return "text/html" if start.startswith((b"<!doctype html", b"<html")) else "text/plain"
    return stated


def charset_of(fetched: Fetched) -> str | None:
    """Return the charset of the header, if Python knows it."""
    for part in fetched.headers.get("content-type", "").split(";")[1:]:
        name, _, value = part.strip().partition("=")
        if name.strip().lower() == "charset":
            try:
                return codecs.lookup(value.strip().strip("\"'")).name
            except (LookupError, ValueError):
                return None
    return None


def decode_text(content: bytes, charset: str | None) -> str | None:
    """Return a text; None for binary content. Characters that cannot be read are replaced."""
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if content.startswith(mark):
            return content.decode(name, "replace")
    if charset is not None:
        try:
            return _text_only(content.decode(charset))
        except (LookupError, UnicodeError):  # wrong, or a codec that is not one of texts
            pass
    try:
        return _text_only(content.decode("utf-8"))
    except UnicodeDecodeError:
        return None if b"\0" in content else content.decode("cp1252", "replace")


def _text_only(text: str) -> str | None:
    return None if "\0" in text else text


def _check_status(fetched: Fetched) -> None:
    status = fetched.status
    if 200 <= status < 300:
        return
    said = f"{_short(fetched.url)} answered with status {status}"
    if status in {404, 410}:
        raise NotFound(f"{said}: there is no such page.", hint="Check the address, or search.")
    if status in {401, 402, 403, 407, 451}:
        raise PolicyRefusal(
            f"{said}: it does not show this page to programs.",
            code="forbidden",
            hint="Use another source, or ask the user for the text.",
        )
    raise Conflict(
        f"{said}.",
        code="rate_limited" if status == 429 else "conflict",
        hint="Try again later, or use another source.",
        retryable=status == 429 or status >= 500,
    )


def _answer(fetched: Fetched, done: WorkerResult) -> _WorkerAnswer:
    """Return the worker's answer, or raise its error."""
    if done.status != 0:
        _log.info("Reading a page ended with status %s: %s", done.status, done.stderr_tail)
        raise _unreadable(fetched, TooLarge, "reading it takes too much time or memory")
    try:
        answer = _WorkerAnswer.model_validate(json.loads(done.output))
    except (ValidationError, ValueError) as error:
        raise _unreadable(fetched, InvalidRequest, "its reader gave no answer") from error
    if answer.text is None:
        if answer.code == "disabled":
            raise PolicyRefusal(
                f"{_short(fetched.url)} cannot be read: {answer.message}.",
                code="disabled",
                hint=answer.hint,
            )
        kind = TooLarge if answer.code == "too_large" else InvalidRequest
        raise _unreadable(fetched, kind, answer.message)
    return answer


def _unreadable(fetched: Fetched, kind: type[ShouldersError], reason: str) -> ShouldersError:
    made = kind if kind in {TooLarge, InvalidRequest} else InvalidRequest
    return made(
        f"{_short(fetched.url)} cannot be read: {reason}.",
        hint="Use another source, or ask the user for the text.",
    )


def _size(page: Page) -> int:
    return len(page.text) + (len(page.picture.content) if page.picture else 0)


def _short(url: str) -> str:
    return url if len(url) <= 200 else f"{url[:200]}…"
