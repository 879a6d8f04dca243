"""Page objects of the chat panel in a notebook's output."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.ui.page_objects.lab_page import Panel

NAME = "AI panel"
SHOW = ("show", "from jupyter_ai_shoulders import ChatPanel\npanel = ChatPanel()\npanel")
"""A cell that shows a panel."""


def panel_in(page: Page, name: str = NAME) -> Panel:
    """The panel in an output, once its input is editable."""
    panel = Panel(page, name)
    expect(panel.input).to_be_enabled()
    return panel


def note_in(page: Page) -> Locator:
    """The panel's note about its kernel and the server."""
    return page.locator(".shoulders-Widget-note")


def answered(panel: Panel, text: str) -> None:
    """Wait for an answer and the end of its turn."""
    expect(panel.answers.last).to_contain_text(text)
    panel.finished()
