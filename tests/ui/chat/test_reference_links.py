"""Links in answers and tool calls to cells and files; images and tables of runs."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.simulator_process import calls, says
from tests.ui.page_objects.lab_page import Panel
from tests.ui.support.notebook_scenario import NotebookScenario

PLOT = """\
import base64, struct, zlib
from IPython.display import Image
rows = b"".join(b"\\0" + bytes([200, 60, 60] * 240) for _ in range(160))
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
Image(b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 240, 160, 8, 2, 0, 0, 0))
    + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))"""
TABLE = """\
from IPython.display import HTML
HTML("<table><thead><tr><th></th><th>city</th><th>price</th></tr></thead><tbody>"
     + "".join(f"<tr><th>{n}</th><td>Bern <img src=x onerror='window.hit=1'></td><td>{n}</td></tr>"
               for n in range(5))
     + "</tbody></table><p>1000 rows × 2 columns</p>")"""
FILLER = tuple((f"c{number}", f"a = {number}\nb = {number}") for number in range(1, 31))


@pytest.fixture(autouse=True)
def unfollowed(scenario: NotebookScenario) -> Iterator[None]:
    """Turns following off, so that only links scroll."""
    folder = scenario.lab.state / "settings" / "jupyter-ai-shoulders"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "follow.jupyterlab-settings"
    file.write_text(json.dumps({"follow": False}))
    yield
    file.unlink()


def reference(place: Locator, name: str) -> Locator:
    """A reference in the chat."""
    return place.get_by_role("link", name=name, exact=True)


def to_the_top(scenario: NotebookScenario) -> None:
    """Scroll up, as a user would."""
    scenario.page.locator(".jp-Notebook:visible").hover()
    scenario.page.mouse.wheel(0, -30_000)


@pytest.mark.full
def test_pictures_and_tables_of_runs_are_shown_below_their_lines_and_lead_to_the_output(
    scenario: NotebookScenario,
) -> None:
    opened = scenario.open(
        *FILLER,
        ("plot", PLOT),
        ("table", TABLE),
        replies=[
            calls("run_cell", {"path": scenario.path, "cell_id": "plot"}),
            calls("run_cell", {"path": scenario.path, "cell_id": "table"}),
            says("Done."),
        ],
    )
    panel = scenario.ask()
    panel.allow()
    panel.allow()
    panel.finished()
    to_the_top(scenario)
    expect(opened.cell("plot")).not_to_be_in_viewport()
    picture = panel.answers.get_by_role("button", name="Picture from “Run cell 31”")
    shown = picture.locator("img").bounding_box()
    assert shown is not None
    assert shown["height"] <= 96
    assert shown["width"] > 100
    picture.press("Enter")
    output = opened.cell("plot").locator(".jp-Cell-outputWrapper")
    expect(output).to_be_in_viewport()
    # A table is rendered from its text: none of the notebook's HTML runs in the chat.
    table = panel.answers.get_by_role("table")
    expect(table.get_by_role("columnheader")).to_have_text(["city", "price"])
    expect(table.get_by_role("row")).to_have_count(4)
    expect(table.locator("img")).to_have_count(0)
    to_the_top(scenario)
    expect(opened.cell("table")).not_to_be_in_viewport()
    table.get_by_text("city").click()
    expect(opened.cell("table").locator(".jp-Cell-outputWrapper")).to_be_in_viewport()
    expect(panel.answers.get_by_role("button", name="1000 rows × 2 columns")).to_be_visible()


@pytest.mark.full
def test_cells_and_files_that_an_answer_names_are_links_that_mark_them(
    scenario: NotebookScenario,
) -> None:
    name = f"{scenario.file.stem}.py"
    scenario.file.with_name(name).write_text("x = 1\n")
    opened = scenario.open(
        *FILLER,
        replies=[
            calls("read_notebook", {"path": scenario.path}),
            calls("read_file", {"path": name}),
            calls(
                "edit_cell",
                {
                    "path": scenario.path,
                    "cell_id": "c30",
                    "old_string": "b = 30",
                    "new_string": "b = 0",
                },
            ),
            says(
                f"See cell 28 and `{name}`, or {scenario.file.name}; "
                "not `cell 27`, nor none.py.\n\n"
                f"```python\n# cell 5 of {name}\n```"
            ),
        ],
    )
    panel: Panel = scenario.ask()
    panel.finished()
    page = scenario.page
    answer = panel.answers.locator(".shoulders-Markdown")
    expect(answer.locator(".shoulders-LocationLink")).to_have_text(
        ["cell 28", name, scenario.file.name]
    )
    # The number is the cell's as the agent has read it: it leads there after a move too.
    opened.editor("c1").click()
    opened.command("notebook:insert-cell-above")
    to_the_top(scenario)
    expect(opened.cell("c28")).not_to_be_in_viewport()
    reference(answer, "cell 28").click()
    expect(opened.cell("c28")).to_be_in_viewport()
    expect(opened.cell("c28").locator(".shoulders-mod-flash")).to_be_visible()
    assert opened.active == "c28"
    # So does the line of a call, by keyboard as well.
    to_the_top(scenario)
    expect(opened.cell("c30")).not_to_be_in_viewport()
    row = panel.answers.locator(".shoulders-CallRow", has_text="Edit cell 30")
    reference(row, "cell 30").press("Enter")
    expect(opened.cell("c30")).to_be_in_viewport()
    expect(row.get_by_role("button")).to_have_attribute("aria-expanded", "false")
    reference(answer, name).click()
    expect(page.locator(".jp-FileEditor:visible")).to_contain_text("x = 1")
