"""Help beside cells, outputs and selections as a user of the browser sees it: page objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.simulator_process import says

FENCE = "````"


def writes(text: str, language: str = "python") -> dict[str, Any]:
    """A reply that puts this text in the place of another."""
    return says(f"{FENCE}{language}\n{text}\n{FENCE}")


def stalls(text: str) -> Mapping[str, Any]:
    """A reply that begins so and is silent from then on, until nobody listens any more."""
    # Start and first delta go before it: the text comes whole, its end does not.
    return says(f"{FENCE}python\n{text}", tokens_per_second=1000, ending="stall")


@dataclass(frozen=True, slots=True)
class Prompt:
    """The line above a cell, or below one that gets a new cell."""

    page: Page
    name: str = "Change this cell"

    @property
    def root(self) -> Locator:
        """The prompt itself."""
        return self.page.get_by_role("group", name=self.name, exact=True)

    @property
    def field(self) -> Locator:
        """Where the instruction is written."""
        return self.root.get_by_role("textbox")

    @property
    def remark(self) -> Locator:
        """What it says."""
        return self.root.locator(".shoulders-Prompt-remark")

    def button(self, name: str) -> Locator:
        """One of its buttons."""
        return self.root.get_by_role("button", name=name, exact=True)

    def ask(self, instruction: str) -> None:
        """Write an instruction and send it."""
        expect(self.field).to_be_focused()
        self.field.fill(instruction)
        self.field.press("Enter")

    def is_over(self) -> None:
        """Wait until it is gone, and what it showed with it."""
        expect(self.root).to_have_count(0)
        expect(self.page.locator(".shoulders-Proposed, .shoulders-Proposed-old")).to_have_count(0)


def new_lines(cell: Locator) -> Locator:
    """The lines that would come into a cell."""
    return cell.locator(".shoulders-Proposed-new")


def old_lines(cell: Locator) -> Locator:
    """The lines that would go from it."""
    return cell.locator(".shoulders-Proposed-old")


def choose(page: Page, label: str) -> None:
    """Choose from the menu of the active cell's toolbar."""
    page.locator(".jp-Cell.jp-mod-active [data-jp-item-name='shoulders-ai']").first.click()
    page.locator(".shoulders-CellMenu").get_by_role("menuitem", name=label).click()
