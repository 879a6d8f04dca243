import asyncio
import json
import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest

from jupyter_ai_shoulders.core.errors import (
    Conflict,
    InvalidRequest,
    NotFound,
    PolicyRefusal,
    StateUnavailable,
)
from jupyter_ai_shoulders.guard.paths import Workspace
from jupyter_ai_shoulders.notebook.base import Applied, Conflicted, NotebookSnapshot
from jupyter_ai_shoulders.notebook.disk import DiskNotebooks
from jupyter_ai_shoulders.notebook.live import LiveDocuments, LiveTimes
from jupyter_ai_shoulders.notebook.router import NotebookRouter
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.frames import (
    CellRunEnd,
    CellRunOutput,
    CellRunStart,
    CellRunTaken,
    DocumentApply,
    DocumentSaved,
)
from jupyter_ai_shoulders.wire.ids import CellId, RunId
from jupyter_ai_shoulders.wire.notebooks import (
    CellDelete,
    CellInsert,
    CellMove,
    CellOutputs,
    CellSource,
)
from jupyter_ai_shoulders.wire.versions import cell_version
from tests.notebook.fake_page import (
    CountingIds,
    FakePage,
    FakeSockets,
    MemoryRecovery,
    StillClock,
)

A, B, C = CellId("aaaa"), CellId("bbbb"), CellId("cccc")
RUN = RunId("run")
OUTPUT: JsonObject = {"output_type": "stream", "name": "stdout", "text": "42\n"}


@dataclass
class Bench:
    """A server's live documents over a real file, and the pages that have it open."""

    file: Path
    workspace: Workspace
    disk: DiskNotebooks
    sockets: FakeSockets
    recovery: MemoryRecovery
    clock: StillClock
    live: LiveDocuments
    router: NotebookRouter

    async def page(self, name: str = "page") -> FakePage:
        page = FakePage(name, self.file, self.sockets, self.live, self.clock)
        await page.open()
        return page

    async def read(self, path: str = "n.ipynb", **arguments: Any) -> NotebookSnapshot:
        return await self.router.open(path).read(**arguments)

    async def sources(self) -> dict[str, str]:
        return {cell.id: cell.source for cell in (await self.read()).cells}

    async def edit(self, cell_id: CellId, source: str, before: str) -> Applied | Conflicted:
        edit = CellSource(cell_id=cell_id, source=source)
        return await self.router.open("n.ipynb").apply([edit], {cell_id: cell_version(before)})

    async def expire(self) -> None:
        """Let the time of grace of all pages that are away be over, and what follows be done."""
        await self.clock.advance(60)
        await self.live.settle()

    def on_disk(self) -> dict[str, str]:
        cells = json.loads(self.file.read_text())["cells"]
        return {cell["id"]: "".join(cell["source"]) for cell in cells}

    def copies(self) -> list[dict[str, Any]]:
        return self.recovery.copies


ORIGINAL = {"aaaa": "a = 1", "bbbb": "# Title", "cccc": "c = 3"}


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


MakeBench = Callable[..., Bench]


