"""The size of the page's JavaScript: what a fresh page loads, and all there is.

A browser opens the lab and touches nothing of ours; what it has then asked for of our files loads
at start. Sizes are those of the built files, not compressed. A development build (`npm run watch`)
is three times as large; its rows say so.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path, PurePosixPath
from urllib.parse import urlparse

from playwright.sync_api import Request, sync_playwright

import jupyter_ai_shoulders
from tests.bench.figures import Figure, Goal, single
from tests.lab import Lab
from tests.ui.conftest import CHROMIUM_ARGS, chromium

EXTENSION = Path(jupyter_ai_shoulders.__file__).parent / "labextension"


def measure() -> list[Figure]:
    """Add up the files a page loads, and all files."""
    sizes = {path.name: path.stat().st_size / 1e3 for path in EXTENSION.glob("static/*.js")}
    loaded = files_loaded(json.loads((EXTENSION / "package.json").read_text())["name"])
    assert loaded <= sizes.keys(), loaded - sizes.keys()
    build = ", development build" if any(EXTENSION.glob("static/*.js.map")) else ""
    at_start = single(sum(sizes[name] for name in loaded))
    in_all = single(sum(sizes.values()))
    return [
        Figure(f"JavaScript at start{build}", "KB", at_start, goal=Goal("at most", 200)),
        Figure(f"JavaScript in all{build}", "KB", in_all, goal=Goal("at most", 900)),
    ]


def files_loaded(package: str) -> set[str]:
    """Return the names of the scripts of ``package`` that a page loads at start."""
    found: set[str] = set()

    def note(request: Request) -> None:
        path = PurePosixPath(urlparse(request.url).path)
        if path.suffix == ".js" and f"/{package}/static/" in str(path):
            found.add(path.name)

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "root")
        root.mkdir()
        lab = Lab(root, Path(folder, "state"))
        try:
            lab.start()
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
                page = browser.new_page()
                page.on("request", note)
                page.goto(lab.url("lab", reset=""))
                page.wait_for_selector("#jp-main-dock-panel")
                page.wait_for_load_state("networkidle")
                browser.close()
        finally:
            lab.stop()
    return found
