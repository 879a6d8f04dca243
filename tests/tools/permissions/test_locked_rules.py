"""What no file loosens: the administrator's rules, the switch for external tools, newer files."""

from __future__ import annotations

import json
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.tools.base import CallSubject, Target
from jupyter_ai_shoulders.tools.permissions.file_format import locked_rules, parse_permissions
from jupyter_ai_shoulders.tools.permissions.grants import Grant
from jupyter_ai_shoulders.tools.permissions.rule_matching import RuleMatch, ToolRule
from jupyter_ai_shoulders.tools.permissions.rules import (
    Allow,
    Ask,
    Deny,
    PermissionRequest,
    Rules,
    decide,
)
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore, unknown_tools
from jupyter_ai_shoulders.wire.api.commands import RuleBody, RuleExamples
from jupyter_ai_shoulders.wire.events import Risk
from jupyter_ai_shoulders.wire.sessions import Mode
from tests.engine.engine_harness import MemoryFile
from tests.tools.permissions.put_request import put_permissions

Action = Literal["allow", "ask", "deny"]
STRENGTH: dict[type[Allow | Ask | Deny], int] = {Allow: 0, Ask: 1, Deny: 2}


def question(
    tool: str = "edit_cell", risk: Risk = "write", *, external: bool = False, path: str = "a.ipynb"
) -> PermissionRequest:
    subject = CallSubject(
        title="", target_label=None, target=Target(path=path), undoable=True, in_page=True
    )
    return PermissionRequest(tool, risk, external, subject)


def weight(rules: Rules, asked: PermissionRequest, grants: tuple[Grant, ...], mode: Mode) -> int:
    return STRENGTH[type(decide(asked, rules, grants, mode=mode, interactive=True))]


ACTIONS = st.sampled_from(["allow", "ask", "deny"])
TOOLS = st.sampled_from(["edit_cell", "run_cell", "edit_*", "*", "fetch_url"])
PATHS = st.sampled_from([None, "a.ipynb", "b.ipynb", "*.ipynb", "sub/**"])


@st.composite
def rule(draw: st.DrawFn, actions: st.SearchStrategy[str] = ACTIONS) -> ToolRule:
    path = draw(PATHS)
    match = None if path is None else RuleMatch(path=path)
    action: Action = draw(actions)  # type: ignore[assignment]  # sampled from the three
    problem = draw(st.sampled_from([None, None, None, "is odd"]))
    return ToolRule(action, draw(TOOLS), match, "a rule", problem)


RULES = st.lists(rule(), max_size=5).map(tuple)
LOCKED = st.lists(rule(st.sampled_from(["ask", "deny"])), max_size=3).map(tuple)
GRANTS = st.lists(
    st.sampled_from([Grant("edit_cell"), Grant("edit_cell", path="a.ipynb"), Grant("run_cell")]),
    max_size=2,
).map(tuple)
MODES = st.sampled_from(["ask", "auto_edit", "plan", "bypass"])
QUESTIONS = st.builds(
    question,
    tool=st.sampled_from(["edit_cell", "run_cell", "fetch_url"]),
    risk=st.sampled_from(["read", "write", "execute"]),
    external=st.booleans(),
    path=st.sampled_from(["a.ipynb", "b.ipynb", "sub/c.py", "_instructions.md"]),
)


@given(RULES, LOCKED, GRANTS, QUESTIONS, MODES)
def test_locked_rules_only_restrict_whatever_files_and_grants_say(
    rules: tuple[ToolRule, ...],
    locked: tuple[ToolRule, ...],
    grants: tuple[Grant, ...],
    asked: PermissionRequest,
    mode: Mode,
):
    alone = weight(Rules(locked=locked), asked, (), "bypass")
    without = weight(Rules(rules), asked, grants, mode)
    both = weight(Rules(rules, locked=locked), asked, grants, mode)
    assert both >= max(alone if alone == 2 else 0, without)
    decided_alone = decide(asked, Rules(locked=locked), (), mode="bypass", interactive=True)
    if isinstance(decided_alone, Ask) and decided_alone.reason.kind == "rule":
        assert both >= 1


@given(RULES, rule(st.just("deny")), GRANTS, QUESTIONS, MODES)
def test_a_deny_more_never_loosens(
    rules: tuple[ToolRule, ...],
    deny: ToolRule,
    grants: tuple[Grant, ...],
    asked: PermissionRequest,
    mode: Mode,
):
    before = weight(Rules(rules), asked, grants, mode)
    assert weight(Rules((*rules, deny)), asked, grants, mode) >= before


@given(RULES, rule(st.just("ask")), QUESTIONS, MODES)
def test_an_ask_more_never_loosens(
    rules: tuple[ToolRule, ...], ask: ToolRule, asked: PermissionRequest, mode: Mode
):
    assert weight(Rules((*rules, ask)), asked, (), mode) >= weight(Rules(rules), asked, (), mode)


@given(RULES, rule(st.just("allow")), GRANTS, QUESTIONS, MODES)
def test_an_allow_more_never_lifts_a_deny_or_an_ask_of_a_rule(
    rules: tuple[ToolRule, ...],
    allow: ToolRule,
    grants: tuple[Grant, ...],
    asked: PermissionRequest,
    mode: Mode,
):
    before = decide(asked, Rules(rules), grants, mode=mode, interactive=True)
    after = decide(asked, Rules((*rules, allow)), grants, mode=mode, interactive=True)
    if isinstance(before, Deny):
        assert isinstance(after, Deny)
    if isinstance(before, Ask) and before.reason.kind in {"rule", "protected"}:
        assert not isinstance(after, Allow)


