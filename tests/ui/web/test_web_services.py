"""A search of papers in the chat, its sources, and the settings of web services."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.simulator.services.answers import KEY
from tests.simulator_process import SimulatorProcess, calls, in_order, says
from tests.support.forked_lab import ForkedLab
from tests.ui.conftest import attended, new_context
from tests.ui.page_objects.lab_page import Panel
from tests.ui.page_objects.settings import SettingsPage
from tests.ui.web.services_process import web_services

NUMPY = "Array programming with NumPy"
DOI = "10.1038/s41586-020-2649-2"
SEARCH = calls("search_papers", {"query": "arrays", "limit": 3})
ANSWER = says(f"Arrays hold numbers of one type [1](https://doi.org/{DOI}).")


@dataclass(frozen=True)
class WebScene:
    """A page of a server whose web services and model are simulated."""

    page: Page
    workspace: Path


@pytest.fixture(scope="module")
def scene(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebScene]:
    workspace = tmp_path_factory.mktemp("workspace")
    upstream = SimulatorProcess(in_order(SEARCH, ANSWER), tmp_path_factory.mktemp("upstream"))
    env = upstream.start().configure(workspace)
    with web_services() as services:
        lab = ForkedLab(
            workspace,
            tmp_path_factory.mktemp("lab"),
            [f"--Shoulders.services={json.dumps(services)}"],
            env,
        )
        lab.start()
        context = new_context(browser)
        page = attended(context.new_page())
        page.goto(lab.url("lab", reset=""))
        yield WebScene(page, workspace)
        context.close()
        lab.stop()
    upstream.stop()


def test_papers_are_found_added_and_cited_as_sources(scene: WebScene) -> None:
    panel = Panel(scene.page).open()
    panel.ask("Which papers introduce arrays?")
    panel.allow()
    papers = panel.answers.get_by_role("region", name="Papers")
    expect(papers.get_by_role("article")).to_have_count(3)
    numpy = papers.get_by_role("article", name=NUMPY)
    expect(numpy).to_contain_text("2020")
    expect(numpy.get_by_role("link", name=NUMPY)).to_have_attribute(
        "href", f"https://doi.org/{DOI}"
    )
    source = panel.answers.get_by_role("region", name="Sources").get_by_role("link")
    expect(source).to_have_count(1)
    expect(source).to_contain_text(NUMPY)
    expect(source).to_contain_text("doi.org")

    numpy.get_by_role("button", name=f"Add {NUMPY} to references").click()
    expect(numpy.get_by_role("status")).to_contain_text("Added as harris2020")
    expect(numpy.get_by_role("button")).to_have_count(0)
    written = (scene.workspace / "references.bib").read_text("utf-8")
    assert DOI in written
    assert written.startswith("@article{harris2020")


def test_services_are_tested_in_the_settings(scene: WebScene) -> None:
    settings = SettingsPage(scene.page)
    scene.page.wait_for_function("() => window.jupyterapp?.commands !== undefined")
    settings.open("services")
    crossref = settings.provider("Crossref")
    crossref.get_by_role("button", name="Test Crossref").click()
    expect(crossref.get_by_role("status")).to_contain_text("works")

    tavily = settings.provider("Tavily")
    for key, outcome in (("a-wrong-key-0123456789", "failed"), (KEY, "works")):
        tavily.get_by_label("Key for Tavily").fill(key)
        scene.page.keyboard.press("Enter")
        expect(tavily).to_contain_text(f"key …{key[-4:]}")
        tavily.get_by_role("button", name="Test Tavily").click()
        expect(tavily.get_by_role("status")).to_contain_text(outcome)
