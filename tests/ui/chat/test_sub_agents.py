"""Sub-agents in a real browser: two lines, one that asks, and the way to its conversation."""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import Page, expect

from tests.simulator_process import calls, says
from tests.ui.chat.test_approval_card import THEMES
from tests.ui.chat.test_chat_panel import show_theme
from tests.ui.page_objects.lab_page import Panel
from tests.ui.support.accessibility_audit import audit
from tests.ui.support.notebook_scenario import NotebookScenario

pytestmark = pytest.mark.full
PICTURES = os.environ.get("SHOULDERS_PICTURES")
LOG = "Read the log and count its errors."
FITS = "Compare three fits of the decay data."


def step(task: str) -> dict[str, object]:
    """A call of ``delegate`` among others."""
    return {"kind": "tool", "name": "delegate", "arguments": {"task": task, "documents": []}}


def script() -> dict[str, object]:
    """A parent that delegates twice; the second sub-agent asks the person."""
    asks = calls("clarify", {"question": "Which data?", "options": ["2025", "2026"]})
    return {
        "replies": [],
        "rules": [
            {
                "when": {"user": "^Survey", "has_results": False},
                "reply": {"parts": [step(LOG), step(FITS)]},
            },
            {
                "when": {"user": "^Read the log"},
                "reply": says("Seven **errors** [app.log:1-2]; also [gone.log:3]."),
            },
            {"when": {"user": "^Compare", "has_results": False}, "reply": asks},
            {"when": {"user": "^Compare"}, "reply": says("The exponential fits best.")},
        ],
        "default": says("Both are done."),
    }


@pytest.mark.parametrize("width", [280, 420])
def test_two_sub_agents_one_of_which_asks(
    scenario: NotebookScenario, page: Page, width: int
) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    scenario.open(("a", "x = 1"), replies=[])
    (scenario.lab.root / "app.log").write_text("ERROR\nERROR\n")
    scenario.upstream.play(script())
    panel = Panel(page).open()
    panel.resize(width)
    panel.ask("Survey them.")

    lines = panel.root.locator(".shoulders-SubAgent")
    expect(lines).to_have_count(2)
    expect(lines.nth(1)).to_contain_text("Waiting for you")
    expect(
        panel.root.get_by_role("region", name="Questions in other conversations")
    ).to_be_visible()
    take(page, f"asks-{width}")

    # The person answers where it asks, and goes back.
    lines.nth(1).get_by_role("button", name="Open conversation").click()
    bar = panel.root.get_by_role("region", name="Sub-agent")
    expect(bar).to_be_visible()
    take(page, f"child-{width}")
    panel.root.get_by_role("button", name="2026").click()
    expect(panel.answers.last).to_contain_text("The exponential fits best.")
    bar.get_by_role("button", name="Back to it").click()

    expect(panel.answers.last).to_contain_text("Both are done.")
    expect(lines.nth(0)).to_contain_text("one step")
    expect(lines.nth(0)).to_contain_text("one cited place does not exist")
    lines.nth(0).get_by_role("button", name="Summary").click()
    expect(lines.nth(0)).to_contain_text("Seven errors")
    take(page, f"done-{width}")
    assert audit(panel.root) == []
    assert panel.root.evaluate("panel => panel.scrollWidth <= panel.clientWidth")


def take(page: Page, name: str) -> None:
    """Take a screenshot in each theme, if they are wanted."""
    if PICTURES is not None:
        for theme in THEMES:
            show_theme(page, theme)
            expect(page.locator("#jupyterlab-splash")).to_have_count(0)
            page.screenshot(path=f"{PICTURES}-{name}-{theme.split()[-1].lower()}.png")
        show_theme(page, THEMES[0])
