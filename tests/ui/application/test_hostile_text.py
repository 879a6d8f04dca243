"""More than five hundred hostile texts in every place that shows text, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.simulator_process import SimulatorProcess, in_order
from tests.support.forked_lab import ForkedLab
from tests.support.lab_server import Lab
from tests.ui.conftest import attended
from tests.ui.hostile_text.payloads import HOSTILE, PAYLOADS
from tests.ui.hostile_text.watch import Watch, faults, hidden, walk
from tests.ui.page_objects.lab_page import PAGE_TIMEOUT_MS, Panel
from tests.ui.support.conversation_samples import fill


class Haunted(NamedTuple):
    """A page whose conversations are full of hostile text."""

    lab: Lab
    page: Page
    panel: Panel
    watch: Watch

    def look(self, scene: str) -> dict[str, Any]:
        """Open a conversation and inspect all of it."""
        rows = self.panel.root.locator(".shoulders-History-open")
        self.panel.root.get_by_role("button", name="History").click()
        expect(rows).not_to_have_count(0)
        self.panel.root.get_by_label("Search conversations").fill(f"scene {scene}")
        expect(rows).to_have_count(1)
        expect(rows).to_contain_text(f"scene {scene}")
        rows.click()
        shown = self.panel.root.get_by_role("tab", selected=True)
        expect(shown).to_have_text(f"scene {scene}")
        expect(self.panel.root.locator(".shoulders-User").first).to_be_attached()
        return walk(self.panel.root)


@pytest.fixture(scope="module")
def haunted(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Haunted]:
    """One server and one page for all tests."""
    root = tmp_path_factory.mktemp("workspace")
    upstream = SimulatorProcess(in_order(), tmp_path_factory.mktemp("upstream")).start()
    lab = ForkedLab(root, tmp_path_factory.mktemp("lab"), env=upstream.configure(root))
    fill(lab, HOSTILE)
    lab.start()
    context = browser.new_context(viewport={"width": 1280, "height": 8000})
    context.set_default_timeout(PAGE_TIMEOUT_MS)
    page = attended(context.new_page())
    watch = Watch(page, lab.url())
    page.goto(lab.url("lab", reset=""))
    panel = Panel(page).open()
    panel.resize(700)
    yield Haunted(lab, page, panel, watch)
    context.close()
    lab.stop()
    upstream.stop()


def test_there_are_more_than_five_hundred_different_texts() -> None:
    assert len(set(PAYLOADS)) == len(PAYLOADS) >= 500


@pytest.mark.full
@pytest.mark.parametrize(
    ("scene", "least"),
    [
        ("words", {"prose": 650, "texts": 100, "opened": 30}),
        ("calls", {"texts": 1_000, "opened": 30}),
        ("cards", {"texts": 500, "opened": 3}),
        ("command", {"texts": 10}),
        ("difference", {"texts": 10}),
        ("arguments", {"texts": 1_000}),
        ("question", {"texts": 500}),
        ("input", {"texts": 10}),
    ],
)
@pytest.mark.shows("speed.3")
def test_hostile_text_does_nothing_wherever_it_is_shown(
    haunted: Haunted, scene: str, least: dict[str, int]
) -> None:
    met = haunted.look(scene)
    assert met["faults"] == []
    assert haunted.watch.tripped() == []
    concealed = {text[:80]: found for text in met["texts"] if (found := hidden(text))}
    assert concealed == {}
    amounts = {**met, "texts": len(met["texts"]), "faults": 0}
    assert [kind for kind, number in least.items() if amounts[kind] < number] == []


@pytest.mark.full
def test_hostile_titles_do_nothing_in_the_history_and_as_tabs(haunted: Haunted) -> None:
    root = haunted.panel.root
    root.get_by_role("button", name="History").click()
    root.get_by_label("Search conversations").fill("")
    rows = root.locator(".shoulders-History-row")
    expect(rows).to_have_count(50)
    root.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(100)
    assert faults(root) == []
    for number in range(3):
        rows.nth(number).locator(".shoulders-History-open").click()
        root.get_by_role("button", name="History").click()
    assert faults(root) == []
    assert haunted.watch.tripped() == []
