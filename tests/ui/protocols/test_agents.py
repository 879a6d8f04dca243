"""An agent of others in the panel: it is chosen, works, asks, writes, is stopped and read again."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.lab_server import StartLab
from tests.ui.chat.test_chat_panel import THEMES, show_theme
from tests.ui.page_objects.lab_page import Panel
from tests.ui.support.accessibility_audit import audit
from tests.ui.support.notebook_scenario import ConversationApi

AGENT = Path(__file__).parents[2] / "simulator" / "acp_agent.py"
PICTURES = os.environ.get("SHOULDERS_PICTURES")


@dataclass(frozen=True)
class AgentScenario:
    """A server with the scripted agent, its page, and a conversation with the agent."""

    root: Path
    api: ConversationApi
    panel: Panel

    def tell(self, *steps: Sequence[Any]) -> None:
        """Have the agent do these steps."""
        self.panel.ask(f"DO: {json.dumps(steps)}")

    @property
    def last(self) -> Locator:
        """The agent's last message."""
        return self.panel.answers.last


@pytest.fixture
def agents(start_lab: StartLab, page: Page, tmp_path: Path) -> AgentScenario:
    """The scripted agent and one that is not installed, with the first one chosen."""
    root, kept = tmp_path / "root", tmp_path / "agent"
    root.mkdir()
    kept.mkdir()
    entries = {
        "scripted": {"command": [sys.executable, str(AGENT), str(kept)], "title": "Scripted"},
        "missing": {
            "command": ["no-such-agent"],
            "title": "Missing",
            "install": "npm install -g no-such-agent",
        },
    }
    (root / "data.txt").write_text("one\ntwo\n")
    environment = {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    argument = f"--Shoulders.acp_agents={entries!r}"
    lab = start_lab(root, args=[argument], env=environment)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(lab.url("lab", reset=""))
    panel = Panel(page).open()
    return AgentScenario(root, ConversationApi(lab), panel)


def choose(panel: Panel, agent: str) -> None:
    panel.root.locator(".shoulders-ModelPicker > button").click()
    panel.root.get_by_role("option", name=agent, exact=True).click()


def test_an_agent_works_in_the_panel(agents: AgentScenario, page: Page) -> None:
    panel, path = agents.panel, str(agents.root / "data.txt")
    _offers_to_install(panel, page)
    choose(panel, "Scripted")
    diff = {"type": "diff", "path": path, "oldText": "one\ntwo\n", "newText": "one\nTWO\n"}
    agents.tell(
        ("think", "I look first."),
        ("plan", [["Look", True], ["Act", False]]),
        ("tool", {"toolCallId": "t", "title": "Edit data.txt", "kind": "edit", "content": [diff]}),
        ("tool", {"toolCallId": "t", "status": "completed"}),
        ("ask", {"toolCallId": "m", "title": "Run make", "rawInput": {"command": "make all"}}),
        ("say", "Asked."),
    )
    expect(panel.approval).to_contain_text("make all")
    _take_pictures(page, "asks")
    panel.allow()
    panel.finished()
    expect(agents.last).to_contain_text("[allow_once]Asked.")
    expect(panel.root.get_by_role("region", name="Checklist")).to_contain_text("1 of 2 done")
    agents.last.get_by_role("button", name="Edit data.txt").click()
    expect(agents.last.locator(".shoulders-Diff")).to_contain_text("TWO")
    panel.root.get_by_role("button", name="Options of the agent: Ask").click()
    dialog = panel.root.get_by_role("dialog", name="Options of the agent")
    expect(dialog.get_by_role("combobox", name="Mode")).to_have_value("ask")
    page.keyboard.press("Escape")
    assert audit(panel.root) == []
    _take_pictures(page, "worked")

    page.reload()
    expect(agents.last).to_contain_text("[allow_once]Asked.")
    expect(agents.last.get_by_role("button", name="Edit data.txt")).to_be_visible()


def test_a_write_is_undone_and_a_command_and_a_stop_are_shown(
    agents: AgentScenario, page: Page
) -> None:
    panel, path = agents.panel, agents.root / "data.txt"
    choose(panel, "Scripted")
    agents.tell(("read", str(path)), ("write", str(path), "one\nTWO\n"), ("say", "Written."))
    panel.allow()
    panel.finished()
    assert path.read_text() == "one\nTWO\n"
    page.get_by_role("button", name="Undo all", exact=True).click()
    assert agents.api.wait_for_event("edit-resolve")
    assert path.read_text() == "one\ntwo\n"

    agents.tell(("run", "echo from the sandbox"))
    panel.allow()
    panel.finished()
    expect(agents.last).to_contain_text("[exit 0: from the sandbox]")

    agents.tell(("hang",))
    expect(agents.last).to_contain_text("waiting")
    page.keyboard.press("Escape")
    panel.finished()
    agents.tell(("recall",))
    panel.finished()
    expect(agents.last).to_contain_text("4 messages")


def _offers_to_install(panel: Panel, page: Page) -> None:
    panel.root.locator(".shoulders-ModelPicker > button").click()
    panel.root.get_by_label("Search models").fill("Missing")
    expect(panel.root.get_by_role("option", name="Missing")).to_contain_text(
        "npm install -g no-such-agent"
    )
    page.keyboard.press("Escape")


def _take_pictures(page: Page, name: str) -> None:
    if PICTURES is None:
        return
    for theme in THEMES:
        show_theme(page, theme)
        page.screenshot(path=f"{PICTURES}-{name}-{theme.split()[-1].lower()}.png")
