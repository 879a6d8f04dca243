"""The panel in an artificial language, 40 % longer, at two widths."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.ui.support.conversation_gallery import Gallery, shown
from tests.ui.support.pseudo_locale import CUT, LANGUAGE, RAW, catalogue, longer
from tests.ui.support.realistic_samples import REALISTIC_SAMPLES

pytestmark = pytest.mark.full

NARROW = 280
WIDE = 900


@pytest.fixture(scope="module")
def gallery(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gallery]:
    """JupyterLab in that language."""
    pack = json.dumps({"data": {"jupyter_ai_shoulders": catalogue()}, "message": ""})

    def answer(route: Route) -> None:
        route.fulfill(body=pack, content_type="application/json")

    with shown(browser, tmp_path_factory, REALISTIC_SAMPLES, LANGUAGE) as gallery:
        gallery.page.route("**/api/translations/**", answer)
        gallery.page.goto(gallery.lab.url("lab", reset=""))
        gallery.page.wait_for_function("() => window.jupyterapp?.commands !== undefined")
        gallery.page.evaluate("() => window.jupyterapp.restored")
        gallery.page.evaluate(
            "() => window.jupyterapp.commands.execute('jupyter-ai-shoulders:focus-chat')"
        )
        # The panel's name is in that language too.
        root = gallery.page.get_by_role("region", name=longer("AI chat"))
        expect(root).to_be_visible()
        yield Gallery(gallery.lab, gallery.page, gallery.panel.named(longer("AI chat")))


@pytest.mark.shows("panel.6")
def test_no_string_is_left_out_and_all_fit(gallery: Gallery) -> None:
    root = gallery.panel.root
    raw: set[str] = set(root.evaluate(RAW))
    cut: dict[str, list[str]] = {}
    for width in (NARROW, WIDE):
        gallery.panel.resize(width)
        for scene in REALISTIC_SAMPLES.all():
            gallery.show(scene)
            gallery.open_everything()
            raw.update(root.evaluate(RAW))
            if misfits := root.evaluate(CUT):
                cut[f"{scene} at {width}"] = misfits
    gallery.page.evaluate(
        "() => window.jupyterapp.commands.execute('jupyter-ai-shoulders:show-history')"
    )
    expect(root.locator(".shoulders-History-open")).not_to_have_count(0)
    raw.update(root.evaluate(RAW))
    cut["history"] = root.evaluate(CUT)
    assert sorted(raw) == []
    assert {state: found for state, found in cut.items() if found} == {}
