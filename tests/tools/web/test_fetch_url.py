"""``fetch_url``: what it connects to, how pages are shown, and what ends in an error."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import gzip
import io
import struct
import zlib
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace

import pytest

from jupyter_ai_shoulders.core.errors import (
    Conflict,
    InvalidRequest,
    NotFound,
    PolicyRefusal,
    ShouldersError,
    TooLarge,
)
from jupyter_ai_shoulders.guard.network.fetch import FetchGuard, FetchLimits
from jupyter_ai_shoulders.guard.process.worker_process import WorkerResult
from jupyter_ai_shoulders.tools.base import Result
from jupyter_ai_shoulders.tools.web.fetch_url import FetchUrl
from jupyter_ai_shoulders.web.pages.reader import PageReader
from jupyter_ai_shoulders.web.pages.source import PublicPages
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.parts import ImagePart
from tests.guard.network.fake_internet import (
    WebServer,
    answer,
    connections,
    name_server,
    stream_server,
    web_server,
)
from tests.guard.network.test_fetch import (
    EVIL,
    FORBIDDEN_URLS,
    HERE,
    SITE,
    guard,
    redirect,
)
from tests.tools.direct_calls import call, context, subject_of, text_of

Respond = Callable[[bytes], bytes]
LONG = "A sentence that is long enough to be an article. " * 5


class Site:
    """A web server that has a public name, and the tool that reads it."""

    def __init__(self, web: WebServer, tool: FetchUrl) -> None:
        self.web = web
        self.tool = tool

    async def fetch(self, path: str = "/", session: str = "session") -> Result:
        at = replace(context(), session_id=SessionId(session))
        return await call(self.tool, at, url=f"http://{SITE}:{self.web.port}{path}")


@contextlib.asynccontextmanager
async def site(
    respond: bytes | Respond,
    limits: FetchLimits | None = None,
    check_host: Callable[[str], None] = lambda _: None,
) -> AsyncGenerator[Site]:
    """Run a site that answers so."""
    served: Respond = respond if callable(respond) else lambda _: respond
    answers = {**HERE, EVIL: [["127.0.0.2"]]}
    async with web_server(served) as web, name_server(answers) as names:
        pages = PublicPages(check_host, lambda: guard(names, limits))
        yield Site(web, FetchUrl(PageReader(pages)))


def html(body: str | bytes, kind: str = "text/html; charset=utf-8") -> bytes:
    return answer(body.encode() if isinstance(body, str) else body, Content_Type=kind)


# What it connects to


@pytest.mark.parametrize("url", [url for url in FORBIDDEN_URLS if url])
async def test_forbidden_url_is_refused_before_anyone_is_asked(url: str):
    tool = FetchUrl(PageReader(PublicPages()))
    with connections() as seen:
        with pytest.raises((InvalidRequest, PolicyRefusal)):
            await subject_of(tool, url=url)
        with pytest.raises((InvalidRequest, PolicyRefusal)):
            await call(tool, url=url)
    assert seen == []


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["10.1.2.3"], ["169.254.169.254"], ["::1"], ["93.184.216.34", "::1"]],
)
async def test_name_of_an_inner_address_makes_no_connection(addresses: list[str]):
    async def resolve(host: str, port: int) -> Sequence[str]:
        return addresses

    tool = FetchUrl(PageReader(PublicPages(make_guard=lambda: FetchGuard(resolve))))
    with connections() as seen, pytest.raises(PolicyRefusal):
        await call(tool, url=f"https://{EVIL}/")
    assert seen == []


@pytest.mark.parametrize(
    "location",
    [
        *("http://127.0.0.1/", "http://169.254.169.254/", "//[::1]/", f"http://{EVIL}/"),
        *("http://localhost/", "file:///etc/passwd", f"http://user:pw@{SITE}/"),
    ],
)
async def test_redirect_to_an_inner_address_is_not_followed(location: str):
    async with site(redirect(location)) as found:
        with connections() as seen, pytest.raises((PolicyRefusal, InvalidRequest)):
            await found.fetch()
        assert seen == [("127.0.0.1", found.web.port)]


async def test_redirect_to_a_host_that_a_rule_denies_is_not_followed():
    def check(host: str) -> None:
        if host == EVIL:
            raise PolicyRefusal("A rule denies it.")

    async with site(redirect(f"http://{EVIL}/"), check_host=check) as found:
        with pytest.raises(PolicyRefusal, match="rule denies"):
            await found.fetch()


async def test_second_fetch_in_a_conversation_does_not_connect_again():
    async with site(html(f"<p>{LONG}</p>")) as found:
        first, second = await found.fetch("/a"), await found.fetch("/a#part")
        assert text_of(first) == text_of(second)
        assert len(found.web.requests) == 1
        await found.fetch("/a", session="other")
        assert len(found.web.requests) == 2


# What is shown


async def test_page_becomes_markdown_with_title_date_code_and_tables():
    page = f"""<html><head><title>On arrays</title>
    <meta property="article:published_time" content="2024-03-02T10:00:00Z"></head><body>
    <nav><a href="/">Home</a></nav><script>alert(1)</script><article><h1>On arrays</h1>
    <p>{LONG}</p><pre><code>x = [1]
