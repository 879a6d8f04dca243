"""Open notebooks as resources, skills as prompts, and edits in a page that has unsaved text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent, TextResourceContents

from jupyter_ai_shoulders.host.mcp_server.resources import read_arguments, uri_of
from tests.server.client import Api, PageClient
from tests.server.conftest import OpenPage
from tests.server.connections.test_open_notebooks import announce, content
from tests.server.mcp.conftest import Connect, text_of
from tests.simulator_process import notebook as notebook_text

UNSAVED = "x = 'typed and not saved'"


class AnsweringPage:
    """A page with ``a b.ipynb`` open, whose cell has unsaved text."""

    def __init__(self, page: PageClient) -> None:
        self._page = page
        self.source = UNSAVED
        self.applied: list[dict[str, Any]] = []
        self.changed = asyncio.Event()

    async def answer(self) -> None:
        """Answer reads and apply edits until the socket closes."""
        while (frame := await self._page.next()) is not None:
            if frame["type"] == "document-read":
                self._page.say("document-content", **content(frame, self.source))
            if frame["type"] == "document-apply":
                self.applied.append(frame)
                self.changed.set()


@asynccontextmanager
async def answering(open_page: OpenPage, jp_root_dir: Path) -> AsyncGenerator[AnsweringPage]:
    (jp_root_dir / "a b.ipynb").write_text(notebook_text(("c1", "x = 'saved'")))
    page = await open_page()
    page.hello()
    await page.until("welcome")
    announce(page, "a b.ipynb", UNSAVED)
    shown = AnsweringPage(page)
    task = asyncio.create_task(shown.answer())
    try:
        yield shown
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_open_notebooks_and_their_cells_are_resources(
    connect: Connect, open_page: OpenPage, jp_root_dir: Path, api: Api
) -> None:
    async with answering(open_page, jp_root_dir), connect() as client:
        resources = (await client.list_resources()).resources
        read = await client.read_resource("notebook:///a%20b.ipynb#c1")
        whole = await client.read_resource("notebook:///a%20b.ipynb")
        templates = (await client.list_resource_templates()).resource_templates

    assert {resource.uri: resource.title for resource in resources} == {
        "notebook:///a%20b.ipynb": None,
        "notebook:///a%20b.ipynb#c1": f"Cell 1: {UNSAVED}",
    }
    for result in (read, whole):
        (part,) = result.contents
        assert isinstance(part, TextResourceContents)
        assert UNSAVED in part.text
    assert [template.uri_template for template in templates] == ["notebook:///{+path}"]
    (session,) = (await api.get("sessions")).body["sessions"]
    calls = [e["tool"] for e in await api.events(session["id"]) if e["type"] == "tool-call"]
    assert calls == ["read_notebook", "read_notebook"]


@pytest.mark.parametrize(
    "uri", ["notebook:///missing.ipynb", "notebook:///../x.ipynb", "file:///etc/passwd"]
)
async def test_a_resource_that_cannot_be_read_is_an_error(connect: Connect, uri: str) -> None:
    async with connect() as client:
        with pytest.raises(MCPError):
            await client.read_resource(uri)


async def test_without_the_scope_there_are_no_resources(
    connect: Connect, api: Api, notebook: str
) -> None:
    made = await api.post("access-tokens", {"name": "Editor", "scopes": ["edit"]})
    async with connect(token=made.body["secret"]) as client:
        assert (await client.list_resources()).resources == []
        with pytest.raises(MCPError, match="does not cover"):
            await client.read_resource(uri_of(notebook))


async def test_a_client_works_on_what_the_page_shows_and_not_on_the_file(
    connect: Connect, open_page: OpenPage, jp_root_dir: Path
) -> None:
    async with answering(open_page, jp_root_dir) as page, connect() as client:
        read = await client.call_tool("read_notebook", {"path": "a b.ipynb"})
        edit = asyncio.create_task(
            client.call_tool("edit_cell", {"path": "a b.ipynb", "cell_id": "c1", "source": "x = 2"})
        )
        async with asyncio.timeout(20):
            await page.changed.wait()
        edit.cancel()

    assert UNSAVED in text_of(read)
    assert page.applied[0]["path"] == "a b.ipynb"
    assert "saved" in (jp_root_dir / "a b.ipynb").read_text()


async def test_skills_are_prompts(connect: Connect, jp_root_dir: Path, api: Api) -> None:
    folder = jp_root_dir / ".shoulders" / "skills" / "tidy"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: tidy\ndescription: Tidies\n---\nSort columns.")
    async with connect() as client:
        before = [prompt.name for prompt in (await client.list_prompts()).prompts]
        await api.trust_folder()
        prompts = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        found = await client.get_prompt("tidy", {"task": "Do it for sums.ipynb."})
        with pytest.raises(MCPError, match="no skill"):
            await client.get_prompt("missing")

    assert "tidy" not in before
    assert prompts["tidy"].description == "Tidies"
    part = found.messages[0].content
    assert isinstance(part, TextContent)
    assert "Sort columns." in part.text
    assert part.text.endswith("Do it for sums.ipynb.")


@pytest.mark.parametrize("path", ["a.ipynb", "a b/ü#?.ipynb", "100%.ipynb"])
def test_addresses_name_any_path(path: str) -> None:
    assert read_arguments(uri_of(path)) == {"path": path, "outputs": True}
    assert read_arguments(uri_of(path, "c/1")) == {"path": path, "cells": ["c/1"]}
