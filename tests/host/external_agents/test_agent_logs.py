"""Logs of turns that an agent leads: whole wherever the agent dies, and their edits undone.

A server that dies at each append is the scenario "agent of others" of ``tests.crash_sweep``.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from jupyter_ai_shoulders.wire import frames
from jupyter_ai_shoulders.wire.api.commands import DecideEdit
from jupyter_ai_shoulders.wire.events import TurnEnd
from jupyter_ai_shoulders.wire.ids import ClientId
from tests.engine.log_invariants import check_contexts, check_log
from tests.files.open_files.fake_text_page import TextPage
from tests.host.external_agents.agent_workspace import AgentWorkspace, agent_workspace
from tests.host.test_build import NoPages

STEPS = (
    ("think", "Hm."),
    ("plan", [["Look", True], ["Act", False]]),
    ("tool", {"toolCallId": "t", "title": "Try it", "kind": "execute"}),
    ("ask", {"toolCallId": "t", "rawInput": {"command": "true"}}),
    ("read", "a.txt"),
    ("write", "{name}", "two\n"),
    ("tool", {"toolCallId": "t", "status": "completed"}),
)
MESSAGES = 10
"""Updates and requests that the agent sends in these steps."""


async def test_the_log_is_whole_wherever_the_agent_dies(tmp_path: Path) -> None:
    variants = {f"a{at}": {"ACP_DIE_AT": str(at)} for at in range(1, MESSAGES + 2)}
    async with agent_workspace(tmp_path, variants=variants) as here:
        (here.root / "a.txt").write_text("one\n")
        ends = [await _killed_turn(here.another(name), f"{name}.txt") for name in variants]

    assert [end.error is None for end in ends] == [False] * MESSAGES + [True]


async def _killed_turn(here: AgentWorkspace, name: str) -> TurnEnd:
    """Play the turn, check what is left, and go on."""
    steps = [tuple(name if part == "{name}" else part for part in step) for step in STEPS]
    end = await here.turn_with_answers(*steps)
    changed = [change.document for change in here.view().changes]
    assert changed == ([name] if (here.root / name).exists() else [])
    await here.turn(("recall",))
    check_log(here.events())
    check_contexts(here.events(), here.host.blobs)
    return end


class TextPages(NoPages):
    """Pages with one text file."""

    def __init__(self) -> None:
        self.page: TextPage | None = None

    def send(self, client_id: ClientId, frame: frames.ServerFrame) -> None:
        """Pass a frame to the page."""
        if self.page is not None:
            self.page.hear(frame)


async def test_typing_in_an_open_page_survives_an_agents_write_and_its_undo(
    tmp_path: Path,
) -> None:
    pages = TextPages()
    async with agent_workspace(tmp_path, pages=pages) as here:
        file = here.root / "a.txt"
        file.write_text("one\ntwo\nthree\n")
        pages.page = page = TextPage(here.host.files.live, file, ClientId("page_1"), "a.txt")
        page.open()
        await here.turn(("read", "a.txt"))
        page.type("one\ntwo\nthree\nmine\n")

        assert await here.turn(("write", "a.txt", "one\nTWO\nthree\n")) == "[written]"
        assert page.text == "one\nTWO\nthree\nmine\n"
        page.type("one\nTWO\nthree\nmine\nmore\n")

        [edit] = (await here.host.review.list()).edits
        async with asyncio.timeout(10):
            await here.host.review.decide(edit.id, DecideEdit(decision="undo"))
        assert page.text == "one\ntwo\nthree\nmine\nmore\n"
        assert page.dirty
        assert file.read_text() == "one\ntwo\nthree\n"
