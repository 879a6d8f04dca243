"""Programs of a server that get providers' keys, by ``Shoulders.keys_from_kernels``."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from jupyter_server.serverapp import ServerApp
from traitlets.config import Config

from tests.server.client import Api, Fetch
from tests.server.handlers.documents.test_edits_api import allowed
from tests.simulator import Simulator, ToolUse, reply

HUB = "JUPYTERHUB_API_TOKEN"
KEYS = {
    "ANTHROPIC_API_KEY": None,  # of a shipped provider, with the simulator's key
    "GOOGLE_API_KEY": "second name of a shipped one",
    "TRAIT_ENTRY": "of the trait",
    "TRAIT_HEADER": "in a header of the trait",
    "USER_ENTRY": "of the user's file",
    "FOLDER_ENTRY": "of the folder's file",
}
KEPT = {"DATASET_HOME": "plain", "OTHER_API_KEY": "of no provider"}


def provider(name: str, **more: object) -> dict[str, object]:
    return {"kind": "openai_chat", "url": "http://127.0.0.1:9/v1", "api_key_env": name, **more}


def write_catalogue(folder: Path, providers: Mapping[str, object]) -> None:
    (folder / ".shoulders").mkdir(exist_ok=True)
    (folder / ".shoulders" / "models.json").write_text(json.dumps({"providers": providers}))


@pytest.fixture(
    params=[
        pytest.param((None, False, False), id="default on one's own machine"),
        pytest.param((None, True, True), id="default on a hub"),
        pytest.param(("leave", True, False), id="leave on a hub"),
        pytest.param(("remove", False, True), id="remove on one's own machine"),
    ]
)
def removes(
    request: pytest.FixtureRequest,
    jp_server_config: Config,
    jp_home_dir: Path,
    jp_root_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> bool:
    """Whether programs get no keys; requested before the server starts."""
    choice, on_hub, removes = request.param
    for name, value in {**KEYS, **KEPT}.items():
        if value is not None:
            monkeypatch.setenv(name, value)
    if on_hub:
        monkeypatch.setenv(HUB, "x")
    if choice is not None:
        jp_server_config.Shoulders.keys_from_kernels = choice
    headers = {"X-Pass": "${TRAIT_HEADER}", "X-Hub": f"${{{HUB}}}"}
    jp_server_config.Shoulders.models["providers"]["lab"] = provider("TRAIT_ENTRY", headers=headers)
    jp_server_config.Shoulders.allow_commands = True
    jp_server_config.ServerApp.allow_unauthenticated_access = True  # or terminals are not loaded
    jp_server_config.ServerApp.jpserver_extensions["jupyter_server_terminals"] = True
    write_catalogue(jp_home_dir, {"own": provider("USER_ENTRY")})
    write_catalogue(jp_root_dir, {"theirs": provider("FOLDER_ENTRY")})
    jp_server_config.Shoulders.trusted_folders = [str(jp_root_dir)]
    return removes


@pytest.fixture
def terminals(jp_serverapp: ServerApp) -> Iterator[Any]:
    found: Any = jp_serverapp.web_app.settings["terminal_manager"]
    yield found
    for name in [*found.terminals]:
        found.terminals[name].ptyproc.terminate(force=True)


def environment(pid: int) -> dict[str, str]:
    """Return the environment of a process."""
    pairs = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return dict(pair.split("=", 1) for pair in pairs if pair)


def keys_in(environ: Mapping[str, str]) -> set[str]:
    assert environ["HOME"] == os.environ["HOME"]
    return environ.keys() & KEYS.keys()


async def test_programs_of_the_server_get_keys_as_the_setting_says(
    removes: bool, api: Api, jp_fetch: Fetch, jp_serverapp: ServerApp, terminals: Any
) -> None:
    kernels: Any = jp_serverapp.kernel_manager
    expected: set[str] = set() if removes else set(KEYS)

    made = await jp_fetch("api", "kernels", method="POST", body=b"{}")
    kernel_id = json.loads(made.body)["id"]
    first = kernels.get_kernel(kernel_id).provisioner.pid
    started = environment(first)
    await kernels.restart_kernel(kernel_id)
    restarted = environment(kernels.get_kernel(kernel_id).provisioner.pid)
    opened = await jp_fetch("api", "terminals", method="POST", body=b"{}")
    terminal = terminals.get_terminal(json.loads(opened.body)["name"])

    assert kernels.get_kernel(kernel_id).provisioner.pid != first
    assert keys_in(started) == expected
    assert KEPT.items() <= started.items()
    assert keys_in(restarted) == expected
    assert keys_in(environment(terminal.ptyproc.pid)) == expected
    assert "SHOULDERS_PROXY_SECRET" in started
    assert started.get(HUB) == os.environ.get(HUB)


async def test_commands_of_the_agent_get_no_keys_and_models_still_answer(
    removes: bool, api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    command = "env --null > seen.txt"
    upstream.script(reply(ToolUse(name="run_command", arguments={"command": command})), "Done.")
    assert (await api.put("settings", {"commands": {"mode": "host"}})).status == 200

    await allowed(api, await api.new_session(mode="bypass", toolset="full"))

    pairs = (jp_root_dir / "seen.txt").read_text().split("\0")
    assert keys_in(dict(pair.split("=", 1) for pair in pairs if pair)) == set()
