"""Adding providers, testing keys before they are stored, and the page in a narrow panel."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.simulator_process import KEY, calls, says
from tests.ui.page_objects.lab_page import Panel
from tests.ui.page_objects.settings import SettingsPage
from tests.ui.support.notebook_scenario import LabWithModel, NotebookScenario

NARROW = 280
WORD = calls("report_word", {"word": "shoulders"})


@pytest.fixture(autouse=True)
def own_files(served: LabWithModel) -> Iterator[None]:
    """Removes the files that a test stores in the user's home."""
    yield
    home = served.lab.home / ".shoulders"
    for name in ("models.json", "keys.env", "settings.json"):
        (home / name).unlink(missing_ok=True)


@pytest.fixture(autouse=True)
def wide(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})


def providers(scenario: NotebookScenario, page: Page) -> SettingsPage:
    page.goto(scenario.lab.url("lab", reset=""))
    return SettingsPage(page).open("providers")


@pytest.mark.full
def test_a_pasted_address_is_detected_tried_chosen_changed_and_removed(
    scenario: NotebookScenario, page: Page
) -> None:
    shown = providers(scenario, page)
    root = shown.root
    root.get_by_role("button", name="Add provider…").click()
    pasted = root.get_by_label("Key or address")
    expect(pasted).to_be_focused()
    pasted.fill("http://127.0.0.1:9")
    page.keyboard.press("Enter")
    expect(root.get_by_role("alert")).to_contain_text("No answer from 127.0.0.1:9")
    expect(root.get_by_role("alert")).to_contain_text("http://127.0.0.1:9/v1/models (no answer)")

    scenario.play(WORD)
    pasted.fill(scenario.upstream.url.removeprefix("http://"))
    page.keyboard.press("Enter")
    expect(root.get_by_text("Ollama, 5 models.")).to_be_visible()
    root.get_by_label("Name", exact=True).fill("Lab box")
    root.get_by_role("button", name="Save and test").click()
    expect(root.get_by_role("status", name="Test of Lab box")).to_contain_text("passed")
    root.get_by_role("button", name="Use sim-llama for new conversations").click()
    expect(root.get_by_text("New conversations use sim-llama.")).to_be_visible()
    root.get_by_role("button", name="Done").click()
    written = scenario.lab.home / ".shoulders" / "models.json"
    (entry,) = json.loads(written.read_text())["providers"].values()
    assert entry == {
        "name": "Lab box",
        "kind": "ollama",
        "url": scenario.upstream.url,
        "list_models": True,
    }

    box = shown.provider("Lab box")
    expect(box).to_contain_text("added by you")
    scenario.play(WORD)
    box.get_by_role("button", name="Edit Lab box").click()
    box.get_by_label("Name", exact=True).fill("Our box")
    box.get_by_role("button", name="Save and test").click()
    shown.provider("Our box").get_by_role("button", name="Done").click()
    shown.provider("Our box").get_by_role("button", name="Remove Our box").click()
    page.locator(".jp-Dialog").get_by_role("button", name="Remove").click()
    expect(shown.provider("Our box")).to_have_count(0)
    assert json.loads(written.read_text())["providers"] == {}


@pytest.mark.full
def test_a_wrong_key_leaves_the_one_that_works(scenario: NotebookScenario, page: Page) -> None:
    home = scenario.lab.home / ".shoulders"
    home.mkdir(parents=True, exist_ok=True)
    gate = {"kind": "anthropic", "url": scenario.upstream.url, "api_key_env": "GATE_KEY"}
    model = {"id": "gate-small", "provider": "gate", "model": "claude-haiku-5-5"}
    content = {"providers": {"gate": gate}, "models": [model]}
    (home / "models.json").write_text(json.dumps(content))
    shown = providers(scenario, page)
    card = shown.provider("gate")
    scenario.play(WORD)
    card.get_by_label("Key for gate").fill(KEY)
    page.keyboard.press("Enter")
    expect(card.get_by_role("status")).to_contain_text("passed")
    expect(card.get_by_role("status")).to_contain_text("gate-small")
    ending = f"····{KEY[-4:]}"
    expect(card).to_contain_text(ending)

    card.get_by_label("New key for gate").fill("a-wrong-key-0123456789")
    page.keyboard.press("Enter")
    alert = card.get_by_role("alert")
    expect(alert).to_contain_text("the key was not accepted")
    expect(alert).to_contain_text("The key you had is still in use.")
    expect(card).to_contain_text(ending)
    assert KEY in (home / "keys.env").read_text()


def narrow(scenario: NotebookScenario, page: Page) -> Panel:
    panel = scenario.open_panel()
    panel.resize(NARROW)
    return panel


@pytest.mark.full
def test_prices_are_whole_and_providers_without_a_key_are_folded(
    scenario: NotebookScenario, page: Page
) -> None:
    panel = narrow(scenario, page)
    panel.root.get_by_role("button", name="Simulated").click()
    listed = panel.root.get_by_role("listbox", name="Models")
    expect(listed.get_by_role("option", name="Simulated")).to_contain_text("200k context")
    cut = listed.locator(".shoulders-Choice-note").evaluate_all(
        "notes => notes.filter(each => each.scrollWidth > each.clientWidth + 1).length"
    )
    assert cut == 0
    expect(listed.get_by_role("option", name="Claude")).to_have_count(0)

    # By keyboard: the collapsed line shows the model in use.
    page.keyboard.press("ArrowDown")
    fold = listed.get_by_role("option", name="more providers need a key")
    expect(fold).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    anthropic = listed.get_by_role("option", name="Anthropic")
    expect(anthropic).to_contain_text("Add a key…")
    anthropic.click()
    expect(
        SettingsPage(page).shown("providers").root.get_by_label("Key or address")
    ).to_be_focused()


@pytest.mark.full
def test_tabs_are_readable_in_a_narrow_panel(scenario: NotebookScenario, page: Page) -> None:
    panel = narrow(scenario, page)
    scenario.play(*[says("Well.")] * 3)
    for number in range(3):
        panel.ask(f"Question {number}?")
        panel.finished()
        panel.root.get_by_role("button", name="New conversation", exact=True).click()
        expect(panel.root.get_by_text("What shall we work on?")).to_be_visible()
    tab = panel.root.get_by_role("tab")
    expect(tab).to_have_count(1)
    expect(tab).to_have_attribute("aria-setsize", "4")
    cut = tab.locator("span").last.evaluate("title => title.scrollWidth > title.clientWidth")
    assert not cut
    every = panel.root.get_by_role("button", name="4 open conversations")
    every.click()
    items = panel.root.get_by_role("menuitemradio")
    expect(items).to_have_count(4)
    items.first.click()
    expect(tab).to_have_attribute("aria-posinset", "1")
    tab.press("ArrowRight")
    expect(tab).to_have_attribute("aria-posinset", "2")
    tab.press("Delete")
    expect(tab).to_have_attribute("aria-setsize", "3")
    expect(tab).to_be_focused()
    panel.resize(700)
    expect(tab).to_have_count(3)
