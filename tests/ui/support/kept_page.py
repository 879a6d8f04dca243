"""One page that several tests use one after another: JupyterLab starts once for all of them.

A start of JupyterLab costs some four seconds of processor time. Tests marked `kept_page` only open
a notebook and use it: they do not reload or leave the page, nor change what outlives its documents.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page

from tests.support.lab_server import Lab

PASSED = pytest.StashKey[bool]()
"""Whether the test has passed; recorded by ``tests/ui/conftest.py``."""
TIDY = """
    async () => {
        const app = window.jupyterapp;
        for (const widget of [...app.shell.widgets('main')]) {
            if (widget.context) {
                widget.context.model.dirty = false;
            }
            widget.close();
            widget.dispose();
        }
        await app.commands.execute('jupyter-ai-shoulders:new-conversation');
        app.shell.collapseRight();
    }
"""
OPEN = """
    async path => {
        const app = window.jupyterapp;
        const opened = await app.commands.execute('docmanager:open', {path});
        await opened.context.ready;
        app.shell.activateById(opened.id);
    }
"""


@dataclass
class KeptPage:
    """Lends the page; a test that did not pass takes it with it."""

    create: Callable[[], Page]
    _page: Page | None = None

    def lend(self) -> Page:
        """The page: new, or with the JupyterLab of the test before."""
        self._page = self._page or self.create()
        return self._page

    def drop(self) -> None:
        """Close the page; the next test gets a new one."""
        if self._page:
            self._page.context.close()
        self._page = None


def is_kept(request: pytest.FixtureRequest) -> bool:
    """Return whether a test uses the kept page."""
    return request.node.get_closest_marker("kept_page") is not None


def shows_lab(page: Page, lab: Lab) -> bool:
    """Return whether the page shows the JupyterLab of this server."""
    return page.url.startswith(lab.url("lab").partition("?")[0])


def tidy(request: pytest.FixtureRequest, page: Page) -> None:
    """Close the documents without saving them, and start a new conversation in a closed panel.

    A page that is not kept, or whose test did not pass, stays as it is.
    """
    if is_kept(request) and request.node.stash.get(PASSED, False):
        page.evaluate(TIDY)


def open_document(page: Page, lab: Lab, path: str) -> None:
    """Open a document: in the JupyterLab that the page shows, or in a new one."""
    if shows_lab(page, lab):
        page.evaluate(OPEN, path)
    else:
        page.goto(lab.document_url(path))
