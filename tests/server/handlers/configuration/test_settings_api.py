"""``settings``: the workspace's over the user's over the defaults, locked by the administrator."""

import json
from pathlib import Path
from typing import Any

import pytest
from traitlets.config import Config

from jupyter_ai_shoulders.core.model_preferences import COMPLETION_DEFAULTS
from jupyter_ai_shoulders.wire.versions import cell_version
from tests.server.client import Answer, Api

DEFAULTS = {
    "mode": "auto",
    "fallback": "local",
    "single_call_timeout_s": 30.0,
    "single_call_max_tokens": 4_000,
    "ollama_host": "http://127.0.0.1:11434",
    "default": "",
}
GHOST = {
    "enabled_plus": True,
    "automatic": False,
    "skip_languages": list(COMPLETION_DEFAULTS.skip_languages),
}


@pytest.fixture
def user_file(jp_home_dir: Path) -> Path:
    path = jp_home_dir / ".shoulders" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    return path


@pytest.fixture
def workspace_file(state_dir: Path) -> Path:
    state_dir.mkdir(exist_ok=True)
    return state_dir / "settings.json"


async def put_for(api: Api, scope: str, body: dict[str, Any]) -> Answer:
    return await api.request("PUT", "settings", body, params={"scope": scope})


def held(path: Path) -> str:
    return path.read_text()


def hold(path: Path, text: str) -> None:
    path.write_text(text)


SEARCH: dict[str, Any] = {
    "enabled": True,
    "include": [],
    "exclude": [],
    "conversations": True,
    "by_meaning": True,
    "embedder": "",
    "send_to": "",
}


REFERENCES = {
    "main_file": "references.bib",
    "key_pattern": "authoryearword",
    "citation_syntax": "myst",
    "style": "apa",
}


NOTIFICATIONS: dict[str, Any] = {"agent": False, "browser": False, "webhook": ""}
SCHEDULES: dict[str, Any] = {
    "agent": False,
    "shortest_interval_s": 900,
    "most_schedules": 20,
    "runs_per_day": 48,
    "usd_per_day": 1.0,
    "most_concurrent": 2,
    "longest_agent_days": 7,
    "largest_toolset": "full",
    "quiet_hours": "",
    "poll_files": False,
}


async def settings(api: Api) -> dict[str, Any]:
    found = await api.get("settings")
    assert found.status == 200, found
    return found.body


async def test_the_defaults_are_those_of_the_specification(api: Api) -> None:
    assert await settings(api) == {
        "values": {
            "models": DEFAULTS,
            "egress": {"data_values": "schema_only"},
            "commands": {"mode": "sandbox", "network": False},
            "ghost": GHOST,
            "threads": {"keep_in_notebook": False},
            "search": SEARCH,
            "references": REFERENCES,
            "word": {"tracked_changes": True},
            "schedules": SCHEDULES,
            "notifications": NOTIFICATIONS,
            "agent_database": {"enabled": False, "limit_mb": 100},
            "memory": {"enabled": True},
        },
        "sources": {f"models.{name}": "default" for name in DEFAULTS}
        | {"egress.data_values": "default"}
        | {"commands.mode": "default", "commands.network": "default"}
        | {f"ghost.{name}": "default" for name in GHOST}
        | {"threads.keep_in_notebook": "default"}
        | {f"search.{name}": "default" for name in SEARCH}
        | {f"references.{name}": "default" for name in REFERENCES}
        | {"word.tracked_changes": "default", "memory.enabled": "default"}
        | {f"schedules.{name}": "default" for name in SCHEDULES}
        | {f"notifications.{name}": "default" for name in NOTIFICATIONS}
        | {"agent_database.enabled": "default", "agent_database.limit_mb": "default"},
        "locks": {},
        "problems": [],
        "revision": cell_version("\0"),
    }


async def test_the_workspace_wins_over_the_user_and_the_user_over_the_defaults(api: Api) -> None:
    await put_for(api, "user", {"models": {"mode": "remote", "fallback": "none"}})
    put = await api.put("settings", {"models": {"mode": "local"}})

    assert put.status == 200
    assert put.body["values"]["models"] == {**DEFAULTS, "mode": "local", "fallback": "none"}
    assert put.body["sources"]["models.mode"] == "workspace"
    assert put.body["sources"]["models.fallback"] == "user"
    assert await settings(api) == put.body


