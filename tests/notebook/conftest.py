"""The live documents that most of these tests work with."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from jupyter_ai_shoulders.core.acting_page import ActingPage
from jupyter_ai_shoulders.guard.paths import Workspace
from jupyter_ai_shoulders.notebook.disk import DiskNotebooks
from jupyter_ai_shoulders.notebook.live import LiveDocuments, LiveTimes
from jupyter_ai_shoulders.notebook.router import NotebookRouter
from tests.notebook.fake_page import (
    CountingIds,
    FakeSockets,
    MemoryRecovery,
    StillClock,
)
from tests.notebook.live_bench import Bench, MakeBench


@pytest.fixture
def file(tmp_path: Path) -> Path:
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell("a = 1", id="aaaa"),
            nbformat.v4.new_markdown_cell("# Title", id="bbbb"),
            nbformat.v4.new_code_cell("c = 3", id="cccc"),
        ]
    )
    (tmp_path / "root").mkdir()
    file = tmp_path / "root" / "n.ipynb"
    file.write_text(nbformat.writes(notebook))
    return file


@pytest.fixture
def make_bench(file: Path, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[MakeBench]:
    workspace = Workspace(file.parent)
    made: list[Bench] = []

    def make(recovery: MemoryRecovery | None = None, answer: float = 5.0) -> Bench:
        sockets, clock, acting = FakeSockets(), StillClock(), ActingPage()
        disk = DiskNotebooks(workspace)
        store = recovery or MemoryRecovery()
        live = LiveDocuments(
            workspace=workspace,
            disk=disk,
            transport=sockets,
            recovery=store,
            clock=clock,
            ids=CountingIds(),
            acting=acting,
            times=LiveTimes(answer=answer),
            sleep=clock.sleep,
        )
        router = NotebookRouter(workspace, live, disk)
        made.append(Bench(file, workspace, disk, sockets, store, clock, live, router, acting))
        return made[-1]

    yield make
    for bench in made:
        jp_asyncio_loop.run_until_complete(bench.live.aclose())
        jp_asyncio_loop.run_until_complete(bench.disk.close())
    workspace.close()


@pytest.fixture
def bench(make_bench: MakeBench) -> Bench:
    return make_bench()
