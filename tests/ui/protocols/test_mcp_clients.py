"""Other programs read, edit and run a notebook that is open in a page with unsaved typing.

The SDK's client is always tried; programs from npm in the full run, where they are on the path.
Tried with Inspector 2.12, Claude Code 2.1, Codex 0.171 and Gemini CLI 0.61.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.protocols.mcp_clients.real_clients import CLIENTS, SECONDS, OurServer, RealClient
from tests.simulator_process import notebook
from tests.support.lab_server import Lab, StartLab
from tests.support.npm_programs import put_on_path
from tests.ui.page_objects.lab_page import OpenNotebook, Panel
from tests.ui.page_objects.review import Review
from tests.ui.support.notebook_scenario import ConversationApi

pytest.importorskip("mcp")
# The requests of the programs have fields that are not in the vendors' public types.
pytestmark = pytest.mark.malformed_requests

TYPED = "  # typed and not saved"
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGMwaDiAFTEMLQkAztVcAX2X"
    "hiIAAAAASUVORK5CYII="
)
"""A picture of 8 x 8 pixels."""
PLOT = f"""\
import base64
from IPython.display import Image
Image(base64.b64decode('{PNG[::-1]}'[::-1]))"""
"""Does not contain the picture as a client gets it."""
CELLS = (("a", "x = 1"), ("b", "y = 2"), ("c", "z = 3"), ("plot", PLOT))
CALLS = (
    ("read_notebook", {"path": "live.ipynb"}),
    ("edit_cell", {"path": "live.ipynb", "cell_id": "b", "source": "y = 20"}),
    ("edit_cell", {"path": "live.ipynb", "cell_id": "c", "source": "z = 30"}),
    ("run_cell", {"path": "live.ipynb", "cell_id": "plot"}),
)


def tried(client: RealClient, way: str) -> object:
    marks = [] if client.program is None else [pytest.mark.full]
    return pytest.param(client, way, id=f"{client.name}-{way}", marks=marks)


@pytest.fixture
def lab(start_lab: StartLab, tmp_path: Path) -> Lab:
    root = tmp_path / "root"
    root.mkdir()
    (root / "live.ipynb").write_text(notebook(*CELLS))
    return start_lab(root)


def reached(lab: Lab, way: str) -> OurServer:
    """Our server, by an access token of limited scope or through the command it prints."""
    url = lab.url().partition("?")[0]
    if way == "command":
        program = str(Path(sys.executable).with_name("jupyter-shoulders"))
        found = {"JUPYTER_RUNTIME_DIR": str(lab.state / "runtime")}
        return OurServer(url, lab.token, program, found)
    body = {"name": "Program", "scopes": ["read", "edit", "run"]}
    created = ConversationApi(lab).send("POST", "access-tokens", body)
    return OurServer(url, created["secret"])


def answer_questions(panel: Panel, api: ConversationApi, work: Future[str]) -> int:
    """Allow in the panel what is asked until the work is done; return the number of questions."""
    answered = set[str]()
    deadline = time.monotonic() + SECONDS
    while not work.done():
        assert time.monotonic() < deadline, f"{len(answered)} questions: {api.all()}"
        waiting = [each for each in api.all() if each["status"] == "waiting"]
        asked = [call for each in waiting for call in questions(api, each["id"])]
        if asked and asked[-1] not in answered:
            show(panel, waiting[0]["title"])
            panel.allow()
            answered.add(asked[-1])
        else:
            panel.page.wait_for_timeout(100)  # programs go at their own pace
    return len(answered)


def questions(api: ConversationApi, session: str) -> list[str]:
    """The calls of a conversation that were asked about."""
    events = api.api(f"sessions/{session}/events", limit="5000")["events"]
    return [each["call_id"] for each in events if each["type"] == "approval-request"]


def stop_all(api: ConversationApi) -> None:
    for each in api.all():
        if each["status"] in {"running", "waiting"}:
            api.send("POST", f"sessions/{each['id']}/cancel", {})


def show(panel: Panel, title: str) -> None:
    """Open the newest conversation of a program."""
    if panel.approval.is_visible():
        return
    panel.root.get_by_role("button", name="History").click()
    panel.root.locator(".shoulders-History-open", has_text=title).first.click()


@pytest.mark.parametrize(
    ("client", "way"),
    [tried(client, way) for client in CLIENTS for way in ("address", "command")],
)
def test_a_program_works_on_the_notebook_that_is_open(
    client: RealClient, way: str, lab: Lab, page: Page, tmp_path: Path
) -> None:
    if client.program is not None:
        put_on_path(client.program)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(lab.document_url("live.ipynb"))
    open_notebook = OpenNotebook(page).ready().save_as_the_lab_has_it()
    open_notebook.type_at_end("a", TYPED)
    panel = Panel(page).open()
    with ThreadPoolExecutor(1) as threads:
        work = threads.submit(client.use, reached(lab, way), CALLS, lab.root)
        api = ConversationApi(lab)
        try:
            answered = answer_questions(panel, api, work)
        except BaseException:
            stop_all(api)  # else the program waits for its answer, and this test for the program
            raise
        got = work.result()

    assert answered == 1  # for the run; edits of open notebooks are reviewed instead
    assert TYPED.strip() in got
    assert PNG[:40] in got
    assert open_notebook.source("a") == f"x = 1{TYPED}"
    expect(open_notebook.output("plot").locator("img")).to_be_visible()
    review = Review(page)
    review.keep(review.hunks(open_notebook.cell("b")).first)
    review.undo(review.hunks(open_notebook.cell("c")).first)
    open_notebook.wait_for_source("c", "z = 3")
    assert open_notebook.source("b") == "y = 20"
    assert open_notebook.source("a") == f"x = 1{TYPED}"
    review.is_over()
