"""Simulates a notebook in several pages that sleep, wake, crash, save and answer offers.

Every line of the user and of the agent is unique and never removed: each must stay in a page, on
disk or in a recovery copy. ``test_multi_page_simulation`` runs short simulations; ``python -m
tests.notebook.backends.live.multi_page_simulation --steps 50000`` runs long ones.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import nbformat

from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import DiskNotebooks
from jupyter_ai_shoulders.notebook.backends.live.open_notebooks import OpenNotebooks
from jupyter_ai_shoulders.notebook.base import Applied
from jupyter_ai_shoulders.notebook.cells import make_cell, with_source
from jupyter_ai_shoulders.notebook.router import NotebookRouter
from jupyter_ai_shoulders.wire.frames import DocumentRecovery, DocumentSaved, ServerFrame
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import CellInsert, CellSource
from tests.notebook.fake_page import CountingIds, FakePage, FakeSockets, MemoryRecovery, StillClock

CELLS = ("aaaa", "bbbb")
PAGES = 3
ACTIONS = (
    *("open", "open", "open", "type", "type", "type", "type", "agent", "agent", "insert"),
    *("save", "close", "discard", "focus", "sleep", "sleep", "wake", "wake", "wake", "crash"),
    *("rename", "restore", "restore", "restore", "throw", "wait", "expire", "restart"),
)
Step = tuple[str, int, str]
"""An action, the number of its page, and its cell."""


class MergingPage(FakePage):
    """A page that merges changes of its file by others, cell by cell, like the real ones."""

    awake = True
    base: dict[str, str]

    @classmethod
    def load(cls, name: str, world: MultiPageSimulation) -> MergingPage:
        """Open the file."""
        page = cls(name, world.file, world.sockets, world.live, world.clock)
        page.base = dict(page.sources)
        return page

    def receive(self, frame: ServerFrame) -> None:
        """Merge the file when it was written by others."""
        super().receive(frame)
        if isinstance(frame, DocumentSaved):
            task = asyncio.create_task(self.take_up())
            self.answers.add(task)
            task.add_done_callback(self.answers.discard)

    async def take_up(self) -> None:
        """Merge the file and announce it."""
        self.merge()
        await self.announce_change()

    def merge(self) -> None:
        """Take the changes of the file; keep both texts where both changed."""
        stored = json.loads(self.file.read_text())["cells"]
        theirs = {cell["id"]: "".join(cell["source"]) for cell in stored}
        mine = self.sources
        self.cells = [
            cell
            for cell in self.cells
            if cell.id in theirs or self.base.get(cell.id) != cell.source
        ]
        for cell_id, text in theirs.items():
            base = self.base.get(cell_id)
            if cell_id not in mine:
                if base != text:
                    self.cells.append(make_cell(CellId(cell_id), "code", text, outputs=()))
            elif mine[cell_id] == base:
                self.replace(with_source(self.cell(cell_id), text))
            elif text not in {base, mine[cell_id]}:
                self.beside(text)
        self.base = theirs
        self.saved_at = self.modified()
        self.dirty = self.sources != theirs

    def beside(self, text: str) -> None:
        """Keep a text in a separate cell."""
        new = CellId(f"beside-{self.client}-{len(self.cells)}-{abs(hash(text)) % 10**8}")
        self.cells.append(make_cell(new, "raw", text))

    async def save(self) -> None:
        """Write the file, but nothing over changes that the page has not seen."""
        self.merge()
        await super().save()
        self.base = dict(self.sources)


@dataclass
class MultiPageSimulation:
    """A file, a server, some pages, and the lines that must not be lost."""

    file: Path
    workspace: Workspace
    recovery: MemoryRecovery = field(default_factory=MemoryRecovery)
    clock: StillClock = field(default_factory=StillClock)
    sockets: FakeSockets = field(default_factory=FakeSockets)
    pages: dict[int, MergingPage] = field(default_factory=dict[int, MergingPage])
    lines: set[str] = field(default_factory=set[str])
    unheard: set[str] = field(default_factory=set[str])
    """Lines typed in sleeping pages: a crash loses them."""
    taken: set[str] = field(default_factory=set[str])
    """Lines of the agent that the user accepted after a conflict: they are the user's now."""
    count: int = 0
    done: Counter[str] = field(default_factory=Counter[str])

    def start(self) -> None:
        """Start a server."""
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

    async def stop(self) -> None:
        """End it."""
        await self.live.aclose()
        await self.disk.close()

    async def step(self, action: str, number: int, cell_id: str) -> None:
        """Perform one action, let all frames arrive, and check every line."""
        before = self.file.read_bytes()
        watched = any(page.awake for page in self.pages.values())
        page = self.pages.get(number)
        self.done[action] += await getattr(self, f"do_{action}")(number, page, cell_id) is not False
        await self.settle()
        if watched and action in {"type", "agent", "insert", "focus", "wait", "expire", "wake"}:
            assert self.file.read_bytes() == before, "written below a page that has it open"
        self.look()

    async def settle(self) -> None:
        """Let pending frames arrive."""
        for _ in range(2):
            while waiting := [task for page in self.pages.values() for task in page.answers]:
                await asyncio.gather(*waiting)
            await self.live.settle()

    def look(self) -> None:
        """Check that every line exists, and no cell twice."""
        stored = json.loads(self.file.read_text())["cells"]
        texts = ["".join(cell["source"]) for cell in stored]
        lists = [[cell["id"] for cell in stored]]
        for page in self.pages.values():
            texts += page.sources.values()
            lists.append([cell.id for cell in page.cells])
        texts += self.kept()
        everywhere = set("\n".join(texts).split("\n"))
        assert self.lines <= everywhere, f"lost: {self.lines - everywhere}"
        for ids in lists:
            assert len(ids) == len(set(ids)), f"twice: {ids}"

    def kept(self) -> Iterable[str]:
        """The texts in the recovery copies."""
        for copy in self.recovery.copies:
            for cell in copy["cells"]:
                yield cell["source"] or ""
            for entry in copy["journal"]:
                yield entry["edit"].get("source", "")

    def line(self, who: str) -> str:
        """A new line."""
        self.count += 1
        return f"{who}{self.count}"

    # actions of pages and their users

    async def do_open(self, number: int, page: MergingPage | None, _: str) -> bool | None:
        if page is not None:
            return False
        self.pages[number] = MergingPage.load(self.line("page"), self)
        await self.pages[number].open()
        return None

    async def do_type(self, _: int, page: MergingPage | None, cell_id: str) -> bool | None:
        if page is None or cell_id not in page.sources:
            return False
        line = self.line("user")
        text = f"{page.sources[cell_id]}\n{line}"
        if page.awake:
            await page.type(cell_id, text)
        else:
            page.change_silently(cell_id, text)
            self.unheard.add(line)
        self.lines.add(line)
        return None

    async def do_focus(self, _: int, page: MergingPage | None, __: str) -> bool | None:
        if page is None or not page.awake:
            return False
        return await page.focus()

    async def do_save(self, _: int, page: MergingPage | None, __: str) -> bool | None:
        if page is None or not page.awake:
            return False
        return await page.save()

    async def do_close(self, number: int, page: MergingPage | None, _: str) -> bool | None:
        if page is None or not page.awake:
            return False
        await page.save()
        await self.settle()
        await page.close(discarded=False)
        del self.pages[number]
        return None

    async def do_discard(self, number: int, page: MergingPage | None, _: str) -> bool | None:
        """Close without saving: text typed there is lost; the agent's edits are not."""
        if page is None or not page.awake:
            return False
        typed = {line for line in _lines(page.sources.values()) if line.startswith("user")}
        typed |= self.taken & _lines(page.sources.values())
        await page.close(discarded=True)
        del self.pages[number]
        await self.settle()
        self.give_up(typed)
        return None

    def give_up(self, lines: set[str]) -> None:
        """Forget lines that the user discarded; they may remain elsewhere."""
        self.lines -= lines

    async def do_sleep(self, _: int, page: MergingPage | None, __: str) -> bool | None:
        if page is None or not page.awake:
            return False
        page.awake = False
        page.vanish()
        return None

    async def do_wake(self, _: int, page: MergingPage | None, __: str) -> bool | None:
        if page is None or page.awake:
            return False
        page.awake = True
        page.live = self.live
        page.path, page.file = self.file.name, self.file
        await page.open()
        await self.settle()
        await page.take_up()
        self.unheard -= _lines(page.sources.values())
        return None

    async def do_crash(self, number: int, page: MergingPage | None, _: str) -> bool | None:
        if page is None:
            return False
        if page.awake:
            page.vanish()
        else:
            lost = self.unheard & _lines(page.sources.values())
            self.unheard -= lost
            self.give_up(lost)
        del self.pages[number]
        return None

    async def do_rename(self, _: int, page: MergingPage | None, __: str) -> bool | None:
        """Rename in one page; other pages that are awake follow, as with the lab's sessions."""
        if page is None or not page.awake:
            return False
        name = f"{self.line('n')}.ipynb"
        await page.rename(name)
        self.file = page.file
        for other in self.pages.values():
            if other is not page and other.awake:
                await other.follow(self.file)
        return None

    async def do_restore(self, _: int, page: MergingPage | None, __: str) -> bool | None:
        offer = _offer(page)
        if page is None or offer is None:
            return False
        for cell in offer.cells:
            here = page.sources.get(cell.id)
            if here is None:
                page.cells.append(make_cell(cell.id, cell.cell_type, cell.source))
            elif here == cell.base:
                page.replace(with_source(page.cell(cell.id), cell.source))
            else:
                page.beside(cell.source)
        page.dirty = True
        self.taken |= _lines(cell.source for cell in offer.cells)
        await page.announce_change()
        await page.answer(offer, "restored")
        return None

    async def do_throw(self, _: int, page: MergingPage | None, __: str) -> bool | None:
        offer = _offer(page)
        if page is None or offer is None:
            return False
        self.give_up(_lines(cell.source for cell in offer.cells))
        await page.answer(offer, "discarded")
        return None

    # actions of the agent, the clock and the server

    async def do_agent(self, _: int, __: MergingPage | None, cell_id: str) -> bool | None:
        notebook = self.router.open(self.file.name)
        cell = (await notebook.read()).cell(CellId(cell_id))
        if cell is None:
            return False
        line = self.line("agent")
        edit = CellSource(cell_id=cell.id, source=f"{cell.source}\n{line}")
        if isinstance(await notebook.apply([edit], {cell.id: cell.version}), Applied):
            self.lines.add(line)
        return None

    async def do_insert(self, _: int, __: MergingPage | None, ___: str) -> bool | None:
        line = self.line("agent")
        edit = CellInsert(
            cell_id=CellId(line), cell_type="code", source=line, metadata={}, after=None
        )
        outcome = await self.router.open(self.file.name).apply([edit], {})
        assert isinstance(outcome, Applied)
        self.lines.add(line)
        return None

    async def do_wait(self, *_: object) -> None:
        await self.clock.advance(20)

    async def do_expire(self, *_: object) -> None:
        await self.clock.advance(3_600)

    async def do_restart(self, *_: object) -> None:
        """Kill the server; pages that are awake connect to the next one."""
        for page in self.pages.values():
            if page.awake:
                page.vanish()
        killed = dict(self.recovery.texts)
        await self.stop()
        self.recovery.texts = killed
        self.start()
        await self.live.start()
        for page in self.pages.values():
            if page.awake:
                page.live = self.live
                await page.open()
                await self.settle()
                await page.take_up()


