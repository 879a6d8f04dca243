"""Where services are, and whether they may be called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal
from jupyter_ai_shoulders.guard.network.service_client import ServiceRequest
from jupyter_ai_shoulders.host.web.services import WebServices
from jupyter_ai_shoulders.providers.credentials.key_store import KeyStore
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.storage.state_file import StateFile
from jupyter_ai_shoulders.tools.permissions.rule_matching import RuleMatch, ToolRule
from jupyter_ai_shoulders.tools.permissions.rules import Rules


class FixedRules:
    def __init__(self, rules: Rules) -> None:
        self.rules = rules


def services(folder: Path, rules: Rules | None = None, **trait: Any) -> WebServices:
    made = WebServices(
        trait,
        StateFile(StateDirectory(folder), "services.json"),
        KeyStore(folder / "keys.env", {}),
        SystemClock(),
    )
    made.set_permissions(FixedRules(rules or Rules()))
    return made


def test_address_of_the_administrator_wins_over_the_users(tmp_path: Path):
    found = services(tmp_path, crossref={"base_url": "http://mirror.lan/"})
    assert found.address("crossref") == "http://mirror.lan"
    assert found.address("datacite") == "https://api.datacite.org"
    assert found.address("searxng") == ""
    found.set_address("searxng", "http://127.0.0.1:8888/")
    assert services(tmp_path).address("searxng") == "http://127.0.0.1:8888"
    found.set_address("searxng", None)
    assert services(tmp_path).address("searxng") == ""
    with pytest.raises(PolicyRefusal, match="administrator"):
        found.set_address("crossref", "http://other")


@pytest.mark.parametrize(
    "text", ["", "ftp://x", "x.org", "http://", "http://u:p@x", "http://x/?q=1", "http://a b"]
)
def test_unusable_address_is_refused(tmp_path: Path, text: str):
    with pytest.raises(InvalidRequest):
        services(tmp_path).set_address("searxng", text)


def test_unreadable_file_gives_the_usual_addresses(tmp_path: Path):
    (tmp_path / "services.json").write_text('{"services": {"exa": {"base_url": 3}}, "mailto"')
    assert services(tmp_path).address("exa") == "https://api.exa.ai"


DENIED = ToolRule("deny", "add_reference", source="A rule of your administrator")
OFF = {
    "switch": (Rules(no_external=True), "switched off"),
    "administrator": (Rules(locked=(DENIED,)), "administrator denies"),
    "disabled": (Rules(disabled=frozenset({"add_reference"})), "switch in the permissions"),
}


@pytest.mark.parametrize(("rules", "said"), OFF.values(), ids=OFF)
def test_tool_that_is_off_refuses_on_its_route(tmp_path: Path, rules: Rules, said: str):
    with pytest.raises(PolicyRefusal, match=said) as raised:
        services(tmp_path, rules).check_allowed("add_reference")
    assert raised.value.info.code == "disabled"
    narrow = ToolRule("deny", "add_reference", RuleMatch(path="x/*"))
    services(tmp_path, Rules(rules=(narrow,))).check_allowed("add_reference")


async def test_switch_refuses_services_but_not_the_library_on_this_machine(tmp_path: Path):
    off = services(tmp_path, Rules(no_external=True), zotero={"base_url": "http://127.0.0.1:9"})
    with pytest.raises(PolicyRefusal, match="switched off"):
        await off.send(ServiceRequest("crossref", "/works"))
    with pytest.raises(Exception, match="Zotero cannot be reached"):
        await off.send(ServiceRequest("zotero", "/api"))