async def test_null_goes_back_to_what_is_below(api: Api, state_dir: Path) -> None:
    await api.put("settings", {"models": {"mode": "local", "single_call_timeout_s": 5}})
    put = await api.put("settings", {"models": {"mode": None}})

    assert put.body["values"]["models"]["mode"] == "auto"
    assert put.body["values"]["models"]["single_call_timeout_s"] == 5
    assert json.loads((state_dir / "settings.json").read_text()) == {
        "version": 1,
        "models": {"single_call_timeout_s": 5.0},
    }


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"models": {"speed": 3}}, "models.speed"),
        ({"colour": "red"}, "colour"),
        ({"models": {"mode": "fast"}}, "models.mode"),
        ({"models": {"single_call_timeout_s": 0}}, "models.single_call_timeout_s"),
        ({"models": {"single_call_max_tokens": "many"}}, "models.single_call_max_tokens"),
        ({"models": {"ollama_host": "127.0.0.1"}}, "models.ollama_host"),
    ],
)
async def test_what_makes_no_sense_is_refused_with_its_field(
    api: Api, state_dir: Path, body: dict[str, Any], field: str
) -> None:
    put = await api.put("settings", body)

    assert (put.status, put.code) == (400, "invalid_request")
    assert put.error["message"].startswith(field)
    assert not (state_dir / "settings.json").exists()


async def test_an_unknown_scope_is_refused(api: Api) -> None:
    put = await put_for(api, "everybody", {})

    assert (put.status, put.code) == (400, "invalid_request")


async def test_keys_of_other_versions_are_kept(api: Api, workspace_file: Path) -> None:
    hold(workspace_file, '{"theme": "dark", "models": {"later": 1, "mode": "remote"}}')

    await api.put("settings", {"models": {"fallback": "none"}})

    assert json.loads(held(workspace_file)) == {
        "version": 1,
        "theme": "dark",
        "models": {"later": 1, "mode": "remote", "fallback": "none"},
    }
    assert (await settings(api))["problems"] == []


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('{\n "models": {,}}', 2, "not JSON"),
        ('{\n\n "version": 2, "models": {"mode": "local"}}', 3, "version 2"),
        ('{"models":\n {"mode": "local",\n  "fallback": 7}}', 3, "models.fallback"),
        ("[1]", 1, "JSON object"),
        ('{"models": []}', 1, '"models"'),
    ],
    ids=["broken", "newer", "one value", "list", "models"],
)
async def test_what_a_file_says_wrongly_is_not_used_and_named(
    api: Api, workspace_file: Path, text: str, line: int, words: str
) -> None:
    hold(workspace_file, text)

    found = await settings(api)

    (problem,) = found["problems"]
    assert (problem["file"], problem["line"]) == (".shoulders/settings.json", line)
    assert words in problem["message"]
    expected = {**DEFAULTS, "mode": "local"} if words == "models.fallback" else DEFAULTS
    assert found["values"]["models"] == expected
    assert held(workspace_file) == text


async def test_a_slip_in_the_users_file_does_not_lift_what_it_restricted(
    api: Api, user_file: Path
) -> None:
    hold(user_file, '{"models": {"mode": "local"}}')
    assert (await settings(api))["values"]["models"]["mode"] == "local"

    hold(user_file, '{"models": {"mode": "local",}}')
    slipped = await settings(api)
    hold(user_file, "{}")
    mended = await settings(api)

    (problem,) = slipped["problems"]
    assert "applies until it can be read again" in problem["message"]
    assert slipped["values"]["models"]["mode"] == "local"
    assert (mended["values"]["models"]["mode"], mended["problems"]) == ("auto", [])


@pytest.mark.parametrize("text", ["{", '{"version": 2}', '{"models": 3}'])
async def test_a_file_that_cannot_be_read_is_never_replaced(
    api: Api, workspace_file: Path, text: str
) -> None:
    hold(workspace_file, text)

    put = await api.put("settings", {"models": {"mode": "local"}})

    assert (put.status, put.code) == (409, "conflict")
    assert held(workspace_file) == text


async def test_a_folders_own_settings_apply_once_the_person_chose_them(
    api: Api, workspace_file: Path
) -> None:
    """A cloned folder may contain any settings; they must not redirect the user's requests."""
    evil = {"models": {"ollama_host": "http://evil.example:11434"}}
    hold(workspace_file, json.dumps(evil))

    found = await settings(api)
    put = await api.put("settings", evil)

    assert found["values"]["models"] == DEFAULTS
    assert put.body["values"]["models"]["ollama_host"] == "http://evil.example:11434"


async def test_what_may_leave_of_the_data_is_chosen_for_one_folder_or_for_all(
    api: Api, jp_root_dir: Path, user_file: Path
) -> None:
    """The choice for a folder is stored with the user, not in the folder."""
    everywhere = await put_for(api, "user", {"egress": {"data_values": "full"}})
    here = await api.put("settings", {"egress": {"data_values": "samples"}})
    stored = json.loads(held(user_file))
    back = await api.put("settings", {"egress": {"data_values": None}})

    assert everywhere.body["values"]["egress"] == {"data_values": "full"}
    assert everywhere.body["sources"]["egress.data_values"] == "user"
    assert here.body["values"]["egress"] == {"data_values": "samples"}
    assert here.body["sources"]["egress.data_values"] == "workspace"
    assert stored["egress"] == {"data_values": "full"}
    assert stored["folders"] == {str(jp_root_dir): {"egress": {"data_values": "samples"}}}
    assert back.body["values"]["egress"] == {"data_values": "full"}


