"""What the user does in the scripted turns of the sweep, and how files are damaged meanwhile."""

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
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, SessionId
from tests.crash_sweep.host_run import CaseFolders, HostRun
from tests.storage.store import rewrite_events
from tests.support.collaboration_environment import COLLAB

PLEASE = "Please do it."
GO_ON = "Go on."
GRACE = 1.0
"""Seconds a page may be away: longer than the agent takes to its edit on a busy machine."""


async def speak(stage: HostRun) -> None:
    """Ask, and wait for the end."""
    await stage.say(PLEASE)


async def unasked(stage: HostRun) -> SessionId:
    """Ask where nothing but taint asks back, and allow that; return the conversation."""
    session = await stage.say(PLEASE, mode="bypass")
    while await stage.answer_all(session):
        pass
    return session


async def work(stage: HostRun) -> None:
    """Ask where nothing asks back."""
    await unasked(stage)


async def approve(stage: HostRun) -> None:
    """Allow what asks, and always from now on."""
    session = await stage.say(PLEASE)
    while await stage.answer_all(session, scope="session"):
        pass


async def approve_always(stage: HostRun) -> None:
    """Allow what asks, as a stored rule where that is offered."""
    session = await stage.say(PLEASE)
    for call_id in approvals(stage, session):
        asked = next(e for e in stage.client.events if isinstance(e, ev.ApprovalRequest))
        scope = "always" if "always" in asked.scopes else "once"
        await stage.host.engine.answer_approval(
            session, call_id, AnswerApproval(decision="allow", scope=scope)
        )
        await stage.settle(session)


async def deny(stage: HostRun) -> None:
    """Refuse what asks."""
    session = await stage.say(PLEASE)
    for call_id in approvals(stage, session):
        answer = AnswerApproval(decision="deny", feedback="Not this.")
        await stage.host.engine.answer_approval(session, call_id, answer)
        await stage.settle(session)


def approvals(stage: HostRun, session: SessionId) -> list[CallId]:
    """Return the calls that wait to be allowed."""
    return [call_id for kind, call_id in stage.pending(session) if kind == "approval"]


async def answer(stage: HostRun) -> None:
    """Answer what is asked."""
    session = await stage.say(PLEASE)
    await stage.answer_all(session)


async def cancel(stage: HostRun) -> None:
    """Stop while the model speaks."""
    session = stage.session()
    await stage.send(session, PLEASE)
    await stage.client.reached(ev.TextDelta, 2)
    await stage.host.engine.cancel(session)
    await stage.settle(session)


async def steer(stage: HostRun) -> None:
    """Send more while the model speaks; change one message and take one back."""
    session = stage.session(mode="bypass")
    await stage.send(session, PLEASE)
    await stage.client.reached(ev.TextDelta)
    engine = stage.host.engine
    for number in (2, 3):
        await stage.send(session, f"Also number {number}.", f"m{number}")
    with contextlib.suppress(ShouldersError):  # consumed already
        await engine.edit_message(session, MessageId("m2"), EditMessage(text="Also two."))
        await engine.remove_message(session, MessageId("m3"))
    await stage.settle(session)


async def supply(stage: HostRun) -> None:
    """Make the model's call oneself."""
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
    """Have a change proposed, because the cell is another one by now; then apply it."""
    session = stage.session(mode="auto_edit")
    await stage.send(session, PLEASE)
    await stage.client.reached(ev.ToolResult)
    path = stage.place.workspace / "a.ipynb"
    path.write_text(path.read_text().replace("x = 1", "x = 2"))
    await stage.settle(session)
    for proposal in stage.host.proposals.list():
        await stage.host.proposals.decide(proposal.id, DecideProposal(decision="apply"))


async def overlay(stage: HostRun) -> None:
    """A page with unsaved text vanishes, and the agent edits on; later its edits reach the disk."""
    page = await stage.page("a.ipynb")
    await stage.typed(page, "c1", "typed = 'by the user'")
    page.vanish()
    await unasked(stage)
    await asyncio.sleep(GRACE)  # the page does not come back
    await stage.host.live.settle()


async def in_page(stage: HostRun) -> None:
    """The agent edits in an open page that has unsaved text."""
    page = await stage.page("a.ipynb")
    await stage.typed(page, "c1", "typed = 'by the user'")
    await unasked(stage)
    await stage.host.live.settle()
    (stage.place.notes / "typed").unlink()  # the user throws it away
    await page.close(discarded=True)
    await stage.host.live.settle()


async def in_room(stage: HostRun) -> None:
    """The agent edits in a collaboration room that everyone has left, which saves at once."""
    sys.path.append(str(COLLAB))  # of pytest's processes it is a part already
    from tests.notebook.backends.shared.fake_room import FakeRoom, document_of

    file = stage.place.workspace / "a.ipynb"
    document = document_of(*json.loads(file.read_text(encoding="utf-8"))["cells"])
    stage.rooms.rooms.append(FakeRoom("room", "a.ipynb", document, file, has_pages=False))
    await unasked(stage)


async def under_a_hook(stage: HostRun) -> None:
    """The agent edits where something happens whenever a notebook is saved."""
    manager = LargeFileManager(root_dir=str(stage.place.workspace))
    manager.register_post_save_hook(_nothing_more)
    server: Any = SimpleNamespace(contents_manager=manager, root_dir=manager.root_dir)
    stage.contents.managed = ServerContents(server)
    await unasked(stage)


def _nothing_more(**_: Any) -> None:
    """A hook after saves."""


async def work_trusted(stage: HostRun) -> None:
    """Edit a notebook that the user trusts: it is signed again."""
    with (stage.place.workspace / "a.ipynb").open(encoding="utf-8") as file:
        NotebookNotary().sign(nbformat.read(file, as_version=4))
    await unasked(stage)


