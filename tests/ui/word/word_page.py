"""Page object of a rendered Word document, and the documents of the tests."""

from __future__ import annotations

import json
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

from tests.files.word.raw_documents import deleted, document, inserted, paragraph, run_of

_COMMENT = (
    '<w:comment w:id="5" w:author="Grace" w:date="2024-01-02T03:04:05Z">'
    f"{paragraph('Which strain was it?')}</w:comment>"
)
_HEADING = '<w:pStyle w:val="Heading1"/>'


def _row(*cells: str) -> str:
    inner = "".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in cells)
    return f"<w:tr>{inner}</w:tr>"


def report(*more: str) -> bytes:
    """A report with a heading, tracked changes, a comment and a table."""
    body = [
        paragraph("Growth of the cultures", properties=_HEADING),
        paragraph(
            "We grew ",
            '<w:commentRangeStart w:id="5"/>',
            run_of("twelve cultures"),
            '<w:commentRangeEnd w:id="5"/>',
            " for three days and counted them every hour.",
        ),
        paragraph(
            "The count ",
            deleted("tripled", author="Ada"),
            inserted("doubled", author="Ada"),
            " within ",
            run_of("forty minutes", "<w:b/>"),
            ", as the table shows.",
        ),
        f"<w:tbl>{_row('Hour', 'Count')}{_row('0', '120')}{_row('1', '340')}</w:tbl>",
        paragraph("The cultures grew quick in the first hours."),
        *(paragraph(text) for text in more),
    ]
    return document("".join(body), {"comments.xml": _COMMENT})


@dataclass(frozen=True, slots=True)
class WordPage:
    """The current Word document."""

    page: Page

    def open(self, path: str) -> WordPage:
        """Open a document by its default viewer and wait for its text."""
        self.page.wait_for_function("() => window.jupyterapp?.restored !== undefined")
        self.page.evaluate(
            """async (path) => {
                await window.jupyterapp.restored;
                await window.jupyterapp.commands.execute('docmanager:open', {path});
            }""",
            path,
        )
        expect(self.summary).not_to_have_text("")
        return self

    @property
    def root(self) -> Locator:
        """The whole view."""
        return self.page.locator(".shoulders-Word:visible")

    @property
    def body(self) -> Locator:
        """The rendered document."""
        return self.root.locator(".shoulders-Word-page")

    @property
    def summary(self) -> Locator:
        """The line above it."""
        return self.root.locator(".shoulders-Word-summary")

    def paragraph(self, number: int) -> Locator:
        """A paragraph, from 1."""
        return self.body.locator(f'[data-paragraph="{number}"]')

    def select(self, text: str) -> None:
        """Select a text of one node, as with the mouse."""
        self.body.evaluate(
            """(body, text) => {
                const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
                while (walker.nextNode()) {
                    const at = walker.currentNode.data.indexOf(text);
                    if (at >= 0) {
                        body.parentElement.focus();
                        document.getSelection().setBaseAndExtent(
                            walker.currentNode, at, walker.currentNode, at + text.length);
                        return;
                    }
                }
                throw new Error(`no ${text}`);
            }""",
            text,
        )

    def run(self, command: str) -> None:
        """Execute a command of the extension."""
        name = json.dumps(f"jupyter-ai-shoulders:{command}")
        self.page.evaluate(f"() => window.jupyterapp.commands.execute({name})")
