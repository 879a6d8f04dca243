"""Compares the call paths that docs/walks.md describes with those of a real turn."""

from __future__ import annotations

import asyncio
import re
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import pytest

from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.versions import cell_version
from tests.server.client import ENDED, Api, PageClient
from tests.server.conftest import OpenPage
from tests.server.connections.test_open_notebooks import UNSAVED, announce, answer_reads
from tests.simulator import Simulator, ToolUse, reply
from tests.simulator_process import notebook

ROOT = Path(__file__).parents[2]
WALKS = ROOT / "docs" / "walks.md"
MOST_STATIONS = 12
STATION = re.compile(r"^\d+\. \[`([\w.]+)`\]\(\.\./([\w./-]+\.py)\)", re.MULTILINE)


class Station(NamedTuple):
    """A function, by its file and its qualified name."""

    path: str
    name: str


def walk(title: str) -> list[Station]:
    """Return the stations of one section of the document."""
    section = re.search(
        rf"^## {title}\n(.*?)(?=^## |\Z)", WALKS.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert section is not None, f"docs/walks.md has no section {title!r}"
    return [Station(path, name) for name, path in STATION.findall(section[1])]


@contextmanager
def recorded_calls() -> Generator[list[Station]]:
    """Record the project's functions in the order of their first calls, on all threads."""
    calls: list[Station] = []
    seen: set[object] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and code not in seen:
            seen.add(code)
            path = Path(code.co_filename)
            if path.is_relative_to(ROOT):
                calls.append(Station(path.relative_to(ROOT).as_posix(), code.co_qualname))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


async def edit_cell_in_page(
    api: Api, page: PageClient, upstream: Simulator, root: Path
) -> list[Station]:
    """Return the calls of a turn that edits a cell of a notebook that a page has open."""
    (root / "a.ipynb").write_text(notebook(("c1", "x = 'saved'")))
    edit: JsonObject = {"path": "a.ipynb", "cell_id": "c1", "source": "x = 2"}
    upstream.script(
        reply(ToolUse(name="read_notebook", arguments={"path": "a.ipynb"})),
        "It has one cell.",
        reply(ToolUse(name="edit_cell", arguments=edit)),
        "Done.",
    )
    page.hello()
    await page.until("welcome")
    announce(page, "a.ipynb", UNSAVED)
    session = await api.new_session()
    async with api.stream(session) as stream:
        await api.send(session, "read it", "m1")
        reading = asyncio.create_task(answer_reads(page, UNSAVED))
        await stream.until(ENDED)
        with recorded_calls() as calls:
            await api.send(session, "change it", "m2")
            applied = await reading
            page.say(
                "document-applied",
                operation_id=applied["operation_id"],
                versions={"c1": cell_version("x = 2")},
                inverse=[],
            )
            await stream.until(ENDED, count=2)
    return calls


@pytest.mark.parametrize("title", ["A message", "A cell edit"])
def test_walks_name_at_most_twelve_stations_that_exist(title: str) -> None:
    stations = walk(title)
    assert 3 <= len(stations) <= MOST_STATIONS
    for station in stations:
        function = station.name.rpartition(".")[2]
        assert f"def {function}(" in (ROOT / station.path).read_text("utf-8"), station


async def test_a_turn_passes_the_stations_of_the_walks_in_order(
    api: Api, open_page: OpenPage, upstream: Simulator, jp_root_dir: Path
) -> None:
    calls = await edit_cell_in_page(api, await open_page(), upstream, jp_root_dir)
    for title in ("A message", "A cell edit"):
        stations = walk(title)
        missing = [station for station in stations if station not in calls]
        assert missing == []
        assert sorted(stations, key=calls.index) == stations
