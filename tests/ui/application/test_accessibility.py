"""Accessibility of the panel: screen readers, keyboard, reduced motion."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.simulator_process import calls, says
from tests.ui.chat.test_chat_panel import THEMES, show_theme
from tests.ui.support.accessibility_audit import COLOURS, audit
from tests.ui.support.conversation_gallery import Gallery, shown
from tests.ui.support.notebook_scenario import NotebookScenario
from tests.ui.support.realistic_samples import REALISTIC_SAMPLES


@pytest.fixture(scope="module")
def gallery(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gallery]:
    """One server and one page for all tests."""
    with shown(browser, tmp_path_factory, REALISTIC_SAMPLES) as gallery:
        gallery.page.goto(gallery.lab.url("lab", reset=""))
        gallery.panel.open()
        yield gallery


SCENES = tuple(REALISTIC_SAMPLES.all())
IN_EVERY_THEME = ("words", "calls", "activities", "cards", "difference")
"""The other scenes consist of the same parts."""


@pytest.mark.shows("panel.3")
def test_an_audit_finds_nothing_in_any_state(gallery: Gallery) -> None:
    root = gallery.panel.root
    found: dict[str, list[str]] = {"empty": audit(root)}
    for scene in SCENES:
        gallery.show(scene)
        gallery.open_everything()
        found[scene] = audit(root)
    root.get_by_role("button", name="History").click()
    expect(root.locator(".shoulders-History-open")).not_to_have_count(0)
    found["history"] = audit(root)
    assert {state: faults for state, faults in found.items() if faults} == {}


@pytest.mark.full
@pytest.mark.shows("panel.3")
def test_every_text_has_contrast_in_any_theme(gallery: Gallery) -> None:
    root = gallery.panel.root
    found: dict[str, list[str]] = {}
    for scene in IN_EVERY_THEME:
        gallery.show(scene)
        gallery.open_everything()
        for theme in THEMES:
            show_theme(gallery.page, theme)
            found[f"{scene} {theme}"] = audit(root, COLOURS)
    assert {state: faults for state, faults in found.items() if faults} == {}


@pytest.mark.shows("panel.2")
def test_nothing_moves_for_those_who_want_it_still_and_shape_tells_who_speaks(
    gallery: Gallery,
) -> None:
    page, root = gallery.page, gallery.panel.root
    page.emulate_media(reduced_motion="reduce")
    gallery.show("words")
    moving = root.evaluate(
        """root => document.getAnimations()
            .filter(each => root.contains(each.effect.target))
            .map(each => each.effect.target.className)"""
    )
    assert moving == []
    page.emulate_media(reduced_motion="no-preference")
    user = root.locator(".shoulders-User-bubble").first
    answer = root.locator(".shoulders-Agent .shoulders-Markdown").first
    boxes = [each.bounding_box() for each in (user, answer)]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0]["x"] > boxes[1]["x"]
    painted = "each => getComputedStyle(each).backgroundColor"
    assert user.evaluate(painted) != answer.evaluate(painted)
    said = root.locator("[role=log]").inner_text().splitlines()
    assert {"you", "user", "assistant", "agent", "ai"}.isdisjoint(line.lower() for line in said)


HEARD = """root => {
    window.heard = [];
    const live = element => {
        const region = element?.closest('[aria-live], [role=status], [role=alert], [role=log]');
        return region !== null && region?.getAttribute('aria-live') !== 'off'
            && element.closest('[aria-busy=true]') === null;
    };
    new MutationObserver(changes => {
        for (const {target, addedNodes} of changes) {
            const element = target.nodeType === Node.TEXT_NODE ? target.parentElement : target;
            if (live(element) && (addedNodes.length > 0 || target.nodeType === Node.TEXT_NODE)) {
                window.heard.push(element.className);
            }
        }
    }).observe(root, {subtree: true, childList: true, characterData: true});
}"""
"""Records each change that a screen reader would announce: in a live region that is not busy."""


@pytest.mark.full
@pytest.mark.shows("panel.5")
def test_an_answer_is_announced_politely_once_it_is_there_and_not_word_by_word(
    scenario: NotebookScenario,
) -> None:
    words = "".join(f"word{number} " for number in range(400)) + "the end."
    scenario.play(says(words, tokens_per_second=300))
    panel = scenario.open_panel()
    log = panel.root.get_by_role("log")
    panel.root.evaluate(HEARD)
    panel.ask("Say much.")
    expect(panel.answers.last).to_have_attribute("aria-busy", "true")
    expect(panel.answers.last).to_contain_text("the end.")
    panel.finished()
    expect(panel.answers.last).to_have_attribute("aria-busy", "false")
    expect(log).to_have_attribute("aria-live", "polite")
    heard = scenario.page.evaluate("() => window.heard")
    assert len(heard) < 40, heard


@pytest.mark.full
@pytest.mark.shows("speed.7")
def test_what_wraps_the_context_for_the_model_is_never_shown(scenario: NotebookScenario) -> None:
    reading = calls("read_notebook", {"path": scenario.path})
    scenario.open(("first", "total = 1"), replies=[reading, says("It sums.")])
    panel = scenario.ask("What is this?")
    expect(panel.answers.last).to_contain_text("It sums.")
    panel.finished()
    sent = json.dumps(scenario.upstream.requests()[-1]["body"]["messages"])
    tags = set(re.findall(r"</?[a-z][a-z_-]+(?=[ >])", sent))
    assert tags
    for button in panel.root.get_by_role("log").get_by_role("button", expanded=False).all():
        button.click()
    shown = panel.root.inner_text()
    assert [tag for tag in tags if tag in shown] == []
