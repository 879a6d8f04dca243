"""The scripted turns of the sweep: what the user does, what the model says, which files there are.

``{effects}`` in files and scripts is the file that cells write a line to each time they run; a
source with ``# once: label`` may be in a notebook one time only.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Mapping
from typing import Any

import nbformat
from nbformat.sign import NotebookNotary

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.storage.blobs import FileBlobs
from jupyter_ai_shoulders.storage.directory import StateDirectory
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.commands import (
    AnswerApproval,
    DecideProposal,
    EditMessage,
    ForkSession,
    ResumeTurn,
    SendMessage,
    StartRun,
)
from jupyter_ai_shoulders.wire.ids import MessageId
from tests.crash_sweep.stage import Place, Scenario, Stage
from tests.upstream import calls, notebook, says

PLEASE = "Please do it."
GO_ON = "Go on."
COUNT = "open('{effects}', 'a').write('ran\\n')"
TEXT = "One two three four."
SLOW = {"event_delay": 0.01}
GRACE = 0.3
"""Seconds a page may be away."""


def script(
    *first: Mapping[str, Any], replies: tuple[Mapping[str, Any], ...] = ()
) -> dict[str, Any]:
    """A model that answers the request with ``first``, in order of the results it has seen."""
    rules: list[dict[str, Any]] = [{"when": {"user": "^Go on"}, "reply": says("All is well.")}]
    if first:
        rules.append({"when": {"user": "Please", "has_results": False}, "reply": first[0]})
    for position, reply in enumerate(first[1:], 1):
        when = {"tool_result": f"(?s)^.*{MARKS[position - 1]}"}
        rules.append({"when": when, "reply": reply})
    return {"replies": list(replies), "rules": rules, "default": says("Done.")}


MARKS = ("cell 1 · id=c1", "first mark")
"""What the results of first calls hold, to tell which step it is."""


def several(*made: tuple[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A reply that makes several calls."""
    parts = [{"kind": "tool", "name": name, "arguments": dict(args)} for name, args in made]
    return {"parts": [{"kind": "text", "text": "I will."}, *parts]}


def edit(source: str) -> dict[str, Any]:
    """A reply that changes the second cell."""
    return calls("edit_cell", {"path": "a.ipynb", "cell_id": "c2", "source": source})


def run_cell(cell: str = "c1") -> dict[str, Any]:
    """A reply that runs a cell."""
    return calls("run_cell", {"path": "a.ipynb", "cell_id": cell})


READ = ("read_notebook", {"path": "a.ipynb"})
BOOK = {"a.ipynb": notebook(("c1", COUNT), ("c2", "x = 1"))}


async def speak(stage: Stage) -> None:
    """Ask, and wait for the end."""
    await stage.say(PLEASE)


async def work(stage: Stage) -> None:
    """Ask where nothing asks back."""
    await stage.say(PLEASE, mode="bypass")


async def approve(stage: Stage) -> None:
    """Allow what asks, and always from now on."""
    session = await stage.say(PLEASE)
    while await stage.answer_all(session, scope="session"):
        pass


async def approve_always(stage: Stage) -> None:
    """Allow what asks, as a stored rule where that is offered."""
    session = await stage.say(PLEASE)
    for _, call_id in [pair for pair in stage.pending(session) if pair[0] == "approval"]:
        asked = next(e for e in stage.client.events if isinstance(e, ev.ApprovalRequest))
        scope = "always" if "always" in asked.scopes else "once"
        await stage.host.engine.answer_approval(
            session, call_id, AnswerApproval(decision="allow", scope=scope)
        )
        await stage.settle(session)


async def deny(stage: Stage) -> None:
    """Refuse what asks."""
    session = await stage.say(PLEASE)
    asked = [call_id for kind, call_id in stage.pending(session) if kind == "approval"]
    for call_id in asked:
        answer = AnswerApproval(decision="deny", feedback="Not this.")
        await stage.host.engine.answer_approval(session, call_id, answer)
        await stage.settle(session)


async def answer(stage: Stage) -> None:
    """Answer what is asked."""
    session = await stage.say(PLEASE)
    await stage.answer_all(session)


async def cancel(stage: Stage) -> None:
    """Stop while the model speaks."""
    session = stage.session()
    await stage.send(session, PLEASE)
    await stage.client.reached(ev.TextDelta, 2)
    await stage.host.engine.cancel(session)
    await stage.settle(session)


