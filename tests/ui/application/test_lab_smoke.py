"""The extension loads in JupyterLab, and a killed server comes back."""

import json
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

from tests.support.lab_server import Lab, StartLab

pytestmark = pytest.mark.full


def test_lab_loads_the_extension(page: Page, lab: Lab):
    page.goto(lab.url("lab", reset=""))
    expect(page.locator("#jp-main-dock-panel")).to_be_visible()
    assert page.evaluate("window.jupyterapp.hasPlugin('jupyter-ai-shoulders:chat')")


def test_killed_lab_comes_back_at_the_same_address(tmp_path: Path, start_lab: StartLab):
    (tmp_path / "notes.md").write_text("kept")
    lab = start_lab(tmp_path, base_url="/user/ada/")
    address, first = lab.url("api/contents/notes.md"), lab.pid
    lab.kill()
    lab.restart()
    with urlopen(address) as reply:
        assert json.load(reply)["content"] == "kept"
    assert lab.pid != first
