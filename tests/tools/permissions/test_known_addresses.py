"""Addresses that the user wrote or a search found, and all others."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.tools.base import CallSubject, Target
from jupyter_ai_shoulders.tools.permissions.grants import Grant, target_of
from jupyter_ai_shoulders.tools.permissions.known_addresses import (
    address_host,
    address_key,
    addresses_in,
    comparable_host,
)
from jupyter_ai_shoulders.tools.permissions.rule_matching import (
    RuleMatch,
    ToolRule,
    rule_matches,
)
from jupyter_ai_shoulders.tools.permissions.rules import (
    Allow,
    Ask,
    Decision,
    Deny,
    PermissionRequest,
    Rules,
    decide,
)
from jupyter_ai_shoulders.tools.permissions.taint import TaintSource
from jupyter_ai_shoulders.wire.sessions import Mode

URL = "https://docs.example.org/guide?page=2"


@pytest.mark.parametrize(
    "text",
    [
        *(URL, f"See {URL}.", f"({URL})", f"[guide]({URL}), please", f"<{URL}>", f'"{URL}"'),
        *("docs.example.org/guide?page=2", "HTTP://DOCS.example.org/guide?page=2#part"),
        *(f"first\n{URL}\nlast", "**https://docs.example.org:443/guide?page=2**"),
    ],
)
def test_address_in_a_text_is_found(text: str):
    assert address_key(URL) in set(addresses_in(text))


@pytest.mark.parametrize(
    "other",
    [
        *("https://docs.example.org/guide?page=3", "https://docs.example.org/guide"),
        *("https://docs.example.org/", "https://docs.example.org.evil.net/guide?page=2"),
        *("https://docs.example.org:8443/guide?page=2", "https://evil.net/?docs.example.org"),
        *("https://example.org/guide?page=2", "https://docs.example.org/guide?page=2&secret=1"),
    ],
)
def test_other_address_is_not_the_same(other: str):
    assert address_key(other) not in set(addresses_in(URL))


@pytest.mark.parametrize(
    "text", ["", "http://[", "http://a b", "ftp://x.org", "http://x:99999999/"]
)
def test_what_is_no_address_has_no_key(text: str):
    assert address_key(text) is None
    assert target_of({"url": text}).domain in {None, "a b", "x"} or address_host(text) is None


def request(address: str, *known: str, taint: bool = False) -> PermissionRequest:
    subject = CallSubject("", None, Target(domain=address_host(address)), address=address)
    sources = (TaintSource("example.org"),) if taint else ()
    keys = frozenset(key for url in known if (key := address_key(url)))
    return PermissionRequest("fetch_url", "read", True, subject, sources, (), keys)


def judged(
    asked: PermissionRequest,
    *grants: Grant,
    mode: Mode = "ask",
    rules: Rules | None = None,
    someone: bool = True,
) -> Decision:
    allowing = Rules(rules=(ToolRule("allow", "fetch_url", source="rule 1"),))
    return decide(asked, rules or allowing, grants, mode=mode, interactive=someone)


@pytest.mark.parametrize("mode", ["ask", "auto_edit", "bypass"])
def test_known_address_runs_and_any_other_asks(mode: Mode):
    assert isinstance(judged(request(URL, URL), mode=mode), Allow)
    unknown = judged(request(URL, "https://docs.example.org/"), mode=mode)
    assert isinstance(unknown, Ask)
    assert unknown.scopes == ("once",)
    assert "named this address" in unknown.reason.text


def test_unknown_address_asks_whatever_was_allowed_before_foreign_text_was_read():
    host = address_host(URL)
    earlier = Grant("fetch_url", domain=host)
    told = Grant("fetch_url", domain=host, informed=True)
    assert isinstance(judged(request(URL, taint=True), earlier, mode="bypass"), Ask)
    assert isinstance(judged(request(URL, taint=True), told, mode="bypass"), Allow)
    asked = judged(request(URL, taint=True), mode="bypass")
    assert isinstance(asked, Ask)
    assert "example.org" in asked.reason.text
    assert "always" not in asked.scopes


def test_nobody_to_ask_means_no():
    assert isinstance(judged(request(URL), mode="bypass", someone=False), Deny)


@pytest.mark.parametrize(
    ("rule", "host", "covered"),
    [
        ("example.org", "example.org", True),
        ("example.org", "docs.example.org", True),
        ("*.example.org", "docs.example.org", True),
        ("example.org", "example.org.", True),
        ("EXAMPLE.org.", "example.org", True),
        ("bücher.de", "xn--bcher-kva.de", True),
        ("xn--bcher-kva.de", "bücher.de", True),
        ("example.org", "notexample.org", False),
        ("example.org", None, False),
    ],
)
@pytest.mark.parametrize("action", ["allow", "deny"])
def test_rule_of_a_domain(action: str, rule: str, host: str | None, covered: bool):
    made = ToolRule(action, "fetch_url", RuleMatch(domain=rule))  # pyright: ignore[reportArgumentType] - both actions are valid
    assert rule_matches(made, "fetch_url", Target(domain=host)) is covered


def test_host_that_cannot_be_encoded_is_compared_as_it_is():
    assert comparable_host("ü" * 80) == "ü" * 80
