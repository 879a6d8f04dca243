"""Actions of the user and pages on task threads in the sweep."""

from __future__ import annotations

import asyncio

from jupyter_ai_shoulders.storage.sessions.table import SessionFilter
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.anchors import (
    AdoptThreads,
    ListedThread,
    MoveAnchors,
    MovedAnchor,
)
from jupyter_ai_shoulders.wire.api.commands import DecideEdit, DecideProposal
from jupyter_ai_shoulders.wire.ids import CellId, SessionId
from jupyter_ai_shoulders.wire.sessions import Anchor
from tests.crash_sweep.host_run import HostRun
from tests.crash_sweep.user_actions import PLEASE, unasked
from tests.support.proposals import build_proposal

CELL = CellId("c2")
OLD, NEW = "x = 1", "x = 3"


def anchored(document: str) -> Anchor:
    """An anchor in the notebook or another document."""
    return Anchor(
        document=document,
        cell_id=CELL,
        target="cell",
        range=None,
        quote="",
        prefix="",
        suffix="",
    )


async def travel(stage: HostRun) -> None:
    """Move a thread with its text, a renamed folder, a copied and a moved document."""
    thread = await stage.say(PLEASE, kind="task", anchor=anchored("a.ipynb"))
    host = stage.host
    moved = MovedAnchor(session_id=thread, anchor=anchored("old/b.md"))
    await host.anchors.move(MoveAnchors(moved=(moved,)), lambda _: True)
    await host.renamed("old", "new")
    await _adopted(stage, thread, "c.md")  # new/b.md no longer exists
    moved = MovedAnchor(session_id=thread, anchor=anchored("a.ipynb"))
    await host.anchors.move(MoveAnchors(moved=(moved,)), lambda _: True)
    await _adopted(stage, thread, "copy.ipynb")


async def _adopted(stage: HostRun, thread: SessionId, document: str) -> None:
    """Adopt a thread twice: it stays one thread."""
    kept = ListedThread(id=thread, anchor=anchored(document))
    command = AdoptThreads(document=document, threads=(kept,))
    first = await stage.host.thread_import.adopt(command, lambda _: True)
    assert await stage.host.thread_import.adopt(command, lambda _: True) == first
    chosen = SessionFilter(kind="task", document=document)
    assert len(stage.host.sessions.page(chosen, None, 10).sessions) == 1


async def open_task(stage: HostRun) -> None:
    """Have the agent open a thread, which starts to work."""
    await unasked(stage)
    for session in stage.sessions():
        await stage.settle(session.id)


async def apply_and_run(stage: HostRun) -> None:
    """Apply and run a thread's proposal, notify the thread, then undo it."""
    thread = stage.session(kind="task", anchor=anchored("a.ipynb"))
    proposal = build_proposal(thread, "a.ipynb", CELL, OLD, NEW)
    host = stage.host
    host.log.append(thread, ev.ProposalAdd(call_id=None, proposal=proposal))
    await host.proposals.decide(proposal.id, DecideProposal(decision="apply", run=True))
    await host.proposals.settled()
    await stage.settle(thread)
    for edit in (await host.review.list()).edits:
        await host.review.decide(edit.id, DecideEdit(decision="undo"))
    await asyncio.sleep(0)  # listeners react after the commit
    assert host.proposals.get(proposal.id).state == "undone"
