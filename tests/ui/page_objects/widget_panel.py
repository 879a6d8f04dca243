"""The chat panel in a notebook's output, as a user of the browser sees it: what its tests share."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.ui.page_objects.lab_page import Panel

NAME = "AI panel"
SHOW = ("show", "from jupyter_ai_shoulders import ChatPanel\npanel = ChatPanel()\npanel")
"""A cell that shows a panel."""


def panel_in(page: Page, name: str = NAME) -> Panel:
    """The panel in an output, once one can write in it."""
    panel = Panel(page, name)
    expect(panel.input).to_be_enabled()
    return panel


def note_in(page: Page) -> Locator:
    """What the panel says about its kernel and the server."""
    return page.locator(".shoulders-Widget-note")


def answered(panel: Panel, text: str) -> None:
    """Wait for an answer and the end of its turn."""
    expect(panel.answers.last).to_contain_text(text)
    panel.finished()
