"""Actions of the user in the sweep, and damage to files."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import sys
from types import SimpleNamespace
from typing import Any

import nbformat
from jupyter_server.services.contents.largefilemanager import LargeFileManager
from nbformat.sign import NotebookNotary

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.server.adapters.contents_manager import ServerContents
from jupyter_ai_shoulders.storage.blobs import FileBlobs
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import (
    AnswerApproval,
    DecideEdit,
    DecideProposal,
    EditMessage,
    ForkSession,
    RestoreSession,
    ResumeTurn,
    SendMessage,
    StartRun,
    UndoTurn,
)
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, ModelId, SessionId
from tests.crash_sweep.host_run import CaseFolders, HostRun
from tests.storage.store import rewrite_events
from tests.support.collaboration_environment import COLLAB

PLEASE = "Please do it."
GO_ON = "Go on."
GRACE = 1.0
"""Seconds a page may be disconnected: longer than the agent needs for its edit on a busy machine.
"""


async def speak(stage: HostRun) -> None:
    """Send a message and wait for the end."""
    await stage.say(PLEASE)


async def unasked(stage: HostRun) -> SessionId:
    """Send a message where only taint asks, and allow it; return the session."""
    session = await stage.say(PLEASE, mode="bypass")
    while await stage.answer_all(session):
        pass
    return session


async def let_agent_work(stage: HostRun) -> None:
    """Send a message to an agent of another program, and allow what it asks."""
    session = await stage.say(PLEASE, model=ModelId("agent:scripted"), mode="auto_edit")
    while await stage.answer_all(session):
        pass


async def work(stage: HostRun) -> None:
    """Send a message where nothing asks."""
    await unasked(stage)


async def approve(stage: HostRun) -> None:
    """Approve what asks, for the rest of the session."""
    session = await stage.say(PLEASE)
    while await stage.answer_all(session, scope="session"):
        pass


async def approve_always(stage: HostRun) -> None:
    """Approve what asks, as a stored rule where that is offered."""
    session = await stage.say(PLEASE)
    for call_id in approvals(stage, session):
        asked = next(e for e in stage.client.events if isinstance(e, ev.ApprovalRequest))
        scope = "always" if "always" in asked.scopes else "once"
        await stage.host.engine.responses.answer_approval(
            session, call_id, AnswerApproval(decision="allow", scope=scope)
        )
        await stage.settle(session)


async def deny(stage: HostRun) -> None:
    """Deny what asks."""
    session = await stage.say(PLEASE)
    for call_id in approvals(stage, session):
        answer = AnswerApproval(decision="deny", feedback="Not this.")
        await stage.host.engine.responses.answer_approval(session, call_id, answer)
        await stage.settle(session)


def approvals(stage: HostRun, session: SessionId) -> list[CallId]:
    """Return the calls that wait for approval."""
    return [call_id for kind, call_id in stage.pending(session) if kind == "approval"]


async def answer(stage: HostRun) -> None:
    """Answer the question."""
    session = await stage.say(PLEASE)
    await stage.answer_all(session)


async def cancel(stage: HostRun) -> None:
    """Cancel while the model answers."""
    session = stage.session()
    await stage.send(session, PLEASE)
    await stage.client.reached(ev.TextDelta, 2)
    await stage.host.engine.cancel(session)
    await stage.settle(session)


async def steer(stage: HostRun) -> None:
    """Send messages while the model answers; change one and remove one."""
    session = stage.session(mode="bypass")
    await stage.send(session, PLEASE)
    await stage.client.reached(ev.TextDelta)
    engine = stage.host.engine
    for number in (2, 3):
        await stage.send(session, f"Also number {number}.", f"m{number}")
    with contextlib.suppress(ShouldersError):  # already consumed
        await engine.messages.edit_queued(session, MessageId("m2"), EditMessage(text="Also two."))
        await engine.messages.remove_queued(session, MessageId("m3"))
    await stage.settle(session)


async def supply(stage: HostRun) -> None:
    """Supply the result of the model's call."""
    session = await stage.say(PLEASE, tools="parse_only")
    while await stage.answer_all(session):
        pass


async def run_from_outside(stage: HostRun) -> None:
    """Start a background run twice under one key."""
    for number in (1, 2):
        command = StartRun(prompt=PLEASE, external_key="job", id=MessageId(f"m{number}"))
        session, _ = await stage.host.runs.start(command, None)
        stage.place.note("accepted", session.id, f"m{number}")
        await stage.settle(session.id)