async def steer(stage: Stage) -> None:
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


async def supply(stage: Stage) -> None:
    """Make the model's call oneself."""
    session = await stage.say(PLEASE, tools="parse_only")
    while await stage.answer_all(session):
        pass


async def run_from_outside(stage: Stage) -> None:
    """Start a background run twice under one key."""
    for number in (1, 2):
        command = StartRun(prompt=PLEASE, external_key="job", id=MessageId(f"m{number}"))
        session, _ = await stage.host.runs.start(command, None)
        stage.place.note("accepted", session.id, f"m{number}")
        await stage.settle(session.id)


async def propose(stage: Stage) -> None:
    """Have a change proposed, because the cell is another one by now; then apply it."""
    session = stage.session(mode="auto_edit")
    await stage.send(session, PLEASE)
    await stage.client.reached(ev.ToolResult)
    path = stage.place.workspace / "a.ipynb"
    path.write_text(path.read_text().replace("x = 1", "x = 2"))
    await stage.settle(session)
    for proposal in stage.host.proposals.list():
        await stage.host.proposals.decide(proposal.id, DecideProposal(decision="apply"))


async def overlay(stage: Stage) -> None:
    """A page with unsaved text vanishes, and the agent edits on; later its edits reach the disk."""
    page = await stage.page("a.ipynb")
    await stage.typed(page, "c1", "typed = 'by the user'")
    page.vanish()
    await stage.say(PLEASE, mode="bypass")
    await asyncio.sleep(GRACE)  # the page does not come back
    await stage.host.live.settle()


async def in_page(stage: Stage) -> None:
    """The agent edits in an open page that has unsaved text."""
    page = await stage.page("a.ipynb")
    await stage.typed(page, "c1", "typed = 'by the user'")
    await stage.say(PLEASE, mode="bypass")
    await stage.host.live.settle()
    (stage.place.notes / "typed").unlink()  # the user throws it away
    await page.close(discarded=True)
    await stage.host.live.settle()


async def work_trusted(stage: Stage) -> None:
    """Edit a notebook that the user trusts: it is signed again."""
    with (stage.place.workspace / "a.ipynb").open(encoding="utf-8") as file:
        NotebookNotary().sign(nbformat.read(file, as_version=4))
    await work(stage)


async def edit_in_page(stage: Stage) -> None:
    """Have the agent edit in an open page."""
    await stage.page("a.ipynb")
    await stage.say(PLEASE, mode="bypass")


async def return_with_edit(stage: Stage) -> None:
    """The page that has the agent's edit comes back, then the turn goes on."""
    page = await stage.page("a.ipynb")
    await page.type("c2", "x = 9")
    await resume(stage)
    await page.close(discarded=True)
    await stage.host.live.settle()


async def send_again(stage: Stage) -> None:
    """Send the message whose turn never began once more."""
    for session in stage.sessions():
        await stage.send(session.id, PLEASE)
        await stage.settle(session.id)


async def begin(stage: Stage) -> None:
    """Only start a turn and stay in it."""
    await stage.say(PLEASE, mode="bypass")


async def resume(stage: Stage) -> None:
    """Go on with what a dead process left."""
    for session in stage.sessions():
        if session.status == "interrupted":
            await stage.host.engine.resume(session.id, ResumeTurn(decision="resume"))
            await stage.settle(session.id)


async def discard(stage: Stage) -> None:
    """Give up what a dead process left."""
    for session in stage.sessions():
        if session.status == "interrupted":
            await stage.host.engine.resume(session.id, ResumeTurn(decision="discard"))


async def pay(stage: Stage) -> None:
    """Reach a turn's limit, and raise it."""
    session = await stage.say(PLEASE, mode="bypass")
    if stage.host.sessions.get(session).status == "waiting":
        more = ResumeTurn(decision="resume", limit_micro_usd=1_000_000)
        await stage.host.engine.resume(session, more)
        await stage.settle(session)


async def shut_down(stage: Stage) -> None:
    """Be told to stop in the middle of a turn."""
    session = stage.session()
    await stage.send(session, PLEASE)
    await stage.client.reached(ev.TextDelta)
    await stage.close()


