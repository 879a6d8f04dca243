"""The service of styles: lists, files of the workspace, results that are kept, refusals."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound, ShouldersError, TooLarge
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.guard.process.worker_process import WorkerResult, run_worker
from jupyter_ai_shoulders.guard.search.path_index import PathIndex
from jupyter_ai_shoulders.references.styles.citation_styles import (
    SHIPPED,
    STYLE_LIMIT,
    CitationStyles,
    shipped_style,
)
from jupyter_ai_shoulders.references.styles.messages import CitedWork
from jupyter_ai_shoulders.wire.api.references import PostFormat
from tests.references.styles.works import WORKS


class FixedWorks:
    """A bibliography with the test's works."""

    async def cited_works(self, keys: Iterable[str]) -> Mapping[str, CitedWork]:
        return {key: CitedWork(**WORKS[key]) for key in keys if key in WORKS}


class Worker:
    """Counts the calls of the worker process."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(
        self, module: str, arguments: tuple[str, ...], content: bytes, seconds: float
    ) -> WorkerResult:
        self.calls += 1
        return run_worker(module, arguments, content, seconds)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def worker() -> Worker:
    return Worker()


@pytest.fixture
def styles(workspace: Workspace, worker: Worker) -> CitationStyles:
    return CitationStyles(
        FixedWorks(), workspace, PathIndex(workspace), lambda: "ieee", helper=worker
    )


def request(style: str = "") -> PostFormat:
    return PostFormat(clusters=(("Knuth1997",), ("nobody",), ("Smith2010",)), style=style)


async def test_a_document_is_rendered_once(styles: CitationStyles, worker: Worker) -> None:
    first = await styles.format(request())
    assert await styles.format(request()) == first
    assert worker.calls == 1
    assert first.citations == ("[1]", "", "[2]")
    assert first.unknown == ("nobody",)
    assert first.markdown.startswith("\\[1\\] D. E. Knuth, *The art of computing*")


async def test_own_styles_are_listed_and_used(styles: CitationStyles, tmp_path: Path) -> None:
    (tmp_path / "styles").mkdir()
    (tmp_path / "styles" / "own.csl").write_text(
        shipped_style("nature").replace("<title>Nature<", "<title>Ours<"), "utf-8"
    )
    (tmp_path / "dependent.csl").write_text('<style><link rel="independent-parent"/></style>')
    listed = await styles.styles()
    assert listed.default == "ieee"
    assert [style.id for style in listed.styles] == [*SHIPPED, "styles/own.csl"]
    assert (listed.styles[-1].title, listed.styles[-1].kind) == ("Ours", "numeric")
    assert (await styles.format(request("styles/own.csl"))).citations == ("¹", "", "²")


@pytest.mark.parametrize(
    ("style", "content", "error"),
    [
        pytest.param("turabian", b"", NotFound, id="unknown name"),
        pytest.param("none.csl", None, NotFound, id="no file"),
        pytest.param("../x.csl", None, ShouldersError, id="outside"),
        pytest.param("big.csl", b" " * (STYLE_LIMIT + 1), TooLarge, id="too large"),
        pytest.param("bytes.csl", b"\xff\xfe\x00", InvalidRequest, id="not text"),
        pytest.param("html.csl", b"<html/>", InvalidRequest, id="no style"),
        pytest.param(
            "child.csl",
            b'<style><link rel="independent-parent"/></style>',
            InvalidRequest,
            id="child",
        ),
    ],
)
async def test_what_is_no_style_is_refused(
    styles: CitationStyles,
    tmp_path: Path,
    style: str,
    content: bytes | None,
    error: type[ShouldersError],
) -> None:
    if content is not None and style.endswith(".csl"):
        (tmp_path / style).write_bytes(content)
    with pytest.raises(error):
        await styles.format(request(style))


async def test_a_style_that_takes_too_long_is_ended(workspace: Workspace) -> None:
    def slow(
        module: str, arguments: tuple[str, ...], content: bytes, seconds: float
    ) -> WorkerResult:
        return WorkerResult(None, b"", "")

    styles = CitationStyles(
        FixedWorks(), workspace, PathIndex(workspace), lambda: "apa", helper=slow
    )
    with pytest.raises(TooLarge):
        await asyncio.wait_for(styles.format(request()), 5)
