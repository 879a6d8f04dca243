"""Texts of the terminal chat for pending edits, and for failed decisions."""

from __future__ import annotations

import io
import sys
from typing import Any, cast

import pytest

from jupyter_ai_shoulders.cli.chat.chat_backend import ChatReview
from jupyter_ai_shoulders.cli.chat.review import Review, waiting_text
from jupyter_ai_shoulders.cli.chat.terminal import TerminalScreen
from jupyter_ai_shoulders.wire.api.commands import DecideEdits, DecideProposal
from jupyter_ai_shoulders.wire.edits import (
    EditConflict,
    EditDecisions,
    PendingEdit,
    Proposal,
)
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import KernelDrift
from jupyter_ai_shoulders.wire.ids import ProposalId

LOST = ErrorInfo(code="state_unavailable", message="It is lost.", hint="Keep it.", retryable=False)


def edit(**changes: Any) -> PendingEdit:
    values: dict[str, Any] = {
        "id": "edit_1",
        "session_id": "ses_1",
        "turn_id": "turn_1",
        "document": "a.ipynb",
        "cell_id": "a",
        "cell_type": "code",
        "position": 2,
        "baseline": "x = 1",
        "baseline_version": "v1",
        "current": "x = 2\ny = 3",
        "current_version": "v2",
        "hunks": [{"before_from": 0, "before_to": 1, "after_from": 0, "after_to": 2}],
    }
    return PendingEdit.model_validate({**values, **changes})


def proposal(**changes: Any) -> Proposal:
    values: dict[str, Any] = {
        "id": "proposal_1",
        "session_id": "ses_1",
        "turn_id": "turn_1",
        "document": "a.ipynb",
        "cell_id": "a",
        "old": "x = 1",
        "new": "x = 2",
        "current": "x = 1",
        "current_version": "v1",
        "reason": "",
        "state": "proposed",
    }
    return Proposal.model_validate({**values, **changes})


class Engine:
    """The part of an engine that the review needs."""

    def __init__(self, *items: PendingEdit | Proposal) -> None:
        self.items = items
        self.decided = EditDecisions(resolved=(), left=(), drift=())
        self.asked: list[DecideEdits] = []
        self.state = "applied"

    def edits(self) -> tuple[PendingEdit, ...]:
        return tuple(item for item in self.items if isinstance(item, PendingEdit))

    def proposals(self) -> tuple[Proposal, ...]:
        return tuple(item for item in self.items if isinstance(item, Proposal))

    def decide_edits(self, command: DecideEdits) -> EditDecisions:
        self.asked.append(command)
        return self.decided

    def decide_proposal(self, proposal_id: ProposalId, command: DecideProposal) -> Proposal:
        assert (proposal_id, command.decision) == ("proposal_1", "apply")
        return proposal(state=self.state)


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """The terminal's output."""
    written = io.StringIO()
    monkeypatch.setattr(sys, "stdout", written)
    return written


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch, written: io.StringIO) -> TerminalScreen:
    """A terminal of 80 columns without colours."""
    del written  # replaces standard output before the terminal uses it
    monkeypatch.setenv("TERM", "dumb")
    return TerminalScreen({"NO_COLOR": "1"})


def review(engine: Engine, screen: TerminalScreen) -> Review:
    return Review(cast("ChatReview", engine), screen)


@pytest.mark.parametrize(
    ("item", "shown"),
    [
        pytest.param(
            edit(),
            "1. a.ipynb cell 3 · changed (+2 -1)\n│ @@ -1 +1,2 @@\n│ -x = 1\n│ +x = 2\n│ +y = 3\n",
            id="cell",
        ),
        pytest.param(
            edit(current=None, current_version=None, hunks=[]),
            "1. a.ipynb cell 3 · deleted\n│ @@ -1 +0,0 @@\n│ -x = 1\n",
            id="deleted",
        ),
        pytest.param(
            edit(conflict=True, baseline="x = 2\ny = 3", hunks=[]),
            "1. a.ipynb cell 3 · changed\n"
            "! You have changed the same lines since. Undo keeps your changes.\n",
            id="conflict",
        ),
        pytest.param(
            edit(baseline=None, current=None, hunks=[], position=None, error=LOST),
            "1. a.ipynb cell · changed\n! It is lost. Keep it.\n",
            id="lost",
        ),
        pytest.param(
            proposal(old="x = 1", current="x = 1\nz = 0", new="x = 2", reason="Be\nright."),
            "1. a.ipynb “x = 1” · proposed: Be right.\n"
            "│ @@ -1,2 +1,2 @@\n│ -x = 1\n│ +x = 2\n│  z = 0\n",
            id="proposal",
        ),
        pytest.param(
            proposal(old="x = 1", current="x = 3\nz = 0", new="x = 2", reason=""),
            "1. a.ipynb “x = 3” · proposed\n"
            "│ @@ -1,2 +1 @@\n│ -x = 3\n│ -z = 0\n│ +x = 2\n"
            "! You changed the same lines. "
            "/apply uses the text shown here, /dismiss keeps\nyours.\n",
            id="overlap",
        ),
    ],
)
def test_a_change_is_shown(
    item: PendingEdit | Proposal,
    shown: str,
    screen: TerminalScreen,
    written: io.StringIO,
) -> None:
    review(Engine(item), screen).show_pending("1")

    assert written.getvalue() == shown


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("applied", "applied"),
        ("conflict", "you changed the same lines, so nothing was written."),
        ("stale", "the cell is gone, so nothing was written"),
    ],
)
def test_what_became_of_a_proposal_is_said(
    state: str, said: str, screen: TerminalScreen, written: io.StringIO
) -> None:
    engine = Engine(proposal())
    engine.state = state

    review(engine, screen).decide_proposals("apply", "all")

    assert f"a.ipynb “x = 1”: {said}" in " ".join(written.getvalue().split())


def test_what_was_seen_is_decided_and_what_was_not_is_said(
    screen: TerminalScreen, written: io.StringIO
) -> None:
    engine = Engine(edit(), edit(id="edit_2", position=4), proposal())
    drift = {
        "document": "a.ipynb",
        "kernel": "same",
        "cells": [{"cell_id": "a", "title": "x = 2", "names": ["x"]}],
    }
    engine.decided = EditDecisions(
        resolved=(edit().id,),
        left=(EditConflict(error=LOST, edit=edit(id="edit_2", position=4)),),
        drift=(KernelDrift.model_validate(drift),),
    )

    review(engine, screen).decide_edits("undo", "all")

    out = written.getvalue()
    choice = {"current_version": "v2", "baseline_version": "v1"}
    assert engine.asked == [
        DecideEdits.model_validate(
            {
                "decision": "undo",
                "edits": [{"id": "edit_1", **choice}, {"id": "edit_2", **choice}],
            }
        )
    ]
    assert "Undone: a.ipynb cell 3\n" in out
    assert "! a.ipynb cell 5: It is lost. Keep it.\n" in out
    assert "still holds what these cells did: “x = 2”, with x. Restart it" in " ".join(out.split())


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ((1, 0), "1 change to review: /review"),
        ((0, 2), "2 proposals to review: /review"),
        ((3, 1), "3 changes and 1 proposal to review: /review"),
    ],
)
def test_what_awaits_review_is_counted(counts: tuple[int, int], text: str) -> None:
    assert waiting_text(*counts) == text
