"""Threads stay with their text in the real page, whatever happens to it."""

from __future__ import annotations

import pytest

from tests.ui.stress.thread_anchors import play
from tests.ui.support.notebook_scenario import NotebookScenario

STEPS = 150


@pytest.mark.full
@pytest.mark.shows("threads.anchor.1", "threads.anchor.2", "threads.anchor.3", "threads.anchor.7")
def test_threads_stay_with_their_characters_through_random_edits(
    scenario: NotebookScenario,
) -> None:
    tally = play(scenario, seed=7, steps=STEPS)

    assert (tally.wrong, tally.lost) == ([], [])
    assert tally.steps == STEPS
    assert tally.exact > tally.uncertain
