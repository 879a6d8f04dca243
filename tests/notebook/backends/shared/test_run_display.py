"""Runs shown in rooms: once, to everyone, and bounded."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import DiskNotebooks
from jupyter_ai_shoulders.notebook.backends.live.open_notebooks import OpenNotebooks
from jupyter_ai_shoulders.notebook.backends.shared.notebooks import SharedNotebooks
from jupyter_ai_shoulders.notebook.backends.shared.run_display import (
    LIVE_CHARACTERS,
    LIVE_END,
    OMISSION,
    RoomPages,
)
from jupyter_ai_shoulders.notebook.backends.shared.ydoc_cells import outputs_of, ycells_of
from jupyter_ai_shoulders.wire.frames import CellRunStart, CellRunTaken
from jupyter_ai_shoulders.wire.ids import CellId, RunId
from tests.notebook.backends.shared.fake_room import (
    FakeRoom,
    FakeRooms,
    OutputArea,
    code,
    document_of,
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

PATH, RUN = "n.ipynb", RunId("run")
A = CellId("a")


@dataclass
class Shown:
    """A room with a page of ours, and the run display."""

    room: FakeRoom
    pages: RoomPages
    live: OpenNotebooks
    page: FakePage
    sockets: FakeSockets
    area: OutputArea

    def start(self) -> None:
        """Let the agent run the cell."""
        self.pages.run_started(PATH, A, RUN)

    def print(self, *outputs: dict[str, Any], index: int = 0) -> None:
        """Let the run print outputs."""
        self.pages.run_output(PATH, A, RUN, index, outputs)

    def end(self, count: int = 3) -> None:
        """Let the run end."""
        self.pages.run_ended(PATH, A, RUN, count)

    @property
    def cell(self) -> tuple[Any, Any, Any]:
        """Return outputs, execution count and state in the room."""
        cell = ycell(self.room.document, "a")
        return outputs_of(cell), cell.get("execution_count"), cell.get("execution_state")


@pytest.fixture
def at(tmp_path: Path, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Shown:
    file = tmp_path / PATH
    document = document_of(code("a", "run", stream("old"), execution_count=2), prose("b"))
    file.write_text(json.dumps(document.get()))
    workspace = Workspace(tmp_path)
    sockets, clock = FakeSockets(), StillClock()
    room = FakeRoom("json:notebook:1", PATH, document, file)
    shared = SharedNotebooks(workspace, FakeRooms([room]), DiskNotebooks(workspace))
    live = OpenNotebooks(
        workspace=workspace,
        disk=shared,
        transport=sockets,
        recovery=MemoryRecovery(),
        clock=clock,
        ids=CountingIds(),
        sleep=clock.sleep,
    )
    pages = RoomPages(workspace, shared, live, sockets, pause=0)
    page = FakePage("page", file, sockets, live, clock)
    return Shown(room, pages, live, page, sockets, OutputArea(ycell(document, "a")))


async def test_a_run_is_shown_by_the_room_alone(at: Shown):
    await at.page.open()
    at.start()
    assert at.cell == ((), None, "running")
    at.print(stream("one\n"))
    at.print(stream("one\ntwo\n"))
    at.print(stream("oops", "stderr"), index=1)
    assert at.cell == ((stream("one\ntwo\n"), stream("oops", "stderr")), None, "running")
    at.end()
    assert at.cell == ((stream("one\ntwo\n"), stream("oops", "stderr")), 3, "idle")
    assert at.area.shown == [stream("one\ntwo\n"), stream("oops", "stderr")]
    assert [frame.type for frame in at.page.frames] == ["cell-run-start", "cell-run-end"]
    assert at.room.document.dirty


async def test_a_page_of_ours_knows_that_the_room_shows_it(at: Shown):
    await at.page.open()
    at.start()
    (frame,) = at.page.frames
    assert isinstance(frame, CellRunStart)
    assert frame.in_room


async def test_what_runs_is_trusted(at: Shown):
    at.start()
    assert ycell(at.room.document, "a")["metadata"]["trusted"] is True


async def test_outputs_are_not_written_into_the_run_of_the_user(at: Shown):
    await at.page.open()
    at.start()
    at.print(stream("mine"))
    await at.live.handle(at.page.client, CellRunTaken(run_id=RUN, path=PATH, cell_id=A))
    cell = ycell(at.room.document, "a")
    cell["outputs"].clear()
    at.print(stream("late"))
    assert at.pages.run_taken(RUN)
    at.start()  # repeated for a page that connects later
    at.end()
    assert at.cell == ((), None, "running")
    assert not at.pages.run_taken(RUN)


async def test_a_room_stands_for_its_pages_while_it_can_be_written(at: Shown):
    await at.page.open()
    owner = at.pages.owner(PATH)
    assert owner is not None
    assert owner != at.page.client
    for attribute in ("has_pages", "is_settled"):
        setattr(at.room, attribute, False)
        assert at.pages.owner(PATH) is None
        setattr(at.room, attribute, True)
    at.room.is_open = False
    assert at.pages.owner(PATH) == at.page.client


async def test_a_run_goes_on_in_the_room_of_a_notebook_that_is_renamed(at: Shown):
    await at.page.open()
    owner = at.pages.owner(PATH)
    at.start()
    at.print(stream("one"))
    at.room.file.rename(at.room.file.with_name("m.ipynb"))
    at.room.path = "m.ipynb"
    assert at.pages.owner(PATH) == owner
    at.print(stream("one two"))
    at.end()
    assert at.cell == ((stream("one two"),), 3, "idle")
    assert [frame.type for frame in at.page.frames] == ["cell-run-start", "cell-run-end"]


async def test_a_run_outlasts_its_cell_and_its_room(at: Shown):
    at.start()
    at.print(stream("one"))
    document = at.room.document
    del document.ycells[0]
    at.print(stream("one two"))
    at.room.is_open = False
    at.print(stream("one two three"))
    at.end()
    assert [str(cell["id"]) for cell in ycells_of(document)] == ["b"]


async def test_a_cell_that_became_text_is_left_alone(at: Shown):
    at.start()
    ycell(at.room.document, "a")["cell_type"] = "markdown"
    at.print(stream("one"))
    at.end()
    assert at.cell == ((), None, "running")


async def test_a_flood_leaves_little_in_the_document_and_ends_whole(at: Shown):
    at.start()
    size = len(at.room.document.ydoc.get_update())
    lines = "".join(f"line {n}\n" for n in range(100_000))
    for end in range(1_000, len(lines), 10_000):
        at.print(stream(lines[:end]))
    left = len(at.room.document.ydoc.get_update()) - size
    assert left < 4 * LIVE_CHARACTERS
    at.print(stream(lines))
    at.end()
    assert at.cell[0] == (stream(lines),)
    assert at.area.shown == [stream(lines)]


async def test_a_flood_that_pauses_is_shown_up_to_its_present_end(at: Shown):
    at.start()
    text = "x" * LIVE_CHARACTERS
    at.print(stream(text + "1"))
    at.print(stream(text + "12"))
    shown = f"{text[:LIVE_END]}{OMISSION}{(text + '12')[-LIVE_END:]}"
    async with asyncio.timeout(30):
        while at.cell[0] != (stream(shown),):  # noqa: ASYNC110 observers cannot read
            await asyncio.sleep(0)
    at.end()


async def test_without_a_room_pages_are_shown_runs_as_ever(at: Shown):
    at.room.is_open = False
    await at.page.open()
    at.start()
    at.print(stream("one"))
    at.end()
    types = [frame.type for frame in at.page.frames]
    assert types == ["cell-run-start", "cell-run-output", "cell-run-end"]
    assert at.page.cell("a").outputs == (stream("one"),)