async def talk(stage: Stage) -> None:
    """Have a long conversation."""
    session = await stage.say(PLEASE, mode="bypass")
    for number in range(2, 7):
        await stage.send(session, f"Say more, number {number}.", f"m{number}")
        await stage.settle(session)


async def overflow(stage: Stage) -> None:
    """Send what the provider finds too long: the conversation is compacted."""
    for session in stage.sessions():
        await stage.send(session.id, PLEASE, "m9")
        await stage.settle(session.id)


async def delete(stage: Stage) -> None:
    """Delete a conversation; another one stays."""
    session = await stage.say(PLEASE, mode="bypass")
    only_here = FileBlobs(StateDirectory(stage.place.state)).put(b"nobody else names this")
    stage.host.log.append(session, ev.ContextAdd(role="meta", source="test", blob=only_here))
    await stage.say(PLEASE, mode="bypass")
    await stage.host.conversations.delete(stage.host.sessions.get(session))


async def fork(stage: Stage) -> None:
    """Copy a conversation."""
    session = await stage.say(PLEASE, mode="bypass")
    await stage.host.forks.fork(stage.host.sessions.get(session), ForkSession())


async def edit_message(stage: Stage) -> None:
    """Edit a message of the past and send it again."""
    session = await stage.say(PLEASE, mode="bypass")
    (said,) = stage.host.log.find({"message-add"}, session)
    assert isinstance(said.event, ev.MessageAdd)
    again = SendMessage(id=MessageId("edited"), text="Better.", replaces=said.event.message_id)
    await stage.host.engine.send(session, again)
    await stage.settle(session)


async def nothing(stage: Stage) -> None:
    """Starting is all."""


