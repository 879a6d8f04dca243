"""Takes the screenshots in ``docs/screenshots``; run it as a module after visual changes.

The demo provider fixes the tour notebook; a scripted model asks a question.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect, sync_playwright

from tests.simulator_process import SimulatorProcess, calls, in_order
from tests.support.lab_server import Lab
from tests.ui.conftest import CHROMIUM_ARGS, chromium
from tests.ui.page_objects.inline_actions import Prompt
from tests.ui.page_objects.lab_page import OpenNotebook, Panel
from tests.ui.page_objects.review import Review
from tests.ui.screenshots import thread_and_completion, widget_panel

ROOT = Path(__file__).parents[3]
PICTURES = ROOT / "docs" / "screenshots"
THEMES = {
    "light": "JupyterLab Light",
    "dark": "JupyterLab Dark",
    "high-contrast": "JupyterLab Dark High Contrast",
}
PANEL_WIDTH = 420


TODO = """\
- [x] Read the data
- [x] Fix the types of the columns
- [ ] Plot the prices
  - [ ] by region
- [ ] Write the summary
"""
CHART = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 360 130" font-family="sans-serif">
<g fill="#4c72b0"><rect x="40" y="40" width="60" height="70"/><rect x="120" y="20" width="60"
height="90"/><rect x="200" y="65" width="60" height="45"/><rect x="280" y="50" width="60"
height="60"/></g><path d="M30 10v100h320" fill="none" stroke="#444"/><g font-size="11"
text-anchor="middle"><text x="70" y="125">north</text><text x="150" y="125">east</text><text
x="230" y="125">south</text><text x="310" y="125">west</text></g></svg>
"""