for i in x:
    print(i)</code></pre><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
    </article></body></html>"""
    async with site(html(page)) as found:
        result = await found.fetch("/post")
    text = text_of(result)
    assert "Title: On arrays" in text
    assert "Date: 2024-03-02" in text
    assert "for i in x:\n    print(i)" in text
    assert "| 1 | 2 |" in text
    assert "alert(1)" not in text
    assert result.envelope.kind == "page"
    data = result.envelope.data
    assert isinstance(data, dict)
    assert (data["host"], data["title"], data["date"]) == (SITE, "On arrays", "2024-03-02")


async def test_list_of_links_is_shown_as_text():
    links = "".join(f"<li><a href='/{n}'>Entry {n}</a></li>" for n in range(3))
    async with site(html(f"<html><body><ul>{links}</ul></body></html>")) as found:
        assert "Entry 2" in text_of(await found.fetch())


async def test_json_and_text_are_shown_as_they_are():
    body = b'{"a":  [1, 2]}'
    async with site(answer(body, Content_Type="application/json")) as found:
        assert text_of(await found.fetch()).endswith('{"a":  [1, 2]}')
    async with site(answer(b"a,b\n1,2\n", Content_Type="text/csv")) as found:
        assert text_of(await found.fetch()).endswith("a,b\n1,2")


async def test_picture_is_a_picture():
    rows = zlib.compress(b"\0\xff\0\0" * 1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        crc = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + crc

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    async with site(answer(png, Content_Type="image/png")) as found:
        [picture] = [each for each in (await found.fetch()).content if isinstance(each, ImagePart)]
    assert base64.b64decode(picture.data or "") == png


async def test_pdf_is_shown_page_by_page():
    pypdf = pytest.importorskip("pypdf")
    writer = pypdf.PdfWriter()
    writer.add_blank_page(width=100, height=100)
    made = io.BytesIO()
    writer.write(made)
    async with site(answer(made.getvalue(), Content_Type="application/octet-stream")) as found:
        assert "1 pages without any text" in text_of(await found.fetch())


PAGE = "/Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"


def pdf_of(*pages: str) -> bytes:
    """A PDF with a line of text on each page."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        drawn = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        objects += [
            f"<< /Type /Page {PAGE} /Contents {5 + 2 * number} 0 R >>",
            f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream",
        ]
    body, places = "%PDF-1.4\n", list[int]()
    for number, text in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{text}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return f"{body}xref\n0 {size}\n0000000000 65535 f \n{table}{end}".encode("ascii")


async def test_text_of_a_pdf_is_shown_with_its_pages():
    made = pdf_of("Arrays hold numbers.", "They are fast.")
    async with site(answer(made, Content_Type="application/pdf")) as found:
        result = await found.fetch("/paper.pdf")
    text = text_of(result)
    assert "Arrays hold numbers." in text
    assert text.index("Arrays hold numbers.") < text.index("They are fast.")
    data = result.envelope.data
    assert isinstance(data, dict)
    assert data["media_type"] == "application/pdf"


PUBLISHED = f"""<!DOCTYPE html><html lang="en"><head>
<title>Array programming with NumPy | Nature</title>
<meta name="citation_title" content="Array programming with NumPy">
<meta name="citation_doi" content="10.1038/s41586-020-2649-2">
<meta name="citation_publication_date" content="2020/09/16">
<meta property="article:published_time" content="2020-09-16"></head><body>
<div class="cookies"><p>We use cookies. <button>Accept all</button></p></div>
<header><nav><ul><li><a href="/">Nature</a></li>
<li><a href="/login">Log in</a></li></ul></nav></header>
<main><article><h1>Array programming with NumPy</h1><ul><li>Charles R. Harris</li></ul>
<section><h2>Abstract</h2>
<p>Array programming gives a syntax for data in vectors. {LONG}</p></section>
<section><h2>Main</h2><p>NumPy is the library for arrays in Python
<sup><a href="#ref-1">1</a></sup>. {LONG}</p>
<figure><img src="f1.png"><figcaption>Fig. 1: Indexing and broadcasting.</figcaption></figure>
</section>
<section><h2>References</h2><ol>
<li id="ref-1">Dubois, P. F. Numerical Python. (1996).</li></ol></section>
</article></main><aside><p>Subscribe to this journal</p></aside>
<footer><p>Privacy policy</p></footer></body></html>"""


