"""The surfaces beside the conversations: settings, lists of the input, menus, prompts.

``test_secondary_surfaces`` audits each of them, with hostile text and in an artificial language.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.simulator_process import SimulatorProcess, in_order
from tests.support.forked_lab import ForkedLab
from tests.support.lab_server import Lab
from tests.ui.conftest import attended
from tests.ui.hostile_text.deceptive_characters import NAMES
from tests.ui.page_objects.lab_page import PAGE_TIMEOUT_MS, Panel
from tests.ui.support.conversation_gallery import speak
from tests.ui.support.conversation_samples import fill
from tests.ui.support.pseudo_locale import LANGUAGE, longer
from tests.ui.support.realistic_samples import REALISTIC_SAMPLES

SECTIONS = (
    *("providers", "models", "suggestions", "search", "services", "tools", "rules"),
    *("budget", "usage", "privacy", "instructions", "folder", "approvals", "changes"),
)
NOTEBOOK = "pay.ipynb"
_ERROR = {"output_type": "error", "ename": "NameError", "evalue": "no price", "traceback": ["no"]}
_CELL: Mapping[str, Any] = {
    "cell_type": "code",
    "execution_count": 1,
    "id": "bad",
    "metadata": {},
    "outputs": [_ERROR],
    "source": "total = price * 3",
}
_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
_METADATA = {"kernelspec": _KERNEL, "language_info": {"name": "python"}}
_DOCUMENT: Mapping[str, Any] = {
    "cells": [_CELL],
    "metadata": _METADATA,
    "nbformat": 4,
    "nbformat_minor": 5,
}


@dataclass(frozen=True)
class SecondarySurfaces:
    """A server with files of hostile names, and its model."""

    lab: Lab
    upstream: SimulatorProcess
    browser: Browser

    @contextmanager
    def page(self) -> Generator[Page]:
        """A blank page of a new browser profile."""
        context = self.browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(PAGE_TIMEOUT_MS)
        try:
            yield attended(context.new_page())
        finally:
            context.close()


@contextmanager
def served(browser: Browser, paths: pytest.TempPathFactory) -> Generator[SecondarySurfaces]:
    """Serve a workspace with conversations and files in the language of ``pack``."""
    root = paths.mktemp("workspace")
    upstream = SimulatorProcess(in_order(), paths.mktemp("upstream")).start()
    lab = ForkedLab(root, paths.mktemp("lab"), env=upstream.configure(root))
    fill(lab, REALISTIC_SAMPLES)
    _write(root)
    speak(lab, LANGUAGE)
    lab.start()
    try:
        yield SecondarySurfaces(lab, upstream, browser)
    finally:
        lab.stop()
        upstream.stop()


def _write(root: Path) -> None:
    (root / NOTEBOOK).write_text(json.dumps(_DOCUMENT), encoding="utf-8")
    (root / "_instructions.md").write_text("Be brief.\n", encoding="utf-8")
    for name in NAMES:
        (root / f"pay {name}").write_text("", encoding="utf-8")
    rules = [
        {"action": "deny", "tool": "delete_file", "match": {"path": "data/**"}},
        {"action": "ask", "tool": "read_*"},
    ]
    tools = json.dumps({"version": 1, "rules": rules})
    (root / ".shoulders" / "tools.json").write_text(tools, encoding="utf-8")


def open_lab(page: Page, lab: Lab, pack: Mapping[str, Any]) -> Panel:
    """Open the notebook and the panel beside it, with the texts of a pack."""
    answer = json.dumps({"data": pack and {"jupyter_ai_shoulders": pack}, "message": ""})

    def translate(route: Route) -> None:
        route.fulfill(body=answer, content_type="application/json")

    page.route("**/api/translations/**", translate)
    page.goto(lab.document_url(NOTEBOOK))
    page.wait_for_function("() => window.jupyterapp?.shell?.currentWidget?.content?.model")
    page.evaluate("() => window.jupyterapp.shell.currentWidget.context.ready")
    execute(page, "focus-chat")
    panel = Panel(page, longer("AI chat") if pack else "AI chat")
    expect(panel.input).to_be_enabled()
    return panel


def execute(page: Page, command: str, **given: str) -> None:
    """Run one of the extension's commands."""
    page.evaluate(
        "([command, given]) => window.jupyterapp.commands.execute(command, given)",
        [f"jupyter-ai-shoulders:{command}", given],
    )


