"""Page objects of the AI settings and the status bar item."""

from __future__ import annotations

from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

from tests.ui.page_objects.lab_page import PAGE_TIMEOUT_MS


@dataclass(frozen=True, slots=True)
class SettingsPage:
    """The settings in an open JupyterLab page."""

    page: Page

    @property
    def root(self) -> Locator:
        return self.page.get_by_role("region", name="AI settings")

    @property
    def status(self) -> Locator:
        """The item in the status bar."""
        return self.page.locator(".shoulders-StatusItem button")

    def open(self, section: str) -> SettingsPage:
        """Show one section of the settings."""
        self.page.wait_for_function("() => window.jupyterapp?.commands !== undefined")
        self.page.evaluate("() => window.jupyterapp.restored")
        self.page.evaluate(
            """section => window.jupyterapp.commands.execute(
                'jupyter-ai-shoulders:open-settings', {section})""",
            section,
        )
        return self.shown(section)

    def go(self, title: str) -> SettingsPage:
        """Go to another section by its name."""
        self.root.get_by_role("button", name=title, exact=True).click()
        return self.shown(title)

    def shown(self, title: str) -> SettingsPage:
        """Wait until a section is shown and its data is loaded."""
        heading = self.root.get_by_role("heading", level=2)
        expect(heading).to_contain_text(title, ignore_case=True, timeout=PAGE_TIMEOUT_MS)
        expect(self.root.locator(".shoulders-Dots")).to_have_count(0)
        return self

    def provider(self, name: str) -> Locator:
        """The card of one provider."""
        heading = self.page.get_by_role("heading", name=name, exact=True)
        return self.root.locator(".shoulders-Provider").filter(has=heading)

    def tool(self, name: str) -> Locator:
        """The line of one tool."""
        switch = self.page.get_by_role("switch", name=name, exact=True)
        return self.root.locator(".shoulders-Line").filter(has=switch)

    def switch(self, name: str) -> Locator:
        """A switch by its name."""
        return self.root.get_by_role("switch", name=name, exact=True)
