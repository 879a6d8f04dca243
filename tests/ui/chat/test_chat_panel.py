"""The chat panel: streaming, calls, approvals, tabs, themes, hostile text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.simulator_process import StartSimulator, calls, in_order, says
from tests.support.lab_server import StartLab
from tests.ui.documents.test_main_workflow import ENDLESS
from tests.ui.page_objects.lab_page import WIDE, OpenNotebook, Panel
from tests.ui.support.notebook_scenario import LabWithModel, NotebookScenario

ANSWER = """\
The cell **works**:

1. it adds
2. it prints

```python
print(1 + 1)
```

| a | b |
|---|--:|
| 1 | 2 |
"""

HOSTILE = """\
<script>window.hit = 'script'</script>
<img src="x" onerror="window.hit = 'handler'">
<svg onload="window.hit = 'svg'"></svg>
<iframe src="https://evil.example/frame"></iframe>
<style>@import "https://evil.example/style.css";</style>
<p style="background: url(https://evil.example/background.png)">styled</p>
<form action="https://evil.example/form"><button>go</button></form>
<a href="#" data-commandlinker-command="application:close-all">linked</a>
<video src="https://evil.example/v.mp4" poster="https://evil.example/p.png"></video>
<link rel="stylesheet" href="https://evil.example/link.css">