def damage(place: Place) -> None:
    """Overwrite a page in the middle of the database."""
    with contextlib.closing(sqlite3.connect(place.state / "state.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray((place.state / "state.db").read_bytes())
    content[-4096:] = b"\xff" * 4096
    (place.state / "state.db").write_bytes(content)


def poison(place: Place) -> None:
    """Make an event that no version understands."""
    with contextlib.closing(sqlite3.connect(place.state / "state.db")) as connection, connection:
        connection.execute("UPDATE events SET body = '{}' WHERE type = 'turn-start'")


TOO_LONG = "prompt is too long: 210000 tokens > 200000 maximum"
LONG = "print('x' * 60_000)"

SCENARIOS: tuple[Scenario, ...] = (
    Scenario("text", speak, script(says(TEXT, **SLOW))),
    Scenario(
        "reading tools",
        speak,
        script(several(READ), several(("todo", {"markdown": "- [x] read"}))),
        BOOK,
    ),
    Scenario(
        "parallel batch",
        work,
        script(
            several(
                READ,
                ("todo", {"markdown": "- [ ] all"}),
                ("add_cell", {"path": "a.ipynb", "source": "y = 2  # once: y"}),
            )
        ),
        BOOK,
        rewritten=("a.ipynb",),
    ),
    Scenario("approval of a run", approve, script(run_cell()), BOOK, rewritten=("a.ipynb",)),
    Scenario(
        "approval for good",
        approve_always,
        script(several(READ), edit("x = 5")),
        BOOK,
        rewritten=("a.ipynb",),
    ),
    Scenario(
        "denial",
        deny,
        script(several(("run_cell", {"path": "a.ipynb", "cell_id": "c1"}), READ)),
        BOOK,
    ),
    Scenario(
        "question",
        answer,
        script(calls("clarify", {"question": "Which one?", "options": ["A", "B"]})),
    ),
    Scenario("cell run", work, script(run_cell()), BOOK, rewritten=("a.ipynb",)),
    Scenario(
        "long output",
        work,
        script(run_cell("c3")),
        {"a.ipynb": notebook(("c1", COUNT), ("c3", LONG))},
        rewritten=("a.ipynb",),
        checkpoint_bytes=50_000,
    ),
    Scenario(
        "kernel of our own",
        work,
        script(run_cell()),
        BOOK,
        shared_kernel=False,
        rewritten=("a.ipynb",),
    ),
    Scenario(
        "edits on disk",
        work_trusted,
        script(
            several(READ),
            several(
                ("edit_cell", {"path": "a.ipynb", "cell_id": "c2", "source": "x = 3"}),
                ("add_cell", {"path": "a.ipynb", "source": "z = 3  # once: z", "after": "c2"}),
                ("delete_cell", {"path": "a.ipynb", "cell_id": "c1"}),
            ),
        ),
        BOOK,
        rewritten=("a.ipynb",),
    ),
    Scenario(
        "proposal",
        propose,
        script(
            several(READ),
            {
                **several(("edit_cell", {"path": "a.ipynb", "cell_id": "c2", "source": "x = 3"})),
                "delivery": {"first_byte_delay": 0.15},
            },
        ),
        BOOK,
        rewritten=("a.ipynb",),
    ),
    Scenario(
        "artifacts",
        work,
        script(
            several(
                ("share_artifact", {"path": "data.csv", "description": "Data"}),
                ("share_artifact", {"content": "# Report", "filename": "report.md"}),
            )
        ),
        {"data.csv": "a,b\n1,2\n"},
    ),
    Scenario(
        "completion",
        work,
        script(calls("complete", {"summary": "The notebook was read and every cell is in order."})),
    ),
    Scenario("cancel", cancel, script(says(TEXT * 5, event_delay=0.02))),
    Scenario("steer", steer, script(says(TEXT, event_delay=0.03))),
    Scenario(
        "provider retry",
        speak,
        script(
            says(TEXT),
            replies=({"failure": {"status": 529, "headers": {"retry-after-ms": "20"}}},),
        ),
    ),
    Scenario("results supplied", supply, script(several(READ)), BOOK),
    Scenario("run from outside", run_from_outside, script(several(READ)), BOOK),
    Scenario(
        "page away",
        overlay,
        script(several(READ), edit("x = 7")),
        BOOK,
        page_grace=GRACE,
        rewritten=("a.ipynb",),
    ),
    Scenario(
        "page open",
        in_page,
        script(several(READ), edit("x = 8")),
        BOOK,
        rewritten=("a.ipynb",),
    ),
    Scenario("limit of money", pay, script(several(READ), says("Paid.")), BOOK, turn_limit=1),
    Scenario("shutdown", shut_down, script(says(TEXT, event_delay=0.05))),
    Scenario(
        "restart and resume",
        resume,
        script(run_cell()),
        BOOK,
        prepare=begin,
        prepare_until="tools.effect.done",
        rewritten=("a.ipynb",),
    ),
    Scenario(
        "restart and resume an edit",
        resume,
        script(several(READ), edit("x = 3")),
        BOOK,
        prepare=begin,
        prepare_until="disk.replace.synced",
        rewritten=("a.ipynb",),
    ),
    Scenario(
        "restart and return of the page",
        return_with_edit,
        script(several(READ), edit("x = 9")),
        BOOK,
        prepare=edit_in_page,
        prepare_until="live.page.applied",
        rewritten=("a.ipynb",),
    ),
    Scenario(
        "restart in the middle of a paid call",
        resume,
        script(says(TEXT, **SLOW)),
        prepare=begin,
        prepare_until="engine.delta.recorded",
        turn_limit=10_000_000,
    ),
    Scenario(
        "message sent again",
        send_again,
        script(says(TEXT)),
        prepare=begin,
        prepare_until="log.session.committed",
        prepare_at=2,
    ),
    Scenario(
        "event nobody understands",
        nothing,
        script(says(TEXT, **SLOW)),
        prepare=begin,
        prepare_until="engine.delta.recorded",
        spoil=poison,
        sets_aside=True,
    ),
    Scenario(
        "restart and discard",
        discard,
        script(says(TEXT, **SLOW)),
        prepare=begin,
        prepare_until="engine.delta.recorded",
    ),
    Scenario(
        "compaction",
        overflow,
        script(says(TEXT), replies=({"failure": {"status": 400, "message": TOO_LONG}},)),
        prepare=talk,
        prepare_script=script(says(TEXT)),
    ),
    Scenario(
        "damaged database",
        nothing,
        script(several(READ)),
        BOOK,
        prepare=begin,
        spoil=damage,
    ),
    Scenario("fork", fork, script(says(TEXT))),
    Scenario("edited message", edit_message, script(says("One."), says("Two."))),
    Scenario(
        "deleted long ago",
        nothing,
        script(several(READ)),
        BOOK,
        prepare=delete,
        ahead_days=40,
    ),
)

NAMES = {scenario.name: scenario for scenario in SCENARIOS}
