import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pytest

from jupyter_ai_shoulders.changes.proposals.service import ProposalService
from jupyter_ai_shoulders.core.clock import timestamp
from jupyter_ai_shoulders.core.errors import Conflict, NotFound, StateUnavailable
from jupyter_ai_shoulders.notebook.base import Applied, Conflicted
from jupyter_ai_shoulders.testing.memory_notebooks import (
    MemoryNotebook,
    MemoryNotebooks,
    ScriptedRunner,
    memory_cell,
)
from jupyter_ai_shoulders.testing.memory_store import CountingIds, MemoryStore
from jupyter_ai_shoulders.wire.api.commands import DecideProposal
from jupyter_ai_shoulders.wire.edits import Proposal, ProposalState
from jupyter_ai_shoulders.wire.events import ProposalAdd, ProposalResolve
from jupyter_ai_shoulders.wire.ids import CellId, ProposalId, SessionId, TurnId, Version
from jupyter_ai_shoulders.wire.notebooks import CellEdit
from jupyter_ai_shoulders.wire.sessions import Session
from jupyter_ai_shoulders.wire.versions import cell_version

PATH = "analysis.ipynb"
APPLY = DecideProposal(decision="apply")
NOW = timestamp(datetime(2026, 1, 1, tzinfo=UTC))


def session(name: str) -> Session:
    return Session(
        id=SessionId(name),
        kind="chat",
        source="chat",
        title="",
        model=None,
        mode="ask",
        tools="enabled",
        toolset="notebook",
        interactive=True,
        status="idle",
        anchor=None,
        owner=None,
        message_count=0,
        last_seq=0,
        tokens_used=0,
        window=None,
        cost_micro_usd=None,
        created_at=NOW,
        updated_at=NOW,
    )


class ProposalHarness:
    """A notebook with one cell, a log with a proposal for it, and the service."""

    def __init__(self) -> None:
        self.notebook = MemoryNotebook(PATH, [memory_cell("a", "user's")])
        self.store = MemoryStore()
        self.runner = ScriptedRunner()
        self.proposals = ProposalService(
            self.store, MemoryNotebooks(self.notebook), self.runner, CountingIds()
        )
        self.add("p", "session")

    def add(self, name: str, owner: str) -> None:
        self.store.add(session(owner))
        proposal = Proposal(
            id=ProposalId(name),
            session_id=SessionId(owner),
            turn_id=TurnId("turn"),
            document=PATH,
            cell_id=CellId("a"),
            old="user's",
            new="agent's",
            current="user's",
            current_version=cell_version("user's"),
            reason="changed",
            state="proposed",
        )
        event = ProposalAdd(turn_id=TurnId("turn"), call_id=None, proposal=proposal)
        self.store.append(SessionId(owner), event)

    async def decide(self, command: DecideProposal) -> Proposal:
        return await self.proposals.decide(ProposalId("p"), command)

    def source(self) -> str:
        return self.notebook.cell("a").source

    def states(self) -> list[tuple[str, ProposalState]]:
        return [(proposal.id, proposal.state) for proposal in self.proposals.list()]

    def last_event(self) -> object:
        return self.store.read(SessionId("session"))[-1].event


async def test_applying_writes_the_text_and_records_it():
    harness = ProposalHarness()
    assert (await harness.decide(APPLY)).state == "applied"
    assert harness.source() == "agent's"
    event = harness.last_event()
    assert isinstance(event, ProposalResolve)
    assert (event.proposal_id, event.state, event.by) == ("p", "applied", "user")
    assert event.turn_id == "turn"
    assert harness.states() == [("p", "applied")]
    assert harness.store.synced[SessionId("session")] == event.seq
    assert harness.runner.ran == []


async def test_an_edited_text_is_applied_instead_and_run_when_asked():
    harness = ProposalHarness()
    edited = DecideProposal(decision="apply", text="both", run=True)
    assert (await harness.decide(edited)).state == "edited"
    assert harness.source() == "both"
    await harness.runner.begun.wait()
    assert harness.runner.ran == [(PATH, CellId("a"))]
    await harness.proposals.aclose()


async def test_dismissing_writes_nothing():
    harness = ProposalHarness()
    assert (await harness.decide(DecideProposal(decision="dismiss"))).state == "dismissed"
    assert harness.source() == "user's"


async def test_a_decision_is_final():
    harness = ProposalHarness()
    await harness.decide(DecideProposal(decision="dismiss"))
    with pytest.raises(Conflict) as answered:
        await harness.decide(APPLY)
    assert answered.value.info.code == "already_answered"
    assert harness.source() == "user's"