async def edit_in_page(stage: HostRun) -> None:
    """Have the agent edit in an open page."""
    await stage.page("a.ipynb")
    await unasked(stage)


async def return_with_edit(stage: HostRun) -> None:
    """The page that has the agent's edit comes back, then the turn goes on."""
    page = await stage.page("a.ipynb")
    await page.type("c2", "x = 9")
    await resume(stage)
    await page.close(discarded=True)
    await stage.host.live.settle()


async def send_again(stage: HostRun, message: str = "m1") -> None:
    """Send the message whose turn never began once more."""
    for session in stage.sessions():
        await stage.send(session.id, PLEASE, message)
        await stage.settle(session.id)


async def resume(stage: HostRun) -> None:
    """Go on with what a dead process left."""
    for session in interrupted(stage):
        await stage.host.engine.resume(session, ResumeTurn(decision="resume"))
        await stage.settle(session)


async def discard(stage: HostRun) -> None:
    """Give up what a dead process left."""
    for session in interrupted(stage):
        await stage.host.engine.resume(session, ResumeTurn(decision="discard"))


def interrupted(stage: HostRun) -> list[SessionId]:
    """Return the conversations in whose turn the server died."""
    return [session.id for session in stage.sessions() if session.status == "interrupted"]


async def undo_turn(stage: HostRun) -> None:
    """Have the agent work, and take back all that its turn did."""
    session = await unasked(stage)
    begun = next(e for e in stage.client.events if isinstance(e, ev.TurnStart))
    assert begun.turn_id is not None
    await stage.host.engine.restores.undo(session, UndoTurn(turn_id=begun.turn_id))


async def restore_files(stage: HostRun) -> None:
    """Have the agent work, and put files back as they were before."""
    session = await unasked(stage)
    said = next(e for e in stage.client.events if isinstance(e, ev.MessageAdd))
    command = RestoreSession(seq=said.seq, what=("files",))
    await stage.host.engine.restores.restore(session, command)


async def review(stage: HostRun) -> None:
    """Have the agent work; keep the first change that awaits review and undo the others."""
    await unasked(stage)
    pending = await stage.host.review.list(None, None, lambda _: True)
    for number, edit in enumerate(pending.edits):
        decision = "undo" if number else "keep"
        await stage.host.review.decide(edit.id, DecideEdit(decision=decision))


async def pay(stage: HostRun) -> None:
    """Reach a turn's limit, and raise it."""
    session = await unasked(stage)
    if stage.host.sessions.get(session).status == "waiting":
        more = ResumeTurn(decision="resume", limit_micro_usd=1_000_000)
        await stage.host.engine.resume(session, more)
        await stage.settle(session)


async def shut_down(stage: HostRun) -> None:
    """Be told to stop in the middle of a turn."""
    session = stage.session()
    await stage.send(session, PLEASE)
    await stage.client.reached(ev.TextDelta)
    await stage.close()


async def restore(stage: HostRun) -> None:
    """Have the agent change the notebook, then go back to before that, and take that back."""
    session = await unasked(stage)
    said = next(e for e in stage.client.events if isinstance(e, ev.MessageAdd))
    both = RestoreSession(seq=said.seq, what=("notebook", "conversation"))
    event = await stage.host.engine.restores.restore(session, both)
    again = RestoreSession(seq=event.seq, what=("notebook",))
    await stage.host.engine.restores.restore(session, again)


async def restore_over(stage: HostRun) -> None:
    """The user's change stands in the way of a restore that a running turn cannot disturb."""
    session = await unasked(stage)
    path = stage.place.workspace / "a.ipynb"
    path.write_text(path.read_text().replace("x = 3", "x = 4"))
    said = next(e for e in stage.client.events if isinstance(e, ev.MessageAdd))
    command = RestoreSession(seq=said.seq, what=("notebook",))
    await stage.host.engine.restores.restore(session, command)


async def restore_interrupted(stage: HostRun) -> None:
    """Go back to before the message in whose turn the server died."""
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
    """Send what the provider finds too long: the conversation is compacted."""
    await send_again(stage, "m9")


async def delete(stage: HostRun) -> None:
    """Delete a conversation; another one stays."""
    session = await unasked(stage)
    only_here = FileBlobs(StateDirectory(stage.place.state)).put(b"nobody else names this")
    stage.host.log.append(session, ev.ContextAdd(role="meta", source="test", blob=only_here))
    await unasked(stage)
    await stage.host.session_service.delete(stage.host.sessions.get(session))


async def fork(stage: HostRun) -> None:
    """Copy a conversation."""
    session = await unasked(stage)
    await stage.host.forks.fork(stage.host.sessions.get(session), ForkSession())


async def edit_message(stage: HostRun) -> None:
    """Edit a message of the past and send it again."""
    session = await unasked(stage)
    (said,) = stage.host.log.find({"message-add"}, session)
    assert isinstance(said.event, ev.MessageAdd)
    again = SendMessage(id=MessageId("edited"), text="Better.", replaces=said.event.message_id)
    await stage.host.engine.send(session, again)
    await stage.settle(session)


async def nothing(stage: HostRun) -> None:
    """Starting is all."""


def damage(place: CaseFolders) -> None:
    """Overwrite a page in the middle of the database."""
    with contextlib.closing(sqlite3.connect(place.state / "state.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray((place.state / "state.db").read_bytes())
    content[-4096:] = b"\xff" * 4096
    (place.state / "state.db").write_bytes(content)


def poison(place: CaseFolders) -> None:
    """Make an event that no version understands."""
    with contextlib.closing(sqlite3.connect(place.state / "state.db")) as connection, connection:
        rewrite_events(connection, "type = 'turn-start'", "{}")
