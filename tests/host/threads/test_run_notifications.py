"""Notifications of a thread about the cell that ran with its proposal."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import cast

import pytest

from jupyter_ai_shoulders.changes.proposals.service import ProposalService
from jupyter_ai_shoulders.core.errors import Conflict, NotFound
from jupyter_ai_shoulders.host.threads.run_notifications import (
    MAX_OUTPUTS,
    MessageSender,
    RunNotifications,
    message_id,
)
from jupyter_ai_shoulders.notebook.base import CellRun
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.testing.memory_notebooks import (
    MemoryNotebook,
    MemoryNotebooks,
    ScriptedRunner,
    memory_cell,
)
from jupyter_ai_shoulders.testing.memory_store import CountingIds, MemoryStore
from jupyter_ai_shoulders.wire.api.commands import DecideProposal, SendMessage
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.events import MessageAdd, Notice, ProposalAdd, ProposalResolve
from jupyter_ai_shoulders.wire.ids import CellId, ProposalId, SessionId
from jupyter_ai_shoulders.wire.messages import OutputAttachment
from jupyter_ai_shoulders.wire.sessions import SessionKind
from tests.changes.proposals.test_cell_proposals import PATH, session
from tests.support.proposals import build_proposal

THREAD = SessionId("thread")
CELL = CellId("a")
RUN = DecideProposal(decision="apply", run=True)
PRINTED: JsonObject = {"output_type": "stream", "name": "stdout", "text": "1\n"}


@dataclass
class RecordingEngine:
    """An engine that records notifications, or refuses them."""

    refuses: Exception | None = None
    said: list[SendMessage] = field(default_factory=list[SendMessage])

    async def send_notification(self, session_id: SessionId, command: SendMessage) -> None:
        if self.refuses is not None:
            raise self.refuses
        assert session_id == THREAD
        self.said.append(command)


class ThreadSetup:
    """A thread with a proposal on the second cell of a notebook."""

    def __init__(self, run: CellRun | None = None, kind: SessionKind = "task") -> None:
        self.store = MemoryStore()
        self.store.add(session(THREAD).model_copy(update={"kind": kind}))
        cells = [memory_cell("first", ""), memory_cell(CELL, "x = 1")]
        notebooks = MemoryNotebooks(MemoryNotebook(PATH, cells))
        self.runner = ScriptedRunner({} if run is None else {CELL: run})
        self.ear = RecordingEngine()
        self.news = RunNotifications(
            self.store, self.store, notebooks, cast("MessageSender", self.ear)
        )
        self.proposals = ProposalService(
            self.store, notebooks, self.runner, CountingIds(), listener=self.news
        )
        proposal = build_proposal(THREAD, PATH, CELL, "x = 1", "x = 2")
        self.store.append(THREAD, ProposalAdd(call_id=None, proposal=proposal))

    async def decide(self, command: DecideProposal = RUN) -> None:
        """Decide, and wait for the run to end."""
        await self.proposals.decide(ProposalId("p"), command)
        await self.proposals.settled()

    @property
    def notices(self) -> list[Notice]:
        events = [logged.event for logged in self.store.read(THREAD)]
        return [event for event in events if isinstance(event, Notice)]

    @property
    def resolved(self) -> ProposalResolve:
        (logged,) = self.store.find({"proposal-resolve"})
        assert isinstance(logged.event, ProposalResolve)
        return logged.event


def outputs(*indices: int) -> tuple[OutputAttachment, ...]:
    return tuple(
        OutputAttachment(kind="output", path=PATH, cell_id=CELL, index=index) for index in indices
    )


async def test_a_thread_is_told_what_ran_with_its_outputs() -> None:
    setup = ThreadSetup(CellRun("ok", (PRINTED, PRINTED), 1, 5, "kernel"))

    await setup.decide()

    assert setup.ear.said == [
        SendMessage(
            id=message_id(ProposalId("p")),
            text="I applied the proposed change and ran cell 2. It ended well.",
            attachments=outputs(0, 1),
        )
    ]
    assert setup.resolved.run
    assert setup.notices == []


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (CellRun("ok", (), 1, 5, "kernel"), "It ended well. It has no output."),
        (CellRun("error", (PRINTED,), 1, 5, "kernel"), "It ended with an error."),
        (CellRun("died", (PRINTED,), 1, 5, "kernel"), "The kernel died."),
    ],
    ids=["silent", "error", "died"],
)
async def test_how_it_ended_is_said_in_words_of_ours(run: CellRun, words: str) -> None:
    setup = ThreadSetup(run)

    await setup.decide()

    (message,) = setup.ear.said
    assert message.text == f"I applied the proposed change and ran cell 2. {words}"


async def test_a_cell_that_could_not_run_is_said_too() -> None:
    setup = ThreadSetup()
    setup.runner.gone.add(CELL)

    await setup.decide(RUN.model_copy(update={"text": "x = 3"}))

    (message,) = setup.ear.said
    assert message.text.startswith(
        "I applied the proposed change with changes of mine and ran cell 2. It could not be run: "
    )


async def test_of_many_outputs_the_first_and_the_last_are_attached() -> None:
    setup = ThreadSetup(CellRun("ok", (PRINTED,) * 20, 1, 5, "kernel"))

    await setup.decide()

    (message,) = setup.ear.said
    assert message.attachments == outputs(0, 1, 2, 3, 16, 17, 18, 19)
    assert len(message.attachments) == MAX_OUTPUTS


async def test_a_chat_is_not_told_of_runs_it_did_not_ask_for() -> None:
    setup = ThreadSetup(kind="chat")

    await setup.decide()

    assert setup.runner.ran == [(PATH, CELL)]
    assert (setup.ear.said, setup.resolved.run) == ([], False)


async def test_applying_without_running_tells_nothing() -> None:
    setup = ThreadSetup()

    await setup.decide(DecideProposal(decision="apply"))

    assert (setup.ear.said, setup.runner.ran, setup.resolved.run) == ([], [], False)


async def test_what_cannot_be_told_is_said_in_the_thread() -> None:
    setup = ThreadSetup()
    setup.ear.refuses = Conflict("The turn is interrupted.")

    await setup.decide()

    (notice,) = setup.notices
    assert (notice.code, notice.details) == ("run_untold", {"proposal_id": "p"})
    assert "The turn is interrupted." in notice.text
    setup.news.take_up()
    assert setup.notices == [notice]


async def test_a_deleted_thread_is_told_nothing() -> None:
    setup = ThreadSetup()
    setup.ear.refuses = NotFound("gone")

    await setup.decide()

    assert setup.notices == []


async def test_a_run_nobody_told_of_is_said_once_after_a_restart() -> None:
    setup = ThreadSetup()
    resolve = ProposalResolve(proposal_id=ProposalId("p"), state="applied", by="user", run=True)
    setup.store.append(THREAD, resolve)

    setup.news.take_up()
    setup.news.take_up()

    (notice,) = setup.notices
    assert "The server stopped before" in notice.text
    assert setup.ear.said == []


async def test_a_restart_reads_a_thread_once_for_all_its_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    setup, read = ThreadSetup(), list[SessionId | None]()
    for name in ("p1", "p2", "p3"):
        told = ProposalId(name)
        run = ProposalResolve(proposal_id=told, state="applied", by="user", run=True)
        setup.store.append(THREAD, run)
    find = setup.store.find

    def counted(types: Collection[str], session_id: SessionId | None = None) -> list[LoggedEvent]:
        read.append(session_id)
        return find(types, session_id)

    monkeypatch.setattr(setup.store, "find", counted)
    setup.news.take_up()

    assert read == [None, THREAD]
    assert len(setup.notices) == 3


async def test_a_run_that_was_told_of_is_left_alone_after_a_restart() -> None:
    setup = ThreadSetup()
    resolve = ProposalResolve(proposal_id=ProposalId("p"), state="applied", by="user", run=True)
    setup.store.append(THREAD, resolve)
    setup.store.append(THREAD, MessageAdd(message_id=message_id(ProposalId("p")), text="…"))

    setup.news.take_up()

    assert setup.notices == []


async def test_nothing_is_told_once_the_server_stops() -> None:
    setup = ThreadSetup()
    setup.news.close()

    await setup.decide()

    assert (setup.ear.said, setup.notices) == ([], [])
    assert setup.resolved.run  # so that the next start reports it
