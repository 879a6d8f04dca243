"""What runs, asks or is refused: tables over modes, risks, rules, grants."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.tools.base import CallSubject, Target
from jupyter_ai_shoulders.tools.permissions.grants import (
    Grant,
    grant_for,
    narrowest_rule,
    target_of,
)
from jupyter_ai_shoulders.tools.permissions.patterns import (
    command_matches,
    escape_glob,
    glob_matches,
)
from jupyter_ai_shoulders.tools.permissions.rule_matching import RuleMatch, ToolRule
from jupyter_ai_shoulders.tools.permissions.rules import (
    Allow,
    Ask,
    Decision,
    Deny,
    PermissionRequest,
    Rules,
    decide,
)
from jupyter_ai_shoulders.wire.api.commands import RuleBody
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.events import ApprovalScope, Risk
from jupyter_ai_shoulders.wire.sessions import Mode


def question(
    tool: str = "edit_cell",
    risk: Risk = "write",
    *,
    external: bool = False,
    undoable: bool = True,
    in_page: bool = False,
    **target: str,
) -> PermissionRequest:
    values: dict[str, Any] = target or {"path": "a.ipynb"}
    subject = CallSubject(
        title="", target_label=None, target=Target(**values), undoable=undoable, in_page=in_page
    )
    return PermissionRequest(tool, risk, external, subject)


READ = question("read_notebook", "read")
EDIT_OPEN = question(in_page=True)
EDIT_CLOSED = question()
DELETE = question("delete_file", undoable=False)
RUN = question("run_cell", "execute")
FETCH = question("fetch_url", "read", external=True, domain="example.org")

MODES: dict[str, list[str]] = {
    #            read    open    closed  delete  run     fetch
    "ask": ["allow", "allow", "ask", "ask", "ask", "ask"],
    "auto_edit": ["allow", "allow", "allow", "ask", "ask", "ask"],
    "plan": ["allow", "deny", "deny", "deny", "deny", "deny"],
    "bypass": ["allow", "allow", "allow", "allow", "allow", "allow"],
}


def judge(
    asked: PermissionRequest, *rules: ToolRule, mode: Mode = "ask", grants: tuple[Grant, ...] = ()
) -> Decision:
    return decide(asked, Rules(tuple(rules)), grants, mode=mode, interactive=True)


def word(decision: Decision) -> str:
    return type(decision).__name__.lower()


@pytest.mark.parametrize("mode", MODES)
def test_mode_decides_where_no_rule_speaks(mode: Mode):
    asked = [READ, EDIT_OPEN, EDIT_CLOSED, DELETE, RUN, FETCH]
    assert [word(judge(one, mode=mode)) for one in asked] == MODES[mode]


def rule(action: Literal["allow", "ask", "deny"], tool: str = "run_cell", **match: str) -> ToolRule:
    return ToolRule(action, tool, RuleMatch(**match) if match else None)


PRECEDENCE: dict[str, tuple[list[ToolRule], Mode, str]] = {
    "deny over ask and allow": (
        [rule("allow"), rule("ask"), rule("deny")],
        "ask",
        "deny",
    ),
    "ask over allow": ([rule("allow"), rule("ask")], "ask", "ask"),
    "allow over the mode": ([rule("allow")], "ask", "allow"),
    "plan over allow": ([rule("allow")], "plan", "deny"),
    "deny over bypass": ([rule("deny")], "bypass", "deny"),
    "ask over bypass": ([rule("ask")], "bypass", "ask"),
    "tool by pattern": ([rule("deny", "run_*")], "ask", "deny"),
    "another tool": ([rule("allow", "run_all_cells")], "ask", "ask"),
    "notebook": ([rule("allow", notebook="a.ipynb")], "ask", "allow"),
    "another notebook": ([rule("allow", notebook="b.ipynb")], "ask", "ask"),
    "glob": ([rule("allow", path="**/*.ipynb")], "ask", "allow"),
    "both must match": ([rule("allow", notebook="a.ipynb", path="data/**")], "ask", "ask"),
    "deny ignores case": ([rule("deny", notebook="A.IPYNB")], "ask", "deny"),
    "allow does not": ([rule("allow", notebook="A.IPYNB")], "ask", "ask"),
}


@pytest.mark.parametrize(("rules", "mode", "expected"), PRECEDENCE.values(), ids=PRECEDENCE.keys())
def test_rules_go_by_precedence(rules: list[ToolRule], mode: Mode, expected: str):
    assert word(judge(RUN, *rules, mode=mode)) == expected


ANSWERED = replace(
    EDIT_CLOSED, subject=replace(EDIT_CLOSED.subject, is_approved=True, undoable=False)
)
LOCKED = Rules(locked=(rule("ask", "edit_cell"),))


@pytest.mark.parametrize(
    ("rules", "mode", "expected"),
    [
        pytest.param(Rules(), "ask", "allow", id="the mode asks"),
        pytest.param(Rules((rule("ask", "edit_cell"),)), "ask", "allow", id="a rule asks"),
        pytest.param(LOCKED, "ask", "ask", id="the administrator asks"),
        pytest.param(Rules((rule("deny", "edit_cell"),)), "ask", "deny", id="a rule denies"),
        pytest.param(Rules(), "plan", "deny", id="the mode refuses"),
    ],
)
def test_an_answer_to_the_question_before_replaces_asking_only(
    rules: Rules, mode: Mode, expected: str
):
    assert word(decide(ANSWERED, rules, (), mode=mode, interactive=True)) == expected


def test_invalid_rule_denies_its_tool_and_names_itself():
    broken = ToolRule("deny", "run_cell", None, "Rule 1 of tools.json", "match: nonsense")
    decision = judge(RUN, broken)
    assert decision == Deny(
        "Rule 1 of tools.json is invalid (match: nonsense), so it denies. Correct it."
    )
    assert word(judge(EDIT_OPEN, broken)) == "allow"


def test_rule_whose_tool_cannot_be_read_denies_all_but_reading():
    broken = ToolRule("deny", None, None, "Rule 1", "not an object")
    asked = [READ, EDIT_OPEN, RUN, FETCH]
    assert [word(judge(one, broken)) for one in asked] == ["allow", "deny", "deny", "deny"]


def test_broken_file_makes_all_but_reading_ask():
    rules = Rules(broken="tools.json, line 3 is not JSON")
    words = [
        word(decide(one, rules, (), mode="bypass", interactive=True))
        for one in (READ, EDIT_OPEN, RUN)
    ]
    assert words == ["allow", "ask", "ask"]


def test_disabled_tool_is_denied():
    rules = Rules(disabled=frozenset({"run_cell"}))
    decision = decide(RUN, rules, (), mode="bypass", interactive=True)
    assert isinstance(decision, Deny)
    assert decision.code == "disabled"


PROTECTED = [
    ".shoulders/skills/a/SKILL.md",
    "_instructions.md",
    "sub/AGENTS.md",
    "claude.md",
    ".cursorrules",
]


@pytest.mark.parametrize("path", PROTECTED)
def test_protected_path_asks_in_every_mode_whatever_is_allowed(path: str):
    asked = question("write_file", path=path, in_page=True)
    granted = (Grant("write_file"),)
    for mode in ("ask", "auto_edit", "bypass"):
        decision = judge(asked, rule("allow", "write_file"), mode=mode, grants=granted)
        assert isinstance(decision, Ask)
        assert (decision.reason.kind, decision.scopes) == ("protected", ("once",))
    assert word(judge(replace(asked, risk="read"), mode="ask")) == "allow"


SEALED = [
    ".shoulders/tools.json",
    "./.shoulders/x/../settings.json",
    ".SHOULDERS/Tools.json",
    ".shoulders/state.db-wal",
]


@pytest.mark.parametrize("path", SEALED)
def test_tools_never_change_permissions_settings_or_keys(path: str):
    decision = judge(question("write_file", path=path), rule("allow", "write_file"), mode="bypass")
    assert word(decision) == "deny"


def test_asking_where_nobody_answers_is_a_refusal_with_its_own_code():
    decision = decide(RUN, Rules(), (), mode="ask", interactive=False)
    assert isinstance(decision, Deny)
    assert decision.code == "approval_required"
    assert isinstance(decide(READ, Rules(), (), mode="ask", interactive=False), Allow)


def test_scopes_are_those_that_can_hold():
    document = judge(RUN)
    command = judge(question("run_command", "execute", command="git diff"))
    by_rule = judge(RUN, rule("ask"))
    scopes = [one.scopes for one in (document, command, by_rule) if isinstance(one, Ask)]
    assert scopes == [
        ("once", "document", "session", "always"),
        ("once", "session", "always"),
        ("once", "document", "session"),
    ]


# grants

GRANTS: dict[str, tuple[ApprovalScope, JsonObject, Grant | None]] = {
    "once": ("once", {"path": "a.ipynb"}, None),
    "always is a rule": ("always", {"path": "a.ipynb"}, None),
    "document": ("document", {"path": "./a.ipynb"}, Grant("t", path="a.ipynb")),
    "document without a path": ("document", {}, None),
    "session": ("session", {"path": "a.ipynb"}, Grant("t")),
    "session of a command": (
        "session",
        {"command": "git diff HEAD"},
        Grant("t", command="git diff"),
    ),
    "session of a host": (
        "session",
        {"url": "https://example.org/x"},
        Grant("t", domain="example.org"),
    ),
}


@pytest.mark.parametrize(("scope", "arguments", "expected"), GRANTS.values(), ids=GRANTS.keys())
def test_answer_grants_what_its_scope_says(
    scope: ApprovalScope, arguments: JsonObject, expected: Grant | None
):
    assert grant_for(scope, "t", arguments) == expected


COVERED: dict[str, tuple[Grant, PermissionRequest, str]] = {
    "same document": (Grant("run_cell", path="a.ipynb"), RUN, "allow"),
    "other document": (Grant("run_cell", path="b.ipynb"), RUN, "ask"),
    "other tool": (Grant("run_code"), RUN, "ask"),
    "same command": (
        Grant("run_command", command="git diff"),
        question("run_command", "execute", command="git diff --stat"),
        "allow",
    ),
    "second command hidden": (
        Grant("run_command", command="git diff"),
        question("run_command", "execute", command="git diff; rm -r x"),
        "ask",
    ),
    "same host": (Grant("fetch_url", domain="example.org"), FETCH, "allow"),
}


@pytest.mark.parametrize(("grant", "asked", "expected"), COVERED.values(), ids=COVERED.keys())
def test_grant_covers_its_target(grant: Grant, asked: PermissionRequest, expected: str):
    assert word(judge(asked, grants=(grant,))) == expected


def test_grant_stands_above_the_rule_that_asked():
    assert word(judge(RUN, rule("ask"), grants=(Grant("run_cell"),))) == "allow"
    assert word(judge(RUN, rule("deny"), grants=(Grant("run_cell"),))) == "deny"


NARROWEST: dict[str, tuple[Target, JsonObject | None]] = {
    "notebook": (Target(path="./a [1].ipynb"), {"notebook": "a [[]1].ipynb"}),
    "file": (Target(path="src/a.py"), {"path": "src/a.py"}),
    "command": (Target(command="git diff HEAD"), {"command": "git diff"}),
    "command with a path": (Target(command="ls /etc"), {"command": "ls"}),
    "host": (Target(domain="example.org"), {"domain": "example.org"}),
    "nothing": (Target(), None),
}


@pytest.mark.parametrize(("target", "match"), NARROWEST.values(), ids=NARROWEST.keys())
def test_always_stores_the_narrowest_rule(target: Target, match: JsonObject | None):
    assert narrowest_rule("t", target) == RuleBody(action="allow", tool="t", match=match)


def test_target_follows_the_argument_names_of_the_contract():
    arguments: JsonObject = {"path": "x/../a.py", "url": "https://u:p@Example.org:8/", "command": 3}
    assert target_of(arguments) == Target(path="a.py", domain="example.org")


# patterns

GLOBS = [
    ("*.csv", "a.csv", True),
    ("*.csv", "data/a.csv", False),
    ("**/*.csv", "a.csv", True),
    ("**/*.csv", "data/raw/a.csv", True),
    ("data/**", "data/raw/a.csv", True),
    ("data/**", "database/a.csv", False),
    ("a?.py", "ab.py", True),
    ("a?.py", "a/.py", False),
    ("[!a]*.py", "b.py", True),
    ("[!a]*.py", "a.py", False),
    ("a.py", "abpy", False),
]


@pytest.mark.parametrize(("pattern", "path", "expected"), GLOBS)
def test_glob_matches_whole_paths(pattern: str, path: str, expected: bool):
    assert glob_matches(pattern, path) is expected


@given(st.text(min_size=1))
def test_escaped_path_matches_itself(path: str):
    assert glob_matches(escape_glob(path), path)


COMMANDS = [
    ("git diff", "git diff HEAD", True),
    ("git diff", "git difftool", False),
    ("git diff", "git 'diff'", True),
    ("rm", "rm -r x", True),
    ("rm", "ls && rm -r x", True),
    ("rm", "echo $(rm x)", True),
    ("rm", "echo 'unclosed", False),
    ("", "anything", False),
]


@pytest.mark.parametrize(("prefix", "command", "expected"), COMMANDS)
def test_rules_that_restrict_look_into_every_part_of_a_command_line(
    prefix: str, command: str, expected: bool
):
    assert command_matches(prefix, command) is expected


def test_domain_rule_covers_what_lies_below_it():
    deny = rule("deny", "fetch_url", domain="*.example.org")
    below = question("fetch_url", "read", external=True, domain="api.Example.org")
    beside = question("fetch_url", "read", external=True, domain="notexample.org")
    assert [word(judge(one, deny)) for one in (below, beside)] == ["deny", "ask"]