![remote](https://evil.example/image.png?secret=1) ![own](/api/contents)
[javascript](javascript:window.hit='link') [fine](https://docs.example/page)

```html
<img src="https://evil.example/code.png" onerror="window.hit = 'code'">
```

The end of the answer.
"""


def open_notebook(scenario: NotebookScenario) -> Panel:
    """Open a small notebook and the panel."""
    scenario.write(("first", "total = 1"), ("second", "total + 1"))
    scenario.page.goto(scenario.lab.document_url(scenario.path))
    OpenNotebook(scenario.page).ready()  # it takes the focus when it opens
    panel = Panel(scenario.page).open()
    expect(panel.root.locator(".shoulders-Chip").first).to_contain_text(scenario.path)
    return panel


def execute(page: Page, command: str, **arguments: Any) -> None:
    """Run a command of JupyterLab."""
    page.evaluate(
        "([id, args]) => window.jupyterapp.commands.execute(id, args)", [command, arguments]
    )


@pytest.mark.kept_page
@pytest.mark.shows("input.2", "panel.1")
def test_an_answer_streams_as_markdown_and_a_call_opens_to_its_input_and_output(
    scenario: NotebookScenario, page: Page
) -> None:
    scenario.play(calls("read_notebook", {"path": scenario.path}), says(ANSWER))
    panel = open_notebook(scenario)
    expect(panel.input).to_be_focused()
    page.keyboard.type("What does ")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("this do?")
    page.keyboard.press("Enter")
    expect(panel.root.locator(".shoulders-User-text")).to_have_text("What does \nthis do?")
    answer = panel.answers.last
    expect(answer.locator("strong")).to_have_text("works")
    expect(answer.locator("ol > li")).to_have_count(2)
    expect(answer.locator("td").last).to_have_text("2")
    expect(answer.locator(".shoulders-Code-language")).to_have_text("python")
    expect(answer.locator(".shoulders-Code-source span").first).to_be_visible()  # highlighted
    panel.finished()

    line = answer.get_by_role("button", name=f"Read notebook {scenario.path}")
    expect(line).to_have_attribute("aria-expanded", "false")
    expect(answer.locator(".shoulders-CallDetail")).to_have_count(0)
    expect(answer).not_to_contain_text("cell_id")
    box = line.bounding_box()
    assert box is not None
    assert box["height"] == 28
    line.click()
    detail = answer.locator(".shoulders-CallDetail")
    expect(detail).to_contain_text("path")
    expect(detail).to_contain_text(f'Notebook "{scenario.path}" · 2 cells')

    answer.get_by_role("button", name="Insert as cell below").click()
    expect(page.locator(".jp-Notebook .jp-Cell").nth(1)).to_contain_text("print(1 + 1)")
    answer.get_by_role("button", name="Copy", exact=True).click()
    expect(answer.get_by_role("button", name="Copied")).to_be_visible()


@pytest.mark.shows("approvals.3", "approvals.5")
def test_an_approval_is_answered_by_keyboard_in_one_page_and_settled_in_the_other(
    scenario: NotebookScenario, page: Page
) -> None:
    scenario.play(
        calls("run_cell", {"path": scenario.path, "cell_id": "first"}),
        calls("run_cell", {"path": scenario.path, "cell_id": "second"}),
        says("It is two."),
        says("Then I will not."),
    )
    panel = open_notebook(scenario)
    panel.ask("Run both.")
    expect(panel.approval).to_contain_text("total = 1")
    expect(panel.status).to_contain_text("Waiting for your approval")
    elsewhere = scenario.elsewhere(page.context.new_page())
    expect(elsewhere.approval).to_be_visible()

    # From the input: back over the stop button to the card, then to the menu beside "Always for …".
    panel.input.focus()
    for _ in range(12):
        page.keyboard.press("Shift+Tab")
        focused = page.evaluate("() => document.activeElement.title")
        if focused.startswith("Allow for less"):
            break
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    expect(panel.root.get_by_role("menuitem", name="In this conversation")).to_be_focused()
    page.keyboard.press("Enter")
    # The first approval covers the second run.
    expect(panel.answers.last).to_contain_text("It is two.")
    panel.finished()
    expect(elsewhere.approval).to_have_count(0)
    expect(elsewhere.answers.last).to_contain_text("It is two.")
    answers = [
        (event["decision"], event["scope"], event["by"])
        for event in scenario.talks.of_type("approval-answer")
    ]
    assert answers[0] == ("allow", "session", "user")


@pytest.mark.kept_page
def test_denying_with_a_reason_goes_on_and_without_one_or_stopping_ends_the_turn(
    scenario: NotebookScenario, page: Page
) -> None:
    scenario.play(
        calls("run_cell", {"path": scenario.path, "cell_id": "first"}),
        calls("run_cell", {"path": scenario.path, "cell_id": "second"}),
        says(ENDLESS, tokens_per_second=40),
    )
    panel = open_notebook(scenario)
    panel.ask("Run it.")
    panel.approval.get_by_role("button", name="No, do this instead…").click()
    page.keyboard.type("the second one")
    expect(panel.approval.get_by_role("button", name="Deny and continue")).to_be_visible()
    page.keyboard.press("Enter")
    # The model reads the reason and tries the other cell.
    expect(panel.approval).to_contain_text("total")
    panel.approval.get_by_role("button", name="No, do this instead…").click()
    panel.approval.get_by_role("button", name="Deny and stop").click()
    panel.finished()
    expect(panel.answers.last).to_contain_text("denied")
    given = scenario.talks.of_type("approval-answer")
    assert [event["feedback"] for event in given] == ["the second one", None]
    assert scenario.talks.of_type("turn-end")[-1]["exit"] == "tool_rejected"

    panel.ask("Write a lot.")
    expect(panel.answers.last).to_contain_text("word20")
    expect(panel.status).to_contain_text("Writing…")
    panel.input.fill("also this")
    panel.input.press("Enter")
    expect(panel.root.locator(".shoulders-Queue-item")).to_contain_text("also this")
    panel.root.get_by_role("button", name="Remove", exact=True).click()
    expect(panel.root.locator(".shoulders-Queue-item")).to_have_count(0)
    panel.input.press("Escape")
    panel.finished()
    expect(panel.answers.last).to_contain_text("Stopped")
    assert scenario.talks.of_type("turn-end")[-1]["exit"] == "cancelled"


@pytest.mark.full
@pytest.mark.shows("places.7", "input.11", "speed.6")
def test_conversations_are_tabs_that_survive_a_reload_and_a_history_to_manage_them(
    start_lab: StartLab, workspace: Path, upstream: StartSimulator, page: Page
) -> None:
    simulator = upstream(in_order(says("First answer."), says("Second answer.")))
    lab = start_lab(workspace, env=simulator.configure(workspace))
    panel = open_notebook(
        NotebookScenario(LabWithModel(lab, simulator), page, workspace / "a.ipynb")
    )
    tabs = panel.root.get_by_role("tab")
    panel.resize(WIDE)
    panel.ask("The first question")
    expect(panel.answers.last).to_contain_text("First answer.")
    panel.root.get_by_role("button", name="New conversation", exact=True).click()
    expect(panel.root.get_by_text("What shall we work on?")).to_be_visible()
    panel.ask("The second question")
    expect(panel.answers.last).to_contain_text("Second answer.")
    panel.finished()
    panel.input.fill("a half-written draft")
    page.reload()

    panel = Panel(page).open()
    panel.resize(WIDE)
    expect(tabs).to_have_text(["The first question", "The second question"])
    expect(panel.answers.last).to_contain_text("Second answer.")
    expect(panel.input).to_have_value("a half-written draft")
    panel.root.get_by_title("Close The second question").click()
    expect(panel.answers.last).to_contain_text("First answer.")
    expect(panel.input).to_have_value("")
    panel.root.get_by_role("button", name="History").click()
    closed = panel.root.locator(".shoulders-History-row", has_text="The second question")
    expect(closed).to_contain_text("Draft")
    closed.get_by_role("button").first.click()
    expect(panel.input).to_have_value("a half-written draft")
    panel.root.get_by_title("Close The first question").click()
    expect(tabs).to_have_count(1)

    panel.root.get_by_role("button", name="History").click()
    rows = panel.root.locator(".shoulders-History-row")
    expect(rows).to_have_count(2)
    panel.root.get_by_label("Search conversations").fill("first")
    expect(rows).to_have_count(1)
    rows.first.get_by_role("button", name="More actions for").click()
    panel.root.get_by_role("menuitem", name="Rename").click()
    page.keyboard.type("Renamed")
    page.keyboard.press("Enter")
    panel.root.get_by_label("Search conversations").fill("")
    expect(rows).to_have_count(2)
    renamed = rows.filter(has_text="Renamed")
    renamed.get_by_role("button", name="More actions for").click()
    panel.root.get_by_role("menuitem", name="Delete").click()
    expect(rows).to_have_count(1)
    rows.first.locator(".shoulders-History-open").click()
    expect(panel.answers.last).to_contain_text("Second answer.")


@pytest.mark.kept_page
def test_hostile_text_neither_runs_nor_loads_anything(
    scenario: NotebookScenario, page: Page
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: asked.append(f"dialog {dialog.message}"))
    scenario.play(says(HOSTILE))
    panel = open_notebook(scenario)
    panel.ask("Say something.")
    answer = panel.answers.last
    expect(answer).to_contain_text("The end of the answer.")
    panel.finished()
    expect(answer.locator("img, iframe, form, svg:not(.shoulders-Icon svg), video")).to_have_count(
        0
    )
    expect(answer.locator("[style], [data-commandlinker-command]")).to_have_count(0)
    answer.get_by_text("linked").click()
    answer.get_by_text("javascript", exact=True).click()
    fine = answer.get_by_role("link", name="fine")
    expect(fine).to_have_attribute("rel", "noopener noreferrer")
    expect(fine).to_have_text("fine (docs.example)")
    assert page.evaluate("() => window.hit ?? null") is None
    expect(page.locator(".jp-Notebook")).to_be_visible()
    assert [url for url in asked if "evil.example" in url or url.startswith("dialog")] == []


THEMES = ["JupyterLab Dark", "JupyterLab Dark High Contrast", "JupyterLab Light"]
"""The last theme is the default, for the next test."""


def show_theme(page: Page, theme: str) -> None:
    """Apply a theme and wait for its style sheet and colours."""
    execute(page, "apputils:change-theme", theme=theme)
    page.wait_for_function(f"() => document.body.dataset.jpThemeName === {json.dumps(theme)}")
    page.wait_for_function(
        "() => !document.getAnimations().some(each => each instanceof CSSTransition)"
    )


@pytest.mark.full
def test_text_is_readable_in_every_theme_and_in_a_narrow_panel(
    scenario: NotebookScenario, page: Page
) -> None:
    scenario.play(
        calls("read_notebook", {"path": "none.ipynb"}),
        says(ANSWER + "\nand [a link](https://docs.example/page)\n"),
        calls("run_cell", {"path": scenario.path, "cell_id": "first"}),
    )
    panel = open_notebook(scenario)
    panel.ask("What is this?")
    expect(panel.answers.last).to_contain_text("a link")
    panel.finished()
    panel.root.get_by_role("button", name=re.compile("Read notebook")).click()
    panel.ask("Run it.")
    expect(panel.approval).to_be_visible()
    for theme in THEMES:
        show_theme(page, theme)
        unreadable = panel.root.evaluate(CONTRAST)
        assert unreadable == [], theme
    overflow = panel.root.evaluate(
        """root => [...root.querySelectorAll('.shoulders-Message, .shoulders-Composer')]
            .filter(element => element.getBoundingClientRect().right
                > root.getBoundingClientRect().right + 1)
            .map(element => element.className)"""
    )
    assert overflow == []


# The contrast of each visible text with its background, by WCAG 2: at least 4.5. Highlighted code
# has JupyterLab's own colours.
CONTRAST = """root => {
    const canvas = document.createElement('canvas');
    const context = canvas.getContext('2d', {willReadFrequently: true});
    const rgba = colour => {
        context.clearRect(0, 0, 1, 1);
        context.fillStyle = colour;
        context.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
        return [r, g, b, a / 255];
    };
    const over = (top, under) =>
        [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
    const light = ([r, g, b]) => {
        const [x, y, z] = [r, g, b].map(v => v / 255)
            .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    };
    const problems = [];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const text = walker.currentNode.textContent.trim();
        const element = walker.currentNode.parentElement;
        const style = getComputedStyle(element);
        if (!text || !element.checkVisibility({opacityProperty: true, visibilityProperty: true})
            || element.closest(':disabled, .shoulders-Code-source')) {
            continue;
        }
        const chain = [];
        for (let node = element; node; node = node.parentElement) {
            chain.unshift(node);
        }
        let paint = [255, 255, 255, 1];
        let alpha = 1;
        for (const node of chain) {
            const its = getComputedStyle(node);
            paint = over(rgba(its.backgroundColor), paint);
            alpha *= Number(its.opacity);
        }
        const colour = rgba(style.color);
        const ink = over([...colour.slice(0, 3), colour[3] * alpha], paint);
        const [a, b] = [light(ink), light(paint)].sort((p, q) => q - p);
        const ratio = (a + 0.05) / (b + 0.05);
        if (ratio < 4.5) {
            problems.push(`${ratio.toFixed(2)} ${element.className}: ${text.slice(0, 40)}`);
        }
    }
    return problems;
}"""


@pytest.mark.full
@pytest.mark.shows("empty.2")
def test_without_a_key_the_demo_answers_and_other_ways_are_shown(
    demo_scenario: NotebookScenario, page: Page
) -> None:
    panel = open_notebook(demo_scenario)
    expect(panel.root.get_by_text("Demo (no AI model)")).to_be_visible()
    panel.root.get_by_role("button", name=re.compile("This is the demo")).click()
    expect(panel.root.get_by_role("heading", level=3)).to_have_count(3)
    panel.root.get_by_role("button", name="Summarise this notebook").click()
    expect(panel.input).to_have_value("Summarise this notebook")
    expect(panel.input).to_be_focused()
    page.keyboard.press("Enter")
    expect(panel.answers.last).to_contain_text(demo_scenario.path)
    panel.finished()


@pytest.mark.full
def test_a_lost_connection_is_said_and_found_again(
    demo_scenario: NotebookScenario, page: Page
) -> None:
    panel = open_notebook(demo_scenario)
    panel.ask("Summarise this notebook")
    expect(panel.answers.last).to_contain_text(demo_scenario.path)
    panel.finished()
    # JupyterLab reports it in a dialog, some time later.
    dialog = page.locator(".jp-Dialog")
    page.add_locator_handler(dialog, lambda: page.keyboard.press("Escape"))
    demo_scenario.lab.kill()
    banner = panel.root.locator(".shoulders-Banner")
    expect(banner).to_contain_text("Disconnected from the server")
    panel.ask("Are you there?")
    expect(panel.root.get_by_role("button", name="Send again", exact=True)).to_be_visible(
        timeout=20_000
    )
    demo_scenario.lab.start()
    expect(banner).to_have_count(0)
    before = panel.answers.count()
    panel.root.get_by_role("button", name="Send again", exact=True).click()
    expect(panel.answers).to_have_count(before + 1)
    panel.finished()
