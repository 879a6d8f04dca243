"""MCP servers in the browser, behind a hub's prefix: added, called, asking, attached, signed in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.mcp_client.probes import accepts
from tests.simulator_process import SimulatorProcess, calls, in_order, says
from tests.support.lab_server import Lab, StartLab, free_port
from tests.ui.chat.test_chat_panel import THEMES, show_theme
from tests.ui.page_objects.lab_page import Panel
from tests.ui.page_objects.settings import SettingsPage
from tests.ui.support.accessibility_audit import audit
from tests.ui.support.notebook_scenario import ConversationApi

pytest.importorskip("mcp")

SERVERS = Path(__file__).parents[2] / "mcp_client"
ASKING = SERVERS / "asking_server.py"
PICTURES = os.environ.get("SHOULDERS_PICTURES")
LOAD = calls("load_tools", {"category": "mcp__travel"})
LONG_MS = 60_000


def tool(name: str, **arguments: str) -> dict[str, object]:
    """A reply that calls a tool of the server."""
    return calls("call_tool", {"name": f"mcp__travel__{name}", "arguments": arguments})


@dataclass(frozen=True)
class Scene:
    """A page of a server as a hub starts it, and its model."""

    lab: Lab
    upstream: SimulatorProcess
    page: Page
    panel: Panel

    @property
    def last(self) -> Locator:
        """The agent's last message."""
        return self.panel.answers.last

    def ask(self, text: str, *replies: dict[str, object]) -> None:
        """Send a message that the model answers so; allow the first question about a call."""
        self.upstream.play(in_order(*replies, says(f"Done: {text}")))
        self.panel.ask(text)
        self.panel.allow()

    def finished(self, text: str) -> None:
        """Wait for the answer to a message."""
        expect(self.last).to_contain_text(f"Done: {text}")
        self.panel.finished()

    def take_pictures(self, name: str) -> None:
        """Take a screenshot in each theme, if they are wanted."""
        if PICTURES is not None:
            for theme in THEMES:
                show_theme(self.page, theme)
                expect(self.page.locator("#jupyterlab-splash")).to_have_count(0)
                self.page.screenshot(path=f"{PICTURES}-{name}-{theme.split()[-1].lower()}.png")


@pytest.fixture
def scene(
    start_lab: StartLab, page: Page, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Scene]:
    root = tmp_path_factory.mktemp("workspace")
    upstream = SimulatorProcess(in_order(), tmp_path_factory.mktemp("upstream")).start()
    lab = start_lab(root, env=upstream.configure(root), base_url="/user/ada/")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(lab.url("lab", reset=""))
    yield Scene(lab, upstream, page, Panel(page))
    upstream.stop()


@contextmanager
def guarded_server() -> Generator[str]:
    """Run the protected server with its authorisation server; yield its address."""
    port = free_port()
    command = [sys.executable, str(SERVERS / "oauth_server.py"), str(port)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while not accepts(port):
            assert time.monotonic() < deadline
            time.sleep(0.05)  # another process decides
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


def add(settings: SettingsPage, name: str, target: str) -> Locator:
    """Add a server in the settings; return its card."""
    settings.root.get_by_role("button", name="Add server…").click()
    settings.page.get_by_label("Command, address, or JSON entry").fill(target)
    settings.page.get_by_label("Name", exact=True).fill(name)
    settings.root.get_by_role("button", name="Add", exact=True).click()
    return settings.provider(name)


def test_a_server_is_added_called_asks_and_is_attached(scene: Scene, page: Page) -> None:
    settings = SettingsPage(page).open("mcp")
    mine = add(settings, "travel", f"{sys.executable} {ASKING}")
    mine.get_by_role("button", name="Test travel").click()
    expect(mine.get_by_role("status")).to_contain_text("works", timeout=LONG_MS)
    scene.take_pictures("settings")
    panel = scene.panel.open()

    scene.upstream.play(in_order(LOAD, tool("picture"), says("Done: Draw it.")))
    panel.ask("Draw it.")
    expect(panel.approval).to_contain_text("picture")
    expect(panel.approval).to_contain_text("travel")
    scene.take_pictures("approval")
    panel.allow()
    scene.finished("Draw it.")
    scene.last.get_by_role("button", name="picture").click()
    expect(scene.last.locator("img")).to_be_visible()
    expect(scene.last.get_by_role("button", name="Undo this turn")).to_have_count(0)
    scene.take_pictures("picture")

    scene.ask("Book it.", tool("book"))
    card = panel.root.get_by_role("group", name="The MCP server travel is asking")
    expect(card).to_contain_text("Where do you want to go?")
    scene.take_pictures("question")
    assert audit(panel.root) == []
    card.get_by_role("textbox").fill("Oslo")
    card.get_by_role("button", name="Send").click()
    scene.finished("Book it.")
    [result] = [
        event for event in ConversationApi(scene.lab).of_type("tool-result") if "Oslo" in str(event)
    ]
    assert result["status"] == "ok"

    mine.get_by_role("button", name="Edit travel").click()
    mine.get_by_role("switch", name="May ask for your model").check()
    scene.take_pictures("edit")
    mine.get_by_role("button", name="Save").click()
    expect(mine).to_contain_text("may ask for your model")
    text = "The trains to Oslo are late, because of the snow on the line. " * 20
    replies = (tool("summarize", text=text), says("Trains are late."))
    scene.ask("Sum it up.", *replies)
    expect(card.last).to_contain_text("wants to send this text to Simulated, at your expense")
    scene.take_pictures("sampling")
    assert audit(panel.root) == []
    card.last.get_by_role("button", name="Yes").click()
    scene.finished("Sum it up.")
    scene.last.get_by_role("button", name="summarize").click()
    expect(scene.last).to_contain_text("Trains are late. (simulated, endTurn)")
    scene.take_pictures("sampled")

    panel.input.press_sequentially("@meet")
    panel.root.get_by_role("option", name="meeting").click()
    expect(panel.root.locator(".shoulders-Chip")).to_contain_text("meeting")
    scene.take_pictures("resource")
    panel.input.fill("")
    panel.input.press_sequentially("/rev")
    panel.root.get_by_role("option", name="travel:review").click()
    panel.root.get_by_label("topic").fill("the minutes")
    scene.take_pictures("prompt")
    panel.root.get_by_role("button", name="Insert").click()
    expect(panel.input).to_have_value("Review the minutes with care.")
    scene.upstream.play(in_order(says("Reviewed.")))
    panel.input.press("Enter")
    expect(scene.last).to_contain_text("Reviewed.")
    [sent] = scene.upstream.requests()
    assert "We meet on Monday." in json.dumps(sent)


def test_a_user_signs_in_behind_a_hub(scene: Scene, page: Page) -> None:
    with guarded_server() as url:
        settings = SettingsPage(page).open("mcp")
        guarded = add(settings, "guarded", url)
        guarded.get_by_role("button", name="Test guarded").click()
        expect(guarded).to_contain_text("needs sign-in")
        scene.take_pictures("sign-in")
        with page.expect_popup() as opened:
            guarded.get_by_role("button", name="Sign in").click()
        done = opened.value
        expect(done.locator("body")).to_contain_text("signed in at guarded")
        assert done.url.startswith(
            f"http://127.0.0.1:{scene.lab.port}/user/ada/shoulders/api/v1/mcp/oauth/callback"
        )
        done.close()
        page.bring_to_front()
        guarded.get_by_role("button", name="Test guarded").click()
        expect(guarded.get_by_role("status")).to_contain_text("works", timeout=LONG_MS)
        scene.take_pictures("signed-in")
