"""Variables that are withdrawn for the catalogues, and who can still read them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.core.catalogue.key_variables import catalogue_variables
from jupyter_ai_shoulders.host.config import Shoulders
from jupyter_ai_shoulders.host.key_environment import KeyEnvironment, withdraw_configured_keys
from jupyter_ai_shoulders.providers.catalogue.loader import CatalogueLoader


@pytest.mark.parametrize(
    ("catalogue", "names"),
    [
        pytest.param({"providers": {"my-lab": {}}}, {"MY_LAB_API_KEY"}, id="default name"),
        pytest.param({"providers": {"a": {"api_key_env": "K"}}}, {"K"}, id="named"),
        pytest.param({"providers": {"a": {"apiKeyEnv": "K"}}}, {"K"}, id="other spelling"),
        pytest.param(
            {"providers": {"a": {"api_key_env": "K", "other_key_envs": ["L", 3]}}},
            {"K", "L"},
            id="several names",
        ),
        pytest.param(
            {
                "providers": {
                    "a": {
                        "api_key_env": "K",
                        "url": "https://u:${IN_URL}@x",
                        "headers": {"X": "a ${IN_HEADER} b ${SECOND}", "Y": None},
                        "query": {"q": "${IN_QUERY}"},
                    }
                }
            },
            {"K", "IN_URL", "IN_HEADER", "SECOND", "IN_QUERY"},
            id="used in parts",
        ),
        pytest.param({"providers": {"a": 1}}, {"A_API_KEY"}, id="an entry that is no object"),
        pytest.param({"providers": []}, set[str](), id="no providers"),
        pytest.param(None, set[str](), id="no catalogue"),
    ],
)
def test_variables_of_a_catalogue(catalogue: Any, names: set[str]) -> None:
    assert catalogue_variables(catalogue) == names


def test_withdrawn_variables_stay_readable_for_providers_alone() -> None:
    environ = {"K": "1", "L": "2", "HOME": "/h", "JUPYTERHUB_API_TOKEN": "t"}
    keys = KeyEnvironment(environ)

    keys.withdraw(["K", "HOME", "JUPYTERHUB_API_TOKEN", "UNSET"])

    assert environ == {"L": "2", "HOME": "/h", "JUPYTERHUB_API_TOKEN": "t"}
    assert dict(keys.complete) == {**environ, "K": "1"}
    assert keys.without_keys({"K": "of a caller", "M": "3"}) == {"M": "3"}


@pytest.mark.parametrize(
    "content", [None, "{", "[" * 100_000, "{}"], ids=["none", "broken", "deep", "empty"]
)
def test_keys_of_all_sources_are_withdrawn_whatever_the_users_file_is(
    tmp_path: Path, content: str | None
) -> None:
    file = tmp_path / "models.json"
    if content is not None:
        file.write_text(content)
    environ = {"ANTHROPIC_API_KEY": "1", "GOOGLE_API_KEY": "2", "LAB": "3"}

    trait = {"providers": {"anthropic": {"api_key_env": "OTHER"}, "lab": {"api_key_env": "LAB"}}}
    withdraw_configured_keys(environ, trait, file)

    assert environ == {}


def test_a_pipe_in_place_of_the_users_file_does_not_stop_the_start(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "models.json")

    withdraw_configured_keys({}, {}, tmp_path / "models.json")


def test_a_changed_catalogue_withdraws_the_key_it_names(tmp_path: Path) -> None:
    environ = {"LAB": "1", "LATER": "2"}
    keys = KeyEnvironment(environ)
    user = tmp_path / "models.json"
    found = CatalogueLoader(user, tmp_path / "none.json", keys.complete, withdraw=keys.withdraw)
    entry = {"kind": "openai_chat", "url": "https://lab.example/v1"}
    user.write_text(json.dumps({"providers": {"lab": {**entry, "api_key_env": "LAB"}}}))
    found.current()
    before = dict(environ)
    user.write_text(json.dumps({"providers": {"lab": {**entry, "api_key_env": "LATER"}}}))
    found.current()

    assert (before, environ) == ({"LATER": "2"}, {})
    assert dict(keys.complete) == {"LAB": "1", "LATER": "2"}


@pytest.mark.parametrize(
    ("choice", "environ", "removes"),
    [
        (None, {}, False),
        (None, {"JUPYTERHUB_API_URL": "x"}, True),
        (None, {"BINDER_SERVICE_HOST": "x"}, True),
        ("leave", {"JUPYTERHUB_API_URL": "x"}, False),
        ("remove", {}, True),
    ],
    ids=["own machine", "hub", "binder", "leave on a hub", "remove on an own machine"],
)
def test_keys_are_removed_on_shared_machines_unless_configured(
    choice: str | None, environ: dict[str, str], removes: bool
) -> None:
    assert Shoulders(keys_from_kernels=choice).removes_keys(environ) is removes


def test_keys_of_web_services_are_withdrawn_too(tmp_path: Path) -> None:
    environ = {"TAVILY_API_KEY": "tvly-1", "OPENALEX_API_KEY": "oa-1", "PATH": "/bin"}
    keys = withdraw_configured_keys(environ, {}, tmp_path / "models.json")
    assert environ == {"PATH": "/bin"}
    assert keys.complete["TAVILY_API_KEY"] == "tvly-1"
