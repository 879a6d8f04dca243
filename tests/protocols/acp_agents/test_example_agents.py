"""The example agents of the official SDKs, in Python and TypeScript, in a conversation.

They are in no installed package, so that pip and npm fetch the releases that have them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import pytest

from tests.engine.log_invariants import check_contexts, check_log
from tests.host.external_agents.agent_workspace import AgentWorkspace, agent_workspace
from tests.support.npm_programs import SECONDS

pytestmark = [pytest.mark.full, pytest.mark.timeout(180)]
TYPESCRIPT = "@agentclientprotocol/sdk@1.2.0"
"""Later releases have no examples."""


def fetch(words: Sequence[str], folder: Path) -> Path:
    """Run a package manager that writes an archive into a folder; return what it unpacks to."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(words, check=True, cwd=folder, timeout=SECONDS, stdout=subprocess.DEVNULL)
    [archive] = [path for path in folder.iterdir() if path.suffix in {".gz", ".tgz"}]
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    [unpacked] = [path for path in folder.iterdir() if path.is_dir()]
    return unpacked


def python_example(name: str, folder: Path) -> list[str]:
    release = f"agent-client-protocol=={version('agent-client-protocol')}"
    options = ("--no-deps", "--no-binary", ":all:")
    found = fetch([sys.executable, "-m", "pip", "download", *options, release], folder)
    return [sys.executable, str(found / "examples" / name)]


def typescript_example(folder: Path) -> list[str]:
    npm = shutil.which("npm")
    node = shutil.which("node")
    assert npm is not None
    assert node is not None
    options = ("--silent", "--no-audit", "--no-fund", "--prefix", str(folder))
    folder.mkdir()
    subprocess.run([npm, "install", *options, TYPESCRIPT], check=True, timeout=SECONDS)
    package = folder / "node_modules" / "@agentclientprotocol" / "sdk"
    return [node, str(package / "dist" / "examples" / "agent.js")]


@asynccontextmanager
async def example(words: list[str], folder: Path) -> AsyncGenerator[AgentWorkspace]:
    """A conversation with an example."""
    async with agent_workspace(folder, mode="ask", command=words) as here:
        yield here
        check_log(here.events())
        check_contexts(here.events(), here.host.blobs)


@pytest.mark.parametrize("name", ["agent.py", "echo_agent.py"])
async def test_an_example_in_python_answers(name: str, tmp_path: Path) -> None:
    words = python_example(name, tmp_path / "example")
    async with example(words, tmp_path) as here:
        assert "marmot" in await here.turn(text="marmot")
        assert "ibex" in await here.turn(text="ibex")


@pytest.mark.parametrize(
    ("decision", "said"),
    [("allow", "successfully updated the configuration"), ("deny", "skip the configuration")],
)
async def test_the_example_in_typescript_asks(
    decision: Literal["allow", "deny"], said: str, tmp_path: Path
) -> None:
    words = typescript_example(tmp_path / "example")
    async with example(words, tmp_path) as here:
        end = await here.turn_with_answers(("say", "Please"), decision=decision)
        assert end.error is None
        assert said in here.said()
        shown = [event for event in here.events() if event.type == "agent-activity"]
        assert {event.activity_id for event in shown} == {"call_1", "call_2"}
        assert len([event for event in here.events() if event.type == "approval-request"]) == 1
