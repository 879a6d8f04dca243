"""Screenshot of the panel in a notebook's output. Called by ``capture``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.simulator_process import calls, in_order, notebook, says
from tests.support.lab_server import Lab
from tests.ui.page_objects.lab_page import OpenNotebook
from tests.ui.page_objects.widget_panel import SHOW, answered, panel_in

NOTEBOOK = "wines.ipynb"
WINES = ("wines", "import pandas as pd\nwines = pd.read_csv('wines.csv')")
ANSWER = """\
Alcohol, as a rule: it tells the three varieties apart in **nine of ten** cases.

```python
wines.groupby("variety")["alcohol"].mean().round(1)
```
"""


def script() -> dict[str, Any]:
    """The model's replies in order."""
    wines = {"path": "wines.csv", "content": "variety,alcohol\nBarolo,13.7\nBarbera,13.2\n"}
    return in_order(says(ANSWER), calls("write_file", wines))


def take(lab: Lab, page: Page, shoot: Callable[[str], None]) -> None:
    """Take it; ``shoot`` takes one in the themes its name needs."""
    (lab.root / NOTEBOOK).write_text(notebook(SHOW, WINES), encoding="utf-8")
    page.goto(lab.document_url(NOTEBOOK))
    opened = OpenNotebook(page).ready()
    page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
    opened.run("show")
    panel = panel_in(page)
    panel.ask("What tells the varieties apart?")
    answered(panel, "Alcohol")
    panel.ask("Write me a small table to try it.")
    expect(panel.approval).to_be_visible()
    shoot("output")
