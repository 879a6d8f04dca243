"""Pasting and dropping into the input: images, files, cells."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, Route, expect

from tests.simulator_process import says
from tests.ui.page_objects.lab_page import OpenNotebook, Panel
from tests.ui.support.notebook_scenario import NotebookScenario

LARGEST = 1568
"""Longer side in pixels of an image in a message."""

# Dispatches a paste or drop with files to an element: tests cannot fill the clipboard with files.
HAND = """async (element, {event, files}) => {
    const data = new DataTransfer();
    for (const {name, type, base64} of files) {
        const bytes = Uint8Array.from(atob(base64), sign => sign.charCodeAt(0));
        data.items.add(new File([bytes], name, {type}));
    }
    const init = {bubbles: true, cancelable: true};
    element.dispatchEvent(event === 'paste'
        ? new ClipboardEvent('paste', {...init, clipboardData: data})
        : new DragEvent(event, {...init, dataTransfer: data}));
}"""


def hand(target: Locator, event: str, name: str, media_type: str, content: bytes) -> None:
    """Paste or drop one file."""
    file = {"name": name, "type": media_type, "base64": base64.b64encode(content).decode()}
    target.evaluate(HAND, {"event": event, "files": [file]})


def picture(width: int, height: int) -> bytes:
    """An image that PNG cannot compress."""
    content = io.BytesIO()
    Image.effect_noise((width, height), 80).convert("RGB").save(content, "PNG")
    return content.getvalue()


def attached(panel: Panel) -> Locator:
    """The attachments of the input."""
    return panel.root.locator(".shoulders-Composer .shoulders-mod-attached")


def drag(page: Page, source: Locator, target: Locator) -> None:
    """Drag with the mouse in steps, as JupyterLab's drags require."""
    start, end = source.bounding_box(), target.bounding_box()
    assert start is not None
    assert end is not None
    page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=12)
    page.mouse.up()


