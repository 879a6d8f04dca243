"""Pages that disconnect with unsaved changes, and return or not."""

import asyncio
import json

import pytest

from jupyter_ai_shoulders.core.errors import (
    Conflict,
)
from jupyter_ai_shoulders.notebook.base import Applied, Conflicted
from jupyter_ai_shoulders.wire.frames import (
    DocumentApply,
)
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import (
    CellDelete,
    CellInsert,
    CellMove,
    CellOutputs,
    CellSource,
)
from jupyter_ai_shoulders.wire.versions import cell_version
from tests.notebook.backends.live.harness import (
    ORIGINAL,
    OUTPUT,
    A,
    B,
    C,
    LiveHarness,
    MakeLiveHarness,
)
from tests.notebook.fake_page import FakePage

# the page disconnects


async def test_clean_page_that_vanishes_gives_the_notebook_back_at_once(bench: LiveHarness) -> None:
    page = await bench.page()
    page.vanish()
    assert not bench.router.in_page("n.ipynb")
    assert (await bench.read()).backend == "disk"
    await bench.edit(C, "c = 4", before="c = 3")
    assert bench.on_disk() == {**ORIGINAL, "cccc": "c = 4"}


async def test_dirty_page_that_vanishes_is_waited_for(bench: LiveHarness) -> None:
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
    bench: LiveHarness,
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


async def test_edits_are_done_once_however_often_the_page_comes_and_goes(
    bench: LiveHarness,
) -> None:
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
    make_bench: MakeLiveHarness,
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


async def test_edit_of_a_cell_the_user_changed_while_away_is_kept_aside(bench: LiveHarness) -> None:
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


async def test_edit_in_a_page_that_does_not_come_back_is_put_on_the_disk(
    bench: LiveHarness,
) -> None:
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
    bench: LiveHarness, caplog: pytest.LogCaptureFixture
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


async def test_edits_of_one_cell_after_one_another_are_put_on_the_disk(bench: LiveHarness) -> None:
    page = await bench.page()
    await bench.edit(C, "c = 4", before="c = 3")
    await bench.edit(C, "c = 5", before="c = 4")
    page.vanish()
    await bench.edit(C, "c = 6", before="c = 5")
    await bench.expire()
    assert bench.on_disk() == {**ORIGINAL, "cccc": "c = 6"}


async def test_edit_the_user_took_back_is_not_done_again(bench: LiveHarness) -> None:
    page = await bench.page()
    await bench.edit(C, "c = 4", before="c = 3")
    await page.type("cccc", "c = 3")
    page.vanish()
    await bench.expire()
    assert bench.on_disk() == ORIGINAL


async def test_structural_edits_are_put_on_the_disk_beside_what_is_there(
    bench: LiveHarness,
) -> None:
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
    # The cell the user typed is in no file: the new one goes after its predecessor.
    assert list(bench.on_disk()) == ["bbbb", "cccc", "n"]


async def test_cell_inserted_and_deleted_again_leaves_no_trace(bench: LiveHarness) -> None:
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


async def test_page_loaded_anew_gets_the_edits_the_last_one_did_not_save(
    bench: LiveHarness,
) -> None:
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


async def test_edits_in_a_page_that_is_gone_go_to_the_other_page(bench: LiveHarness) -> None:
    first = await bench.page("first")
    await bench.edit(C, "c = 4", before="c = 3")
    second = await bench.page("second")
    first.vanish()
    await bench.expire()
    assert second.sources == {**ORIGINAL, "cccc": "c = 4"}
    assert bench.on_disk() == ORIGINAL


async def test_edit_is_not_put_on_a_file_that_was_deleted(
    bench: LiveHarness, caplog: pytest.LogCaptureFixture
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
    bench: LiveHarness,
) -> None:
    page = await bench.page()
    await page.type("aaaa", "typing")
    page.vanish()
    bench.file.unlink()
    assert await bench.sources() == {**ORIGINAL, "aaaa": "typing"}