async def propose(stage: HostRun) -> None:
    """Have a change proposed because the cell has changed; then apply it."""
    session = stage.session(mode="auto_edit")
    await stage.send(session, PLEASE)
    await stage.client.reached(ev.ToolResult)
    path = stage.place.workspace / "a.ipynb"
    path.write_text(path.read_text().replace("x = 1", "x = 2"))
    await stage.settle(session)
    for proposal in stage.host.proposals.list():
        await stage.host.proposals.decide(proposal.id, DecideProposal(decision="apply"))


async def overlay(stage: HostRun) -> None:
    """Disconnect a page with unsaved text while the agent edits; its edits reach the disk later."""
    page = await stage.page("a.ipynb")
    await stage.typed(page, "c1", "typed = 'by the user'")
    page.vanish()
    await unasked(stage)
    await asyncio.sleep(GRACE)  # the page does not come back
    await stage.host.live.settle()


async def in_page(stage: HostRun) -> None:
    """Have the agent edit in an open page with unsaved text."""
    page = await stage.page("a.ipynb")
    await stage.typed(page, "c1", "typed = 'by the user'")
    await unasked(stage)
    await stage.host.live.settle()
    (stage.place.notes / "typed").unlink()  # the user discards it
    await page.close(discarded=True)
    await stage.host.live.settle()


async def in_room(stage: HostRun) -> None:
    """Have the agent edit in a collaboration room without users, which saves at once."""
    sys.path.append(str(COLLAB))  # already part of pytest's processes
    from tests.notebook.backends.shared.fake_room import FakeRoom, document_of

    file = stage.place.workspace / "a.ipynb"
    document = document_of(*json.loads(file.read_text(encoding="utf-8"))["cells"])
    stage.rooms.rooms.append(FakeRoom("room", "a.ipynb", document, file, has_pages=False))
    await unasked(stage)


async def under_a_hook(stage: HostRun) -> None:
    """Have the agent edit with a hook on saving notebooks."""
    manager = LargeFileManager(root_dir=str(stage.place.workspace))
    manager.register_post_save_hook(_nothing_more)
    server: Any = SimpleNamespace(contents_manager=manager, root_dir=manager.root_dir)
    stage.contents.managed = ServerContents(server)
    await unasked(stage)


def _nothing_more(**_: Any) -> None:
    """A post-save hook."""


async def work_trusted(stage: HostRun) -> None:
    """Edit a trusted notebook: it is signed again."""
    with (stage.place.workspace / "a.ipynb").open(encoding="utf-8") as file:
        NotebookNotary().sign(nbformat.read(file, as_version=4))
    await unasked(stage)


async def edit_in_page(stage: HostRun) -> None:
    """Have the agent edit in an open page."""
    await stage.page("a.ipynb")
    await unasked(stage)


async def return_with_edit(stage: HostRun) -> None:
    """Reconnect the page that has the agent's edit, then continue the turn."""
    page = await stage.page("a.ipynb")
    await page.type("c2", "x = 9")
    await resume(stage)
    await page.close(discarded=True)
    await stage.host.live.settle()


async def send_again(stage: HostRun, message: str = "m1") -> None:
    """Send the message again whose turn never started."""
    for session in stage.sessions():
        await stage.send(session.id, PLEASE, message)
        await stage.settle(session.id)


async def resume(stage: HostRun) -> None:
    """Resume the turn of a dead process."""
    for session in interrupted(stage):
        await stage.host.engine.resume(session, ResumeTurn(decision="resume"))
        await stage.settle(session)


async def discard(stage: HostRun) -> None:
    """Discard the turn of a dead process."""
    for session in interrupted(stage):
        await stage.host.engine.resume(session, ResumeTurn(decision="discard"))


def interrupted(stage: HostRun) -> list[SessionId]:
    """Return the sessions whose turn was interrupted."""
    return [session.id for session in stage.sessions() if session.status == "interrupted"]


async def undo_turn(stage: HostRun) -> None:
    """Have the agent work, and undo its turn."""
    session = await unasked(stage)
    begun = next(e for e in stage.client.events if isinstance(e, ev.TurnStart))
    assert begun.turn_id is not None
    await stage.host.engine.restores.undo(session, UndoTurn(turn_id=begun.turn_id))