@pytest.mark.full
@pytest.mark.shows("input.5")
def test_images_and_files_from_outside_are_pasted_and_dropped(
    scenario: NotebookScenario, page: Page
) -> None:
    scenario.open(("first", "1 + 1"), replies=[says("A picture of noise.")])
    panel = Panel(page).open()
    copied = scenario.file.with_name("pasted notes.csv")
    try:
        hand(panel.input, "paste", "small.png", "image/png", picture(40, 30))
        expect(attached(panel)).to_have_count(1)
        expect(attached(panel).locator("img")).to_be_visible()
        hand(panel.input, "paste", "large.png", "image/png", picture(2400, 1200))
        expect(attached(panel)).to_have_count(2)
        area = panel.root.locator(".shoulders-Conversation")
        hand(area, "dragover", copied.name, "text/csv", b"a,b\n1,2\n")
        expect(panel.root.get_by_text("Drop to attach")).to_be_visible()
        hand(area, "drop", copied.name, "text/csv", b"a,b\n1,2\n")
        expect(attached(panel)).to_have_text(["Image", "Image", copied.name])
        expect(panel.root.get_by_text("Drop to attach")).to_have_count(0)
        assert copied.read_bytes() == b"a,b\n1,2\n"
        hand(area, "drop", "broken.png", "image/png", b"no picture")
        expect(panel.root.get_by_role("alert")).to_contain_text(
            "broken.png is not a readable image"
        )

        panel.ask("What is this?")
        expect(panel.answers.last).to_contain_text("A picture of noise.")
        panel.finished()
        kinds = scenario.talks.of_type("message-add")[0]["attachments"]
        file = {"kind": "file", "path": copied.relative_to(scenario.lab.root).as_posix()}
        assert [each["kind"] for each in kinds] == ["image", "image", "file"]
        assert kinds[2] == file
        sent = scenario.upstream.requests()[0]["body"]["messages"][0]["content"]
        pictures = [part["source"]["data"] for part in sent if part["type"] == "image"]
        assert [size_of(data) for data in pictures] == [(40, 30), (LARGEST, LARGEST // 2)]
        assert len(pictures[1]) < 1_500_000
    finally:
        copied.unlink(missing_ok=True)


@pytest.mark.full
def test_images_that_the_model_cannot_see_are_said_so_before_they_are_sent(
    scenario: NotebookScenario, page: Page
) -> None:
    def seen_by_one(route: Route) -> None:
        """A model list with one model that sees images and one that does not."""
        answer = route.fetch()
        listed = answer.json()
        first = listed["models"][0] | {"label": None, "available": True}
        listed["models"] = [
            first | {"id": f"test/{name}", "name": name, "images": name == "seeing"}
            for name in ("blind", "seeing")
        ]
        listed |= {"default": "test/blind", "default_is_stand_in": False}
        route.fulfill(response=answer, json=listed)

    page.route("**/shoulders/api/v1/models*", seen_by_one)
    panel = scenario.open_panel()
    note = panel.root.get_by_text("blind cannot see images.")
    hand(panel.input, "paste", "small.png", "image/png", picture(40, 30))
    expect(note).to_be_visible()
    panel.root.get_by_role("button", name="Choose another model").click()
    page.keyboard.type("seeing")
    page.keyboard.press("Enter")
    expect(note).to_have_count(0)
    expect(panel.input).to_be_focused()
    attached(panel).get_by_role("button", name="Remove Image").click()
    panel.root.get_by_role("button", name="seeing").click()
    page.keyboard.type("blind")
    page.keyboard.press("Enter")
    expect(note).to_have_count(0)
    area = panel.root.locator(".shoulders-Conversation")
    hand(area, "drop", "dropped.png", "image/png", picture(40, 30))
    expect(note).to_be_visible()


def size_of(data: str) -> tuple[int, int]:
    """The size of an image in base64."""
    return Image.open(io.BytesIO(base64.b64decode(data))).size


@pytest.mark.full
@pytest.mark.shows("input.5")
def test_cells_and_files_of_the_lab_are_pasted_and_dropped(
    scenario: NotebookScenario, page: Page
) -> None:
    notebook = scenario.open(("first", "one = 1"), ("second", "two = 2"), replies=[says("Both.")])
    panel = Panel(page).open()
    copy_cell(page, notebook, "second")
    panel.input.press("Control+v")
    expect(attached(panel)).to_have_text(["Cell 2"])

    notebook.cell("first").locator(".jp-InputPrompt").click()
    area = panel.root.locator(
        ".shoulders-Conversation"
    )  # JupyterLab's notifications may cover the input
    drag(page, notebook.prompt("first"), area)
    expect(attached(panel)).to_have_text(["Cell 2", "Cell 1"])

    listed = page.locator(".jp-DirListing-item", has_text=scenario.file.name)
    drag(page, listed, area)
    expect(attached(panel)).to_have_text(["Cell 2", "Cell 1", scenario.file.name])
    attached(panel).first.get_by_role("button", name="Cell 2", exact=True).press("Enter")
    assert notebook.active == "second"

    # Text copied later takes precedence.
    copy_cell(page, notebook, "first")
    panel.input.fill("as text")
    panel.input.press("Control+a")
    panel.input.press("Control+c")
    panel.input.press("End")
    panel.input.press("Control+v")
    expect(panel.input).to_have_value(re.compile("^as text(as text)?$"))
    expect(attached(panel)).to_have_count(3)
    panel.input.press("Enter")
    expect(panel.answers.last).to_contain_text("Both.")
    panel.finished()
    kinds = [each["kind"] for each in scenario.talks.of_type("message-add")[0]["attachments"]]
    assert kinds == ["cell", "cell", "file"]


def copy_cell(page: Page, notebook: OpenNotebook, cell_id: str) -> None:
    """Copy a cell with the key C."""
    notebook.cell(cell_id).locator(".jp-InputPrompt").click()
    page.keyboard.press("Escape")
    page.keyboard.press("c")


@pytest.mark.full
def test_a_file_of_a_taken_name_is_put_beside_it(scenario: NotebookScenario, page: Page) -> None:
    scenario.open(("first", "1 + 1"), replies=[])
    taken = scenario.file.with_name("taken.txt")
    beside = scenario.file.with_name("taken-1.txt")
    taken.write_text("mine", encoding="utf-8")
    panel = Panel(page).open()
    try:
        hand(panel.input, "paste", taken.name, "text/plain", b"theirs")
        expect(attached(panel)).to_have_text([beside.name])
        assert (taken.read_text(), beside.read_text()) == ("mine", "theirs")
    finally:
        for path in (taken, beside):
            Path(path).unlink(missing_ok=True)


def test_enter_during_an_upload_waits_for_the_file_which_goes_with_the_message(
    scenario: NotebookScenario, page: Page
) -> None:
    scenario.open(("first", "1 + 1"), replies=[says("A table.")])
    panel = Panel(page).open()
    file = scenario.file.with_name("slow.csv")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route) if route.request.method == "PUT" else route.continue_()

    page.route(re.compile(r"/api/contents/[^?]*slow\.csv"), hold)
    try:
        hand(panel.input, "paste", file.name, "text/csv", b"a,b\n1,2\n")
        expect(panel.root.get_by_text("Attaching slow.csv…")).to_be_visible()
        panel.input.fill("What is this?")
        panel.input.press("Enter")
        waits = panel.root.get_by_text("Will be sent once everything is attached.")
        expect(waits).to_be_visible()
        panel.input.press("Escape")
        expect(waits).to_have_count(0)
        expect(panel.input).to_have_value("What is this?")
        panel.input.press("Enter")
        expect(waits).to_be_visible()
        scenario.wait(lambda: held, "the upload begun")
        assert scenario.talks.log() == []
        held[0].continue_()
        expect(panel.answers.last).to_contain_text("A table.")
        panel.finished()
        (asked,) = scenario.talks.of_type("message-add")
        assert asked["text"] == "What is this?"
        path = file.relative_to(scenario.lab.root).as_posix()
        assert asked["attachments"] == [{"kind": "file", "path": path}]
    finally:
        file.unlink(missing_ok=True)