async def test_two_decisions_at_once_apply_once():
    harness = ProposalHarness()
    outcomes = await asyncio.gather(
        harness.decide(APPLY), harness.decide(APPLY), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [Proposal, Conflict]
    assert len(harness.notebook.applied) == 1


async def test_a_cell_changed_since_is_not_overwritten_and_proposed_again():
    harness = ProposalHarness()
    harness.notebook.type_into("a", "newest")
    assert (await harness.decide(APPLY)).state == "conflict"
    assert harness.source() == "newest"
    first, again = harness.proposals.list()
    assert first.state == "conflict"
    assert (again.state, again.new, again.current) == ("proposed", "agent's", "newest")
    assert again.current_version == cell_version("newest")
    # Only the user's choice of the agent's text over the text they saw replaces their own.
    assert (await harness.proposals.decide(again.id, APPLY)).state == "conflict"
    assert harness.source() == "newest"
    newest = harness.proposals.list()[-1]
    chosen = DecideProposal(decision="apply", text="agent's", base="newest")
    harness.notebook.type_into("a", "newest\nand more")
    assert (await harness.proposals.decide(newest.id, chosen)).state == "edited"
    assert harness.source() == "agent's\nand more"


OVERLAP = Proposal(
    id=ProposalId("overlap"),
    session_id=SessionId("session"),
    turn_id=TurnId("turn"),
    document=PATH,
    cell_id=CellId("a"),
    old="x = 1\ny = 2\nz = 3",
    new="x = 1\ny = 20\nz = 30",
    current="x = mine\ny = mine\nz = 3",
    current_version=cell_version("x = mine\ny = mine\nz = 3"),
    reason="",
    state="proposed",
)


@pytest.mark.parametrize(
    ("now", "state", "after"),
    [
        (OVERLAP.current, "conflict", OVERLAP.current),
        ("x = 1\ny = 2\nz = 3\nmine", "edited", "x = 1\ny = 20\nz = 30\nmine"),
        ("mine\nx = 1\ny = 2\nz = 3", "edited", "mine\nx = 1\ny = 20\nz = 30"),
        (OVERLAP.old, "applied", OVERLAP.new),
        (OVERLAP.new, "applied", OVERLAP.new),
    ],
    ids=["both changed a line", "a line below", "a line above", "nothing", "the same change"],
)
async def test_applying_never_removes_what_the_user_wrote(
    now: str, state: ProposalState, after: str
):
    harness = ProposalHarness()
    harness.store.append(SessionId("session"), ProposalAdd(call_id=None, proposal=OVERLAP))
    harness.notebook.type_into("a", now)
    assert (await harness.proposals.decide(OVERLAP.id, APPLY)).state == state
    assert harness.source() == after


async def test_a_user_who_types_while_it_is_applied_keeps_what_they_type():
    harness = ProposalHarness()
    racing = Racing(PATH, [memory_cell("a", "user's")])
    harness.proposals = ProposalService(
        harness.store, MemoryNotebooks(racing), ScriptedRunner(), CountingIds()
    )
    assert (await harness.decide(APPLY)).state == "edited"
    assert racing.cell("a").source == "agent's\ntyped"


class Racing(MemoryNotebook):
    """A notebook in which the user types between a read and a write, once."""

    async def apply(
        self, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        if "typed" not in self.cell("a").source:
            self.type_into("a", "user's\ntyped")
        return await super().apply(edits, expected)


async def test_a_cell_that_is_gone_makes_it_stale():
    harness = ProposalHarness()
    harness.notebook.cells.clear()
    assert (await harness.decide(APPLY)).state == "stale"


async def test_a_refusal_leaves_it_open():
    harness = ProposalHarness()
    harness.notebook.unresponsive = True
    with pytest.raises(Conflict, match="does not answer"):
        await harness.decide(APPLY)
    harness.notebook.unresponsive = False
    cell = harness.notebook.cell("a")
    harness.notebook.cells = [cell.model_copy(update={"metadata": {"editable": False}})]
    with pytest.raises(Conflict) as protected:
        await harness.decide(APPLY)
    assert protected.value.info.code == "cell_protected"
    assert harness.states() == [("p", "proposed")]


async def test_proposals_are_listed_over_sessions_and_unknown_ones_are_named():
    harness = ProposalHarness()
    harness.add("q", "other")
    assert harness.states() == [("p", "proposed"), ("q", "proposed")]
    only = harness.proposals.list(lambda session_id: session_id == "other")
    assert [proposal.id for proposal in only] == ["q"]
    with pytest.raises(NotFound):
        harness.proposals.get(ProposalId("x"))


@pytest.mark.parametrize("room", [0, 1])
async def test_a_conflict_that_a_full_disk_cuts_off_leaves_something_to_decide(room: int):
    harness = ProposalHarness()
    harness.notebook.cells = [memory_cell("a", "later")]
    taken: list[object] = []

    def full(event: object) -> None:
        if len(taken) >= room:
            raise StateUnavailable("The disk is full.", code="disk_full")
        taken.append(event)

    harness.store.before_append = full
    with pytest.raises(StateUnavailable):
        await harness.decide(DecideProposal(decision="apply", text="typed"))
    harness.store.before_append = None

    left = [proposal for proposal in harness.proposals.list() if proposal.state == "proposed"]
    assert ProposalId("p") in [proposal.id for proposal in left]
    assert [proposal.new for proposal in left if proposal.id != "p"] == ["typed"] * room
    assert (await harness.decide(APPLY)).state == "conflict"
