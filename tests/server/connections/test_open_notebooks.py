"""The agent reads and edits a notebook that a page has open, over the page socket."""

from typing import Any

from jupyter_ai_shoulders.wire.versions import cell_version
from tests.server.client import ENDED, Api, PageClient
from tests.server.conftest import OpenPage
from tests.simulator import Simulator, ToolUse, reply
from tests.simulator_process import notebook

UNSAVED = "x = 'typed and not saved'"


def announce(page: PageClient, path: str, source: str) -> None:
    cell = {"id": "c1", "cell_type": "code", "version": cell_version(source), "source": source}
    page.say(
        "document-open",
        path=path,
        claim_epoch=1,
        cells=[cell],
        dirty=True,
        saved_at=None,
        kernel_id=None,
    )


def content(frame: dict[str, Any], source: str) -> dict[str, Any]:
    cell: dict[str, Any] = {
        "id": "c1",
        "cell_type": "code",
        "source": source,
        "version": cell_version(source),
        "metadata": {},
        "execution_count": None,
        "output_summary": [],
        "outputs": None,
    }
    return {
        "operation_id": frame["operation_id"],
        "path": frame["path"],
        "cells": [cell],
        "metadata": {"kernelspec": {"name": "python3", "language": "python"}},
        "dirty": True,
    }


async def answer_reads(page: PageClient, source: str) -> dict[str, Any]:
    """Answer every read until the page gets a change."""
    while True:
        frame = await page.next()
        assert frame is not None
        if frame["type"] == "document-read":
            page.say("document-content", **content(frame, source))
        if frame["type"] == "document-apply":
            return frame


async def test_the_agent_edits_what_the_page_shows_and_not_the_file(
    api: Api, open_page: OpenPage, upstream: Simulator, jp_root_dir: Any
) -> None:
    saved = notebook(("c1", "x = 'saved'"))
    file = jp_root_dir / "a.ipynb"
    file.write_text(saved)
    upstream.script(
        reply(ToolUse(name="read_notebook", arguments={"path": "a.ipynb"})),
        reply(
            ToolUse(
                name="edit_cell", arguments={"path": "a.ipynb", "cell_id": "c1", "source": "x = 2"}
            )
        ),
        "Done.",
    )
    page = await open_page()
    page.hello()
    await page.until("welcome")
    announce(page, "a.ipynb", UNSAVED)
    session_id = await api.new_session()

    async with api.stream(session_id) as stream:
        await api.send(session_id, "change it")
        apply = await answer_reads(page, UNSAVED)
        page.say(
            "document-applied",
            operation_id=apply["operation_id"],
            versions={"c1": cell_version("x = 2")},
            inverse=[],
        )
        await stream.until(ENDED)

    results = [event for event in await api.events(session_id) if event["type"] == "tool-result"]
    assert [result["status"] for result in results] == ["ok", "ok"]
    assert "typed and not saved" in results[0]["content"][0]["text"]
    assert "open in the page" in results[0]["content"][0]["text"]
    assert apply["expected"] == {"c1": cell_version(UNSAVED)}
    assert [edit["source"] for edit in apply["edits"]] == ["x = 2"]
    assert file.read_text() == saved


async def test_a_document_outside_the_workspace_is_refused(open_page: OpenPage) -> None:
    page = await open_page()
    page.hello()
    await page.until("welcome")

    announce(page, "../outside.ipynb", "x")

    error = (await page.until("frame-error"))["error"]
    assert error["code"] == "outside_workspace"
