"""Page objects of the review: changes with their controls, and the bar."""

from __future__ import annotations

import json
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

from tests.ui.page_objects.lab_page import PAGE_TIMEOUT_MS


@dataclass(frozen=True, slots=True)
class Review:
    """The agent's changes shown in a page."""

    page: Page

    @property
    def bar(self) -> Locator:
        """The bar of all changes; hidden while the current change is in view."""
        return self.page.locator("#shoulders-review-bar")

    @property
    def pill(self) -> Locator:
        """The control at the current change."""
        return self.page.locator(".shoulders-Pill.shoulders-mod-current")

    def all(self) -> Locator:
        """The bar, opened."""
        count = self.bar.locator(".shoulders-Review-count")
        if count.get_attribute("aria-expanded") == "false":
            command = "jupyter-ai-shoulders:show-changes"
            self.page.evaluate(f"() => window.jupyterapp.commands.execute('{command}')")
        expect(count).to_have_attribute("aria-expanded", "true")
        return self.bar

    def at(self, place: str) -> None:
        """Wait until the current change has this position, such as `1/4`."""
        expect(self.bar.locator(".shoulders-Review-place")).to_have_text(place)

    def counts(self, text: str) -> None:
        """Wait until the bar shows this count."""
        expect(self.bar.locator(".shoulders-Review-count")).to_contain_text(text)

    def is_over(self) -> None:
        """Wait until nothing is left to review, in the page and on the server."""
        count = self.bar.locator(".shoulders-Review-count")
        expect(count.filter(has_not_text="0 changes in 0 files")).to_have_count(0)
        expect(self.bar).to_be_hidden()
        expect(self.page.locator(".shoulders-Hunk, .shoulders-CellCard")).to_have_count(0)

    def hunks(self, editor: Locator) -> Locator:
        """The changes that an editor shows."""
        return editor.locator(".shoulders-Hunk")

    def keep(self, change: Locator) -> None:
        """Keep one change by its button."""
        change.get_by_role("button", name="Keep").click()

    def undo(self, change: Locator) -> None:
        """Undo one change by its button."""
        change.get_by_role("button", name="Undo").click()

    def files(self) -> Locator:
        """The list of documents, opened."""
        return self.all().get_by_role("listitem")


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A text file in JupyterLab's editor, by its path."""

    page: Page
    path: str

    def open(self) -> OpenFile:
        """Open it, or bring it to the front."""
        self.page.evaluate(
            f"""async () => {{
                const {{commands}} = window.jupyterapp;
                const path = {json.dumps(self.path)};
                const made = await commands.execute('docmanager:open', {{path, factory: 'Editor'}});
                await made.context.ready;
            }}"""
        )
        expect(self.editor).to_be_visible()
        return self

    @property
    def editor(self) -> Locator:
        """The current editor."""
        return self.page.locator(".jp-FileEditor:visible .cm-content")

    @property
    def text(self) -> str:
        """Its text in the page."""
        return self.page.evaluate(f"() => {self._widget}.context.model.sharedModel.getSource()")

    def reads(self, text: str) -> None:
        """Wait until it has this text in the page."""
        self.page.wait_for_function(
            f"() => {self._widget}.context.model.sharedModel.getSource() === {json.dumps(text)}",
            timeout=PAGE_TIMEOUT_MS,
        )

    @property
    def _widget(self) -> str:
        found = f"widget.context?.path === {json.dumps(self.path)}"
        return f"[...window.jupyterapp.shell.widgets('main')].find(widget => {found})"
