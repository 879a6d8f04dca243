"""Page objects of the chat panel and the notebook."""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Locator, Page, expect

PAGE_TIMEOUT_MS = 60_000
"""Time limit for anything in a page on a slow, busy machine."""
WIDE = 600
"""Width in pixels of a panel that shows a tab for each of several conversations."""
TWO_FRAMES = (
    "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
)
"""Waits until JupyterLab's posted messages have reached its widgets."""


@dataclass(frozen=True, slots=True)
class Panel:
    """The chat panel of an open JupyterLab page."""

    page: Page
    name: str = "AI chat"

    @property
    def root(self) -> Locator:
        """The panel itself."""
        return self.page.get_by_role("region", name=self.name)

    def named(self, name: str) -> Panel:
        """The panel of a JupyterLab in another language."""
        return Panel(self.page, name)

    @property
    def input(self) -> Locator:
        """The input field."""
        return self.root.locator("textarea.shoulders-Composer-field")

    @property
    def answers(self) -> Locator:
        """The agent's messages, one element each."""
        return self.root.locator(".shoulders-Agent")

    @property
    def tabs(self) -> Locator:
        """The open conversations, including those without space for a tab."""
        return self.root.locator(".shoulders-Tab")

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
        """The status line of a running turn."""
        return self.root.locator(".shoulders-Status")

    @property
    def connect(self) -> Locator:
        """The button shown while the page has no connection."""
        return self.root.get_by_role("button", name="Reconnect now")

    @property
    def queued(self) -> Locator:
        """The queued messages, one element each."""
        return self.root.locator(".shoulders-Queue-item")

    def open(self) -> Panel:
        """Show the panel and wait until its input is editable."""
        self.open_read_only()
        expect(self.input).to_be_enabled()
        return self

    def open_read_only(self) -> Panel:
        """Show the panel and wait for its input, which may be read-only."""
        self.page.wait_for_function("() => window.jupyterapp?.commands !== undefined")
        self.page.evaluate("() => window.jupyterapp.restored")
        # JupyterLab fills an empty main area with its launcher, which takes the focus when it
        # opens.
        self.page.wait_for_function("() => !window.jupyterapp.shell.isEmpty('main')")
        self.page.evaluate(TWO_FRAMES)
        self.page.evaluate(
            "() => window.jupyterapp.commands.execute('jupyter-ai-shoulders:focus-chat')"
        )
        expect(self.input).to_be_visible()
        return self

    def ask(self, text: str) -> None:
        """Send a message, again if JupyterLab takes the focus between the text and Enter."""
        for _ in range(3):
            self.input.fill(text)
            self.input.press("Enter")
            with contextlib.suppress(AssertionError):
                expect(self.input).to_have_value("", timeout=PAGE_TIMEOUT_MS / 3)
                return
        raise AssertionError(f"{text!r} was not sent")

    def allow(self) -> None:
        """Allow the waiting call once."""
        expect(self.approval).to_be_visible()
        self.approval.locator(".shoulders-Approval-run").click()

    def disconnected(self) -> None:
        """Wait until the page shows that it is disconnected; it must not reconnect before."""
        expect(self.connect).to_be_visible()

    def server_gone(self) -> None:
        """Wait until JupyterLab, too, has noticed that the server is gone: its dialog, which the
        page answers at once, would take a key that a test types.
        """
        self.disconnected()
        self.page.evaluate(
            "() => window.jupyterapp.serviceManager.sessions.refreshRunning().catch(() => {})"
        )
        self.page.wait_for_function("() => window.connectionDialogAnswered")
        expect(self.page.locator(".jp-Dialog")).to_have_count(0)

    def reconnected(self) -> None:
        """Reconnect now instead of at the next attempt, and wait for it."""
        deadline = time.monotonic() + PAGE_TIMEOUT_MS / 1000
        while self.connect.count():
            assert time.monotonic() < deadline, "the page does not reconnect"
            with contextlib.suppress(PlaywrightError):
                self.connect.click(timeout=500)

    def resize(self, width: int) -> None:
        """Drag the edge of the side bar until the panel has about this width in px."""
        handle = self.page.locator("#jp-main-split-panel > .lm-SplitPanel-handle:visible").last
        edge = handle.bounding_box()
        shown = self.root.bounding_box()
        assert edge is not None
        assert shown is not None
        x, y = edge["x"] + edge["width"] / 2, edge["y"] + 200
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(x + shown["width"] - width, y, steps=4)
        self.page.mouse.up()

    def finished(self) -> None:
        """Wait until no turn runs."""
        expect(self.status).to_have_count(0)


