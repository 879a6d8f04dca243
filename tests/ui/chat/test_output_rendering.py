"""Program output: terminal colours, and HTML pages in isolated frames."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.simulator_process import calls, says
from tests.ui.support.notebook_scenario import NotebookScenario

PAGE = """\
<!doctype html>
<h1>Prices</h1>
<script>
const say = words => document.body.append(words + ';');
const tried = (name, act) => {
    try { act(); say(name + ' done'); } catch (error) { say(name + ' ' + error.name); }
};
say('ran');
tried('parent', () => parent.parent.document.title);
tried('storage', () => localStorage.length);
tried('opened', () => { if (!open('https://evil.example/opened')) { throw new TypeError(); } });
new Image().src = 'https://evil.example/image';
document.body.append(Object.assign(
    document.createElement('iframe'), {src: 'https://evil.example/frame'}));
document.head.append(Object.assign(
    document.createElement('link'), {rel: 'stylesheet', href: 'https://evil.example/style'}));
fetch('https://evil.example/fetch').then(() => say('fetched'), () => say('not fetched'));
</script>
<button onclick="location = 'https://evil.example/gone'">Go</button>
<form action="https://evil.example/form"><button>Send</button></form>
"""
COLOURED = r"""
print('\x1b[1;31mred\x1b[0m \x1b]0;title\x07plain \x1b[2Jleft')
print('10 %\r100 %')
"""


def test_a_page_runs_its_scripts_when_asked_and_reaches_nothing(
    scenario: NotebookScenario, page: Page
) -> None:
    reached: list[str] = []

    def note(url: str) -> bool:
        if "evil.example" in url:
            reached.append(url)
        return "evil.example" in url

    page.context.route(note, lambda route: route.abort())
    shared = {"content": PAGE, "filename": "prices.html", "description": "A page"}
    scenario.play(calls("share_artifact", shared), says("Here."))
    panel = scenario.open_panel()
    panel.ask("Share it.")
    expect(panel.answers.last).to_contain_text("Here.")
    panel.finished()
    card = panel.root.locator(".shoulders-Artifact")
    card.get_by_role("button", name="Preview").click()
    frame = card.locator("iframe")
    expect(frame).to_have_attribute("sandbox", "")
    expect(frame.content_frame.get_by_role("heading")).to_have_text("Prices")
    expect(frame.content_frame.locator("body")).not_to_contain_text("ran")
    card.get_by_role("button", name="Run scripts").click()
    expect(frame).to_have_attribute("sandbox", "allow-scripts")
    inner = frame.content_frame.locator("iframe").content_frame
    expect(inner.locator("body")).to_contain_text("ran;")
    expect(inner.locator("body")).to_contain_text("parent SecurityError;")
    expect(inner.locator("body")).to_contain_text("storage SecurityError;")
    expect(inner.locator("body")).to_contain_text("opened TypeError;")
    expect(inner.locator("body")).to_contain_text("not fetched;")
    inner.get_by_role("button", name="Send").click()
    inner.get_by_role("button", name="Go").click()
    expect(panel.input).to_be_enabled()
    card.get_by_role("button", name="Stop scripts").click()
    expect(frame).to_have_attribute("sandbox", "")
    expect(frame.content_frame.get_by_role("heading")).to_have_text("Prices")
    assert reached == []
    assert len(page.context.pages) == 1


@pytest.mark.full
def test_output_of_cells_has_its_colours_and_nothing_else_of_a_terminal(
    scenario: NotebookScenario, page: Page
) -> None:
    run = calls("run_cell", {"path": scenario.path, "cell_id": "first"})
    scenario.open(("first", COLOURED.strip()), replies=[run, says("Done.")])
    panel = scenario.ask("Run it.", allow=True)
    expect(panel.answers.last).to_contain_text("Done.")
    panel.finished()
    line = panel.answers.last.locator(".shoulders-Call").first
    line.get_by_role("button").first.click()
    line.get_by_role("button", name="As in the notebook").click()
    output = line.locator(".shoulders-Terminal").last
    red = output.locator(".shoulders-mod-ink-red")
    expect(red).to_have_text("red")
    assert int(red.evaluate("e => getComputedStyle(e).fontWeight")) >= 600
    ink = red.evaluate("e => getComputedStyle(e).color")
    assert ink != output.evaluate("e => getComputedStyle(e).color")
    expect(output).to_have_text("red plain left\n100 %\n")
