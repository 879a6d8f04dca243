"""Random simulations of a notebook: no text of the user and no edit of the agent is lost."""

import asyncio
import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import DiskNotebooks
from jupyter_ai_shoulders.notebook.backends.live.open_notebooks import OpenNotebooks
from jupyter_ai_shoulders.notebook.base import Applied
from jupyter_ai_shoulders.notebook.router import NotebookRouter
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import CellSource
from tests.notebook.fake_page import CountingIds, FakePage, FakeSockets, MemoryRecovery, StillClock

CELLS = ("aaaa", "bbbb")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("type"), st.sampled_from(CELLS)),
        st.tuples(st.just("agent"), st.sampled_from(CELLS)),
        st.tuples(st.just("undo"), st.sampled_from(CELLS)),
        st.tuples(
            st.sampled_from(
                ["save", "vanish", "return", "reload", "discard", "close", "expire", "restart"]
            ),
            st.just(""),
        ),
    ),
    min_size=3,
    max_size=14,
)


@dataclass
class World:
    """A notebook, a server, at most one page, and the texts that must not be lost."""

    file: Path
    workspace: Workspace
    recovery: MemoryRecovery = field(default_factory=MemoryRecovery)
    clock: StillClock = field(default_factory=StillClock)
    sockets: FakeSockets = field(default_factory=FakeSockets)
    page: FakePage | None = None
    away: FakePage | None = None
    texts: int = 0
    by_user: dict[str, str] = field(default_factory=dict[str, str])
    by_agent: dict[str, str] = field(default_factory=dict[str, str])
    saved: set[str] = field(default_factory=set[str])
    in_effect: dict[str, str] = field(default_factory=dict[str, str])
    """The agent's edits of cells that the user did not touch: every reader must see them."""
    contested: set[str] = field(default_factory=set[str])
    taken_back: set[str] = field(default_factory=set[str])

    def start_server(self) -> None:
        self.disk = DiskNotebooks(self.workspace)
        self.live = OpenNotebooks(
            workspace=self.workspace,
            disk=self.disk,
            transport=self.sockets,
            recovery=self.recovery,
            clock=self.clock,
            ids=CountingIds(),
            sleep=self.clock.sleep,
        )
        self.router = NotebookRouter(self.workspace, self.live, self.disk)

    async def stop_server(self) -> None:
        await self.live.aclose()
        await self.disk.close()

    async def step(self, action: str, cell_id: str) -> None:
        before = self.file.read_bytes()
        claimed = self.page is not None and action not in {"save", "discard", "vanish"}
        await getattr(self, f"do_{action}")(cell_id)
        await self.live.settle()
        if claimed and self.page is not None and action not in {"restart", "close", "reload"}:
            assert self.file.read_bytes() == before, "written underneath an open page"
        self.forget_replaced()
        self.check()
        snapshot = await self.router.open("n.ipynb").read()
        sources: dict[str, str] = {cell.id: cell.source for cell in snapshot.cells}
        assert {cell_id: sources[cell_id] for cell_id in self.in_effect} == self.in_effect

    def forget_replaced(self) -> None:
        """The agent replaced text that it had read in the page; undo there restores it."""
        shown = self.page.sources if self.page is not None else {}
        for cell_id, text in self.by_agent.items():
            if shown.get(cell_id) == text:
                self.by_user.pop(cell_id, None)

    def check(self) -> None:
        on_disk = self.on_disk()
        places = [json.dumps(on_disk), *self.recovery.texts.values()]
        places += [json.dumps(page.sources) for page in (self.page, self.away) if page]
        for text in [*self.by_user.values(), *self.by_agent.values()]:
            assert any(text in place for place in places), f"{text} is lost"
        unsaved = {text for text in on_disk.values() if text.startswith("user")} - self.saved
        assert not unsaved, "written without the user having saved"
        assert not self.taken_back & {*on_disk.values()}, "done again although it was taken back"

    def on_disk(self) -> dict[str, str]:
        cells = json.loads(self.file.read_text())["cells"]
        return {cell["id"]: "".join(cell["source"]) for cell in cells}

    def new_text(self, who: str) -> str:
        self.texts += 1
        return f"{who}-{self.texts}."

    async def do_type(self, cell_id: str) -> None:
        if self.page is not None:
            text = self.new_text("user")
            await self.page.type(cell_id, text)
            self.by_user[cell_id] = text
            self.by_agent.pop(cell_id, None)  # overwritten by typing
            self.in_effect.pop(cell_id, None)
            self.contested.add(cell_id)

    async def do_undo(self, cell_id: str) -> None:
        """Undo an unsaved edit of the agent."""
        before = self.on_disk()[cell_id]
        if self.page is None or self.page.sources[cell_id] == before:
            return
        if self.page.sources[cell_id] == self.in_effect.get(cell_id):
            self.taken_back.add(self.in_effect.pop(cell_id))
            self.by_agent.pop(cell_id)
            await self.page.type(cell_id, before)

    async def do_agent(self, cell_id: str) -> None:
        notebook = self.router.open("n.ipynb")
        cell = (await notebook.read()).cell(CellId(cell_id))
        assert cell is not None
        text = self.new_text("agent")
        edit = CellSource(cell_id=cell.id, source=text)
        outcome = await notebook.apply([edit], {cell.id: cell.version})
        assert isinstance(outcome, Applied)
        self.by_agent[cell_id] = text
        self.in_effect.pop(cell_id, None)
        if cell_id not in self.contested:
            self.in_effect[cell_id] = text

    async def do_save(self, _: str) -> None:
        if self.page is not None:
            self.saved.update(self.page.sources.values())
            await self.page.save()
            self.by_user.clear()
            self.contested.clear()

    async def do_vanish(self, _: str) -> None:
        if self.page is not None:
            self.page.vanish()
            self.page, self.away = None, self.page

    async def do_return(self, _: str) -> None:
        if self.page is None and self.away is not None:
            self.page, self.away = self.away, None
            self.page.live, self.page.sockets = self.live, self.sockets
            await self.page.open()
            # A text that is only on disk is not in the page; its user decides at the next save.
            for texts in (self.by_agent, self.in_effect):
                for cell_id, text in list(texts.items()):
                    if text in self.on_disk().values():
                        del texts[cell_id]
            self.contested.update(CELLS)

    async def do_reload(self, _: str) -> None:
        await self.do_vanish("")
        self.away = None
        self.contested.clear()
        self.page = FakePage(self.new_text("page"), self.file, self.sockets, self.live, self.clock)
        await self.page.open()

    async def do_discard(self, _: str) -> None:
        if self.page is not None:
            await self.page.close(discarded=True)
            self.page = None
            self.by_user.clear()
            self.contested.clear()

    async def do_close(self, _: str) -> None:
        if self.page is not None:
            await self.do_save("")
            await self.page.close(discarded=False)
            self.page = None

    async def do_expire(self, _: str) -> None:
        await self.clock.advance(3_600)

    async def do_restart(self, _: str) -> None:
        """Kill the server; a connected page connects to the next one."""
        if self.page is not None:
            await self.do_vanish("")
        await self.stop_server()
        self.start_server()
        await self.live.start()


async def live_through(steps: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "n.ipynb"
        cells = [nbformat.v4.new_code_cell("", id=cell_id) for cell_id in CELLS]
        file.write_text(nbformat.writes(nbformat.v4.new_notebook(cells=cells)))
        world = World(file, Workspace(folder))
        world.start_server()
        try:
            await world.step("reload", "")
            for action, cell_id in steps:
                await world.step(action, cell_id)
        finally:
            await world.stop_server()
            world.workspace.close()


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=STEPS)
def test_nothing_is_lost_whatever_happens(
    jp_asyncio_loop: asyncio.AbstractEventLoop, steps: list[tuple[str, str]]
) -> None:
    jp_asyncio_loop.run_until_complete(live_through(steps))
