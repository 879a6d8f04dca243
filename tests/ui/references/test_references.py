"""References in the lab: panel, citations in notebooks, completion of keys, bibliographies."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import Browser, Page, expect

from tests.support.forked_lab import ForkedLab
from tests.support.lab_server import Lab
from tests.ui.chat.test_chat_panel import THEMES, show_theme
from tests.ui.page_objects.references import Citations, ReferencesPanel, execute
from tests.ui.support.accessibility_audit import COLOURS, audit

BIBLIOGRAPHY = r"""
@article{lovelace1843,
  author = {Lovelace, Ada},
  title = {Sketch of the {Analytical Engine}},
  journal = {Scientific Memoirs},
  year = {1843},
  doi = {10.1000/sketch},
}

@book{knuth1984, author = {Knuth, Donald E.}, title = {The {\TeX}book}, year = 1984,
  publisher = {Addison-Wesley}}

@article{hopper1952, author = {Hopper, Grace M.}, title = {The education of a computer},
  journal = {ACM}, year = 1952}

@article{broken, title = {No end
"""
ROOT = Path(__file__).parents[3]
TEXT = "The engine {cite}`lovelace1843` and again [@lovelace1843; @knuth1984], but \\cite{nobody}."


def markdown_notebook(*sources: str) -> str:
    cells = [nbformat.v4.new_markdown_cell(source) for source in sources]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    whole = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    return nbformat.writes(whole)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cited")


@pytest.fixture(scope="module")
def services() -> Iterator[str]:
    """The registers of works, played by the simulator: a value of ``Shoulders.services``."""
    command = [sys.executable, "-m", "tests.simulator.services"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline()
        process.terminate()


@pytest.fixture(scope="module")
def cited(
    workspace: Path, services: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Lab]:
    (workspace / "references.bib").write_text(BIBLIOGRAPHY, "utf-8")
    addresses = {**json.loads(services), "zotero": {"base_url": "http://127.0.0.1:9"}}
    (workspace / "jupyter_server_config.json").write_text(
        json.dumps({"Shoulders": {"services": addresses}}), "utf-8"
    )
    config = f"--config={workspace / 'jupyter_server_config.json'}"
    lab = ForkedLab(workspace, tmp_path_factory.mktemp("lab"), [config])
    lab.start()
    yield lab
    lab.stop()


@pytest.fixture(scope="module")
def shared_page(browser: Browser, cited: Lab) -> Iterator[Page]:
    """One page for all tests: each opens a notebook of its own."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(cited.url("lab", reset=""))
    page.wait_for_function("() => window.jupyterapp?.commands !== undefined")
    page.evaluate("() => window.jupyterapp.restored")
    yield page
    page.close()


@pytest.fixture
def notebook(
    shared_page: Page, workspace: Path, request: pytest.FixtureRequest
) -> Iterator[Citations]:
    """An open notebook with two Markdown cells."""
    name = f"{request.node.name.split('[')[0][5:40]}.ipynb"
    (workspace / name).write_text(markdown_notebook(TEXT, "Second cell."), "utf-8")
    shared_page.evaluate(
        """async path => {
            const app = window.jupyterapp;
            const opened = await app.commands.execute('docmanager:open', {path});
            await opened.context.ready;
            app.shell.activateById(opened.id);
        }""",
        name,
    )
    yield Citations(shared_page)
    shared_page.evaluate(
        """() => {
            for (const widget of [...window.jupyterapp.shell.widgets('main')]) {
                if (widget.context) {
                    widget.context.model.dirty = false;
                    widget.dispose();
                }
            }
        }"""
    )


def test_citations_are_shown_as_text_with_a_card(notebook: Citations) -> None:
    expect(notebook.shown).to_have_text(
        ["(Lovelace, 1843)", "(Knuth, 1984; Lovelace, 1843)", "\\cite{nobody}"]
    )
    notebook.shown.nth(1).hover()
    expect(notebook.card).to_contain_text("Sketch of the Analytical Engine")
    expect(notebook.card).to_contain_text("Donald E. Knuth")
    expect(notebook.card.get_by_role("link")).to_have_attribute(
        "href", "https://doi.org/10.1000/sketch"
    )
    unknown = notebook.shown.nth(2)
    expect(unknown).to_have_class("shoulders-Citation shoulders-mod-unknown")
    unknown.focus()
    expect(notebook.card).to_contain_text("No bibliography of the workspace has this key.")
    notebook.page.keyboard.press("Escape")
    expect(notebook.card).to_have_count(0)
    assert notebook.sources()[0] == TEXT


def test_a_key_is_completed_while_typing(notebook: Citations) -> None:
    page = notebook.page
    notebook.edit(1)
    page.keyboard.type(" As [@hop")
    expect(notebook.keys).to_have_count(1)
    expect(notebook.keys).to_contain_text("Hopper · 1952 · The education of a computer")
    page.keyboard.press("Enter")
    expect(notebook.keys).to_have_count(0)
    assert notebook.sources()[1].startswith("Second cell. As [@hopper1952]")
    page.keyboard.type(" and {cite}`")
    expect(notebook.keys).to_have_count(3)
    page.keyboard.press("Escape")
    expect(notebook.keys).to_have_count(0)
    expect(notebook.cell(1).locator(".cm-content")).to_be_focused()


def test_works_are_found_and_cited_by_keyboard(notebook: Citations) -> None:
    page = notebook.page
    notebook.edit(1)
    panel = ReferencesPanel(page).open()
    expect(panel.rows).to_have_count(3)
    page.keyboard.type("hopper")
    expect(panel.rows).to_have_count(1)
    page.keyboard.press("Enter")
    expect(notebook.cell(1).locator(".cm-content")).to_be_focused()
    assert notebook.sources()[1] == "Second cell. {cite}`hopper1952`"
    panel.open().field.fill("")
    page.keyboard.press("ArrowDown")
    expect(panel.rows.nth(1)).to_have_attribute("aria-selected", "true")
    expect(panel.root.get_by_text("1 broken entry")).to_be_visible()
    panel.action("Show in file").click()
    expect(page.locator(".jp-FileEditor .cm-content")).to_contain_text(
        "analytical", ignore_case=True
    )


@pytest.mark.parametrize(
    ("style", "shown", "entry"),
    [
        ("apa", "(Lovelace, 1843)", "Lovelace, A. (1843). Sketch of the Analytical Engine."),
        ("ieee", "[1]", "[1] A. Lovelace, “Sketch of the Analytical Engine,”"),
        ("nature", "¹", "1. Lovelace, A. Sketch of the Analytical Engine."),
        ("vancouver", "(1)", "1. Lovelace A. Sketch of the Analytical Engine."),
        ("chicago-author-date", "(Lovelace 1843)", "“Sketch of the Analytical Engine.”"),
    ],
)
def test_the_bibliography_has_the_style_and_follows_the_citations(
    notebook: Citations, workspace: Path, style: str, shown: str, entry: str
) -> None:
    notebook.insert_bibliography(style)
    bibliography = notebook.cell(2)
    expect(bibliography).to_contain_text(entry)
    expect(notebook.shown.first).to_have_text(shown)
    notebook.edit(1)
    notebook.page.keyboard.type(" See [@hopper1952].")
    notebook.page.keyboard.press("Escape")
    notebook.render(1)
    expect(bibliography).to_contain_text("ducation of a ", ignore_case=True)
    execute(notebook.page, "docmanager:save")
    path = notebook.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.path")
    cells = json.loads((workspace / path).read_text("utf-8"))["cells"]
    assert "".join(cells[0]["source"]) == TEXT
    assert cells[2]["metadata"]["tags"] == ["bibliography"]
    html, _ = HTMLExporter().from_filename(str(workspace / path))
    assert "Analytical Engine" in html


def test_a_bibliography_that_was_edited_is_kept(notebook: Citations) -> None:
    page = notebook.page
    notebook.insert_bibliography("apa")
    expect(notebook.cell(2)).to_contain_text("Lovelace")
    notebook.edit(2)
    page.keyboard.type(" Mine.")
    page.keyboard.press("Escape")
    notebook.render(2)
    notebook.edit(1)
    page.keyboard.type(" See [@hopper1952].")
    page.keyboard.press("Escape")
    note = page.locator(".Toastify__toast", has_text="edited by hand")
    expect(note).to_be_visible()
    assert notebook.sources()[2].endswith(" Mine.")
    note.get_by_role("button", name="Replace my changes").click()
    expect(notebook.cell(2)).to_contain_text("Hopper")
    assert "Mine." not in json.dumps(notebook.sources())


def test_an_update_of_the_bibliography_is_one_step_of_undo(notebook: Citations) -> None:
    page = notebook.page
    notebook.insert_bibliography("apa")
    expect(notebook.cell(2)).to_contain_text("Lovelace")
    before = notebook.sources()[2]
    notebook.edit(1)
    page.keyboard.type(" See [@hopper1952].")
    page.keyboard.press("Escape")
    expect(notebook.cell(2)).to_contain_text("Hopper")
    notebook.edit(2)
    page.keyboard.press("Control+z")
    assert notebook.sources()[2] == before
    page.keyboard.press("Control+Shift+z")
    assert "Hopper" in notebook.sources()[2]
    page.keyboard.press("Control+z")
    page.keyboard.press("Escape")
    notebook.render(2)
    notebook.edit(1)
    page.keyboard.type(" And [@hopper1952; @knuth1984].")
    page.keyboard.press("Escape")
    notebook.render(1)
    expect(notebook.shown.last).to_have_text("(Hopper, 1952; Knuth, 1984)")
    assert notebook.sources()[2] == before  # the same works: it stays undone
    for text, shown in (("[@knuth1984]", "(Knuth, 1984)"), ("[@hopper1952]", "(Hopper, 1952)")):
        notebook.edit(1)
        page.keyboard.press("Control+a")
        page.keyboard.type(f"Only {text}.")
        page.keyboard.press("Escape")
        notebook.render(1)
        expect(notebook.shown.last).to_have_text(shown)
    expect(notebook.cell(2)).to_contain_text("Hopper")


def test_settings_and_other_programs_change_what_is_shown(
    notebook: Citations, workspace: Path, cited: Lab
) -> None:
    page = notebook.page
    settings = cited.url("shoulders/api/v1/settings")
    expect(notebook.shown.first).to_have_text("(Lovelace, 1843)")
    panel = ReferencesPanel(page).open()
    panel.field.fill("hopper")
    expect(panel.rows).to_have_count(1)
    try:
        for style, shown in (("ieee", "[1]"), ("chicago-author-date", "(Lovelace 1843)")):
            data = {"references": {"style": style, "citation_syntax": "pandoc"}}
            assert page.request.put(settings, data=data).ok
            expect(notebook.shown.first).to_have_text(shown)
    finally:
        data = {"references": {"style": "apa", "citation_syntax": "myst"}}
        assert page.request.put(settings, data=data).ok
    expect(notebook.shown.first).to_have_text("(Lovelace, 1843)")
    bibliography = workspace / "references.bib"
    before = bibliography.read_text("utf-8")
    more = "@book{hopper1953, author = {Hopper, Grace}, title = {Compilers}, year = 1953}\n"
    bibliography.write_text(more + before, "utf-8")
    page.evaluate("() => window.dispatchEvent(new Event('focus'))")
    expect(panel.rows).to_have_count(2)
    bibliography.write_text(before, "utf-8")
    execute(page, "filebrowser:activate")
    execute(page, "jupyter-ai-shoulders:open-references")
    expect(panel.rows).to_have_count(1)


def test_a_work_is_dragged_into_a_cell(notebook: Citations) -> None:
    page = notebook.page
    notebook.edit(1)
    panel = ReferencesPanel(page).open()
    panel.field.fill("hopper")
    panel.rows.first.drag_to(notebook.cell(1).locator(".cm-content"))
    expect(notebook.cell(1).locator(".cm-content")).to_contain_text("{cite}`hopper1952`")


def test_a_pdf_is_added_from_the_file_browser(notebook: Citations, workspace: Path) -> None:
    page = notebook.page
    (workspace / "scan.pdf").write_bytes(b"%PDF-1.4\n%%EOF\n")
    try:
        execute(page, "filebrowser:activate")
        execute(page, "filebrowser:refresh")
        page.locator(".jp-DirListing-item", has_text="scan.pdf").click(button="right")
        page.get_by_role("menuitem", name="Add to References").click()
        expect(ReferencesPanel(page).root).to_contain_text("scan.pdf")
    finally:
        (workspace / "scan.pdf").unlink()


def test_a_work_is_added_and_the_check_finds_what_is_wrong(
    notebook: Citations, workspace: Path
) -> None:
    page = notebook.page
    panel = ReferencesPanel(page).open()
    panel.add("https://doi.org/10.1016/S0140-6736(97)11096-0")
    expect(panel.root.get_by_text("(Crossref)")).to_be_visible()
    expect(panel.rows).to_have_count(1)
    key = panel.rows.locator("code").inner_text()
    assert key in (workspace / "references.bib").read_text("utf-8")
    panel.add("10.1016/S0140-6736(97)11096-0")
    expect(panel.root.get_by_text("is in your references already")).to_be_visible()
    panel.add("10.5555/no-longer-there")
    expect(panel.root.get_by_text("Nothing was added.")).to_be_visible()

    with (workspace / "references.bib").open("a", encoding="utf-8") as file:
        file.write("@article{twice, title = {The education of a computer}, year = 1952}\n")
    panel.field.fill(key)
    panel.field.press("Enter")
    expect(notebook.cell(0).locator(".cm-content")).to_contain_text(f"{{cite}}`{key}`")
    panel.root.get_by_role("button", name="Check").click()
    for finding in ("nobody", key, "twice", "hopper1952"):
        expect(panel.report).to_contain_text(finding)
    expected = {"Cited, but in no bibliography", "Retracted", "Not cited", "Duplicates"}
    headings = panel.report.get_by_role("heading").all_inner_texts()
    assert expected <= set(headings), panel.report.inner_text()
    for theme in THEMES:
        show_theme(page, theme)
        assert audit(panel.root, COLOURS if theme != THEMES[0] else ()) == []
    panel.report.get_by_role("button", name="Go to").first.focus()
    page.keyboard.press("Enter")
    panel.root.get_by_role("button", name="Back").click()
    expect(panel.field).to_be_visible()
    panel.field.fill("")
    expect(panel.rows.filter(has_text="hopper1952")).to_have_count(1)
    assert audit(panel.root) == []
