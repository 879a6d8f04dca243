"""Task threads as a user of the browser sees them, and threads that are there already."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.ui.desk import Conversations
from tests.ui.panel import OpenNotebook, Panel

AROUND = 64


def anchor(
    document: str,
    text: str,
    quote: str = "",
    *,
    cell: str | None = None,
    certainty: str = "exact",
) -> dict[str, Any]:
    """The place of the first occurrence of a quote in a text; without one, the whole cell.

    A quote that does not occur there stood in a text that is gone.
    """
    if quote not in text:
        text = f"nothing of this\n{quote}\nis there any more"
    at = text.find(quote)
    end = at + len(quote)
    return {
        "document": document,
        "cell_id": cell,
        "target": "source" if quote else "cell",
        "range": {"from": at, "to": end} if quote else None,
        "quote": quote,
        "prefix": text[max(0, at - AROUND) : at] if quote else "",
        "suffix": text[end : end + AROUND] if quote else "",
        "certainty": certainty,
    }


def make_thread(talks: Conversations, place: dict[str, Any], title: str, status: str = "") -> str:
    """Make a thread as another page would; return its id."""
    made = talks.send("POST", "sessions", {"kind": "task", "anchor": place, "title": title})
    if status:
        talks.send("PATCH", f"sessions/{made['id']}", {"status": status})
    return made["id"]


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
        """What stands above a thread."""
        return self.panel.root.get_by_role("group", name="Thread", exact=True)

    @property
    def place(self) -> Locator:
        """Its place, which a click goes to."""
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
        """The way to the list."""
        return self.panel.root.get_by_role("button", name=re.compile("^Threads"))

    def show(self) -> Threads:
        """Show the list."""
        self.button.click()
        expect(self.list).to_be_visible()
        return self

    def choose(self, title: str, item: str) -> None:
        """Choose from the menu of a thread in the list."""
        self.list.get_by_role("button", name=f"More about {title}").click()
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
        """Start a thread where the user is, and wait until one can write in it."""
        self.page.evaluate(
            "() => window.jupyterapp.commands.execute('jupyter-ai-shoulders:start-thread')"
        )
        expect(self.bar).to_be_visible()
        expect(self.panel.input).to_be_focused()
