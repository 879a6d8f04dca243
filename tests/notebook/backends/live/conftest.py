"""The live documents of most of these tests."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from jupyter_ai_shoulders.core.current_page import CurrentPage
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import DiskNotebooks
from jupyter_ai_shoulders.notebook.backends.live.open_notebooks import LiveTimeouts, OpenNotebooks
from jupyter_ai_shoulders.notebook.router import NotebookRouter
from tests.notebook.backends.live.harness import LiveHarness, MakeLiveHarness
from tests.notebook.fake_page import (
    CountingIds,
    FakeSockets,
    MemoryRecovery,
    StillClock,
)


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
def make_bench(file: Path, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[MakeLiveHarness]:
    workspace = Workspace(file.parent)
    made: list[LiveHarness] = []

    def make(recovery: MemoryRecovery | None = None, answer: float = 5.0) -> LiveHarness:
        sockets, clock, acting = FakeSockets(), StillClock(), CurrentPage()
        disk = DiskNotebooks(workspace)
        store = recovery or MemoryRecovery()
        live = OpenNotebooks(
            workspace=workspace,
            disk=disk,
            transport=sockets,
            recovery=store,
            clock=clock,
            ids=CountingIds(),
            acting=acting,
            times=LiveTimeouts(answer=answer),
            sleep=clock.sleep,
        )
        router = NotebookRouter(workspace, live, disk)
        made.append(LiveHarness(file, workspace, disk, sockets, store, clock, live, router, acting))
        return made[-1]

    yield make
    for bench in made:
        jp_asyncio_loop.run_until_complete(bench.live.aclose())
        jp_asyncio_loop.run_until_complete(bench.disk.close())
    workspace.close()


@pytest.fixture
def bench(make_bench: MakeLiveHarness) -> LiveHarness:
    return make_bench()
