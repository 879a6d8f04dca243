"""A sample of the crash sweep; ``python -m tests.crash_sweep`` runs all of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.crash_sweep.crash_points import list_crash_points
from tests.crash_sweep.scenarios import NAMES, SCENARIOS
from tests.crash_sweep.sweep import sweep

TURNS = ("cell run", "edits on disk", "approval for good", "restart and resume")
EVERY = 23


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the sweep forks the processes it kills")
async def test_a_turn_killed_anywhere_keeps_every_promise(tmp_path: Path) -> None:
    report = await sweep(tmp_path / "sweep", scenarios=[NAMES[turn] for turn in TURNS], every=EVERY)

    assert report.violations == []
    assert report.kills >= 15
    assert len(report.killed_at) >= 8
    assert set(report.met) <= set(list_crash_points())


def test_the_sweep_has_the_turns_that_are_asked_for() -> None:
    assert len(SCENARIOS) >= 12
    assert len(NAMES) == len(SCENARIOS)
