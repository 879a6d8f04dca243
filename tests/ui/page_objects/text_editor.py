"""Page object of a text file in JupyterLab's editor."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

from tests.ui.page_objects.lab_page import PAGE_TIMEOUT_MS

_CONTEXT = "window.jupyterapp.shell.currentWidget.context"


@dataclass(frozen=True, slots=True)
class TextEditor:
    """The current file."""

    page: Page

    def open(self, path: str) -> TextEditor:
        """Open a file in the editor, whatever its type's default is, and wait for its text."""
        self.page.wait_for_function("() => window.jupyterapp?.restored !== undefined")
        self.page.evaluate(
            """async (path) => {
                await window.jupyterapp.restored;
                const widget = await window.jupyterapp.commands.execute(
                    'docmanager:open', {path, factory: 'Editor'});
                await widget.context.ready;
                window.jupyterapp.shell.activateById(widget.id);
            }""",
            path,
        )
        self.page.wait_for_function(
            f"(path) => {_CONTEXT}?.localPath === path"
            " && window.jupyterapp.shell.currentWidget.content.editor",
            arg=path,
        )
        expect(self.content).to_be_visible()
        return self

    @property
    def content(self) -> Locator:
        """The editable content."""
        return self.page.locator(".jp-FileEditor:visible .cm-content")

    @property
    def text(self) -> str:
        """The text in the page."""
        return self.page.evaluate(f"() => {_CONTEXT}.model.sharedModel.getSource()")

    @property
    def path(self) -> str:
        """The file's path, as the page has it."""
        return self.page.evaluate(f"() => {_CONTEXT}.localPath")

    @property
    def dirty(self) -> bool:
        """Whether the page has unsaved changes."""
        return self.page.evaluate(f"() => {_CONTEXT}.model.dirty")

    @property
    def caret(self) -> int:
        """Position of the caret, in characters."""
        return self.page.evaluate(
            "() => window.jupyterapp.shell.currentWidget.content.editor.editor"
            ".state.selection.main.head"
        )

    def wait_for_text(self, text: str) -> None:
        """Wait until it has this text."""
        self.page.wait_for_function(
            f"(text) => {_CONTEXT}?.model.sharedModel.getSource() === text", arg=text
        )

    def wait_until_saved(self) -> None:
        """Wait until there are no unsaved changes."""
        self.page.wait_for_function(f"() => !{_CONTEXT}.model.dirty")

    def type_at_end(self, text: str) -> None:
        """Type at the end key by key."""
        self.content.click()
        self.page.keyboard.press("Control+End")
        self.page.keyboard.type(text, delay=10)

    def type_at_start(self, text: str) -> None:
        """Type at the beginning key by key."""
        self.content.click()
        self.page.keyboard.press("Control+Home")
        self.page.keyboard.type(text, delay=10)

    def undo(self) -> None:
        """Undo one step by keyboard."""
        self.content.click()
        self.page.keyboard.press("Control+z")

    def select(self, start: int, end: int) -> None:
        """Select some characters."""
        self.page.evaluate(
            "([anchor, head]) => {"
            " const {editor} = window.jupyterapp.shell.currentWidget.content.editor;"
            " editor.dispatch({selection: {anchor, head}}); editor.focus(); }",
            [start, end],
        )

    def saves_without_a_question(self) -> None:
        """Save as the user would; check that JupyterLab shows no dialog like "File Changed"."""
        self.page.evaluate("() => { void window.jupyterapp.commands.execute('docmanager:save'); }")
        self.wait_until_saved()
        expect(self.page.locator(".jp-Dialog")).to_have_count(0)

    def knows_its_file(self) -> None:
        """Wait until the page knows the current file, so that a save raises no question."""
        deadline = time.monotonic() + PAGE_TIMEOUT_MS / 1000
        while not self.page.evaluate(
            f"""async () => {{
            const context = {_CONTEXT};
            const {{contents}} = window.jupyterapp.serviceManager;
            const file = await contents.get(context.path, {{content: false, hash: true}});
            return file.hash === context.contentsModel.hash;
        }}"""
        ):
            assert time.monotonic() < deadline, "the page does not take up its file"
            self.page.wait_for_timeout(100)

    def read_only(self) -> None:
        """Make the document read-only."""
        self.page.evaluate(f"() => {{ {_CONTEXT}.model.readOnly = true; }}")

    def notice(self, text: str) -> Locator:
        """A notification with this text."""
        return self.page.locator(".Toastify__toast", has_text=text)

    def __str__(self) -> str:
        return f"the editor of {json.dumps(self.path)}"
