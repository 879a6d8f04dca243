"""The terminal chat's summary of an undone turn."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.cli.chat.undo_summary import find_undo, undo_summary_lines
from jupyter_ai_shoulders.core.restore.description import describe_kernel_drift
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.event_types.restore import (
    CellName,
    RanCell,
    RestoredDocument,
    UnrestoredCell,
)
from jupyter_ai_shoulders.wire.events import KernelDrift, Restore
from jupyter_ai_shoulders.wire.ids import CellId, ProposalId, RestoreId, TurnId

PROPOSED = "Its earlier text is proposed: /review"
TURN = TurnId("turn_1")
CELL = CellName(cell_id=CellId("a"), title="x = 1")
RAN = RanCell(cell_id=CellId("a"), title="x = 1", names=("x", "y"))


def restore(
    *documents: RestoredDocument,
    name: str = "r1",
    undone: str | None = None,
    drift: tuple[KernelDrift, ...] = (),
) -> Restore:
    return Restore(
        restore_id=RestoreId(name),
        seq_before=1,
        what=("notebook", "files"),
        documents=documents,
        drift=drift,
        undone=None if undone is None else RestoreId(undone),
        undone_turn=TURN if undone is None else None,
    )


def kept(reason: str, proposal: str | None = None) -> RestoredDocument:
    cell = UnrestoredCell.model_validate(
        {"cell_id": "a", "title": "x = 1", "reason": reason, "proposal_id": proposal}
    )
    return RestoredDocument(document="a.ipynb", kept=(cell,))


@pytest.mark.parametrize(
    ("document", "lines"),
    [
        pytest.param(
            RestoredDocument(document="a.ipynb", removed=(CELL,), rewritten=(CELL, CELL)),
            ["a.ipynb: 1 cell removed", "a.ipynb: 2 cell texts restored"],
            id="cells",
        ),
        pytest.param(
            RestoredDocument(document="a.ipynb"), ["a.ipynb: no changes needed"], id="nothing"
        ),
        pytest.param(
            RestoredDocument(document="a.txt", file="returned"),
            ["a.txt: file restored"],
            id="file",
        ),
        pytest.param(
            RestoredDocument(document="a.txt", file="kept", proposal_id=ProposalId("p")),
            [f"a.txt: file kept: you have changed it since. {PROPOSED}"],
            id="kept file",
        ),
        pytest.param(
            RestoredDocument(
                document="a.txt",
                error=ErrorInfo(code="not_found", message="It is gone.", retryable=False),
            ),
            ["a.txt: not restored: It is gone."],
            id="error",
        ),
        pytest.param(
            kept("changed", "p"),
            [f"a.ipynb: “x = 1” was kept: you have changed it since. {PROPOSED}"],
            id="changed",
        ),
        pytest.param(
            kept("run"), ["a.ipynb: “x = 1” kept its outputs: you have run it since"], id="run"
        ),
        pytest.param(
            kept("protected"), ["a.ipynb: “x = 1” was kept: it is protected"], id="protected"
        ),
        pytest.param(
            kept("unknown"),
            ["a.ipynb: “x = 1” kept its outputs: their source is unknown"],
            id="unknown",
        ),
    ],
)
def test_what_was_put_back_is_said(document: RestoredDocument, lines: list[str]) -> None:
    assert undo_summary_lines(restore(document)) == lines


@pytest.mark.parametrize("kernel", ["same", "unknown", "restarted", "gone"])
def test_what_a_kernel_still_holds_is_said(kernel: str) -> None:
    drift = KernelDrift.model_validate({"document": "a.ipynb", "kernel": kernel, "cells": [RAN]})
    line = describe_kernel_drift(drift)

    assert bool(line) == (kernel != "gone")
    assert undo_summary_lines(restore(drift=(drift,))) == [
        "There was nothing to restore.",
        *([line] if line else []),
    ]


def test_an_undoing_stands_until_it_is_taken_back() -> None:
    first, back, second = restore(), restore(name="r2", undone="r1"), restore(name="r3")

    assert find_undo([first], TURN) == first
    assert find_undo([first, back], TURN) is None
    assert find_undo([first, back, second], TURN) == second
    assert find_undo([first], TurnId("turn_2")) is None
