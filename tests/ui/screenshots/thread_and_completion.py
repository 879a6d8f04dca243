"""Screenshots of a thread in a cell and of suggestions at the caret. Called by ``capture``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.simulator_process import calls, in_order, says
from tests.support.lab_server import Lab
from tests.ui.page_objects.inline_completion import InlineCompletion, suggests
from tests.ui.page_objects.lab_page import OpenNotebook, Panel
from tests.ui.page_objects.threads import Threads

CELL = "count-wines"
QUOTE = "variety.value_counts()"
SHARES = "variety.value_counts(normalize=True)"
ANSWER = """\
`value_counts` counts the wines of each variety; `sort_index` puts the varieties in order. With
`normalize=True` you see their shares instead: 33 %, 40 % and 27 %.
"""


def script() -> dict[str, Any]:
    """The model's replies in order."""
    return in_order(
        calls("propose_edit", {"old_string": QUOTE, "new_string": SHARES}),
        says(ANSWER),
        suggests(".round(2)", ".plot.bar()", ".to_frame('wines')"),
    )


def take(
    lab: Lab, page: Page, arrange: Callable[[Page], None], shoot: Callable[[str], None]
) -> None:
    """Take them; ``shoot`` takes one in the themes its name needs."""
    page.goto(lab.document_url("tour.ipynb"))
    tour = OpenNotebook(page).ready()
    arrange(page)
    tour.run("load-wines")
    tour.run(CELL)
    threads, panel = Threads(page), Panel(page).open()
    threads.select(tour, CELL, QUOTE)
    threads.start()
    panel.ask("Show the shares instead of the counts.")
    expect(panel.proposal).to_be_visible()
    panel.finished()
    shoot("thread")
    tour.editor(CELL).click()
    page.keyboard.press("Control+End")
    ghost = InlineCompletion(page)
    ghost.ask()
    shoot("suggestions")
