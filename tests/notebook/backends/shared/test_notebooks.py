"""Notebooks in rooms: their owner, reading, and rooms that close."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import DiskNotebooks
from jupyter_ai_shoulders.notebook.backends.live.open_notebooks import OpenNotebooks
from jupyter_ai_shoulders.notebook.backends.live.output_images import PageOutputRasterizer
from jupyter_ai_shoulders.notebook.backends.shared.notebooks import SharedNotebooks
from jupyter_ai_shoulders.notebook.backends.shared.ydoc_cells import ycells_of
from jupyter_ai_shoulders.notebook.base import Applied, Conflicted
from jupyter_ai_shoulders.notebook.page_frames import PageFrameHandler
from jupyter_ai_shoulders.notebook.router import NotebookRouter
from jupyter_ai_shoulders.wire.ids import CellId, ClientId
from jupyter_ai_shoulders.wire.notebooks import (
    CellDelete,
    CellEdit,
    CellInsert,
    CellMove,
    CellOutputs,
    CellSource,
)
from jupyter_ai_shoulders.wire.versions import cell_version
from tests.notebook.backends.shared.fake_room import (
    FakeRoom,
    FakeRooms,
    code,
    document_of,
    notebook_of,
    prose,
    stream,
    ycell,
)
from tests.notebook.fake_page import (
    CountingIds,
    FakePage,
    FakeSockets,
    MemoryRecovery,
    StillClock,
)
from tests.support.collaboration_environment import COLLAB

A, B = CellId("a"), CellId("b")
CELLS = (code("a", "x = 1", stream("one"), execution_count=3), prose("b", "# Title"))


@dataclass
class Rooms:
    """A workspace with one notebook, a server whose rooms a test opens, and its pages."""

    file: Path
    workspace: Workspace
    disk: DiskNotebooks
    rooms: FakeRooms
    shared: SharedNotebooks
    live: OpenNotebooks
    router: NotebookRouter
    frames: PageFrameHandler
    sockets: FakeSockets
    clock: StillClock
    recovery: MemoryRecovery

    def open(self, path: str = "n.ipynb") -> FakeRoom:
        """Open the notebook's room, as a page does."""
        room = FakeRoom(f"json:notebook:{path}", path, document_of(*CELLS), self.file)
        self.rooms.rooms.append(room)
        return room

    def on_disk(self) -> dict[str, str]:
        """The sources in the file."""
        cells = json.loads(self.file.read_text())["cells"]
        return {cell["id"]: "".join(cell["source"]) for cell in cells}

    async def apply(self, *edits: CellEdit, expected: Any = None) -> Applied | Conflicted:
        """Edit the notebook in its current back end."""
        return await self.router.open("n.ipynb").apply(edits, expected or {})


