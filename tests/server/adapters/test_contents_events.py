"""References to a notebook follow a rename in the contents manager."""

from pathlib import Path

from tests.server.client import Fetch
from tests.server.conftest import OpenPage
from tests.server.connections.test_open_notebooks import UNSAVED, announce
from tests.simulator_process import notebook


async def test_unsaved_text_follows_a_renamed_directory(
    jp_fetch: Fetch, open_page: OpenPage, jp_root_dir: Path
) -> None:
    (jp_root_dir / "old").mkdir()
    (jp_root_dir / "old" / "n.ipynb").write_text(notebook(("c1", "x = 1")), encoding="utf-8")
    asleep = await open_page()
    asleep.hello()
    announce(asleep, "old/n.ipynb", UNSAVED)
    asleep.say_text("no frame")
    await asleep.until("frame-error")  # its earlier frames were handled
    asleep.close()
    await jp_fetch("api", "contents", "old", method="PATCH", body='{"path": "new"}')
    page = await open_page()
    page.hello(client_id="second")
    announce(page, "new/n.ipynb", "x = 1")
    offer = await page.until("document-recovery")
    assert offer["path"] == "new/n.ipynb"
    assert [cell["source"] for cell in offer["cells"]] == [UNSAVED]
