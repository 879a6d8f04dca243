"""Page objects of task threads in the panel."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

from tests.ui.page_objects.lab_page import OpenNotebook, Panel


@dataclass(frozen=True, slots=True)
class Threads:
    """The threads in the panel of a page."""

    page: Page

    @property
    def panel(self) -> Panel:
        """The panel."""
        return Panel(self.page)

    @property
    def bar(self) -> Locator:
        """The bar above a thread."""
        return self.panel.root.get_by_role("group", name="Thread", exact=True)

    @property
    def place(self) -> Locator:
        """The link to its location."""
        return self.bar.locator(".shoulders-ThreadBar-place")

    @property
    def list(self) -> Locator:
        """The list of threads."""
        return self.panel.root.get_by_role("region", name="Threads")

    @property
    def rows(self) -> Locator:
        """Its rows."""
        return self.list.locator(".shoulders-History-open")

    @property
    def button(self) -> Locator:
        """The button that opens the list."""
        return self.panel.root.get_by_role("button", name=re.compile("^Threads"))

    def show(self) -> Threads:
        """Show the list."""
        self.button.click()
        expect(self.list).to_be_visible()
        return self

    @property
    def titles(self) -> Locator:
        """The titles in its rows."""
        return self.list.locator(".shoulders-ThreadRow-title")

    def choose(self, title: str, item: str) -> None:
        """Choose from the menu of a thread in the list."""
        self.list.get_by_role("button", name=f"More actions for {title}").click()
        self.list.get_by_role("menuitem", name=item, exact=True).click()

    def select(self, opened: OpenNotebook, cell_id: str, text: str, nth: int = 0) -> None:
        """Select an occurrence of a text in a cell, as the mouse would."""
        opened.editor(cell_id).click()
        self.page.evaluate(
            f"""() => {{
                const {{editor}} = window.jupyterapp.shell.currentWidget.content.activeCell;
                const source = editor.model.sharedModel.getSource();
                let at = -1;
                for (let n = 0; n <= {nth}; n++) {{
                    at = source.indexOf({json.dumps(text)}, at + 1);
                }}
                editor.setSelection({{
                    start: editor.getPositionAt(at),
                    end: editor.getPositionAt(at + {json.dumps(text)}.length)
                }});
            }}"""
        )

    def start(self) -> None:
        """Start a thread at the cursor, and wait until its input is editable."""
        self.page.evaluate(
            "() => window.jupyterapp.commands.execute('jupyter-ai-shoulders:start-thread')"
        )
        expect(self.bar).to_be_visible()
        expect(self.panel.input).to_be_focused()
