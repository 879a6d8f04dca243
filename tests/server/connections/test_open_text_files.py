"""The agent reads and edits a text that a page has open in its editor, over the page socket."""

from pathlib import Path
from typing import Any

from jupyter_ai_shoulders.wire.versions import text_version
from tests.server.client import ENDED, Api, PageClient
from tests.server.conftest import OpenPage
from tests.simulator import Simulator, ToolUse, reply

SAVED = "x = 'saved'\n"
UNSAVED = "x = 'typed and not saved'\n"
EDITED = "y = 'typed and not saved'\n"


def announce(page: PageClient, path: str, text: str) -> None:
    page.say(
        "text-open",
        path=path,
        claim_epoch=1,
        version=text_version(text),
        dirty=True,
        writable=True,
        saved_at=None,
    )


async def answer(page: PageClient, text: str) -> dict[str, Any]:
    """Answer every read until the page gets a change, and accept that."""
    while True:
        frame = await page.next()
        assert frame is not None
        if frame["type"] == "text-read":
            page.say(
                "text-content",
                operation_id=frame["operation_id"],
                path=frame["path"],
                text=text,
                dirty=True,
            )
        if frame["type"] == "text-apply":
            page.say(
                "text-applied",
                operation_id=frame["operation_id"],
                version=text_version(frame["text"]),
                saves=False,
            )
            return frame


async def test_the_agent_edits_the_text_of_the_page_and_not_the_file(
    api: Api, open_page: OpenPage, upstream: Simulator, jp_root_dir: Path
) -> None:
    file = jp_root_dir / "a.py"
    file.write_text(SAVED)
    upstream.script(
        reply(ToolUse(name="read_document", arguments={})),
        reply(ToolUse(name="edit_document", arguments={"find": "x", "replace": "y"})),
        "Done.",
    )
    page = await open_page()
    page.hello()
    await page.until("welcome")
    announce(page, "a.py", UNSAVED)
    session_id = await api.new_session()

    async with api.stream(session_id) as stream:
        message = {"id": "m1", "text": "change it", "context": {"active_document": "a.py"}}
        await api.post(f"sessions/{session_id}/messages", message)
        apply = await answer(page, UNSAVED)
        await stream.until(ENDED)

    results = [event for event in await api.events(session_id) if event["type"] == "tool-result"]
    assert [result["status"] for result in results] == ["ok", "ok"]
    assert UNSAVED.strip() in results[0]["content"][0]["text"]
    assert (apply["expected"], apply["text"]) == (text_version(UNSAVED), EDITED)
    assert file.read_text() == SAVED


async def test_a_text_outside_the_workspace_is_refused(open_page: OpenPage) -> None:
    page = await open_page()
    page.hello()
    await page.until("welcome")
    announce(page, "../outside.py", "x")
    error = (await page.until("frame-error"))["error"]
    assert error["code"] == "outside_workspace"
