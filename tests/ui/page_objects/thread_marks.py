"""The marks of task threads beside text, cells and outputs as a user sees them: page objects.

Threads made by the API, for scenes that need many of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from playwright.sync_api import Locator, Page

from tests.ui.page_objects.lab_page import OpenNotebook
from tests.ui.support.notebook_scenario import NotebookScenario

CONTEXT = 64


def anchor_of(
    path: str, cell_id: str | None, text: str, quote: str, certainty: str = "exact"
) -> dict[str, Any]:
    """The anchor of what occurs first in a text; of a cell where nothing is quoted.

    A quote that does not occur there stood in a text that is gone.
    """
    if quote not in text:
        text = f"nothing of this\n{quote}\nis there any more"
    start = text.index(quote)
    end = start + len(quote)
    return {
        "document": path,
        "cell_id": cell_id,
        "target": "source" if quote else "cell",
        "range": {"from": start, "to": end} if quote else None,
        "quote": quote,
        "prefix": text[max(0, start - CONTEXT) : start] if quote else "",
        "suffix": text[end : end + CONTEXT] if quote else "",
        "version": None,
        "certainty": certainty,
    }


def begin(scenario: NotebookScenario, title: str, anchor: Mapping[str, Any]) -> str:
    """Make a thread as another page would; return its id."""
    body = {"kind": "task", "title": title, "anchor": anchor}
    return scenario.talks.send("POST", "sessions", body)["id"]


def put(scenario: NotebookScenario, session_id: str, shown: str) -> None:
    """Resolve a thread, or open it again, as another page would."""
    scenario.talks.send("PATCH", f"sessions/{session_id}", {"status": shown})


def say(scenario: NotebookScenario, session_id: str, text: str) -> None:
    """Say something in a thread."""
    body = {"id": str(uuid4()), "text": text}
    scenario.talks.send("POST", f"sessions/{session_id}/messages", body)


def status(scenario: NotebookScenario, session_id: str) -> str:
    """Return the status of a thread."""
    return scenario.talks.api(f"sessions/{session_id}")["status"]


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks within a cell, a file, or the whole page."""

    place: Locator | Page

    def text(self, state: str = "idle") -> Locator:
        """Underlined text."""
        return self.place.locator(f".shoulders-ThreadText.shoulders-mod-{state}")

    @property
    def dots(self) -> Locator:
        """The dots in gutters."""
        return self.place.locator(".shoulders-ThreadGutter .shoulders-ThreadDot")

    @property
    def button(self) -> Locator:
        """The mark at a prompt."""
        return self.place.locator(".shoulders-ThreadMark")

    @property
    def badge(self) -> Locator:
        """The item of the cell toolbar."""
        return self.place.locator("[data-jp-item-name='shoulders-threads'] jp-button")


def of_cell(opened: OpenNotebook, cell_id: str) -> Marks:
    """The marks of one cell."""
    return Marks(opened.cell(cell_id))


def list_of(page: Page) -> Locator:
    """The small list of threads."""
    return page.locator(".shoulders-ThreadMenu")