@given(RULES, GRANTS, QUESTIONS, MODES)
def test_order_of_rules_does_not_decide(
    rules: tuple[ToolRule, ...], grants: tuple[Grant, ...], asked: PermissionRequest, mode: Mode
):
    assert weight(Rules(rules), asked, grants, mode) == weight(
        Rules(rules[::-1]), asked, grants, mode
    )


@given(RULES, GRANTS, QUESTIONS, MODES)
def test_nothing_asks_where_nobody_answers(
    rules: tuple[ToolRule, ...], grants: tuple[Grant, ...], asked: PermissionRequest, mode: Mode
):
    alone = decide(asked, Rules(rules), grants, mode=mode, interactive=False)
    asking = decide(asked, Rules(rules), grants, mode=mode, interactive=True)
    assert not isinstance(alone, Ask)
    assert isinstance(alone, Deny) == isinstance(asking, Ask | Deny)


@given(RULES, GRANTS, QUESTIONS, MODES)
def test_one_switch_denies_every_external_tool(
    rules: tuple[ToolRule, ...], grants: tuple[Grant, ...], asked: PermissionRequest, mode: Mode
):
    decided = decide(asked, Rules(rules, no_external=True), grants, mode=mode, interactive=True)
    if asked.external:
        assert isinstance(decided, Deny)
    else:
        assert decided == decide(asked, Rules(rules), grants, mode=mode, interactive=True)


def test_locked_ask_is_answered_once_and_stands_above_grants():
    locked = locked_rules([{"action": "ask", "tool": "edit_cell"}]).rules.locked
    rules = Rules((ToolRule("allow", "edit_cell"),), locked=locked)
    decided = decide(question(), rules, [Grant("edit_cell")], mode="bypass", interactive=True)
    assert isinstance(decided, Ask)
    assert decided.scopes == ("once",)
    assert "administrator" in decided.reason.text


@pytest.mark.parametrize(
    "entry",
    [{"action": "allow", "tool": "edit_cell"}, {"action": "ask"}, "deny", {"tool": "edit_cell"}],
    ids=["allows", "no tool", "no rule", "no action"],
)
def test_invalid_rule_of_the_administrator_denies_and_is_reported(entry: object):
    locked = locked_rules([entry])  # type: ignore[list-item]  # as traits may hold anything
    assert len(locked.problems) == 1
    assert "administrator" in locked.problems[0]
    assert locked.listing[0].locked
    decided = decide(question(), locked.rules, (), mode="bypass", interactive=True)
    assert isinstance(decided, Deny)


def test_book_lists_locked_rules_first_and_a_broken_file_leaves_them():
    file = MemoryFile("{")
    book = PermissionStore(file, locked_rules([{"action": "deny", "tool": "run_command"}]))
    assert [rule.locked for rule in book.listing()] == [True]
    assert [rule.tool for rule in book.rules.locked] == ["run_command"]
    assert book.rules.broken is not None
    file.text = '{"version": 1, "rules": [{"action": "allow", "tool": "run_command"}]}'
    assert [(rule.action, rule.locked, rule.line) for rule in book.listing()] == [
        ("deny", True, None),
        ("allow", False, 1),
    ]
    book.replace(put_permissions())
    assert [rule.tool for rule in book.rules.locked] == ["run_command"]
    assert "run_command" not in file.text


def test_file_of_a_newer_version_is_kept():
    text = '{"version": 2, "rules": {"new": "form"}}'
    file = MemoryFile(text)
    with pytest.raises(Conflict) as raised:
        PermissionStore(file).replace(put_permissions(disabled=("todo",)))
    assert "newer" in str(raised.value)
    with pytest.raises(Conflict):
        PermissionStore(file).add(RuleBody(action="allow", tool="todo"))
    assert file.text == text


def test_examples_are_stored_shown_and_checked():
    file = MemoryFile()
    book = PermissionStore(file)
    examples = RuleExamples(match=("git diff HEAD",), not_match=("git push",))
    given_rule = RuleBody(
        action="allow", tool="run_command", match={"command": "git diff"}, examples=examples
    )
    book.replace(put_permissions(rules=(given_rule,)))
    assert book.listing()[0].examples == examples
    assert json.loads(file.text or "")["rules"][0]["examples"]["not_match"] == ["git push"]
    wrong = given_rule.model_copy(update={"examples": RuleExamples(match=("git push",))})
    with pytest.raises(Exception, match="does not match"):
        book.replace(put_permissions(rules=(wrong,)))


def test_switch_for_external_tools_is_stored_and_takes_their_names():
    file = MemoryFile()
    book = PermissionStore(file, external=lambda: {"fetch_url"})
    book.replace(put_permissions(disabled=("todo",), disable_external=True))
    assert book.disabled == {"todo", "fetch_url"}
    assert book.permissions.rules.disabled == {"todo"}
    book.replace(put_permissions())
    assert book.disabled == frozenset()
    assert "disable_external" not in json.loads(file.text or "")
    assert parse_permissions('{"version": 1, "disable_external": 1}').rules.broken is not None


def test_tools_that_there_are_not_are_named_with_their_line():
    permissions = parse_permissions(
        '{"version": 1, "disabled": ["no_such"],\n'
        '"rules": [{"action": "deny", "tool": "fetch_*"},\n{"action": "ask", "tool": "edit_*"}]}'
    )
    said = unknown_tools(permissions, ["edit_cell", "todo"])
    assert len(said) == 2
    assert "line 2" in said[0]
    assert "'fetch_*'" in said[0]
    assert "'no_such'" in said[1]
    assert permissions.problems == ()
