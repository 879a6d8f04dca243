"""Watches a page for effects of hostile text: code that runs, resources that load, appearance.

Used by ``test_hostile_text`` and by other tests that show untrusted text.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page, Request, Route

from tests.ui.hostile_text.deceptive_characters import HIDDEN

_SCRIPT = Path(__file__).with_name("watch.js").read_text(encoding="utf-8").split("\n", 1)[1].strip()


class Watch:
    """The page's external requests, and code that ran."""

    def __init__(self, page: Page, origin: str) -> None:
        self._page = page
        self._host = urlsplit(origin).netloc
        self.events: list[str] = []
        page.add_init_script(_TRIPWIRES)
        page.route(self._is_elsewhere, self._refuse)
        page.on("requestfinished", self._note)
        page.on("requestfailed", self._note)
        page.on("dialog", lambda dialog: self.events.append(f"dialog {dialog.message}"))
        page.on("popup", lambda popup: self.events.append(f"popup {popup.url}"))
        page.on("download", lambda download: self.events.append(f"download {download.url}"))
        page.on("pageerror", lambda error: self.events.append(f"uncaught {error}"))

    def _is_elsewhere(self, url: str) -> bool:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https", "ws", "wss", "ftp"} and parts.netloc != self._host

    def _refuse(self, route: Route) -> None:
        route.abort()

    def _note(self, request: Request) -> None:
        # The browser may report a request that a policy blocked.
        failure = request.failure or ""
        if self._is_elsewhere(request.url) and "csp" not in failure.lower():
            self.events.append(f"{request.resource_type} {request.url[:200]} {failure}")

    def tripped(self) -> list[str]:
        """The effects so far."""
        return [*self.events, *self._page.evaluate("() => window.tripped")]


def faults(root: Locator) -> list[str]:
    """Content of the page that untrusted text must not produce."""
    return root.evaluate(f"root => {_SCRIPT}.faults(root)")


def hidden(text: str) -> list[str]:
    """The characters of a text that are invisible or reorder it."""
    return [f"U+{ord(each):04X}" for each in HIDDEN.findall(text)]


def walk(panel: Locator) -> Any:
    """Inspect and expand all of a conversation; return the faults and the elements found."""
    return panel.evaluate(f"root => {_SCRIPT}.walk(root)")


_TRIPWIRES = """
window.tripped = [];
Object.defineProperty(window, 'hit', {
    get: () => undefined,
    set: value => window.tripped.push(`hit ${value}`),
});
for (const name of ['alert', 'confirm', 'prompt', 'open', 'print']) {
    window[name] = (...given) => { window.tripped.push(`${name} ${given[0]}`); return null; };
}
"""