@pytest.fixture
def at(tmp_path: Path, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[Rooms]:
    (tmp_path / "root").mkdir()
    file = tmp_path / "root" / "n.ipynb"
    file.write_text(json.dumps(notebook_of(*CELLS)))
    workspace = Workspace(file.parent)
    disk, rooms = DiskNotebooks(workspace), FakeRooms()
    sockets, clock, recovery = FakeSockets(), StillClock(), MemoryRecovery()
    shared = SharedNotebooks(workspace, rooms, disk)
    live = OpenNotebooks(
        workspace=workspace,
        disk=shared,
        transport=sockets,
        recovery=recovery,
        clock=clock,
        ids=CountingIds(),
        sleep=clock.sleep,
    )
    router = NotebookRouter(workspace, live, disk, shared)
    rasters = PageOutputRasterizer(live.shown_in, sockets, clock, CountingIds())
    frames = PageFrameHandler(workspace, shared, live, rasters)
    yield Rooms(
        file, workspace, disk, rooms, shared, live, router, frames, sockets, clock, recovery
    )
    jp_asyncio_loop.run_until_complete(live.aclose())
    jp_asyncio_loop.run_until_complete(disk.close())
    workspace.close()


def change(cell_id: CellId, source: str) -> CellSource:
    return CellSource(cell_id=cell_id, source=source)


# the owner


async def test_a_room_wins_from_the_call_on_in_which_it_is_open(at: Rooms):
    opened = at.router.open("n.ipynb")
    assert opened.backend == "disk"
    room = at.open()
    ycell(room.document, "a")["source"].insert(0, "typed\n")
    snapshot = await opened.read([A])
    assert (opened.backend, snapshot.backend) == ("shared", "shared")
    assert snapshot.cells[0].source == "typed\nx = 1"
    assert snapshot.cells[0].outputs == (stream("one"),)
    assert (snapshot.cells[0].execution_count, snapshot.cells[1].outputs) == (3, None)
    assert snapshot.metadata["language"] == "x"
    room.is_open = False
    assert (await opened.read()).backend == "disk"


async def test_what_was_read_stays_as_it_was(at: Rooms):
    room = at.open()
    before = await at.router.open("n.ipynb").read()
    await at.apply(change(A, "x = 2"), CellDelete(cell_id=B))
    ycell(room.document, "a")["id"] = "other"
    assert [cell.source for cell in before.cells] == ["x = 1", "# Title"]
    assert (before.position(B), before.position(CellId("other"))) == (1, None)


async def test_of_two_cells_with_one_id_the_first_is_meant(at: Rooms):
    room = at.open()
    ycell(room.document, "b")["id"] = "a"
    snapshot = await at.router.open("n.ipynb").read()
    cell = snapshot.cell(A)
    assert cell is not None
    assert cell.source == "x = 1"
    assert isinstance(await at.apply(change(A, "x = 2")), Applied)
    assert [str(cell["source"]) for cell in ycells_of(room.document)] == ["x = 2", "# Title"]


def test_nothing_of_collaboration_is_imported_where_it_is_not_used():
    program = (
        "import sys; sys.path.append(sys.argv[1]); import jupyter_ai_shoulders.host.build\n"
        "import jupyter_ai_shoulders.server.adapters.collaboration_rooms\n"
        "print(*[name for name in sys.modules if name.startswith(('pycrdt', 'jupyter_ydoc'))])"
    )
    command = [sys.executable, "-c", program, str(COLLAB)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""


async def test_a_room_wins_over_a_page(at: Rooms):
    room = at.open()
    page = FakePage("page", at.file, at.sockets, at.live, at.clock)
    await page.open()
    outcome = await at.apply(change(A, "x = 2"), expected={A: cell_version("x = 1")})
    assert isinstance(outcome, Applied)
    assert str(ycell(room.document, "a")["source"]) == "x = 2"
    assert page.sources["a"] == "x = 1"  # the room sends it, not we
    assert at.router.in_page("n.ipynb")


def test_a_notebook_is_in_a_page_when_someone_is_in_its_room(at: Rooms):
    room = at.open()
    assert at.router.in_page("n.ipynb")
    room.has_pages = False
    assert not at.router.in_page("n.ipynb")


def test_a_room_is_known_by_each_name_of_its_file(at: Rooms):
    (at.file.parent / "link").symlink_to(".", target_is_directory=True)
    room = at.open("link/n.ipynb")
    assert at.router.open("n.ipynb").backend == "shared"
    assert at.shared.find(at.workspace.path("n.ipynb")) is room
    room.path = None
    assert at.shared.find(at.workspace.path("n.ipynb")) is None


async def test_a_notebook_renamed_in_its_room_is_followed(at: Rooms):
    room = at.open()
    opened = at.router.open("n.ipynb")
    at.file.rename(at.file.with_name("m.ipynb"))
    room.path = "m.ipynb"
    assert opened.path == "m.ipynb"
    assert (await opened.read()).path == "m.ipynb"


def test_a_path_without_room_and_file_is_not_found(at: Rooms):
    at.open()
    with pytest.raises(NotFound):
        at.router.open("other.ipynb")


# a loading room


async def test_reading_and_editing_wait_until_the_room_is_loaded(at: Rooms):
    room = at.open()
    room.is_settled = False
    reading = asyncio.create_task(at.router.open("n.ipynb").read())
    editing = asyncio.create_task(at.apply(change(A, "x = 2")))
    await asyncio.sleep(0)
    assert not reading.done()
    assert not editing.done()
    room.loaded.set()
    assert (await reading).backend == "shared"
    assert isinstance(await editing, Applied)


async def test_a_room_that_closes_while_it_is_waited_for_leaves_the_file(at: Rooms):
    room = at.open()
    room.is_settled = False
    editing = asyncio.create_task(at.apply(change(A, "x = 2")))
    await asyncio.sleep(0)
    room.is_open = False
    room.loaded.set()
    assert isinstance(await editing, Applied)
    assert at.on_disk()["a"] == "x = 2"
    assert str(ycell(room.document, "a")["source"]) == "x = 1"


# a room without pages


async def test_the_room_saves_by_itself_while_someone_is_in_it(at: Rooms):
    room = at.open()
    await at.apply(change(A, "x = 2"))
    assert (room.saves, room.document.dirty) == (0, True)
    assert at.on_disk()["a"] == "x = 1"


async def test_a_room_that_everyone_left_is_saved_at_once(at: Rooms):
    room = at.open()
    room.has_pages = False
    await at.apply(change(A, "x = 2"))
    assert room.saves == 1
    assert at.on_disk()["a"] == "x = 2"


async def test_a_refused_edit_saves_nothing(at: Rooms):
    room = at.open()
    room.has_pages = False
    outcome = await at.apply(change(A, "x"), expected={A: cell_version("other")})
    assert isinstance(outcome, Conflicted)
    assert room.saves == 0


EVERYTHING: tuple[CellEdit, ...] = (
    change(A, "x = 2"),
    CellInsert(cell_id=CellId("n"), cell_type="code", source="n", metadata={}, after=A),
    CellMove(cell_id=A, after=CellId("n")),
    CellOutputs(cell_id=A, outputs=(stream("new"),), execution_count=9),
    CellDelete(cell_id=B),
)


@pytest.mark.parametrize("was_saved", [False, True], ids=["not saved", "saved"])
async def test_edits_reach_the_file_once_when_the_room_closes_before_it_says_that_it_saved(
    at: Rooms, was_saved: bool
):
    room = at.open()
    room.has_pages = False

    def close() -> None:
        if was_saved:
            at.file.write_text(json.dumps(room.document.get()))
        room.is_open = False

    room.on_save = close
    expected = {A: cell_version("x = 1"), B: cell_version("# Title")}
    outcome = await at.apply(*EVERYTHING, expected=expected)
    assert isinstance(outcome, Applied)
    assert list(at.on_disk().items()) == [("n", "n"), ("a", "x = 2")]
    cell = json.loads(at.file.read_text())["cells"][1]
    assert (cell["outputs"], cell["execution_count"]) == ([stream("new")], 9)


async def test_a_room_that_stays_open_may_save_later(at: Rooms):
    room = at.open()
    room.has_pages = False
    room.on_save = lambda: None
    assert isinstance(await at.apply(change(A, "x = 2")), Applied)
    assert at.on_disk()["a"] == "x = 1"
    assert room.document.dirty


# our own pages in a room


async def test_what_is_unsaved_in_a_room_is_not_kept_when_its_page_vanishes(at: Rooms):
    at.open()
    frames: Any = at.frames
    page = FakePage("page", at.file, at.sockets, frames, at.clock)
    await page.open()
    await page.type("a", "x = 1  # typed")
    page.vanish()
    await at.live.settle()
    assert not at.live.is_live("n.ipynb")
    assert at.recovery.copies == []


async def test_without_a_room_it_is_kept(at: Rooms):
    frames: Any = at.frames
    page = FakePage("page", at.file, at.sockets, frames, at.clock)
    await page.open()
    await page.type("a", "x = 1  # typed")
    page.vanish()
    await at.live.settle()
    assert at.live.is_live("n.ipynb")
    assert at.live.owner("n.ipynb") is None
    assert len(at.recovery.copies) == 1


async def test_edits_a_page_owes_the_file_go_to_the_room_that_opened_meanwhile(at: Rooms):
    frames: Any = at.frames
    page = FakePage("page", at.file, at.sockets, frames, at.clock)
    await page.open()
    outcome = await at.apply(change(B, "# Agent"))
    assert isinstance(outcome, Applied)
    page.vanish()
    room = at.open()
    await at.clock.advance(3600)
    await at.live.settle()
    assert str(ycell(room.document, "b")["source"]) == "# Agent"
    assert at.on_disk()["b"] == "# Title"
    assert at.live.owner("n.ipynb") != ClientId("page")
