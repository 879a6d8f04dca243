"""The size of the page's JavaScript: what a fresh page loads, and all there is.

A browser opens the lab and touches nothing of ours; what it has then asked for of our files loads
at start. Sizes are those of the built files, not compressed. A development build (`npm run watch`)
is three times as large; its rows say so.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

import jupyter_ai_shoulders
from tests.bench.figures import Figure, Goal, single
from tests.support.lab_server import Lab
from tests.ui.conftest import CHROMIUM_ARGS, chromium

EXTENSION = Path(jupyter_ai_shoulders.__file__).parent / "labextension"


AT_START_KB = 200
IN_ALL_KB = 1_075
"""900 without search, references, Word pages, MCP servers and agents, which load on first use."""

# What has come of ours once the lab stands as it was left.
_LOADED = """async folder => {
    await window.jupyterapp.restored;
    return performance.getEntriesByType('resource')
        .map(({name}) => new URL(name).pathname)
        .filter(path => path.includes(folder) && path.endsWith('.js'))
        .map(path => path.split('/').at(-1));
}"""

_STARTED = "() => window.jupyterapp.commands.hasCommand('jupyter-ai-shoulders:focus-chat')"


def measure() -> list[Figure]:
    """Add up the files a page loads, and all files."""
    sizes = built()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "root")
        root.mkdir()
        lab = Lab(root, Path(folder, "state"))
        try:
            lab.start()
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
                at_start = kilobytes_at_start(browser.new_page(), lab)
                browser.close()
        finally:
            lab.stop()
    build = ", development build" if any(EXTENSION.glob("static/*.js.map")) else ""
    limits = Goal("at most", AT_START_KB), Goal("at most", IN_ALL_KB)
    in_all = sum(sizes.values())
    return [
        Figure(f"JavaScript at start{build}", "KB", single(at_start), goal=limits[0]),
        Figure(f"JavaScript in all{build}", "KB", single(in_all), goal=limits[1]),
    ]


def built() -> dict[str, float]:
    """Return the kilobytes of each script, by its name."""
    return {path.name: path.stat().st_size / 1e3 for path in EXTENSION.glob("static/*.js")}


def kilobytes_at_start(page: Page, lab: Lab) -> float:
    """Open the lab and return the kilobytes of our scripts that it loads at start."""
    sizes = built()
    page.goto(lab.url("lab", reset=""))
    page.wait_for_function("() => window.jupyterapp !== undefined")
    page.wait_for_load_state("networkidle")  # what plugins fetch a moment later counts too
    package = json.loads((EXTENSION / "package.json").read_text())["name"]
    loaded: set[str] = set(page.evaluate(_LOADED, f"/{package}/static/"))
    assert loaded, "nothing of ours was loaded"
    assert page.evaluate(_STARTED), "our plugins did not start"
    assert loaded <= sizes.keys(), loaded - sizes.keys()
    return sum(sizes[name] for name in loaded)
