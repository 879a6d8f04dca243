"""Audits of the settings, lists of the input, menus, prompts and the review bar.

In every theme, in an artificial language, with hostile text; and where the focus goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.ui.chat.test_chat_panel import THEMES, show_theme
from tests.ui.hostile_text.payloads import PAYLOADS
from tests.ui.hostile_text.server_answers import Answers
from tests.ui.hostile_text.watch import Watch, faults, hidden
from tests.ui.page_objects.inline_actions import writes
from tests.ui.page_objects.lab_page import Panel
from tests.ui.support.accessibility_audit import COLOURS, audit
from tests.ui.support.pseudo_locale import CUT, RAW, catalogue
from tests.ui.support.secondary_surfaces import (
    SecondarySurfaces,
    execute,
    menus,
    open_lab,
    prompts,
    review,
    served,
    settings,
    suggestions,
)

pytestmark = pytest.mark.full

MOVED_BY_FIELD = 'scrollable-region-focusable: <div class="shoulders-Choices" role="listbox"'
"""Arrow keys in the field scroll it and keep the focus; a multi-line field has no such role."""

IN_EVERY_THEME = {
    *("input: @", "review", "output", "prompt 0 answered", "prompt 1 answered"),
    *("settings: providers", "settings: rules", "settings: usage"),
}
"""The other surfaces consist of the same parts."""

FAILS = {"failure": {"status": 400, "message": "It is refused."}}


@pytest.fixture(scope="module")
def surroundings(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SecondarySurfaces]:
    """One server for all tests."""
    with served(browser, tmp_path_factory) as surroundings:
        yield surroundings


def pieces(
    page: Page, panel: Panel, surroundings: SecondarySurfaces, *replies: Mapping[str, Any]
) -> Iterator[tuple[str, Locator]]:
    """All surfaces, one after the other."""
    yield from suggestions(panel)
    yield from menus(panel)
    yield from review(page)
    yield from prompts(page, surroundings.upstream, *replies)
    yield "status", page.locator(".shoulders-StatusItem")
    yield from settings(page)


@pytest.mark.shows("panel.3", "panel.6")
def test_an_audit_in_every_theme_and_in_another_language_finds_nothing(
    surroundings: SecondarySurfaces,
) -> None:
    with surroundings.page() as page:
        Answers(page)
        panel = open_lab(page, surroundings.lab, catalogue())
        found: dict[str, list[str]] = {}
        raw: set[str] = set()
        for name, root in pieces(page, panel, surroundings, writes("total = 3"), FAILS):
            found[name] = [each for each in audit(root) if not each.startswith(MOVED_BY_FIELD)]
            raw.update(root.evaluate(RAW))
            found[f"{name}, longer"] = root.evaluate(CUT)
            for theme in THEMES if name in IN_EVERY_THEME else ():
                show_theme(page, theme)
                found[f"{name} {theme}"] = audit(root, COLOURS)
        assert {state: faults for state, faults in found.items() if faults} == {}
        assert sorted(raw) == []


TEXTS = """root => {
    const texts = new Set();
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        if (walker.currentNode.parentElement.closest('textarea, .cm-editor') === null) {
            texts.add(walker.currentNode.textContent);
        }
    }
    for (const element of root.querySelectorAll('*')) {
        for (const name of ['title', 'aria-label', 'alt', 'placeholder', 'aria-valuetext']) {
            texts.add(element.getAttribute(name) ?? '');
        }
    }
    return [...texts];
}"""
"""All text of an element, including accessible names and tooltips."""


def test_hostile_text_does_nothing_around_the_conversations(
    surroundings: SecondarySurfaces,
) -> None:
    given = ["\n".join(PAYLOADS[start : start + 8]) for start in range(0, len(PAYLOADS), 8)]
    fails = {"failure": {"status": 400, "message": "\n".join(PAYLOADS)[:8_000]}}
    with surroundings.page() as page:
        watch = Watch(page, surroundings.lab.url())
        Answers(page, given)
        panel = open_lab(page, surroundings.lab, {})
        met: dict[str, list[str]] = {}
        texts: set[str] = set()
        code = writes("\n".join(PAYLOADS).replace("````", ""))
        for name, root in pieces(page, panel, surroundings, code, fails):
            shown = root.evaluate(TEXTS)
            texts.update(shown)
            concealed = [f"{found} in {text[:80]!r}" for text in shown if (found := hidden(text))]
            met[name] = [*faults(root), *concealed]
        assert {name: what for name, what in met.items() if what} == {}
        assert watch.tripped() == []
        assert len(texts) > 500


def test_the_focus_is_never_lost_in_settings_and_the_review_bar(
    surroundings: SecondarySurfaces,
) -> None:
    with surroundings.page() as page:
        Answers(page)
        panel = open_lab(page, surroundings.lab, {})
        bar = page.locator(".shoulders-Review")
        count = bar.locator(".shoulders-Review-count")
        execute(page, "show-changes")
        expect(bar.locator("li")).not_to_have_count(0)
        expect(count).to_be_focused()
        bar.get_by_role("button", name="Hide until there are new changes").press("Enter")
        expect(bar).to_be_hidden()
        expect(panel.input).to_be_focused()  # Where it was before.

        execute(page, "open-settings", section="rules")
        root = page.locator(".shoulders-Settings")
        add = root.get_by_role("button", name="Add a rule…")
        add.press("Enter")
        expect(root.get_by_label("What the rule does")).to_be_focused()
        page.keyboard.press("Escape")
        expect(add).to_be_focused()
        change = root.get_by_role("button", name="Change: Ask read_*")
        change.press("Enter")
        expect(root.get_by_label("What the rule does")).to_be_focused()
        page.keyboard.press("Escape")
        expect(change).to_be_focused()

        # A button is disabled while it works, and focused again afterwards.
        root.get_by_role("button", name="Providers").press("Enter")
        card = root.locator(".shoulders-Provider", has_text="simulator")
        test = card.get_by_role("button", name="Test", exact=True)
        test.press("Enter")
        expect(card.get_by_role("status")).not_to_be_empty()
        expect(test).to_be_focused()
