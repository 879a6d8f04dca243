"""Ten threads stream at once while the user types: nothing is lost, and no mark is redrawn
needlessly.

``concurrent_threads`` measures frame times; this test counts.
"""

from __future__ import annotations

import pytest

from tests.ui.stress.concurrent_threads import Storm
from tests.ui.support.notebook_scenario import NotebookScenario

pytestmark = pytest.mark.full

KEYS = 180


@pytest.mark.shows("threads.scale.2")
def test_no_character_is_lost_and_no_mark_touched_while_ten_threads_stream(
    scenario: NotebookScenario,
) -> None:
    storm = Storm(scenario)
    storm.begin()
    storm.watch()
    storm.type(KEYS)
    assert storm.statuses == {"running"}  # all of them, all the time
    assert storm.opened.source(storm.cell) == storm.expected
    assert storm.touched == []
    begins, ends = storm.expected.index("compute"), storm.expected.index("\nthird")
    assert storm.marked == storm.expected[begins:ends]
