"""The chat panel and the notebook as a user of the browser sees them: page objects."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Locator, Page, expect

TURN_MS = 60_000


@dataclass(frozen=True, slots=True)
class Panel:
    """The chat panel of an open JupyterLab page."""

    page: Page

    @property
    def root(self) -> Locator:
        """The panel itself."""
        return self.page.get_by_role("region", name="AI chat")

    @property
    def input(self) -> Locator:
        """Where the user writes."""
        return self.root.locator("textarea.shoulders-Composer-field")

    @property
    def answers(self) -> Locator:
        """What the agent wrote, one element per message."""
        return self.root.locator(".shoulders-Agent")

    @property
    def approval(self) -> Locator:
        """The card that waits for a decision."""
        return self.root.locator(".shoulders-Approval")

    @property
    def proposal(self) -> Locator:
        """The card of a proposed change."""
        return self.root.locator(".shoulders-Proposal")

    @property
    def status(self) -> Locator:
        """The line that says what goes on while a turn runs."""
        return self.root.locator(".shoulders-Status")

    def open(self) -> Panel:
        """Show the panel and wait for its input."""
        self.page.wait_for_function("() => window.jupyterapp?.commands !== undefined")
        self.page.evaluate("() => window.jupyterapp.restored")
        self.page.evaluate(
            "() => window.jupyterapp.commands.execute('jupyter-ai-shoulders:focus-chat')"
        )
        expect(self.input).to_be_visible(timeout=20_000)
        return self

    def ask(self, text: str) -> None:
        """Send a message."""
        self.input.fill(text)
        self.input.press("Enter")
        expect(self.input).to_have_value("")

    def allow(self) -> None:
        """Allow the waiting call once."""
        expect(self.approval).to_be_visible(timeout=TURN_MS)
        self.approval.get_by_role("button", name="Allow once").click()

    def finished(self, timeout: float = TURN_MS) -> None:
        """Wait until no turn runs."""
        expect(self.status).to_have_count(0, timeout=timeout)


@dataclass(frozen=True, slots=True)
class OpenNotebook:
    """The notebook in front, by cell id."""

    page: Page

    def ready(self) -> OpenNotebook:
        """Wait until it is shown and its kernel is idle."""
        self.page.wait_for_function("() => window.jupyterapp?.shell?.currentWidget?.content?.model")
        self.page.wait_for_function(
            """async () => {
                const panel = window.jupyterapp.shell.currentWidget;
                await panel.context.ready;
                await panel.sessionContext.ready;
                const kernel = panel.sessionContext.session?.kernel;
                return kernel?.status === 'idle' && kernel.connectionStatus === 'connected';
            }""",
            timeout=60_000,
        )
        return self

    def cell(self, cell_id: str) -> Locator:
        """The cell's widget."""
        index = self._cell(cell_id, "index")
        return self.page.locator(".jp-Notebook:visible .jp-Cell").nth(index)

    def editor(self, cell_id: str) -> Locator:
        """The cell's editor, where keys go."""
        return self.cell(cell_id).locator(".cm-content")

    def output(self, cell_id: str) -> Locator:
        """The outputs the cell shows."""
        return self.cell(cell_id).locator(".jp-OutputArea-output")

    def run(self, cell_id: str) -> None:
        """Run a cell by hand and wait for its end."""
        before = self._cell(cell_id, "count")
        self.editor(cell_id).click()
        self.page.keyboard.press("Control+Enter")
        self.page.wait_for_function(
            f"""() => {{
                const cell = {_FIND}({json.dumps(cell_id)}).shared;
                const count = cell.execution_count;
                return count !== null && count !== {json.dumps(before)}
                    && cell.executionState === 'idle';
            }}""",
            timeout=60_000,
        )

    def type_at_end(self, cell_id: str, text: str) -> None:
        """Type into a cell as a person does."""
        self.editor(cell_id).click()
        self.page.keyboard.press("Control+End")
        self.page.keyboard.type(text, delay=10)

    def source(self, cell_id: str) -> str:
        """The cell's text in the page."""
        return self._cell(cell_id, "source")

    @property
    def dirty(self) -> bool:
        """Whether the page has unsaved changes."""
        return self.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.model.dirty")

    @property
    def cells(self) -> list[dict[str, Any]]:
        """All cells as the page holds them."""
        return self.page.evaluate(
            "() => window.jupyterapp.shell.currentWidget.context.model.sharedModel.toJSON().cells"
        )

    def save(self) -> None:
        """Save as the user would."""
        self.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
        self.page.wait_for_function(
            "() => !window.jupyterapp.shell.currentWidget.context.model.dirty"
        )

    def _cell(self, cell_id: str, what: str) -> Any:
        return self.page.evaluate(f"() => {_FIND}({json.dumps(cell_id)}).{what}")


_FIND = """((id) => {
    const cells = window.jupyterapp.shell.currentWidget.context.model.sharedModel.cells;
    const index = cells.findIndex(cell => cell.id === id);
    const shared = cells[index];
    return {index, shared, source: shared.getSource(), count: shared.execution_count ?? null};
})"""
