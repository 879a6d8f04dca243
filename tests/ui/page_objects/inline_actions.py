"""Page objects of inline actions: prompts, output bars and menus."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.simulator_process import says

FENCE = "````"


def writes(text: str, language: str = "python") -> dict[str, Any]:
    """A reply that replaces a text by this one."""
    return says(f"{FENCE}{language}\n{text}\n{FENCE}")


def stalls(text: str) -> Mapping[str, Any]:
    """A reply that starts with this text and then stalls until its reader leaves."""
    # The start and the first delta precede the stall: the text arrives, its end does not.
    return says(f"{FENCE}python\n{text}", tokens_per_second=1000, ending="stall")


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt above a cell, or below one that gets a new cell."""

    page: Page
    name: str = "Change this cell"

    @property
    def root(self) -> Locator:
        """The prompt itself."""
        return self.page.get_by_role("group", name=self.name, exact=True)

    @property
    def field(self) -> Locator:
        """The field for the instruction."""
        return self.root.get_by_role("textbox")

    @property
    def remark(self) -> Locator:
        """The line below the field."""
        return self.root.locator(".shoulders-Prompt-remark")

    def button(self, name: str) -> Locator:
        """One of its buttons."""
        return self.root.get_by_role("button", name=name, exact=True)

    def ask(self, instruction: str) -> None:
        """Write an instruction and submit it."""
        expect(self.field).to_be_focused()
        self.field.fill(instruction)
        self.field.press("Enter")

    def is_over(self) -> None:
        """Wait until the prompt and its preview are gone."""
        expect(self.root).to_have_count(0)
        expect(self.page.locator(".shoulders-Proposed, .shoulders-Proposed-old")).to_have_count(0)


def new_lines(cell: Locator) -> Locator:
    """The previewed new lines of a cell."""
    return cell.locator(".shoulders-Proposed-new")


def old_lines(cell: Locator) -> Locator:
    """The lines the preview strikes out."""
    return cell.locator(".shoulders-Proposed-old")


def choose(page: Page, label: str) -> None:
    """Choose from the menu of the active cell's toolbar."""
    page.locator(".jp-Cell.jp-mod-active [data-jp-item-name='shoulders-ai']").first.click()
    page.locator(".shoulders-CellMenu").get_by_role("menuitem", name=label).click()
