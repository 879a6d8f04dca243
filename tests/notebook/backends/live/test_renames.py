"""Open notebooks that are renamed, have several names, and are closed."""

import pytest

from jupyter_ai_shoulders.core.errors import (
    InvalidRequest,
)
from jupyter_ai_shoulders.wire.frames import (
    DocumentApply,
)
from jupyter_ai_shoulders.wire.notebooks import (
    CellSource,
)
from tests.notebook.backends.live.harness import (
    ORIGINAL,
    OUTPUT,
    RUN,
    A,
    C,
    LiveHarness,
    MakeLiveHarness,
)
from tests.notebook.fake_page import (
    FakePage,
)

# renamed in a page


async def test_renamed_notebook_is_found_by_both_names(bench: LiveHarness) -> None:
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


async def test_new_file_at_the_old_name_is_another_notebook(bench: LiveHarness) -> None:
    page = await bench.page()
    await page.rename("m.ipynb")
    bench.file.write_text(page.file.read_text().replace("c = 3", "c = 'new'"))
    assert (await bench.sources())["cccc"] == "c = 'new'"
    assert (await bench.read("m.ipynb")).cells[2].source == "c = 3"


async def test_notebook_renamed_during_an_edit_gets_it_where_it_is(bench: LiveHarness) -> None:
    page = await bench.page()
    notebook = bench.router.open("n.ipynb")
    await page.rename("m.ipynb")
    await notebook.apply([CellSource(cell_id=C, source="c = 4")], {})
    assert page.sources == {**ORIGINAL, "cccc": "c = 4"}
    await bench.live.settle()
    [copy] = bench.copies()
    assert copy["path"] == "m.ipynb"


async def test_run_follows_a_renamed_notebook(bench: LiveHarness) -> None:
    page = await bench.page()
    bench.live.run_started("n.ipynb", A, RUN)
    await page.rename("m.ipynb")
    bench.live.run_output("n.ipynb", A, RUN, 0, [OUTPUT])
    bench.live.run_ended("n.ipynb", A, RUN, 7)
    assert (page.cell("aaaa").outputs, page.cell("aaaa").execution_count) == ((OUTPUT,), 7)


async def test_page_that_was_not_told_of_a_rename_keeps_its_name(bench: LiveHarness) -> None:
    first = await bench.page("first")
    await bench.page("second")
    await bench.edit(C, "c = 4", before="c = 3")
    await first.rename("m.ipynb")
    assert bench.live.owner("n.ipynb") == "second"
    assert bench.live.owner("m.ipynb") == "first"


async def test_each_name_of_a_file_is_the_same_document(bench: LiveHarness) -> None:
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


async def test_page_that_opened_a_link_is_asked_by_its_own_name(bench: LiveHarness) -> None:
    (bench.file.parent / "link.ipynb").symlink_to("n.ipynb")
    page = FakePage("page", bench.file, bench.sockets, bench.live, bench.clock)
    page.path = "link.ipynb"
    await page.open()
    await bench.edit(C, "c = 4", before="c = 3")
    frame = page.frames[0]
    assert isinstance(frame, DocumentApply)
    assert frame.path == "link.ipynb"
    assert page.sources["cccc"] == "c = 4"


async def test_document_outside_the_workspace_is_refused(bench: LiveHarness) -> None:
    page = FakePage("page", bench.file, bench.sockets, bench.live, bench.clock)
    page.path = "../n.ipynb"
    with pytest.raises(InvalidRequest):
        await page.open()


async def test_frames_about_documents_never_announced_are_ignored(bench: LiveHarness) -> None:
    page = FakePage("page", bench.file, bench.sockets, bench.live, bench.clock)
    await page.focus()
    await page.type("aaaa", "x")
    await page.close(discarded=True)
    assert bench.live.owner("n.ipynb") is None


# the page closes the notebook


async def test_closed_notebook_lives_on_disk_again(bench: LiveHarness) -> None:
    page = await bench.page()
    await page.close(discarded=False)
    await bench.live.settle()
    await bench.edit(C, "c = 4", before="c = 3")
    assert (await bench.read()).backend == "disk"
    assert bench.on_disk() == {**ORIGINAL, "cccc": "c = 4"}
    assert page.frames == []


async def test_saved_edits_are_not_done_again_when_the_notebook_is_closed(
    bench: LiveHarness,
) -> None:
    page = await bench.page()
    await bench.edit(C, "c = 4", before="c = 3")
    await page.type("cccc", "c = 3")  # undone
    await page.save()
    await page.close(discarded=False)
    await bench.live.settle()
    assert bench.on_disk() == ORIGINAL


async def test_saved_edits_are_not_done_again_on_a_file_that_others_changed(
    bench: LiveHarness,
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
    bench: LiveHarness,
) -> None:
    page = await bench.page()
    await page.type("aaaa", "typing that is thrown away")
    await bench.edit(C, "c = 4", before="c = 3")
    await page.close(discarded=True)
    await bench.live.settle()
    assert bench.on_disk() == {**ORIGINAL, "cccc": "c = 4"}
    assert bench.copies() == []


async def test_rename_is_known_after_a_restart(
    bench: LiveHarness, make_bench: MakeLiveHarness
) -> None:
    page = await bench.page()
    await page.rename("m.ipynb")
    page.vanish()
    await bench.live.aclose()
    again = make_bench(recovery=bench.recovery)
    await again.live.start()
    assert again.router.open("n.ipynb").path == "m.ipynb"


async def test_notebook_in_a_renamed_directory_is_found(bench: LiveHarness) -> None:
    (bench.file.parent / "old").mkdir()
    bench.file.rename(bench.file.parent / "old" / "n.ipynb")
    (bench.file.parent / "old").rename(bench.file.parent / "new")
    bench.live.renamed("old", "new")
    assert bench.router.open("old/n.ipynb").path == "new/n.ipynb"