def settings(page: Page) -> Iterator[tuple[str, Locator]]:
    """Each section of the settings, fully expanded."""
    root = page.locator(".shoulders-Settings")
    execute(page, "open-settings", section=SECTIONS[0])
    links = root.locator(".shoulders-Settings-link")
    for number, section in enumerate(SECTIONS):
        links.nth(number).click()
        expect(links.nth(number)).to_have_attribute("aria-current", "page")
        expect(root.locator(".shoulders-Dots")).to_have_count(0)
        closed = root.locator(".shoulders-Settings-main .shoulders-Disclosure[aria-expanded=false]")
        while closed.count():
            closed.first.click()
        if section == "rules":
            root.locator(".shoulders-Settings-main .shoulders-Actions button").last.click()
            expect(root.locator(".shoulders-RuleForm")).to_be_visible()
        yield f"settings: {section}", root


def suggestions(panel: Panel) -> Iterator[tuple[str, Locator]]:
    """The input's lists after its two trigger characters, and the sheets that commands open."""
    popover = panel.root.locator(".shoulders-Popover")
    for typed in ("@", "@pay", "/"):
        panel.input.fill("")
        panel.input.press_sequentially(typed)
        expect(popover.get_by_role("option")).not_to_have_count(0)
        yield f"input: {typed}", panel.root
        panel.input.press("Escape")
        expect(popover).to_have_count(0)
        expect(panel.input).to_be_focused()
    for sheet in ("/tools", "/skills"):
        panel.input.fill("")
        panel.input.press_sequentially(sheet)
        panel.input.press("Enter")
        opened = panel.root.locator(".shoulders-Sheet")
        expect(opened).to_be_visible()
        expect(opened.locator(".shoulders-Dots")).to_have_count(0)
        yield f"input: {sheet}", panel.root
        opened.press("Escape")
        expect(opened).to_have_count(0)
        expect(panel.input).to_be_focused()
    panel.input.fill("")


def menus(panel: Panel) -> Iterator[tuple[str, Locator]]:
    """Each menu and picker of the panel, opened; checks the focus afterwards."""
    openers = panel.root.locator(
        "button[aria-haspopup=menu]:visible, button[aria-haspopup=dialog]:visible"
    )
    expect(openers).not_to_have_count(0)
    for number in range(openers.count()):
        opener = openers.nth(number)
        opener.press("Enter")
        expect(opener).to_have_attribute("aria-expanded", "true")
        inside = panel.root.locator("[role=menu] :focus, [role=dialog] :focus")
        expect(inside).to_have_count(1)
        yield f"menu {number}: {opener.get_attribute('class')}", panel.root
        panel.page.keyboard.press("Escape")
        expect(opener).to_have_attribute("aria-expanded", "false")
        expect(opener.or_(panel.input).and_(panel.page.locator(":focus"))).to_have_count(1)


def review(page: Page) -> Iterator[tuple[str, Locator]]:
    """The bar of all changes, with the list of documents."""
    bar = page.locator(".shoulders-Review")
    execute(page, "show-changes")
    expect(bar.locator("li")).not_to_have_count(0)
    yield "review", bar
    bar.locator(".shoulders-Review-count").click()


def prompts(
    page: Page, upstream: SimulatorProcess, *replies: Mapping[str, Any]
) -> Iterator[tuple[str, Locator]]:
    """Inline actions: the output bar, the cell menu, and a prompt with each of the replies."""
    cell = page.locator(".jp-Notebook .jp-Cell")
    cell.locator(".cm-content").click()
    bar = cell.locator(".shoulders-OutputBar")
    expect(bar).to_be_visible()
    yield "output", bar
    cell.locator("[data-jp-item-name='shoulders-ai']").click()
    menu = page.locator(".shoulders-CellMenu")
    expect(menu).to_be_visible()
    yield "cell menu", menu
    page.keyboard.press("Escape")
    expect(menu).to_have_count(0)
    for number, reply in enumerate(replies):
        cell.locator(".cm-content").focus()
        upstream.play(in_order(reply))
        execute(page, "edit-with-ai")
        prompt = page.locator(".shoulders-Prompt")
        expect(prompt.locator("textarea")).to_be_focused()
        yield f"prompt {number}", prompt
        prompt.locator("textarea").fill("Change it.")
        page.keyboard.press("Enter")
        expect(
            prompt.locator(".shoulders-Prompt-remark:not(.shoulders-mod-working)")
        ).to_be_visible()
        yield f"prompt {number} answered", prompt
        expect(prompt).to_have_attribute("aria-busy", "false")
        prompt.locator("textarea").press("Escape")
        expect(prompt).to_have_count(0)
        expect(cell.locator(".cm-content")).to_be_focused()
