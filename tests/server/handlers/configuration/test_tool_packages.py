"""Tools of other installed packages, on a real server and in real turns."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
from traitlets.config import Config

from tests.server.client import NO_RULES, Api
from tests.server.handlers.sessions.test_user_responses_api import settled
from tests.simulator import Simulator, ToolUse, reply
from tests.support.fake_distribution import GROUP, install_distribution
from tests.test_docs import ROOT, blocks

DOCUMENT = ROOT / "docs" / "write-a-tool.md"
(_, EXAMPLE) = blocks(DOCUMENT, "python")
"""``acme_tools`` with ``count_lines``."""
BUGGY = EXAMPLE.replace("snapshot = await", "1 / 0  #")
WRITER = EXAMPLE.replace('risk = "read"', 'risk = "write"')

Brought = Mapping[str, str]
"""The source of each package, by its name."""
ACME = {"acme-tools": EXAMPLE}


@pytest.fixture
def brought() -> Brought:
    """The installed packages; tests override them."""
    return ACME


@pytest.fixture
def chosen() -> list[str] | None:
    """The administrator's choice among them; tests override it."""
    return None


@pytest.fixture
def jp_server_config(
    jp_server_config: Config,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    brought: Brought,
    chosen: list[str] | None,
) -> Config:
    """Install the packages before the server starts."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    for name, source in brought.items():
        install_distribution(folder, monkeypatch, name=name, source=source)
    jp_server_config["Shoulders"]["tool_packages"] = chosen
    return jp_server_config


async def tool_names(api: Api) -> set[str]:
    return {tool["name"] for tool in (await api.get("tools")).body["tools"]}


async def package_errors(api: Api) -> list[str]:
    return [error["message"] for error in (await api.get("status")).body["package_errors"]]


def test_the_entry_point_of_the_documents_is_the_one_that_is_read() -> None:
    (example,) = blocks(DOCUMENT, "toml")
    assert tomllib.loads(example)["project"]["entry-points"] == {
        GROUP: {"acme": "acme_tools:tools"}
    }


async def test_a_tool_of_a_package_is_offered_and_runs(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    (jp_root_dir / "poem.md").write_text("Penguins\nswim\n")
    upstream.script(reply(ToolUse(name="count_lines", arguments={"path": "poem.md"})), "Two.")

    events = await api.run(await api.new_session(), "How many lines?")

    assert await package_errors(api) == []
    offered = {tool["name"]: tool for tool in upstream.requests[0].body["tools"]}
    assert offered["count_lines"]["description"].startswith("Counts the lines")
    assert offered["count_lines"]["input_schema"]["required"] == ["path"]
    (call,) = [event for event in events if event["type"] == "tool-call"]
    assert (call["package"], call["risk"], call["title"]) == (
        "acme-tools",
        "read",
        "Count the lines",
    )
    (result,) = [event for event in events if event["type"] == "tool-result"]
    assert (result["status"], result["result"]["data"]) == ("ok", {"lines": 2})


async def test_arguments_of_a_packages_tool_are_checked(api: Api, upstream: Simulator) -> None:
    upstream.script(reply(ToolUse(name="count_lines", arguments={"file": "poem.md"})), "Sorry.")

    events = await api.run(await api.new_session(), "How many lines?")

    (result,) = [event for event in events if event["type"] == "tool-result"]
    assert result["status"] == "error"
    assert result["result"]["error"]["code"] == "invalid_arguments"


@pytest.mark.parametrize("brought", [{"acme-tools": WRITER}])
async def test_a_packages_tool_that_writes_asks_and_can_be_denied(
    api: Api, upstream: Simulator
) -> None:
    upstream.script(reply(ToolUse(name="count_lines", arguments={"path": "poem.md"})), "Right.")
    session_id = await api.new_session()
    await api.send(session_id, "Write it")
    events = await settled(api, session_id, "waiting")
    (request,) = [event for event in events if event["type"] == "approval-request"]

    answer = await api.post(
        f"sessions/{session_id}/approvals/{request['call_id']}", {"decision": "deny"}
    )
    events = await settled(api, session_id, "idle")

    assert answer.status == 202
    (result,) = [event for event in events if event["type"] == "tool-result"]
    assert result["status"] == "denied"


async def test_a_packages_tool_that_is_switched_off_is_not_offered(
    api: Api, upstream: Simulator
) -> None:
    upstream.script("No.")
    await api.put("tools/permissions", NO_RULES | {"disabled": ["count_lines"], "rules": []})

    await api.run(await api.new_session(), "How many lines?")

    assert "count_lines" not in {tool["name"] for tool in upstream.requests[0].body["tools"]}


async def test_what_a_packages_tool_reads_is_a_strangers_text(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    (jp_root_dir / "poem.md").write_text("Penguins\n")
    allow = {"action": "allow", "tool": "create_file"}
    await api.put("tools/permissions", NO_RULES | {"disabled": [], "rules": [allow]})
    upstream.script(
        reply(ToolUse(name="count_lines", arguments={"path": "poem.md"})),
        reply(ToolUse(name="create_file", arguments={"path": "x.md", "content": "x"})),
        "Done.",
    )
    session_id = await api.new_session(toolset="workspace")

    await api.send(session_id, "Count, then write")
    events = await settled(api, session_id, "waiting")

    (request,) = [event for event in events if event["type"] == "approval-request"]
    assert "poem.md" in str(request)


@pytest.mark.parametrize("brought", [{"acme-tools": BUGGY}])
async def test_a_bug_in_a_packages_tool_ends_its_turn_alone(api: Api, upstream: Simulator) -> None:
    upstream.script(reply(ToolUse(name="count_lines", arguments={"path": "poem.md"})), "Hello.")
    session_id = await api.new_session()

    events = await api.run(session_id, "How many lines?")
    again = await api.run(await api.new_session(), "Hello", "m2")

    assert [event["exit"] for event in events if event["type"] == "turn-end"] == ["error"]
    assert [event["exit"] for event in again if event["type"] == "turn-end"] == ["final_response"]


BROKEN = {
    "import": ("import no_such_module_of_acme\n", "ModuleNotFoundError"),
    "exit": ("raise SystemExit(3)\n", "SystemExit: 3"),
    "no function": ("", "AttributeError"),
    "raises": ("def tools(ports):\n    raise ValueError('no licence')\n", "no licence"),
    "nothing": ("def tools(ports):\n    return None\n", "TypeError"),
    "half a tool": (EXAMPLE.replace('risk = "read"', 'risk = "harmless"'), "has no risk of"),
    "a taken name": (EXAMPLE.replace("count_lines", "read_file"), "own tools"),
}


@pytest.mark.parametrize(
    ("brought", "text"),
    [({"broken-tools": source, **ACME}, text) for source, text in BROKEN.values()],
    ids=BROKEN.keys(),
)
async def test_a_broken_package_is_reported_and_the_others_work(
    api: Api, upstream: Simulator, text: str
) -> None:
    upstream.script("Hello.")

    events = await api.run(await api.new_session(), "Hello")

    assert events[-1]["type"] != "error"
    (message,) = await package_errors(api)
    assert "broken-tools 1.0" in message
    assert text in message
    assert "count_lines" in await tool_names(api)
    own = next(t for t in (await api.get("tools")).body["tools"] if t["name"] == "read_file")
    assert own["category"] == "workspace"


@pytest.mark.parametrize("brought", [{"zeta-tools": WRITER, **ACME}])
async def test_of_two_packages_with_one_name_the_second_is_refused(api: Api) -> None:

    (message,) = await package_errors(api)

    assert "zeta-tools" in message
    assert "the name of a tool of acme-tools" in message
    (tool,) = [t for t in (await api.get("tools")).body["tools"] if t["name"] == "count_lines"]
    assert tool["risk"] == "read"


@pytest.mark.parametrize("chosen", [["Zeta_Tools"], []], ids=["one", "none"])
@pytest.mark.parametrize("brought", [{"acme-tools": "raise SystemExit", "zeta-tools": EXAMPLE}])
async def test_packages_that_are_not_chosen_are_not_even_imported(
    api: Api, chosen: list[str]
) -> None:
    assert await package_errors(api) == []
    assert ("count_lines" in await tool_names(api)) is bool(chosen)
