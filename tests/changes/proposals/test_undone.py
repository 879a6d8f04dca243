"""Finding proposals that the review undid, from the log of a session."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.changes.proposals.undone import (
    UndoneProposalTracker,
    find_undone_proposals,
)
from jupyter_ai_shoulders.testing.memory_store import MemoryStore
from jupyter_ai_shoulders.wire.edits import ProposalState
from jupyter_ai_shoulders.wire.events import (
    EditPending,
    EditResolve,
    Event,
    ProposalAdd,
    ProposalResolve,
)
from jupyter_ai_shoulders.wire.ids import CellId, EditId, ProposalId
from tests.engine.engine_harness import SESSION, make_session
from tests.support.proposals import build_proposal

BOOK = "a.ipynb"


def added(name: str, cell: str = "c") -> Event:
    proposal = build_proposal(SESSION, BOOK, cell, "", "", name=name)
    return ProposalAdd(call_id=None, proposal=proposal)


def pending(edit: str = "e", cell: str = "c", document: str = BOOK) -> Event:
    return EditPending(
        edit_id=EditId(edit),
        call_id=None,
        document=document,
        cell_id=CellId(cell),
        before_version=None,
        after_version=None,
        hunks=(),
    )


def decided(name: str, state: ProposalState = "applied") -> Event:
    return ProposalResolve(proposal_id=ProposalId(name), state=state, by="user")


def undo(edit: str = "e", hunks: tuple[int, ...] | None = None) -> Event:
    return EditResolve(edit_id=EditId(edit), decision="undo", hunks=hunks, by="user")


def keep(edit: str = "e") -> Event:
    return EditResolve(edit_id=EditId(edit), decision="keep", hunks=None, by="user")


@pytest.mark.parametrize(
    ("events", "undone"),
    [
        ([added("p"), pending(), decided("p"), undo()], ["p"]),
        ([added("p"), pending(), decided("p"), keep()], []),
        ([added("p"), pending(), decided("p"), undo(hunks=(0,))], []),
        ([added("p"), pending(), decided("p"), undo(), decided("p", "undone")], []),
        ([added("p"), decided("p", "dismissed"), pending(), undo()], []),
        ([added("p"), decided("p", "edited"), pending(), undo()], []),
        ([added("p"), pending(), decided("p"), keep(), pending("f"), undo("f")], []),
        (
            [added("p"), added("q"), pending(), decided("p"), pending(), decided("q"), undo()],
            ["p", "q"],
        ),
        ([added("p"), added("q", "d"), pending(), decided("p"), undo()], ["p"]),
        ([added("p"), pending(), decided("p"), pending(document="new.ipynb"), undo()], ["p"]),
        ([added("p"), pending(document="new.ipynb"), decided("p"), undo()], ["p"]),
        ([added("p"), pending(), decided("p"), pending("f", "d"), undo("f")], []),
    ],
    ids=[
        "undone",
        "kept",
        "in part",
        "said already",
        "dismissed",
        "the user's own text",
        "kept before",
        "two in one edit",
        "another cell",
        "renamed since",
        "renamed before",
        "another edit",
    ],
)
def test_a_proposal_is_undone_with_the_edit_it_became(
    events: list[Event], undone: list[str]
) -> None:
    assert [proposal.id for proposal in find_undone_proposals(events)] == undone


async def test_what_a_kill_left_unsaid_is_said_once_at_the_next_start() -> None:
    store = MemoryStore()
    store.add(make_session())
    for event in (added("p"), pending(), decided("p"), undo()):
        store.append(SESSION, event)
    undone = UndoneProposalTracker(store)

    await undone.catch_up()
    await undone.catch_up()

    said = [logged.event for logged in store.find({"proposal-resolve"})]
    states = [event.state for event in said if isinstance(event, ProposalResolve)]
    assert states == ["applied", "undone"]
