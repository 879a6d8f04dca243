"""Notebooks open in pages: read and changed there, and shown in all of them."""

import asyncio
import os

import pytest

from jupyter_ai_shoulders.core.errors import (
    Conflict,
    PolicyRefusal,
)
from jupyter_ai_shoulders.notebook.base import Applied, Conflicted
from jupyter_ai_shoulders.wire.frames import (
    DocumentApply,
    DocumentElsewhere,
    DocumentSaved,
)
from jupyter_ai_shoulders.wire.notebooks import (
    CellSource,
)
from jupyter_ai_shoulders.wire.versions import cell_version
from tests.notebook.backends.live.harness import ORIGINAL, A, C, LiveHarness, MakeLiveHarness
from tests.notebook.fake_page import (
    FakePage,
)

# a connected page


async def test_open_notebook_is_read_from_its_page(bench: LiveHarness) -> None:
    page = await bench.page()
    await page.type("aaaa", "a = 2  # typing")
    snapshot = await bench.read()
    assert (snapshot.backend, snapshot.dirty) == ("live", True)
    assert await bench.sources() == {**ORIGINAL, "aaaa": "a = 2  # typing"}
    assert bench.on_disk() == ORIGINAL


async def test_open_notebook_gives_the_outputs_asked_for(bench: LiveHarness) -> None:
    await bench.page()
    asked = await bench.read(outputs=[A])
    everything = await bench.read(outputs="all")
    assert [cell.outputs for cell in asked.cells] == [(), None, None]
    assert [cell.outputs for cell in everything.cells] == [(), (), ()]


async def test_edit_of_an_open_notebook_goes_to_the_page_and_not_to_the_file(
    bench: LiveHarness,
) -> None:
    page = await bench.page()
    await page.type("aaaa", "a = 2  # typing")
    before = bench.file.read_bytes()
    outcome = await bench.edit(C, "c = 4", before="c = 3")
    assert outcome == Applied({C: cell_version("c = 4")}, (CellSource(cell_id=C, source="c = 3"),))
    assert page.sources == {**ORIGINAL, "aaaa": "a = 2  # typing", "cccc": "c = 4"}
    assert bench.file.read_bytes() == before


async def test_edit_of_a_cell_the_user_changed_is_a_conflict(bench: LiveHarness) -> None:
    page = await bench.page()
    await page.type("cccc", "c = 5")
    outcome = await bench.edit(C, "c = 4", before="c = 3")
    assert isinstance(outcome, Conflicted)
    assert [(item.cell_id, item.current, item.reason) for item in outcome.conflicts] == [
        (C, "c = 5", "changed")
    ]
    assert page.sources["cccc"] == "c = 5"


async def test_edit_carries_epoch_deadline_and_expected_versions(bench: LiveHarness) -> None:
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
    make_bench: MakeLiveHarness,
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
    bench: LiveHarness,
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


async def test_request_of_an_old_epoch_is_refused(bench: LiveHarness) -> None:
    page = await bench.page()
    page.epoch += 1  # announced again, but the frame is still on its way
    with pytest.raises(Conflict) as raised:
        await bench.edit(C, "c = 4", before="c = 3")
    assert raised.value.info.retryable
    assert page.sources == ORIGINAL == bench.on_disk()


async def test_request_that_reaches_a_thawed_page_too_late_is_refused(bench: LiveHarness) -> None:
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


async def test_read_only_page_is_a_refusal(bench: LiveHarness) -> None:
    page = await bench.page()
    page.writable = False
    with pytest.raises(PolicyRefusal, match="read-only"):
        await bench.edit(C, "c = 4", before="c = 3")


async def test_answers_of_another_page_are_ignored(make_bench: MakeLiveHarness) -> None:
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


async def test_edits_go_to_the_page_focused_last(bench: LiveHarness) -> None:
    first, second = await bench.page("first"), await bench.page("second")
    await second.type("cccc", "typing")
    await bench.edit(C, "second", before="typing")
    assert (first.sources["cccc"], second.sources["cccc"]) == ("c = 3", "second")
    await first.focus()
    await bench.edit(C, "first", before="c = 3")
    assert (first.sources["cccc"], second.sources["cccc"]) == ("first", "second")
    assert bench.live.owner("n.ipynb") == "first"


