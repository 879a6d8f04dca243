"""Review of a notebook that a page has open, with unsaved text."""

from __future__ import annotations

import asyncio

from jupyter_ai_shoulders.changes.recording.actor import Actor
from jupyter_ai_shoulders.changes.recording.recorder import ChangeRecorder
from jupyter_ai_shoulders.changes.recording.recording_wrappers import RecordedNotebooks
from jupyter_ai_shoulders.changes.review.current_text import CurrentDocumentReader
from jupyter_ai_shoulders.changes.review.deleted_cells import DeletedCells
from jupyter_ai_shoulders.changes.review.pending_edits import PendingEdits
from jupyter_ai_shoulders.changes.review.reverting import ChangeReverter
from jupyter_ai_shoulders.changes.review.service import ReviewService
from jupyter_ai_shoulders.files.base import NullChangeObserver
from jupyter_ai_shoulders.files.disk_texts import DiskTexts
from jupyter_ai_shoulders.notebook.base import Applied
from jupyter_ai_shoulders.testing.memory_file_changes import MemoryJournal
from jupyter_ai_shoulders.testing.memory_store import MemoryStore
from jupyter_ai_shoulders.wire.api.commands import DecideEdit, DecideEdits, EditChoice
from jupyter_ai_shoulders.wire.edits import PendingEdit
from jupyter_ai_shoulders.wire.frames import DocumentApply
from jupyter_ai_shoulders.wire.ids import CellId, TurnId
from jupyter_ai_shoulders.wire.notebooks import CellDelete, CellEdit, CellInsert, CellSource
from tests.engine.engine_harness import SESSION, make_session
from tests.notebook.backends.live.harness import ORIGINAL, A, B, LiveHarness
from tests.notebook.fake_page import CountingIds, FakePage


class NoKernel:
    async def kernel_generation(self, path: str) -> str | None:
        del path
        return None


class NoReturns:
    """``FileRestorer`` of notebooks, which have none."""

    async def remove(self, path: str, origin: object) -> None:
        raise AssertionError((path, origin))

    async def bring_back(self, path: str, text: str, origin: object) -> None:
        raise AssertionError((path, text, origin))


class Review:
    """The review over a page's notebook."""

    def __init__(self, bench: LiveHarness) -> None:
        self.store = store = MemoryStore()
        store.add(make_session())
        self.bench = bench
        self.book = PendingEdits(store, store.blobs, CountingIds())
        self.recorder = ChangeRecorder(store, store.blobs, NoKernel(), self.book)
        texts = DiskTexts(bench.workspace, MemoryJournal(), store.blobs, NullChangeObserver())
        self.reviews = ReviewService(
            pending_edits=self.book,
            event_log=store,
            documents=CurrentDocumentReader(bench.router, texts),
            deleted_cells=DeletedCells(store, store.blobs),
            reverting=ChangeReverter(self.recorder, store, bench.router, texts, NoReturns()),
        )

    async def agent(self, *edits: CellEdit) -> None:
        self.recorder.set_actor(Actor(SESSION, "t1", TurnId("t1")))
        try:
            notebooks = RecordedNotebooks(self.bench.router, self.recorder)
            outcome = await notebooks.open("n.ipynb").apply(edits, {})
        finally:
            self.recorder.set_actor(None)
        assert isinstance(outcome, Applied)

    async def pending(self) -> list[PendingEdit]:
        return list((await self.reviews.list()).edits)

    async def undo_all(self) -> None:
        choices = tuple(
            EditChoice(id=edit.id, current_version=edit.current_version)
            for edit in await self.pending()
        )
        decided = await self.reviews.decide_all(DecideEdits(decision="undo", edits=choices))
        assert decided.left == ()


def edits() -> tuple[CellEdit, ...]:
    new = CellInsert(
        cell_id=CellId("nnnn"), cell_type="code", source="new", metadata={}, after=None
    )
    return CellSource(cell_id=A, source="a = 2"), CellDelete(cell_id=B), new


async def test_a_page_gets_its_texts_back_in_one_step_and_keeps_its_own(bench: LiveHarness) -> None:
    page = await bench.page()
    await page.type("cccc", "c = 3\nmine = 1")
    review = Review(bench)
    await review.agent(*edits())
    assert [edit.cell_id for edit in await review.pending()] == ["nnnn", "aaaa", "bbbb"]
    asked = len(applies(page))

    await review.undo_all()

    assert page.sources == {**ORIGINAL, "cccc": "c = 3\nmine = 1"}
    assert list(page.sources) == list(ORIGINAL)
    assert len(applies(page)) == asked + 1
    assert await review.pending() == []
    assert bench.on_disk() == ORIGINAL


async def test_the_users_undo_in_the_page_settles_the_edit(bench: LiveHarness) -> None:
    page = await bench.page()
    review = Review(bench)
    await review.agent(CellSource(cell_id=A, source="a = 2"))
    assert len(await review.pending()) == 1

    await page.type("aaaa", "a = 1")

    assert await review.pending() == []


async def test_typing_beside_the_agents_line_rebases_the_edit(bench: LiveHarness) -> None:
    page = await bench.page()
    review = Review(bench)
    await review.agent(CellSource(cell_id=A, source="a = 2"))
    await page.type("aaaa", "a = 2\nmine = 1")

    (edit,) = await review.pending()
    await review.reviews.decide(edit.id, DecideEdit(decision="undo"))

    assert edit.baseline == "a = 1\nmine = 1"
    assert page.sources["aaaa"] == "a = 1\nmine = 1"


async def test_an_edit_is_undone_after_its_page_was_closed(bench: LiveHarness) -> None:
    page = await bench.page()
    review = Review(bench)
    await review.agent(CellSource(cell_id=A, source="a = 2"))
    await page.save()
    await page.close(discarded=False)

    (edit,) = await review.pending()
    await review.reviews.decide(edit.id, DecideEdit(decision="undo"))
    await bench.expire()

    assert bench.on_disk() == ORIGINAL


async def test_a_page_that_does_not_answer_leaves_the_edit_as_it_was_known(
    bench: LiveHarness,
) -> None:
    page = await bench.page()
    review = Review(bench)
    await review.agent(CellSource(cell_id=A, source="a = 2"))
    page.mute = True
    page.asked.clear()

    listing = asyncio.create_task(review.pending())
    await page.asked.wait()
    page.vanish()
    (edit,) = await listing

    assert edit.error is not None
    assert (edit.error.code, edit.current) == ("page_not_responding", "a = 2")
    (again,) = await review.pending()  # the page's last announcement is known
    assert (again.error, again.current) == (None, "a = 2")


def applies(page: FakePage) -> list[DocumentApply]:
    return [frame for frame in page.frames if isinstance(frame, DocumentApply)]
