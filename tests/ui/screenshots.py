"""Takes the pictures in ``docs/screenshots``; run it as a module after a change of looks.

The demo provider fixes the tour notebook in a real lab, in each theme.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from tests.lab import Lab
from tests.ui.conftest import CHROMIUM_ARGS, chromium
from tests.ui.panel import OpenNotebook, Panel

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "screenshots"
THEMES = {
    "light": "JupyterLab Light",
    "dark": "JupyterLab Dark",
    "high-contrast": "JupyterLab Dark High Contrast",
}
PANEL_WIDTH = 420


def main() -> None:
    """Take them all."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        workspace = Path(folder, "workspace")
        workspace.mkdir()
        shutil.copy(ROOT / "examples" / "tour.ipynb", workspace)
        settings = Path(folder, "state", "config", "labconfig")
        settings.mkdir(parents=True)
        (settings / "page_config.json").write_text(
            '{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}'
        )
        lab = Lab(workspace, Path(folder, "state"))
        lab.start()
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
        try:
            page = browser.new_page(viewport={"width": 1360, "height": 850})
            _tour(lab, page)
        finally:
            browser.close()
            lab.stop()


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


def _arrange(page: Page) -> None:
    """Give the panel room and put the file browser away."""
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
    page.mouse.move(1360 - 48 - PANEL_WIDTH, box["y"] + 300, steps=8)
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
