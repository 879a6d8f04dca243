"""A user types while the agent edits the same cells: a short form of ``typing_storm``."""

import pytest
from playwright.sync_api import Browser

from tests.ui.stress.typing_during_edits import make_lab, play

pytestmark = pytest.mark.full

EDITS = 12


@pytest.mark.parametrize(("pages", "undoes"), [(1, False), (2, True)], ids=["one-page", "two"])
def test_no_keystroke_is_lost_while_the_agent_edits_and_runs(
    browser: Browser, pages: int, undoes: bool
) -> None:
    tally = play(browser, make_lab, edits=EDITS, seed=pages, pages=pages, undoes=undoes)
    assert tally.edits + tally.proposals >= EDITS
    assert tally.typed > 0
