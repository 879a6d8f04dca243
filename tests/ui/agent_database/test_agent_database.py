"""The agent's database in the lab: switched on, read as tables, sorted, paged, exported."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.forked_lab import ForkedLab
from tests.support.lab_server import Lab
from tests.ui.chat.test_chat_panel import THEMES, show_theme
from tests.ui.page_objects.lab_page import OpenNotebook
from tests.ui.support.accessibility_audit import audit

OPEN = "jupyter-ai-shoulders:open-agent-database"
MARKUP = "<img src=x onerror=alert(1)>"


def fill(path: Path) -> None:
    """Write the tables as an agent would have, with values that are hard to show."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE runs (id INTEGER PRIMARY KEY, loss REAL, note TEXT, raw)")
        connection.executemany(
            "INSERT INTO runs (loss, note, raw) VALUES (?, ?, ?)",
            [
                (0.5, MARKUP, b"\0\1\2"),
                (0.25, "", None),
                (None, "left\u202eright", 2**60),
                *((n / 1000, f"run {n}", n) for n in range(250)),
            ],
        )
        connection.execute("CREATE VIEW best AS SELECT min(loss) AS loss FROM runs")
        connection.commit()


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    root = tmp_path_factory.mktemp("database")
    started = ForkedLab(root, tmp_path_factory.mktemp("lab"))
    started.start()
    yield started
    started.stop()


def test_a_person_switches_it_on_and_reads_its_tables(lab: Lab, page: Page, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 1200, "height": 700})
    page.goto(lab.url("lab", reset=""))
    page.wait_for_function("() => window.jupyterapp?.restored !== undefined")
    page.evaluate("() => window.jupyterapp.restored")
    OpenNotebook(page).command(OPEN)
    shown = page.get_by_role("region", name="The agent’s database")
    expect(shown).to_contain_text("It is off.")
    assert not (lab.root / ".shoulders" / "agent.db").exists()
    page.screenshot(path=tmp_path / "off.png")
    shown.get_by_role("button", name="Switch on for this folder").click()
    expect(shown).to_contain_text("There are no tables yet.")

    fill(lab.root / ".shoulders" / "agent.db")
    shown.get_by_role("button", name="Read again").click()
    tables = shown.get_by_role("navigation", name="Tables")
    expect(tables.get_by_role("button")).to_have_count(2)
    tables.get_by_role("button", name="runs").click()
    expect(shown.get_by_role("status")).to_have_text("Rows 1 to 100 of 253")
    first = shown.locator("tbody tr")
    expect(first.nth(0).locator("td").nth(2)).to_have_text(MARKUP)
    expect(first.nth(0).locator("td").nth(3)).to_have_text("3 bytes")
    expect(first.nth(1).locator("td").nth(2)).to_have_text("empty text")
    expect(first.nth(1).locator("td").nth(3)).to_have_text("NULL")
    expect(first.nth(2).locator("td").nth(2)).to_have_text("left⟨U+202E⟩right")
    expect(first.nth(2).locator("td").nth(3)).to_have_text(str(2**60))
    for theme in THEMES:
        show_theme(page, theme)
        expect(page.locator("#jupyterlab-splash")).to_have_count(0)
        page.screenshot(path=tmp_path / f"{theme}.png")
        assert audit(shown) == []

    loss = shown.get_by_role("columnheader", name="loss")
    loss.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(loss).to_have_attribute("aria-sort", "ascending")
    page.keyboard.press("Enter")
    expect(loss).to_have_attribute("aria-sort", "descending")
    expect(first.nth(0).locator("td").nth(1)).to_have_text("0.5")
    shown.get_by_role("button", name="Next").click()
    expect(shown.get_by_role("status")).to_have_text("Rows 101 to 200 of 253")

    with page.expect_download() as started:
        shown.get_by_role("button", name="Export CSV").click()
    saved = tmp_path / "runs.csv"
    started.value.save_as(saved)
    lines = saved.read_text(encoding="utf-8").splitlines()
    assert lines[:3] == ["id,loss,note,raw", f"1,0.5,{MARKUP},000102", '2,0.25,"",']
    assert len(lines) == 254
    tables.get_by_role("button", name="best").click()
    expect(shown.get_by_role("status")).to_have_text("Rows 1 to 1 of 1")

    page.reload()
    expect(shown.get_by_role("navigation", name="Tables")).to_be_visible()
