"""The settings of MCP servers: add and test one, and review one that came with the folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.forked_lab import ForkedLab
from tests.support.lab_server import Lab
from tests.ui.page_objects.settings import SettingsPage

pytest.importorskip("mcp")

SERVER = Path(__file__).parents[2] / "mcp_client" / "sdk_server.py"
COMMAND = f"{sys.executable} {SERVER} stdio"
LONG_MS = 60_000


@pytest.fixture
def clone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A server on a folder that brings an MCP server."""
    root = tmp_path_factory.mktemp("clone")
    entry = {"command": sys.executable, "args": [str(SERVER), "stdio"]}
    (root / ".mcp.json").write_text(json.dumps({"mcpServers": {"shared": entry}}), "utf-8")
    lab = ForkedLab(root, tmp_path_factory.mktemp("lab"), folder_trust="ask")
    lab.start()
    yield lab
    lab.stop()


def card(settings: SettingsPage, name: str) -> Locator:
    """The card of one server."""
    return settings.provider(name)


def test_a_server_is_added_and_tested_and_one_of_the_folder_is_reviewed(
    clone: Lab, page: Page
) -> None:
    page.goto(clone.url("lab", reset=""))
    settings = SettingsPage(page).open("mcp")

    shared = card(settings, "shared")
    expect(shared).to_contain_text("waiting for you")
    expect(shared).to_contain_text(COMMAND)
    expect(shared.get_by_role("button", name="Test")).to_have_count(0)
    shared.get_by_role("button", name="Allow shared", exact=True).press("Enter")
    expect(shared).to_contain_text("not started")

    settings.root.get_by_role("button", name="Add server…").click()
    page.get_by_label("Command, address, or JSON entry").fill(f"KEY=${{PROBE_KEY}} {COMMAND}")
    page.get_by_label("Name", exact=True).fill("mine")
    settings.root.get_by_role("button", name="Add", exact=True).click()
    mine = card(settings, "mine")
    expect(mine).to_contain_text("needs a value")
    value = mine.get_by_label("PROBE_KEY")
    value.fill("a-secret-value")
    value.press("Enter")
    expect(mine).to_contain_text("not started")
    mine.get_by_role("button", name="Test mine").click()
    expect(mine.get_by_role("status")).to_contain_text("works", timeout=LONG_MS)
    expect(mine).to_contain_text("running")
    expect(mine).to_contain_text("tool")
    assert "a-secret-value" not in page.content()

    mine.get_by_role("switch", name="Use mine").click()
    expect(mine).to_contain_text("disabled")


def test_a_token_is_shown_once_and_revoked(clone: Lab, page: Page) -> None:
    page.goto(clone.url("lab", reset=""))
    settings = SettingsPage(page).open("access")
    settings.root.get_by_role("button", name="New token…").click()
    page.get_by_label("Name of the program").fill("Codex")
    settings.root.get_by_role("button", name="Create", exact=True).click()
    made = settings.root.get_by_role("region", name="Token for Codex")
    secret = made.locator("pre").inner_text()
    assert len(secret) > 20
    expect(settings.root.get_by_role("group", name="Entry for Claude Code")).to_contain_text(secret)
    made.get_by_role("button", name="Done").click()
    assert secret not in page.content()
    settings.root.get_by_role("button", name="Revoke Codex").click()
    page.locator(".jp-Dialog").get_by_role("button", name="Revoke").click()
    expect(settings.root.get_by_role("button", name="Revoke Codex")).to_have_count(0)