@dataclass(frozen=True, slots=True)
class OpenNotebook:
    """The current notebook, by cell id."""

    page: Page

    def shown(self) -> OpenNotebook:
        """Wait until it is shown; its kernel may be busy."""
        # Not the model alone: the launcher has one, too.
        self.page.wait_for_function("""() => {
            const widget = window.jupyterapp?.shell?.currentWidget;
            return widget?.context !== undefined && widget.content?.model;
        }""")
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.ready")
        return self

    def ready(self) -> OpenNotebook:
        """Wait until it is shown and its kernel is idle."""
        self.shown()
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.ready")
        # Not an async function: its promise would be truthy.
        self.page.wait_for_function(
            """() => {
                const {session} = window.jupyterapp.shell.currentWidget.sessionContext;
                const kernel = session?.kernel;
                return kernel?.status === 'idle' && kernel.connectionStatus === 'connected';
            }""",
        )
        return self

    def cell(self, cell_id: str) -> Locator:
        """The cell's widget."""
        index = self._cell(cell_id, "index")
        return self.page.locator(".jp-Notebook:visible .jp-Cell").nth(index)

    def editor(self, cell_id: str) -> Locator:
        """The cell's editor, where keys go."""
        return self.cell(cell_id).locator(".cm-content")

    def prompt(self, cell_id: str) -> Locator:
        """The cell's prompt: `[ ]:`, `[*]:`, `[3]:`."""
        return self.cell(cell_id).locator(".jp-InputPrompt")

    def output(self, cell_id: str) -> Locator:
        """The outputs of the cell."""
        return self.cell(cell_id).locator(".jp-OutputArea-output")

    def run(self, cell_id: str) -> None:
        """Run a cell by hand and wait until it ends."""
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
        )

    @property
    def active(self) -> str:
        """The cell with the caret or the selection."""
        return self.page.evaluate(
            "() => window.jupyterapp.shell.currentWidget.content.activeCell.model.id"
        )

    def type_at_end(self, cell_id: str, text: str) -> None:
        """Type into a cell key by key."""
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
        """All cells in the page's model."""
        return self.page.evaluate(
            "() => window.jupyterapp.shell.currentWidget.context.model.sharedModel.toJSON().cells"
        )

    def save_as_the_lab_has_it(self) -> OpenNotebook:
        """Save JupyterLab's own changes: it writes the language into a notebook once the kernel
        reports it.
        """
        self.page.wait_for_function(
            "() => window.jupyterapp.shell.currentWidget.context.model.sharedModel"
            ".getMetadata('language_info')?.version"
        )
        self.save()
        return self

    def save(self) -> None:
        """Save as the user would."""
        self.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
        self.page.wait_for_function(
            "() => !window.jupyterapp.shell.currentWidget.context.model.dirty"
        )

    @property
    def ids(self) -> list[str]:
        """The ids of all cells in order."""
        return [cell["id"] for cell in self.cells]

    def wait_for_source(self, cell_id: str, source: str) -> None:
        """Wait until the cell has this text."""
        expected = json.dumps(source)
        self.page.wait_for_function(f"() => {_FIND}({json.dumps(cell_id)}).source === {expected}")

    def knows_its_file(self) -> None:
        """Wait until the page knows the current file, so that a save raises no question."""
        deadline = time.monotonic() + PAGE_TIMEOUT_MS / 1000
        while not self.page.evaluate("""async () => {
            const {context} = window.jupyterapp.shell.currentWidget;
            const {contents} = window.jupyterapp.serviceManager;
            const file = await contents.get(context.path, {content: false, hash: true});
            return file.hash === context.contentsModel.hash;
        }"""):
            assert time.monotonic() < deadline, "the page does not take up its file"
            self.page.wait_for_timeout(100)

    def command(self, name: str, *, wait: bool = True) -> None:
        """Execute a command of JupyterLab; do not wait for one that opens a dialog."""
        execute = f"window.jupyterapp.commands.execute({json.dumps(name)})"
        self.page.evaluate(f"async () => {{ {'await ' * wait}{execute}; }}")

    def _cell(self, cell_id: str, what: str) -> Any:
        return self.page.evaluate(f"() => {_FIND}({json.dumps(cell_id)}).{what}")


_FIND = """((id) => {
    const cells = window.jupyterapp.shell.currentWidget.context.model.sharedModel.cells;
    const index = cells.findIndex(cell => cell.id === id);
    const shared = cells[index];
    return {index, shared, source: shared.getSource(), count: shared.execution_count ?? null};
})"""
