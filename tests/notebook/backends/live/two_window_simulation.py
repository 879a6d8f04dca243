"""Simulates a notebook in two windows: the marks of the agent's text, and the effect of Undo.

Every word of a cell has an author: users type ``u1``, the agent writes ``g1``. After each step
everything marked is the agent's, and no Keep, Undo or Restore removes a user's word from any
window; Apply removes only the words that the card showed as removed. ``test_two_window_simulation``
runs short simulations; ``python -m tests.notebook.backends.live.two_window_simulation --steps
20000`` runs long ones.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import nbformat

from jupyter_ai_shoulders.changes.proposals.service import ProposalService
from jupyter_ai_shoulders.changes.recording.actor import Actor
from jupyter_ai_shoulders.changes.recording.recorder import ChangeRecorder
from jupyter_ai_shoulders.changes.recording.recording_wrappers import RecordedNotebooks
from jupyter_ai_shoulders.changes.remaining_hunks import accept_hunks, revert_hunks
from jupyter_ai_shoulders.changes.restore.restorer import Restorer
from jupyter_ai_shoulders.changes.review.current_text import CurrentDocumentReader
from jupyter_ai_shoulders.changes.review.deleted_cells import DeletedCells
from jupyter_ai_shoulders.changes.review.pending_edits import PendingEdits
from jupyter_ai_shoulders.changes.review.reverting import ChangeReverter
from jupyter_ai_shoulders.changes.review.service import ReviewService
from jupyter_ai_shoulders.core.current_page import CurrentPage
from jupyter_ai_shoulders.core.errors import Conflict, ShouldersError
from jupyter_ai_shoulders.core.text_merge import merge_preferring
from jupyter_ai_shoulders.files.base import NullChangeObserver
from jupyter_ai_shoulders.files.disk_texts import DiskTexts
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import DiskNotebooks
from jupyter_ai_shoulders.notebook.backends.live.open_notebooks import OpenNotebooks
from jupyter_ai_shoulders.notebook.base import CellRun
from jupyter_ai_shoulders.notebook.router import NotebookRouter
from jupyter_ai_shoulders.testing.memory_file_changes import MemoryJournal
from jupyter_ai_shoulders.testing.memory_notebooks import ScriptedRunner
from jupyter_ai_shoulders.testing.memory_store import MemoryStore
from jupyter_ai_shoulders.wire.api.commands import (
    DecideEdit,
    DecideEdits,
    DecideProposal,
    EditChoice,
)
from jupyter_ai_shoulders.wire.edits import PendingEdit, Proposal
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.event_types.restore import RestoreRequest
from jupyter_ai_shoulders.wire.events import ProposalAdd
from jupyter_ai_shoulders.wire.ids import CellId, ProposalId, RestoreId, SessionId, TurnId
from jupyter_ai_shoulders.wire.notebooks import CellEdit, CellInsert, CellSource
from jupyter_ai_shoulders.wire.versions import cell_version
from tests.engine.engine_harness import SESSION, make_session
from tests.notebook.backends.live.multi_page_simulation import MergingPage
from tests.notebook.fake_page import CountingIds, FakeSockets, MemoryRecovery, StillClock

CELLS = ("aaaa", "bbbb")
TYPED = ("write", "write", "write", "append", "append", "delete")
EDITED = ("write", "write", "append", "append", "replace", "delete", "insert", "rewrite")
DECIDED = ("undo", "undo_hunk", "undo_here", "undo_all", "keep", "keep_hunk", "keep_here")
ACTIONS = (
    *("type", "type", "type", "type", "type", "agent", "agent", "agent", "agent", "turn"),
    *("focus", "save", "save", "reload", "restart", "undo_turn", "undo_turn", "restore"),
    *("redo", "propose", "propose", "apply", "apply", *DECIDED, *DECIDED),
)
TAKES_NOTHING = frozenset({*DECIDED, "undo_turn", "restore", "redo", "restart", "apply", "propose"})
"""After these every word of the user is still there, except those an applied card showed as
removed.
"""
GOES_BACK = frozenset({"restore", "redo"})
"""These may undo the return of a word that the agent had removed."""


class NoKernel:
    """``Kernels`` of a notebook without a kernel."""

    async def kernel_generation(self, path: str) -> str | None:
        """Return nothing."""
        del path
        return None


class Threads:
    """``RunListener`` of task threads, which run nothing here."""

    def is_thread(self, session_id: SessionId) -> bool:
        """Return True: applied changes are reviewed."""
        return session_id == SESSION

    async def run_ended(self, proposal: Proposal, outcome: CellRun | ErrorInfo) -> None:
        """Refuse."""
        raise AssertionError((proposal, outcome))


class NoReturns:
    """``FileRestorer`` of notebooks, which have none."""

    async def remove(self, path: str, origin: object) -> None:
        """Refuse."""
        raise AssertionError((path, origin))

    async def bring_back(self, path: str, text: str, origin: object) -> None:
        """Refuse."""
        raise AssertionError((path, text, origin))


@dataclass
class TwoWindowSimulation:
    """A file, a server with its review, and two windows."""

    file: Path
    workspace: Workspace
    random: Random
    recovery: MemoryRecovery = field(default_factory=MemoryRecovery)
    clock: StillClock = field(default_factory=StillClock)
    sockets: FakeSockets = field(default_factory=FakeSockets)
    acting: CurrentPage = field(default_factory=CurrentPage)
    pages: list[MergingPage] = field(default_factory=list[MergingPage])
    count: int = 0
    turn: int = 1
    returned: set[str] = field(default_factory=set[str])
    """Words that the agent had removed and that returned: undoing the return removes them."""
    shown: set[str] = field(default_factory=set[str])
    """Words that the card of the last applied proposal showed as removed."""
    applied: set[str] = field(default_factory=set[str])
    """Lines of applied proposals: they are the agent's, even where they restore old lines."""
    brought: set[str] = field(default_factory=set[str])
    """Old words that an applied proposal restored: undoing it removes them."""
    done: Counter[str] = field(default_factory=Counter[str])

    async def start(self) -> None:
        """Start a server and open both windows."""
        self.disk = DiskNotebooks(self.workspace)
        self.live = OpenNotebooks(
            workspace=self.workspace,
            disk=self.disk,
            transport=self.sockets,
            recovery=self.recovery,
            clock=self.clock,
            ids=CountingIds(),
            acting=self.acting,
            sleep=self.clock.sleep,
        )
        self.router = NotebookRouter(self.workspace, self.live, self.disk)
        self.store = MemoryStore()
        self.store.add(make_session())
        self.ids = CountingIds()
        self._make_review()
        for _ in range(2):
            await self._open(len(self.pages))

    async def stop(self) -> None:
        """End it."""
        await self.live.aclose()
        await self.disk.close()

    def _make_review(self) -> None:
        store = self.store
        self.book = PendingEdits(store, store.blobs, self.ids)
        self.recorder = ChangeRecorder(
            store, store.blobs, NoKernel(), self.book, current_page=self.acting
        )
        texts = DiskTexts(self.workspace, MemoryJournal(), store.blobs, NullChangeObserver())
        self.reviews = ReviewService(
            pending_edits=self.book,
            event_log=store,
            documents=CurrentDocumentReader(self.router, texts),
            deleted_cells=DeletedCells(store, store.blobs),
            reverting=ChangeReverter(self.recorder, store, self.router, texts, NoReturns()),
            show_elsewhere=self.live.show_elsewhere,
        )
        self.restorer = Restorer(store, store.blobs, self.router, self.recorder, self.ids)
        self.proposals = ProposalService(
            store, self.router, ScriptedRunner(), self.ids, self.recorder, listener=Threads()
        )

    async def step(self) -> None:
        """Perform one action in one window, let all frames arrive, and check both."""
        action = self.random.choice(ACTIONS)
        page = self.random.choice(self.pages)
        self.acting.set_client(page.client)
        before = [(each, self.of_user(each)) for each in self.pages]
        self.done[action] += await getattr(self, f"do_{action}")(page) is not False
        await self.settle()
        if action in TAKES_NOTHING:
            excused = self.brought.copy()
            excused |= self.returned if action in GOES_BACK else set()
            excused |= self.shown if action == "apply" else set()
            for each, words in before:
                now = self.of_user(each)
                self.returned |= now - words
                if action == "apply":
                    self.brought |= now - words
                lost = words - now - excused
                assert not lost, f"{action} took {sorted(lost)} out of {each.client}"
        for each in self.pages:
            await self.check_marks(each)

    async def settle(self) -> None:
        """Let frames, their answers and the effects arrive."""
        while any(page.answers for page in self.pages):
            for page in self.pages:
                await page.answered()
        await self.live.settle()
        if any(page.answers for page in self.pages):
            await self.settle()

    async def check_marks(self, page: MergingPage) -> None:
        """Check that every marked line is the agent's, with old words of the user only."""
        self.acting.set_client(page.client)
        for edit in (await self.reviews.list()).edits:
            if edit.current is None or edit.cell_id is None:
                continue
            assert edit.current == page.sources[edit.cell_id]
            before = words_of("" if edit.baseline is None else edit.baseline)
            marked = edit.current.split("\n")
            if edit.baseline is not None:
                marked = [
                    line for hunk in edit.hunks for line in marked[hunk.after_from : hunk.after_to]
                ]
            for line in marked:
                if not line or line in self.applied:
                    continue
                words = words_of(line)
                users = {word for word in words if not word.startswith("g")}
                assert users != words, f"{line!r} is marked: {edit}"
                assert users <= before, f"{users - before} would go: {edit}"

    def of_user(self, page: MergingPage) -> set[str]:
        """Return the words in a window that the agent did not write."""
        words = words_of("\n".join(page.sources.values()))
        return {word for word in words if not word.startswith("g")}

    def word(self, who: str) -> str:
        """Return a word that was never written before."""
        self.count += 1
        return f"{who}{self.count}"

    # actions of the user

    async def do_type(self, page: MergingPage) -> bool | None:
        """Write a line, write in a line, or remove a line."""
        cell_id = self.random.choice(list(page.sources))
        way = self.random.choice(TYPED)
        text = self.changed(page.sources[cell_id], way, self.word("u"))
        if self.random.random() < 0.2:  # the server does not know yet
            page.change_silently(cell_id, text)
        else:
            await page.type(cell_id, text)
        return None

    async def do_focus(self, page: MergingPage) -> None:
        await page.focus()

    async def do_save(self, page: MergingPage) -> None:
        await page.save()

    async def do_reload(self, page: MergingPage) -> None:
        """Reload a window; its unsaved text is in the recovery copy."""
        page.vanish()
        await self._open(self.pages.index(page))

    async def _open(self, number: int) -> None:
        page = MergingPage(self.word("page"), self.file, self.sockets, self.live, self.clock)
        page.base = dict(page.sources)
        self.pages[number : number + 1] = [page]
        await page.open()
        await self.settle()

    async def _edits(self) -> list[PendingEdit]:
        return [edit for edit in (await self.reviews.list()).edits if edit.error is None]

    async def _edit(self, *, of_text: bool = True) -> PendingEdit | None:
        edits = [edit for edit in await self._edits() if edit.hunks or not of_text]
        return self.random.choice(edits) if edits else None

    async def _decide(self, edit: PendingEdit, **command: object) -> None:
        seen = {"current_version": edit.current_version, "baseline_version": edit.baseline_version}
        try:
            await self.reviews.decide(edit.id, DecideEdit.model_validate({**seen, **command}))
        except Conflict:  # typed in the window since it was read, or protected: nothing is done
            self.done["refused"] += 1

    async def do_undo(self, _: MergingPage) -> bool | None:
        edit = await self._edit(of_text=False)
        return False if edit is None else await self._decide(edit, decision="undo")

    async def do_keep(self, _: MergingPage) -> bool | None:
        edit = await self._edit(of_text=False)
        return False if edit is None else await self._decide(edit, decision="keep")

    async def do_undo_hunk(self, _: MergingPage) -> bool | None:
        edit = await self._edit()
        if edit is None:
            return False
        return await self._decide(edit, decision="undo", hunks=(self._hunk(edit),))

    async def do_keep_hunk(self, _: MergingPage) -> bool | None:
        edit = await self._edit()
        if edit is None:
            return False
        return await self._decide(edit, decision="keep", hunks=(self._hunk(edit),))

    async def do_undo_here(self, page: MergingPage) -> bool | None:
        """Undo in the editor, as a step of the window's own undo stack, and notify the server."""
        edit = await self._edit()
        if edit is None or edit.baseline is None or edit.current is None:
            return False
        assert edit.cell_id is not None
        text = revert_hunks(edit.baseline, edit.current, edit.hunks, {self._hunk(edit)})
        await page.type(edit.cell_id, text)
        told = {"baseline": edit.baseline, "current_version": cell_version(text)}
        return await self._decide(edit, decision="undo", baseline_version=None, **told)

    async def do_keep_here(self, _: MergingPage) -> bool | None:
        """Keep in the editor, and tell the server what remains."""
        edit = await self._edit()
        if edit is None or edit.baseline is None or edit.current is None:
            return False
        left = accept_hunks(edit.baseline, edit.current, edit.hunks, {self._hunk(edit)})
        return await self._decide(edit, decision="keep", baseline=left)

    async def do_undo_all(self, _: MergingPage) -> bool | None:
        edits = await self._edits()
        if not edits:
            return False
        choices = tuple(EditChoice(id=edit.id) for edit in edits)
        await self.reviews.decide_all(DecideEdits(decision="undo", edits=choices))
        return None

    async def do_apply(self, page: MergingPage) -> bool | None:
        """Apply a proposal, half of the time with the text that its card shows now."""
        open_ones = [each for each in self.proposals.list() if each.state == "proposed"]
        if not open_ones:
            return False
        proposal = self.random.choice(open_ones)
        assert proposal.cell_id is not None
        base, text = proposal.old, proposal.new
        command = DecideProposal(decision="apply")
        if self.random.random() < 0.5 and proposal.cell_id in page.sources:
            base = page.sources[proposal.cell_id]
            text = merge_preferring(proposal.old, base, proposal.new)
            command = DecideProposal(decision="apply", text=text, base=base)
        self.shown = set(Counter(base.split()) - Counter(text.split()))  # a word may be there twice
        self.applied.update(proposal.new.split("\n"))
        if (
            proposal.cell_id in page.sources and self.random.random() < 0.3
        ):  # and types at the same time
            typed = f"{page.sources[proposal.cell_id]}\n{self.word('u')}"
            page.change_silently(proposal.cell_id, typed)
        decided = await self.proposals.decide(proposal.id, command)
        self.done[f"proposal {decided.state}"] += 1
        return None

    def _hunk(self, edit: PendingEdit) -> int:
        return self.random.randrange(len(edit.hunks))

    async def do_undo_turn(self, _: MergingPage) -> None:
        await self._put_back(0, TurnId(f"t{self.random.randint(1, self.turn)}"))

    async def do_restore(self, _: MergingPage) -> None:
        await self._put_back(self.random.randint(1, self.store.last_seq(SESSION)) - 1, None)

    async def do_redo(self, _: MergingPage) -> bool | None:
        """Undo the last restore or undo of a turn."""
        if self.done["undo_turn"] + self.done["restore"] == 0:
            return False
        return await self._put_back(0, TurnId(self.restored))

    async def _put_back(self, after: int, turn_id: TurnId | None) -> None:
        self.restored = RestoreId(self.word("r"))
        order = RestoreRequest(
            restore_id=self.restored, seq=after + 1, what=("notebook",), turn_id=turn_id
        )
        await self.restorer.restore(SESSION, order, after)

    # actions of the agent and the server

    async def do_turn(self, _: MergingPage) -> None:
        self.turn += 1

    async def do_restart(self, _: MergingPage) -> None:
        """Rebuild the review from storage."""
        self._make_review()
        await self.book.load()

    async def do_agent(self, _: MergingPage) -> bool | None:
        """Change a cell like a tool that has read it in the window that sent the message."""
        turn = TurnId(f"t{self.turn}")
        self.recorder.set_actor(Actor(SESSION, turn, turn))
        try:
            notebook = RecordedNotebooks(self.router, self.recorder).open(self.file.name)
            cell = self.random.choice((await notebook.read()).cells)
            way, word = self.random.choice(EDITED), self.word("g")
            edit: CellEdit = CellSource(
                cell_id=cell.id, source=self.changed(cell.source, way, word)
            )
            if way == "insert":
                edit = CellInsert(
                    cell_id=CellId(f"new-{word}"),
                    cell_type="code",
                    source=word,
                    metadata={},
                    after=cell.id,
                )
            await notebook.apply([edit], {cell.id: cell.version})
        except ShouldersError:
            return False
        finally:
            self.recorder.set_actor(None)
        return None

    async def do_propose(self, _: MergingPage) -> None:
        """Propose a change to a cell's current text."""
        cell = self.random.choice((await self.router.open(self.file.name).read()).cells)
        proposal = Proposal(
            id=ProposalId(self.word("p")),
            session_id=SESSION,
            turn_id=TurnId(f"t{self.turn}"),
            document=self.file.name,
            cell_id=cell.id,
            old=cell.source,
            new=self.changed(cell.source, self.random.choice(EDITED), self.word("g")),
            current=cell.source,
            current_version=cell.version,
            reason="",
            state="proposed",
        )
        self.store.append(
            SESSION, ProposalAdd(turn_id=proposal.turn_id, call_id=None, proposal=proposal)
        )

    def changed(self, text: str, way: str, word: str) -> str:
        """Return a text with a change of whole lines, or of a word in one."""
        lines = text.split("\n")
        at = self.random.randrange(len(lines))
        match way:
            case "write":
                lines.insert(self.random.randint(0, len(lines)), word)
            case "append":
                lines[at] = f"{lines[at]} {word}".strip()
            case "replace":
                lines[at] = word
            case "rewrite":
                lines = [word if self.random.random() < 0.5 else line for line in lines]
                lines = [*dict.fromkeys(lines)]
            case _:
                del lines[at]
        return "\n".join(lines)


