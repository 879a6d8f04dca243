"""Page objects of inline completion, and replies of models for it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from playwright.sync_api import CDPSession, Locator, Page, expect

from tests.simulator_process import calls
from tests.ui.page_objects.lab_page import TWO_FRAMES
from tests.ui.support.notebook_scenario import NotebookScenario

QUICK = 0.12
SLOW = 0.4
"""Seconds between two keystrokes: below and above the limit of ``++``."""

_IS_LOADED = """() => [...document.querySelectorAll('style')]
    .some(({textContent}) => textContent.includes('.shoulders-GhostDots'))"""
_AFTER_SETTINGS = """async () => {
    const {baseUrl, token} = window.jupyterapp.serviceManager.serverSettings;
    const headers = {Authorization: `token ${token}`};
    await (await fetch(`${baseUrl}shoulders/api/v1/settings`, {headers})).text();
}"""
"""The page has requested them before: that request is answered first."""


def suggests(*texts: str) -> Mapping[str, Any]:
    """A reply with these suggestions."""
    return calls("answer", {"prefix_end": "", "suffix_start": "EMPTY", "suggestions": texts})


def stalls(*texts: str) -> Mapping[str, Any]:
    """A reply that stalls after these suggestions until its reader leaves."""
    begun = '{"prefix_end": "", "suffix_start": "EMPTY", "suggestions": ['
    told = begun + "".join(f"{json.dumps(text)}, " for text in texts) + '"not who'
    return calls("answer", {}, ending="stall") | {
        "parts": [{"kind": "tool", "name": "answer", "arguments": told}]
    }


class InlineCompletion:
    """The suggestions of one page; at most one editor shows some."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._keys: CDPSession | None = None
        self._now = time.time()
        self._is_ready = False

    @property
    def text(self) -> Locator:
        """The suggestion shown."""
        return self.page.locator(".shoulders-Ghost-text")

    @property
    def badge(self) -> Locator:
        """Position and number of suggestions."""
        return self.page.locator(".shoulders-Ghost-badge")

    @property
    def dots(self) -> Locator:
        """Shown while suggestions are awaited."""
        return self.page.locator(".shoulders-GhostDots")

    @property
    def labs(self) -> Locator:
        """The suggestion in JupyterLab's own completer."""
        return self.page.locator(".jp-GhostText:not([class*=Spacer]):not(:empty)")

    @property
    def hint(self) -> Locator:
        """The hint in the status bar about why there are none."""
        return self.page.locator(".shoulders-GhostHint button")

    @property
    def spoken(self) -> Locator:
        """The announcements for screen readers."""
        return self.page.locator(".shoulders-Announcer", has_text="uggestion")

    def plus(self, apart: float = QUICK) -> None:
        """Type `+` twice, this many seconds apart, independent of the page's speed."""
        if not self._is_ready:
            self.ready()
        self.strokes(apart)

    def strokes(self, apart: float = QUICK) -> None:
        """The same, without waiting for the suggestions and their settings to load."""
        self._now = max(self._now + 10, time.time())
        self._stroke(self._now)
        self._stroke(self._now + apart)

    def is_loaded(self) -> bool:
        """Whether the page has loaded the code of suggestions: it comes with the first document."""
        return self.page.evaluate(_IS_LOADED)

    def ready(self) -> None:
        """Wait until suggestions and their settings are loaded."""
        self.page.wait_for_function(_IS_LOADED)
        self.page.evaluate(_AFTER_SETTINGS)
        self.page.evaluate(TWO_FRAMES)
        self._is_ready = True

    def ask(self) -> None:
        """Type `+` twice and wait for all suggestions."""
        self.plus()
        self.shows()

    def shows(self, text: str | None = None) -> None:
        """Wait until the list is complete and this one is shown."""
        expect(self.text).to_be_visible()
        expect(self.page.locator(".shoulders-Ghost-badge", has_text="…")).to_have_count(0)
        if text is not None:
            expect(self.text).to_have_text(text)

    def gone(self) -> None:
        """Wait until nothing is shown or awaited."""
        expect(self.text).to_have_count(0)
        expect(self.dots).to_have_count(0)

    def _stroke(self, at: float) -> None:
        """Press and release the key with an explicit time stamp, which the page uses."""
        self._keys = self._keys or self.page.context.new_cdp_session(self.page)
        key = {"key": "+", "code": "NumpadAdd", "windowsVirtualKeyCode": 107, "timestamp": at}
        self._keys.send("Input.dispatchKeyEvent", {"type": "keyDown", "text": "+", **key})
        self._keys.send("Input.dispatchKeyEvent", {"type": "keyUp", **key})


def caret(page: Page) -> int:
    """Caret position in the current cell, in characters."""
    return page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.content.activeCell.editor.editor"
        ".state.selection.main.head"
    )


def asked_of(scenario: NotebookScenario) -> list[dict[str, Any]]:
    """The suggestion requests that the provider got, without those for its models."""
    return [each for each in scenario.upstream.requests() if each["method"] == "POST"]


def outcomes(scenario: NotebookScenario) -> list[str | None]:
    """Outcomes of the requests, in order."""
    return [request["outcome"] for request in asked_of(scenario)]
