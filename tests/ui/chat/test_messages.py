"""Messages: layout, references, code, formulas, versions, waiting and errors."""

from __future__ import annotations

import base64
import re
import struct
import time
import zlib
from collections.abc import Mapping
from typing import Any

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from tests.simulator_process import calls, says
from tests.ui.page_objects.lab_page import PAGE_TIMEOUT_MS, WIDE, OpenNotebook, Panel
from tests.ui.support.notebook_scenario import NotebookScenario

LONG = "Compare the prices of the wines by region. " * 12
ANSWER = r"""
The mean is $\bar{x} = \frac{1}{n}\sum_i x_i$ and costs $5 or $10:

$$
s^2 = \frac{1}{n - 1}\sum_i (x_i - \bar{x})^2
$$

See [pandas](https://pandas.example/docs#a), [1], [again](https://pandas.example/docs) and
<https://numpy.example/stable/>.

```python
answer = 42
```

| region | price |
|---|--:|
| Rioja | 18.70 |

[1]: https://scipy.example/stats
"""
HOLDS_BACK = {"ending": "stall", "ending_after": 1}
"""The answer has started, but no content arrives."""


def picture(width: int = 4, height: int = 4) -> bytes:
    """A red PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = b"".join(b"\0" + b"\xff\0\0" * width for _ in range(height))
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", header),
            chunk(b"IDAT", zlib.compress(rows)),
            chunk(b"IEND", b""),
        )
    )


def open_notebook(scenario: NotebookScenario, *replies: Mapping[str, Any]) -> Panel:
    """Open a small notebook and the panel, and script the model's replies."""
    scenario.open(("first", "total = 1"), ("second", "total + 1"), replies=replies)
    panel = Panel(scenario.page).open()
    expect(panel.root.locator(".shoulders-Composer")).to_contain_text(scenario.path)
    return panel


def box(element: Locator) -> FloatRect:
    """The position of an element, waiting for it to be laid out."""
    deadline = time.monotonic() + PAGE_TIMEOUT_MS / 1000
    while (found := element.bounding_box()) is None and time.monotonic() < deadline:
        element.page.wait_for_timeout(50)
    assert found is not None
    return found


def gap(above: Locator, below: Locator) -> float:
    """The space between two elements, in px."""
    upper, lower = box(above), box(below)
    return lower["y"] - (upper["y"] + upper["height"])


def act(message: Locator, name: str) -> Locator:
    """An action of a message, visible on hover."""
    message.hover()
    found = message.get_by_role("button", name=name)
    expect(found).to_be_visible()
    return found