async def test_page_of_a_publisher_is_its_article():
    async with site(html(PUBLISHED)) as found:
        text = text_of(await found.fetch("/articles/s41586-020-2649-2"))
    assert "Title: Array programming with NumPy" in text
    assert "Date: 2020-09-16" in text
    assert "Array programming gives a syntax" in text
    assert "NumPy is the library for arrays" in text
    assert "Subscribe to this journal" not in text
    assert "Privacy policy" not in text
    assert "Log in" not in text


ENCODED = {
    "stated": ("Grüße aus Köln", "utf-8", "text/html; charset=utf-8"),
    "wrongly stated": ("Grüße aus Köln", "latin-1", "text/html; charset=utf-8"),
    "unknown": ("Grüße aus Köln", "utf-8", "text/html; charset=nonsense"),
    "not one of text": ("Grüße aus Köln", "utf-8", "text/html; charset=zlib"),
    "plain text": ("Grüße aus Köln", "cp1252", "text/plain"),
    "plain text, wrongly stated": ("Grüße aus Köln", "cp1252", "text/plain; charset=utf-8"),
    "byte order mark": ("Grüße aus Köln", "utf-16", "text/plain"),
}


@pytest.mark.parametrize(("text", "encoding", "kind"), ENCODED.values(), ids=ENCODED)
async def test_wrong_encodings_do_no_harm(text: str, encoding: str, kind: str):
    shown = f"{text}. {LONG}"
    page = shown if "plain" in kind else f"<html><body><p>{shown}</p></body></html>"
    async with site(html(page.encode(encoding), kind)) as found:
        assert text in text_of(await found.fetch())


# What ends in an error


BAD: dict[str, tuple[bytes, type[ShouldersError]]] = {
    "announced gigabyte": (answer(b"", Content_Length=str(1 << 30)), TooLarge),
    "compression bomb": (
        answer(gzip.compress(bytes(50_000_000)), Content_Encoding="gzip"),
        TooLarge,
    ),
    "truncated gzip": (answer(gzip.compress(b"x" * 999)[:-9], Content_Encoding="gzip"), NotFound),
    "brotli": (answer(b"x", Content_Encoding="br"), PolicyRefusal),
    "binary": (answer(b"\x7fELF\0\0\0", Content_Type="application/x-executable"), InvalidRequest),
    "no picture": (answer(b"nothing", Content_Type="image/png"), InvalidRequest),
    "no HTML": (html(b"\0\1\2" * 100), InvalidRequest),
    "damaged PDF": (answer(b"%PDF-1.4 nonsense", Content_Type="application/pdf"), InvalidRequest),
    "missing": (answer(b"gone", "404 Not Found"), NotFound),
    "login": (answer(b"", "401 Unauthorized"), PolicyRefusal),
    "busy": (answer(b"", "429 Too Many Requests"), Conflict),
    "broken": (answer(b"", "503 Service Unavailable"), Conflict),
    "cut": (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort", NotFound),
}


@pytest.mark.parametrize(("body", "kind"), BAD.values(), ids=BAD)
async def test_bad_answer_is_an_error_that_says_what_to_do(body: bytes, kind: type[ShouldersError]):
    async with site(body) as found:
        with pytest.raises(kind) as raised:
            await found.fetch()
        assert raised.value.info.hint
        with pytest.raises(kind):  # nothing of it is kept
            await found.fetch()


async def test_endless_body_ends_at_the_limit_of_size_or_time():
    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            while True:
                writer.write(b"<p>more</p>" * 5_000)
                await writer.drain()

    async with stream_server(flood) as port, name_server(HERE) as names:
        pages = PublicPages(make_guard=lambda: guard(names, FetchLimits(size=1 << 20)))
        with pytest.raises(TooLarge):
            await call(FetchUrl(PageReader(pages)), url=f"http://{SITE}:{port}/")


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 20_000 + "deep" + "</div>" * 20_000,
        "<b><i>" * 20_000 + "deep",
        "<table><tr><td>" * 20_000 + "deep",
        f"<p>{LONG}</p>" * 8_000,
    ],
    ids=["elements", "formatting", "tables", "two megabytes"],
)
async def test_hostile_page_never_stalls_the_event_loop(page: str):
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.01)  # the pace at which the loop is looked at
            turns += 1

    async with site(html(page)) as found:
        counting = asyncio.create_task(count())
        with contextlib.suppress(InvalidRequest, TooLarge):
            await found.fetch()
        counting.cancel()
    assert turns > 5, "the page is read outside the event loop"


async def test_slow_reader_is_given_up():
    def never(module: str, arguments: tuple[str, ...], content: bytes, s: float) -> WorkerResult:
        return WorkerResult(None, b"", "")

    async with web_server(lambda _: html("<p>x</p>")) as web, name_server(HERE) as names:
        pages = PublicPages(make_guard=lambda: guard(names))
        with pytest.raises(TooLarge, match="too much time or memory"):
            await call(FetchUrl(PageReader(pages, never)), url=f"http://{SITE}:{web.port}/")
