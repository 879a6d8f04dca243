"""The panel in Notebook, below a base URL, and behind a proxy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlparse

import pytest
from playwright.sync_api import Page, expect

from tests.simulator_process import SimulatorProcess, calls, in_order, says
from tests.support.lab_server import Lab
from tests.ui.page_objects.lab_page import Panel
from tests.ui.page_objects.review import Review
from tests.ui.support.network_faults import Idle
from tests.ui.support.notebook_scenario import LabWithModel, NotebookScenario

BASE_URL = "/user/ada/"
IDLE_SECONDS = 2.0
"""A minute, scaled down."""
SOCKET = "/user/ada/shoulders/api/v1/socket"


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabWithModel]:
    """A server as a hub starts it: below the user's URL, without Node on its path."""
    root, nothing = tmp_path_factory.mktemp("workspace"), tmp_path_factory.mktemp("nothing")
    upstream = SimulatorProcess(in_order(), tmp_path_factory.mktemp("upstream")).start()
    environment = {**upstream.configure(root), "PATH": str(nothing)}
    lab = Lab(root, tmp_path_factory.mktemp("lab"), env=environment, base_url=BASE_URL)
    lab.start()
    yield LabWithModel(lab, upstream)
    lab.stop()
    upstream.stop()


@pytest.fixture
def scenario(
    hub: LabWithModel, page: Page, request: pytest.FixtureRequest
) -> Iterator[NotebookScenario]:
    """The page and a notebook on the hub's server."""
    file = hub.lab.root / f"{request.node.name.removeprefix('test_')[:40]}.ipynb"
    scenario = NotebookScenario(hub, page, file)
    scenario.write(("first", "total = 1"))
    yield scenario
    scenario.talks.end()
    chosen = Path("settings", "jupyter-ai-shoulders", "chat.jupyterlab-settings")
    (hub.lab.state / chosen).unlink(missing_ok=True)


@pytest.mark.full
def test_changes_are_reviewed_at_the_change_in_notebook_7_too(
    scenario: NotebookScenario, page: Page
) -> None:
    edit = calls("edit_cell", {"path": scenario.path, "cell_id": "first", "source": "total = 2"})
    scenario.play(calls("read_notebook", {"path": scenario.path}), edit, says("It is two."))
    page.goto(scenario.lab.url(f"notebooks/{scenario.path}"))
    page.locator(".jp-Notebook .jp-Cell").first.click()
    page.keyboard.press("Control+Shift+A")
    panel, review = Panel(page), Review(page)
    panel.ask("Make it two.")
    expect(panel.answers.last).to_contain_text("It is two.")
    expect(review.pill).to_have_text("‹1/1›KeepUndo⋯")
    title = page.locator("#top-panel")
    expect(title.locator(".shoulders-Review")).to_have_count(0)
    review.pill.get_by_role("button", name="All changes").click()
    review.bar.get_by_role("button", name="Undo all").click()
    review.is_over()
    expect(page.locator(".jp-Notebook .cm-content").first).to_have_text("total = 1")


@pytest.mark.shows("notebook7.1", "notebook7.2")
def test_notebook_shows_the_same_panel_and_restores_it(
    scenario: NotebookScenario, page: Page
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda opened: asked.append(opened.url))
    run = calls("run_cell", {"path": scenario.path, "cell_id": "first"})
    scenario.play(run, says("It is one."))
    page.goto(scenario.lab.url(f"notebooks/{scenario.path}"))
    count = page.locator(".jp-Notebook .jp-InputPrompt").first
    expect(count).to_have_text("[ ]:")
    page.locator(".jp-Notebook .jp-Cell").first.click()
    panel = Panel(page)
    page.keyboard.press("Control+Shift+A")
    expect(panel.input).to_be_focused()
    panel.ask("Run it.")
    panel.allow()
    expect(panel.answers.last).to_contain_text("It is one.")
    expect(count).to_have_text("[1]:")  # shown in the page, not only in the file
    panel.finished()

    page.reload()
    expect(panel.answers.last).to_contain_text("It is one.")
    expect(count).to_have_text("[1]:")
    expect(panel.input).not_to_be_focused()  # the notebook keeps the cursor
    panel.root.get_by_role("button", name="More", exact=True).click()
    places = panel.root.get_by_role("menuitemradio")
    expect(places).to_have_text(["Right sidebar", "Left sidebar", "Floating bubble"])
    places.last.click()
    expect(panel.input).to_be_focused()
    expect(page.locator(".shoulders-Bubble")).to_be_visible()
    panel.root.get_by_role("button", name="Minimise").click()
    expect(page.get_by_role("button", name="AI chat", exact=True)).to_be_focused()
    origins = {urlparse(url).netloc for url in asked if not url.startswith(("data:", "blob:"))}
    assert origins == {f"127.0.0.1:{scenario.lab.port}"}
    paths = {urlparse(url).path for url in asked if "shoulders/api" in url}
    assert paths
    assert [path for path in paths if not path.startswith(f"{BASE_URL}shoulders/api/v1/")] == []


@pytest.fixture
def proxy(hub: LabWithModel) -> Iterator[Idle]:
    """A proxy between the page and the server."""
    made = Idle(hub.lab.port, IDLE_SECONDS)
    yield made
    made.close()


@pytest.mark.full
def test_a_proxy_that_cuts_idle_connections_loses_nothing(
    scenario: NotebookScenario, page: Page, proxy: Idle
) -> None:
    run = calls("run_cell", {"path": scenario.path, "cell_id": "first"})
    scenario.play(run, says("It is one."), says("And two."))
    page.goto(
        scenario.lab.url("lab", reset="").replace(f":{scenario.lab.port}/", f":{proxy.port}/")
    )
    panel = Panel(page).open()
    panel.ask("Run it.")
    expect(panel.approval).to_be_visible()
    # No traffic while the user thinks, so the proxy cuts the connection repeatedly.
    seen = proxy.cuts(SOCKET)
    scenario.wait(lambda: proxy.cuts(SOCKET) >= seen + 2, "the socket is cut while it waits")
    panel.allow()
    expect(panel.answers.last).to_contain_text("It is one.")
    panel.finished()
    seen = proxy.cuts(SOCKET)
    scenario.wait(lambda: proxy.cuts(SOCKET) > seen, "the socket is cut between turns")
    panel.ask("And then?")
    expect(panel.answers.last).to_contain_text("And two.")
    panel.finished()
    expect(panel.connect).to_have_count(0)
    expect(panel.root.locator(".shoulders-User")).to_have_count(2)
    assert [event["exit"] for event in scenario.talks.of_type("turn-end")] == ["final_response"] * 2
