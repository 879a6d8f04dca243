"""Packages whose tools load late, or never."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest

from jupyter_ai_shoulders.host.tools import installed_packages
from jupyter_ai_shoulders.host.tools.installed_packages import InstalledTools, ToolInstallTarget
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from tests.support.fake_distribution import install_distribution
from tests.test_docs import ROOT, blocks

(_, EXAMPLE) = blocks(ROOT / "docs" / "write-a-tool.md", "python")
GATE = "gate_of_a_test"


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Generator[threading.Event]:
    """Blocks the import of a package; opened at the end, so that its thread ends."""
    module = ModuleType(GATE)
    opened = threading.Event()
    module.__dict__["wait"] = opened.wait
    monkeypatch.setitem(sys.modules, GATE, module)
    yield opened
    opened.set()


def tools(registry: ToolRegistry, changed: asyncio.Event, patience: float) -> InstalledTools:
    return InstalledTools(
        cast("Any", type("Ports", (), {"texts": None})),
        ToolInstallTarget(registry, registry, list),
        allowed=None,
        changed=changed.set,
        redact=lambda text: text,
        timeout=patience,
    )


async def test_a_slow_package_is_not_waited_for_and_its_tools_come_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gate: threading.Event
) -> None:
    install_distribution(
        tmp_path, monkeypatch, name="slow", source=f"import {GATE}\n{GATE}.wait()\n{EXAMPLE}"
    )
    registry, changed = ToolRegistry([]), asyncio.Event()
    installed = tools(registry, changed, patience=0)

    await installed.load()
    early = (registry.names("full"), [error.message for error in installed.errors()])
    gate.set()
    async with asyncio.timeout(60):
        await installed.settled()

    assert early[0] == ()
    assert "Still loading" in early[1][0]
    assert registry.names("full") == ("count_lines",)
    assert registry.package_of("count_lines") == "slow"
    assert changed.is_set()
    assert installed.errors() == ()


async def test_what_comes_after_the_end_is_not_taken_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gate: threading.Event
) -> None:
    install_distribution(
        tmp_path, monkeypatch, name="slow", source=f"import {GATE}\n{GATE}.wait()\n{EXAMPLE}"
    )
    registry = ToolRegistry([])
    installed = tools(registry, asyncio.Event(), patience=0)

    await installed.load()
    installed.close()
    gate.set()
    async with asyncio.timeout(60):
        await installed.settled()

    assert registry.names("full") == ()


async def test_a_tool_of_a_package_reaches_the_registries_that_were_made_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_distribution(tmp_path, monkeypatch, name="acme", source=EXAMPLE)
    registry = ToolRegistry([])
    whole = registry.extended([])
    assert registry.names("full") == whole.names("full") == ()

    await tools(registry, asyncio.Event(), patience=60).load()

    assert registry.names("full") == whole.names("full") == ("count_lines",)
    assert [info.description for info in whole.infos({})] == [
        "Counts the lines of a text file of the workspace, by its `path`."
    ]


BROKEN = f"""{EXAMPLE}
class Nameless(CountLines):
    @property
    def name(self):
        raise OSError("no name")


class Shifting(CountLines):
    name = "shifting"
    asked = 0

    @property
    def description(self):
        self.asked += 1
        return "Text." if self.asked == 1 else None


def tools_and_broken(ports):
    return [Nameless(ports.texts), Shifting(ports.texts), *tools(ports)]
"""


async def test_a_tool_that_breaks_when_it_is_looked_at_costs_itself_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = "acme:tools_and_broken"
    install_distribution(tmp_path, monkeypatch, name="acme", source=BROKEN, target=target)
    registry = ToolRegistry([])
    installed = tools(registry, asyncio.Event(), patience=60)

    await installed.load()

    assert registry.names("full") == ("count_lines",)
    nameless, shifting = (error.message for error in installed.errors())
    assert "'Nameless', is not used: it cannot be looked at: OSError: no name" in nameless
    assert "is not used: it cannot be looked at: AttributeError" in shifting


async def test_packages_that_cannot_be_searched_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def search(**_: str) -> None:
        raise RuntimeError("broken metadata")

    monkeypatch.setattr(installed_packages, "entry_points", search)
    installed = tools(ToolRegistry([]), asyncio.Event(), patience=60)

    await installed.load()

    (error,) = installed.errors()
    assert "The installed packages could not be loaded: RuntimeError: broken metadata" in (
        error.message
    )
