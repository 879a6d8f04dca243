"""A JupyterLab page with conversations in every state, for audits. See ``realistic_samples``."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.simulator_process import SimulatorProcess, in_order
from tests.support.forked_lab import ForkedLab
from tests.support.lab_server import Lab
from tests.ui.conftest import attended
from tests.ui.page_objects.lab_page import PAGE_TIMEOUT_MS, Panel
from tests.ui.support.conversation_samples import ConversationSamples, fill


@dataclass(frozen=True)
class Gallery:
    """The server, its page, and the panel in it."""

    lab: Lab
    page: Page
    panel: Panel

    def show(self, scene: str) -> None:
        """Open a conversation from the history."""
        root = self.panel.root
        self.page.evaluate(
            "() => window.jupyterapp.commands.execute('jupyter-ai-shoulders:show-history')"
        )
        rows = root.locator(".shoulders-History-open")
        expect(rows).not_to_have_count(0)
        root.locator(".shoulders-History input[type=search]").fill(f"scene {scene}")
        expect(rows).to_have_count(1)
        expect(rows).to_contain_text(f"scene {scene}")
        rows.click()
        expect(root.get_by_role("tab", selected=True)).to_have_text(f"scene {scene}")
        expect(root.locator(".shoulders-User").first).to_be_attached()

    def open_everything(self) -> None:
        """Expand everything in the conversation."""
        closed = self.panel.root.locator(
            "[role=log] button[aria-expanded=false]:not([aria-haspopup])"
        )
        while closed.count() > 0:
            closed.first.click()


@contextmanager
def shown(
    browser: Browser,
    paths: pytest.TempPathFactory,
    scenes: ConversationSamples,
    language: str = "en",
) -> Generator[Gallery]:
    """Fill a workspace with conversations, and show the panel."""
    root = paths.mktemp("workspace")
    upstream = SimulatorProcess(in_order(), paths.mktemp("upstream")).start()
    lab = ForkedLab(root, paths.mktemp("lab"), env=upstream.configure(root))
    fill(lab, scenes)
    speak(lab, language)
    lab.start()
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PAGE_TIMEOUT_MS)
    page = attended(context.new_page())
    try:
        yield Gallery(lab, page, Panel(page))
    finally:
        context.close()
        lab.stop()
        upstream.stop()


def speak(lab: Lab, language: str) -> None:
    """Set JupyterLab's language as its settings would."""
    if language != "en":
        folder = Path(lab.state, "settings", "@jupyterlab", "translation-extension")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "plugin.jupyterlab-settings").write_text(f'{{"locale": "{language}"}}')