@pytest.mark.full
@pytest.mark.shows("messages.1", "messages.2", "messages.3", "messages.4")
def test_a_message_is_a_bubble_with_chips_that_open_what_they_name(
    scenario: NotebookScenario, page: Page
) -> None:
    panel = open_notebook(scenario, says("First.\n\nSecond."), says("Seen."))
    panel.ask(LONG)
    panel.finished()
    bubble = panel.root.locator(".shoulders-User-bubble")
    room = panel.root.locator(".shoulders-Messages-content > *").first
    widest = box(room)["width"] * 0.85
    assert box(bubble)["width"] <= widest + 1
    right = box(room)["x"] + box(room)["width"]
    assert abs(box(bubble)["x"] + box(bubble)["width"] - right) <= 1
    messages = panel.root.locator(".shoulders-Message")
    assert gap(messages.nth(0), messages.nth(1)) == pytest.approx(16, abs=1)
    paragraphs = panel.answers.last.locator(".shoulders-Markdown-block")
    assert gap(paragraphs.nth(0), paragraphs.nth(1)) == pytest.approx(8, abs=1)

    text = bubble.locator(".shoulders-User-text")
    short = box(text)["height"]
    line = float(text.evaluate("e => parseFloat(getComputedStyle(e).lineHeight)"))
    assert short <= 5 * line + 1
    assert len(text.inner_text()) <= 301
    bubble.get_by_role("button", name="Show more").click()
    expect(text).to_have_text(LONG.strip())
    assert box(text)["height"] > short
    bubble.get_by_role("button", name="Show less").click()
    expect(text).not_to_have_text(LONG.strip())

    (scenario.lab.root / "chips.py").write_text("a = 1\nb = 2\n")
    data = base64.b64encode(picture()).decode()
    selection = {"from": 6, "to": 11}
    chips = [
        {"kind": "cell", "path": scenario.path, "cell_id": "second"},
        {"kind": "image", "media_type": "image/png", "data": data, "blob": None},
        {"kind": "variable", "path": scenario.path, "name": "total"},
        {
            "kind": "selection",
            "path": "chips.py",
            "cell_id": None,
            "range": selection,
            "text": "b = 2",
            "before": "a = 1\n",
            "after": "\n",
        },
    ]
    body = {"id": "chips", "text": "Look.", "attachments": chips}
    scenario.talks.send("POST", f"sessions/{scenario.talks.only()['id']}/messages", body)
    expect(panel.answers.last).to_contain_text("Seen.")
    message = panel.root.locator(".shoulders-User").last
    message.get_by_role("button", name=f"Cell · {scenario.path}").click()
    expect(page.locator(".jp-Notebook:visible .jp-Cell").nth(1)).to_have_class(
        re.compile("jp-mod-active")
    )
    expect(message.get_by_role("button", name="total")).to_be_enabled()
    image = message.get_by_role("button", name="Image")
    image.click()
    expect(page.get_by_role("dialog", name="Image").locator("img")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Image")).to_have_count(0)
    expect(image).to_be_focused()
    message.get_by_role("button", name="1 line selected · chips.py").click()
    expect(page.locator(".jp-FileEditor:visible .cm-content")).to_be_focused()
    assert page.evaluate("() => getSelection().toString()") == "b = 2"


@pytest.mark.full
@pytest.mark.shows("messages.5", "messages.6", "messages.9")
def test_an_answer_has_formulas_code_to_use_and_each_source_once(
    scenario: NotebookScenario, page: Page
) -> None:
    panel = open_notebook(scenario, says(ANSWER))
    panel.ask("How is it computed?")
    panel.finished()
    answer = panel.answers.last
    formulas = answer.locator("mjx-container")
    expect(formulas).to_have_count(2)
    expect(formulas.nth(1)).to_have_attribute("display", "true")
    expect(answer).to_contain_text("costs $5 or $10")
    expect(answer.locator("table td").last).to_have_text("18.70")
    assert box(answer.locator(".shoulders-Code"))["width"] == pytest.approx(
        box(answer)["width"], abs=1
    )

    sources = answer.get_by_role("region", name="Sources").get_by_role("link")
    expect(sources).to_have_text(
        [
            re.compile("pandas.*pandas.example"),
            re.compile("/stats.*scipy.example"),
            re.compile("/stable.*numpy.example"),
        ]
    )

    expect(answer.locator(".shoulders-Code-language")).to_have_text("python")
    answer.get_by_role("button", name="Replace the active cell").click()
    book = OpenNotebook(page)
    scenario.wait(lambda: book.source("first") == "answer = 42", "the cell replaced")
    book.editor("first").click()
    page.keyboard.press("Control+z")
    scenario.wait(lambda: book.source("first") == "total = 1", "one step back")
    answer.get_by_role("button", name="Insert as cell below").click()
    scenario.wait(lambda: len(book.cells) == 3, "a cell more")
    assert book.cells[1]["source"] == "answer = 42"
    answer.get_by_role("button", name="New file").click()
    expect(page.locator(".jp-FileEditor:visible .cm-content")).to_contain_text("answer = 42")
    (made,) = scenario.lab.root.glob("untitled*.py")
    assert made.read_text() == "answer = 42\n"
    made.unlink()
    # No notebook is current now.
    expect(answer.get_by_role("button", name=re.compile("^Insert as cell"))).to_be_visible()


@pytest.mark.full
@pytest.mark.shows("messages.7", "messages.8")
def test_a_message_is_edited_in_versions_forked_and_copied(
    scenario: NotebookScenario, page: Page
) -> None:
    panel = open_notebook(
        scenario, says("**First** answer."), says("Second answer."), says("Third.")
    )
    panel.ask("The first question")
    expect(panel.answers.last).to_contain_text("First answer.")
    panel.finished()
    asked = panel.root.locator(".shoulders-User")
    act(panel.answers.last, "Copy message").click()
    expect(panel.answers.last.get_by_role("button", name="Copied")).to_be_visible()
    panel.input.focus()
    page.keyboard.press("Control+v")
    expect(panel.input).to_have_value("**First** answer.")
    panel.input.fill("")

    act(asked.last, "Edit and resend").click()
    field = panel.root.get_by_role("textbox", name="Message", exact=True)
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(field).to_have_count(0)
    act(asked.last, "Edit and resend").click()
    page.keyboard.press("Control+a")
    page.keyboard.type("Asked differently")
    panel.root.get_by_role("button", name="New conversation", exact=True).click()
    expect(field).to_have_count(0)
    page.reload()
    # JupyterLab focuses the restored notebook, possibly late.
    page.wait_for_function("() => document.activeElement?.closest('.jp-Notebook') != null")
    panel = Panel(page).open()
    panel.resize(WIDE)
    panel.root.get_by_role("tab").first.click()
    expect(field).to_have_value("Asked differently")
    field.press("Enter")
    expect(panel.answers.last).to_contain_text("Second answer.")
    panel.finished()
    expect(asked).to_have_count(1)
    versions = panel.root.get_by_role("group", name="Versions of this message")
    expect(versions).to_contain_text("2 of 2")
    expect(panel.input).to_be_focused()

    versions.get_by_role("button", name="Earlier version").focus()
    page.keyboard.press("Enter")
    expect(versions).to_contain_text("1 of 2")
    expect(panel.answers.last).to_contain_text("First answer.")
    expect(versions.get_by_role("button", name="Later version")).to_be_focused()
    page.reload()
    panel = Panel(page).open()
    versions = panel.root.get_by_role("group", name="Versions of this message")
    expect(versions).to_contain_text("2 of 2")
    versions.get_by_role("button", name="Earlier version").click()
    bar = panel.root.locator(".shoulders-EarlierVersionBar")
    bar.get_by_role("button", name=re.compile("^Continue from here")).click()
    expect(panel.tabs).to_have_count(3)
    expect(panel.answers.last).to_contain_text("First answer.")
    panel.ask("And then?")
    expect(panel.answers.last).to_contain_text("Third.")
    panel.finished()
    sent = scenario.upstream.requests()[-1]["body"]["messages"]
    said = [part["text"] for message in sent for part in message["content"] if "text" in part]
    assert any("First" in text for text in said)
    assert not any("Second" in text for text in said)


@pytest.mark.full
@pytest.mark.shows("messages.10", "messages.11")
def test_dots_go_with_the_first_content_and_reasoning_is_one_section(
    scenario: NotebookScenario, page: Page
) -> None:
    thought = {"kind": "reasoning", "text": "First the mean. " * 4}
    held = {"parts": [thought], "delivery": {"ending": "stall", "ending_after": 5}}
    whole = {"parts": [thought, {"kind": "text", "text": "It is 2."}]}
    panel = open_notebook(scenario, says("Never said.", **HOLDS_BACK), held, whole)
    panel.ask("Wait.")
    dots = panel.root.locator(".shoulders-Dots > span")
    expect(panel.status).to_be_visible()  # a conversation that is loading shows dots too
    expect(dots).to_have_count(3)
    scenario.wait(scenario.upstream.requests, "the model is asked")  # or it gets the next reply
    panel.input.press("Escape")
    panel.finished()
    expect(dots).to_have_count(0)

    panel.ask("Think.")
    section = panel.answers.last.locator(".shoulders-Reasoning")
    expect(section).to_have_text("Thinking…")
    expect(dots).to_have_count(0)
    panel.input.press("Escape")
    panel.finished()

    panel.ask("Think, and say.")
    expect(panel.answers.last).to_contain_text("It is 2.")
    panel.finished()
    expect(section).to_have_count(1)
    toggle = section.get_by_role("button", name="Thought process")
    expect(toggle).to_have_attribute("aria-expanded", "false")
    expect(section).not_to_contain_text("First the mean.")
    toggle.focus()
    page.keyboard.press("Enter")
    expect(section).to_contain_text("First the mean.")


@pytest.mark.full
@pytest.mark.shows("messages.12", "messages.13")
def test_a_failure_says_what_to_do_is_tried_again_and_its_wait_counted_down(
    scenario: NotebookScenario, page: Page
) -> None:
    refused = {"failure": {"status": 400, "type": "invalid_request_error", "message": "No."}}
    busy = {
        "failure": {
            "status": 529,
            "type": "overloaded_error",
            "message": "Overloaded",
            "headers": {"retry-after": "50"},
        }
    }
    panel = open_notebook(scenario, refused, says("It works."), busy, says("Fine."))
    panel.ask("Try this.")
    error = panel.answers.last.get_by_role("alert")
    expect(error).to_contain_text("Pick another model")
    error.get_by_role("button", name="Details").click()
    expect(error).to_contain_text("bad_request_upstream")
    error.get_by_role("button", name="Try again").click()
    expect(panel.answers.last).to_contain_text("It works.")
    panel.finished()
    expect(panel.root.locator(".shoulders-User")).to_have_count(1)
    expect(panel.root.get_by_role("group", name="Versions of this message")).to_be_visible()

    panel.ask("And this.")
    waiting = panel.root.locator(".shoulders-Retrying")
    expect(waiting).to_contain_text("overloaded")
    count = waiting.get_by_role("timer")
    expect(count).to_have_text(re.compile(r"Trying again in \d+ seconds \(attempt 2\)"))
    expect(count).not_to_have_text(count.inner_text())
    page.keyboard.press("Escape")
    panel.finished()
    expect(waiting).to_have_count(0)
    panel.ask("Go on.")  # a provider that failed last must not be the default of other tests
    expect(panel.answers.last).to_contain_text("Fine.")
    panel.finished()


@pytest.mark.shows("speed.3")
def test_links_ask_when_the_agent_has_read_and_pictures_are_files_of_the_workspace(
    scenario: NotebookScenario, page: Page
) -> None:
    left: list[str] = []
    page.context.route(re.compile(r"^https?://[^/]*\.example"), lambda route: route.abort())
    page.context.on("request", lambda request: left.append(request.url))
    (scenario.lab.root / "red.png").write_bytes(picture(40, 20))
    answer = """\
![mine](red.png) ![remote](https://evil.example/x.png) ![gone](none.png)

[bank.example](https://evil.example/page) and [mine](https://mine.example/a)
"""
    panel = open_notebook(scenario, calls("read_notebook", {"path": scenario.path}), says(answer))
    panel.ask("What does https://mine.example/a say?")
    panel.finished()
    said = panel.answers.last
    shown = said.locator("img")
    expect(shown).to_have_count(1)
    expect(shown).to_have_js_property("naturalWidth", 40)
    expect(said).to_contain_text("[remote]")
    expect(said).to_contain_text("[image not shown: none.png]")

    strange = said.get_by_role("link", name="bank.example (evil.example)")
    strange.click()
    dialog = page.locator(".jp-Dialog")
    expect(dialog).to_contain_text("Open evil.example?")
    expect(dialog).to_contain_text("https://evil.example/page")
    dialog.get_by_role("button", name="Cancel").click()
    strange.click(button="middle")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    assert [url for url in left if "evil.example" in url] == []
    assert len(page.context.pages) == 1
    with page.context.expect_page() as opened:
        said.get_by_role("link", name="mine (mine.example)").click()
    assert opened.value.evaluate("() => window.opener") is None
    opened.value.close()
