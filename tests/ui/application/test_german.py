"""The panel in German: the bundled translation with an installed language pack."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.simulator_process import SimulatorProcess, calls, in_order, notebook, says
from tests.support.forked_lab import ForkedLab
from tests.ui.conftest import attended
from tests.ui.page_objects.lab_page import PAGE_TIMEOUT_MS, Panel
from tests.ui.support.conversation_gallery import speak


def language_pack(folder: Path) -> Path:
    """An installed language pack without texts: JupyterLab offers only languages with one."""
    package = folder / "jupyterlab_language_pack_de_DE"
    package.mkdir()
    (package / "__init__.py").touch()
    about = folder / "jupyterlab_language_pack_de_DE-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: jupyterlab-language-pack-de-DE\nVersion: 1\n"
    )
    (about / "entry_points.txt").write_text(f"[jupyterlab.languagepack]\nde_DE = {package.name}\n")
    return folder


@pytest.fixture
def panel(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Panel]:
    root = tmp_path_factory.mktemp("workspace")
    (root / "werte.ipynb").write_text(notebook(("eins", "x = 1")))
    upstream = SimulatorProcess(in_order(), tmp_path_factory.mktemp("upstream")).start()
    pack = language_pack(tmp_path_factory.mktemp("pack"))
    lab = ForkedLab(
        root,
        tmp_path_factory.mktemp("lab"),
        env={**upstream.configure(root), "PYTHONPATH": str(pack)},
    )
    lab.state.mkdir(parents=True, exist_ok=True)
    speak(lab, "de_DE")
    lab.start()
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(PAGE_TIMEOUT_MS)
    page = attended(context.new_page())
    page.goto(lab.document_url("werte.ipynb"))
    page.wait_for_function("() => window.jupyterapp?.commands !== undefined")
    page.evaluate("() => window.jupyterapp.restored")
    cell = {"path": "werte.ipynb", "cell_id": "eins"}
    upstream.play(
        in_order(calls("read_file", {"path": "fehlt.py"}), calls("run_cell", cell), says("Fertig."))
    )
    try:
        yield Panel(page, "KI-Chat")
    finally:
        context.close()
        lab.stop()
        upstream.stop()


@pytest.mark.full
def test_page_and_server_speak_german(panel: Panel) -> None:
    panel.page.evaluate(
        "() => window.jupyterapp.commands.execute('jupyter-ai-shoulders:focus-chat')"
    )
    expect(panel.input).to_be_enabled()
    panel.input.fill("Los.")
    panel.input.press("Enter")

    # Texts of the page and of the server: the call's title and the reason for the question.
    expect(panel.approval).to_contain_text("Zelle 1 ausführen")
    panel.approval.get_by_role("button", name="Details").click()
    expect(panel.approval).to_contain_text("Dies führt Code aus.")
    panel.allow()
    expect(panel.answers.last).to_contain_text("Fertig.")
    expect(panel.root.locator(".shoulders-Call", has_text="Zelle 1 ausführen")).to_be_visible()

    # An error of the server that contains a name.
    failed = panel.root.locator(".shoulders-Call", has_text="fehlt.py")
    expect(failed).to_contain_text("Datei lesen")
    expect(failed).to_contain_text("fehlgeschlagen")
    failed.locator("button").first.click()
    expect(failed.locator(".shoulders-Error")).to_contain_text(
        re.compile(r"Es gibt keine Datei .?fehlt\.py")
    )