async def test_edits_go_to_the_page_that_sent_the_message_wherever_the_user_looks(
    bench: LiveHarness,
) -> None:
    first, second = await bench.page("first"), await bench.page("second")
    await first.type("cccc", "in the first")
    await second.type("cccc", "in the second")
    bench.acting.set_client(first.client)
    assert bench.live.owner("n.ipynb") == "first"
    assert (await bench.sources())["cccc"] == "in the first"
    await bench.edit(C, "edited", before="in the first")
    await second.focus()
    await bench.edit(C, "edited again", before="edited")
    assert (first.sources["cccc"], second.sources["cccc"]) == ("edited again", "in the second")


async def test_a_page_that_is_gone_leaves_edits_to_the_one_focused_last(bench: LiveHarness) -> None:
    first, second = await bench.page("first"), await bench.page("second")
    bench.acting.set_client(first.client)
    await first.close(discarded=False)
    await bench.edit(C, "c = 4", before="c = 3")
    assert second.sources["cccc"] == "c = 4"


async def test_an_edit_is_merged_with_what_is_typed_in_another_page(bench: LiveHarness) -> None:
    first, second = await bench.page("first"), await bench.page("second")
    await first.type("cccc", "c = 3\n\n# in the first")
    bench.acting.set_client(second.client)
    await bench.edit(C, "c = 4", before="c = 3")
    await bench.live.settle()
    assert (first.sources["cccc"], second.sources["cccc"]) == ("c = 4\n\n# in the first", "c = 4")


async def test_an_edit_is_merged_with_what_is_not_announced_yet(bench: LiveHarness) -> None:
    first, second = await bench.page("first"), await bench.page("second")
    first.change_silently("cccc", "c = 3\n\n# in the first")
    bench.acting.set_client(second.client)
    await bench.edit(C, "c = 4", before="c = 3")
    await first.answered()
    assert first.sources["cccc"] == "c = 4\n\n# in the first"


async def test_a_page_that_changed_the_same_line_keeps_it_and_says_so(bench: LiveHarness) -> None:
    first, second = await bench.page("first"), await bench.page("second")
    await first.type("cccc", "c = 33")
    bench.acting.set_client(second.client)
    edits = (
        CellSource(cell_id=C, source="c = 4"),
        CellSource(cell_id=A, source="a = 2"),
    )
    await bench.router.open("n.ipynb").apply(edits, {})
    await first.answered()
    assert (first.sources["aaaa"], first.sources["cccc"]) == ("a = 2", "c = 33")
    said = [frame for frame in first.frames if isinstance(frame, DocumentElsewhere)]
    assert said == [DocumentElsewhere(path="n.ipynb", cells=(C,))]


async def test_edit_is_shown_in_every_page_that_has_the_same_text(bench: LiveHarness) -> None:
    first, second = await bench.page("first"), await bench.page("second")
    await first.type("bbbb", "typing")
    await bench.edit(C, "c = 4", before="c = 3")
    assert first.sources == {**ORIGINAL, "bbbb": "typing", "cccc": "c = 4"}
    assert second.sources == {**ORIGINAL, "cccc": "c = 4"}
    assert bench.on_disk() == ORIGINAL


async def test_page_opened_later_shows_what_another_has_not_saved(bench: LiveHarness) -> None:
    await bench.page("first")
    await bench.edit(C, "c = 4", before="c = 3")
    second = await bench.page("second")
    assert second.sources == {**ORIGINAL, "cccc": "c = 4"}
    assert second.dirty


async def test_edit_shown_in_two_pages_is_put_on_the_disk_when_both_are_gone(
    bench: LiveHarness,
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


async def test_page_saves_and_the_others_are_told(bench: LiveHarness) -> None:
    first, second = await bench.page("first"), await bench.page("second")
    await first.type("aaaa", "typing")
    assert second.frames == []
    await first.save()
    assert second.frames == [DocumentSaved(path="n.ipynb")]
    assert first.frames == []


async def test_page_that_read_an_older_file_is_told(bench: LiveHarness) -> None:
    page = FakePage("page", bench.file, bench.sockets, bench.live, bench.clock)
    written = bench.file.stat().st_mtime_ns
    await page.open()
    assert page.frames == []
    os.utime(bench.file, ns=(written, written + 5_000_000))
    await page.open()
    assert page.frames == [DocumentSaved(path="n.ipynb")]


async def test_page_that_opens_a_notebook_while_it_is_written_is_told(bench: LiveHarness) -> None:
    work = asyncio.create_task(bench.edit(C, "c = 4", before="c = 3"))
    await asyncio.sleep(0)
    page = await bench.page()
    await work
    assert bench.on_disk()["cccc"] == "c = 4"
    assert DocumentSaved(path="n.ipynb") in page.frames


async def test_edit_that_no_page_took_reaches_the_file_when_a_clean_page_leaves(
    make_bench: MakeLiveHarness,
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