async def test_a_folders_own_settings_let_no_values_out_but_may_keep_them_in(
    api: Api, workspace_file: Path
) -> None:
    hold(workspace_file, '{"egress": {"data_values": "full"}}')
    loose = await settings(api)
    await api.put("settings", {"egress": {"data_values": "samples"}})
    hold(workspace_file, '{"egress": {"data_values": "schema_only"}}')
    tight = await settings(api)

    assert loose["values"]["egress"] == {"data_values": "schema_only"}
    assert tight["values"]["egress"] == {"data_values": "schema_only"}


async def test_a_folders_own_settings_do_not_ask_for_suggestions_while_one_types(
    api: Api, workspace_file: Path
) -> None:
    hold(workspace_file, '{"ghost": {"automatic": true, "skip_languages": ["r"]}}')
    loose = await settings(api)
    chosen = await api.put("settings", {"ghost": {"automatic": True, "enabled_plus": False}})

    assert loose["values"]["ghost"] == GHOST
    assert chosen.body["values"]["ghost"]["automatic"] is True
    assert chosen.body["sources"]["ghost.automatic"] == "workspace"


@pytest.mark.parametrize(
    "text",
    [
        '{"folders": 3}',
        '{"folders": {"FOLDER": 3}}',
        '{"folders": {"FOLDER": {"egress": {"data_values": "everything"}}}}',
        '{"egress": {"data_values": 1}}',
    ],
)
async def test_a_wrong_choice_in_the_users_file_lets_nothing_out(
    api: Api, jp_root_dir: Path, user_file: Path, text: str
) -> None:
    hold(user_file, text.replace("FOLDER", str(jp_root_dir)))

    assert (await settings(api))["values"]["egress"] == {"data_values": "schema_only"}


async def test_a_folder_cannot_send_away_what_its_user_keeps_on_this_machine(
    api: Api, workspace_file: Path
) -> None:
    """The user's choice of the mode for this folder on the settings page counts as theirs."""
    await put_for(api, "user", {"models": {"mode": "local"}})
    hold(workspace_file, '{"models": {"mode": "remote"}}')
    found = await settings(api)
    chosen = await api.put("settings", {"models": {"mode": "remote"}})

    assert found["values"]["models"]["mode"] == "local"
    assert chosen.body["values"]["models"]["mode"] == "remote"


class TestLocked:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config) -> Config:
        jp_server_config.Shoulders.settings = {"models": {"mode": "local"}}
        return jp_server_config

    async def test_what_the_administrator_set_cannot_be_changed(
        self, api: Api, workspace_file: Path
    ) -> None:
        hold(workspace_file, '{"models": {"mode": "remote"}}')

        put = await api.put("settings", {"models": {"mode": "remote"}})
        found = await settings(api)

        assert (put.status, put.code) == (422, "denied")
        assert "models.mode" in put.error["message"]
        assert found["values"]["models"]["mode"] == "local"
        assert found["sources"]["models.mode"] == "administrator"


class TestLockedEgress:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config) -> Config:
        jp_server_config.Shoulders.settings = {"egress": {"data_values": "schema_only"}}
        return jp_server_config

    async def test_what_may_leave_cannot_be_loosened(self, api: Api, user_file: Path) -> None:
        hold(user_file, '{"egress": {"data_values": "full"}}')

        put = await api.put("settings", {"egress": {"data_values": "samples"}})
        found = await settings(api)

        assert (put.status, put.code) == (422, "denied")
        assert found["values"]["egress"] == {"data_values": "schema_only"}
        assert found["sources"]["egress.data_values"] == "administrator"


async def test_a_folders_own_settings_let_no_command_run_but_may_forbid_them(
    api: Api, jp_root_dir: Path, user_file: Path, workspace_file: Path
) -> None:
    hold(workspace_file, '{"commands": {"mode": "host", "network": true}}')
    loose = await settings(api)
    hold(workspace_file, '{"commands": {"mode": "none"}}')
    tight = await settings(api)
    await api.put("settings", {"commands": {"mode": "sandbox_read_only"}})
    chosen = await settings(api)

    sandboxed = {"mode": "sandbox", "network": False}
    assert loose["values"]["commands"] == sandboxed
    assert tight["values"]["commands"] == {"mode": "none", "network": False}
    assert chosen["values"]["commands"] == {"mode": "none", "network": False}
    stored = json.loads(held(user_file))["folders"][str(jp_root_dir)]
    assert stored == {"commands": {"mode": "sandbox_read_only"}}


async def test_threads_are_kept_in_notebooks_where_somebody_chose_it(
    api: Api, workspace_file: Path
) -> None:
    hold(workspace_file, '{"threads": {"keep_in_notebook": true}}')
    shared = await settings(api)

    chosen = (await api.put("settings", {"threads": {"keep_in_notebook": True}})).body

    assert shared["values"]["threads"] == {"keep_in_notebook": False}
    assert chosen["values"]["threads"] == {"keep_in_notebook": True}
    assert chosen["sources"]["threads.keep_in_notebook"] == "workspace"