@pytest.fixture
def make_bench(file: Path, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[MakeBench]:
    workspace = Workspace(file.parent)
    made: list[Bench] = []

    def make(recovery: MemoryRecovery | None = None, answer: float = 5.0) -> Bench:
        sockets, clock = FakeSockets(), StillClock()
        disk = DiskNotebooks(workspace)
        store = recovery or MemoryRecovery()
        live = LiveDocuments(
            workspace=workspace,
            disk=disk,
            transport=sockets,
            recovery=store,
            clock=clock,
            ids=CountingIds(),
            times=LiveTimes(answer=answer),
            sleep=clock.sleep,
        )
        router = NotebookRouter(workspace, live, disk)
        made.append(Bench(file, workspace, disk, sockets, store, clock, live, router))
        return made[-1]

    yield make
    for bench in made:
        jp_asyncio_loop.run_until_complete(bench.live.aclose())
        jp_asyncio_loop.run_until_complete(bench.disk.close())
    workspace.close()


@pytest.fixture
def bench(make_bench: MakeBench) -> Bench:
    return make_bench()


# a page is there


async def test_open_notebook_is_read_from_its_page(bench: Bench) -> None:
    page = await bench.page()
    await page.type("aaaa", "a = 2  # typing")
    snapshot = await bench.read()
    assert (snapshot.backend, snapshot.dirty) == ("live", True)
    assert await bench.sources() == {**ORIGINAL, "aaaa": "a = 2  # typing"}
    assert bench.on_disk() == ORIGINAL


async def test_open_notebook_gives_the_outputs_asked_for(bench: Bench) -> None:
    await bench.page()
    asked = await bench.read(outputs=[A])
    everything = await bench.read(outputs="all")
    assert [cell.outputs for cell in asked.cells] == [(), None, None]
    assert [cell.outputs for cell in everything.cells] == [(), (), ()]


async def test_edit_of_an_open_notebook_goes_to_the_page_and_not_to_the_file(bench: Bench) -> None:
    page = await bench.page()
    await page.type("aaaa", "a = 2  # typing")
    before = bench.file.read_bytes()
    outcome = await bench.edit(C, "c = 4", before="c = 3")
    assert outcome == Applied({C: cell_version("c = 4")}, (CellSource(cell_id=C, source="c = 3"),))
    assert page.sources == {**ORIGINAL, "aaaa": "a = 2  # typing", "cccc": "c = 4"}
    assert bench.file.read_bytes() == before


async def test_edit_of_a_cell_the_user_changed_is_a_conflict(bench: Bench) -> None:
    page = await bench.page()
    await page.type("cccc", "c = 5")
    outcome = await bench.edit(C, "c = 4", before="c = 3")
    assert isinstance(outcome, Conflicted)
    assert [(item.cell_id, item.current, item.reason) for item in outcome.conflicts] == [
        (C, "c = 5", "changed")
    ]
    assert page.sources["cccc"] == "c = 5"


async def test_edit_carries_epoch_deadline_and_expected_versions(bench: Bench) -> None:
    page = await bench.page()
    await bench.edit(C, "c = 4", before="c = 3")
    assert page.frames == [
        DocumentApply(
            operation_id="operation_1",  # pyright: ignore[reportArgumentType]: as it is on the wire
            claim_epoch=1,
            deadline_ms=round(bench.clock.now().timestamp() * 1000) + 5000,
            path="n.ipynb",
            expected={C: cell_version("c = 3")},
            edits=(CellSource(cell_id=C, source="c = 4"),),
        )
    ]


async def test_page_that_does_not_answer_is_named_and_the_file_untouched(
    make_bench: MakeBench,
) -> None:
    bench = make_bench(answer=0.01)
    page = await bench.page()
    page.mute = True
    before = bench.file.read_bytes()
    for work in (bench.edit(C, "c = 4", before="c = 3"), bench.read()):
        with pytest.raises(Conflict) as raised:
            await work
        assert raised.value.info.code == "page_not_responding"
    assert bench.file.read_bytes() == before
    assert len(page.frames) == 2


async def test_page_that_closes_its_socket_before_answering_is_not_waited_for(
    bench: Bench,
) -> None:
    page = await bench.page()
    page.mute = True
    work = asyncio.create_task(bench.edit(C, "c = 4", before="c = 3"))
    await page.asked.wait()
    page.vanish()
    with pytest.raises(Conflict) as raised:
        await work
    assert raised.value.info.code == "page_not_responding"
    assert bench.on_disk() == ORIGINAL


async def test_request_of_an_old_epoch_is_refused(bench: Bench) -> None:
    page = await bench.page()
    page.epoch += 1  # announced again, but the frame is still on its way
    with pytest.raises(Conflict) as raised:
        await bench.edit(C, "c = 4", before="c = 3")
    assert raised.value.info.retryable
    assert page.sources == ORIGINAL == bench.on_disk()


async def test_request_that_reaches_a_thawed_page_too_late_is_refused(bench: Bench) -> None:
    page = await bench.page()
    page.mute = True
    work = asyncio.create_task(bench.edit(C, "c = 4", before="c = 3"))
    await page.asked.wait()
    await bench.clock.advance(6)
    page.mute = False
    frame = page.frames.pop()
    page.receive(frame)
    with pytest.raises(Conflict) as raised:
        await work
    assert raised.value.info.code == "page_not_responding"
    assert page.sources == ORIGINAL


async def test_read_only_page_is_a_refusal(bench: Bench) -> None:
    page = await bench.page()
    page.writable = False
    with pytest.raises(PolicyRefusal, match="read-only"):
        await bench.edit(C, "c = 4", before="c = 3")


async def test_answers_of_another_page_are_ignored(make_bench: MakeBench) -> None:
    bench = make_bench(answer=0.05)
    page, other = await bench.page(), await bench.page("other")
    await page.focus()
    page.mute = True
    work = asyncio.create_task(bench.edit(C, "c = 4", before="c = 3"))
    await page.asked.wait()
    frame = page.frames[0]
    assert isinstance(frame, DocumentApply)
    await other.say(other.apply(frame))
    with pytest.raises(Conflict):
        await work


async def test_edits_go_to_the_page_focused_last(bench: Bench) -> None:
    first, second = await bench.page("first"), await bench.page("second")
    await second.type("cccc", "typing")
    await bench.edit(C, "second", before="typing")
    assert (first.sources["cccc"], second.sources["cccc"]) == ("c = 3", "second")
    await first.focus()
    await bench.edit(C, "first", before="c = 3")
    assert (first.sources["cccc"], second.sources["cccc"]) == ("first", "second")
    assert bench.live.owner("n.ipynb") == "first"


async def test_edit_is_shown_in_every_page_that_has_the_same_text(bench: Bench) -> None:
    first, second = await bench.page("first"), await bench.page("second")
    await first.type("bbbb", "typing")
    await bench.edit(C, "c = 4", before="c = 3")
    assert first.sources == {**ORIGINAL, "bbbb": "typing", "cccc": "c = 4"}
    assert second.sources == {**ORIGINAL, "cccc": "c = 4"}
    assert bench.on_disk() == ORIGINAL


async def test_page_opened_later_shows_what_another_has_not_saved(bench: Bench) -> None:
    await bench.page("first")
    await bench.edit(C, "c = 4", before="c = 3")
    second = await bench.page("second")
    assert second.sources == {**ORIGINAL, "cccc": "c = 4"}
    assert second.dirty


async def test_edit_shown_in_two_pages_is_put_on_the_disk_when_both_are_gone(
    bench: Bench,
) -> None:
    first, second = await bench.page("first"), await bench.page("second")
    await bench.edit(C, "c = 4", before="c = 3")
    await bench.live.settle()
    second.vanish()
    await bench.expire()
    assert bench.on_disk() == ORIGINAL
    first.vanish()
    await bench.expire()
    assert bench.on_disk() == {**ORIGINAL, "cccc": "c = 4"}


async def test_page_saves_and_the_others_are_told(bench: Bench) -> None:
    first, second = await bench.page("first"), await bench.page("second")
    await first.type("aaaa", "typing")
    assert second.frames == []
    await first.save()
    assert second.frames == [DocumentSaved(path="n.ipynb")]
    assert first.frames == []


async def test_page_that_read_an_older_file_is_told(bench: Bench) -> None:
    page = FakePage("page", bench.file, bench.sockets, bench.live, bench.clock)
    written = bench.file.stat().st_mtime_ns
    await page.open()
    assert page.frames == []
    os.utime(bench.file, ns=(written, written + 5_000_000))
    await page.open()
    assert page.frames == [DocumentSaved(path="n.ipynb")]


async def test_page_that_opens_a_notebook_while_it_is_written_is_told(bench: Bench) -> None:
    work = asyncio.create_task(bench.edit(C, "c = 4", before="c = 3"))
    await asyncio.sleep(0)
    page = await bench.page()
    await work
    assert bench.on_disk()["cccc"] == "c = 4"
    assert DocumentSaved(path="n.ipynb") in page.frames


async def test_edit_that_no_page_took_reaches_the_file_when_a_clean_page_leaves(
    make_bench: MakeBench,
) -> None:
    bench = make_bench(answer=0.01)
    first = await bench.page("first")
    await bench.edit(C, "c = 4", before="c = 3")
    second = FakePage("second", bench.file, bench.sockets, bench.live, bench.clock)
    second.mute = True
    await second.open()
    first.vanish()
    await bench.expire()
    second.vanish()
    await bench.expire()
    assert bench.on_disk() == {**ORIGINAL, "cccc": "c = 4"}


# renamed in a page


async def test_renamed_notebook_is_found_by_both_names(bench: Bench) -> None:
    page = await bench.page()
    await bench.edit(C, "c = 4", before="c = 3")
    await page.rename("m.ipynb")
    for name in ("n.ipynb", "m.ipynb"):
        assert (await bench.read(name)).path == "m.ipynb"
        assert bench.router.open(name).path == "m.ipynb"
    page.vanish()
    bench.file = page.file
    await bench.expire()
    assert bench.on_disk() == {**ORIGINAL, "cccc": "c = 4"}
    assert (await bench.read("n.ipynb")).backend == "disk"
    assert (await bench.sources())["cccc"] == "c = 4"


async def test_new_file_at_the_old_name_is_another_notebook(bench: Bench) -> None:
    page = await bench.page()
    await page.rename("m.ipynb")
    bench.file.write_text(page.file.read_text().replace("c = 3", "c = 'new'"))
    assert (await bench.sources())["cccc"] == "c = 'new'"
    assert (await bench.read("m.ipynb")).cells[2].source == "c = 3"


async def test_notebook_renamed_during_an_edit_gets_it_where_it_is(bench: Bench) -> None:
    page = await bench.page()
    notebook = bench.router.open("n.ipynb")
    await page.rename("m.ipynb")
    await notebook.apply([CellSource(cell_id=C, source="c = 4")], {})
    assert page.sources == {**ORIGINAL, "cccc": "c = 4"}
    [copy] = bench.copies()
    assert copy["path"] == "m.ipynb"


async def test_run_follows_a_renamed_notebook(bench: Bench) -> None:
    page = await bench.page()
    bench.live.run_started("n.ipynb", A, RUN)
    await page.rename("m.ipynb")
    bench.live.run_output("n.ipynb", A, RUN, 0, [OUTPUT])
    bench.live.run_ended("n.ipynb", A, RUN, 7)
    assert (page.cell("aaaa").outputs, page.cell("aaaa").execution_count) == ((OUTPUT,), 7)


async def test_page_that_was_not_told_of_a_rename_keeps_its_name(bench: Bench) -> None:
    first = await bench.page("first")
    await bench.page("second")
    await bench.edit(C, "c = 4", before="c = 3")
    await first.rename("m.ipynb")
    assert bench.live.owner("n.ipynb") == "second"
    assert bench.live.owner("m.ipynb") == "first"


async def test_each_name_of_a_file_is_the_same_document(bench: Bench) -> None:
    (bench.file.parent / "link.ipynb").symlink_to("n.ipynb")
    (bench.file.parent / "sub").mkdir()
    page = await bench.page()
    names = ["n.ipynb", "./n.ipynb", "sub/../n.ipynb", str(bench.file), "link.ipynb"]
    for number, name in enumerate(names):
        assert bench.live.owner(name) == "page"
        assert bench.router.in_page(name)
        edit = CellSource(cell_id=C, source=f"c = {number}")
        await bench.router.open(name).apply([edit], {})
        assert page.sources["cccc"] == f"c = {number}"


async def test_page_that_opened_a_link_is_asked_by_its_own_name(bench: Bench) -> None:
    (bench.file.parent / "link.ipynb").symlink_to("n.ipynb")
    page = FakePage("page", bench.file, bench.sockets, bench.live, bench.clock)
    page.path = "link.ipynb"
    await page.open()
    await bench.edit(C, "c = 4", before="c = 3")
    frame = page.frames[0]
    assert isinstance(frame, DocumentApply)
    assert frame.path == "link.ipynb"
    assert page.sources["cccc"] == "c = 4"


async def test_document_outside_the_workspace_is_refused(bench: Bench) -> None:
    page = FakePage("page", bench.file, bench.sockets, bench.live, bench.clock)
    page.path = "../n.ipynb"
    with pytest.raises(InvalidRequest):
        await page.open()


async def test_frames_about_documents_never_announced_are_ignored(bench: Bench) -> None:
    page = FakePage("page", bench.file, bench.sockets, bench.live, bench.clock)
    await page.focus()
    await page.type("aaaa", "x")
    await page.close(discarded=True)
    assert bench.live.owner("n.ipynb") is None


# the page closes the notebook


async def test_closed_notebook_lives_on_disk_again(bench: Bench) -> None:
    page = await bench.page()
    await page.close(discarded=False)
    await bench.live.settle()
    await bench.edit(C, "c = 4", before="c = 3")
    assert (await bench.read()).backend == "disk"
    assert bench.on_disk() == {**ORIGINAL, "cccc": "c = 4"}
    assert page.frames == []


async def test_saved_edits_are_not_done_again_when_the_notebook_is_closed(bench: Bench) -> None:
    page = await bench.page()
    await bench.edit(C, "c = 4", before="c = 3")
    await page.type("cccc", "c = 3")  # taken back
    await page.save()
    await page.close(discarded=False)
    await bench.live.settle()
    assert bench.on_disk() == ORIGINAL


async def test_saved_edits_are_not_done_again_on_a_file_that_others_changed(
    bench: Bench,
) -> None:
    original = bench.file.read_bytes()
    page = await bench.page()
    await bench.edit(C, "c = 4", before="c = 3")
    await page.save()
    bench.file.write_bytes(original)  # git checkout
    await page.type("aaaa", "typing")
    page.vanish()
    await bench.expire()
    assert bench.file.read_bytes() == original


async def test_closing_with_discard_keeps_the_agents_edits_and_drops_the_users(
    bench: Bench,
) -> None:
    page = await bench.page()
    await page.type("aaaa", "typing that is thrown away")
    await bench.edit(C, "c = 4", before="c = 3")
    await page.close(discarded=True)
    await bench.live.settle()
    assert bench.on_disk() == {**ORIGINAL, "cccc": "c = 4"}
    assert bench.copies() == []


# the page vanishes


async def test_clean_page_that_vanishes_gives_the_notebook_back_at_once(bench: Bench) -> None:
    page = await bench.page()
    page.vanish()
    assert not bench.router.in_page("n.ipynb")
    assert (await bench.read()).backend == "disk"
    await bench.edit(C, "c = 4", before="c = 3")
    assert bench.on_disk() == {**ORIGINAL, "cccc": "c = 4"}


async def test_dirty_page_that_vanishes_is_waited_for(bench: Bench) -> None:
    page = await bench.page()
    await page.type("aaaa", "a = 2  # typing")
    await page.insert(1, "dddd", "new = 1")
    page.vanish()
    before = bench.file.read_bytes()

    snapshot = await bench.read(outputs="all")
    assert (snapshot.backend, snapshot.dirty) == ("live", True)
    assert [(cell.id, cell.source) for cell in snapshot.cells] == [
        ("aaaa", "a = 2  # typing"),
        ("dddd", "new = 1"),
        ("bbbb", "# Title"),
        ("cccc", "c = 3"),
    ]
    assert not bench.router.in_page("n.ipynb")
    outcome = await bench.edit(A, "a = 9", before="a = 1")
    assert isinstance(outcome, Conflicted)
    outcome = await bench.edit(A, "a = 9", before="a = 2  # typing")
    assert isinstance(outcome, Applied)
    assert (await bench.sources())["aaaa"] == "a = 9"
    assert bench.file.read_bytes() == before


async def test_edits_made_while_the_page_was_away_reach_it_when_it_returns(
    bench: Bench,
) -> None:
    page = await bench.page()
    await page.type("aaaa", "a = 2  # typing")
    page.vanish()
    await bench.edit(C, "c = 4", before="c = 3")
    outputs = CellOutputs(cell_id=A, outputs=(OUTPUT,), execution_count=1)
    insert = CellInsert(cell_id=CellId("n"), cell_type="code", source="n", metadata={}, after=B)
    await bench.router.open("n.ipynb").apply([outputs, insert], {})
    await page.open()
    await bench.live.settle()
    assert page.sources == {**ORIGINAL, "aaaa": "a = 2  # typing", "n": "n", "cccc": "c = 4"}
    assert page.cell("aaaa").outputs == (OUTPUT,)
    assert bench.on_disk() == ORIGINAL
    await page.save()
    await page.close(discarded=False)
    await bench.live.settle()
    assert bench.copies() == []


async def test_edits_are_done_once_however_often_the_page_comes_and_goes(bench: Bench) -> None:
    page = await bench.page()
    await page.type("aaaa", "typing")
    page.vanish()
    await bench.edit(C, "c = 4", before="c = 3")
    for _ in range(3):
        await page.open()
        await bench.live.settle()
        page.vanish()
    applies = [frame for frame in page.frames if isinstance(frame, DocumentApply)]
    assert len(applies) == 1


async def test_edit_that_its_page_did_not_take_waits_for_the_next_one(
    make_bench: MakeBench,
) -> None:
    bench = make_bench(answer=0.02)
    page = await bench.page()
    await page.type("aaaa", "typing")
    page.vanish()
    await bench.edit(C, "c = 4", before="c = 3")
    page.mute = True
    await page.open()
    await bench.live.settle()
    page.mute = False
    await bench.edit(C, "c = 5", before="c = 4")
    assert page.sources == {**ORIGINAL, "aaaa": "typing", "cccc": "c = 5"}


async def test_edit_of_a_cell_the_user_changed_while_away_is_kept_aside(bench: Bench) -> None:
    page = await bench.page()
    await page.type("aaaa", "typing")
    page.vanish()
    await bench.edit(C, "c = 4", before="c = 3")
    page.cells[2] = page.cells[2].model_copy(
        update={"source": "c = 7", "version": cell_version("c = 7")}
    )
    await page.open()
    await bench.live.settle()
    assert page.sources["cccc"] == "c = 7"
    [aside] = [copy for copy in bench.copies() if copy["left"]]
    assert [entry["edit"]["source"] for entry in aside["journal"]] == ["c = 4"]
    assert aside["cells"] == []


async def test_edit_in_a_page_that_does_not_come_back_is_put_on_the_disk(bench: Bench) -> None:
    page = await bench.page()
    await page.type("aaaa", "a = 2  # typing")
    await bench.edit(C, "c = 4", before="c = 3")
    page.vanish()
    await bench.expire()
    assert bench.on_disk() == {**ORIGINAL, "cccc": "c = 4"}
    assert (await bench.read()).backend == "disk"
    [copy] = bench.copies()
    assert copy["left"]
    assert {cell["id"]: cell["source"] for cell in copy["cells"]}["aaaa"] == "a = 2  # typing"


async def test_edit_on_top_of_unsaved_typing_overwrites_nothing_on_the_disk(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    page = await bench.page()
    await page.type("cccc", "c = 3  # typing")
    await bench.edit(C, "c = 4  # typing", before="c = 3  # typing")
    page.vanish()
    await bench.expire()
    assert bench.on_disk() == ORIGINAL
    text, edits = sorted(bench.copies(), key=lambda copy: len(copy["journal"]))
    assert text["cells"][2]["source"] == "c = 4  # typing"
    assert [entry["edit"]["source"] for entry in edits["journal"]] == ["c = 4  # typing"]
    assert "came too late" in caplog.text


async def test_edits_of_one_cell_after_one_another_are_put_on_the_disk(bench: Bench) -> None:
    page = await bench.page()
    await bench.edit(C, "c = 4", before="c = 3")
    await bench.edit(C, "c = 5", before="c = 4")
    page.vanish()
    await bench.edit(C, "c = 6", before="c = 5")
    await bench.expire()
    assert bench.on_disk() == {**ORIGINAL, "cccc": "c = 6"}


async def test_edit_the_user_took_back_is_not_done_again(bench: Bench) -> None:
    page = await bench.page()
    await bench.edit(C, "c = 4", before="c = 3")
    await page.type("cccc", "c = 3")
    page.vanish()
    await bench.expire()
    assert bench.on_disk() == ORIGINAL


async def test_structural_edits_are_put_on_the_disk_beside_what_is_there(bench: Bench) -> None:
    page = await bench.page()
    await page.insert(2, "user", "typed")
    notebook = bench.router.open("n.ipynb")
    await notebook.apply(
        [
            CellInsert(
                cell_id=CellId("n"),
                cell_type="markdown",
                source="new",
                metadata={},
                after=CellId("user"),
            ),
            CellDelete(cell_id=A),
            CellMove(cell_id=C, after=B),
        ],
        {},
    )
    page.vanish()
    await bench.expire()
    # The cell the user typed is in no file: the new one goes after the one before it.
    assert list(bench.on_disk()) == ["bbbb", "cccc", "n"]


async def test_cell_inserted_and_deleted_again_leaves_no_trace(bench: Bench) -> None:
    page = await bench.page()
    notebook = bench.router.open("n.ipynb")
    new = CellId("n")
    await notebook.apply(
        [CellInsert(cell_id=new, cell_type="raw", source="", metadata={}, after=None)], {}
    )
    await notebook.apply([CellSource(cell_id=new, source="x")], {})
    await notebook.apply([CellDelete(cell_id=new)], {})
    before = bench.file.read_bytes()
    page.vanish()
    await bench.expire()
    assert bench.file.read_bytes() == before


async def test_page_loaded_anew_gets_the_edits_the_last_one_did_not_save(bench: Bench) -> None:
    page = await bench.page("before reload")
    await page.type("aaaa", "typing lost by the reload")
    await bench.edit(C, "c = 4", before="c = 3")
    page.vanish()
    again = await bench.page("after reload")
    await bench.live.settle()
    assert again.sources == {**ORIGINAL, "cccc": "c = 4"}
    assert bench.on_disk() == ORIGINAL
    [left] = [copy for copy in bench.copies() if copy["left"]]
    assert left["cells"][0]["source"] == "typing lost by the reload"


async def test_edits_in_a_page_that_is_gone_go_to_the_other_page(bench: Bench) -> None:
    first = await bench.page("first")
    await bench.edit(C, "c = 4", before="c = 3")
    second = await bench.page("second")
    first.vanish()
    await bench.expire()
    assert second.sources == {**ORIGINAL, "cccc": "c = 4"}
    assert bench.on_disk() == ORIGINAL


async def test_edit_is_not_put_on_a_file_that_was_deleted(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    page = await bench.page()
    await bench.edit(C, "c = 4", before="c = 3")
    bench.file.unlink()
    page.vanish()
    await bench.expire()
    assert not bench.file.exists()
    assert "cannot be put on the disk" in caplog.text
    assert any(copy["journal"] for copy in bench.copies())


async def test_notebook_whose_file_is_gone_is_read_from_what_was_announced(
    bench: Bench,
) -> None:
    page = await bench.page()
    await page.type("aaaa", "typing")
    page.vanish()
    bench.file.unlink()
    assert await bench.sources() == {**ORIGINAL, "aaaa": "typing"}


async def test_answer_that_comes_late_is_still_known_when_the_page_vanishes(
    make_bench: MakeBench, caplog: pytest.LogCaptureFixture
) -> None:
    bench = make_bench(answer=0.01)
    page = await bench.page()
    page.mute = True
    with pytest.raises(Conflict):
        await bench.edit(C, "c = 4", before="c = 3")
    frame = page.frames[0]
    assert isinstance(frame, DocumentApply)
    await page.say(page.apply(frame))
    assert "after its time was up" in caplog.text
    page.vanish()
    await bench.expire()
    assert bench.on_disk() == {**ORIGINAL, "cccc": "c = 4"}


async def test_page_that_does_not_have_the_notebook_any_more_loses_its_claim(
    bench: Bench,
) -> None:
    page = await bench.page()
    page.mute = True
    work = asyncio.create_task(bench.edit(C, "c = 4", before="c = 3"))
    await page.asked.wait()
    frame = page.frames[0]
    assert isinstance(frame, DocumentApply)
    await page.say(page.refused(frame, "not_open"))
    with pytest.raises(Conflict):
        await work
    await bench.live.settle()
    assert (await bench.read()).backend == "disk"


# runs


async def test_run_is_shown_in_every_page_that_has_the_notebook_open(bench: Bench) -> None:
    pages = [await bench.page("first"), await bench.page("second")]
    bench.live.run_started("./n.ipynb", A, RUN)
    bench.live.run_output("./n.ipynb", A, RUN, 0, [OUTPUT])
    bench.live.run_ended("./n.ipynb", A, RUN, 7)
    for page in pages:
        assert page.frames == [
            CellRunStart(run_id=RUN, path="n.ipynb", cell_id=A),
            CellRunOutput(run_id=RUN, path="n.ipynb", cell_id=A, index=0, outputs=(OUTPUT,)),
            CellRunEnd(run_id=RUN, path="n.ipynb", cell_id=A, execution_count=7),
        ]
        assert (page.cell("aaaa").outputs, page.cell("aaaa").execution_count) == ((OUTPUT,), 7)


async def test_outputs_of_a_run_in_a_page_that_vanishes_reach_the_file(bench: Bench) -> None:
    page = await bench.page()
    bench.live.run_started("n.ipynb", A, RUN)
    bench.live.run_output("n.ipynb", A, RUN, 0, [OUTPUT])
    bench.live.run_output("n.ipynb", A, RUN, 1, [OUTPUT])
    bench.live.run_output("n.ipynb", A, RUN, 1, [])
    bench.live.run_ended("n.ipynb", A, RUN, 7)
    page.vanish()
    await bench.expire()
    cell = (await bench.read(outputs=[A])).cells[0]
    assert (cell.outputs, cell.execution_count) == ((OUTPUT,), 7)


async def test_outputs_stored_while_the_page_is_away_reach_the_file(bench: Bench) -> None:
    page = await bench.page()
    await page.type("bbbb", "typing")
    bench.live.run_started("n.ipynb", A, RUN)
    page.vanish()
    bench.live.run_output("n.ipynb", A, RUN, 0, [OUTPUT])
    bench.live.run_ended("n.ipynb", A, RUN, 7)
    edit = CellOutputs(cell_id=A, outputs=(OUTPUT,), execution_count=7)
    assert isinstance(await bench.router.open("n.ipynb").apply([edit], {}), Applied)
    await bench.expire()
    cell = (await bench.read(outputs=[A])).cells[0]
    assert (cell.outputs, cell.execution_count) == ((OUTPUT,), 7)
    assert bench.on_disk() == ORIGINAL


async def test_run_of_a_cell_the_user_runs_too_leaves_it_to_them(bench: Bench) -> None:
    page = await bench.page()
    bench.live.run_started("n.ipynb", A, RUN)
    bench.live.run_output("n.ipynb", A, RUN, 0, [OUTPUT])
    await page.say(CellRunTaken(run_id=RUN, path="n.ipynb", cell_id=A))
    shown = len(page.frames)
    assert bench.live.run_taken(RUN)
    bench.live.run_started("n.ipynb", A, RUN)
    bench.live.run_output("n.ipynb", A, RUN, 1, [OUTPUT])
    bench.live.run_ended("n.ipynb", A, RUN, 7)
    assert [frame.type for frame in page.frames[shown:]] == ["cell-run-end"]
    assert not bench.live.run_taken(RUN)
    await page.close(discarded=True)
    await bench.live.settle()
    assert (await bench.read(outputs=[A])).cells[0].outputs == ()


async def test_run_of_a_notebook_nobody_has_open_is_the_runners_to_store(bench: Bench) -> None:
    bench.live.run_started("n.ipynb", A, RUN)
    bench.live.run_output("n.ipynb", A, RUN, 0, [OUTPUT])
    await bench.page()
    bench.live.run_ended("n.ipynb", A, RUN, 7)
    await bench.expire()
    assert (await bench.read(outputs=[A])).cells[0].outputs == ()
    assert bench.copies() == []


# the server restarts


async def test_unsaved_notebook_survives_the_server(make_bench: MakeBench) -> None:
    old = make_bench()
    page = await old.page()
    await page.type("aaaa", "typing")
    await old.edit(B, "# By the agent", before="# Title")
    page.vanish()
    await old.edit(C, "c = 4", before="c = 3")
    await old.live.aclose()
    assert old.on_disk() == ORIGINAL

    new = make_bench(old.recovery)
    await new.live.start()
    expected = {"aaaa": "typing", "bbbb": "# By the agent", "cccc": "c = 4"}
    assert await new.sources() == expected
    page.live, page.sockets = new.live, new.sockets
    await page.open()
    await new.live.settle()
    assert page.sources == expected
    await page.save()
    await new.live.settle()
    assert new.on_disk() == expected
    assert new.copies() == []


async def test_edits_of_the_last_session_reach_the_file_when_no_page_returns(
    make_bench: MakeBench,
) -> None:
    old = make_bench()
    page = await old.page()
    await page.type("aaaa", "typing")
    await old.edit(C, "c = 4", before="c = 3")
    await old.live.settle()  # killed: nothing else is done

    new = make_bench(old.recovery)
    await new.live.start()
    await new.expire()
    assert new.on_disk() == {**ORIGINAL, "cccc": "c = 4"}
    [copy] = new.copies()
    assert (copy["left"], copy["cells"][0]["source"]) == (True, "typing")

    third = make_bench(old.recovery)
    await third.live.start()
    assert (await third.read()).backend == "disk"


async def test_page_that_is_faster_than_the_start_gets_the_edits_too(
    make_bench: MakeBench,
) -> None:
    old = make_bench()
    page = await old.page()
    await page.type("aaaa", "typing")
    page.vanish()
    await old.edit(C, "c = 4", before="c = 3")
    await old.live.aclose()

    store = MemoryRecovery()
    store.texts = dict(old.recovery.texts)
    new = make_bench(store)
    page.live, page.sockets = new.live, new.sockets
    opening = asyncio.create_task(new.live.start())
    await page.open()
    await opening
    await new.live.settle()
    assert page.sources == {**ORIGINAL, "aaaa": "typing", "cccc": "c = 4"}


async def test_recovery_copy_that_cannot_be_read_is_left_alone(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    bench.recovery.texts["x"] = "{"
    await bench.live.start()
    assert bench.recovery.texts == {"x": "{"}
    assert "cannot be read" in caplog.text


async def test_state_directory_that_cannot_be_used_does_not_stop_the_work(
    make_bench: MakeBench, caplog: pytest.LogCaptureFixture
) -> None:
    class Full(MemoryRecovery):
        def put(self, name: str, text: str) -> None:
            raise StateUnavailable("no space")

        def read_all(self) -> dict[str, str]:
            raise StateUnavailable("no space")

    bench = make_bench(Full())
    await bench.live.start()
    page = await bench.page()
    with caplog.at_level(logging.WARNING):
        await page.type("aaaa", "typing")
        await bench.edit(C, "c = 4", before="c = 3")
        await bench.live.settle()
    assert page.sources["cccc"] == "c = 4"
    assert "no recovery copy" in caplog.text


# the router


async def test_router_refuses_what_is_no_notebook(bench: Bench) -> None:
    (bench.file.parent / "x.py").write_text("")
    with pytest.raises(InvalidRequest) as raised:
        bench.router.open("x.py")
    assert raised.value.info.code == "not_a_notebook"
    with pytest.raises(NotFound):
        bench.router.open("missing.ipynb")
    with pytest.raises(InvalidRequest):
        bench.router.open("../n.ipynb")


async def test_notebook_opened_between_two_calls_is_found_in_its_page(bench: Bench) -> None:
    notebook = bench.router.open("n.ipynb")
    assert (notebook.path, notebook.backend) == ("n.ipynb", "disk")
    page = await bench.page()
    assert notebook.backend == "live"
    await notebook.apply([CellSource(cell_id=C, source="c = 4")], {})
    assert page.sources["cccc"] == "c = 4"
    assert bench.on_disk() == ORIGINAL
