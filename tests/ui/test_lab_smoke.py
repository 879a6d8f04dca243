"""The extension loads in a real lab."""

from playwright.sync_api import Page, expect

from tests.ui.lab import Lab


def test_lab_loads_the_extension(page: Page, lab: Lab):
    page.goto(lab.url("lab", reset=""))
    expect(page.locator("#jp-main-dock-panel")).to_be_visible(timeout=30_000)
    assert page.evaluate("window.jupyterapp.hasPlugin('jupyter-ai-shoulders:plugin')")