def _offer(page: MergingPage | None) -> DocumentRecovery | None:
    """Return the first offer that a page got."""
    return next(iter(page.offers.values()), None) if page is not None and page.awake else None


def _lines(texts: Iterable[str]) -> set[str]:
    return set("\n".join(texts).split("\n"))


async def live_through(steps: Sequence[Step]) -> Counter[str]:
    """Run one simulation; return how often each action was possible."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "n.ipynb"
        cells = [nbformat.v4.new_code_cell(cell_id, id=cell_id) for cell_id in CELLS]
        file.write_text(nbformat.writes(nbformat.v4.new_notebook(cells=cells)))
        world = MultiPageSimulation(file, Workspace(folder))
        world.start()
        try:
            await world.step("open", 0, "")
            for step in steps:
                await world.step(*step)
        finally:
            await world.stop()
            world.workspace.close()
        return world.done


def random_steps(rng: Random, count: int) -> list[Step]:
    """Return a number of random steps."""
    return [(rng.choice(ACTIONS), rng.randrange(PAGES), rng.choice(CELLS)) for _ in range(count)]


def main() -> int:
    """Run simulations of 40 steps until the number is reached."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    began, done, seed = time.monotonic(), Counter[str](), wanted.seed
    while done.total() < wanted.steps:
        steps = random_steps(Random(seed), 40)
        try:
            done += asyncio.run(live_through(steps))
        except AssertionError:
            sys.stdout.write(f"seed {seed}: {steps}\n")
            raise
        seed += 1
    seconds = time.monotonic() - began
    sys.stdout.write(f"{done.total()} steps, {seed - wanted.seed} lives, {seconds:.0f} s: {done}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
