"""Runs in open notebooks, and restarts of the server while notebooks are open."""

import asyncio
import logging

import pytest

from jupyter_ai_shoulders.core.errors import (
    InvalidRequest,
    NotFound,
    StateUnavailable,
)
from jupyter_ai_shoulders.notebook.base import Applied
from jupyter_ai_shoulders.wire.frames import (
    CellRunEnd,
    CellRunOutput,
    CellRunStart,
    CellRunTaken,
)
from jupyter_ai_shoulders.wire.notebooks import (
    CellOutputs,
    CellSource,
)
from tests.notebook.backends.live.harness import (
    ORIGINAL,
    OUTPUT,
    RUN,
    A,
    B,
    C,
    LiveHarness,
    MakeLiveHarness,
)
from tests.notebook.fake_page import (
    MemoryRecovery,
)

# runs


async def test_run_is_shown_in_every_page_that_has_the_notebook_open(bench: LiveHarness) -> None:
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


async def test_outputs_of_a_run_in_a_page_that_vanishes_reach_the_file(bench: LiveHarness) -> None:
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


async def test_outputs_stored_while_the_page_is_away_reach_the_file(bench: LiveHarness) -> None:
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


async def test_run_of_a_cell_the_user_runs_too_leaves_it_to_them(bench: LiveHarness) -> None:
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


async def test_run_of_a_notebook_nobody_has_open_is_the_runners_to_store(
    bench: LiveHarness,
) -> None:
    bench.live.run_started("n.ipynb", A, RUN)
    bench.live.run_output("n.ipynb", A, RUN, 0, [OUTPUT])
    await bench.page()
    bench.live.run_ended("n.ipynb", A, RUN, 7)
    await bench.expire()
    assert (await bench.read(outputs=[A])).cells[0].outputs == ()
    assert bench.copies() == []


# the server restarts


async def test_unsaved_notebook_survives_the_server(make_bench: MakeLiveHarness) -> None:
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
    make_bench: MakeLiveHarness,
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
    make_bench: MakeLiveHarness,
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
    bench: LiveHarness, caplog: pytest.LogCaptureFixture
) -> None:
    bench.recovery.texts["x"] = "{"
    await bench.live.start()
    assert bench.recovery.texts == {"x": "{"}
    assert "cannot be read" in caplog.text


async def test_state_directory_that_cannot_be_used_does_not_stop_the_work(
    make_bench: MakeLiveHarness, caplog: pytest.LogCaptureFixture
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


async def test_router_refuses_what_is_no_notebook(bench: LiveHarness) -> None:
    (bench.file.parent / "x.py").write_text("")
    with pytest.raises(InvalidRequest) as raised:
        bench.router.open("x.py")
    assert raised.value.info.code == "not_a_notebook"
    with pytest.raises(NotFound):
        bench.router.open("missing.ipynb")
    with pytest.raises(InvalidRequest):
        bench.router.open("../n.ipynb")


async def test_notebook_opened_between_two_calls_is_found_in_its_page(bench: LiveHarness) -> None:
    notebook = bench.router.open("n.ipynb")
    assert (notebook.path, notebook.backend) == ("n.ipynb", "disk")
    page = await bench.page()
    assert notebook.backend == "live"
    await notebook.apply([CellSource(cell_id=C, source="c = 4")], {})
    assert page.sources["cccc"] == "c = 4"
    assert bench.on_disk() == ORIGINAL
