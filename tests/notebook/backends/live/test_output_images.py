import asyncio
import base64

from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.guard.filesystem.workspace import WorkspacePath
from jupyter_ai_shoulders.notebook.backends.live.notebook_claims import NotebookClaim
from jupyter_ai_shoulders.notebook.backends.live.output_images import PageOutputRasterizer
from jupyter_ai_shoulders.testing.memory_store import CountingIds
from jupyter_ai_shoulders.wire.frames import OutputDraw, OutputPicture, ServerFrame
from jupyter_ai_shoulders.wire.ids import CellId, ClientId, OperationId

PAGE, OTHER = ClientId("page"), ClientId("other")
CELL = CellId("a")


class Page:
    """A page that shows one notebook and answers on demand."""

    def __init__(self, *, is_open: bool = True, seconds: float = 60.0) -> None:
        claim = NotebookClaim(
            client=PAGE,
            path=WorkspacePath("x.ipynb"),
            page_path="link.ipynb",
            epoch=1,
            dirty=False,
            saved_at=None,
            focus=1,
            cells=(),
        )
        self.asked: asyncio.Queue[OutputDraw] = asyncio.Queue()
        self.rasters = PageOutputRasterizer(
            lambda path: claim if is_open else None, self, SystemClock(), CountingIds(), seconds
        )

    def send(self, client_id: ClientId, frame: ServerFrame) -> None:
        assert client_id == PAGE
        assert isinstance(frame, OutputDraw)
        self.asked.put_nowait(frame)

    def answer(self, asked: OutputDraw, data: str | None, client: ClientId = PAGE) -> None:
        frame = OutputPicture(operation_id=asked.operation_id, data=data)
        self.rasters.answered(client, frame)


async def test_page_is_asked_by_its_own_name_for_the_notebook():
    page = Page()
    picture = asyncio.create_task(page.rasters.picture("x.ipynb", CELL, 2))
    asked = await page.asked.get()
    assert (asked.path, asked.cell_id, asked.index) == ("link.ipynb", CELL, 2)
    page.answer(asked, base64.b64encode(b"others").decode(), OTHER)
    page.answer(asked, base64.b64encode(b"drawn").decode())
    page.answer(asked, base64.b64encode(b"again").decode())
    assert await picture == b"drawn"


async def test_what_a_page_cannot_draw_is_no_picture():
    page = Page()
    for data in (None, "no base64!"):
        picture = asyncio.create_task(page.rasters.picture("x.ipynb", CELL, 0))
        page.answer(await page.asked.get(), data)
        assert await picture is None


async def test_nobody_waits_for_a_page_that_is_gone_or_silent():
    assert await Page(is_open=False).rasters.picture("x.ipynb", CELL, 0) is None
    silent = Page(seconds=0.01)
    assert await silent.rasters.picture("x.ipynb", CELL, 0) is None
    silent.answer(await silent.asked.get(), "bGF0ZQ==")
    page = Page()
    picture = asyncio.create_task(page.rasters.picture("x.ipynb", CELL, 0))
    await page.asked.get()
    page.rasters.lost(OTHER)
    page.rasters.lost(PAGE)
    assert await picture is None


def test_answers_to_nothing_are_ignored():
    frame = OutputPicture(operation_id=OperationId("operation_9"), data=None)
    Page().rasters.answered(PAGE, frame)
