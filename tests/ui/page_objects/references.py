"""Page objects of references: the panel, citations in a notebook, the list of keys."""

from __future__ import annotations

from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect


@dataclass(frozen=True, slots=True)
class ReferencesPanel:
    """The References panel of an open JupyterLab page."""

    page: Page

    @property
    def root(self) -> Locator:
        """The panel itself."""
        return self.page.get_by_role("region", name="References")

    @property
    def field(self) -> Locator:
        """The search field."""
        return self.root.get_by_role("combobox", name="Search references")

    @property
    def rows(self) -> Locator:
        """The works found."""
        return self.root.get_by_role("listbox", name="References").get_by_role("option")

    @property
    def report(self) -> Locator:
        """The report of a check."""
        return self.root.get_by_role("region", name="Report of the check")

    def open(self) -> ReferencesPanel:
        """Show the panel with the focus in its field."""
        execute(self.page, "jupyter-ai-shoulders:open-references")
        expect(self.field).to_be_focused()
        return self

    def action(self, name: str) -> Locator:
        """A button of the selected work."""
        return self.root.get_by_role("group", name="Selected work").get_by_role("button", name=name)

    def add(self, text: str) -> None:
        """Type a work and add it."""
        self.root.get_by_role("textbox", name="Add a work").fill(text)
        self.root.get_by_role("button", name="Add", exact=True).click()


@dataclass(frozen=True, slots=True)
class Citations:
    """What the page shows of citations in the notebook in front."""

    page: Page

    @property
    def shown(self) -> Locator:
        """The citations in rendered cells."""
        return self.page.locator(".jp-NotebookPanel:visible .shoulders-Citation")

    @property
    def card(self) -> Locator:
        """The card of a citation."""
        return self.page.locator(".shoulders-CitationCard")

    @property
    def keys(self) -> Locator:
        """The keys offered while a citation is typed."""
        return self.page.locator(".shoulders-KeyList").get_by_role("option")

    def cell(self, number: int) -> Locator:
        """A cell of the notebook, from 0."""
        return self.page.locator(".jp-NotebookPanel:visible .jp-Cell").nth(number)

    def edit(self, number: int) -> None:
        """Edit a Markdown cell with the caret at its end."""
        self.page.evaluate(
            """async number => {
                const {content} = window.jupyterapp.shell.currentWidget;
                content.activeCellIndex = number;
                await content.activeCell.ready;
                content.activeCell.rendered = false;
                content.mode = 'edit';
                content.activeCell.editor.focus();
            }""",
            number,
        )
        expect(self.cell(number).locator(".cm-content")).to_be_focused()
        self.page.keyboard.press("Control+End")

    def render(self, number: int) -> None:
        """Render a Markdown cell."""
        self.page.evaluate(
            """number => {
                const {content} = window.jupyterapp.shell.currentWidget;
                content.mode = 'command';
                content.widgets[number].rendered = true;
            }""",
            number,
        )

    def sources(self) -> list[str]:
        """The texts of all cells."""
        return self.page.evaluate(
            """() => window.jupyterapp.shell.currentWidget.content.widgets
                .map(({model}) => model.sharedModel.getSource())"""
        )

    def insert_bibliography(self, style: str) -> None:
        """Insert the bibliography, or change its style."""
        execute(self.page, "jupyter-ai-shoulders:insert-bibliography", style=style)


def execute(page: Page, command: str, **args: str) -> None:
    """Execute a command of JupyterLab."""
    page.evaluate(
        "([command, args]) => window.jupyterapp.commands.execute(command, args)", [command, args]
    )