async def test_answer_that_comes_late_is_still_known_when_the_page_vanishes(
    make_bench: MakeLiveHarness, caplog: pytest.LogCaptureFixture
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
    bench: LiveHarness,
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


async def test_protected_cells_stay_as_they_are_while_their_page_is_away(
    bench: LiveHarness,
) -> None:
    content = json.loads(bench.file.read_text())
    content["cells"][1]["metadata"] = {"editable": False, "deletable": False}
    bench.file.write_text(json.dumps(content))
    page = await bench.page()
    await page.type("aaaa", "typed")
    page.vanish()
    for edit in (CellSource(cell_id=B, source="changed"), CellDelete(cell_id=B)):
        outcome = await bench.router.open("n.ipynb").apply([edit], {})
        assert isinstance(outcome, Conflicted)
        assert [conflict.reason for conflict in outcome.conflicts] == ["protected"]
    assert (await bench.sources())["bbbb"] == "# Title"


# writing while a page is absent


async def away(bench: LiveHarness) -> FakePage:
    """A page with unsaved text of the user that has been absent for a while."""
    page = await bench.page()
    await page.type("aaaa", "typing")
    page.vanish()
    await bench.clock.advance(11)
    await bench.live.settle()
    return page


def printed_on_disk(bench: LiveHarness, cell_id: str) -> list[str]:
    cells = json.loads(bench.file.read_text())["cells"]
    outputs = next(cell for cell in cells if cell["id"] == cell_id)["outputs"]
    return ["".join(output["text"]) for output in outputs]


async def test_outputs_are_in_the_file_while_the_page_with_the_users_text_is_away(
    bench: LiveHarness,
) -> None:
    page = await away(bench)
    outputs = CellOutputs(cell_id=C, outputs=(OUTPUT,), execution_count=1)
    await bench.router.open("n.ipynb").apply([outputs], {})

    assert printed_on_disk(bench, "cccc") == [OUTPUT["text"]]
    assert bench.on_disk() == ORIGINAL
    assert (await bench.sources())["aaaa"] == "typing"
    await page.open()
    await bench.live.settle()
    assert page.cell("cccc").outputs == (OUTPUT,)
    assert page.sources["aaaa"] == "typing"


async def test_edits_below_a_page_that_is_away_are_written_on_one_another(
    bench: LiveHarness,
) -> None:
    await away(bench)
    await bench.edit(C, "c = 4", before="c = 3")
    assert bench.on_disk() == {**ORIGINAL, "cccc": "c = 4"}
    await bench.edit(C, "c = 5", before="c = 4")
    assert bench.on_disk() == {**ORIGINAL, "cccc": "c = 5"}
    outcome = await bench.edit(A, "a = 9", before="typing")
    assert isinstance(outcome, Applied)
    assert bench.on_disk() == {**ORIGINAL, "cccc": "c = 5"}

    await bench.expire()
    assert bench.on_disk() == {**ORIGINAL, "cccc": "c = 5"}
    offered = [copy for copy in bench.copies() if copy["left"] and copy["cells"]]
    assert {cell["id"]: cell["source"] for cell in offered[0]["cells"]}["aaaa"] == "typing"


async def test_cell_written_below_a_page_and_deleted_again_leaves_no_trace(
    bench: LiveHarness,
) -> None:
    page = await away(bench)
    notebook = bench.router.open("n.ipynb")
    insert = CellInsert(cell_id=CellId("n"), cell_type="code", source="n", metadata={}, after=B)
    await notebook.apply([insert], {})
    assert bench.on_disk() == {**ORIGINAL, "n": "n"}
    await notebook.apply([CellDelete(cell_id=CellId("n"))], {})
    assert bench.on_disk() == ORIGINAL
    await page.open()
    await bench.live.settle()
    assert page.sources == {**ORIGINAL, "aaaa": "typing"}
    assert bench.copies() == [copy for copy in bench.copies() if not copy["left"]]
