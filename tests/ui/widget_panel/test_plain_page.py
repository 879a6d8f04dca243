"""The panel in a page without Jupyter: its own colours, isolated from other styles."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

import jupyter_ai_shoulders
from tests.ui.chat.test_chat_panel import CONTRAST
from tests.ui.page_objects.widget_panel import NAME, note_in, panel_in

pytestmark = pytest.mark.full

SITE = "http://panel.test/"
CODE = Path(jupyter_ai_shoulders.__file__).parent / "kernel" / "panel" / "static" / "panel.js"
PAGE = """<!doctype html><body style="background: {colour}">
<style>
    * {{ letter-spacing: 3px }}
    button, p, div {{ background: red !important; color: lime !important; padding: 9px }}
</style>
<main style="background: {colour} !important"></main>
<button class="shoulders-Button">Not the panel's</button>
<script type="module">
    import panel from './panel.js';

    const script = '<script>parent.ran = 1</' + 'script>';
    const traits = {{transcript: '<p>Because <b>water</b>.</p>' + script}};
    const heard = [];
    const error = {{
        code: 'internal', message: 'No server.', hint: null, retryable: true, details: null
    }};
    const answer = {{
        hello: () => ({{t: 'ready', server: true, notebook: 'trip.ipynb', waits: false}}),
        http: ({{id}}) => ({{
            t: 'http', id, status: 503, content_type: 'application/json',
            body: JSON.stringify({{error}}),
        }}),
    }};
    const model = {{
        get: name => traits[name] ?? null,
        set: () => {{}},
        save_changes: () => {{}},
        on: (name, callback) => name === 'msg:custom' && heard.push(callback),
        off: () => {{}},
        send: message => setTimeout(() => {{
            const content = window.isAwake ? answer[message.t]?.(message) : undefined;
            heard.forEach(callback => content && callback({{view: message.view, ...content}}, []));
        }}),
    }};
    panel.render({{model, el: document.querySelector('main')}});
</script>"""


@pytest.mark.parametrize(("colour", "surface"), [("white", 255), ("rgb(20, 20, 30)", 33)])
def test_without_the_labs_variables_it_is_as_light_as_its_page_and_looks_as_ever(
    page: Page, colour: str, surface: int
) -> None:
    def answer(route: Route) -> None:
        if route.request.url.endswith(".js"):
            route.fulfill(content_type="text/javascript", body=CODE.read_bytes())
        else:
            route.fulfill(content_type="text/html", body=PAGE.format(colour=colour))

    page.route(f"{SITE}**", answer)
    page.goto(SITE)
    root = page.get_by_role("region", name=NAME)
    expect(note_in(page)).to_contain_text("not running")
    transcript = page.frame_locator(".shoulders-Widget-transcript")
    expect(transcript.locator("b")).to_have_text("water")
    assert root.evaluate(CONTRAST) == []
    assert page.evaluate("() => window.ran") is None

    page.evaluate("() => { window.isAwake = true; }")
    panel = panel_in(page)
    expect(panel.root.locator(".shoulders-Chips")).to_contain_text("trip.ipynb")
    assert root.evaluate(CONTRAST) == []
    background = "element => getComputedStyle(element).backgroundColor"
    assert root.evaluate(background) == f"rgb({surface}, {surface}, {surface})"
    button = panel.root.get_by_role("button", name="History")
    assert button.evaluate(background) == "rgba(0, 0, 0, 0)"
    ours = page.locator("body > button")
    assert ours.evaluate("element => getComputedStyle(element).height") != "26px"