def words_of(text: str) -> set[str]:
    """Return the words of a text."""
    return set(text.split())


async def play(seed: int, steps: int) -> Counter[str]:
    """Run a simulation; return how often each action was done."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "n.ipynb"
        cells = [
            nbformat.v4.new_code_cell(f"s{number}\nt{number}\nv{number}", id=cell_id)
            for number, cell_id in enumerate(CELLS)
        ]
        file.write_text(nbformat.writes(nbformat.v4.new_notebook(cells=cells)))
        world = TwoWindowSimulation(file, Workspace(folder), Random(seed))
        try:
            await world.start()
            for number in range(steps):
                try:
                    await world.step()
                except AssertionError as error:
                    raise AssertionError(f"seed {seed}, step {number}: {error}") from error
        finally:
            await world.stop()
            world.workspace.close()
        return world.done


def main(arguments: Sequence[str]) -> None:
    """Run simulations of 60 steps until the number is reached, and print the steps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    done: Counter[str] = Counter()
    began, seed = time.monotonic(), given.seed
    for seed in lives(given.seed, given.steps):
        done += asyncio.run(play(seed, LIFE))
    seconds = time.monotonic() - began
    sys.stdout.write(f"{(seed - given.seed + 1) * LIFE} steps in {seconds:.0f} s: {dict(done)}\n")


LIFE = 60
"""Steps of a simulation."""


def lives(first: int, steps: int) -> Iterable[int]:
    """Return the seeds for a number of steps."""
    return range(first, first + -(-steps // LIFE))


if __name__ == "__main__":
    main(sys.argv[1:])