async def restore_files(stage: HostRun) -> None:
    """Have the agent work, and restore the files."""
    session = await unasked(stage)
    said = next(e for e in stage.client.events if isinstance(e, ev.MessageAdd))
    command = RestoreSession(seq=said.seq, what=("files",))
    await stage.host.engine.restores.restore(session, command)


async def review(stage: HostRun) -> None:
    """Have the agent work; keep the first pending edit and undo the others."""
    await unasked(stage)
    pending = await stage.host.review.list(None, None, lambda _: True)
    for number, edit in enumerate(pending.edits):
        decision = "undo" if number else "keep"
        await stage.host.review.decide(edit.id, DecideEdit(decision=decision))


async def pay(stage: HostRun) -> None:
    """Reach a turn's limit and raise it."""
    session = await unasked(stage)
    if stage.host.sessions.get(session).status == "waiting":
        more = ResumeTurn(decision="resume", limit_micro_usd=1_000_000)
        await stage.host.engine.resume(session, more)
        await stage.settle(session)


async def shut_down(stage: HostRun) -> None:
    """Shut down in the middle of a turn."""
    session = stage.session()
    await stage.send(session, PLEASE)
    await stage.client.reached(ev.TextDelta)
    await stage.close()


async def restore(stage: HostRun) -> None:
    """Have the agent change the notebook, restore it, and undo the restore."""
    session = await unasked(stage)
    said = next(e for e in stage.client.events if isinstance(e, ev.MessageAdd))
    both = RestoreSession(seq=said.seq, what=("notebook", "conversation"))
    event = await stage.host.engine.restores.restore(session, both)
    again = RestoreSession(seq=event.seq, what=("notebook",))
    await stage.host.engine.restores.restore(session, again)


async def restore_over(stage: HostRun) -> None:
    """Restore a notebook that the user has changed since."""
    session = await unasked(stage)
    path = stage.place.workspace / "a.ipynb"
    path.write_text(path.read_text().replace("x = 3", "x = 4"))
    said = next(e for e in stage.client.events if isinstance(e, ev.MessageAdd))
    command = RestoreSession(seq=said.seq, what=("notebook",))
    await stage.host.engine.restores.restore(session, command)


async def restore_interrupted(stage: HostRun) -> None:
    """Restore to before the message whose turn was interrupted."""
    for session in interrupted(stage):
        said = next(iter(stage.host.log.find({"message-add"}, session))).event
        command = RestoreSession(seq=said.seq, what=("notebook", "conversation"))
        await stage.host.engine.restores.restore(session, command)


async def talk(stage: HostRun) -> None:
    """Have a long conversation."""
    session = await unasked(stage)
    for number in range(2, 7):
        await stage.send(session, f"Say more, number {number}.", f"m{number}")
        await stage.settle(session)


async def overflow(stage: HostRun) -> None:
    """Send a prompt the provider finds too long: the conversation is compacted."""
    await send_again(stage, "m9")


async def delete(stage: HostRun) -> None:
    """Delete one of two conversations."""
    session = await unasked(stage)
    only_here = FileBlobs(StateDirectory(stage.place.state)).put(b"nobody else names this")
    stage.host.log.append(session, ev.ContextAdd(role="meta", source="test", blob=only_here))
    await unasked(stage)
    await stage.host.session_service.delete(stage.host.sessions.get(session))


async def fork(stage: HostRun) -> None:
    """Fork a conversation."""
    session = await unasked(stage)
    await stage.host.forks.fork(stage.host.sessions.get(session), ForkSession())


async def edit_message(stage: HostRun) -> None:
    """Edit an earlier message and send it again."""
    session = await unasked(stage)
    (said,) = stage.host.log.find({"message-add"}, session)
    assert isinstance(said.event, ev.MessageAdd)
    again = SendMessage(id=MessageId("edited"), text="Better.", replaces=said.event.message_id)
    await stage.host.engine.send(session, again)
    await stage.settle(session)


async def nothing(stage: HostRun) -> None:
    """Do nothing after the start."""


def damage(place: CaseFolders) -> None:
    """Overwrite a page in the middle of the database."""
    with contextlib.closing(sqlite3.connect(place.state / "state.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray((place.state / "state.db").read_bytes())
    content[-4096:] = b"\xff" * 4096
    (place.state / "state.db").write_bytes(content)


def poison(place: CaseFolders) -> None:
    """Insert an event that no version understands."""
    with contextlib.closing(sqlite3.connect(place.state / "state.db")) as connection, connection:
        rewrite_events(connection, "type = 'turn-start'", "{}")