def main() -> None:
    """Take them all."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
        try:
            with _lab(Path(folder, "tour")) as lab:
                _tour(lab, browser.new_page(viewport={"width": 1360, "height": 850}))
            upstream = SimulatorProcess(_questions_script(), Path(folder)).start()
            try:
                with _lab(Path(folder, "questions"), upstream) as lab:
                    _questions(lab, browser.new_page(viewport={"width": 900, "height": 850}))
            finally:
                upstream.stop()
            upstream = SimulatorProcess(thread_and_completion.script(), Path(folder)).start()
            try:
                with _lab(Path(folder, "places"), upstream) as lab:
                    _places(lab, browser.new_page(viewport={"width": 1360, "height": 850}))
            finally:
                upstream.stop()
            upstream = SimulatorProcess(widget_panel.script(), Path(folder)).start()
            try:
                with _lab(Path(folder, "output"), upstream) as lab:
                    _output(lab, browser.new_page(viewport={"width": 1100, "height": 850}))
            finally:
                upstream.stop()
        finally:
            browser.close()


@contextmanager
def _lab(folder: Path, upstream: SimulatorProcess | None = None) -> Generator[Lab]:
    """A server with a copy of the tour, without notifications."""
    workspace = folder / "workspace"
    workspace.mkdir(parents=True)
    shutil.copy(ROOT / "examples" / "tour.ipynb", workspace)
    settings = folder / "state" / "config" / "labconfig"
    settings.mkdir(parents=True)
    (settings / "page_config.json").write_text(
        '{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}'
    )
    env = {} if upstream is None else upstream.configure(workspace)
    lab = Lab(workspace, folder / "state", env=env)
    lab.start()
    try:
        yield lab
    finally:
        lab.stop()


def _questions_script() -> dict[str, Any]:
    chart = {"content": CHART, "filename": "prices.svg", "description": "Prices by region"}
    question = {
        "question": "Some prices are missing. Which **regions** shall I plot?",
        "options": ["north", "east", "south", "west"],
        "allow_multiple": True,
    }
    return in_order(
        calls("share_artifact", chart),
        calls("todo", {"markdown": TODO}),
        calls("clarify", question),
    )


def _questions(lab: Lab, page: Page) -> None:
    page.goto(lab.url("lab", reset=""))
    _arrange(page, 900)
    panel = Panel(page).open()
    panel.ask("Clean the prices and plot them by region.")
    options = panel.root.locator(".shoulders-Option")
    expect(options).to_have_count(4, timeout=60_000)
    options.nth(1).click()
    options.nth(3).click()
    for name, theme in THEMES.items():
        _theme(page, theme)
        panel.root.screenshot(path=PICTURES / f"question-{name}.png", animations="disabled")


def _places(lab: Lab, page: Page) -> None:
    thread_and_completion.take(lab, page, _arrange, lambda name: _in_two_themes(page, name))


def _output(lab: Lab, page: Page) -> None:
    widget_panel.take(lab, page, lambda name: _in_two_themes(page, name))


def _in_two_themes(page: Page, name: str) -> None:
    for theme in ("light", "dark"):
        _theme(page, THEMES[theme])
        _picture(page, f"{name}-{theme}")


def _tour(lab: Lab, page: Page) -> None:
    page.goto(lab.document_url("tour.ipynb"))
    tour = OpenNotebook(page).ready()
    _arrange(page)
    panel = Panel(page).open()
    _picture(page, "empty-light")
    tour.run("load-wines")
    tour.run("train-model")
    tour.editor("count-mistakes").click()
    panel.ask("Why does this cell fail? Please fix it and run it again.")
    expect(panel.approval).to_be_visible(timeout=60_000)
    _picture(page, "approval-light")
    panel.allow()
    panel.finished()
    panel.root.locator(".shoulders-Call", has_text="Edit cell").first.locator("button").click()
    for name, theme in THEMES.items():
        _theme(page, theme)
        _picture(page, f"panel-{name}")
    page.keyboard.press("Alt+F5")
    Review(page).counts("1 change in 1 file")
    Review(page).files()
    for name in ("light", "dark"):
        _theme(page, THEMES[name])
        _picture(page, f"review-{name}")
    _theme(page, THEMES["light"])
    panel.input.press_sequentially("Plot @")
    expect(panel.root.get_by_role("option").first).to_be_visible()
    _picture(page, "input-light")
    page.keyboard.press("Escape")
    panel.input.fill("")
    tour.editor("train-model").click()
    page.keyboard.press("Control+;")
    page.keyboard.press("e")
    prompt = Prompt(page)
    prompt.ask("Say what each step does")
    expect(prompt.button("Accept")).to_be_visible()
    for name in ("light", "dark"):
        _theme(page, THEMES[name])
        _picture(page, f"inline-edit-{name}")
    page.keyboard.press("Escape")
    for section, name in (("usage", "light"), ("tools", "dark"), ("providers", "high-contrast")):
        _theme(page, THEMES[name])
        page.evaluate(
            "section => window.jupyterapp.commands.execute("
            "'jupyter-ai-shoulders:open-settings', {section})",
            section,
        )
        expect(page.locator(".shoulders-Settings")).to_be_visible()
        expect(page.locator(".shoulders-Settings h2").first).to_be_visible()
        _picture(page, f"settings-{name}")


def _arrange(page: Page, width: int = 1360) -> None:
    """Widen the panel and hide the file browser."""
    page.wait_for_function("() => window.jupyterapp?.restored !== undefined")
    page.evaluate(
        """async () => {
            await window.jupyterapp.restored;
            window.jupyterapp.shell.collapseLeft();
        }"""
    )
    Panel(page).open()
    handle = page.locator("#jp-main-split-panel > .lm-SplitPanel-handle:visible").last
    box = handle.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 300)
    page.mouse.down()
    page.mouse.move(width - 48 - PANEL_WIDTH, box["y"] + 300, steps=8)
    page.mouse.up()


def _theme(page: Page, name: str) -> None:
    page.evaluate(
        f"() => window.jupyterapp.commands.execute('apputils:change-theme', {{theme: '{name}'}})"
    )
    page.wait_for_function(f"() => document.body.dataset.jpThemeName === '{name}'")


def _picture(page: Page, name: str) -> None:
    page.screenshot(path=PICTURES / f"{name}.png", animations="disabled")


if __name__ == "__main__":
    main()
