"""The agent renames a notebook that a page has open: the page is notified and follows."""

from pathlib import Path
from typing import Any

import nbformat
import pytest

from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.versions import cell_version
from tests.server.client import ENDED, Api, PageClient
from tests.server.conftest import OpenPage
from tests.server.connections.test_open_notebooks import content
from tests.simulator import Simulator, ToolUse, reply

SAVED = "x = 'saved'"
UNSAVED = "x = 'typed and not saved'"


@pytest.fixture
def file(jp_root_dir: Path) -> Path:
    cells = [nbformat.v4.new_code_cell(SAVED, id="c1")]
    file = jp_root_dir / "n.ipynb"
    file.write_text(nbformat.writes(nbformat.v4.new_notebook(cells=cells)))
    return file


def say_open(page: PageClient, source: str, *, dirty: bool) -> None:
    cell = {"id": "c1", "cell_type": "code", "version": cell_version(source), "source": source}
    page.say(
        "document-open",
        path="n.ipynb",
        claim_epoch=1,
        cells=[cell],
        dirty=dirty,
        saved_at=None,
        kernel_id=None,
    )


def notebooks(root: Path) -> list[str]:
    return [path.relative_to(root).as_posix() for path in root.rglob("*.ipynb")]


async def results(api: Api, session_id: str) -> list[tuple[str, str]]:
    events = await api.events(session_id)
    return [(event["tool"], event["status"]) for event in events if event["type"] == "tool-result"]


async def follow(page: PageClient, source: str) -> dict[str, Any]:
    """Follow the move, then show the notebook under its new name; return the move."""
    moved = await page.until("file-moved")
    page.say("document-rename", path=moved["path"], new_path=moved["new_path"])
    page.say("document-content", **content(await page.until("document-read"), source))
    return moved


async def test_page_follows_its_notebook_and_shows_it_under_the_new_name(
    api: Api, open_page: OpenPage, upstream: Simulator, file: Path
) -> None:
    move: JsonObject = {"path": "n.ipynb", "new_path": "sub/m.ipynb"}
    upstream.script(
        reply(ToolUse(name="rename_file", arguments=move)),
        reply(ToolUse(name="read_notebook", arguments={"path": "sub/m.ipynb"})),
        "Done.",
    )
    page = await open_page()
    page.hello()
    await page.until("welcome")
    say_open(page, SAVED, dirty=False)
    session_id = await api.new_session(mode="bypass")

    async with api.stream(session_id) as stream:
        await api.send(session_id, "rename it")
        moved = await follow(page, UNSAVED)
        await stream.until(ENDED)

    assert (moved["path"], moved["new_path"]) == ("n.ipynb", "sub/m.ipynb")
    assert await results(api, session_id) == [("rename_file", "ok"), ("read_notebook", "ok")]
    assert notebooks(file.parent) == ["sub/m.ipynb"]
    [_, read] = [e for e in await api.events(session_id) if e["type"] == "tool-result"]
    assert UNSAVED in read["content"][0]["text"]


async def test_notebook_with_unsaved_changes_is_not_moved(
    api: Api, open_page: OpenPage, upstream: Simulator, file: Path
) -> None:
    move: JsonObject = {"path": "n.ipynb", "new_path": "m.ipynb"}
    upstream.script(reply(ToolUse(name="rename_file", arguments=move)), "Done.")
    page = await open_page()
    page.hello()
    await page.until("welcome")
    say_open(page, UNSAVED, dirty=True)
    session_id = await api.new_session(mode="bypass")

    async with api.stream(session_id) as stream:
        await api.send(session_id, "rename it")
        await stream.until(ENDED)

    assert await results(api, session_id) == [("rename_file", "error")]
    assert notebooks(file.parent) == ["n.ipynb"]
